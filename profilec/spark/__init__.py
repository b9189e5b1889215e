"""profilec in Spark: a set as a function of SQL, over DataFrames and streams.

`compile`, `check`, `collect_statistics` and `shard` make sets, `register`, `match`, `process_stream` and `explain` use
them; `worker`, `calls` and `join_tasks` run in workers. Names are loaded when they are first used, so that a worker
loads nothing that it does not need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from profilec.spark.data_frame import match
    from profilec.spark.errors import SparkMatchError
    from profilec.spark.explain_plan import explain
    from profilec.spark.profile_tables import check, compile
    from profilec.spark.sampling import collect_statistics
    from profilec.spark.sharding import shard
    from profilec.spark.sql_function import register
    from profilec.spark.streams import process_stream

_HOME = {
    "SparkMatchError": "profilec.spark.errors",
    "check": "profilec.spark.profile_tables",
    "collect_statistics": "profilec.spark.sampling",
    "compile": "profilec.spark.profile_tables",
    "explain": "profilec.spark.explain_plan",
    "match": "profilec.spark.data_frame",
    "process_stream": "profilec.spark.streams",
    "register": "profilec.spark.sql_function",
    "shard": "profilec.spark.sharding",
}

__all__ = [
    "SparkMatchError",
    "check",
    "collect_statistics",
    "compile",
    "explain",
    "match",
    "process_stream",
    "register",
    "shard",
]


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
