"""SCI and LCI in their four forms: the paper's examples and figures, and what each form promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profilec.runtime.indexes import construct_cost, constructs, virtual_constructs
from profilec.runtime.indexes.activation import activation
from profilec.runtime.indexes.construct_cost import best, n_examined, storage, table_size
from profilec.runtime.indexes.construct_lists import ConstructLists
from profilec.runtime.indexes.constructs import coordinates, decompose, distance_table, extents, first_covering
from profilec.runtime.indexes.lci import LogarithmicConstructs
from profilec.runtime.indexes.sci import SimpleConstructs
from profilec.runtime.indexes.virtual_constructs import VirtualConstructIndex

KINDS = {"sci": SimpleConstructs, "lci": LogarithmicConstructs}
FORMS = ("plain", "clipped", "virtual", "table")
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
every_form = pytest.mark.parametrize("form", FORMS)


def cut(of, *intervals):
    """The coordinates that half-open intervals are cut into."""
    begin, end = np.array(intervals).T
    return decompose(of, begin, end)[1].tolist()


def built(of, form, n_cells, intervals):
    """The lists and the activation of half-open intervals of the entries 0, 1, 2, ..."""
    begin, end = np.array(intervals).reshape(-1, 2).T
    interval, number = decompose(of, begin, end)
    lists = ConstructLists(number, interval.astype(np.int32), n_cells * len(of.lengths))
    return lists, activation(form, of, lists, n_cells)


def singles(low, high):
    low, high = np.asarray(low, np.int32), np.asarray(high, np.int32)
    return np.arange(len(low), dtype=np.int32), np.arange(len(low) + 1, dtype=np.int32), low, high


def random_singles(seed, n=300, n_ranks=500, width=60):
    rng = np.random.default_rng(seed)
    low = rng.integers(0, n_ranks, n)
    return singles(low, low + rng.integers(0, width, n))


def test_coordinates_of_the_paper():
    """Fig. 1b and 3a: with L = 4, p from 0 to 6 is cut into 3 and 17, and q from 0 to 2 is 1."""
    four = SimpleConstructs(4)
    assert cut(four, (0, 6)) == [3, 17]
    assert cut(four, (0, 2)) == [1]
    begin, length = np.repeat(np.arange(7), 4), np.tile([1, 2, 3, 4], 7)
    assert coordinates(four, begin, length).tolist() == list(range(28))
    begin, length = np.repeat(np.arange(7), 3), np.tile([1, 2, 4], 7)
    assert coordinates(LogarithmicConstructs(4), begin, length).tolist() == list(range(21))


def test_bits_of_the_paper():
    """Fig. 3a, R = 7 and L = 4: each bit vector has 28 bits. The paper sets one more for each construct, at its end."""
    of_the_paper = {(cell, 1) for cell in range(3)} | {(cell, 3) for cell in range(5)} | {(4, 17), (5, 17), (6, 17)}
    ends = {(2, 1), (4, 3), (6, 17)}
    lists, bits = built(SimpleConstructs(4), "plain", 7, [(0, 6), (0, 2)])
    assert bits.n_bits == 28
    assert {(cell, number) for cell in range(7) for number in bits.at(cell)} == of_the_paper - ends
    assert [lists.of(number).tolist() for number in (1, 3, 17)] == [[1], [0], [0]]


def test_remnant_of_the_paper():
    """2.3: with L = 16, what is 7 long is cut into 4, 2 and 1."""
    sixteen = LogarithmicConstructs(16)
    begin, end = extents(sixteen, np.array(cut(sixteen, (100, 107))))
    assert list(zip(begin.tolist(), end.tolist(), strict=True)) == [(100, 104), (104, 106), (106, 107)]


@pytest.mark.parametrize("k", range(1, 8))
def test_sizes_of_the_paper(k):
    """Eq. 3, and the covering segments of 3, once the g closed constructs that end at the cell are added."""
    length = 2**k
    for of, table, segment in (
        (SimpleConstructs(length), length * (length + 3) // 2, length**2 + 1),
        (LogarithmicConstructs(length), 2 * length + k, length * (k + 1) + 1),
    ):
        n = len(of.lengths)
        assert len(distance_table(of)) == table_size(of) == table - n
        assert constructs.segment_size(of) == segment - n


@every_kind
@settings(deadline=None)
@given(begin=st.integers(0, 50), length=st.integers(1, 300), k=st.integers(1, 6))
def test_constructs_are_apart_and_cover(kind, begin, length, k):
    of = kind(2**k)
    first, after = extents(of, np.array(cut(of, (begin, begin + length))))
    covered = np.concatenate([np.arange(*cells) for cells in zip(first, after, strict=True)])
    assert sorted(covered.tolist()) == list(range(begin, begin + length))
    assert len(first) == of.n_pieces(np.array([length]))[0]
    n_whole = (length - 1) // of.max_length
    remnant = length - n_whole * of.max_length
    assert len(first) == n_whole + (1 if kind is SimpleConstructs else remnant.bit_count())


@every_kind
@pytest.mark.parametrize("length", [2, 4, 16])
def test_distance_table_is_the_same_for_each_cell(kind, length):
    of, n_cells = kind(length), 60
    begin, end = extents(of, np.arange(n_cells * len(of.lengths)))
    for cell in range(n_cells):
        covering = np.flatnonzero((begin <= cell) & (cell < end)).tolist()
        found = distance_table(of) + first_covering(of, cell)
        assert found[found >= 0].tolist() == covering
        if cell >= length:
            assert first_covering(of, cell) == covering[0]
            assert constructs.segment_size(of) == covering[-1] - covering[0] + 1


@every_kind
@pytest.mark.parametrize("length", [2, 8])
def test_all_forms_find_the_same_constructs(kind, length):
    rng = np.random.default_rng(5)
    of, n_cells = kind(length), 90
    begin = rng.integers(0, 70, 60)
    intervals = np.stack((begin, begin + rng.integers(1, 21, 60)), axis=1)
    forms = {form: built(of, form, n_cells, intervals) for form in FORMS}
    for cell in range(n_cells):
        found = {form: bits.at(cell).tolist() for form, (_, bits) in forms.items()}
        lists, _ = forms["plain"]
        expected = [
            number
            for number, (first, after) in enumerate(zip(*extents(of, np.arange(len(lists.count))), strict=True))
            if lists.count[number] and first <= cell < after
        ]
        assert all(numbers == expected for numbers in found.values())
        entries = [entry for number in expected for entry in lists.of(number).tolist()]
        assert sorted(entries) == np.flatnonzero((intervals[:, 0] <= cell) & (cell < intervals[:, 1])).tolist()


@every_kind
def test_clipping_leaves_bits_out(kind):
    """A plain bit vector has N bits, whatever L; a clipped one as many as the segment, and its rows are that long."""
    _, plain = built(kind(8), "plain", 200, [(5, 30)])
    _, clipped = built(kind(8), "clipped", 200, [(5, 30)])
    assert plain.n_bits == 200 * len(kind(8).lengths)
    assert clipped.n_bits == constructs.segment_size(kind(8)) < plain.n_bits / 10
    assert clipped._rows.shape == (200, (clipped.n_bits + 7) // 8)


def test_lci_has_fewer_constructs_than_sci():
    assert len(LogarithmicConstructs(128).lengths) == 8
    assert len(SimpleConstructs(128).lengths) == 128


@every_kind
@every_form
@pytest.mark.parametrize("seed", range(3))
def test_length_is_where_storage_is_least(kind, form, seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 5 ** (seed + 1), 40 * (seed + 1))
    n_cells = int(lengths.max()) + 20 * seed
    curve = {}
    for k in range(1, 9):
        of = kind(2**k)
        if n_examined(of, form) <= construct_cost.MAX_EXAMINED:
            n = n_cells * len(of.lengths)
            bits = {"plain": n, "clipped": constructs.segment_size(of), "virtual": 0, "table": 0}[form]
            entries = sum(len(cut(of, (0, length))) for length in lengths.tolist())
            words = entries + (len(distance_table(of)) if form == "table" else 0)
            curve[2**k] = n_cells * bits + 64 * n + 32 * words
            assert storage(of, form, n_cells, lengths) == curve[2**k]
    chosen = best(kind, form, n_cells, lengths)
    assert curve[chosen.max_length] == min(curve.values())


@every_kind
@every_form
def test_search_stays_within_its_bound(kind, form):
    chosen = best(kind, form, 1_000_000, np.full(1_000_000, 100_000))
    assert n_examined(chosen, form) <= construct_cost.MAX_EXAMINED


def test_storage_of_the_paper():
    """Fig. 5 (R = 5000, W = 500, n = 10,000): (i) clipping lowers it, (ii) LCI that of SCI, (iii) SCI-BC has less than
    LCI up to L = 128, (iv) LCI-BC and LCI-BV are the best."""
    lengths = np.random.default_rng(2).integers(1, 501, 10_000)

    def bits(kind, form, length):
        return storage(KINDS[kind](length), form, 5_000, lengths)

    for length in (2, 4, 8, 16, 32, 64, 128, 256):
        for kind in KINDS:
            assert bits(kind, "clipped", length) < bits(kind, "plain", length)
        if length > 2:
            assert bits("lci", "plain", length) < bits("sci", "plain", length)
            assert bits("lci", "clipped", length) < bits("sci", "clipped", length)
    least = {
        (kind, form): storage(best(KINDS[kind], form, 5_000, lengths), form, 5_000, lengths)
        for kind in KINDS
        for form in ("plain", "clipped", "virtual")
    }
    order = sorted(least, key=least.__getitem__)
    assert order[0] == ("lci", "virtual")
    assert order.index(("lci", "clipped")) < order.index(("sci", "clipped"))
    assert {form for _, form in order[-2:]} == {"plain"}


def at(index, rank):
    return set(index.entries_at(rank))


@every_kind
@every_form
@pytest.mark.parametrize("budget", ["all", "few"])
def test_delete(kind, form, budget, monkeypatch):
    if budget == "few":
        monkeypatch.setattr(virtual_constructs, "MAX_PIECES", 2)
        monkeypatch.setattr(virtual_constructs, "ALWAYS_PIECES", 0)
    rng = np.random.default_rng(3)
    _, _, low, high = random_singles(3)
    low[:80], high[80:120] = 0, 999  # open-ended
    index = VirtualConstructIndex(kind, form, *singles(low, high))
    assert len(index._open._by_high) > 50
    assert len(index._open._by_low) > 20
    assert (len(index._wide) > 0) == (budget == "few")
    left = dict(enumerate(zip(low.tolist(), high.tolist(), strict=True)))
    for number, entry in enumerate(rng.permutation(len(low)).tolist()):
        index.delete(entry, *left.pop(entry))
        if number % 30 == 0 or len(left) < 3:
            for rank in range(0, 1_002, 7):
                assert at(index, rank) == {other for other, (a, b) in left.items() if a <= rank <= b}
    assert not index._lists.count.any()
    assert set(index.constrained) == set(range(len(low)))
    if form == "plain":
        assert not index._activation._bytes.any()
    if form == "clipped":
        assert not index._activation._rows.any()


@every_kind
@every_form
def test_delete_resets_only_the_bits_of_empty_constructs(kind, form):
    """0 and 1 have a construct in common."""
    index = VirtualConstructIndex(kind, form, *singles([3, 3, 6, 9], [5, 5, 7, 9]))
    ones = [index._activation.at(cell).tolist() for cell in range(index._n_cells)]
    index.delete(0, 3, 5)
    assert [index._activation.at(cell).tolist() for cell in range(index._n_cells)] == ones
    assert at(index, 4) == {1}
    index.delete(1, 3, 5)
    assert [index._activation.at(cell).tolist() for cell in range(index._n_cells)] == [[], *ones[1:]]
    assert at(index, 4) == set()
    assert at(index, 6) == {2}


@every_kind
@every_form
def test_delete_refuses_what_is_not_there(kind, form):
    index = VirtualConstructIndex(kind, form, *singles([3, 5, 0], [5, 9, 90]))
    for entry, low, high in [(1, 3, 5), (0, 3, 4), (0, 2, 5), (7, 0, 90), (0, 5, 3), (0, 3, 2000)]:
        with pytest.raises(KeyError, match="has no interval"):
            index.delete(entry, low, high)
    assert at(index, 5) == {0, 1, 2}


@every_kind
def test_open_ended_intervals_are_not_cut(kind):
    n = 1_000
    ranks = np.arange(n)
    at_most, at_least = (np.ones(n), 2 * ranks + 1), (2 * ranks + 2, np.full(n, 2 * n))
    low, high = (np.concatenate(ends) for ends in zip(at_most, at_least, strict=True))
    index = VirtualConstructIndex(kind, "table", *singles(low, high))
    assert len(index._open._by_high) + len(index._open._by_low) > 2 * n - 10
    assert index._lists.count.sum() < 20
    assert len(index.entries_at(2 * n - 1)) == n, "the last of one list, and all but one of the other"


@every_kind
@every_form
def test_budget_keeps_the_widest_apart(kind, form, monkeypatch):
    monkeypatch.setattr(virtual_constructs, "MAX_PIECES", 3)
    monkeypatch.setattr(virtual_constructs, "ALWAYS_PIECES", 0)
    nested = singles(np.arange(200), 600 - np.arange(200))
    index = VirtualConstructIndex(kind, form, *nested)
    assert index._lists.count.sum() <= 3 * 200
    for rank in range(0, 605, 3):
        assert at(index, rank) == set(np.flatnonzero((nested[2] <= rank) & (rank <= nested[3])).tolist())


@every_kind
@every_form
def test_an_interval_uses_as_many_constructs_as_its_cells_ask_for(kind, form):
    _, _, low, high = arrays = random_singles(8)
    index = VirtualConstructIndex(kind, form, *arrays)
    cuts = np.asarray(index._cuts)
    length = np.searchsorted(cuts, high + 1) - np.searchsorted(cuts, low)
    n_used = np.bincount(index._lists._entries, minlength=len(low))
    is_cut = n_used > 0
    assert is_cut.sum() > len(low) - 40
    assert n_used[is_cut].tolist() == index.constructs.n_pieces(length)[is_cut].tolist()
