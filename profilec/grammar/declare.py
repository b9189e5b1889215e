"""The builder's other half: the rules of `profilec.lark` for statements.

In: tokens and what the methods returned for the parts. Out: one `ParsedProfile` or `ParsedSchema`.
Faults go where the conditions' go, to the `Builder`.
"""

from __future__ import annotations

import unicodedata
from typing import Any, NamedTuple

from profilec.grammar import ir
from profilec.grammar.build import Builder
from profilec.grammar.examples import read_object, read_objects
from profilec.grammar.foreign import type_hint
from profilec.grammar.lexer import Token, name_parts, string_value
from profilec.grammar.located import Located
from profilec.grammar.refusals import TextError
from profilec.values.kinds import Interval
from profilec.values.types import SCALAR_TYPES, TYPE_NAMES, Field, Type


class ParsedExample(NamedTuple):
    """A document of ACCEPTS or REJECTS, with the place of its JSON."""

    kind: str
    start: int
    document: dict[str, Any]
    given: list[dict[str, Any]]


class ParsedProfile(NamedTuple):
    """A PROFILE statement. Offsets are into the statement's text; `where` is the condition's span."""

    id: str
    start: int
    id_span: tuple[int, int]
    properties: dict[str, Any]
    condition: Located
    where: tuple[int, int]
    examples: list[ParsedExample]


class ParsedField(NamedTuple):
    """A field of a SCHEMA statement, with the place of its name."""

    field: Field
    start: int
    end: int


class ParsedSchema(NamedTuple):
    """A SCHEMA statement."""

    fields: list[ParsedField]


class Declarations:
    """The callbacks for statements."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder

    def profile(self, children: list[Any]) -> ParsedProfile:
        word, (name, id_span), properties, _, expression, clauses = children
        start, end = expression.span
        condition = self._builder.condition([expression])
        examples = self._examples(clauses or [])
        return ParsedProfile(name, word.start, id_span, properties or {}, condition, (start, end), examples)

    def id(self, children: list[Any]) -> tuple[str, tuple[int, int]]:
        token: Token = children[0]
        name = string_value(token.text) if token.type == "STRING" else ".".join(name_parts(token.text))
        place = (token.start, token.end)
        fault = id_fault(name)
        if fault is not None:
            self._builder.fault("PC217", place, fault)
        return name, place

    def properties(self, children: list[Any]) -> dict[str, Any]:
        given: dict[str, Any] = {}
        for name, place, value in children[2]:
            if name in given:
                self._builder.fault("PC219", place, f"the property {name} is given twice")
            given[name] = value
        return given

    def property_list(self, children: list[Any]) -> list[Any]:
        return children

    def property(self, children: list[Any]) -> tuple[str, tuple[int, int], Any]:
        name, operator, value = children
        if operator.text not in ("=", "=="):
            self._builder.fault("PC101", (operator.start, operator.end), f"expected `=`, found `{operator.text}`")
        node = value.node
        constant = None
        if isinstance(node, ir.Constant) and node.type_ is not Interval:
            constant = node.value
        else:
            self._builder.fault("PC223", value.span, "a property is a literal: a number, a string, a date, …")
        return ".".join(name_parts(name.text)), (name.start, name.end), constant

    def examples(self, children: list[Any]) -> list[Any]:
        return children

    def example(self, children: list[Any]) -> tuple[Token, list[Token]]:
        return children[0], children[1]

    def json_list(self, children: list[Any]) -> list[Any]:
        return children

    def _examples(self, clauses: list[tuple[Token, list[Token]]]) -> list[ParsedExample]:
        examples: list[ParsedExample] = []
        given: list[dict[str, Any]] = []
        for word, texts in clauses:
            for token in texts:
                try:
                    if word.type == "GIVEN":
                        given = read_objects(token.text, token.start)
                    else:
                        document = read_object(token.text, token.start, word.type)
                        examples.append(ParsedExample(word.type, token.start, document, given))
                except TextError as error:
                    self._builder.faults.append(error)
            if word.type == "GIVEN" and len(texts) > 1:
                place = (texts[1].start, texts[1].end)
                self._builder.fault("PC118", place, "GIVEN takes one array", "put all documents in one")
        return examples

    def schema(self, children: list[Any]) -> ParsedSchema:
        return ParsedSchema(children[2])

    def fields(self, children: list[Any]) -> list[ParsedField]:
        return children

    def field(self, children: list[Any]) -> ParsedField:
        name, type_, negated, _ = children
        field = Field(".".join(name_parts(name.text)), type_, negated is not None)
        return ParsedField(field, name.start, name.end)

    def scalar_type(self, children: list[Any]) -> Type:
        name: Token = children[0]
        word = name.text.upper()
        place = (name.start, name.end)
        if word == "ARRAY":
            self._builder.fault("PC206", place, "ARRAY of what?", "write `ARRAY<STRING>`")
        elif word == "RECORD":
            self._builder.fault("PC206", place, "RECORD of what?", "write `RECORD(sku STRING, qty NUMBER)`")
        elif word in SCALAR_TYPES:
            return Type(word)
        else:
            self._builder.fault("PC206", place, f"there is no type {name.text}", type_hint(name.text, TYPE_NAMES))
        return Type("STRING")

    def array_type(self, children: list[Any]) -> Type:
        name, _, element, _ = children
        if name.text.upper() != "ARRAY":
            place = (name.start, name.end)
            self._builder.fault("PC206", place, f"{name.text} takes no type in `<…>`", "write `ARRAY<…>`")
        return Type("ARRAY", element)

    def record_type(self, children: list[Any]) -> Type:
        name, _, fields, _ = children
        if name.text.upper() != "RECORD":
            place = (name.start, name.end)
            hint = "a NUMBER has no precision and a STRING no length" if name.text.upper() in TYPE_NAMES else None
            hint = hint or type_hint(name.text, TYPE_NAMES) or "write `RECORD(…)`"
            self._builder.fault("PC206", place, f"{name.text} takes no fields", hint)
        return Type("RECORD", fields=distinct(fields, self._builder))


def distinct(fields: list[ParsedField], builder: Builder) -> tuple[Field, ...]:
    """The fields of one record; a name that comes twice is a fault."""
    seen: set[str] = set()
    for field, start, end in fields:
        if field.name in seen:
            builder.fault("PC218", (start, end), f"the field {field.name} is declared twice")
        seen.add(field.name)
    return tuple(field for field, _, _ in fields)


def id_fault(name: str) -> str | None:
    """What forbids a text as an id; None where nothing does.

    >>> id_fault("two words"), id_fault("a\\nb")
    (None, 'an id cannot hold the control character U+000A')
    """
    if not name:
        return "an id cannot be empty"
    if name.isprintable():
        return None
    control = next((c for c in name if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")), None)
    return None if control is None else f"an id cannot hold the control character U+{ord(control):04X}"
