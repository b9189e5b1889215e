"""The BE-Tree that changes: against brute force, and its invariants after each step."""

import random
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from profilec.runtime.matchers.dynamic_betree import DynamicBETree, adjust
from profilec.runtime.matchers.dynamic_betree.sound import check, n_words_in_use
from profilec.runtime.matchers.dynamic_betree.tree import (
    CAP,
    CHILD,
    EDGES,
    EDGES_SIZE,
    LIMBO,
    LOW,
    N_ENTRIES,
    N_NODES,
    N_WORK,
    NODE_SIZE,
    ROOT,
    USED,
)

LEAST, MOST = -(2**63), 2**63 - 1
EMPTY = 1 << NODE_SIZE
"""Words of a tree without entries: its root."""


def arrays(tests):
    """Tests, as (slot, intervals), the way a tree is given them."""
    ends = [end for _, intervals in tests for end in intervals]
    off = np.cumsum([0] + [len(intervals) for _, intervals in tests]).astype(np.int32)
    lows, highs = (np.array([end[which] for end in ends], np.int64) for which in (0, 1))
    return np.array([slot for slot, _ in tests], np.int32), off, lows, highs


def equal(**keys):
    """Tests for equality, of slots named s0, s1, …"""
    return [(int(slot[1:]), [(key, key)]) for slot, key in keys.items()]


def holds(tests, document):
    return all(
        slot in document and any(low <= document[slot] <= high for low, high in intervals) for slot, intervals in tests
    )


@dataclass
class Checked:
    """A tree, and what is in it."""

    tree: DynamicBETree = field(default_factory=DynamicBETree)
    entries: dict = field(default_factory=dict)

    def insert(self, entry, tests):
        self.tree.insert(entry, *arrays(tests))
        self.entries[entry] = tests

    def delete(self, entry):
        self.tree.delete(entry)
        del self.entries[entry]

    def match(self, document):
        slots, keys = np.array(list(document), np.int32), np.array(list(document.values()), np.int64)
        out = np.empty(len(self.tree), np.int32)
        found = sorted(out[: self.tree.match(slots, keys, out)].tolist())
        assert found == sorted(entry for entry, tests in self.entries.items() if holds(tests, document))
        return found

    def delete_all(self):
        for entry in list(self.entries):
            self.delete(entry)
        self.tree.check()
        assert len(self.tree) == 0
        assert n_words_in_use(self.tree._tree) == EMPTY


def random_intervals(chance, n_keys):
    low, high = sorted(chance.choices(range(-n_keys, n_keys), k=2))
    several = [(key, key) for key in sorted(chance.sample(range(-n_keys, n_keys), min(n_keys, chance.randint(1, 12))))]
    gaps = [(LEAST, low), (high + 2, high + 2), (high + 4, MOST)]
    point = [(low, low)]
    kinds = [point, point, point, [(low, high)], [(LEAST, low)], [(low, MOST)], [(LEAST, MOST)], several, gaps, []]
    return chance.choice([*kinds, [(LEAST, LEAST)], [(MOST, MOST)]])


@pytest.mark.parametrize("seed", range(40))
def test_it_gives_what_brute_force_gives(seed):
    chance = random.Random(seed)
    n_keys, n_slots, share = (
        chance.choice((1, 3, 30, 1000)),
        chance.choice((1, 3, 8, 30)),
        chance.choice((0.4, 0.7, 0.9)),
    )
    checked = Checked(DynamicBETree(chance.choice((2, 3, 5, 16)), 2) if seed % 4 else DynamicBETree())
    for step in range(500):
        kind = chance.random()
        if not checked.entries or (kind < 0.6 and chance.random() < share):
            n_tests = chance.choice((0, 1, 2, 3, 4, 5))
            tests = [
                (chance.randrange(n_slots + step // 100), random_intervals(chance, n_keys)) for _ in range(n_tests)
            ]
            if checked.entries and chance.random() < 0.2:
                tests = chance.choice(list(checked.entries.values()))
            entry = chance.randrange(5000)
            if entry in checked.entries:
                with pytest.raises(ValueError, match="in use"):
                    checked.tree.insert(entry, *arrays(tests))
            else:
                checked.insert(entry, tests)
        elif kind < 0.8:
            checked.delete(chance.choice(list(checked.entries)))
        else:
            slots = chance.sample(range(n_slots + 3), chance.randrange(n_slots + 3))
            checked.match({slot: chance.choice((chance.randint(-n_keys, n_keys), LEAST, MOST)) for slot in slots})
        if step % 29 == 0:
            checked.tree.check()
        if step % 150 == 149:
            checked.tree.adjust()
            checked.tree.check()
    assert len(checked.tree) == len(checked.entries)
    checked.delete_all()


@pytest.mark.parametrize("max_cap", [2, 9])
def test_each_step_leaves_a_sound_tree(max_cap):
    chance = random.Random(max_cap)
    checked = Checked(DynamicBETree(max_cap, 2))
    for entry in range(150):
        checked.insert(entry, [(chance.randrange(3), random_intervals(chance, 8)) for _ in range(2)])
        checked.tree.check()
    for entry in chance.sample(range(150), 150):
        checked.delete(entry)
        checked.tree.check()
    checked.delete_all()


def test_an_entry_without_tests_always_holds():
    checked = Checked()
    for entry in range(50):
        checked.insert(entry, [])
    assert len(checked.match({})) == len(checked.match({3: 1})) == 50
    checked.delete_all()


def test_ends_of_the_domain():
    checked = Checked(DynamicBETree(2, 2))
    for entry, ends in enumerate([(LEAST, LEAST), (LEAST, -1), (-1, 0), (0, MOST), (MOST, MOST), (LEAST, MOST)] * 4):
        checked.insert(entry, [(0, [ends])])
        checked.tree.check()
    for key in (LEAST, LEAST + 1, -1, 0, 1, MOST - 1, MOST):
        checked.match({0: key})
    checked.delete_all()


def test_long_lists():
    checked = Checked()
    for entry in range(60):
        checked.insert(entry, [(0, [(3 * key + entry % 3, 3 * key + entry % 3) for key in range(-400, 400)])])
    for key in range(-1210, 1210, 41):
        checked.match({0: key})
    checked.delete_all()


def test_a_slot_repeated_in_an_entry():
    checked = Checked(DynamicBETree(3, 2))
    for entry in range(40):
        checked.insert(entry, [(0, [(entry, MOST)]), (1, [(entry, entry)]), (0, [(LEAST, entry + 5)])])
        checked.insert(100 + entry, [(0, [(entry, entry)]), (0, [(entry + 1, entry + 1)])])  # never holds
        checked.tree.check()
    for key in range(50):
        checked.match({0: key, 1: key})
    checked.delete_all()


def test_a_test_without_intervals_never_holds():
    checked = Checked(DynamicBETree(2, 2))
    for entry in range(20):
        checked.insert(entry, [(0, []), (1, [(entry, entry)])])
    for key in (0, 3, LEAST, MOST):
        assert checked.match({0: key, 1: key}) == []
    checked.tree.check()
    checked.delete_all()


def test_slots_that_appear_late_and_are_many():
    checked = Checked(DynamicBETree(4, 2))
    for entry in range(600):
        checked.insert(entry, equal(**{f"s{7 * entry}": 1, f"s{entry % 5}": entry % 4}))
    checked.tree.check()
    for entry in range(0, 600, 13):
        assert entry in checked.match({7 * entry: 1, entry % 5: entry % 4, 10**9: 3})
    checked.match({slot: slot % 4 for slot in range(0, 4000, 3)})
    checked.delete_all()


@pytest.mark.parametrize("max_cap", [2, 9])
def test_many_attributes_of_few_entries_each(max_cap):
    checked, chance = Checked(DynamicBETree(max_cap, 2)), random.Random(7)
    for entry in range(2000):
        checked.insert(entry, [(slot, [(chance.randrange(9),) * 2]) for slot in chance.sample(range(600), 3)])
        if entry % 100 == 0:
            checked.tree.check()
    for _ in range(30):
        checked.match({slot: chance.randrange(9) for slot in chance.sample(range(600), 200)})
    for entry in chance.sample(range(2000), 1000):
        checked.delete(entry)
    checked.tree.check()
    checked.delete_all()


def test_thousands_of_equal_entries():
    checked = Checked()
    for entry in range(5000):
        checked.insert(entry, [*equal(s0=1, s1=2), (2, [(0, 10)])])
    checked.tree.check()
    assert len(checked.match({0: 1, 1: 2, 2: 3})) == 5000
    assert checked.match({0: 2, 1: 2, 2: 3}) == []
    for entry in range(4990):
        checked.delete(entry)
    checked.tree.check()
    assert (checked.tree._tree.pool[ROOT + CAP]) < 100
    checked.delete_all()


def selective(n, chance):
    """Entries of one equality that few share, and three tests that hold half the time; the slots are any of 20."""
    entries = []
    for _ in range(n):
        first, *others = chance.sample(range(20), 4)
        wide = [(slot, chance.choice([[(LEAST, 50)], [(50, MOST)], [(20, 70)]])) for slot in others]
        key = chance.randrange(n)
        tests = [(first, [(key, key)]), *wide]
        chance.shuffle(tests)
        entries.append(tests)
    return entries


def test_few_of_many_selective_entries_are_looked_at():
    chance = random.Random(1)
    checked = Checked()
    for entry, tests in enumerate(selective(10_000, chance)):
        checked.insert(entry, tests)
    looked_at = []
    for _ in range(50):
        checked.match({slot: chance.choice((chance.randrange(100), chance.randrange(10_000))) for slot in range(20)})
        looked_at.append(checked.tree.n_looked_at)
    assert np.mean(looked_at) < 400


def test_strings_of_one_prefix_are_told_apart():
    checked = Checked()
    keys = [int.from_bytes(b"item%04d" % number, "big") for number in range(4000)]
    for entry, key in enumerate(keys):
        checked.insert(entry, [(0, [(key, key)])])
    assert checked.match({0: keys[7]}) == [7]
    assert checked.tree.n_looked_at <= 20


def test_many_at_once_are_the_same_as_one_by_one():
    entries = selective(2000, random.Random(2))
    one_by_one, at_once = DynamicBETree(), DynamicBETree()
    for entry, tests in enumerate(entries):
        one_by_one.insert(entry, *arrays(tests))
    test_off = np.arange(0, 4 * len(entries) + 1, 4, dtype=np.int32)
    at_once.insert_many(
        np.arange(len(entries), dtype=np.int32), test_off, *arrays([test for tests in entries for test in tests])
    )
    used = int(one_by_one._tree.header[0])
    assert used == at_once._tree.header[0]
    assert (one_by_one._tree.pool[:used] == at_once._tree.pool[:used]).all()
    at_once.check()


def test_a_batch_is_the_same_as_documents_one_by_one():
    chance = random.Random(3)
    checked = Checked()
    for entry, tests in enumerate(selective(500, chance) + [[]] * 3):
        checked.insert(entry, tests)
    documents = [{slot: chance.randrange(100) for slot in chance.sample(range(25), n % 21)} for n in range(400)]
    off = np.cumsum([0, *map(len, documents)])
    slots = np.array([slot for document in documents for slot in document], np.int32)
    keys = np.array([key for document in documents for key in document.values()], np.int64)
    owner, found = checked.tree.match_batch(off, slots, keys)
    for number, document in enumerate(documents):
        assert sorted(found[owner == number].tolist()) == checked.match(document)
    owner, found = checked.tree.match_batch(np.zeros(1, np.int64), slots[:0], keys[:0])
    assert (owner.tolist(), found.tolist()) == ([], [])


def looked_at(tree, documents):
    """The mean number of entries that documents look at."""
    out, n = np.empty(len(tree), np.int32), 0
    for document in documents:
        tree.match(np.array(list(document), np.int32), np.array(list(document.values()), np.int64), out)
        n += tree.n_looked_at
    return n / len(documents)


def test_documents_tell_which_attribute_is_seldom_there():
    """Entries ask for one of three keys of slot 0, and for any of slot 1, which few documents have."""
    checked = Checked()
    for entry in range(900):
        checked.insert(entry, [(0, [(entry % 3, entry % 3)]), (1, [(LEAST, MOST)])])
    documents = [{0: n % 3, 1: n} if n % 21 == 0 else {0: n % 3} for n in range(640)]
    assert looked_at(checked.tree, documents) == 300
    assert checked.tree.adjust() == 1
    checked.tree.check()
    assert looked_at(checked.tree, documents) < 20
    assert checked.tree.adjust() == 0
    for document in documents[:40]:
        checked.match(document)
    checked.delete_all()


def test_documents_tell_that_entries_of_one_key_are_worth_a_partition():
    checked = Checked()
    for entry in range(500):
        checked.insert(entry, equal(s0=1))
    documents = [{0: 2}] * 200
    assert looked_at(checked.tree, documents) == 500
    checked.tree.adjust()
    assert looked_at(checked.tree, documents) == 0
    assert len(checked.match({0: 1})) == 500
    checked.delete_all()


def test_to_prepare_a_tree_leaves_it_as_it_is():
    chance = random.Random(5)
    checked = Checked()
    for entry, tests in enumerate(selective(300, chance)):
        checked.insert(entry, tests)
    tree = checked.tree._tree
    before = [array.copy() for array in tree]
    checked.tree.prepare()
    assert checked.tree._tree is tree
    assert all((array == other).all() for array, other in zip(tree, before, strict=True))
    DynamicBETree().prepare()
    assert adjust.judge.signatures
    assert adjust.recycle.signatures


def test_nothing_is_adjusted_before_documents_came():
    checked = Checked()
    for entry, tests in enumerate(selective(300, random.Random(5))):
        checked.insert(entry, tests)
    assert checked.tree.adjust() == 0
    checked.tree.check()


def test_damage_is_found():
    """Each word of nodes, of a tree of all there is in one, matters to `check`, and those of leaves and bodies do."""
    checked, chance = Checked(DynamicBETree(3, 2)), random.Random(8)
    for entry in range(60):
        checked.insert(entry, [(0, [(entry % 12,) * 2]), (1, [(chance.randrange(9),) * 2]), (2, [(entry, MOST)])])
    checked.tree.check()
    tree = checked.tree._tree
    unseen = 0
    for at in range(ROOT, int(tree.header[USED])):
        whole = tree.pool[at]
        tree.pool[at] ^= 1 << 4
        try:
            checked.tree.check()
            unseen += 1
        except (AssertionError, IndexError):
            pass
        tree.pool[at] = whole
    checked.tree.check()
    assert unseen < 0.55 * (
        tree.header[USED] - ROOT
    )  # room that is not in use, the ends of tests, counters of documents
    for place in (USED, N_NODES, N_ENTRIES, LIMBO, N_WORK):
        tree.header[place] += 1
        checked_fails(checked.tree)
        tree.header[place] -= 1
    checked.delete_all()


def checked_fails(tree):
    with pytest.raises(AssertionError):
        check(tree._tree)


@pytest.mark.parametrize(
    ("entry", "tests"),
    [(-1, []), (0, [(-1, [(0, 0)])]), (0, [(0, [(1, 0)])]), (0, [(0, [(0, 5), (5, 6)])]), (0, [(0, [(3, 4), (0, 1)])])],
)
def test_what_is_ill_formed_is_refused(entry, tests):
    tree = DynamicBETree()
    with pytest.raises(ValueError, match="an entry is to have"):
        tree.insert(entry, *arrays(tests))
    assert len(tree) == 0
    tree.check()


def test_offsets_that_point_elsewhere_are_refused():
    tree, (slots, off, lows, highs) = DynamicBETree(), arrays(equal(s0=1, s1=2))
    for given in ((slots, off[:2], lows, highs), (slots, off, lows[:1], highs), (slots, off[::-1].copy(), lows, highs)):
        with pytest.raises(ValueError, match="an entry is to have"):
            tree.insert(0, *given)
    with pytest.raises(ValueError, match="another length"):
        tree.insert_many(np.arange(2, dtype=np.int32), np.arange(2, dtype=np.int32), slots, off, lows, highs)
    with pytest.raises(ValueError, match="an entry is to have"):
        tree.insert_many(np.arange(1, dtype=np.int32), np.array([0, 9], np.int32), slots, off, lows, highs)
    assert len(tree) == 0


def test_what_is_not_there():
    checked = Checked()
    checked.insert(3, equal(s0=1))
    for entry in (-1, 2, 4, 10**6):
        assert entry not in checked.tree
        with pytest.raises(KeyError):
            checked.tree.delete(entry)
    assert 3 in checked.tree
    with pytest.raises(ValueError, match="has room for 0 entries of 1"):
        checked.tree.match(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int32))
    checked.delete(3)
    with pytest.raises(KeyError):
        checked.tree.delete(3)


@pytest.mark.parametrize(("max_cap", "min_size"), [(1, 2), (5, 1), (5, 6)])
def test_parameters(max_cap, min_size):
    with pytest.raises(ValueError, match="max_cap is at least 2"):
        DynamicBETree(max_cap, min_size)


def test_memory_that_is_not_to_be_had_is_asked_for_again(monkeypatch):
    """A call that fails for memory leaves a tree that goes on where it was."""
    from profilec.runtime.matchers.dynamic_betree import index

    checked, chance, given = Checked(DynamicBETree(2, 2)), random.Random(6), index.with_more_room

    def refuse(tree):
        raise MemoryError

    for entry in range(3000):
        tests = [(slot, [(chance.randrange(50),) * 2]) for slot in chance.sample(range(6), 3)]
        monkeypatch.setattr(index, "with_more_room", refuse)
        try:
            checked.insert(entry, tests)
        except MemoryError:
            monkeypatch.setattr(index, "with_more_room", given)
            if entry in checked.tree:
                checked.entries[entry] = tests
            if entry % 2:
                checked.match({slot: chance.randrange(50) for slot in range(6)})
            else:
                checked.tree.check()
        monkeypatch.setattr(index, "with_more_room", given)
        if entry not in checked.entries:
            checked.insert(entry, tests)
    checked.tree.check()
    checked.delete_all()


def test_a_tree_of_halves_looks_as_the_paper_draws_it():
    """Keys 0 .. 7, three entries a leaf: one bucket for each key, within halves of halves."""
    checked = Checked(DynamicBETree(3, 2))
    for entry in range(24):
        checked.insert(entry, equal(s0=entry % 8))
    pool = checked.tree._tree.pool
    assert pool[ROOT + CHILD] == -1
    assert [len(checked.match({0: key})) for key in range(8)] == [3] * 8
    found = {(low, size) for low, size in cells(pool, top_of_root(pool))}
    assert found == {(0, 8), (0, 4), (4, 4), (0, 2), (2, 2), (4, 2), (6, 2), *((key, 1) for key in range(8))}


def top_of_root(pool):
    """The top bucket of the root's only partition."""
    block = pool[pool[ROOT + EDGES] :][: 1 << pool[ROOT + EDGES_SIZE]].reshape(-1, 2)
    return block[block[:, 0] > 0][0, 1]


def cells(pool, node):
    """(least key, number of keys) of a bucket and those within it."""
    yield int(pool[node + LOW]), int(~pool[node + LOW + 1]) + 1
    if pool[node + CHILD] >= 0:
        for half in pool[node + CHILD :][:2]:
            if half:
                yield from cells(pool, half)


ENDS = st.one_of(st.integers(-4, 4), st.sampled_from([LEAST, LEAST + 1, MOST - 1, MOST]))
INTERVALS = st.lists(ENDS, unique=True, max_size=6).map(
    lambda ends: [(low, high) for low, high in zip(sorted(ends)[::2], sorted(ends)[1::2], strict=False)]
)
POINT = ENDS.map(lambda key: [(key, key)])
TESTS = st.lists(st.tuples(st.integers(0, 4), st.one_of(POINT, INTERVALS)), max_size=4)


class Changes(RuleBasedStateMachine):
    """Any order of calls."""

    def __init__(self):
        super().__init__()
        self.checked = Checked(DynamicBETree(2, 2))

    @rule(tests=TESTS, n=st.integers(1, 6))
    def insert(self, tests, n):
        for entry in range(200):
            if n and entry not in self.checked.entries:
                self.checked.insert(entry, tests)
                n -= 1

    @precondition(lambda self: self.checked.entries)
    @rule(data=st.data())
    def delete(self, data):
        self.checked.delete(data.draw(st.sampled_from(sorted(self.checked.entries))))

    @rule(document=st.dictionaries(st.integers(0, 5), ENDS, max_size=5), n=st.sampled_from([1, 200]))
    def match(self, document, n):
        for _ in range(n):
            self.checked.match(document)

    @rule()
    def adjust(self):
        self.checked.tree.adjust()

    @invariant()
    def is_sound(self):
        self.checked.tree.check()

    def teardown(self):
        self.checked.delete_all()


TestChanges = Changes.TestCase
TestChanges.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)
