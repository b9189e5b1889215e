"""The examples are what we would show: formatted, without warnings, tested, and each profile catches something."""

import json
import os
import re
import shutil
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


def test_sales_matched_in_spark_are_those_matched_without() -> None:
    folder = ROOT / "examples" / "retail"
    printed = _run([sys.executable, str(folder / "match_in_spark.py")])
    counts = Counter[str]()
    profiles = profilec.compile([GROCERY / name for name in ("schema.prof", "deals.prof", "catalogue.prof")])
    sales = [json.loads(line) for line in (folder / "sales.ndjson").open()]
    for ids in profiles.match_batch(sales):
        counts.update(ids)
    rows = re.findall(r"^\|(\S.*?) *\|(\d+) +\|[\d.]+ *\|$", printed, re.M)
    assert {id_: int(n) for id_, n in rows} == counts


def test_the_notebook_prints_what_it_shows() -> None:
    cells = json.loads((ROOT / "examples" / "retail" / "match_in_spark.ipynb").read_text("utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    shown = "".join("".join(output["text"]) for cell in code for output in cell["outputs"])
    assert _run([sys.executable, "-c", "\n".join("".join(cell["source"]) for cell in code)]) == shown


def _run(command: list[str]) -> str:
    pytest.importorskip("pyspark", reason="PySpark is not installed; it comes with the extra `test`")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout
