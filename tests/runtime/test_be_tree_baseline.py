"""The BE-Tree that changes, among the baselines: after insertions, deletions and recycling it finds all matches."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import begen
import images
from baselines.be_tree import BETree, be
from baselines.be_tree_entries import ASKED, FIRST, LAST
from baselines.be_tree_insertions import MIN_SIZE
from baselines.be_tree_nodes import (
    BELOW,
    CAP,
    CHILD,
    EDGES,
    EDGES_SIZE,
    LEAF,
    LEAF_LENGTH,
    LEVEL,
    LOW,
    N_EDGES,
    N_LEAF,
    PARENT,
    SLOT,
    after,
)
from baselines.k_index import KIndex
from baselines.rank_tests import rank_tests
from baselines.scan import scan_of
from baselines.value_tests import value_tests
from subjects import encoded

SMALL = begen.Parameters(3_000, n_attributes=20, cardinality=16, match_probability=0.02, zipf=0.5)


@pytest.fixture(scope="module")
def load():
    """Rank tests, documents in their ranks, and the matches of each."""
    profiles = begen.profiles(SMALL)
    documents = begen.documents(SMALL, 30)
    image = images.image_of(profiles).image
    batch = encoded(image, documents)
    profile_of = image.entry_profiles[image.entry_profile_off[:-1]]
    matches = [set(scan_of(profiles).match(codes).tolist()) for codes in documents.dense()]
    return rank_tests(image), [batch.document(number) for number in range(len(batch))], profile_of, matches


def expect_matches(tree, load, there):
    _, documents, profile_of, matches = load
    for document, expected in zip(documents, matches, strict=True):
        found = tree.candidates_of(*document)
        assert found.tolist() == [entry for entry in np.flatnonzero(there) if profile_of[entry] in expected]


def expect_sound(tree, n_there):
    """Each entry is in one leaf; buckets enclose; capacities, counts and directories are what they should be."""
    store, predicates = tree._store, tree._predicates
    node, stack, n_found = store.node, [0], 0
    while stack:
        at = stack.pop()
        row = node[at]
        entries, place = [], row[LEAF]
        for _ in range(row[N_LEAF]):
            entries.append(store.pool[place])
            place = after(store.pool, place)
        assert place - row[LEAF] == row[LEAF_LENGTH] or not entries
        n_found += len(entries)
        assert (predicates.leaf[entries] == at).all()
        for entry in entries:
            own = predicates.rows[predicates.off[entry] : predicates.off[entry + 1]]
            above = at
            while above:
                predicate = own[own[:, ASKED].tolist().index(node[above, SLOT])]
                low = node[above, LOW]
                assert low <= predicate[FIRST] <= predicate[LAST] < low + (1 << node[above, LEVEL])
                above = node[above, PARENT]
        if row[CHILD] < 0 and at and row[LEVEL] > 0:
            assert row[N_LEAF] <= row[CAP]
            assert row[N_EDGES] == 0, "a bucket that can be cut is not partitioned"
        if row[CHILD] >= 0:
            stack += [row[CHILD], row[CHILD] + 1]
        if row[N_EDGES]:
            pairs = store.pool[row[EDGES] : row[EDGES] + (1 << row[EDGES_SIZE])].reshape(-1, 2)
            tops = pairs[pairs[:, 0] >= 0]
            assert len(tops) == row[N_EDGES]
            assert (node[tops[:, 1], SLOT] == tops[:, 0]).all()
            assert (node[tops[:, 1], BELOW] >= MIN_SIZE).all()
            stack += tops[:, 1].tolist()
    assert n_found == n_there


@pytest.mark.parametrize("max_cap", [1, 5, 40])
def test_entries_come_and_go(load, max_cap):
    tests = load[0]
    rng = np.random.default_rng(max_cap)
    tree, there = BETree(tests, max_cap), np.zeros(tests.n_entries, np.bool_)
    for share in (0.3, 0.9, 0.5, 0.02, 0.7, 0.0, 0.4):
        wanted = rng.random(tests.n_entries) < share
        tree.delete(rng.permutation(np.flatnonzero(there & ~wanted)).astype(np.int32))
        tree.insert(rng.permutation(np.flatnonzero(wanted & ~there)).astype(np.int32))
        there = wanted
        expect_sound(tree, there.sum())
        expect_matches(tree, load, there)


def test_what_is_left_empty_is_taken_again(load):
    tests = load[0]
    entries = np.arange(tests.n_entries, dtype=np.int32)
    tree = be(tests)
    used = tree._store.used.copy()
    for _ in range(5):
        tree.delete(entries)
        assert tree._store.node[0, N_EDGES] == 0, "an empty tree is a root"
        tree.insert(entries)
    assert (tree._store.used < 1.2 * used).all()


def test_recycling_moves_leaves_with_many_false_candidates(load):
    """A leaf at the root has no predicate on its path: whatever it discards ranks it below zero."""
    tests, documents, *_ = load
    tree = BETree(tests, max_cap=4 * tests.n_entries)
    tree.insert(np.arange(tests.n_entries, dtype=np.int32))
    assert tree._store.node[0, N_LEAF] == tests.n_entries
    for document in documents:
        tree.candidates_of(*document)
    assert tree.recycle() == tests.n_entries
    assert tree.recycle() == 0, "no document came since"
    expect_matches(tree, load, np.ones(tests.n_entries, np.bool_))


@pytest.mark.parametrize("operators", ["med", "high"])
@pytest.mark.parametrize("cardinality", [16, 200])
def test_tests_over_values(operators, cardinality):
    """What is built over values themselves finds what the scan finds."""
    own = replace(SMALL, operators=operators, cardinality=cardinality, match_probability=0.1)
    profiles, documents = begen.profiles(own), begen.documents(own, 20)
    scan, tests = scan_of(profiles), value_tests(profiles)
    for make in (KIndex, be):
        index = make(tests)
        for codes in documents.dense():
            assert index.candidates(codes).tolist() == scan.match(codes).tolist()
