"""What the PB+-tree on secondary storage costs: nodes read by a search, and bytes written by an insertion."""

import random
from collections import Counter
from math import log

import pytest

from profilec.runtime.indexes.stored_pbtree import StoredPBTree
from profilec.runtime.store.nodes import MemoryNodes

ORDER = 16
SPREAD = 1_000_000


def least_reads(n):
    """What a search without answers may read: the header, one node of each list and two more, and two trees of n keys,
    half full."""
    return 8 + 2 * log(n, ORDER // 2)


def n_reads(tree, value):
    """How many nodes a search reads, and how many answers it has."""
    before = tree._nodes.reads
    n_answers = len(tree.search(value))
    return tree._nodes.reads - before, n_answers


def test_searches_read_log_n_and_answers():
    """Constants of `>` lie among many others, so that inputs have few answers at one end and many at the other; and
    each range is short."""
    draw = random.Random(11)
    tree = StoredPBTree(MemoryNodes(), ORDER)
    n_old = 0
    for n in (1_000, 10_000, 100_000):
        tree.insert_all((draw.choice("===>"), draw.randrange(SPREAD), entry) for entry in range(n_old, n * 49 // 50))
        for entry in range(n * 49 // 50, n):
            low = draw.randrange(SPREAD)
            tree.insert_range(low, low + draw.randrange(2 * SPREAD // n), entry)
        n_old = n
        seen = set()
        for value in (*(SPREAD // 4**power for power in range(10)), *(draw.randrange(SPREAD) for _ in range(50))):
            reads, answers = n_reads(tree, value)
            seen.add(len(str(answers)))
            assert reads <= least_reads(n) + 2 * answers, (n, value, answers)
        assert len(seen) >= 3  # from none or few to n / 5


def test_one_long_range_costs_others_nothing():
    tree = StoredPBTree(MemoryNodes(), ORDER)
    tree.insert_range(0, SPREAD, 0)
    for entry in range(1, 3_000):
        tree.insert_range(entry * 100, entry * 100 + 10, entry)
    for value in range(50, 300_000, 10_050):
        reads, answers = n_reads(tree, value)
        assert answers <= 2
        assert reads <= least_reads(3_000) + 2 * answers


@pytest.mark.parametrize("operator", ["=", "!=", "<", "<=", ">", ">="])
def test_every_operator_has_that_cost(operator):
    draw = random.Random(12)
    tree = StoredPBTree(MemoryNodes(), ORDER)
    n = 5_000
    tree.insert_all((operator, draw.randrange(SPREAD), entry) for entry in range(n))
    for value in range(-1, SPREAD + 2, SPREAD // 50):
        reads, answers = n_reads(tree, value)
        assert reads <= least_reads(n) + 4 * answers / ORDER  # list nodes are a quarter full, or more


def test_large_sets_are_not_rewritten_by_insertions():
    sizes = Counter()

    class Counting(MemoryNodes):
        def put(self, number, data):
            sizes["bytes"] += len(data)
            super().put(number, data)

    nodes = Counting()
    tree = StoredPBTree(nodes, 16)
    for operator in ("=", "!=", ">="):
        tree.insert_all((operator, 7, entry) for entry in range(5_000))
        sizes.clear()
        writes = nodes.writes
        for entry in range(5_000, 5_100):
            tree.insert(operator, 7, entry)
        assert nodes.writes - writes <= 100 * 6
        assert sizes["bytes"] <= 100 * 5_000
    tree.check()
    reads, answers = n_reads(tree, 7)
    assert answers == 5_100
    assert reads <= 20 + 3 * answers / 64
    for entry in range(5_100):
        tree.delete("=", 7, entry)
    assert tree.check().n_predicates == 2 * 5_100
