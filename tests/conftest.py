"""Options of the whole test suite."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite-golden",
        action="store_true",
        help="write what the code gives into tests/testdata/, instead of comparing with it",
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says what tests recorded to be told, as the seeds that they drew: processes of their own cannot print it."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()) if getattr(report, "when", "") == "call" else ():
                if name == "told":
                    terminalreporter.write_line(str(value))


@pytest.fixture
def rewrite_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be rewritten."""
    return bool(request.config.getoption("--rewrite-golden"))


@pytest.fixture(scope="session")
def compiled_kernels() -> None:
    """So that no command of a test is the first to compile them, which takes long, and is told on standard error."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    subprocess.run([sys.executable, "-m", "profilec", "warmup"], env=environment, check=True, capture_output=True)
