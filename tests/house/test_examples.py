"""The examples are what we would show: formatted, without warnings, tested, and each profile catches something."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import profilec

ROOT = Path(__file__).parents[2]
GROCERY = ROOT / "examples" / "grocery"


@pytest.mark.parametrize("arguments", [["fmt", "--check"], ["check", "--strict"], ["test"]], ids=lambda args: args[0])
def test_verbs_find_nothing(arguments: list[str]) -> None:
    run = subprocess.run([sys.executable, "-m", "profilec", *arguments, GROCERY], cwd=ROOT, check=False)
    assert run.returncode == 0


def test_every_profile_catches_some_sale_and_none_catches_many() -> None:
    profiles = profilec.compile(GROCERY)
    sales = [json.loads(line) for line in (GROCERY / "sales.ndjson").open()]
    caught = Counter(profile for sale in sales for profile in profiles.process(sale))
    assert set(caught) == set(profiles.ids)
    assert max(caught.values()) < len(sales) / 4


def test_sales_are_in_the_order_of_their_weeks() -> None:
    weeks = [json.loads(line)["week"] for line in (GROCERY / "sales.ndjson").open()]
    assert weeks == sorted(weeks)
