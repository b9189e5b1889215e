"""Scalars and conditions as programs of the runtime's stack machine.

In: IR nodes. Out: `runtime.program.Program`, and for `why` the source span of each instruction.

Invariant: a program leaves exactly one value or truth on the stack, the one that
`planner.reference` gives for the same node.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from profilec.grammar import ir
from profilec.runtime.program import JoinTerm, Program
from profilec.values.patterns import fold_pattern, parse_like
from profilec.values.types import Schema, Type


class Spanned(Protocol):
    """A node with its place in the source, and the same for its children: `grammar.parse.Located`."""

    node: ir.Node
    start: int
    end: int
    parts: list[Any]


class ProgramBuilder:
    """Compiles nodes under one schema.

    `arrays` are the arrays of the ANY/ALL around a node, outermost first: the type of an
    element's attribute is found through them.
    """

    def __init__(self, schema: Schema | None) -> None:
        self._schema = schema

    def program(self, node: ir.Node, arrays: tuple[ir.Attribute, ...] = ()) -> Program:
        """The program that computes a scalar's value or a condition's truth."""
        return tuple(instruction for instruction, _ in self._emit(node, None, arrays))

    def spanned_program(self, located: Spanned) -> tuple[Program, tuple[Any, ...]]:
        """The program of a parsed condition, and for each instruction the part of the source that it computes."""
        emitted = list(self._emit(located.node, located, ()))
        return tuple(instruction for instruction, _ in emitted), tuple(part for _, part in emitted)

    def join_term(self, node: ir.Exists | ir.ForAll) -> JoinTerm:
        """A quantified expression as the runtime evaluates it."""
        scope = node.scope
        return JoinTerm(
            kind="exists" if isinstance(node, ir.Exists) else "forall",
            body=self.program(node.body),
            where=None if scope.where is None else self.program(scope.where),
            within=scope.within,
            within_of=scope.within_of,
            within_type=None if scope.within_of is None else self._declared(scope.within_of),
            last=scope.last,
        )

    def type_of(self, attribute: ir.Attribute, arrays: tuple[ir.Attribute, ...] = ()) -> Type | None:
        """The declared type of an attribute in any scope; None where no schema declares it."""
        if attribute.scope < ir.ELEMENT:
            return self._declared(attribute.parts)
        depth = attribute.scope - ir.ELEMENT
        if depth >= len(arrays):
            return None
        array = self.type_of(arrays[depth], arrays[:depth])
        if array is None or array.element is None:
            return None
        if not attribute.parts:
            return array.element
        return Schema(array.element.fields).type_of(attribute.parts)

    def _declared(self, parts: tuple[str, ...]) -> Type | None:
        return None if self._schema is None else self._schema.type_of(parts)

    def _emit(
        self, node: ir.Node, place: Spanned | None, arrays: tuple[ir.Attribute, ...]
    ) -> Iterator[tuple[tuple[Any, ...], Spanned | None]]:
        """Postfix order without recursion: a long chain of operators is as good as a short one."""
        pending: list[tuple[ir.Node, Spanned | None, bool]] = [(node, place, False)]
        while pending:
            current, where, done = pending.pop()
            if done:
                yield self._instruction(current, arrays), where
                continue
            pending.append((current, where, True))
            operands = _stack_operands(current)
            # LAYOUT: `parts` runs parallel to ir.children(), and the operands on the stack come first in both.
            parts: list[Any] = where.parts if where is not None else [None] * len(operands)
            pending.extend(
                (operand, part, False) for operand, part in reversed(list(zip(operands, parts, strict=False)))
            )

    def _instruction(self, node: ir.Node, arrays: tuple[ir.Attribute, ...]) -> tuple[Any, ...]:
        instruction: tuple[Any, ...] = _INSTRUCTIONS[type(node)](self, node, arrays)
        return instruction


def _stack_operands(node: ir.Node) -> list[ir.Node]:
    """The children whose values an instruction finds on the stack; the bodies of ANY, ALL and joins are programs."""
    match node:
        case ir.Some(array, _) | ir.Every(array, _):
            return [array]
        case ir.Exists() | ir.ForAll():
            return []
        case ir.Like(text, ir.Constant(value=str()), _, _):
            return [text]
        case ir.Matches(text, _):
            return [text]
    return ir.children(node)


def _like(builder: ProgramBuilder, node: Any, arrays: tuple[ir.Attribute, ...]) -> tuple[Any, ...]:
    if not isinstance(node.pattern, ir.Constant) or not isinstance(node.pattern.value, str):
        return ("like", node.escape, node.ignore_case)
    pattern = parse_like(node.pattern.value, node.escape)
    return ("like_constant", fold_pattern(pattern) if node.ignore_case else pattern, node.ignore_case)


def _element_program(builder: ProgramBuilder, node: Any, arrays: tuple[ir.Attribute, ...]) -> Program:
    return builder.program(node.body, (*arrays, node.array))


_INSTRUCTIONS: dict[type, Any] = {
    ir.Attribute: lambda b, n, arrays: ("attribute", n.scope, n.parts, b.type_of(n, arrays)),
    ir.Constant: lambda b, n, arrays: ("constant", n.value),
    ir.Call: lambda b, n, arrays: ("call", n.function, len(n.arguments)),
    ir.Cast: lambda b, n, arrays: ("cast", n.to),
    ir.Literal: lambda b, n, arrays: ("literal", n.truth),
    ir.Compare: lambda b, n, arrays: ("compare", n.operator),
    ir.In: lambda b, n, arrays: ("in", len(n.options)),
    ir.Like: _like,
    ir.Matches: lambda b, n, arrays: ("matches", n.pattern),
    ir.IsNull: lambda b, n, arrays: ("is_null",),
    ir.IsTruth: lambda b, n, arrays: ("is_truth", n.truth),
    ir.Not: lambda b, n, arrays: ("not",),
    ir.And: lambda b, n, arrays: ("and", len(n.operands)),
    ir.Or: lambda b, n, arrays: ("or", len(n.operands)),
    ir.Some: lambda b, n, arrays: ("some", _element_program(b, n, arrays)),
    ir.Every: lambda b, n, arrays: ("every", _element_program(b, n, arrays)),
    ir.Exists: lambda b, n, arrays: ("exists", b.join_term(n)),
    ir.ForAll: lambda b, n, arrays: ("forall", b.join_term(n)),
}
