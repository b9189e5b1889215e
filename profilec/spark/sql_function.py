"""`register`: a set as functions of SQL.

In: a session and a set. Out: functions by name, each an Arrow UDF, whose plan does not grow with the set.

    SELECT *, match_profiles(struct(*)) FROM sales
    SELECT match_profiles(price => p, brand => b) FROM sales         named columns
    SELECT match_profiles(parse_json(line)) FROM lines               VARIANT, or JSON text
    SELECT match_profiles('alerts', struct(*)) FROM sales            of several sets

PERF: the functions say that they are not deterministic, for Spark evaluates a deterministic Python function again
wherever its value is used: in a filter on what it gives, and in the projection beneath.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from profilec.spark.calls import MatchCall, SetCall, TestCall, WhyCall
from profilec.spark.errors import SparkMatchError
from profilec.spark.images import ONLY, ship
from profilec.spark.schemas import check_columns
from profilec.spark.session import expect_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = "match_profiles"
RETURNS = {"ids": "array<string>", "ordinals": "array<bigint>"}
MISSING = ("warn", "error", "null")

_registered: WeakKeyDictionary[SparkSession, dict[str, dict[str, Any]]] = WeakKeyDictionary()
"""Of each session, by the name of `register`, the functions by what they do: match, why, matches."""


def register(
    spark: SparkSession,
    profiles: Any,
    name: str = NAME,
    *,
    schema: Any = None,
    missing: str = "warn",
    returns: str = "ids",
    json: Collection[str] = (),
    replace: bool = False,
    ship_by: str = "auto",
    directory: str | None = None,
    shards: int | None = None,
) -> Any:
    """Makes a set a function of SQL, `name(struct(*))`, that gives the profiles that a row matches.

    With it come `why_name(struct(*), id)`, the explanation as text, and `profile_name(struct(*), id)`, a boolean; those
    of "match_profiles" are named `why_profiles` and `profile_matches`. `profilec.spark.functions` has all three for
    DataFrames.

    Args:
        profiles: a `ProfileSet`, the path of an image, of .prof files or of the folder that `shard` made, or a mapping
            of name to any of these, for `match_profiles('name', struct(*))`. The image at a path is followed: a query
            that starts after another image was put in its place uses that; so are shards. Of sets with joins, the
            documents are those of now.
        schema: of the rows to come: a DataFrame, a StructType or the name of a table. What profiles ask for is then
            looked for at once, and not only when the first rows come.
        missing: what to do where no column provides an attribute: "warn" (it is NULL), "error", or "null".
        returns: "ids", or "ordinals": places in `ProfileSet.ids`, which cost half as much.
        json: names of columns that hold JSON objects as text, which paths lead into.
        replace: takes the place of a function of that name.
        ship_by: how workers get the image: "path" where they see the driver's files, "file" where it is to be sent,
            "auto" for the first where the master is local.
        directory: a folder that all executors see, for the files of images.
        shards: how many images each set is split into, as `shard` does; None for one, or for those that it is in.
            `match` opens the shards less often than a function of SQL can, which is given one batch of rows at a time.

    Returns:
        The function, which takes columns.

    Raises:
        ValueError: a function of that name is there already; or an argument is none of those named.
        SparkMatchError: the session is of another sort than is needed; or `schema` contradicts the set.
        ProfileError, ImageError, OSError: the profiles cannot be compiled or loaded.
    """
    spark = expect_session(spark)
    expect_one_of("missing", missing, MISSING)
    expect_one_of("returns", returns, tuple(RETURNS))
    sets = dict(profiles) if isinstance(profiles, Mapping) else {ONLY: profiles}
    if not sets or any(not isinstance(key, str) or (key == ONLY and isinstance(profiles, Mapping)) for key in sets):
        raise ValueError("a mapping of sets has a name, which is not empty, for each")
    why, matches = ("why_profiles", "profile_matches") if name == NAME else (f"why_{name}", f"profile_{name}")
    calls: dict[str, tuple[type[SetCall], str, str]] = {
        "match": (MatchCall, name, RETURNS[returns]),
        "why": (WhyCall, why, "string"),
        "matches": (TestCall, matches, "boolean"),
    }
    for _, own_name, _ in calls.values():
        if not replace and spark.catalog.functionExists(own_name):
            raise ValueError(f"a function {own_name!r} is there already: choose another name, or pass replace=True")
    shipped = {}
    for key, given in sets.items():
        opened, shipped[key] = ship(spark, given, f"{name}/{key}", ship_by, directory, shards)
        if schema is not None:
            check_columns(spark, opened, schema, json, missing)
    functions: dict[str, Any] = {}
    for what, (kind, own_name, type_) in calls.items():
        call = kind(own_name, shipped, json, missing, returns)
        functions[what] = _expecting(call, spark.udf.register(own_name, _udf(call, type_)))
    _registered.setdefault(spark, {})[name] = functions
    return functions["match"]


def _udf(call: SetCall, type_: str) -> Any:
    from pyspark.sql.functions import ArrowUDFType, arrow_udf

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it would like type hints, and knows none of arguments by name
        return arrow_udf(call, type_, ArrowUDFType.SCALAR).asNondeterministic()


def _expecting(call: SetCall, function: Any) -> Any:
    """The function, which refuses a wrong number of arguments at once, and not only in workers."""

    @wraps(function)
    def expecting(*columns: Any, **named: Any) -> Any:
        call.expect_arguments(len(columns), len(named))
        return function(*columns, **named)

    return expecting


def registered(name: str, what: str) -> Any:
    """A function that was registered with the session at work.

    Raises:
        SparkMatchError: there is none.
    """
    from pyspark.sql import SparkSession

    spark = SparkSession.getActiveSession() or SparkSession._instantiatedSession  # other threads have no active one
    functions = {} if spark is None else _registered.get(spark, {})
    if what not in functions.get(name, {}):
        raise SparkMatchError(
            f"no set is registered as {name!r}: profilec.spark.register(spark, profiles, {name!r}) does that"
        )
    return functions[name][what]


def expect_one_of(option: str, value: Any, known: Collection[str]) -> None:
    """Raises ValueError where an option has none of the values that it takes."""
    if value not in known:
        raise ValueError(f"{option} takes {', '.join(map(repr, known))}, not {value!r}")
