"""Statements as text: a profile, or a schema, as a file holds it.

In: the parts of a statement. Out: text that `statements` reads back as them.

Invariant: text that would be read back as anything else is refused, so that nothing that is written changes its
meaning.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from profilec.grammar.declare import id_fault
from profilec.grammar.diagnostics import Diagnostic
from profilec.grammar.examples import Example
from profilec.grammar.lexer import is_plain_name
from profilec.grammar.limits import DEFAULT_LIMITS, Limits
from profilec.grammar.spell import quote, spell_literal, spell_name
from profilec.grammar.statements import iter_profiles, parse_where, read_schema
from profilec.values.types import Schema


def profile_text(
    id: str,
    where: str,
    properties: Mapping[str, Any] | None = None,
    examples: Sequence[Example] = (),
    comment: str | None = None,
    *,
    schema: Schema | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> str:
    """A profile as a statement, its condition as it was written, with a line end behind.

    >>> print(profile_text("two words", "price < 1 -- cheap", {"owner": "ann"}, comment="Why."), end="")
    -- Why.
    PROFILE 'two words'
      WITH (owner = 'ann')
      WHERE price < 1 -- cheap
      ;

    Raises:
        ValueError: no statement says that; the message says what of it.
    """
    fault = id_fault(id)
    if fault is not None:
        raise ValueError(fault)
    lines = [] if comment is None else [f"-- {line}".rstrip() for line in comment.split("\n")]
    lines.append(f"PROFILE {id if is_plain_name(id) else quote(id)}")
    if properties:
        lines.append(
            f"  WITH ({', '.join(f'{spell_name((name,))} = {_literal(value)}' for name, value in properties.items())})"
        )
    lines.append(f"  WHERE {where}")
    given: list[Any] = []
    for example in examples:
        if example.given != given:
            lines.append(f"  GIVEN {_json(example.given)}")
            given = example.given
        lines.append(f"  {example.kind} {_json(example.document)}")
    # Behind a comment that ends its line, `;` would be part of it.
    end = "\n  ;\n" if "--" in lines[-1].rpartition("\n")[2] else ";\n"
    text = "\n".join(lines) + end
    _expect_same(text, (id, where, dict(properties or {}), tuple(examples)), schema, limits)
    return text


def schema_text(schema: Schema) -> str:
    """A schema as a statement.

    Raises:
        ValueError: no statement says that.
    """
    fields = [f"  {spell_name((field.name,))} {field.type}{' NOT NULL' * field.not_null}" for field in schema.fields]
    text = "SCHEMA (\n" + ",\n".join(fields) + "\n);\n"
    found: list[Diagnostic] = []
    if tuple(field for field, _, _ in read_schema(text, None, found.append)) != schema.fields or found:
        raise ValueError("its names are such as no SCHEMA statement has")
    return text


def _expect_same(
    text: str, parts: tuple[str, str, dict[str, Any], tuple[Example, ...]], schema: Any, limits: Any
) -> None:
    id, where, properties, examples = parts
    found: list[Diagnostic] = []
    wanted = parse_where(id, where, schema=schema, limits=limits, report=found.append)
    if wanted is None:
        raise ValueError(f"its condition cannot be read: {next((one.message for one in found), '')}")
    read = list(iter_profiles(text, schema=schema, limits=limits, report=lambda diagnostic: None))
    if len(read) != 1 or read[0].id != id or read[0].condition is not wanted:
        raise ValueError("its condition means something else in a statement")
    if read[0].properties != properties:
        raise ValueError("its properties are such as no statement has")
    if [one[:3] for one in read[0].examples] != [one[:3] for one in examples]:
        raise ValueError("its examples are such as no statement has")


def _literal(value: Any) -> str:
    """Also of numbers and times as Python has them."""
    if isinstance(value, float):
        value = Decimal(repr(value))
    try:
        return spell_literal(value)
    except TypeError as error:
        raise ValueError(f"a property that no text writes: {error}") from None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
