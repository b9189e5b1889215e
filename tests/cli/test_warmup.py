"""`profilec warmup`: machine code is there afterwards, and nothing is compiled again."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
AGAIN = """
import importlib, pkgutil
import profilec
from profilec.warm import warmup
warmup()
import profilec.planner.lower.betree, profilec.runtime
hits = misses = 0
for package in (profilec.runtime, profilec.planner.lower):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        for kernel in vars(importlib.import_module(module.name)).values():
            if hasattr(kernel, "stats") and hasattr(kernel, "signatures"):
                hits += sum(kernel.stats.cache_hits.values())
                misses += sum(kernel.stats.cache_misses.values())
                assert len(kernel.signatures) <= 3, (kernel, kernel.signatures)
print(hits, misses)
"""


def run(*command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_second_process_compiles_nothing() -> None:
    assert "kept in" in run("-m", "profilec", "warmup")
    hits, misses = map(int, run("-c", AGAIN).split())
    assert hits > 10
    assert misses == 0


def test_where_machine_code_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from profilec.runtime import kernels

    find = kernels.cache_directory.__wrapped__
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert find() is not None
    assert find().parent.name == "__pycache__"
    assert not caplog.messages

    beside = find().parent
    monkeypatch.setattr(kernels, "_can_write", lambda directory: directory.parent != beside)
    assert find().parent == tmp_path / "profilec"
    assert "cannot be written to" in caplog.messages.pop()

    monkeypatch.setattr(kernels, "_can_write", lambda directory: False)
    assert find() is None
    assert "are not kept" in caplog.messages.pop()

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "given"))
    assert find().parents[1] == tmp_path / "given"


def test_every_file_with_kernels_is_part_of_the_digest() -> None:
    from profilec.runtime import kernels

    package = ROOT / "profilec"
    digested = {file for pattern in kernels._SOURCES for file in package.glob(pattern)}
    marks = ("@kernel\n", "@inlined\n", "@allocating_kernel\n", "@kernel_of_many\n")
    for file in package.rglob("*.py"):
        if any(mark in file.read_text() for mark in marks):
            assert file in digested, file
