"""Options of the whole test suite."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


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


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session of two threads; its workers run this Python, and find this checkout."""
    pytest.importorskip("pyspark", reason="PySpark is not installed; it comes with the extra `test`")
    from profilec.spark.errors import SparkMatchError
    from profilec.spark.session import expect_java

    try:
        expect_java()
    except SparkMatchError as error:
        pytest.skip(str(error))
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    folder = tmp_path_factory.mktemp("spark")
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.extraJavaOptions", f"-XX:TieredStopAtLevel=1 -Dderby.system.home={folder}")
        .config("spark.driver.memory", "1g")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.local.dir", str(folder / "local"))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
