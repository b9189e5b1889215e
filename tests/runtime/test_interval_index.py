"""The interval index: elementary intervals to entries (Tatbul 2001, 4.1.2)."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import profilec.runtime.indexes.interval as interval_module
from profilec.runtime.indexes.interval import IntervalIndex, bitmap, members

INTERVALS = st.lists(st.integers(0, 30), max_size=6, unique=True).map(
    lambda cuts: [(low, high - 1) for low, high in zip(sorted(cuts)[::2], sorted(cuts)[1::2], strict=False)]
)


def index_of(entries):
    flat = [interval for _, intervals in entries for interval in intervals]
    off = np.cumsum([0, *(len(intervals) for _, intervals in entries)]).astype(np.int32)
    bounds = np.array(flat, np.int32).reshape(-1, 2)
    return IntervalIndex(np.array([entry for entry, _ in entries], np.int32), off, bounds[:, 0], bounds[:, 1])


@given(st.lists(INTERVALS, max_size=8), st.booleans())
def test_stabbing(all_intervals, on_demand):
    entries = [(3 * number, intervals) for number, intervals in enumerate(all_intervals)]
    kept = interval_module.MAX_REPETITION
    interval_module.MAX_REPETITION = 0 if on_demand else kept
    try:
        index = index_of(entries)
        for _ in range(2):
            for rank in range(32):
                expected = {entry for entry, spans in entries if any(low <= rank <= high for low, high in spans)}
                assert set(index.entries_at(rank)) == expected
        assert set(index.constrained) == {entry for entry, _ in entries}
    finally:
        interval_module.MAX_REPETITION = kept


def test_the_elementary_intervals_of_the_paper():
    """Endpoints 2, 5, 18, 30 in rank space: gaps at odd ranks, points at even ones."""
    index = index_of([(0, [(2, 4)]), (1, [(4, 7)]), (2, [(6, 8)])])
    assert [sorted(index.entries_at(rank)) for rank in range(1, 10)] == [
        [],
        [0],
        [0],
        [0, 1],
        [1],
        [1, 2],
        [1, 2],
        [2],
        [],
    ]


def test_nested_ranges_do_not_repeat_their_entries_without_bound():
    n = 20_000
    ranks = np.arange(1, n + 1, dtype=np.int32)
    index = IntervalIndex(ranks - 1, np.arange(n + 1, dtype=np.int32), ranks, np.full(n, n, np.int32))
    assert len(index._cells) == 0
    assert len(index.entries_at(n)) == n
    assert sorted(index.entries_at(2)) == [0, 1]


def test_members_is_the_inverse_of_bitmap():
    entries = np.array([0, 5, 70_000, 2**31 - 1], np.int32)
    assert members(bitmap(entries)).tolist() == entries.tolist()
    assert members(bitmap(entries)).dtype == np.int32
