"""Columns to attributes: which table a qualifier names, what is a path into a record, one spelling for one name."""

from __future__ import annotations

from sqlglot import exp

from profilec.grammar import ir
from profilec.grammar.diagnostics import did_you_mean
from profilec.grammar.sql.reading.forms import Read, Reading, arguments, reads_scalar, refusal_of, unwrap
from profilec.grammar.sql.refusal import Refusal
from profilec.values.types import Type

# Names that mean no column of the table unless they are quoted.
_USER = frozenset({"USER", "CURRENT_ROLE", "SESSION_USER", "SYSTEM_USER"})
_OWN_NAMES = {
    "Oracle": frozenset({"ROWNUM", "ROWID", "ORA_ROWSCN", "LEVEL", "SYSDATE", "SYSTIMESTAMP", "USER", "UID"}),
    "SQLite": frozenset({"ROWID", "_ROWID_", "OID"}),
    "DuckDB": frozenset({"ROWID", *_USER}),
    "SQL Server": _USER,
    **dict.fromkeys(
        ("PostgreSQL", "Redshift", "Materialize", "RisingWave"),
        frozenset({"CTID", "XMIN", "XMAX", "CMIN", "CMAX", "TABLEOID", *_USER}),
    ),
}


def attribute_of(node: exp.Expr, reading: Reading) -> ir.Attribute:
    """The attribute that a column or a field of a record names."""
    if isinstance(node, exp.Dot):  # (record).field
        record, last = arguments(node, "this", "expression")
        record = unwrap(record)
        if not isinstance(record, exp.Column | exp.Dot) or not isinstance(last, exp.Identifier):
            raise refusal_of(node)
        return ir.Attribute(ir.NEW, (*attribute_of(record, reading).parts, _part(last)))
    column, table, database, catalog = arguments(node, "this", "table", "db", "catalog")
    identifiers = [part for part in (catalog, database, table, column) if part is not None]
    for identifier in identifiers:
        if not isinstance(identifier, exp.Identifier):
            raise refusal_of(identifier)
    own = identifiers[_n_qualifiers(node, identifiers, reading) :]
    parts = tuple(_part(identifier) for identifier in own)
    if not own[0].args.get("quoted") and own[0].name.upper() in _OWN_NAMES.get(reading.dialect, ()):
        raise Refusal(f"`{own[0].name}` is no column in {reading.dialect}", "quote it where it is one", node, "PC504")
    _check_spelling(own[0], reading)
    return ir.Attribute(ir.NEW, _as_declared(node, parts, bool(own[0].args.get("quoted")), reading))


def type_of(attribute: ir.Attribute, reading: Reading) -> Type | None:
    return None if reading.schema is None else reading.schema.type_of(attribute.parts)


@reads_scalar(exp.Column, exp.Dot)
def _read_column(node: exp.Expr, reading: Reading) -> Read:
    attribute = attribute_of(node, reading)
    type_ = type_of(attribute, reading)
    if type_ is None:
        return Read(attribute)
    return Read(attribute, type_.kind, "integer" if type_.name == "INTEGER" else None)


def _n_qualifiers(node: exp.Expr, identifiers: list[exp.Identifier], reading: Reading) -> int:
    """How many of the identifiers only say which table the column is of."""
    given = [identifier.name for identifier in identifiers[:-1]]
    if not given:
        return 0
    folded = tuple(name.casefold() for name in given)
    if reading.table is not None:
        table = tuple(name.casefold() for name in reading.table)
        for n_given in range(min(len(folded), len(table)), 0, -1):
            if folded[:n_given] == table[-n_given:]:
                return n_given
        if folded[-len(table) :] == table:  # a database or schema before it that FROM does not name
            raise Refusal(f"`{'.'.join(given)}` may be the table of the statement", "name the table in FROM so", node)
        if reading.traits.dotted_fields:
            return 0
        raise Refusal(f"`{'.'.join(given)}` is not the table of the statement", None, node)
    if reading.traits.dotted_fields:
        name = ".".join(given)
        raise Refusal(
            f"`{name}` may be a table or a record",
            f"write SELECT * FROM {name} WHERE … where it is the table, or FROM another where it is a record",
            node,
            "PC504",
        )
    reading.qualifiers.add(folded)
    if len(reading.qualifiers) > 1:
        raise Refusal("columns of two tables in one condition", "a profile asks about one record", node)
    return len(given)


def _part(identifier: exp.Identifier) -> str:
    name = identifier.name
    if not name or "\n" in name or "\r" in name:
        raise Refusal(f"an attribute cannot be named {name!r}", None, identifier)
    return name


def _check_spelling(identifier: exp.Identifier, reading: Reading) -> None:
    """Two spellings of one unquoted name are one column in SQL, and would be two attributes here."""
    name, quoted = identifier.name, bool(identifier.args.get("quoted"))
    first, first_quoted = reading.spellings.setdefault(name.casefold(), (name, quoted))
    if first != name and not (quoted and first_quoted):
        raise Refusal(
            f"`{first}` and `{name}` may be one column in {reading.dialect}, and are two attributes here",
            "spell the name in one way",
            identifier,
            "PC504",
        )


def _as_declared(node: exp.Expr, parts: tuple[str, ...], quoted: bool, reading: Reading) -> tuple[str, ...]:
    """The parts in the schema's spelling; a schema has to know them."""
    schema = reading.schema
    if schema is None or schema.type_of(parts) is not None:
        return parts
    alike = [f.name for f in schema.fields if f.name.casefold() == parts[0].casefold()]
    if not quoted and len(alike) == 1 and schema.type_of((alike[0], *parts[1:])) is not None:
        return (alike[0], *parts[1:])
    name = ".".join(parts)
    raise Refusal(
        f"the schema has no attribute `{name}`", did_you_mean(name, [f.name for f in schema.fields]), node, "PC214"
    )
