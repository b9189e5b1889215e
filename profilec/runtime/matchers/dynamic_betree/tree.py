"""The arrays of a BE-Tree that changes (BE-Tree, sections 4 to 6).

    pool      int64, cut into blocks of 2**n words, n >= 3. Words 0 .. 15 are no block's: position 0 says "none".

    node      LOW  MASK  CHILD  CHILD+1  LEAF  N_LEAF  EDGES  EDGES_SIZE | SLOT  PARENT  CAP  LEAF_SIZE  BELOW  …
    leaf      rows of three words:       body << 32 | slot + 1   low   high        (slot + 1 = 0: no test is looked at)
    edges     cells of two words:        slot + 1   top node       hashed by slot, slot + 1 = 0: nothing there
    body      size << 32 | entry  N_TESTS  NODE  INDEX | test … | intervals …
    test      more << 32 | slot   low   high
    intervals n   low high   low high …

A bucket of a cluster directory has one c-node, and that one l-node and one partition directory, so all of these are one
*node* (two cache lines, of which a document reads the first). The root is the node at ROOT. A p-node is its attribute's
*top* bucket, and the edge to it. A bucket is a cell (`cells.py`): the keys whose bits under MASK are those of LOW.
Where CHILD >= 0 it is *cut*; then CHILD and CHILD + 1 are the nodes within its halves, 0 where there is none.

A body is an entry with all its tests, of which low and high are the hull; `more` is the place, in the body, of the
intervals where these are several. A body that waits to be placed is in *limbo*: its NODE is minus the node where
placing begins, its INDEX the next such body.

    table     int64, per entry: its body, 0 where it is not there
    slots     int64[n_slots, 48], per slot: statistics (SEEN .. ), scratch of a ranking, a ring of keys
    dense     int64, per slot: the number of the last document that had it, and its key there; never empty
    queue     int64, steps that a walk has yet to do: a node, the document's key for it, and the document
    work      int64: leaves that overflow

Owner: `DynamicBETree`. Kernels write only where they have asked for room before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LOW, MASK, CHILD, _CHILD_1, LEAF, N_LEAF, EDGES, EDGES_SIZE = range(8)
SLOT, PARENT, CAP, LEAF_SIZE, BELOW, N_EDGES, EVENTS, DISCARDED = range(8, 16)
"""EDGES_SIZE, LEAF_SIZE: the logarithm of a block's words, 0 for none. CAP: rows that a leaf has at most. BELOW: of a
top bucket, the entries under it. EVENTS, DISCARDED: sampled documents that came to the node, and the rows of its leaf
that they looked at in vain (BE-Tree, 5: Loss)."""
NODE_SIZE = 4
ROW = 3
ENTRY, N_TESTS, NODE, INDEX, FIRST_TEST = range(5)
STEP = 3
"""Words of a step of the queue. A document comes to each node once at most, and work has room for all of them."""
TEST = 3
"""Words of a test in a body. Its hull is empty (low > high) where nothing satisfies it."""

USED, N_ENTRIES, N_NODES, N_WORK, LIMBO, STAMP, N_SAMPLED, LOOKED = range(8)
MAX_CAP, MIN_SIZE, NEED_WORDS, NEED_SLOTS, NEED_ENTRIES, NEED_QUEUE, PROGRESS = range(8, 15)
"""The header. STAMP: the number of the last document. LOOKED: rows that the last match looked at. NEED_…: lengths that
arrays should have for the kernel to go on, where it says NO_ROOM. PROGRESS: entries of a batch that are inserted."""
FREE = 16
"""The first free block of each size."""
LARGEST = 40
HEADER = 64
ROOT = 16

SEEN, SINCE, N_KEYS, NEXT_KEY, IS_USED, GAIN, COUNT, LINK, CHOSEN, FIRST_KEY = range(10)
"""Of a slot. SEEN: sampled documents that had it, of those since N_SAMPLED was SINCE. N_KEYS, NEXT_KEY: the ring.
IS_USED: the path has it. GAIN, COUNT, LINK: the score and the number of entries of a leaf, and the next slot of it.
CHOSEN: the entries of which it is the best."""
MOST_KEYS = 32
SLOT_WIDTH = 48

DONE, NO_ROOM, UNSETTLED, IN_USE, MISSING, ILL_FORMED = range(6)
"""What a kernel says. NO_ROOM: nothing was done. UNSETTLED: it was, but room is missing for what it brings with it; the
header keeps that, and any other call does it first."""


class Tree(NamedTuple):
    """Drawn above.

    PERF: Python gives kernels these arrays one by one; as one tuple they take a microsecond longer to hand over.
    """

    pool: NDArray[np.int64]
    header: NDArray[np.int64]
    table: NDArray[np.int64]
    slots: NDArray[np.int64]
    dense: NDArray[np.int64]
    queue: NDArray[np.int64]
    work: NDArray[np.int64]


def empty_tree(max_cap: int, min_size: int) -> Tree:
    """A root with an empty leaf."""
    pool = _words(1 << 10)
    header, table, dense, queue, work = (np.zeros(n, np.int64) for n in (HEADER, 64, 2, STEP * 64, 64))
    header[[USED, N_NODES, MAX_CAP, MIN_SIZE]] = ROOT + (1 << NODE_SIZE), 1, max_cap, min_size
    pool[ROOT + CHILD] = -1
    pool[ROOT + SLOT] = -1
    pool[ROOT + CAP] = max_cap
    no_slots = np.zeros((0, SLOT_WIDTH), np.int64)
    return Tree(pool, header, table, no_slots, dense, queue, work)


def with_more_room(tree: Tree) -> Tree:
    """The same tree in arrays as long as the header asks for, at least twice as long where they are too short."""
    header = tree.header
    pool, table, slots, dense = tree.pool, tree.table, tree.slots, tree.dense
    queue, work = tree.queue, tree.work
    if header[NEED_WORDS] > len(pool):
        pool = _words(max(int(header[NEED_WORDS]), 2 * len(pool)))
        pool[: len(tree.pool)] = tree.pool
    if header[NEED_ENTRIES] > len(table):
        table = _longer(table, int(header[NEED_ENTRIES]))
    if header[NEED_SLOTS] > len(slots):
        n_before = len(slots)
        slots = _longer(slots, int(header[NEED_SLOTS]))
        slots[n_before:, SINCE] = header[N_SAMPLED]
        dense = np.zeros(2 * len(slots), np.int64)
        dense[: len(tree.dense)] = tree.dense
    if header[NEED_QUEUE] > len(work):
        work = _longer(work, int(header[NEED_QUEUE]))
        queue = np.zeros(STEP * len(work), np.int64)
    return Tree(pool, header, table, slots, dense, queue, work)


def _longer(array: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    longer = np.zeros((max(n, 2 * len(array)), *array.shape[1:]), np.int64)
    longer[: len(array)] = array
    return longer


def _words(n: int) -> NDArray[np.int64]:
    """Words whose first is that of a cache line, as then is each block's."""
    words = np.zeros(n + 7, np.int64)
    first = (-words.ctypes.data // 8) % 8
    return words[first : first + n]
