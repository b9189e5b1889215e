"""Why a document does or does not match a profile: each predicate's truth, place and value.

In: a condition's text, a document, the earlier documents. Out: `Explanation`.

The condition is parsed again from the profile's text, so that the set keeps no spans.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from profilec.grammar import ir
from profilec.grammar.diagnostics import Source, escaped
from profilec.grammar.limits import Limits
from profilec.grammar.parse import Located, parse_condition
from profilec.grammar.print import print_scalar
from profilec.planner.explain import Explained
from profilec.planner.lower.programs import ProgramBuilder
from profilec.runtime.program import run_traced
from profilec.values.kinds import Truth
from profilec.values.paths import lookup
from profilec.values.types import Schema, read_as

_TRUTHS = {True: "TRUE", False: "FALSE", None: "UNKNOWN"}
_MOST_TEXT = 60


@dataclass(frozen=True, slots=True)
class Step:
    """One predicate or connective: its text and place in the source, the value that it saw, and its truth.

    `value` is that of the attribute or expression asked about, a tuple where there are several; None
    for NULL, and for connectives, whose `seen` is empty. A quantifier's is the new document's time, where
    it has a WITHIN. `depth` counts the connectives above.
    """

    text: str
    line: int
    column: int
    value: Any
    truth: Truth
    seen: tuple[str, ...] = ()
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Explanation:
    """The truth of a profile's condition for a document, and the steps to it, in the order of the source.

    `str()` prints a line per step:

        cheap_acme: FALSE
          FALSE  3:9   brand = "Acme" AND price < 10
          TRUE   3:9     brand = "Acme"                brand is 'Acme'
          FALSE  3:28    price < 10                    price is 12
    """

    profile: str
    truth: Truth
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        rows = [
            (_TRUTHS[step.truth], f"{step.line}:{step.column}", _indented(step), _seen(step)) for step in self.steps
        ]
        widths = [max([len(row[column]) for row in rows], default=0) for column in range(3)]
        lines = [
            "  ".join(["", *[cell.ljust(width) for cell, width in zip(row, (*widths, 0), strict=True)]]).rstrip()
            for row in rows
        ]
        return "\n".join([f"{self.profile}: {_TRUTHS[self.truth]}", *lines])


def explain_truth(
    profile: Explained,
    place: tuple[str | None, int, int],
    document: Mapping[str, Any],
    documents: Sequence[Mapping[str, Any]],
    schema: Schema | None,
    limits: Limits,
) -> Explanation:
    """Runs a condition's three-valued program over a document and keeps what each predicate saw.

    Args:
        place: file, line and column of the first character of the condition's text.

    Raises:
        DocumentError: the document holds a value of no kind where the condition looks.
    """
    where = profile.where
    located = parse_condition(where, limits=limits, profile=profile.id)
    program, sources = ProgramBuilder(schema).spanned_program(located)
    # Instructions are told apart by their number, since BETWEEN makes several of one span.
    numbers = tuple((number, number) for number in range(len(program)))
    truth, traced = run_traced(program, numbers, document, documents)
    depth = _depths(located)
    written_as = _written_as(located)
    seen_in: dict[int, dict[ir.Scalar, Any]] = {}
    for step in traced:
        part = sources[step.start]
        operands = _operands(part, step.values) or _time_asked(part.node, document, schema)
        seen_in.setdefault(id(written_as[id(part)]), {}).update(operands)
    source = Source(where)
    steps = []
    for step in sorted(traced, key=lambda step: _order(sources[step.start])):
        part = sources[step.start]
        if written_as[id(part)] is not part:
            continue
        seen = list(seen_in[id(part)].items())
        line, column = source.position(part.start)
        steps.append(
            Step(
                text=where[part.start : part.end],
                line=place[1] + line - 1,
                column=column + (place[2] - 1 if line == 1 else 0),
                value=seen[0][1] if len(seen) == 1 else tuple(value for _, value in seen) or None,
                truth=step.truth,
                seen=tuple(print_scalar(node, exact=False) for node, _ in seen),
                depth=depth[id(part)],
            )
        )
    return Explanation(profile.id, truth, tuple(steps))


def _order(part: Located) -> tuple[int, int]:
    return part.start, -part.end


def _depths(located: Located) -> dict[int, int]:
    """How many connectives stand above each part of a condition."""
    depths: dict[int, int] = {}
    pending = [(located, 0)]
    while pending:
        part, depth = pending.pop()
        depths[id(part)] = depth
        below = depth + isinstance(part.node, ir.And | ir.Or | ir.Not | ir.IsTruth)
        pending.extend((inner, below) for inner in part.parts)
    return depths


def _written_as(located: Located) -> dict[int, Located]:
    """For each part of a condition the outermost one of the same text: BETWEEN is two comparisons under an AND."""
    outermost: dict[int, Located] = {}
    pending = [(located, located)]
    while pending:
        part, above = pending.pop()
        whole = above if (part.start, part.end) == (above.start, above.end) else part
        outermost[id(part)] = whole
        pending.extend((inner, whole) for inner in part.parts)
    return outermost


def _time_asked(node: ir.Node, document: Mapping[str, Any], schema: Schema | None) -> list[tuple[ir.Scalar, Any]]:
    """The attribute that a quantifier's WITHIN asks of the new document, and its value."""
    if not isinstance(node, ir.Exists | ir.ForAll) or node.scope.within_of is None:
        return []
    parts = node.scope.within_of
    declared = None if schema is None else schema.type_of(parts)
    return [(ir.Attribute(ir.NEW, parts), read_as(lookup(document, parts), declared))]


def _operands(part: Located, values: tuple[Any, ...]) -> list[tuple[ir.Scalar, Any]]:
    """The scalars that a predicate asked about, constants left out, with the values it saw."""
    match part.node:
        case ir.Compare(_, left, right):
            pairs: list[tuple[ir.Scalar, Any]] = list(zip((left, right), values, strict=True))
        case ir.In(item, options):
            pairs = list(zip((item, *options), values, strict=True))
        case ir.Like(text, pattern) if len(values) == 2:
            pairs = list(zip((text, pattern), values, strict=True))
        case ir.Like(text) | ir.Matches(text) | ir.IsNull(text) | ir.Some(text) | ir.Every(text):
            pairs = [(text, values[0])]
        case _:
            pairs = []
    return [(scalar, value) for scalar, value in pairs if not isinstance(scalar, ir.Constant)]


def _indented(step: Step) -> str:
    text = escaped(" ".join(step.text.split()))
    return "  " * step.depth + (text if len(text) <= _MOST_TEXT else text[: _MOST_TEXT - 1] + "…")


def _seen(step: Step) -> str:
    values = step.value if len(step.seen) > 1 else (step.value,)
    return ", ".join([f"{escaped(name)} is {_shown(value)}" for name, value in zip(step.seen, values, strict=False)])


def _shown(value: Any) -> str:
    is_whole = isinstance(value, list | Mapping)
    text = escaped(_spelled(value) if is_whole else print_scalar(ir.constant(value), exact=False))
    return text if len(text) <= _MOST_TEXT else text[: _MOST_TEXT - 1] + "…"


def _spelled(value: Any) -> str:
    """An array or a record as Python writes it, but that Python writes no integer of thousands of digits."""
    match value:
        case list():
            return f"[{', '.join(map(_spelled, value))}]"
        case Mapping():
            return "{" + ", ".join([f"{name!r}: {_spelled(inner)}" for name, inner in value.items()]) + "}"
        case int() if not isinstance(value, bool):
            return str(Decimal(value))
    return repr(value)
