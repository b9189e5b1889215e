"""Normal forms as AND/OR over leaf rows and joins: one graph for all profiles.

In: conditions in normal form. Out: the integers that stand for them (`leaves.part`), and what the
connectives among them are made of. What profiles share is lowered once, since IR nodes are interned.

    connective   sort     parts
    0            ANY_OF   row 0, row 1
    1            ALL_OF   row 2, connective 0, NOT join 0

Invariant: connectives stand behind their parts. They are as written; `entries` simplifies them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.grammar import ir
from profilec.planner.lower.leaves import CONNECTIVE, FALSE_PART, TRUE_PART, LeafTable, part

ALL_OF, ANY_OF = 0, 1
"""The sorts of connectives."""

TEST, JOIN, JOIN_NOT, JUMP_IF_FALSE, JUMP_IF_TRUE, SET = range(6)
"""The instructions of a residual; see `runtime.image.Image.residual_code`."""

_MOST_KNOWN = 1 << 19
"""Nodes whose parts are remembered. Each is kept alive for it, at some 500 bytes."""
_NO_ROWS = frozenset({ir.And, ir.Or, ir.Exists, ir.ForAll, ir.Literal})


class TooComplexError(ValueError):
    """A normal form with more leaves than `max_terms` allows."""


class Connectives(NamedTuple):
    """Connective i is `sort[i]` (uint8) of the parts `part_off[i] .. part_off[i + 1]` (int64) of `parts` (int32)."""

    sort: NDArray[np.uint8]
    part_off: NDArray[np.int64]
    parts: NDArray[np.int32]


class SkeletonTable:
    """The parts that stand for conditions. Append-only."""

    def __init__(self, table: LeafTable, max_terms: int) -> None:
        self._table = table
        self._max_terms = max_terms
        self._known = _Known(self.part_of)
        self._sort = array("b")
        self._part_off = array("q", [0])
        self._parts = array("i")
        self._n_leaves: list[int] = []

    def conjunction(self, normal_form: ir.Condition) -> list[int] | None:
        """The rows of a plain conjunction; None where it is none, or some operand has no row."""
        known = self._known
        if len(known) > _MOST_KNOWN:
            known.clear()
        sort = type(normal_form)
        if sort is ir.And:
            leaves = normal_form.operands  # type: ignore[attr-defined]
            if not _NO_ROWS.isdisjoint(map(type, leaves)):
                return None
        elif sort in _NO_ROWS:
            return None
        else:
            leaves = (normal_form,)
        # PERF: nearly every profile; no Python is run for a leaf that is known.
        rows = list(map(known.__getitem__, leaves))
        return rows if min(rows) >= 0 else None

    # Two frames a level (this and `_Known.__missing__`), as everywhere: `max_depth` counts on it.
    def part_of(self, node: ir.Condition) -> int:
        """The part that any normal form is. It is not remembered, its operands are.

        Raises:
            TooComplexError: written out, it has more than `max_terms` leaves (IS UNKNOWN doubles what it stands over).
        """
        sort = type(node)
        if sort is not ir.And and sort is not ir.Or:
            if sort is ir.Literal:
                return TRUE_PART if node.truth is True else FALSE_PART  # type: ignore[attr-defined]
            return self._table.add(node)
        parts = list(map(self._known.__getitem__, node.operands))  # type: ignore[attr-defined]
        n_leaves = len(parts)
        if min(parts) < 0:
            of_connectives = [self._n_leaves[~one >> 2] for one in parts if one < 0 and ~one & 3 == CONNECTIVE]
            n_leaves += sum(of_connectives) - len(of_connectives)
        if n_leaves > self._max_terms:
            raise TooComplexError(f"its normal form has more than {self._max_terms:,} terms")
        number = len(self._n_leaves)
        self._n_leaves.append(n_leaves)
        self._sort.append(ALL_OF if sort is ir.And else ANY_OF)
        self._parts.extend(parts)
        self._part_off.append(len(self._parts))
        return part(CONNECTIVE, number)

    def connectives(self) -> Connectives:
        """All connectives so far; a copy."""
        return Connectives(
            np.array(self._sort, np.uint8), np.array(self._part_off, np.int64), np.array(self._parts, np.int32)
        )

    def forget(self) -> None:
        """Lets go of the nodes. What is added again gets parts of its own, which mean the same."""
        self._known.clear()


class _Known(dict[ir.Condition, int]):
    """The part of each node met so far; of one not met yet it is made."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[ir.Condition], int]) -> None:
        self._make = make

    def __missing__(self, node: ir.Condition) -> int:
        made = self[node] = self._make(node)
        return made
