"""What reading a SQL tree knows, and the tables of what reads which form.

In: sqlglot's nodes. Out: `Read` (a scalar and what is known of it) or an `ir.Condition`, by the
function that is registered for the node's class; an unregistered class is refused by the name its
writer knows it by.

Invariant: no argument of a node is overlooked. `arguments` hands out those that are asked for
and refuses a node that has any other, so what a newer sqlglot adds to a node is never dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from sqlglot import exp

from profilec.grammar import ir
from profilec.grammar.sql.dialects import Traits
from profilec.grammar.sql.refusal import Refusal, a_kind
from profilec.values.kinds import Kind
from profilec.values.types import Schema


@dataclass(slots=True)
class Reading:
    """One statement being read.

    sensitive: strings are compared and matched by code point whatever the dialect does.
    table: the names by which columns may be qualified, outermost first; None: no FROM says one.
    seen: attribute -> the kind of the constants that it was compared with.
    spellings: case-folded name -> the name as first written, and whether it was quoted.
    """

    traits: Traits
    sensitive: bool
    schema: Schema | None
    warn: Callable[[str, str | None, exp.Expr], None]
    table: tuple[str, ...] | None = None
    seen: dict[tuple[str, ...], Kind] = field(default_factory=dict)
    spellings: dict[str, tuple[str, bool]] = field(default_factory=dict)
    qualifiers: set[tuple[str, ...]] = field(default_factory=set)

    @property
    def dialect(self) -> str:
        return self.traits.name


@dataclass(frozen=True, slots=True)
class Read:
    """A scalar that was read.

    kind: None where only the column's type would tell.
    number: what the dialect computes: an "integer", an "exact" number, a "double"; None where the column's type tells.
    is_double: our value is a double, whatever the document holds.
    binary: a COLLATE says that strings compare by code point.
    mixed: a column's number or a constant's; the dialect gives both one type, and we to each its own.
    """

    scalar: ir.Scalar
    kind: Kind | None = None
    number: Literal["integer", "exact", "double"] | None = None
    is_double: bool = False
    binary: bool = False
    mixed: bool = False


_Scalar: TypeAlias = Callable[[Any, Reading], Read]
_Condition: TypeAlias = Callable[[Any, Reading], ir.Condition]
_SCALARS: dict[type[Any], _Scalar] = {}
_CONDITIONS: dict[type[Any], _Condition] = {}


def reads_scalar(*forms: type[exp.Expr]) -> Callable[[_Scalar], _Scalar]:
    """Says that a function reads the scalars of these classes."""

    def register(function: _Scalar) -> _Scalar:
        _SCALARS.update(dict.fromkeys(forms, function))
        return function

    return register


def reads_condition(*forms: type[exp.Expr]) -> Callable[[_Condition], _Condition]:
    """Says that a function reads the conditions of these classes."""

    def register(function: _Condition) -> _Condition:
        _CONDITIONS.update(dict.fromkeys(forms, function))
        return function

    return register


def read_scalar(node: exp.Expr, reading: Reading) -> Read:
    """The scalar of a node.

    Raises:
        Refusal: it has none with the same meaning.
    """
    read = _SCALARS.get(type(node))
    if read is None:
        if type(node) in _CONDITIONS:
            raise Refusal("a condition where a value is needed", "conditions are joined by AND, OR and NOT", node)
        raise refusal_of(node)
    return read(node, reading)


def read_condition(node: exp.Expr, reading: Reading) -> ir.Condition:
    """The condition of a node.

    Raises:
        Refusal: it has none with the same meaning.
    """
    read = _CONDITIONS.get(type(node))
    if read is not None:
        return read(node, reading)
    return _bare(node, reading)


def _bare(node: exp.Expr, reading: Reading) -> ir.Condition:
    """A value as a condition: a boolean, and nothing that a dialect would make one of."""
    read = read_scalar(node, reading)
    if read.kind is Kind.NULL:
        return ir.UNKNOWN
    if read.kind is Kind.BOOLEAN or (read.kind is None and reading.traits.booleans):
        return ir.Compare("=", note_kind(read, Kind.BOOLEAN, node, reading).scalar, ir.constant(True))
    if read.kind is None:
        raise Refusal(
            f"a column as a condition may hold where it is a number other than 0 in {reading.dialect}",
            "write `a <> 0`, or declare the attribute BOOLEAN in a schema",
            node,
            "PC504",
        )
    raise Refusal(f"{a_kind(read.kind)} as a condition", "compare it with something", node)


def is_condition(node: exp.Expr) -> bool:
    """Whether the node, inside any parentheses, has a truth: a boolean column or literal has a value too."""
    node = unwrap(node)
    return type(node) in _CONDITIONS and type(node) not in _SCALARS


def arguments(node: exp.Expr, *names: str) -> list[Any]:
    """The node's arguments by name (None where absent). Refuses a node that has others.

    >>> import sqlglot
    >>> arguments(sqlglot.parse_one("a BETWEEN 1 AND 2"), "this", "low", "high")[1].sql()
    '1'
    """
    for name, value in node.args.items():
        if name not in names and value not in (None, False, "", []):
            words = _OPTIONS.get(name, f"the option `{name}`")
            raise Refusal(f"{_plain_name(node)} with {words} is not in the language", None, node)
    return [node.args.get(name) or None for name in names]


def unwrap(node: exp.Expr) -> exp.Expr:
    """The node inside any parentheses."""
    while isinstance(node, exp.Paren):
        (node,) = arguments(node, "this")
    return node


def string_literal(node: exp.Expr, reading: Reading) -> str | None:
    """The text of a string literal, in whatever quotes; None for any other node."""
    node = unwrap(node)
    if isinstance(node, exp.Literal):
        return node.name if node.args.get("is_string") else None
    if isinstance(node, exp.National | exp.RawString):
        return node.name
    # E'…' of these two; elsewhere it is a string of bytes.
    if isinstance(node, exp.ByteString) and reading.dialect in ("PostgreSQL", "DuckDB"):
        return node.name
    return None


def note_kind(read: Read, kind: Kind, node: exp.Expr, reading: Reading) -> Read:
    """The scalar, taken for one of `kind`; refuses an attribute that was taken for another kind before."""
    if read.kind is not None or kind is Kind.NULL:
        return read
    for parts in _unknown_attributes(read.scalar):
        first = reading.seen.setdefault(parts, kind)
        if first is not kind and {first, kind} != {Kind.DATE, Kind.TIMESTAMP}:
            _warn_of_mixture(".".join(parts), first, kind, node, reading)
    return replace(read, kind=kind)


def _unknown_attributes(scalar: ir.Scalar) -> list[tuple[str, ...]]:
    match scalar:
        case ir.Attribute(_, parts):
            return [parts]
        case ir.Call("COALESCE", operands):
            return [parts for operand in operands for parts in _unknown_attributes(operand)]
    return []


def _warn_of_mixture(name: str, first: Kind, kind: Kind, node: exp.Expr, reading: Reading) -> None:
    """SQLite's columns hold values of all kinds, as our documents do; elsewhere one side would be converted."""
    message = f"`{name}` is compared with {a_kind(first)} and with {a_kind(kind)}"
    if reading.dialect != "SQLite":
        raise Refusal(f"{message}; {reading.dialect} would convert one of them", None, node, "PC504")
    reading.warn(message, "a value of another kind than the constant is UNKNOWN here, and never converted", node)


def read_number(node: exp.Expr, reading: Reading) -> Read:
    """An operand of arithmetic: a number, or an attribute that is taken for one."""
    read = read_scalar(node, reading)
    if read.kind not in (None, Kind.NUMBER, Kind.NULL):
        raise Refusal(f"arithmetic on {a_kind(read.kind)} is not in the language", None, node)
    return note_kind(read, Kind.NUMBER, node, reading)


def read_text(node: exp.Expr, reading: Reading) -> Read:
    read = read_scalar(node, reading)
    if read.kind not in (None, Kind.STRING, Kind.NULL):
        raise Refusal(f"{a_kind(read.kind)} where a string is needed", None, node)
    return note_kind(read, Kind.STRING, node, reading)


def number_as_boolean(read: Read, node: exp.Expr, reading: Reading) -> Read:
    """1 and 0 beside an attribute that the schema calls BOOLEAN, where the dialect has no other booleans."""
    match read.scalar:
        case ir.Constant(_, (0 | 1) as value):
            return Read(ir.constant(bool(value)), Kind.BOOLEAN)
    if read.kind is Kind.BOOLEAN:
        return read
    raise Refusal(f"a boolean of {reading.dialect} compared with a number", None, node)


def whole_constant(node: exp.Expr, reading: Reading) -> int:
    match read_scalar(node, reading).scalar:
        case ir.Constant(_, int() as value) if not isinstance(value, bool):
            return value
    raise Refusal("a length or a position that is no whole number", "write a number", node)


# Words for what is refused most; any other node goes by its class.
_OPTIONS = {"negate": "NOT", "symmetric": "SYMMETRIC", "query": "a subquery", "unnest": "UNNEST"}
_NAMES: dict[str, tuple[str, str | None]] = {
    "In": ("IN", None),
    "Is": ("this form of IS", None),
    "Between": ("BETWEEN", None),
    "Like": ("LIKE", None),
    "ILike": ("ILIKE", None),
    "Case": ("CASE", "write the branches with AND, OR and NOT"),
    "If": ("IF", "write the branches with AND, OR and NOT"),
    "DPipe": ("`||`", "compare the parts one by one"),
    "Concat": ("a concatenation of strings", "compare the parts one by one"),
    "Select": ("a subquery", None),
    "Subquery": ("a subquery", None),
    "Exists": ("EXISTS with a subquery", "over earlier documents, write EXISTS d (…) in a profile"),
    "CurrentTimestamp": ("the current time", "write the time as a literal"),
    "CurrentDate": ("the current date", "write the date as a literal"),
    "CurrentTime": ("the current time", "write the time as a literal"),
    "Xor": ("XOR", "write (a AND NOT b) OR (NOT a AND b)"),
    "IntDiv": ("integer division", None),
    "Pow": ("a power", None),
    "SimilarTo": ("SIMILAR TO", "write a LIKE or a regular expression"),
    "JSONExtract": ("a path into JSON", "name the attribute by its dotted path"),
    "JSONExtractScalar": ("a path into JSON", "name the attribute by its dotted path"),
    "JSONBExtract": ("a path into JSON", "name the attribute by its dotted path"),
    "JSONBExtractScalar": ("a path into JSON", "name the attribute by its dotted path"),
    "Bracket": ("a subscript", None),
    "Placeholder": ("a placeholder for a value", "write the value"),
    "Parameter": ("a placeholder for a value", "write the value"),
    "HexString": ("a string of bytes", None),
    "BitString": ("a string of bits", None),
    "ByteString": ("a string of bytes", None),
    "UnicodeString": ("a string with U& escapes", "write the characters themselves"),
    "Tuple": ("a list of values", "compare them one by one"),
    "TsOrDsToDate": ("the function DATE", "write DATE '2024-12-31'"),
    "RegexpLike": ("a regular expression", None),
    "RegexpFullMatch": ("a regular expression for the whole string", "write regexp_matches(a, '^(?:…)$')"),
    "Window": ("a window function", None),
    "Nullif": ("NULLIF", "it is carried as the divisor of a division only"),
    "BitwiseAnd": ("bitwise `&`", None),
    "BitwiseOr": ("bitwise `|`", None),
    "BitwiseNot": ("bitwise `~`", None),
}


def refusal_of(node: exp.Expr, *, hint: str | None = None) -> Refusal:
    """The refusal of a node that has no counterpart, by name."""
    name = type(node).__name__
    words, known_hint = _NAMES.get(name, (None, None))
    if isinstance(node.args.get("expression"), exp.Lambda):
        words, known_hint = (
            "a predicate over the elements of an array",
            "write ANY items AS i (i.sku = 'x') in a profile",
        )
    if words is None:
        if isinstance(node, exp.Anonymous):
            words = f"the function {node.name}"
        elif isinstance(node, exp.AggFunc):
            words = f"the aggregate {node.sql_name()}"
        elif isinstance(node, exp.Func):
            words = f"the function {node.sql_name()}"
        else:
            words = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name).strip()
    return Refusal(f"{words} is not in the language", hint or known_hint, node)


def _plain_name(node: exp.Expr) -> str:
    return str(refusal_of(node)).removesuffix(" is not in the language")
