"""The plain compiled scan of AND/OR expressions: each profile a straight program of predicates with jumps.

    (a OR b) AND c      row 0   a   if TRUE  to 2
                        row 1   b   if FALSE to 4 (one past the end, plus one: no match)
                        row 2   c   if FALSE to 4
                        3 = the end: a match

A row is `slot int32, mask uint64, jump int32`, 16 bytes: `jump` is twice the row jumped to (counted from
the profile's first), plus 1 where it is TRUE that jumps. What does not jump goes on with the next row.
Operands stand in the order that decides soonest for the predicates' selectivities: of an AND, those
first that fail most often for what they cost; of an OR, those that hold most often.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from conjunctions import offsets_of
from nested import AND, Expressions
from numba import njit
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class ProgramScan:
    """Profile i is the rows `off[i] .. off[i + 1]`."""

    off: NDArray[np.int32]
    slot: NDArray[np.int32]
    mask: NDArray[np.uint64]
    jump: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.off) - 1

    @property
    def n_bytes(self) -> int:
        return self.off.nbytes + self.slot.nbytes + self.mask.nbytes + self.jump.nbytes

    def match_into(self, codes: NDArray[np.int32], out: NDArray[np.int32]) -> int:
        """Writes the matches of a document to `out` (as long as there are profiles); returns how many."""
        return int(scan_programs(self.off, self.slot, self.mask, self.jump, codes, out))

    def match(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        out = np.empty(len(self), np.int32)
        return out[: self.match_into(codes, out)]


def programs_of(expressions: Expressions) -> ProgramScan:
    """The scan of generated expressions, for cardinalities that a mask holds. A code is the value itself."""
    predicates = expressions.predicates
    if predicates.mask is None:
        raise ValueError(f"a cardinality of {predicates.cardinality} does not fit a mask")
    presence = np.bincount(predicates.slot, minlength=predicates.n_attributes) / len(predicates.slot)
    holds = presence[predicates.slot] * predicates.accepted() / predicates.cardinality
    size, child = weigh(holds, expressions.kind, expressions.child_off, expressions.child.copy(), AND)
    off = offsets_of(size[expressions.root]).astype(np.int32)
    node, jump = lay_out(off, expressions.root, len(holds), expressions.kind, expressions.child_off, child, size, AND)
    return ProgramScan(off, predicates.slot[node], predicates.mask[node], jump)


@njit(nogil=True, cache=True)
def weigh(holds: Any, kind: Any, child_off: Any, child: Any, and_kind: Any) -> Any:
    """Per node its number of predicates; and `child` with each connective's operands in the order to ask them."""
    n_predicates = len(holds)
    n_nodes = n_predicates + len(kind)
    size = np.ones(n_nodes, np.int64)
    chance = np.empty(n_nodes)
    cost = np.ones(n_nodes)
    chance[:n_predicates] = holds
    for connective in range(len(kind)):
        node, start, end = n_predicates + connective, child_off[connective], child_off[connective + 1]
        is_and = kind[connective] == and_kind
        for place in range(start + 1, end):
            moving = child[place]
            key = cost[moving] / max(1e-12, 1 - chance[moving] if is_and else chance[moving])
            to = place
            while to > start:
                other = child[to - 1]
                if cost[other] / max(1e-12, 1 - chance[other] if is_and else chance[other]) <= key:
                    break
                child[to] = other
                to -= 1
            child[to] = moving
        size[node], cost[node] = 0, 0.0
        goes_on = 1.0
        for place in range(start, end):
            size[node] += size[child[place]]
            cost[node] += goes_on * cost[child[place]]
            goes_on *= chance[child[place]] if is_and else 1 - chance[child[place]]
        chance[node] = goes_on if is_and else 1 - goes_on
    return size, child


@njit(nogil=True, cache=True)
def lay_out(
    off: Any, root: Any, n_predicates: Any, kind: Any, child_off: Any, child: Any, size: Any, and_kind: Any
) -> Any:
    """Per row its predicate and its jump."""
    n_rows = off[-1]
    predicate, jump = np.empty(n_rows, np.int32), np.empty(n_rows, np.int32)
    # A stack of nodes to be laid out: node, first row, row to go to if it holds, and if not.
    stack = np.empty((1024, 4), np.int64)
    for profile in range(len(root)):
        n_own = off[profile + 1] - off[profile]
        stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = root[profile], 0, n_own, n_own + 1
        top = 1
        while top:
            top -= 1
            node, row, if_true, if_false = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
            if node < n_predicates:
                predicate[off[profile] + row] = node
                jump[off[profile] + row] = 2 * if_false if if_true == row + 1 else 2 * if_true + 1
                continue
            start, end = child_off[node - n_predicates], child_off[node - n_predicates + 1]
            is_and = kind[node - n_predicates] == and_kind
            for place in range(start, end):
                after = row + size[child[place]]
                last = place == end - 1
                stack[top, 0], stack[top, 1] = child[place], row
                stack[top, 2] = after if is_and and not last else if_true
                stack[top, 3] = after if not is_and and not last else if_false
                top += 1
                row = after
    return predicate, jump


@njit(nogil=True, cache=True)
def scan_programs(off: Any, slot: Any, mask: Any, jump: Any, codes: Any, out: Any) -> Any:
    n = 0
    start = np.uint64(0)
    for profile in range(len(off) - 1):
        end = np.uint64(off[profile + 1])
        row = start
        while row < end:
            code = np.uint64(codes[np.uint32(slot[row])])
            holds = (mask[row] >> code) & np.uint64(1)
            to = np.uint64(np.uint32(jump[row]))
            row = start + (to >> np.uint64(1)) if holds == to & np.uint64(1) else row + np.uint64(1)
        if row == end:
            out[n] = profile
            n += 1
        start = end
    return n
