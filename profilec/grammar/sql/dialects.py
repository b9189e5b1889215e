"""What the same SQL text means in each dialect: the table that import and export decide by.

In: the name of a sqlglot dialect. Out: its `Traits`. sqlglot knows how a dialect is written; it
does not say how its LIKE treats case or what its `/` does to integers, and that is where a
condition changes its meaning in silence. A trait that is None is not known here: whatever
depends on it is refused.

Sources: the dialects' manuals; the rows of DuckDB, SQLite, PostgreSQL and Spark were tried out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from profilec.grammar.diagnostics import Diagnostic, ProfileError, did_you_mean


@dataclass(frozen=True, slots=True)
class Traits:
    """How a dialect reads what every dialect can write. None: not known.

    like: whether LIKE sees case; "ascii" ignores that of A-Z, "collation" leaves it to the column.
    like_escape: LIKE's escape without an ESCAPE clause; "" is none.
    like_escapes_any: an escape before an ordinary character stands for that character (else it is an error).
    like_has_classes: `[abc]` in a LIKE pattern is a set.
    equality, ordering: how strings compare; "bytes" is by code point.
    division: "double" gives a double always, "integers" a double for two integers and a decimal for decimals,
        "integral" an integer for two integers, "decimal" a decimal for two integers.
    zero_divisor: what a double divided by zero is, where it is no error.
    remainder: "number" takes any numbers, "integer" cuts its operands to integers first.
    fractions, exponents: whether `0.1` and `1e3` are exact numbers or doubles.
    booleans: TRUE is a boolean, not the number 1.
    string_dates: a string compared with a date is read as a date.
    midnight_dates: a date compared with a timestamp is that day's midnight.
    zoned_timestamp: what TIMESTAMP '… +02:00' does with the zone.
    negative_start: SUBSTR with a start below 1: "before" is as here, "end" counts from the end.
    trim: what TRIM takes away.
    length: LENGTH counts characters.
    letters: whose case LOWER and UPPER change: all, or A-Z.
    upper_grows: UPPER may make two letters of one, as SS of ß.
    rounds: the decimal places to which ROUND rounds any number exactly, halves away from zero.
    failed_cast: what CAST makes of a string that is no number: "prefix" reads what it can.
    integer_cast: whether CAST to an integer type cuts or rounds.
    regex: the language of patterns; "application" is left to whoever opens the database.
    contains_strings: CONTAINS(a, b) is about strings only.
    list_contains: whether a NULL element can make the function UNKNOWN ("unknown") or never does ("false").
    any_of_null: what `x = ANY(array)` is for an array that is NULL.
    dotted_fields: `a.b` may be a field of a record.
    empty_is_null: '' is NULL.
    exports: the features that export may use beyond comparisons, AND, OR, NOT, IN, LIKE and IS NULL; None: no export.
    """

    name: str
    like: Literal["case", "ascii", "collation"] | None = None
    like_escape: str | None = None
    like_escapes_any: bool = False
    like_has_classes: bool = False
    equality: Literal["bytes", "collation"] | None = None
    ordering: Literal["bytes", "collation"] | None = None
    division: Literal["double", "integers", "integral", "decimal"] | None = None
    zero_divisor: Literal["null", "infinity"] | None = None
    remainder: Literal["number", "integer"] | None = None
    fractions: Literal["exact", "double"] | None = None
    exponents: Literal["exact", "double"] | None = None
    booleans: bool | None = None
    string_dates: bool = True
    midnight_dates: bool = False
    zoned_timestamp: Literal["applied"] | None = None
    negative_start: Literal["before", "end"] | None = None
    trim: Literal["spaces"] | None = None
    length: Literal["characters"] | None = None
    letters: Literal["all", "ascii"] | None = None
    upper_grows: bool = True
    rounds: Literal["any", "whole"] | None = None
    failed_cast: Literal["error", "null", "prefix"] | None = None
    integer_cast: Literal["cut", "round"] | None = None
    regex: Literal["re2", "posix", "java", "application"] | None = None
    contains_strings: bool = False
    list_contains: Literal["unknown", "false"] | None = None
    any_of_null: Literal["unknown", "empty"] | None = None
    dotted_fields: bool = True
    empty_is_null: bool = False
    exports: frozenset[str] | None = None


_PORTABLE: frozenset[str] = frozenset()
_FULL = frozenset({"is_truth", "scalars", "dates", "intervals", "regex", "arrays"})

_POSTGRES = Traits(
    "PostgreSQL",
    like="case", like_escape="\\", like_escapes_any=True,
    # The order of strings is that of the column's collation; their equality is that of their bytes.
    equality="bytes", ordering="collation",
    division="integral", zero_divisor="null", remainder="number", fractions="exact", exponents="exact",
    booleans=True, midnight_dates=True, negative_start="before", trim="spaces", length="characters",
    letters="all", failed_cast="error", integer_cast="round", regex="posix", any_of_null="unknown",
    list_contains="false", dotted_fields=False, exports=_FULL,
)  # fmt: skip

_MYSQL = Traits(
    "MySQL",
    like="collation", like_escape="\\", like_escapes_any=True, equality="collation", ordering="collation",
    division="decimal", zero_divisor="null", remainder="number", fractions="exact", exponents="double",
    booleans=False, midnight_dates=True, negative_start="end", trim="spaces", length="characters",
    letters="all", failed_cast="prefix", integer_cast="round", dotted_fields=False, exports=_PORTABLE,
)  # fmt: skip

_SPARK = Traits(
    "Spark",
    like="case", like_escape="\\", equality="bytes", ordering="bytes",
    division="integers", zero_divisor="null", remainder="number", fractions="exact", exponents="double",
    booleans=True, midnight_dates=True, zoned_timestamp="applied", negative_start="end", trim="spaces",
    length="characters", letters="all", rounds="any", failed_cast="null", integer_cast="cut", regex="java",
    contains_strings=True,
    list_contains="unknown", exports=_FULL,
)  # fmt: skip

_TRINO = Traits(
    "Trino",
    like="case", like_escape="", equality="bytes", ordering="bytes",
    division="integral", zero_divisor="infinity", remainder="number", fractions="exact", exponents="double",
    booleans=True, string_dates=False, midnight_dates=True, negative_start="end", length="characters",
    letters="all", failed_cast="error", integer_cast="round", list_contains="unknown", exports=_PORTABLE,
)  # fmt: skip

_DIALECTS: dict[str, Traits] = {
    "duckdb": Traits(
        "DuckDB",
        like="case", like_escape="", like_escapes_any=True, equality="bytes", ordering="bytes",
        # Since version 2, x / 0 is an infinity; before, it was NULL.
        division="double", zero_divisor="infinity", remainder="number", fractions="exact", exponents="double",
        booleans=True, midnight_dates=True, negative_start="end", length="characters", letters="all",
        upper_grows=False, rounds="whole", failed_cast="error", integer_cast="round", regex="re2",
        list_contains="false", any_of_null="empty", exports=_FULL,
    ),
    "sqlite": Traits(
        "SQLite",
        like="ascii", like_escape="", like_escapes_any=True, equality="bytes", ordering="bytes",
        division="integral", zero_divisor="null", remainder="integer", fractions="double", exponents="double",
        booleans=False, string_dates=False, negative_start="end", trim="spaces", length="characters",
        letters="ascii", upper_grows=False, failed_cast="prefix", integer_cast="cut", regex="application",
        dotted_fields=False, exports=_FULL - {"regex", "arrays", "intervals"},
    ),
    "postgres": _POSTGRES,
    "materialize": replace(_POSTGRES, name="Materialize", ordering="bytes", regex=None, exports=_PORTABLE),
    "risingwave": replace(_POSTGRES, name="RisingWave", ordering="bytes", regex=None, exports=_PORTABLE),
    # Comparisons of strings ignore blanks at the end.
    "redshift": replace(_POSTGRES, name="Redshift", equality=None, ordering=None, regex=None, letters=None,
                        trim=None, any_of_null=None, list_contains=None, exports=_PORTABLE),
    "mysql": _MYSQL,
    "singlestore": replace(_MYSQL, name="SingleStore"),
    "doris": replace(_MYSQL, name="Doris", like="case", equality="bytes", ordering="bytes", division=None),
    "starrocks": replace(_MYSQL, name="StarRocks", like="case", equality="bytes", ordering="bytes", division=None),
    "spark": _SPARK,
    "spark2": replace(_SPARK, name="Spark 2", exports=_PORTABLE),
    "databricks": replace(_SPARK, name="Databricks"),
    "hive": replace(_SPARK, name="Hive", like_escapes_any=False, regex=None, rounds=None, exports=_PORTABLE),
    "trino": _TRINO,
    "presto": replace(_TRINO, name="Presto"),
    "athena": replace(_TRINO, name="Athena"),
    "snowflake": Traits(
        "Snowflake",
        like="case", like_escape="", equality="bytes", ordering="bytes", zero_divisor="null", remainder="number",
        fractions="exact", booleans=True, midnight_dates=True, length="characters", letters="all",
        failed_cast="error", integer_cast="round", contains_strings=True, exports=_PORTABLE,
    ),
    "bigquery": Traits(
        "BigQuery",
        like="case", like_escape="\\", equality="bytes", ordering="bytes", division="integers", zero_divisor="null",
        fractions="double", exponents="double", booleans=True, length="characters", letters="all",
        failed_cast="error", integer_cast="round", regex="re2", exports=frozenset({"regex"}),
    ),
    "clickhouse": Traits(
        "ClickHouse",
        like="case", like_escape="\\", equality="bytes", ordering="bytes", division="double", zero_divisor="infinity",
        fractions="double", exponents="double", exports=_PORTABLE,
    ),
    "oracle": Traits(
        "Oracle",
        like="case", like_escape="", equality="bytes", ordering="collation", division="decimal",
        zero_divisor="null", fractions="exact", exponents="exact", length="characters", letters="all",
        failed_cast="error", integer_cast="round", midnight_dates=True, dotted_fields=False, empty_is_null=True,
        exports=_PORTABLE,
    ),
    "tsql": Traits(
        "SQL Server",
        like="collation", like_escape="", like_has_classes=True, equality="collation", ordering="collation",
        division="integral", zero_divisor="null", remainder="number", fractions="exact", exponents="double",
        failed_cast="error", integer_cast="cut", midnight_dates=True, dotted_fields=False, exports=_PORTABLE,
    ),
    "": Traits("standard SQL", like="case", like_escape="", equality="bytes", booleans=True, fractions="exact"),
}  # fmt: skip

_ALIASES = {
    "postgresql": "postgres", "pgsql": "postgres", "psql": "postgres", "pg": "postgres",
    "mariadb": "mysql", "mssql": "tsql", "sqlserver": "tsql", "sparksql": "spark",
    "standard": "", "ansi": "",
}  # fmt: skip


def dialect_name(dialect: str) -> str:
    """The name that sqlglot gives to a dialect.

    >>> dialect_name("PostgreSQL")
    'postgres'

    Raises:
        ProfileError: PC506, there is no such dialect.
    """
    name = dialect.strip().lower()
    name = _ALIASES.get(name, name)
    if name not in _known():
        # The dialects of this table come first in what an error offers.
        hint = did_you_mean(name, _known()) or f"one of {', '.join(sorted(filter(None, _DIALECTS)))}"
        raise ProfileError([Diagnostic("PC506", "error", f"{dialect!r} is no dialect of SQL known here", hint=hint)])
    return name


def traits_of(dialect: str) -> Traits:
    """The traits of a dialect by any of its names; all unknown where only sqlglot knows it.

    >>> traits_of("duckdb").like_escape, traits_of("spark").like_escape, traits_of("drill").like_escape
    ('', '\\\\', None)

    Raises:
        ProfileError: PC506, there is no such dialect.
    """
    name = dialect_name(dialect)
    return _DIALECTS.get(name) or Traits(name)


@cache
def _known() -> frozenset[str]:
    from sqlglot.dialects.dialect import Dialects

    # What reads as SQL: not the languages that sqlglot takes in beside it.
    return frozenset(dialect.value for dialect in Dialects) - {"prql", "dax", "solr", "custom"}
