"""A normal form as AND/OR over leaf rows and joins, and its residual code.

In: a condition in normal form. Out: a `Skeleton` whose leaves are rows of the `LeafTable`.

Invariant: `AllOf` and `AnyOf` have at least two parts, hold none of their own sort, and no
`True` or `False`; those are a whole skeleton or nothing.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from profilec.grammar import ir
from profilec.planner.lower.leaves import RANGE_OF, Join, LeafTable


class AllOf(NamedTuple):
    """AND."""

    parts: tuple[Skeleton, ...]


class AnyOf(NamedTuple):
    """OR."""

    parts: tuple[Skeleton, ...]


class Row(NamedTuple):
    """A leaf, by its row in the LeafTable (later: by its test in the image)."""

    number: int


Skeleton: TypeAlias = "Row | Join | AllOf | AnyOf | bool"

TEST, JOIN, JOIN_NOT, JUMP_IF_FALSE, JUMP_IF_TRUE, SET = range(6)
"""The instructions of a residual; see `runtime.image.Image.residual_code`."""


class TooComplexError(ValueError):
    """A normal form with more leaves than `max_terms` allows."""


def add_conjunction(leaves: tuple[ir.Condition, ...], table: LeafTable) -> tuple[int, int] | None:
    """Appends the rows of a plain conjunction and returns their range; None where some operand is no plain leaf.

    Two bounds of one attribute become one row, so that an entry tests an attribute once.
    """
    start = len(table)
    row_of_slot: dict[int, int] = {}
    for leaf in leaves:
        if type(leaf) in _NO_PLAIN_LEAF:
            _take_back(start, table)
            return None
        row = table.add(leaf)
        if type(row) is not int:
            _take_back(start, table)
            return None
        slot = table.slot[row]
        earlier = row_of_slot.setdefault(slot, row)
        bounds = None if earlier == row else _range_of(earlier, row, table)
        if bounds is not None:
            table.pop()
            table.op[earlier], table.first[earlier], table.second[earlier] = bounds
    return start, len(table)


_NO_PLAIN_LEAF = frozenset({ir.And, ir.Or, ir.Exists, ir.ForAll, ir.Literal})


def _take_back(start: int, table: LeafTable) -> None:
    while len(table) > start:
        table.pop()


def _range_of(one: int, other: int, table: LeafTable) -> tuple[int, int, int] | None:
    """Op, first and second constant of the one row that says what two bounds say; None for other pairs.

    `x >= 1` and `x < 5` are `1 <= x < 5`.
    """
    if table.kind[one] != table.kind[other] or table.negated[one] or table.negated[other]:
        return None
    for low, high in ((one, other), (other, one)):
        op = RANGE_OF.get((table.op[low], table.op[high]))
        if op is not None:
            return op, table.first[low], table.first[high]
    return None


def _with_ranges(parts: list[Skeleton], table: LeafTable) -> list[Skeleton]:
    """The operands of an AND with the bounds of one slot made one new row; other parts may share the old ones."""
    place_of_slot: dict[int, int] = {}
    merged: list[Skeleton] = []
    for part in parts:
        if isinstance(part, Row):
            slot = table.slot[part.number]
            place = place_of_slot.setdefault(slot, len(merged))
            earlier = merged[place] if place < len(merged) else part
            bounds = _range_of(earlier.number, part.number, table) if isinstance(earlier, Row) else None
            if earlier is not part and bounds is not None:
                op, first, second = bounds
                merged[place] = Row(table.append(slot, op, table.kind[part.number], first, second, 0))
                continue
        merged.append(part)
    return merged


def skeleton_of(condition: ir.Condition, table: LeafTable, max_terms: int) -> Skeleton:
    """The skeleton of any normal form. Shared sub-conditions share their part.

    Raises:
        TooComplexError: written out, it has more than `max_terms` leaves (IS UNKNOWN doubles what it stands over).
    """
    known: dict[ir.Condition, tuple[Skeleton, int]] = {}

    # Two frames a level (this and a comprehension), as everywhere: `max_depth` counts on it.
    def build(node: ir.Condition) -> tuple[Skeleton, int]:
        found = known.get(node)
        if found is not None:
            return found
        if type(node) is ir.And or type(node) is ir.Or:
            built = [build(operand) for operand in node.operands]
            leaves = sum([size for _, size in built])
            if leaves > max_terms:
                raise TooComplexError(f"its normal form has more than {max_terms:,} terms")
            parts = [part for part, _ in built]
            found = all_of(_with_ranges(parts, table)) if type(node) is ir.And else any_of(parts), leaves
        elif type(node) is ir.Literal:
            found = node.truth is True, 1
        else:
            added = table.add(node)
            found = added if isinstance(added, Join) else Row(added), 1
        known[node] = found
        return found

    return build(condition)[0]


def all_of(parts: list[Skeleton]) -> Skeleton:
    """The AND of parts, flattened; TRUE for none."""
    flat: list[Skeleton] = []
    for part in parts:
        if part is False:
            return False
        if type(part) is AllOf:
            flat.extend(part.parts)
        elif part is not True:
            flat.append(part)
    if len(flat) < 2:
        return flat[0] if flat else True
    return AllOf(tuple(flat))


def any_of(parts: list[Skeleton]) -> Skeleton:
    """The OR of parts, flattened; FALSE for none."""
    flat: list[Skeleton] = []
    for part in parts:
        if part is True:
            return True
        if type(part) is AnyOf:
            flat.extend(part.parts)
        elif part is not False:
            flat.append(part)
    if len(flat) < 2:
        return flat[0] if flat else False
    return AnyOf(tuple(flat))


def residual_code(skeleton: Skeleton) -> list[tuple[int, int]]:
    """The skeleton as straight code with short-circuit jumps over one truth register.

    Row indices are test ids by now.

        AllOf(t1, AnyOf(t2, t3))    TEST t1, JUMP_IF_FALSE end, TEST t2, JUMP_IF_TRUE end, TEST t3
    """
    code: list[tuple[int, int]] = []

    def emit(part: Skeleton) -> None:
        if isinstance(part, bool):
            code.append((SET, int(part)))
        elif isinstance(part, Row):
            code.append((TEST, part.number))
        elif isinstance(part, Join):
            code.append((JOIN_NOT if part.negated else JOIN, part.number))
        else:
            jump = JUMP_IF_FALSE if isinstance(part, AllOf) else JUMP_IF_TRUE
            holes = []
            for operand in part.parts[:-1]:
                emit(operand)
                holes.append(len(code))
                code.append((jump, 0))
            emit(part.parts[-1])
            for hole in holes:
                code[hole] = (jump, len(code))

    emit(skeleton)
    return code
