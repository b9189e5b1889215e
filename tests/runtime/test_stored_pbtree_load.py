"""A stored PB+-tree that is loaded at once is like one into which the same predicates were inserted, now and later."""

from __future__ import annotations

import random
from typing import Any

import pytest

from profilec.runtime.indexes.stored_pbtree import StoredPBTree
from profilec.runtime.store.nodes import MemoryNodes
from profilec.values.kinds import Value

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
PROBES: list[Value] = [-1, 0.5, *range(0, 60), 999, "", "a", "ab", "c", True, None]


def drawn(seed: int, n: int, spread: int) -> tuple[list[tuple[str, Value, int]], list[tuple[Value, Value, int]]]:
    """Predicates and ranges, some of them twice, some of them empty."""
    draw = random.Random(seed)
    values: list[Value] = [*range(spread), "a", "b", True]
    predicates = [(draw.choice(OPERATORS), draw.choice(values), draw.randrange(n)) for _ in range(n)]
    lows = [draw.randrange(spread) for _ in range(n // 2)]
    ranges: list[tuple[Value, Value, int]] = [
        (low, low + draw.randrange(-1, spread), draw.randrange(n)) for low in lows
    ]
    return predicates, ranges


def both(predicates: Any, ranges: Any, order: int) -> tuple[StoredPBTree, StoredPBTree]:
    """The tree loaded, and the tree of insertions."""
    inserted = StoredPBTree(MemoryNodes(), order)
    inserted.insert_all(predicates)
    for range_ in ranges:
        inserted.insert_range(*range_)
    return StoredPBTree.load(MemoryNodes(), predicates, ranges, order), inserted


@pytest.mark.parametrize("order", [3, 4, 5, 16, 64])
@pytest.mark.parametrize("spread", [1, 4, 50])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 40, 700])
def test_a_loaded_tree_is_like_one_of_insertions(order: int, spread: int, n: int) -> None:
    predicates, ranges = drawn(n * spread + order, n, spread)
    loaded, inserted = both(predicates, ranges, order)
    found, expected = loaded.check(), inserted.check()
    assert (found.n_predicates, found.n_keys) == (expected.n_predicates, expected.n_keys)
    assert found.n_nodes <= expected.n_nodes
    assert all(loaded.search(value) == inserted.search(value) for value in PROBES)
    assert list(loaded.range()) == list(inserted.range())


@pytest.mark.parametrize("order", [3, 4, 7, 32])
def test_it_changes_like_any_other(order: int) -> None:
    draw = random.Random(order)
    predicates, ranges = drawn(order, 400, 30)
    loaded, inserted = both(predicates, ranges, order)
    gone = sorted(set(predicates), key=str)
    draw.shuffle(gone)
    for number, predicate in enumerate(gone[:300]):
        loaded.delete(*predicate)
        inserted.delete(*predicate)
        assert loaded.insert("<", number % 45 + 0.5, number) == inserted.insert("<", number % 45 + 0.5, number)
        if number % 50 == 0:
            loaded.check()
    for range_ in sorted(set(ranges))[::2]:
        loaded.delete_range(*range_)
        inserted.delete_range(*range_)
    assert loaded.check().n_predicates == inserted.check().n_predicates
    assert all(loaded.search(value) == inserted.search(value) for value in PROBES)


def test_each_node_is_written_about_once() -> None:
    nodes = MemoryNodes()
    tree = StoredPBTree.load(nodes, [("=" if n % 2 else ">", n, n) for n in range(200_000)])
    assert nodes.writes < 1.1 * tree.check().n_nodes
    inserting = MemoryNodes()
    StoredPBTree(inserting).insert_all(("=" if n % 2 else ">", n, n) for n in range(20_000))
    assert nodes.writes / 10 < inserting.writes


def test_what_cannot_be_loaded() -> None:
    nodes = MemoryNodes()
    with pytest.raises(ValueError, match="an order of 2; at least 3 keys"):
        StoredPBTree.load(nodes, [], order=2)
    with pytest.raises(ValueError, match="no comparison operator: 'LIKE'"):
        StoredPBTree.load(nodes, [("LIKE", 1, 1)])
    with pytest.raises(ValueError, match="do not compare"):
        StoredPBTree.load(nodes, [], [(1, "a", 1)])
    assert not list(nodes.numbers())
    StoredPBTree.load(nodes, [])
    with pytest.raises(ValueError, match="has a tree already"):
        StoredPBTree.load(nodes, [])
