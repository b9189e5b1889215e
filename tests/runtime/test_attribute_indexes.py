"""The attribute indexes: all against the definition, and those of Tatbul 2001 against what their algorithms promise."""

import datetime
import random
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import profilec
from profilec.planner import options
from profilec.runtime.indexes import clusters as clusters_module
from profilec.runtime.indexes import hybrid as hybrid_module
from profilec.runtime.indexes.by_name import DEFAULT, INDEXES
from profilec.runtime.indexes.cluster import ClusterIndex
from profilec.runtime.indexes.clusters import Clusters
from profilec.runtime.indexes.hash import MAX_EXPANDED, HashIndex
from profilec.runtime.indexes.hybrid import HybridIndex
from profilec.runtime.indexes.interval_tree import IntervalTreeIndex
from profilec.runtime.indexes.posting_lists import LONG_FROM, PostingLists
from profilec.runtime.indexes.segment_tree import SegmentTreeIndex

every_index = pytest.mark.parametrize("name", sorted(INDEXES))


def flat(entries):
    """What an index is made of, from pairs of an entry and its intervals."""
    intervals = [interval for _, intervals in entries for interval in intervals]
    bounds = np.array(intervals, np.int32).reshape(-1, 2)
    off = np.cumsum([0, *(len(intervals) for _, intervals in entries)]).astype(np.int32)
    return np.array([entry for entry, _ in entries], np.int32), off, bounds[:, 0].copy(), bounds[:, 1].copy()


def singles(low, high):
    """Entries 0, 1, 2, ... of one interval each."""
    low, high = np.asarray(low, np.int32), np.asarray(high, np.int32)
    return np.arange(len(low), dtype=np.int32), np.arange(len(low) + 1, dtype=np.int32), low, high


def by_definition(arrays, rank):
    entries, off, low, high = arrays
    return set(np.repeat(entries, np.diff(off))[(low <= rank) & (rank <= high)].tolist())


def expect_right(name, arrays, ranks):
    index = INDEXES[name](*arrays)
    for _ in range(2):  # the second time, from what is kept
        for rank in ranks:
            assert set(index.entries_at(rank)) == by_definition(arrays, rank), (name, rank)
    assert set(index.constrained) == set(arrays[0].tolist())
    return index


def test_the_planner_knows_the_same_indexes():
    assert set(options.INDEXES) == set(INDEXES)
    assert list(options.INDEXES) == sorted(options.INDEXES)
    assert DEFAULT in INDEXES


CUTS = st.lists(st.integers(0, 40), max_size=8, unique=True).map(sorted)
INTERVALS = st.one_of(
    CUTS.map(lambda cuts: [(low, high - 1) for low, high in zip(cuts[::2], cuts[1::2], strict=False)]),
    CUTS.map(lambda cuts: [(cut, cut) for cut in cuts]),
    st.just([(0, 40)]),
)


@every_index
@settings(deadline=None)
@given(all_intervals=st.lists(INTERVALS, max_size=40), order=st.randoms(use_true_random=False))
def test_stabbing(name, all_intervals, order):
    entries = [(3 * number, intervals) for number, intervals in enumerate(all_intervals)]
    order.shuffle(entries)
    expect_right(name, flat(entries), range(43))


SHAPES = {
    "nothing": [],
    "entry without intervals": [(7, [])],
    "one entry": [(5, [(3, 8)])],
    "one point": [(5, [(3, 3)])],
    "absence": [(1, [(0, 0)]), (2, [(0, 5)]), (3, [(1, 5)])],
    "nested": [(entry, [(entry, 60 - entry)]) for entry in range(30)],
    "nested to one end": [(entry, [(entry, 60)]) for entry in range(60)],
    "disjoint": [(entry, [(3 * entry, 3 * entry + 1)]) for entry in range(50)],
    "adjacent": [(entry, [(2 * entry, 2 * entry + 1)]) for entry in range(50)],
    "adjacent within an entry": [(0, [(1, 2), (3, 4), (5, 5)]), (1, [(2, 3), (4, 6)])],
    "equal": [(entry, [(4, 9)]) for entry in range(50)],
    "equal points": [(entry, [(4, 4)]) for entry in range(50)],
    "everything but": [(entry, [(0, entry - 1), (entry + 1, 99)]) for entry in range(1, 90)],
    "wide and points": [(entry, [(0, 99)] if entry % 2 else [(entry, entry)]) for entry in range(100)],
    "large entries": [(2**31 - 1, [(1, 3)]), (70_000, [(2, 2)]), (0, [(3, 9)])],
    "large ranks": [(0, [(0, 2**31 - 3)]), (1, [(2**31 - 3, 2**31 - 2)]), (2, [(5, 5)])],
}


@every_index
@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_shape(name, shape):
    expect_right(name, flat(SHAPES[shape]), [*range(102), 2**31 - 4, 2**31 - 3, 2**31 - 2])


def thousands(kind):
    rng = np.random.default_rng(7)
    n, n_ranks = 4_000, 9_000
    low = rng.integers(0, n_ranks, n)
    length = {"points": 0, "short": 1, "mixed": 2}[kind]
    high = low + (0, rng.integers(0, 12, n), rng.integers(0, n_ranks, n) ** 2 // n_ranks)[length]
    return singles(low, np.minimum(high, n_ranks))


@every_index
@pytest.mark.parametrize("kind", ["points", "short", "mixed"])
def test_thousands(name, kind):
    expect_right(name, thousands(kind), [*range(0, 9_002, 41), 9_000])


class Counted(np.ndarray):
    """An array that counts the elements that are computed with or copied, its own and those of its parts."""

    n_touched = 0

    def __array_ufunc__(self, ufunc, method, *inputs, **others):
        return self._count(getattr(ufunc, method), inputs, others)

    def __array_function__(self, function, types, args, kwargs):
        return self._count(function, args, kwargs)

    def __getitem__(self, key):
        found = super().__getitem__(key)
        if isinstance(key, np.ndarray):
            Counted.n_touched += key.size
        return found

    def astype(self, *args, **kwargs):
        Counted.n_touched += self.size
        return np.asarray(self).astype(*args, **kwargs)

    def _count(self, function, args, kwargs):
        plain = [[plain_of(each) for each in arg] if isinstance(arg, list) else plain_of(arg) for arg in args]
        for arg in plain:
            Counted.n_touched += sum(map(np.size, arg)) if isinstance(arg, list) else np.size(arg)
        found = function(*plain, **kwargs)
        return found.view(Counted) if isinstance(found, np.ndarray) else found


def plain_of(value):
    return value.view(np.ndarray) if isinstance(value, Counted) else value


def count_arrays(index, seen):
    """Replaces the arrays of an index and of what it is made of."""
    if id(index) in seen or not type(index).__module__.startswith("profilec"):
        return
    seen.add(id(index))
    slots = [slot for kind in type(index).__mro__ for slot in getattr(kind, "__slots__", ())]
    for slot in slots:
        value = getattr(index, slot)
        if isinstance(value, np.ndarray):
            object.__setattr__(index, slot, value.view(Counted))
        for part in value.values() if isinstance(value, dict) else [value]:
            count_arrays(part, seen)


@every_index
def test_no_index_looks_at_all_intervals(name):
    """Of 20,000 short ones that are apart, a document looks at few, be it in steps or in elements of arrays."""
    n = 20_000
    low = 4 * np.arange(n) + 1
    index = INDEXES[name](*singles(low, low + 1 + np.arange(n) % 2))
    count_arrays(index, set())
    n_lines = 0

    def on_line(frame, event, arg):
        nonlocal n_lines
        n_lines += event == "line"
        return on_line

    ranks = range(1, 4 * n, 1_999)
    Counted.n_touched = 0
    before = sys.gettrace()
    sys.settrace(on_line)
    try:
        found = [set(index.entries_at(rank)) for rank in ranks]
    finally:
        sys.settrace(before)
    assert found == [{(rank - 1) // 4} if (rank - 1) % 4 <= 1 + (rank - 1) // 4 % 2 else set() for rank in ranks]
    assert n_lines / len(ranks) < (3_000 if name == "pbtree:stored" else 500)  # a node is decoded key by key
    assert Counted.n_touched / len(ranks) < 500


def test_what_is_touched_is_counted():
    """So that the test above can fail: a list of ranges is looked at as a whole."""
    index = HashIndex(*singles(np.arange(500), np.arange(500) + 100))
    count_arrays(index, set())
    Counted.n_touched = 0
    index.entries_at(250)
    assert 1_000 <= Counted.n_touched <= 4_000


def test_posting_lists_keep_no_short_list():
    numbers = np.repeat([0, 1, 2], [LONG_FROM, LONG_FROM - 1, 3])
    lists = PostingLists(numbers, np.arange(len(numbers), dtype=np.int32), 4)
    assert set(lists.union([1, 3])) == set(range(LONG_FROM, 2 * LONG_FROM - 1))
    assert set(lists.union(range(4))) == set(range(len(numbers)))
    assert set(lists.union([0])) == set(range(LONG_FROM))
    assert list(lists._kept) == [0]


def test_hash_scans_no_points():
    """Neither as ranges, nor in a bucket: even of runs and of every other rank, few ranks share one."""
    for ranks in (np.arange(5_000), 2 * np.arange(5_000), np.random.default_rng(1).integers(0, 10**9, 5_000)):
        index = HashIndex(*singles(ranks, ranks))
        assert len(index._low) == 0
        assert np.diff(np.asarray(index._bucket_off)).max() <= 6
        assert len(index._ranks) == len(np.unique(ranks))


def test_hash_expands_only_intervals_of_few_ranks():
    index = HashIndex(*singles([0, 1, 2, 50], [0, MAX_EXPANDED, MAX_EXPANDED + 2, 90]))
    assert np.asarray(index._low).tolist() == [2, 50]
    assert sorted(index._ranks) == list(range(MAX_EXPANDED + 1))
    assert len(index._lists.entries) == 1 + MAX_EXPANDED


def test_score_of_the_paper():
    """Endpoints 2, 6, 19, 21, 23, 48, 50: 21 scores 3, 48 scores 5, 23 no less than 21, and the first is kept."""
    intervals = [(2, 19), (6, 23), (6, 48), (21, 23), (23, 50)]
    low, high = (np.array(ends, np.int32) for ends in zip(*intervals, strict=True))
    assert score(low, high, 21) == 3
    assert score(low, high, 48) == 5
    assert score(low, high, 23) == 3
    assert Clusters.of(low, high).key[0] == 21


def score(low, high, key):
    n_left, n_right = int((low < key).sum()), int((high >= key).sum())
    return abs(n_left - n_right) + (n_left + n_right - len(low))


def nodes_of(clusters, low, high):
    """Every node: its number, the intervals it splits, and the ranks that get there."""
    waiting = [(0, np.arange(len(low)), 0, 2**31)]
    while waiting:
        node, inside, begin, end = waiting.pop()
        yield node, inside, begin, end
        if (left := clusters.left[node]) >= 0:
            key = clusters.key[node]
            waiting.append((left, inside[low[inside] < key], begin, key))
            waiting.append((left + 1, inside[high[inside] >= key], key, end))


@pytest.mark.parametrize("seed", range(8))
def test_clusters_split_by_the_best_key_until_none_splits(seed):
    rng = np.random.default_rng(seed)
    low = rng.integers(0, 60, 40).astype(np.int32)
    high = low + rng.integers(0, 1 + 3 * seed, 40).astype(np.int32)
    unbounded = clusters_module.MAX_REPETITION
    clusters_module.MAX_REPETITION = 10**6
    try:
        clusters = Clusters.of(low, high)
    finally:
        clusters_module.MAX_REPETITION = unbounded
    n_leaves = 0
    for node, inside, _, _ in nodes_of(clusters, low, high):
        endpoints = np.unique(np.concatenate((low[inside], high[inside])))
        scores = {int(key): score(low[inside], high[inside], key) for key in endpoints}
        if clusters.left[node] >= 0:
            assert scores[clusters.key[node]] == min(scores.values()) < len(inside)
            continue
        number = ~clusters.left[node]
        n_leaves += 1
        members = clusters.members[clusters.off[number] : clusters.off[number + 1]]
        assert sorted(members.tolist()) == inside.tolist()
        assert len(inside) == 1 or min(scores.values()) == len(inside)
        assert low[inside].max() <= high[inside].min() or len(inside) == 1, "all have a rank in common"
    assert n_leaves == len(clusters.off) - 1


def test_stop_rule_leaves_what_overlaps_whole():
    n = 500
    nested = Clusters.of(np.arange(n, dtype=np.int32), np.full(n, n, np.int32))
    assert len(nested.off) - 1 == 1
    points = Clusters.of(np.arange(n, dtype=np.int32), np.arange(n, dtype=np.int32))
    assert len(points.off) - 1 == n
    both = Clusters.of(*(np.array(ends, np.int32) for ends in ([1, 1, 1, 50, 50, 51], [9, 8, 7, 60, 61, 62])))
    assert np.diff(np.asarray(both.off)).tolist() == [3, 3]


def test_cluster_reads_one_of_many_clusters():
    _, _, low, high = arrays = thousands("short")
    index = ClusterIndex(*arrays)
    clusters = index._clusters
    n_clusters = len(clusters.off) - 1
    depth = {0: 0}
    for node, _, begin, end in nodes_of(clusters, low, high):
        left = clusters.left[node]
        if left >= 0:
            depth[left] = depth[left + 1] = depth[node] + 1
        else:
            assert clusters.number_at(begin) == clusters.number_at(end - 1) == ~left
    assert n_clusters > 1_000
    assert max(depth.values()) <= 3 * np.log2(n_clusters)
    assert max(np.diff(np.asarray(clusters.off))) < 20


@pytest.mark.parametrize("n_wide", [1, 100, 2_000])
def test_clusters_repeat_intervals_within_bounds(n_wide):
    n = 4_000
    low = np.concatenate((np.zeros(n_wide), np.arange(n))).astype(np.int32)
    high = np.concatenate((np.full(n_wide, n), np.arange(n))).astype(np.int32)
    clusters = Clusters.of(low, high)
    assert len(clusters.members) <= clusters_module.MAX_REPETITION * len(low)
    assert len(clusters.off) - 1 >= n // n_wide // 2
    assert set(clusters.members.tolist()) == set(range(len(low)))


def test_hybrid_indexes_clusters_from_the_minimum_size():
    least = hybrid_module.MIN_CLUSTER_SIZE
    nested = [(entry, 200 - entry) for entry in range(least)]
    points = [(300 + number, 300 + number) for number in range(10 * least)]
    few = HybridIndex(*singles(*zip(*nested[1:], strict=True)))
    assert not few._intervals
    enough = HybridIndex(*singles(*zip(*nested, strict=True)))
    assert list(enough._intervals) == [0]
    mixed = HybridIndex(*singles(*zip(*nested, *points, strict=True)))
    sizes = np.diff(np.asarray(mixed._clusters.off))
    assert set(mixed._intervals) == set(np.flatnonzero(sizes >= least).tolist())
    assert 1 <= len(mixed._intervals) < len(sizes)
    for number in set(range(len(sizes))) - set(mixed._intervals):
        assert sizes[number] < least


def test_hybrid_does_not_split_clusters_of_the_minimum_size():
    """So its clusters are those of the cluster index, cut where they have become small."""
    _, _, low, high = arrays = thousands("short")
    hybrid, cluster = HybridIndex(*arrays)._clusters, ClusterIndex(*arrays)._clusters
    assert len(hybrid.off) < len(cluster.off) / 10
    for node, inside, _, _ in nodes_of(hybrid, low, high):
        assert (hybrid.left[node] >= 0) == (len(inside) > hybrid_module.MIN_CLUSTER_SIZE)


@pytest.mark.parametrize("kind", ["points", "short", "mixed"])
def test_segment_tree_stores_at_canonical_nodes(kind):
    _, _, low, high = arrays = thousands(kind)
    index = SegmentTreeIndex(*arrays)
    cuts, off = np.asarray(index._cuts), np.asarray(index._nodes._off)
    n_stored = np.bincount(index._nodes.entries, minlength=len(low))
    assert n_stored.min() >= 1
    assert n_stored.max() <= max(1, 2 * np.log2(len(cuts) - 1))
    first_leaf = 1 << index._height
    ends = np.concatenate((cuts, np.full(first_leaf + 1 - len(cuts), 2**31 - 1)))

    def ranks_of(node):
        level = index._height - (node.bit_length() - 1)
        first = (node << level) - first_leaf
        return ends[first], ends[first + (1 << level)] - 1

    for node in np.flatnonzero(np.diff(off)).tolist():
        inside = index._nodes.entries[off[node] : off[node + 1]]
        begin, end = ranks_of(node)
        assert (low[inside] <= begin).all()
        assert (end <= high[inside]).all()
        if node > 1:
            above_begin, above_end = ranks_of(node >> 1)
            covers_parent = (low[inside] <= above_begin) & (above_end <= high[inside])
            assert not covers_parent.any(), "an interval that covers the parent is stored above"


@pytest.mark.parametrize("kind", ["points", "short", "mixed"])
def test_interval_tree_stores_each_interval_at_one_node(kind):
    _, _, low, high = arrays = thousands(kind)
    index = IntervalTreeIndex(*arrays)
    everything = list(range(len(low)))
    assert sorted(index._owner_by_low.tolist()) == sorted(index._owner_by_high.tolist()) == everything
    for node in range(1, len(index._points) + 1):
        part = slice(index._node_off[node], index._node_off[node + 1])
        left, right = index._owner_by_low[part], index._owner_by_high[part]
        assert set(left.tolist()) == set(right.tolist())
        point = index._points[node - 1]
        assert (low[left] <= point).all()
        assert (point <= high[left]).all()
        assert (np.diff(low[left]) >= 0).all()
        assert (np.diff(high[right]) <= 0).all()
        for above in nodes_above(node, len(index._points)):
            other = index._points[above - 1]
            assert not ((low[left] <= other) & (other <= high[left])).any(), "stored at the highest such node"


def nodes_above(node, n_nodes):
    """The way up to the root in the tree of positions: the lowest bit moves up by one."""
    while (node := (node & (node - 1)) | (node & -node) << 1) < 1 << n_nodes.bit_length():
        if node <= n_nodes:
            yield node


CONDITIONS = {
    "point": "price = 5",
    "points": "price IN (1, 5, 9)",
    "range": "price BETWEEN 3 AND 8",
    "other": "price <> 5",
    "absent": "price IS NULL",
    "present": "price IS NOT NULL AND color = 'red'",
    "below": "price < 7 AND color <> 'red'",
    "above": "price >= 2.5 OR color = 'blue'",
    "date": "day > DATE '2024-01-01' AND price > 4",
    "text": "price = 'five'",
}


@every_index
def test_an_index_changes_no_match(name):
    rng = random.Random(3)
    more = {f"r{number}": between(rng) for number in range(300)}
    conditions = CONDITIONS | more
    forced = profilec.compile(conditions, options={"index": {"price": name}})
    scan = profilec.compile(conditions, options={"matcher": "scan"})
    documents = [{}, {"price": None, "color": "red"}, {"price": "five"}, {"price": float("nan")}]
    documents += [{"price": number / 2, "color": rng.choice(["red", "blue"])} for number in range(-2, 140)]
    documents += [{"price": number, "day": datetime.date(2024, 5, 1)} for number in range(0, 70, 7)]
    n_matches = 0
    for document in documents:
        matches = sorted(forced.match(document))
        assert matches == sorted(scan.match(document)), document
        n_matches += len(matches)
    assert n_matches > 1_000


def between(rng):
    low = rng.randrange(60)
    return rng.choice([f"price = {low}", f"price BETWEEN {low} AND {low + rng.randrange(30)}", f"price > {low}"])
