"""SQL casts and COALESCE to ours: what is of any kind."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from profilec.grammar import ir
from profilec.grammar.sql.reading.forms import (
    Read,
    Reading,
    arguments,
    note_kind,
    number_as_boolean,
    read_scalar,
    reads_scalar,
    string_literal,
)
from profilec.grammar.sql.reading.numbers import INT64, as_double
from profilec.grammar.sql.reading.times import TIMESTAMPS, ZONED, cast_to_time, time_literal
from profilec.grammar.sql.refusal import Refusal
from profilec.values import numbers
from profilec.values.kinds import Kind


@reads_scalar(exp.Coalesce)
def _read_coalesce(node: exp.Expr, reading: Reading) -> Read:
    first, others, *_ = arguments(node, "this", "expressions", "is_nvl", "is_null")
    nodes = [first, *(others or [])]
    reads = [read_scalar(part, reading) for part in nodes]
    kinds = {read.kind for read in reads} - {None, Kind.NULL}
    if kinds == {Kind.BOOLEAN, Kind.NUMBER} and not reading.traits.booleans:
        pairs = zip(reads, nodes, strict=True)
        reads = [number_as_boolean(read, part, reading) if read.kind else read for read, part in pairs]
        kinds = {Kind.BOOLEAN}
    if len(kinds) > 1:
        raise Refusal("COALESCE of values of different kinds", None, node)
    kind = next(iter(kinds), None)
    if kind is not None:
        reads = [note_kind(read, kind, part, reading) for read, part in zip(reads, nodes, strict=True)]
    numbers_of = [read for read in reads if read.kind is not Kind.NULL]
    classes = {read.number for read in numbers_of}
    constants = [read for read in numbers_of if isinstance(read.scalar, ir.Constant) and read.scalar.value != 0]
    if reading.dialect == "SQLite":  # which gives each value as it is
        reads = [as_double(read) if read.number == "double" else read for read in reads]
    elif "double" in classes:
        reads = [as_double(read) if read.kind is not Kind.NULL else read for read in reads]
    number = classes.pop() if len(classes) == 1 else "double" if all(read.is_double for read in numbers_of) else None
    return Read(
        ir.Call("COALESCE", tuple(read.scalar for read in reads)),
        kind,
        number,
        is_double=all(read.is_double or read.kind is Kind.NULL for read in reads),
        mixed=kind is Kind.NUMBER and 0 < len(constants) < len(numbers_of) and reading.dialect != "SQLite",
    )


_INTEGERS = frozenset({"TINYINT", "SMALLINT", "INT", "BIGINT", "INT128", "INT256"})

_DOUBLES = frozenset({"DOUBLE"})

_DECIMALS = frozenset({"DECIMAL", "BIGDECIMAL"})

_STRINGS = frozenset({"TEXT", "VARCHAR", "CHAR", "NVARCHAR", "NCHAR"})


@reads_scalar(exp.Cast, exp.TryCast)
def _read_cast(node: exp.Expr, reading: Reading) -> Read:
    operand, to, *_ = arguments(node, "this", "to", "safe", "action", "requires_string")
    name = to.this.name if isinstance(to.this, exp.DataType.Type) else str(to.this)
    # SQLite's REAL is a double; elsewhere it is a float of 32 bits.
    is_double = name in _DOUBLES or (name == "FLOAT" and reading.dialect == "SQLite")
    sized = bool(to.expressions)
    text = string_literal(operand, reading)
    if text is not None and name in {"DATE", *TIMESTAMPS, *ZONED} and not sized:
        return time_literal(text, name, node, reading)
    read = read_scalar(operand, reading)
    if read.kind is Kind.NULL:
        return read
    # sqlglot has TryCast also for the plain CAST of dialects in which none fails.
    strict = reading.traits.failed_cast == "error"
    failed = "null" if strict and isinstance(node, exp.TryCast) else reading.traits.failed_cast
    if isinstance(read.scalar, ir.Constant) and read.kind is Kind.NUMBER:
        return _cast_number(read, name, is_double, sized, node, reading)
    if not sized and (is_double or name in _DECIMALS):
        return _cast_to_number(read, is_double, failed, node, reading)
    if name in _INTEGERS:
        return _cast_to_integer(read, node, reading)
    if name in _STRINGS and not sized:
        return _cast_to_string(read, node, reading)
    if name == "BOOLEAN" and read.kind in (Kind.BOOLEAN, Kind.NUMBER) and reading.traits.booleans:
        return Read(ir.Cast(read.scalar, "BOOLEAN"), Kind.BOOLEAN)
    if name == "DATE" or name in TIMESTAMPS:
        return cast_to_time(read, name, node, reading)
    if name in ZONED:
        raise Refusal("CAST to a timestamp in the session's time zone is not in the language", None, node)
    raise _cast_refusal(name, node)


def _cast_refusal(name: str, node: exp.Expr, because: str = "") -> Refusal:
    return Refusal(f"CAST to {name} is not in the language{because}", None, node)


def _cast_number(read: Read, name: str, is_double: bool, sized: bool, node: exp.Expr, reading: Reading) -> Read:
    """A number literal with its type: 5L, 1.5D, 5::BIGINT."""
    assert isinstance(read.scalar, ir.Constant)
    value: Any = read.scalar.value
    if is_double:
        return Read(ir.constant(numbers.exact(float(value))), Kind.NUMBER, "double")
    if name in _INTEGERS and isinstance(value, int) and value in INT64 and read.number == "integer":
        return read
    if name in _DECIMALS and not sized and read.number == "exact" and reading.dialect == "PostgreSQL":
        return read
    raise _cast_refusal(name, node)


def _cast_to_number(read: Read, is_double: bool, failed: str | None, node: exp.Expr, reading: Reading) -> Read:
    if read.kind is Kind.NUMBER:
        if is_double:
            return as_double(read)
        if read.number == "integer" or (reading.dialect == "PostgreSQL" and read.number != "double"):
            return read
        raise _cast_refusal("DECIMAL", node, ": it rounds")
    if read.kind not in (None, Kind.STRING) or failed not in ("error", "null") or not is_double:
        raise Refusal(
            "CAST to a number of a value whose type is not known, or of a string",
            "declare the attribute in a schema",
            node,
            "PC504",
        )
    return as_double(Read(ir.Cast(read.scalar, "NUMBER"), Kind.NUMBER))


def _cast_to_integer(read: Read, node: exp.Expr, reading: Reading) -> Read:
    if read.number == "integer":
        return read
    if read.kind is Kind.BOOLEAN and reading.traits.booleans:
        return Read(ir.Cast(read.scalar, "INTEGER"), Kind.NUMBER, "integer")
    if read.kind is Kind.NUMBER and reading.traits.integer_cast == "cut":
        return Read(ir.Cast(read.scalar, "INTEGER"), Kind.NUMBER, "integer")
    if read.kind is Kind.NUMBER:
        raise Refusal(f"CAST to an integer rounds in {reading.dialect}; here it cuts", None, node, "PC504")
    raise Refusal(
        "CAST to an integer of a value whose type is not known", "declare the attribute in a schema", node, "PC504"
    )


def _cast_to_string(read: Read, node: exp.Expr, reading: Reading) -> Read:
    # A date moved by an interval is a timestamp in most dialects, whose text has a time.
    is_moved = isinstance(read.scalar, ir.Call)
    alike = (read.kind is Kind.DATE and not is_moved) or read.number == "integer"
    if read.kind is Kind.STRING:
        return read
    if alike or (read.kind is Kind.BOOLEAN and reading.dialect in ("PostgreSQL", "DuckDB", "Spark", "Databricks")):
        return Read(ir.Cast(read.scalar, "STRING"), Kind.STRING)
    raise Refusal(
        "CAST to a string of a value whose type is not known, or of one that dialects write in different ways",
        "declare the attribute in a schema",
        node,
        "PC504",
    )
