"""The baselines that indexes and matchers are compared with, against the definition."""

import random
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import profilec
from profilec.runtime.execute import Executor
from profilec.runtime.image import Image
from profilec.runtime.indexes.by_name import INDEXES
from profilec.runtime.matchers.scan import ScanMatcher

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import begen
import images
import opindex
from baselines import dlist, k_index, propagation_keys
from baselines.flat_hash import find, flat_hash
from baselines.gryphon_equality import are_equalities
from baselines.matchers import MATCHERS
from baselines.rank_tests import rank_tests
from baselines.stabbing import STABBING
from subjects import encoded

every_stabbing = pytest.mark.parametrize("name", sorted(STABBING))
ANY_TEST = sorted(set(MATCHERS) - {"gryphon_equality"})


def flat(entries):
    """What an index is made of, from pairs of an entry and its intervals."""
    bounds = np.array([interval for _, intervals in entries for interval in intervals], np.int32).reshape(-1, 2)
    off = np.cumsum([0, *(len(intervals) for _, intervals in entries)]).astype(np.int32)
    return np.array([entry for entry, _ in entries], np.int32), off, bounds[:, 0].copy(), bounds[:, 1].copy()


def expect_stabs(name, arrays, ranks):
    entries, off, low, high = arrays
    owner = np.repeat(entries, np.diff(off))
    index = STABBING[name](*arrays)
    for rank in ranks:
        expected = sorted(owner[(low <= rank) & (rank <= high)].tolist())
        assert sorted(index.stab(rank).tolist()) == expected, (name, rank)
        assert list(index.entries_at(rank)) == expected
    assert list(index.constrained) == sorted(set(entries.tolist()))
    assert index.n_bytes >= 0
    return index


CUTS = st.lists(st.integers(0, 40), max_size=8, unique=True).map(sorted)
INTERVALS = st.one_of(
    CUTS.map(lambda cuts: [(low, high - 1) for low, high in zip(cuts[::2], cuts[1::2], strict=False)]),
    CUTS.map(lambda cuts: [(cut, cut) for cut in cuts]),
    st.integers(1, 39).map(lambda missing: [(1, missing - 1), (missing + 1, 40)] if missing > 1 else [(2, 40)]),
    st.integers(0, 40).flatmap(lambda end: st.sampled_from([[(0, end)], [(end, 40)], [(1, max(1, end))]])),
)


@every_stabbing
@settings(deadline=None)
@given(all_intervals=st.lists(INTERVALS, max_size=40), order=st.randoms(use_true_random=False))
def test_stabbing(name, all_intervals, order):
    entries = [(3 * number, intervals) for number, intervals in enumerate(all_intervals)]
    order.shuffle(entries)
    expect_stabs(name, flat(entries), range(43))


SHAPES = {
    "nothing": [],
    "entry without intervals": [(7, [])],
    "absence": [(1, [(0, 0)]), (2, [(0, 5)]), (3, [(1, 5)])],
    "nested": [(entry, [(entry, 60 - entry)]) for entry in range(30)],
    "disjoint": [(entry, [(3 * entry, 3 * entry + 1)]) for entry in range(50)],
    "adjacent within an entry": [(0, [(1, 2), (3, 4), (5, 5)]), (1, [(2, 3), (4, 6)])],
    "equal": [(entry, [(4, 9)]) for entry in range(50)],
    "everything but": [(entry, [(0, entry - 1), (entry + 1, 99)]) for entry in range(1, 90)],
    "wide and points": [(entry, [(0, 99)] if entry % 2 else [(entry, entry)]) for entry in range(100)],
    "large entries": [(2**31 - 1, [(1, 3)]), (70_000, [(2, 2)]), (0, [(3, 9)])],
}


@every_stabbing
@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_stabbing_shapes(name, shape):
    expect_stabs(name, flat(SHAPES[shape]), [*range(102), 2**31 - 2])


@every_stabbing
@pytest.mark.parametrize("longest", [1, 12, 9_000])
def test_stabbing_thousands(name, longest):
    rng = np.random.default_rng(longest)
    low = rng.integers(0, 9_000, 4_000)
    high = np.minimum(low + rng.integers(0, longest, 4_000), 9_000)
    entries = [(number, [each]) for number, each in enumerate(zip(low.tolist(), high.tolist(), strict=True))]
    index = expect_stabs(name, flat(entries), [*range(0, 9_002, 41), 9_000])
    product = INDEXES["interval"](*flat(entries))
    assert all(index.entries_at(rank) == product.entries_at(rank) for rank in range(0, 9_000, 97))


def test_direct_lists_of_too_many_places_are_refused():
    with pytest.raises(ValueError, match="direct lists"):
        dlist.DirectListing(*flat([(0, [(0, 2**31 - 3)])]))


def test_interval_skip_list_marks_maximal_edges():
    """The paper's invariant: contained in the interval, and in no edge of a higher level that is contained, too."""
    rng = np.random.default_rng(5)
    low = rng.integers(0, 300, 200)
    high = low + rng.integers(0, 90, 200)
    bounds = zip(low.tolist(), high.tolist(), strict=True)
    index = STABBING["is_list"](*flat([(number, [each]) for number, each in enumerate(bounds)]))
    nodes, of_edges, of_nodes = index._nodes, index._of_edges, index._of_nodes
    edges = [
        (level, nodes.key[node], nodes.key[to], set(of_edges.entries[of_edges.off[edge] : of_edges.off[edge + 1]]))
        for node in range(1, len(nodes.key))
        for level, edge in enumerate(range(nodes.edge_off[node], nodes.edge_off[node + 1]))
        if (to := nodes.forward[edge])
    ]
    for number in range(200):
        inside = [edge for edge in edges if low[number] <= edge[1] and edge[2] <= high[number]]
        maximal = [
            edge
            for edge in inside
            if not any(over[0] > edge[0] and over[1] <= edge[1] and edge[2] <= over[2] for over in inside)
        ]
        marked = [edge for edge in edges if number in edge[3]]
        assert [edge[:3] for edge in marked] == [edge[:3] for edge in maximal]
        ends = {key for edge in marked for key in edge[1:3]} | {low[number]}
        with_marker = [
            nodes.key[node]
            for node in range(1, len(nodes.key))
            if number in of_nodes.entries[of_nodes.off[node] : of_nodes.off[node + 1]]
        ]
        assert set(with_marker) == ends


def test_grouped_filter_has_four_structures():
    index = STABBING["grouped_filter"](*flat([(0, [(5, 5)]), (1, [(2, 7)]), (2, [(3, 9)]), (3, [(2, 5), (7, 9)]),
                                              (4, [(4, 6)]), (5, [(2, 8)])]))  # fmt: skip
    assert index._equal.entries.tolist() == [0]
    assert index._unequal.entries.tolist() == [3]
    assert index._greater.entries.tolist() == [2, 4]
    assert index._less.entries.tolist() == [4, 1, 5]
    assert not index._seen.any()


@settings(deadline=None)
@given(st.lists(st.integers(0, 2**40), unique=True, max_size=50))
def test_flat_hash(keys):
    table = flat_hash(np.array(keys, np.int64))
    assert [find(table, key) for key in keys] == list(range(len(keys)))
    assert find(table, 2**41) == -1


def image_of(conditions) -> Image:
    return profilec.compile(
        {str(n): text for n, text in enumerate(conditions)}, options={"matcher": "scan"}
    )._parts.image


def dense_of(image, document):
    slots, ranks, n_slots = Executor(image, "scan").encode(document)
    slots, ranks = slots[:n_slots], ranks[:n_slots]
    dense = np.zeros(len(image.slots), np.int32)
    own = slots < len(dense)  # without pseudo-slots
    dense[slots[own]] = ranks[own]
    return dense


def expect_candidates(name, image, all_ranks):
    """What the scan gives for dense ranks, twice, and for sparse ones; how many they are."""
    matcher, scan = MATCHERS[name](image), ScanMatcher(image)
    n = 0
    for ranks in all_ranks:
        expected = scan.candidates(ranks).tolist()
        slots = np.flatnonzero(ranks).astype(np.int32)
        for _ in range(2):
            assert matcher.candidates(ranks).tolist() == expected, name
        assert matcher.candidates_of(slots, ranks[slots]).tolist() == expected
        n += len(expected)
    assert matcher.n_bytes > 0
    return n


CONDITIONS = [
    "a = 1", "a = 1 AND b = 2", "a = 1 AND b = 2 AND c < 3", "a = 1 AND c = 3 AND d = 'x'", "a != 1",
    "a <> 1 AND b = 2", "a IS NULL", "a IS NULL AND b IS NOT NULL", "NOT (a = 1) IS TRUE AND c = 3", "a IN (1, 2, 5)",
    "b NOT IN (1, 2)", "(a NOT IN (1, 2)) IS NOT FALSE", "(a NOT IN (1, 2)) IS NOT FALSE AND b = 2",
    "a BETWEEN 1 AND 4 AND b >= 2",
    "c < 3", "c > 3 AND d LIKE 'x%'", "d = 'x' AND b IN (2, 3)", "a > 1 AND a < 4", "a >= 2 AND b <= 3 AND c = 3",
    "a = 1 OR b = 2", "(a = 1 AND b > 1) OR (c = 3 AND d = 'y')", "a IS NOT NULL", "(a = 1) IS NOT TRUE AND b IS NULL",
    "TRUE", "a > 1 AND a < 1", "a LIKE '%x%'", "a + b > 4", "COALESCE(a, 0) < 2",
]  # fmt: skip


def documents_of(rng, n):
    values = {"a": [1, 2, 3, 4, 5, 1.5, "x", True], "b": [1, 2, 3, 4], "c": [2, 3, 4], "d": ["x", "xa", "y", 3]}
    return [{}, *({key: rng.choice(own) for key, own in values.items() if rng.random() < 0.7} for _ in range(n))]


@pytest.mark.parametrize("name", ANY_TEST)
@pytest.mark.parametrize("rules", ["all", []], ids=["all rules", "no rules"])
def test_conditions(name, rules):
    """Absence, several intervals, several tests of one slot, entries without tests."""
    made = profilec.compile(
        {str(n): text for n, text in enumerate(CONDITIONS)}, options={"matcher": "scan", "rules": rules}
    )
    image = made._parts.image
    assert (np.diff(image.entry_off) == 0).any()
    documents = documents_of(random.Random(4), 60)
    assert expect_candidates(name, image, [dense_of(image, document) for document in documents]) > 200


@pytest.mark.parametrize("name", sorted(MATCHERS))
@pytest.mark.parametrize("conditions", [[], ["FALSE"], ["a = 1"], ["TRUE", "a = 1"]], ids=str)
def test_few_conditions(name, conditions):
    image = image_of(conditions)
    documents = [{}, {"a": 1}, {"a": 2}]
    expect_candidates(name, image, [dense_of(image, document) for document in documents])


def random_ranks(image, rng, n):
    """Any ranks, most of them of the slots' first tests."""
    n_ranks = np.array([slot.constants.n_ranks for slot in image.slots])
    return [
        (rng.integers(0, n_ranks) * (rng.random(len(n_ranks)) < share)).astype(np.int32)
        for share in rng.choice([0.2, 0.6, 1.0], n)
    ]


@st.composite
def random_conditions(draw):
    def predicate(attribute):
        value = draw(st.integers(1, 6))
        return draw(
            st.sampled_from(
                [f"{attribute} = {value}"] * 4
                + [f"{attribute} {op} {value}" for op in ("!=", "<", ">=")]
                + [f"{attribute} IN ({value}, 2, 9)", f"{attribute} IS NULL", f"({attribute} = {value}) IS NOT TRUE"]
                + [f"{attribute} BETWEEN {value} AND {value + 2}", f"({attribute} < {value}) IS NOT FALSE"]
            )
        )

    attributes = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=5)
    return [" AND ".join(map(predicate, draw(attributes))) for _ in range(draw(st.integers(1, 25)))]


@pytest.mark.parametrize("name", ANY_TEST)
@settings(deadline=None, max_examples=40)
@given(conditions=random_conditions(), seed=st.integers(0, 99))
def test_random_conditions(name, conditions, seed):
    image = image_of(conditions)
    expect_candidates(name, image, random_ranks(image, np.random.default_rng(seed), 12))


@st.composite
def random_equalities(draw):
    own = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 3), min_size=1, max_size=5)
    return [
        " AND ".join(f"{key} = {value}" for key, value in draw(own).items()) for _ in range(draw(st.integers(1, 40)))
    ]


@settings(deadline=None)
@given(conditions=random_equalities(), seed=st.integers(0, 99))
def test_random_equalities(conditions, seed):
    """The specialized form, and successors that are reached by values on the path only."""
    image = image_of(conditions)
    expect_candidates("gryphon_equality", image, random_ranks(image, np.random.default_rng(seed), 20))


PARAMETERS = {
    "medium": begen.Parameters(4_000, n_attributes=40, match_probability=0.02),
    "equalities": begen.Parameters(
        4_000, n_attributes=12, cardinality=4, profile_size=3, document_size=8, equality=1.0, operators="low",
        match_probability=0.05,
    ),
    "zipf": begen.Parameters(3_000, n_attributes=60, zipf=1.0, match_probability=0.01),
}  # fmt: skip


@pytest.fixture(params=["opindex", *PARAMETERS], scope="module")
def load(request):
    """The image of thousands of generated profiles, and documents in dense ranks."""
    if request.param == "opindex":
        own = opindex.Parameters(4_000, d=60, m=12, sigma=5)
        profiles, documents = opindex.profiles(own), opindex.documents(own, 60)
    else:
        profiles = begen.profiles(PARAMETERS[request.param])
        documents = begen.documents(PARAMETERS[request.param], 60)
    image = images.image_of(profiles).image
    batch = encoded(image, documents)
    dense = np.zeros((len(batch), len(image.slots)), np.int32)
    for number in range(len(batch)):
        slots, ranks = batch.document(number)
        dense[number, slots] = ranks
    return image, list(dense)


@pytest.mark.parametrize("name", sorted(MATCHERS))
def test_thousands(name, load):
    image, ranks = load
    if name == "gryphon_equality" and not are_equalities(rank_tests(image)):
        with pytest.raises(ValueError, match="equalities"):
            MATCHERS[name](image)
        return
    assert expect_candidates(name, image, ranks) > 0


def test_k_index_of_too_many_postings_is_refused(monkeypatch):
    image = image_of(["a < 7", "a < 9"])
    monkeypatch.setattr(k_index, "MAX_POSTINGS", 3)
    with pytest.raises(ValueError, match="postings"):
        k_index.KIndex(image)


def test_k_index_reads_lists_of_sizes_that_documents_have():
    """A size-2 entry is not in the lists of size 1; a NOT IN is no part of the size."""
    image = image_of(["a = 1 AND b = 2", "a = 1 AND (b NOT IN (2)) IS NOT FALSE", "(a NOT IN (1)) IS NOT FALSE"])
    index = k_index.KIndex(image)
    keys = sorted(key // index._n_ranks for key in index._table.keys.tolist() if key >= 0)
    assert keys == [0, 1, 1, 2, 2]


def test_propagation_hashes_several_attributes():
    """Where entries are many enough; each table takes entries from one of fewer attributes."""
    conditions = [f"a = {n % 5} AND b = {n % 7} AND c = {n % 11}" for n in range(5 * 7 * 11)]
    image = image_of([*conditions, "d < 3", "d IN (1, 2)"])
    tests = rank_tests(image)
    schemas, schema_of = propagation_keys.access_schemas(tests)
    assert schemas[0] == ()
    assert max(map(len, schemas)) > 1
    assert set(schema_of.tolist()) == set(range(len(schemas)))
    expect_candidates("propagation", image, random_ranks(image, np.random.default_rng(3), 40))
