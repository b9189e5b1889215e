"""The Spark that there is: whether profilec can work with it, and how its machines are reached."""

from __future__ import annotations

import os
import shutil
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from profilec.spark.errors import SparkMatchError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST = (4, 1)
"""The first PySpark with `arrow_udf`."""


@cache
def expect_pyspark() -> None:
    """Raises SparkMatchError where PySpark is not there, or older than what matching needs."""
    try:
        import pyspark
    except ImportError:
        raise SparkMatchError(
            "PySpark is not installed, and profilec.spark needs it: pip install 'profilec[spark]'"
        ) from None
    _expect_version(pyspark.__version__)


def _expect_version(found: str) -> None:
    numbers = tuple(int(part) for part in found.split(".")[:2] if part.isdigit())
    if numbers < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise SparkMatchError(
            f"PySpark {found} has no arrow_udf: profilec needs {oldest} or newer; pip install -U 'pyspark>={oldest}'"
        )


def expect_java() -> None:
    """Raises SparkMatchError where there is no Java that Spark could be started with."""
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    if java is None or not os.access(java, os.X_OK):
        where = (
            f"JAVA_HOME is {home}, and has no bin/java" if home else "there is none on PATH, and JAVA_HOME is not set"
        )
        raise SparkMatchError(f"Spark needs Java 17 or newer: {where}; install one, or set JAVA_HOME")


def expect_session(spark: Any) -> SparkSession:
    """The session, if profilec can work with it.

    Raises:
        SparkMatchError: PySpark is too old, or the session is of Spark Connect.
        TypeError: it is no session.
    """
    expect_pyspark()
    from pyspark.sql import SparkSession

    if isinstance(spark, SparkSession):
        return spark
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        raise SparkMatchError(
            "a session of Spark Connect ships no files to workers; run the driver where Spark runs, "
            "with SparkSession.builder.master(...)"
        )
    raise TypeError(f"a SparkSession is needed, not {type(spark).__name__}")


def is_local(spark: SparkSession) -> bool:
    """Whether all workers see the driver's files."""
    master = str(spark.sparkContext.master)
    return master == "local" or master.startswith("local[")


@cache
def own_version() -> str:
    """That of profilec."""
    try:
        return version("profilec")
    except PackageNotFoundError:
        return "unknown"


def expect_same_version(driver: str) -> None:
    """Raises SparkMatchError where a worker has another profilec than the driver."""
    if driver != own_version():
        raise SparkMatchError(
            f"the driver has profilec {driver}, and this executor {own_version()}: install the same on both"
        )
