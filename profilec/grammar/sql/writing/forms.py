"""What writing a condition knows: the dialect, the schema, the kinds of the attributes, the arrays around.

In: the IR. Out: sqlglot's nodes. Every operand that is itself an expression is given its
parentheses here, so that no dialect's precedence decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from profilec.grammar import ir
from profilec.grammar.sql.dialects import Traits
from profilec.grammar.sql.refusal import Refusal
from profilec.grammar.sql.writing.kinds import Key, Kinds
from profilec.values.kinds import Kind
from profilec.values.types import Schema, Type

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*", re.ASCII)
_ATOMS = (exp.Column, exp.Dot, exp.Literal, exp.Boolean, exp.Null, exp.Func, exp.Paren, exp.Cast, exp.Case)


@dataclass(frozen=True, slots=True)
class Writing:
    """A condition being written. `arrays` are those whose elements are in scope, and the names given to these."""

    dialect: str
    traits: Traits
    schema: Schema | None
    kinds: Kinds
    arrays: tuple[ir.Attribute, ...] = ()
    elements: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The dialect's name, for messages."""
        return self.traits.name

    def can(self, feature: str) -> bool:
        return self.traits.exports is not None and feature in self.traits.exports

    def need(self, feature: str, what: str) -> None:
        if not self.can(feature):
            raise Refusal(f"{what} cannot be carried to {self.name}", code="PC503")

    def within(self, array: ir.Attribute, element: str) -> Writing:
        return replace(self, arrays=(*self.arrays, array), elements=(*self.elements, element))

    def key(self, attribute: ir.Attribute) -> Key:
        return Key(attribute, self.arrays if attribute.scope >= ir.ELEMENT else ())

    def kind(self, scalar: ir.Scalar) -> Kind | None:
        return self.kinds.of(scalar, self.arrays)

    def type_of(self, attribute: ir.Attribute) -> Type | None:
        return self.kinds.type_of(self.key(attribute))


def refused(message: str, hint: str | None = None) -> Refusal:
    return Refusal(message, hint, code="PC503")


def wrap(node: exp.Expr) -> exp.Expr:
    """The node as an operand: in parentheses, where it is no atom."""
    return node if isinstance(node, _ATOMS) else exp.Paren(this=node)


def string(text: str, writing: Writing) -> exp.Expr:
    if "\x00" in text:
        raise refused(f"{text!r} has a NUL, which not every dialect keeps in a string")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise refused(f"{text!r} has a lone surrogate, which is no character")
    if not text and writing.traits.empty_is_null:
        raise refused(f"'' is NULL in {writing.name}")
    return exp.Literal.string(text)


def column(attribute: ir.Attribute, writing: Writing) -> exp.Expr:
    """The column, or the field of a record, that holds an attribute.

    Without a schema a dotted name is a column of that very name.
    """
    if attribute.scope == ir.OLD:
        raise refused("an attribute of an earlier document has no place in a WHERE clause")
    parts = attribute.parts
    if attribute.scope >= ir.ELEMENT:
        element = writing.elements[attribute.scope - ir.ELEMENT]
        return _path([element, *parts], writing) if parts else exp.column(_identifier(element, writing))
    flat = ".".join(parts)
    if len(parts) == 1 or writing.schema is None or writing.schema.field(flat) is not None:
        return exp.column(_identifier(flat, writing))
    if writing.name == "PostgreSQL":
        record: exp.Expr = exp.Paren(this=exp.column(_identifier(parts[0], writing)))
        for part in parts[1:]:
            record = exp.Dot(this=record, expression=_identifier(part, writing))
        return record
    if not writing.traits.dotted_fields:
        raise refused(f"`{flat}`: a field of a record cannot be carried to {writing.name}")
    return _path(list(parts), writing)


def _path(parts: list[str], writing: Writing) -> exp.Expr:
    return exp.Dot.build([_identifier(part, writing) for part in parts])


def _identifier(name: str, writing: Writing) -> exp.Identifier:
    if not name or "\x00" in name:
        raise refused(f"a column cannot be named {name!r}")
    plain = _PLAIN.fullmatch(name) is not None and name.upper() not in _keywords(writing.dialect)
    return exp.to_identifier(name, quoted=not plain)


def _keywords(dialect: str) -> frozenset[str]:
    known = _KEYWORDS.get(dialect)
    if known is None:
        words = Dialect.get_or_raise(dialect).tokenizer_class.KEYWORDS
        known = _KEYWORDS[dialect] = frozenset(word for word in words if word.isalpha()) | _RESERVED
    return known


_KEYWORDS: dict[str, frozenset[str]] = {}
# Reserved in some dialect, and no keyword of sqlglot's tokenizer.
_RESERVED_WORDS = (
    "ABORT ACCESS ADD ALSO ANALYSE ANALYZE ARRAY AUDIT AUTHORIZATION BOTH BY CAST CHECK CLUSTER COLUMN "
    "CONSTRAINT CROSS CURRENT_CATALOG CURRENT_ROLE DEFERRABLE DO ELSE END ERRORS EXCEPT FETCH FOR FOREIGN "
    "FREEZE FUNCTION GLOB GRANT GROUPS HAVING INDEX INITIALLY INTO LATERAL LEADING LEVEL LIMIT LOCALTIME "
    "LOCALTIMESTAMP MATCH MINUS MODE NATURAL NOTHING NOTNULL OF OFFSET ONLY OPTION OR ORDER OVERLAPS "
    "PLACING PRIMARY PRIOR PUBLIC RAISE REFERENCES RETURNING ROW ROWID ROWNUM SESSION SESSION_USER "
    "SIMILAR SOME START SYMMETRIC SYSDATE TABLE THEN TO TRAILING TRIGGER UID UNIQUE USER USING VALIDATE "
    "VARIADIC VERBOSE WHEN WINDOW WITH "
)
_RESERVED = frozenset(_RESERVED_WORDS.split())
