"""The kernels of `entries`: skeletons to entries and residual code.

In: connectives as `skeleton.Connectives`, whose parts are integers: a row or test >= 0, or `leaves.part`.
Out: flat arrays. Invariant: what is made depends on the order of profiles and of operands only.

Equal sub-expressions are one, the number of a list in `Lists`, and so equality is that of numbers.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.planner.lower.leaves import CONNECTIVE, FALSE_PART, NOT_JOINED, TRUE_PART
from profilec.planner.lower.lists import Lists, Whole, copied, kernel_of_many, no_lists, roomy, with_list
from profilec.planner.lower.skeleton import ALL_OF, ANY_OF, JOIN, JOIN_NOT, JUMP_IF_FALSE, JUMP_IF_TRUE, TEST

LOWER, UPPER = 1, 2
"""What bound a row is, if any: of two that are one of each, one range is made."""
MAX_COPIES = 1_000
"""Tests of an AND that may be repeated in the entries of an OR within; more are checked in a residual."""

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
UInt8 = NDArray[np.uint8]
Floats = NDArray[np.float64]


class Simplified(NamedTuple):
    """Connectives with ANDs in ANDs and ORs in ORs taken apart, and two bounds of one row's slot made one row.

    `stands_for[i]`: the part that connective i is: itself, or the only one that it holds. `off` cuts `parts`.
    New row n_rows + p is that of the rows `lower[p]` and `upper[p]`; connective i made those `pair_off[i] ..`.
    """

    stands_for: Int32
    off: Int64
    parts: Int32
    pair_off: Int64
    lower: Int32
    upper: Int32


class Covers(NamedTuple):
    """Entries, in the order of profiles: `off` cuts `tests`; its profile's place, and its residual's number or -1."""

    off: Int64
    tests: Int32
    place: Int32
    residual: Int32


@kernel_of_many
def simplify(
    sort: UInt8, part_off: Int64, parts: Int32, row_slot: Int32, row_kind: Int32, bound: UInt8, n_slots: int
) -> Simplified:
    """See `Simplified`. The first row of a slot in an AND takes the first bound that makes a range with it."""
    n, n_rows = len(sort), len(row_slot)
    stands_for = np.empty(n, np.int32)
    off, pair_off = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    flat, merged = np.empty(len(parts) + 1, np.int32), np.empty(16, np.int32)
    lower, upper = np.empty(16, np.int32), np.empty(16, np.int32)
    met, place = np.full(n_slots + 1, -1, np.int32), np.empty(n_slots + 1, np.int32)
    n_pairs = n_flat = 0
    for i in range(n):
        own = sort[i]
        n_merged = 0
        merged = roomy(merged, part_off[i + 1] - part_off[i])
        for p in range(part_off[i], part_off[i + 1]):
            one = parts[p]
            if one < 0 and ~one & 3 == CONNECTIVE:
                one = stands_for[~one >> 2]
            if own == ALL_OF and one >= 0:
                slot = row_slot[one if one < n_rows else lower[one - n_rows]] + 1
                if met[slot] != i:
                    met[slot], place[slot] = i, n_merged
                else:
                    earlier = merged[place[slot]]
                    if (
                        max(earlier, one) < n_rows
                        and bound[earlier] + bound[one] == LOWER + UPPER
                        and row_kind[earlier] == row_kind[one]
                    ):
                        lower, upper = roomy(lower, n_pairs + 1), roomy(upper, n_pairs + 1)
                        is_lower = bound[earlier] == LOWER
                        lower[n_pairs], upper[n_pairs] = (earlier, one) if is_lower else (one, earlier)
                        merged[place[slot]] = n_rows + n_pairs
                        n_pairs += 1
                        continue
            merged[n_merged] = one
            n_merged += 1
        neutral, deciding = (TRUE_PART, FALSE_PART) if own == ALL_OF else (FALSE_PART, TRUE_PART)
        decided = False
        for m in range(n_merged):
            one = merged[m]
            if one == deciding:
                decided = True
            elif one < 0 and ~one & 3 == CONNECTIVE and sort[~one >> 2] == own:
                start, end = off[~one >> 2], off[(~one >> 2) + 1]
                flat = copied(flat, n_flat, flat, start, end)
                n_flat += end - start
            elif one != neutral:
                flat = roomy(flat, n_flat + 1)
                flat[n_flat] = one
                n_flat += 1
        n_own = n_flat - off[i]
        stands_for[i] = ~(i << 2 | CONNECTIVE)
        if decided or n_own < 2:
            stands_for[i] = deciding if decided else flat[off[i]] if n_own else neutral
            n_flat = off[i]
        off[i + 1], pair_off[i + 1] = n_flat, n_pairs
    return Simplified(stands_for, off, flat[:n_flat], pair_off, lower[:n_pairs], upper[:n_pairs])


@kernel_of_many
def count_rows(part_off: Int64, parts: Int32, pair_off: Int64, roots: Int32, n_rows: int) -> tuple[Int64, UInt8]:
    """How many profiles have each row or new row, and whether some has each connective.

    A row counts where it was written, whatever became of it.
    """
    n = len(part_off) - 1
    counts = np.zeros(n_rows + pair_off[-1], np.int64)
    reached = np.zeros(n, np.uint8)
    met_row, met = np.full(n_rows, -1, np.int32), np.full(n, -1, np.int32)
    pending = np.empty(16, np.int32)
    for root in range(len(roots)):
        pending[0] = roots[root]
        n_pending = 1
        while n_pending:
            n_pending -= 1
            one = pending[n_pending]
            if one >= 0:
                if met_row[one] != root:
                    met_row[one] = root
                    counts[one] += 1
            elif ~one & 3 == CONNECTIVE and met[~one >> 2] != root:
                i = ~one >> 2
                met[i], reached[i] = root, 1
                for pair in range(pair_off[i], pair_off[i + 1]):
                    counts[n_rows + pair] += 1
                start, end = part_off[i], part_off[i + 1]
                pending = copied(pending, n_pending, parts, start, end)
                n_pending += end - start
    return counts, reached


@kernel_of_many
def number_expressions(
    sort: UInt8, reached: UInt8, simplified: Simplified, test_of_row: Int32, costs: Floats, n_joins: int
) -> tuple[Int32, Lists, Floats]:
    """Connectives over tests, none of them twice: what each connective is then, the distinct ones, their costs.

    An expression is the list of its sort and its parts, each once. Its cost is that of its cheapest cover by access
    predicates: of an AND the cheapest part's, of an OR the sum of all.
    """
    n, n_tests = len(sort), len(costs)
    known = np.full(n, FALSE_PART, np.int32)
    lists, of_lists = no_lists(), np.empty(n, np.float64)
    met = np.full(n_tests + 2 * n_joins + n, -1, np.int32)
    scratch = np.empty(1 + len(met), np.int32)
    for i in range(n):
        if not reached[i]:
            continue
        one = simplified.stands_for[i]
        if one != ~np.int32(i << 2 | CONNECTIVE):
            known[i] = as_known(one, known, test_of_row)
            continue
        length = 1
        scratch[0] = sort[i]
        cost, lost = math.inf if sort[i] == ALL_OF else 0.0, 0.0
        for p in range(simplified.off[i], simplified.off[i + 1]):
            one = as_known(simplified.parts[p], known, test_of_row)
            # Where tests turned out to be equal, an OR may have become the AND that was its only part.
            start, end = np.int64(0), np.int64(1)
            nested = False
            if one < 0 and ~one & 3 == CONNECTIVE:
                number = ~one >> 2
                if lists.items[lists.off[number]] == sort[i]:
                    start, end = lists.off[number] + 1, lists.off[number + 1]
                    nested = True
            for q in range(start, end):
                if nested:
                    one = lists.items[q]
                place = one if one >= 0 else n_tests + (~one >> 2) + n_joins * ((~one & 3) - 1)
                if one < 0 and ~one & 3 == CONNECTIVE:
                    place = n_tests + 2 * n_joins + (~one >> 2)
                if met[place] == i:
                    continue
                met[place] = i
                scratch[length] = one
                length += 1
                more = cost_of(one, of_lists, costs)
                if sort[i] == ALL_OF:
                    cost = min(cost, more)
                elif math.isinf(more) or math.isinf(cost):
                    cost = math.inf
                else:  # with what rounding loses, so that the order of parts does not matter
                    total = cost + more
                    lost += (cost - total) + more if cost >= more else (more - total) + cost
                    cost = total
        if length == 2:
            known[i] = scratch[1]
            continue
        lists, number = with_list(lists, scratch, length)
        of_lists[number] = cost if math.isinf(cost) else cost + lost
        known[i] = ~(number << 2 | CONNECTIVE)
    return known, lists, of_lists


@kernel_of_many
def as_known(one: Whole, known: Int32, test_of_row: Int32) -> Any:
    """A part over rows as one over tests."""
    if one >= 0:
        return test_of_row[one]
    return known[~one >> 2] if ~one & 3 == CONNECTIVE else np.int32(one)


@kernel_of_many
def cost_of(one: Whole, of_lists: Floats, costs: Floats) -> Any:
    """The cost of a part that is no literal; a join gives no access."""
    if one >= 0:
        return costs[one]
    return of_lists[~one >> 2] if ~one & 3 == CONNECTIVE else math.inf


@kernel_of_many
def cover(roots: Int32, lists: Lists, of_lists: Floats, costs: Floats) -> tuple[Covers, Lists]:
    """The entries of each root, and the distinct residuals: lists of parts that must all hold.

    A frame of the stack is a part still to be covered, within ANDs around it: their tests are `tests[begin:n_tests]`,
    of which the cheapest costs `direct`, and their other parts `rest[:n_rest]`, the innermost last.
    """
    off, place, residual = np.zeros(16, np.int64), np.empty(16, np.int32), np.empty(16, np.int32)
    out, n_entries, n_out = np.empty(64, np.int32), 0, 0
    residuals = no_lists()
    tests, rest, listed = np.empty(16, np.int32), np.empty(16, np.int32), np.empty(16, np.int32)
    others = np.empty(16, np.int32)
    frames, floor = np.empty(64, np.int64), np.empty(16, np.float64)
    for root in range(len(roots)):
        one: Whole = roots[root]
        if one == FALSE_PART:
            continue
        frames[0], frames[1], frames[2], frames[3] = one, 0, 0, 0
        floor[0] = math.inf
        n_frames = 1
        # A branch of an OR makes entries of its own, so that one without access costs only itself.
        split = one < 0 and ~one & 3 == CONNECTIVE and lists.items[lists.off[~one >> 2]] == ANY_OF
        while n_frames:
            n_frames -= 1
            top = 4 * n_frames
            one = np.int32(frames[top])
            begin, n_tests, n_rest, direct = frames[top + 1], frames[top + 2], frames[top + 3], floor[n_frames]
            is_all = one < 0 and ~one & 3 == CONNECTIVE and lists.items[lists.off[~one >> 2]] == ALL_OF
            start, end = (lists.off[~one >> 2] + 1, lists.off[(~one >> 2) + 1]) if is_all else (0, 1)
            n_others = 0
            best, best_cost = np.int32(0), math.inf
            found = False
            for p in range(start, end):
                if is_all:
                    one = lists.items[p]
                if one >= 0:
                    tests = roomy(tests, n_tests + 1)
                    tests[n_tests] = one
                    n_tests += 1
                    direct = min(direct, costs[one])
                elif one != TRUE_PART:
                    others = roomy(others, n_others + 1)
                    others[n_others] = one
                    n_others += 1
                    if ~one & 3 == CONNECTIVE and (not found or of_lists[~one >> 2] < best_cost):
                        best, best_cost, found = np.int32(one), of_lists[~one >> 2], True
            if not split and (not found or best_cost >= direct):
                off, place = roomy(off, n_entries + 2), roomy(place, n_entries + 1)
                residual = roomy(residual, n_entries + 1)
                out = copied(out, n_out, tests, begin, n_tests)
                n_out += n_tests - begin
                listed = roomy(copied(listed, 0, others, 0, n_others), n_others + n_rest)
                for p in range(n_rest):
                    listed[n_others + p] = rest[n_rest - 1 - p]
                number: Whole = np.int32(-1)
                if n_others + n_rest:
                    residuals, number = with_list(residuals, listed, n_others + n_rest)
                place[n_entries], residual[n_entries] = root, number
                n_entries += 1
                off[n_entries] = n_out
                continue
            split = False
            rest = roomy(rest, n_rest + n_others + n_tests - begin)
            for p in range(n_others - 1, -1, -1):
                if others[p] != best:
                    rest[n_rest] = others[p]
                    n_rest += 1
            start, end = lists.off[~best >> 2] + 1, lists.off[(~best >> 2) + 1]
            if (n_tests - begin) * (end - start) > MAX_COPIES:
                for p in range(n_tests - 1, begin - 1, -1):
                    rest[n_rest] = tests[p]
                    n_rest += 1
                begin, direct = n_tests, math.inf
            frames, floor = roomy(frames, 4 * (n_frames + end - start)), roomy(floor, n_frames + end - start)
            for p in range(end - 1, start - 1, -1):
                top = 4 * n_frames
                frames[top], frames[top + 1], frames[top + 2], frames[top + 3] = lists.items[p], begin, n_tests, n_rest
                floor[n_frames] = direct
                n_frames += 1
    return Covers(off[: n_entries + 1], out[:n_out], place[:n_entries], residual[:n_entries]), residuals


@kernel_of_many
def residual_code(residuals: Lists, lists: Lists) -> tuple[Int32, Int32]:
    """Each residual as straight code with short-circuit jumps over one truth register: what cuts it, and operations
    and their arguments in turn.

        AND(t1, OR(t2, t3))    TEST t1, JUMP_IF_FALSE end, TEST t2, JUMP_IF_TRUE end, TEST t3
    """
    off = np.zeros(residuals.n[0] + 1, np.int32)
    code, n = np.empty(64, np.int32), 0
    frames, n_frames = np.empty(64, np.int64), 0
    for number in range(residuals.n[0]):
        begin = n
        # A frame: the next operand, the end of the operands, the jump, the last hole (jumps to the end, chained).
        frames[0], frames[1] = residuals.off[number], residuals.off[number + 1]
        frames[2], frames[3] = JUMP_IF_FALSE, -1
        n_frames = 1
        while n_frames:
            top = 4 * (n_frames - 1)
            at, end = frames[top], frames[top + 1]
            if at == end:
                hole = frames[top + 3]
                while hole >= 0:
                    following = np.int64(code[2 * hole + 1])
                    code[2 * hole + 1] = n - begin
                    hole = following
                n_frames -= 1
                if n_frames == 0:
                    break
                top -= 4
            else:
                one = residuals.items[at] if n_frames == 1 else lists.items[at]
                frames[top] = at + 1
                if one < 0 and ~one & 3 == CONNECTIVE:
                    frames = roomy(frames, 4 * (n_frames + 1))
                    inner = ~one >> 2
                    frames[top + 4], frames[top + 5] = lists.off[inner] + 1, lists.off[inner + 1]
                    is_all = lists.items[lists.off[inner]] == ALL_OF
                    frames[top + 6], frames[top + 7] = (JUMP_IF_FALSE if is_all else JUMP_IF_TRUE), -1
                    n_frames += 1
                    continue
                code = roomy(code, 2 * n + 2)
                code[2 * n], code[2 * n + 1] = TEST, one
                if one < 0:
                    code[2 * n], code[2 * n + 1] = (JOIN_NOT if ~one & 3 == NOT_JOINED else JOIN), ~one >> 2
                n += 1
            if frames[top] < frames[top + 1]:  # an operand is done, and another follows
                code = roomy(code, 2 * n + 2)
                code[2 * n], code[2 * n + 1] = frames[top + 2], frames[top + 3]
                frames[top + 3] = n
                n += 1
        off[number + 1] = n
    return off, code[: 2 * n]
