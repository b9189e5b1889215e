"""profilec in Spark: a set as a function of SQL, and over DataFrames.

The driver's side (`register`, `match`) and what runs in workers (`worker`, `calls`). Names are loaded when they are
first used, so that a worker loads nothing that it does not need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from profilec.spark.data_frame import match
    from profilec.spark.errors import SparkMatchError
    from profilec.spark.sql_function import register

_HOME = {
    "SparkMatchError": "profilec.spark.errors",
    "match": "profilec.spark.data_frame",
    "register": "profilec.spark.sql_function",
}

__all__ = ["SparkMatchError", "match", "register"]


def __getattr__(name: str) -> Any:
    if name == "functions":
        return import_module("profilec.spark.functions")
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'profilec.spark' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "functions"})
