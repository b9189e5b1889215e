"""Stores to damage, and what a process of its own says of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.store.stores import DOCUMENTS, fill

ROOT = Path(__file__).parents[2]


@pytest.fixture
def held(tmp_path: Path) -> dict[str, str]:
    """What is in `store`."""
    return fill(tmp_path / "store")


@pytest.fixture
def store(tmp_path: Path, held: dict[str, str]) -> Path:
    return tmp_path / "store"


PROGRAM = """
import json, sys, profilec
from profilec.store.verify import verify_store
documents = json.load(sys.stdin)
for path in sys.argv[1:]:
    told = {}
    try:
        told["faults"] = verify_store(path).faults
    except profilec.StoreError as error:
        told["faults"] = [str(error)]
    try:
        with profilec.open(path, sync="off") as profiles:
            told["answers"] = list(profiles.match_batch(documents))
            told["ids"] = list(profiles.ids)
            profiles.insert("another", "a = 1")
            profiles.delete("another")
    except profilec.StoreError as error:
        told["refused"] = str(error)
    print(json.dumps(told), flush=True)
"""


@pytest.fixture
def ask() -> Callable[..., list[dict[str, Any]]]:
    """What `verify_store` and `open` say of stores, in a process that they might end."""

    def asked(*paths: Path) -> list[dict[str, Any]]:
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM, *map(str, paths)], input=json.dumps(DOCUMENTS), text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=False,
        )  # fmt: skip
        assert run.returncode == 0, f"status {run.returncode} after {run.stdout.count(chr(10))} stores\n{run.stderr}"
        return [json.loads(line) for line in run.stdout.splitlines()]

    return asked
