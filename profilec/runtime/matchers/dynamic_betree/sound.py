"""The invariants of a tree, checked one by one (slowly, in Python: for tests).

    memory      nodes, leaves, edges, bodies and free blocks lie side by side in the pool and fill what is in use
    place       an entry's body knows its leaf and row; each attribute of its path is one of its tests, whose hull the
                cells enclose; no smaller bucket encloses it
    buckets     halves are within the halves of their bucket, thus disjoint; what is not cut and has more than one key
                is not partitioned; an attribute is on a path once
    counts      entries, nodes, entries of partitions; leaves are within their capacity; nothing waits

Raises AssertionError with what is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from profilec.runtime.matchers.dynamic_betree.tree import (
    BELOW,
    CAP,
    CHILD,
    CHOSEN,
    COUNT,
    EDGES,
    EDGES_SIZE,
    ENTRY,
    FIRST_TEST,
    FREE,
    GAIN,
    INDEX,
    IS_USED,
    LARGEST,
    LEAF,
    LEAF_SIZE,
    LIMBO,
    LOW,
    MASK,
    MAX_CAP,
    MIN_SIZE,
    N_EDGES,
    N_ENTRIES,
    N_LEAF,
    N_NODES,
    N_TESTS,
    N_WORK,
    NODE,
    NODE_SIZE,
    PARENT,
    ROOT,
    ROW,
    SLOT,
    STEP,
    TEST,
    USED,
    Tree,
)

_FULL = (1 << 64) - 1
Path = tuple[tuple[int, int], ...]
"""(attribute, bucket) of each partition that a node is in, the outermost first."""


@dataclass(slots=True)
class _Found:
    """What a walk of the whole tree comes to."""

    pool: list[int]
    blocks: list[tuple[int, int, str]] = field(default_factory=list)
    entries: set[int] = field(default_factory=set)
    n_nodes: int = 0


def check(tree: Tree) -> None:
    """All of it."""
    header = tree.header
    assert not header[LIMBO], "entries wait in limbo"
    assert not header[N_WORK], "leaves wait to be split"
    assert not tree.slots[:, [IS_USED, GAIN, COUNT, CHOSEN]].any(), "scratch is not empty"
    found = _Found(tree.pool.tolist())
    n_below = _check_node(found, tree, ROOT, 0, ())
    assert n_below == header[N_ENTRIES] == len(found.entries), "the number of entries"
    assert found.entries == set(np.flatnonzero(tree.table).tolist()), "the table of entries"
    assert found.n_nodes == header[N_NODES] <= len(tree.work), "the number of nodes"
    assert len(tree.queue) >= STEP * len(tree.work), "the queue is too short"
    _check_memory(found, header.tolist())


def n_words_in_use(tree: Tree) -> int:
    """Words of blocks that are not free, the root's among them."""
    pool, header = tree.pool.tolist(), tree.header.tolist()
    return int(header[USED]) - ROOT - sum(1 << size for _, size, _ in _free_blocks(pool, header))


def _free_blocks(pool: list[int], header: list[int]) -> list[tuple[int, int, str]]:
    blocks = []
    for size in range(LARGEST + 1):
        at = header[FREE + size]
        while at:
            blocks.append((at, size, "free"))
            assert len(blocks) <= len(pool), "a free list runs in a circle"
            at = pool[at]
    return blocks


def _check_memory(found: _Found, header: list[int]) -> None:
    end = ROOT
    for at, size, what in sorted(found.blocks + _free_blocks(found.pool, header)):
        assert at == end, f"a block, {what}, is at {at}, and the one before it ends at {end}"
        end = at + (1 << size)
    assert end == header[USED], "the end of the pool's part in use"


def _check_node(found: _Found, tree: Tree, node: int, parent: int, path: Path) -> int:
    """The number of entries in a node and below it."""
    pool = found.pool
    found.n_nodes += 1
    found.blocks.append((node, NODE_SIZE, "node"))
    assert pool[node + PARENT] == parent, "a node's parent"
    slot = path[-1][0] if path else -1
    assert pool[node + SLOT] == slot, "a node's attribute"
    assert pool[node + LOW] & ~pool[node + MASK] == 0, "a cell's low end"
    width = ~pool[node + MASK] & _FULL
    assert width & (width + 1) == 0, "a cell's mask"
    is_cut, n_edges = pool[node + CHILD] >= 0, pool[node + N_EDGES]
    if path:
        assert not is_cut or width, "a single key is cut"
        assert not n_edges or is_cut or width == 0, "a bucket is partitioned that could be cut"
    else:
        assert not is_cut, "the root is cut"
    n_below = _check_leaf(found, tree, node, path)
    if is_cut:
        for half in range(2):
            child = pool[node + CHILD + half]
            if child:
                assert _half_of(pool, node, *_ends(pool, child)) == half, "a half is elsewhere"
                n = _check_node(found, tree, child, node, (*path[:-1], (slot, child)))
                assert n, "an empty half"
                n_below += n
    return n_below + _check_edges(found, tree, node, path)


def _check_edges(found: _Found, tree: Tree, node: int, path: Path) -> int:
    pool, n_below, n_edges = found.pool, 0, 0
    if pool[node + EDGES_SIZE]:
        at, size = pool[node + EDGES], pool[node + EDGES_SIZE]
        found.blocks.append((at, size, "edges"))
        for cell in range(at, at + (1 << size), 2):
            if pool[cell]:
                slot, top = pool[cell] - 1, pool[cell + 1]
                assert slot not in [attribute for attribute, _ in path], "an attribute is twice on a path"
                n = _check_node(found, tree, top, node, (*path, (slot, top)))
                assert n == pool[top + BELOW] >= tree.header[MIN_SIZE], "the entries of a partition"
                n_edges += 1
                n_below += n
        assert n_edges, "edges without any"
    assert n_edges == pool[node + N_EDGES], "the number of edges"
    return n_below


def _check_leaf(found: _Found, tree: Tree, node: int, path: Path) -> int:
    pool, n = found.pool, found.pool[node + N_LEAF]
    if pool[node + LEAF_SIZE]:
        found.blocks.append((pool[node + LEAF], pool[node + LEAF_SIZE], "leaf"))
        assert 1 <= n <= (1 << pool[node + LEAF_SIZE]) // ROW, "a leaf's rows and its block"
    else:
        assert n == 0, "rows without a block"
    cap, max_cap = pool[node + CAP], tree.header[MAX_CAP]
    assert n <= cap, "a leaf overflows"
    assert cap >= max_cap, "a leaf's capacity"
    assert cap % max_cap == 0, "a leaf's capacity"
    for index in range(n):
        word, low, high = pool[pool[node + LEAF] + ROW * index :][:ROW]
        body, guard = word >> 32, (word & 0xFFFFFFFF) - 1
        entry, size = pool[body + ENTRY] & 0xFFFFFFFF, pool[body + ENTRY] >> 32
        found.blocks.append((body, size, "body"))
        assert entry not in found.entries, "an entry is there twice"
        found.entries.add(entry)
        assert tree.table[entry] == body, "the table knows another body"
        assert (pool[body + NODE], pool[body + INDEX]) == (node, index), "a body knows another row"
        tests = _tests(pool, body)
        if guard >= 0:
            assert (guard, low, high) in tests, "a guard is no test of the entry"
        hulls: dict[int, tuple[int, int]] = {}
        for attribute, first, last in tests:
            if first <= last:
                hulls.setdefault(attribute, (first, last))
        for attribute, bucket in path:
            assert attribute in hulls, "an entry lacks an attribute of its path"
            first, last = hulls[attribute]
            low, high = _ends(pool, bucket)
            assert low <= first <= last <= high, "a bucket does not enclose its entry"
            if pool[bucket + CHILD] >= 0:
                assert _half_of(pool, bucket, first, last) < 0, "a half encloses the entry"
    return n


def _tests(pool: list[int], body: int) -> list[tuple[int, int, int]]:
    start = body + FIRST_TEST
    places = range(start, start + TEST * pool[body + N_TESTS], TEST)
    return [(pool[at] & 0xFFFFFFFF, pool[at + 1], pool[at + 2]) for at in places]


def _ends(pool: list[int], node: int) -> tuple[int, int]:
    if pool[node + MASK] == 0:
        return -(2**63), 2**63 - 1
    return pool[node + LOW], pool[node + LOW] | ~pool[node + MASK]


def _half_of(pool: list[int], node: int, low: int, high: int) -> int:
    """The half that encloses an interval, told by order alone; -1 for none. Of the whole domain, 0 is what is >= 0."""
    start, end = _ends(pool, node)
    middle = (start + end + 1) // 2
    if low < middle <= high:
        return -1
    return int(low >= middle) ^ (pool[node + MASK] == 0)
