"""The tests and residuals of an image in the user's words, for `explain`.

In: an image. Out: text such as `price BETWEEN 10 AND 30`, read back from the rank intervals
themselves, so that what is shown is what is executed.
"""

from __future__ import annotations

from typing import Any

from profilec.grammar import ir
from profilec.grammar.print import print_condition, print_scalar
from profilec.planner.lower.skeleton import JOIN_NOT, JUMP_IF_FALSE, JUMP_IF_TRUE, SET, TEST
from profilec.runtime.image import KINDS, Constants, Image
from profilec.runtime.joins.costs import Way
from profilec.runtime.joins.table import ASSUMED, rows_of
from profilec.runtime.store.documents import DocumentStore
from profilec.values.kinds import Date, Kind, Timestamp
from profilec.values.patterns import print_like

__all__ = ["ASSUMED", "describe_join_rows", "describe_ranks", "describe_residual", "describe_test"]

_WANTS = ("", "NOT ", "NOT TRUE: ", "NOT FALSE: ")
_MOST_INTERVALS = 8


def describe_test(image: Image, test: int) -> str:
    """What must hold of a document for a rank test or bit test to hold."""
    n_tests = len(image.test_slot)
    if test >= n_tests:
        return _describe_bit(image, test - n_tests)
    slot = image.slots[int(image.test_slot[test])]
    start, end = int(image.test_off[test]), int(image.test_off[test + 1])
    intervals = list(zip(image.test_low[start:end].tolist(), image.test_high[start:end].tolist(), strict=True))
    return describe_ranks(slot.name, slot.constants, intervals)


def describe_ranks(name: str, constants: Constants, intervals: list[tuple[int, int]]) -> str:
    """A set of ranks as a condition on `name`."""
    last = constants.n_ranks - 1
    if not intervals:
        return f"{name}: never"
    if intervals == [(0, 0)]:
        return f"{name} IS NULL"
    if intervals == [(1, last)]:
        return f"{name} IS NOT NULL"
    if intervals[0][0] == 0:
        return f"{name} IS NULL OR {describe_ranks(name, constants, _without_absence(intervals))}"
    points = [_constant_at(constants, low) if low == high else None for low, high in intervals]
    if len(points) > 1 and None not in points:
        shown = ", ".join([str(point) for point in points[:_MOST_INTERVALS]])
        more = f", … {len(points) - _MOST_INTERVALS:,} more" if len(points) > _MOST_INTERVALS else ""
        return f"{name} IN ({shown}{more})"
    excluded = _excluded_points(constants, intervals)
    if excluded is not None:
        shown = ", ".join(excluded[:_MOST_INTERVALS])
        return f"{name} != {shown}" if len(excluded) == 1 else f"{name} NOT IN ({shown})"
    return " OR ".join([_describe_interval(name, constants, low, high) for low, high in intervals[:_MOST_INTERVALS]])


def describe_residual(image: Image, residual: int) -> str:
    """The residual program as a condition again."""
    start, end = int(image.residual_off[residual]), int(image.residual_off[residual + 1])
    code = [(int(op), int(argument)) for op, argument in image.residual_code[start:end]]
    return _describe_code(image, code, 0, len(code))[0]


def _describe_code(image: Image, code: list[tuple[int, int]], start: int, end: int) -> tuple[str, bool]:
    """Text of the code in [start, end), and whether it is a single term.

    The operands of an AND or OR are cut by jumps to its end; where the last operand is of the other
    word, its jumps go to the same end, so a change of the jump opens a parenthesis.
    """
    cuts = [row for row in range(start, end) if code[row][0] in (JUMP_IF_FALSE, JUMP_IF_TRUE) and code[row][1] == end]
    if not cuts:
        return _describe_instruction(image, *code[start])
    word = code[cuts[0]][0]
    pieces = []
    for cut in cuts:
        if code[cut][0] != word:
            break
        pieces.append(_describe_code(image, code, start, cut))
        start = cut + 1
    pieces.append(_describe_code(image, code, start, end))
    texts = [text if single else f"({text})" for text, single in pieces]
    return (" AND " if word == JUMP_IF_FALSE else " OR ").join(texts), False


def _describe_instruction(image: Image, op: int, argument: int) -> tuple[str, bool]:
    if op == SET:
        return ("TRUE" if argument else "FALSE"), True
    if op == TEST:
        text = describe_test(image, argument)
        return text, " OR " not in text
    return f"{'NOT ' if op == JOIN_NOT else ''}{describe_join(image, argument)}", True


def describe_join(image: Image, join: int) -> str:
    """A quantified expression, as it would be written."""
    return image.join_names[join]


def _describe_bit(image: Image, bit: int) -> str:
    want, source = _WANTS[int(image.bit_want[bit])], int(image.bit_source[bit])
    if image.bit_kind[bit]:
        return f"{want}{image.term_names[source]}"
    pattern = image.patterns[source]
    name = image.slots[pattern.slot].name
    if pattern.like is None:
        return f"{want}{name} MATCHES {print_scalar(ir.constant(pattern.regex))}"
    text, escape = print_like(pattern.like)
    condition = ir.Like(ir.attribute("x"), ir.constant(text), escape, False)
    return f"{want}{name}{print_condition(condition)[1:]}"


def _without_absence(intervals: list[tuple[int, int]]) -> list[tuple[int, int]]:
    first = [(1, intervals[0][1])] if intervals[0][1] > 0 else []
    return [*first, *intervals[1:]]


def _constant_at(constants: Constants, rank: int) -> str | None:
    """The literal of a point's rank; None for a gap."""
    for kind in KINDS:
        first = constants.first(kind)
        if first <= rank <= constants.last(kind):
            index, is_point = divmod(rank - first, 2)
            return _literal(kind, _values(constants, kind)[index]) if is_point else None
    return None


def _values(constants: Constants, kind: Kind) -> tuple[Any, ...]:
    return {
        Kind.NUMBER: constants.numbers,
        Kind.STRING: constants.strings,
        Kind.BOOLEAN: constants.booleans,
        Kind.DATE: constants.dates,
        Kind.TIMESTAMP: constants.timestamps,
    }[kind]


def _literal(kind: Kind, value: Any) -> str:
    if kind is Kind.DATE:
        value = Date(value)
    elif kind is Kind.TIMESTAMP:
        value = Timestamp(value)
    return print_scalar(ir.constant(value))


def _excluded_points(constants: Constants, intervals: list[tuple[int, int]]) -> list[str] | None:
    """The points left out of one kind's block, where nothing else is left out."""
    for kind in KINDS:
        first, last = constants.first(kind), constants.last(kind)
        if intervals[0][0] == first and intervals[-1][1] == last and len(intervals) > 1:
            holes = list(zip([high for _, high in intervals[:-1]], [low for low, _ in intervals[1:]], strict=True))
            points = [_constant_at(constants, low + 1) for low, high in holes if high == low + 2]
            if len(points) == len(holes) and None not in points:
                return [str(point) for point in points]
    return None


def _describe_interval(name: str, constants: Constants, low: int, high: int) -> str:
    """One interval of ranks; one that runs over several kinds names each."""
    pieces = []
    for kind in KINDS:
        first, last = constants.first(kind), constants.last(kind)
        start, end = max(low, first), min(high, last)
        if start <= end:
            pieces.append(_describe_block(name, constants, kind, start, end))
    if high == constants.n_ranks - 1:
        pieces.append(f"{name} is an array or record")
    return " OR ".join(pieces)


def _describe_block(name: str, constants: Constants, kind: Kind, low: int, high: int) -> str:
    first, last = constants.first(kind), constants.last(kind)
    if (low, high) == (first, last):
        return f"{name} is a {kind.name.lower()}"
    values = _values(constants, kind)

    def bound(rank: int, strict: str, included: str, beyond: int) -> tuple[str, str]:
        index, is_point = divmod(rank - first, 2)
        return (included if is_point else strict), _literal(kind, values[index if is_point else index + beyond])

    if low == high and (low - first) % 2:
        return f"{name} = {_literal(kind, values[(low - first) // 2])}"
    lower = None if low == first else bound(low, ">", ">=", -1)
    upper = None if high == last else bound(high, "<", "<=", 0)
    if lower and upper and lower[0] == ">=" and upper[0] == "<=":
        return f"{name} BETWEEN {lower[1]} AND {upper[1]}"
    return " AND ".join([f"{name} {operator} {literal}" for operator, literal in filter(None, (lower, upper))])


def describe_join_rows(image: Image, store: DocumentStore | None) -> list[dict[str, Any]]:
    """Each row of the join table: one of its terms, how many it has, and how each part of these is asked: the way that
    costs least, in ns for a new document, and the others that are open. `store`: the earlier documents, if any."""
    return [
        {
            "term": image.join_names[int(row.terms[0])],
            "terms": len(row.terms),
            "asked_by": [_way(best) | {"rejected": [_way(other) for other in others]} for best, *others in ways],
        }
        for row, ways in ((row, row.ways(store)) for row in rows_of(image.joins))
    ]


def _way(way: Way) -> dict[str, Any]:
    return {"way": way.name, "ns": round(way.ns)}
