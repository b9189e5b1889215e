"""Entries that come, and entries that go: the kernels that Python calls.

An entry comes as a body in limbo, which `advance` places. What an earlier call had no room for is done first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from profilec.runtime.kernels import inlined, kernel
from profilec.runtime.matchers.dynamic_betree.blocks import give_block, has_room, size_for, take_block
from profilec.runtime.matchers.dynamic_betree.leaf import row_words, take_row
from profilec.runtime.matchers.dynamic_betree.merge import lose
from profilec.runtime.matchers.dynamic_betree.split import advance
from profilec.runtime.matchers.dynamic_betree.statistics import sample_entry
from profilec.runtime.matchers.dynamic_betree.tree import (
    DONE,
    ENTRY,
    FIRST_TEST,
    ILL_FORMED,
    IN_USE,
    INDEX,
    LIMBO,
    MAX_CAP,
    MISSING,
    N_ENTRIES,
    N_LEAF,
    N_TESTS,
    N_WORK,
    NEED_ENTRIES,
    NEED_SLOTS,
    NO_ROOM,
    NODE,
    PROGRESS,
    ROOT,
    TEST,
    UNSETTLED,
    Tree,
)

_LEVELS = 64
"""Buckets within each other, at most."""


@kernel
def insert(
    pool: Any,
    header: Any,
    table: Any,
    slot_rows: Any,
    dense: Any,
    queue: Any,
    work: Any,
    entries: Any,
    test_off: Any,
    slots: Any,
    off: Any,
    lows: Any,
    highs: Any,
) -> int:
    """Entries from PROGRESS on: entry i has the tests `test_off[i] .. test_off[i + 1]`. Of none: does what waits."""
    tree = Tree(pool, header, table, slot_rows, dense, queue, work)
    if not advance(tree):
        return NO_ROOM
    while header[PROGRESS] < len(entries):
        i = header[PROGRESS]
        code = _insert(tree, np.int64(entries[i]), slots, test_off[i], test_off[i + 1], off, lows, highs)
        if code in (DONE, UNSETTLED):
            header[PROGRESS] += 1
        if code != DONE:
            return code
    return DONE


@kernel
def delete(pool: Any, header: Any, table: Any, slot_rows: Any, dense: Any, queue: Any, work: Any, entry: int) -> int:
    """One entry. What then waits is left to `insert`: `advance` takes long to compile, and is in that kernel alone."""
    tree = Tree(pool, header, table, slot_rows, dense, queue, work)
    if waits(header):
        return NO_ROOM
    if entry < 0 or entry >= len(table) or table[entry] == 0:
        return MISSING
    body = table[entry]
    node = pool[body + NODE]
    if not has_room(tree, row_words(pool[node + N_LEAF]) + _LEVELS * row_words(header[MAX_CAP])):
        return NO_ROOM
    take_row(tree, body)
    give_block(tree, body, pool[body + ENTRY] >> 32)
    table[entry] = 0
    header[N_ENTRIES] -= 1
    lose(tree, node)
    return UNSETTLED if waits(header) else DONE


@inlined
def waits(header: Any) -> bool:
    """Whether something is left to do before the tree is whole."""
    return (header[LIMBO] | header[N_WORK]) != 0


@kernel
def _insert(tree: Any, entry: Any, slots: Any, first: int, last: int, off: Any, lows: Any, highs: Any) -> int:
    header = tree.header
    n_words = _words_of(slots, first, last, off, lows, highs)
    if entry < 0 or n_words < 0:
        return ILL_FORMED
    if entry < len(tree.table) and tree.table[entry]:
        return IN_USE
    most = -1
    for i in range(first, last):
        most = max(most, slots[i])
    if entry >= len(tree.table) or most >= len(tree.slots):
        header[NEED_ENTRIES], header[NEED_SLOTS] = entry + 1, most + 1
        return NO_ROOM
    if not has_room(tree, 1 << size_for(n_words)):
        return NO_ROOM
    body = take_block(tree, size_for(n_words))
    _write(tree.pool, body, slots, first, last, off, lows, highs)
    tree.pool[body + ENTRY] = size_for(n_words) << 32 | entry
    tree.pool[body + NODE], tree.pool[body + INDEX] = -ROOT, header[LIMBO]
    header[LIMBO] = body
    tree.table[entry] = body
    header[N_ENTRIES] += 1
    sample_entry(tree, body)
    return DONE if advance(tree) else UNSETTLED


@inlined
def _words_of(slots: Any, first: int, last: int, off: Any, lows: Any, highs: Any) -> int:
    """How many words a body takes; -1 where it is not well formed."""
    if first < 0 or last > len(slots) or last < first or len(off) <= last:
        return -1
    n_words = FIRST_TEST + TEST * (last - first)
    for i in range(first, last):
        start, stop = off[i], off[i + 1]
        if slots[i] < 0 or start < 0 or stop < start or stop > len(lows) or stop > len(highs):
            return -1
        for j in range(start, stop):
            if lows[j] > highs[j] or (j > start and lows[j] <= highs[j - 1]):
                return -1
        if stop - start > 1:
            n_words += 1 + 2 * (stop - start)
    return n_words


@inlined
def _write(pool: Any, body: int, slots: Any, first: int, last: int, off: Any, lows: Any, highs: Any) -> None:
    """The tests, and behind them the intervals of those that have several."""
    pool[body + N_TESTS] = last - first
    at = body + FIRST_TEST
    behind = at + TEST * (last - first)
    for i in range(first, last):
        start, stop = np.int64(off[i]), np.int64(off[i + 1])
        more: Any = np.int64(0)
        if stop == start:
            pool[at + 1], pool[at + 2] = np.int64(2**63 - 1), np.int64(-(2**63))
        else:
            pool[at + 1], pool[at + 2] = lows[start], highs[stop - 1]
        if stop - start > 1:
            more = behind - body
            pool[behind] = stop - start
            behind += 1
            for j in range(start, stop):
                pool[behind], pool[behind + 1] = lows[j], highs[j]
                behind += 2
        pool[at] = (more << 32) | np.int64(slots[i])
        at += TEST
