"""The indexes of predicates by operator: OpIndex's lists and the PB+-tree, and what each promises."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profilec.runtime.indexes.bplus_tree import FANOUT, BPlusTree
from profilec.runtime.indexes.open_ended import OpenEnded, commonest
from profilec.runtime.indexes.operator_lists import OperatorLists
from profilec.runtime.indexes.operator_lists import _Ranges as Ranges
from profilec.runtime.indexes.pbtree import PBTreeIndex
from profilec.runtime.indexes.predicate_list import (
    N_SEGMENTS,
    SIGNATURE_BITS,
    PredicateList,
    SegmentedList,
    signature_bit,
)

RANKS = st.lists(st.integers(0, 60), max_size=200).map(lambda ranks: np.array(ranks, np.int32))


def flat(entries):
    """What an index is made of, from pairs of an entry and its intervals."""
    bounds = np.array([interval for _, intervals in entries for interval in intervals], np.int32).reshape(-1, 2)
    off = np.cumsum([0, *(len(intervals) for _, intervals in entries)]).astype(np.int32)
    return np.array([entry for entry, _ in entries], np.int32), off, bounds[:, 0].copy(), bounds[:, 1].copy()


@pytest.mark.parametrize("make", [PredicateList, SegmentedList])
@settings(deadline=None)
@given(operands=RANKS)
def test_predicate_lists_find_operands(make, operands):
    predicates = make(operands)
    in_order = operands[predicates.order]
    assert in_order.tolist() == sorted(operands.tolist())
    for rank in range(-1, 62):
        start, end = predicates.equal(rank)
        assert in_order[start:end].tolist() == operands[operands == rank].tolist()
        assert predicates.below(rank) == (operands < rank).sum()
        assert predicates.up_to(rank) == (operands <= rank).sum()


@pytest.mark.parametrize("n", [1, 31, 32, 33, 1_000])
def test_segments_are_ranges_of_operands(n):
    operands = np.random.default_rng(n).integers(0, 400, n).astype(np.int32)
    predicates = SegmentedList(operands)
    off = np.asarray(predicates._segment_off)
    sorted_ = np.sort(operands)
    assert 1 <= len(off) - 1 <= N_SEGMENTS
    assert len(off) - 1 > min(n, N_SEGMENTS) * 0.7
    assert (np.diff(off) > 0).all()
    assert np.diff(off).max() <= n / N_SEGMENTS + 1 + np.bincount(operands).max()
    for segment in range(len(off) - 1):
        inside = sorted_[off[segment] : off[segment + 1]]
        assert predicates._directory[segment] == inside[0]
        assert segment == 0 or sorted_[off[segment] - 1] < inside[0], "equal operands are in one segment"
        bits = {signature_bit(operand) for operand in inside.tolist()}
        assert predicates._signatures[segment] == sum(1 << bit for bit in bits)


def test_signature_rejects():
    """Of a segment with few operands, almost everything that is not there, before the list is searched."""
    operands = np.arange(0, 6_400, 100, dtype=np.int32)
    predicates = SegmentedList(operands)
    predicates._operands = None  # a search would fail
    n_rejected = 0
    for rank in set(range(6_400)) - set(operands.tolist()):
        segment = rank // 200
        of_segment = {signature_bit(operand) for operand in (200 * segment, 200 * segment + 100)}
        if signature_bit(rank) not in of_segment:
            assert predicates.equal(rank) == (0, 0)
            n_rejected += 1
    assert n_rejected > 6_000
    assert {signature_bit(rank) for rank in range(1_000)} == set(range(SIGNATURE_BITS))


OPINDEX = {
    "B": [(1, [(3, 3), (6, 6), (9, 9)]), (3, [(0, 4)]), (6, [(3, 3), (6, 6)])],
    "C": [(2, [(2, 99)]), (3, [(6, 6)]), (6, [(0, 4)])],
    "E": [(3, [(3, 12)]), (5, [(0, 9)]), (6, [(0, 7)])],
}
"""Table 1: which subscriptions have a predicate on an attribute, and which values it accepts."""


@pytest.mark.parametrize("make", [OperatorLists, lambda *arrays: OperatorLists(*arrays, sort=PredicateList)])
def test_event_of_the_paper(make):
    """Example 5: of the event B = 6, C = 3, E = 9 the predicates that hold."""
    found = {name: set(make(*flat(OPINDEX[name])).entries_at(rank)) for name, rank in (("B", 6), ("C", 3), ("E", 9))}
    assert found == {"B": {1, 6}, "C": {2, 6}, "E": {3, 5}}


DRAWN = [
    (0, [(5, 5)]),
    (1, [(2, 7)]),
    (2, [(2, 4), (8, 8)]),
    (3, [(3, 9)]),
    (4, [(4, 6)]),
    (5, [(2, 4), (6, 9)]),
]


def test_operator_lists_split_by_operator():
    index = OperatorLists(*flat(DRAWN))
    assert index._equal.entries.tolist() == [0, 2]
    assert (index._start, index._end) == (2, 4), "of equally many ends the least"
    index = OperatorLists(*flat([*DRAWN, (6, [(8, 9)])]))
    assert index._end == 9
    assert index._at_most.entries.tolist() == [2, 5, 1], "by the operand: <= 4, <= 4, <= 7"
    assert index._at_least.entries.tolist() == [3, 5, 6]
    assert index._ranges._at_least.entries.tolist() == index._ranges._at_most.entries.tolist() == [4]


@pytest.mark.parametrize("wide", ["first", "last", "both"])
def test_ranges_are_read_from_the_side_with_fewer(wide):
    """One range that reaches over all others, from one side, does not make them candidates from the other."""
    n = 2_000
    low, high = 10 * np.arange(n) + 1, 10 * np.arange(n) + 5
    if wide != "last":
        high[0] = 10 * n // 2 + 5
    if wide != "first":
        low[-1] = 10 * n // 2 - 8
    ranges = Ranges(PredicateList, np.arange(n), low, high)
    for rank in range(3, 10 * n, 501):
        expected = set(np.flatnonzero((low <= rank) & (rank <= high)).tolist())
        assert set(ranges.at(rank).tolist()) == expected
    assert ranges._highest.tolist() == sorted(ranges._highest)
    assert ranges._lowest.tolist() == sorted(ranges._lowest)


@pytest.mark.parametrize("fanout", [2, 3, 64])
@settings(deadline=None)
@given(keys=st.lists(st.integers(0, 300), unique=True, max_size=150).map(sorted))
def test_bplus_tree_finds_the_last_key(fanout, keys):
    tree = BPlusTree(np.array(keys, np.int32), fanout)
    for number in range(-1, 302):
        assert tree.last_not_above(number) == sum(key <= number for key in keys) - 1
    sizes = [len(level) for level, _ in tree.levels]
    assert sizes[-1] == len(keys)
    assert sizes[0] <= fanout
    for above, below in itertools.pairwise(sizes):
        assert above == -(-below // fanout), "each key leads to one node"


def test_bplus_tree_is_low():
    assert len(BPlusTree(np.arange(FANOUT**2, dtype=np.int32)).levels) == 2
    assert len(BPlusTree(np.arange(FANOUT**2 + 1, dtype=np.int32)).levels) == 3


def test_pbtree_as_drawn():
    entries = [(0, [(5, 5)]), (1, [(2, 7)]), (2, [(2, 8)]), (3, [(3, 9)]), (4, [(4, 6)]), (5, [(2, 4), (6, 9)])]
    index = PBTreeIndex(*flat(entries))
    assert index._tree.keys.tolist() == [3, 4, 5, 7, 8]
    off = index._set_off
    assert [index._sets[off[item] : off[item + 1]].tolist() for item in range(5)] == [[3], [4], [0], [1], [2]]
    for below, entries, pointers in [
        (index._greater, [3], [0, 1, 1, 1, 1, 1]),
        (index._less, [1, 2], [0, 0, 0, 0, 1, 2]),
        (index._unequal, [5], [0, 0, 0, 1, 1, 1]),
        (index._ranges, [4], [0, 0, 1, 1, 1, 1]),
    ]:
        assert below.entries.tolist() == entries
        assert below.pointers.tolist() == pointers
    assert set(index.entries_at(6)) == {1, 2, 3, 4, 5}
    assert set(index.entries_at(5)) == {0, 1, 2, 3, 4}


def test_pbtree_has_an_unequal_once():
    """Where the missing rank is next to an end, too; what lacks two ranks, or ends elsewhere, is no `!=`."""
    unequal = [(entry, [(1, entry - 1), (entry + 1, 40)]) for entry in range(2, 40)]
    others = [(50, [(1, 8), (11, 40)]), (51, [(1, 8), (10, 39)]), (52, [(1, 3), (5, 8), (10, 40)])]
    index = PBTreeIndex(*flat([*unequal, *others]))
    assert index._unequal.entries.tolist() == list(range(2, 40))
    assert len(index._less.entries) + len(index._greater.entries) + len(index._ranges.entries) == 7
    for rank in range(42):
        expected = {entry for entry, _ in unequal if entry != rank} if 1 <= rank <= 40 else set()
        assert set(index.entries_at(rank)) - {50, 51, 52} == expected


def test_pbtree_walk_ends_where_nothing_reaches():
    n = 3_000
    low = 10 * np.arange(n)
    high = low + np.where(low == 20_000, 100, 4)
    bounds = zip(low.tolist(), high.tolist(), strict=True)
    # Two more, so that the commonest ends are those of none of these.
    open_ended = [(n, [(1, 9), (40_000, 50_000)]), (n + 1, [(1, 8), (40_001, 50_000)])]
    index = PBTreeIndex(*flat([*((number, [each]) for number, each in enumerate(bounds)), *open_ended]))
    assert index._ranges.entries.tolist() == list(range(n))
    reach = np.maximum.accumulate(high)
    assert index._range_reach.tolist() == reach.tolist()
    assert (reach != high).sum() == 9, "only those that the longer one reaches over"
    assert set(index.entries_at(20_053)) == {2_000, 2_005}
    assert set(index.entries_at(20_105)) == set()


def test_open_ended_takes_the_commonest_ends():
    assert commonest(np.array([5, 9, 9, 1], np.int32)) == 9
    low, high = np.array([1, 1, 4, 6, 1], np.int32), np.array([9, 5, 9, 9, 7], np.int32)
    index = OpenEnded(np.arange(5, dtype=np.int32), low, high, 1, 9)
    for rank in range(12):
        found = [entry for part in index.parts_at(rank) for entry in part.tolist()]
        assert sorted(found) == np.flatnonzero((low <= rank) & (rank <= high)).tolist()
    assert not index.remove(0, 1, 8)
    assert not index.remove(3, 4, 9)
    assert not index.remove(3, 4, 8)
    assert index.remove(2, 4, 9)
    assert [part.tolist() for part in index.parts_at(8)] == [[0], [3]]
