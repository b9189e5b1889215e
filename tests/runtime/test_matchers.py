"""The matchers `access`, `counting` and `opindex`: against `scan`, and each against what its algorithm promises."""

import random
from functools import partial

import numpy as np
import pytest

import profilec
from profilec.planner import options
from profilec.runtime.indexes.by_name import INDEXES
from profilec.runtime.matchers import access as access_module
from profilec.runtime.matchers import candidates as candidates_module
from profilec.runtime.matchers.access import AccessFinder
from profilec.runtime.matchers.by_name import MATCHERS, matcher_of
from profilec.runtime.matchers.canonical_nodes import canonical_nodes
from profilec.runtime.matchers.counters import EPOCH
from profilec.runtime.matchers.counting import CountingFinder
from profilec.runtime.matchers.opindex.lists import _bit, _clauses, _kind_of, lists_of, pivots
from profilec.runtime.matchers.opindex.match import OpIndexFinder
from profilec.runtime.matchers.opindex.operators import OPERATORS
from profilec.runtime.matchers.rank_tests import rank_tests

NAMES = ("access", "counting", "opindex")
every_matcher = pytest.mark.parametrize("name", NAMES)
ATTRIBUTES = "abcdefgh"


def predicate(rng):
    name, number, other = rng.choice(ATTRIBUTES), rng.randrange(9), rng.randrange(9)
    return rng.choice(
        [
            f"{name} = {number}",
            f"{name} < {number}",
            f"{name} >= {number}",
            f"{name} != {number}",
            f"{name} IN ({number}, {other}, 'x')",
            f"{name} NOT IN ({number}, {other})",
            f"{name} BETWEEN {min(number, other)} AND {max(number, other)}",
            f"({name} < {number} OR {name} > {number + 2})",
            f"{name} IS NULL",
            f"{name} IS NOT NULL",
            f"({name} = {number}) IS NOT TRUE",
            f"({name} BETWEEN {number} AND {number + 3}) IS NOT TRUE",
            f"{name} LIKE '%x%'",
            f"NOT ({name} LIKE '%x%')",
            f"({name} > {number} OR {rng.choice(ATTRIBUTES)} < {other})",
            f"{name} >= 'ax'",
            f"ANY(tags) = {number}",
        ]
    )


def conditions(rng, n, joins=()):
    found = {}
    for number in range(n):
        parts = [predicate(rng) for _ in range(rng.randrange(1, 6))]
        if joins and rng.random() < 0.3:
            parts.append(rng.choice(joins))
        found[f"p{number}"] = " AND ".join(parts)
    return found


def documents(rng, n):
    values = [1, 2, 3, 4.5, 6, 8, 9, "x", "ax", "b", True, None]
    found = [{}, {"a": None}, {"other": 1}, dict.fromkeys(ATTRIBUTES, 3), dict.fromkeys(ATTRIBUTES, "ax")]
    for _ in range(n):
        document = {name: rng.choice(values) for name in rng.sample(ATTRIBUTES, rng.randrange(len(ATTRIBUTES) + 1))}
        found.append({**document, "tags": [rng.randrange(9) for _ in range(rng.randrange(3))]})
    return found


def expect_as_scan(profiles, asked, *names, earlier=(), **given):
    scan = profilec.compile(profiles, options={"matcher": "scan"})
    scan.documents.extend(list(earlier))
    right = [scan.match(document) for document in asked]
    for name in names:
        found = profilec.compile(profiles, options={"matcher": name, **given})
        found.documents.extend(list(earlier))
        assert [found.match(document) for document in asked] == right, name
        assert list(found.match_batch(asked)) == right, name
        assert list(found.match_batch(asked, threads=3)) == right, name
        assert [found.count(document) for document in asked] == list(map(len, right)), name
        assert [found.any(document) for document in asked] == list(map(bool, right)), name
    return right


def finder(name, image, own=None):
    own = np.ones(image.n_entries, np.bool_) if own is None else own
    if name == "access":
        return AccessFinder(image, own)
    return {"counting": CountingFinder, "opindex": OpIndexFinder}[name](rank_tests(image, own))


def found_by(finder, document, scratch=None):
    """The entries that a finder finds for a document: pairs of a slot and a rank."""
    slots, ranks = (np.array(part, np.int32) for part in zip(*document, strict=True)) if document else [_NONE] * 2
    off, out = np.zeros(2, np.int64), np.empty(finder.n_entries + 2, np.int32)
    doc_off = np.array([0, len(slots)], np.int64)
    assert finder.find(scratch or finder.scratch(), doc_off, slots, ranks, 0, off, out) == 1
    return out[: off[1]].tolist()


_NONE = np.zeros(0, np.int32)


def image_of(*texts, **given):
    return profilec.compile({f"p{n}": text for n, text in enumerate(texts)}, options={"rules": "none", **given})._image


def slot_number(image, name):
    return next(number for number, slot in enumerate(image.slots) if slot.name == name)


def test_the_planner_knows_the_same_matchers():
    assert {name.partition(":")[0] for name in options.MATCHERS} == set(MATCHERS)
    assert list(options.MATCHERS) == sorted(options.MATCHERS)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rules", ["all", "none"])
def test_random_sets(seed, rules):
    rng = random.Random(seed)
    right = expect_as_scan(conditions(rng, 300), documents(rng, 30), *NAMES, rules=rules)
    assert sum(map(len, right)) > 300


@pytest.mark.parametrize("phase_order", [None, "constant_first", "join_first"])
def test_residuals_and_joins(phase_order):
    rng = random.Random(7)
    joins = [
        "EXISTS d (d.a = a)",
        "FORALL d (d.b < c)",
        "NOT EXISTS d (d.a = b AND d.c > 2)",
        "(EXISTS d (d.a = 1) OR a > 5)",
    ]
    profiles = {**conditions(rng, 150, joins), **{f"j{n}": join for n, join in enumerate(joins)}}
    given = {} if phase_order is None else {"phase_order": phase_order}
    assert any(expect_as_scan(profiles, documents(rng, 20), *NAMES, earlier=documents(rng, 15), **given))


def test_thousands_of_profiles():
    rng = random.Random(3)
    right = expect_as_scan(conditions(rng, 2_000), documents(rng, 25), *NAMES)
    assert sum(map(len, right)) > 2_000


def test_wide_ranges_and_lists():
    rng = random.Random(4)
    profiles = {f"r{n}": f"a BETWEEN {n} AND {4_000 - n} AND b >= {n % 90}" for n in range(2_000)}
    for number in range(500):
        values = ", ".join(map(str, rng.sample(range(4_000), 40)))
        profiles[f"i{number}"] = f"a IN ({values})"
        profiles[f"n{number}"] = f"a NOT IN ({values}) AND b < {number % 90}"
    asked = [
        {"a": rng.uniform(-5, 4_005) if n % 2 else rng.randrange(4_000), "b": rng.randrange(99)} for n in range(40)
    ]
    expect_as_scan(profiles, [*asked, {"a": 7}, {"b": 7}, {}], *NAMES)


@every_matcher
def test_entries_without_tests(name):
    asked = [{}, {"a": 1}, {"a": 5, "b": 1}]
    right = expect_as_scan({"all": "TRUE", "none": "FALSE", "either": "a > 3 OR b IS NULL", "p": "a = 1"}, asked, name)
    assert right == [["all", "either"], ["all", "either", "p"], ["all", "either"]]
    assert expect_as_scan({"all": "TRUE"}, asked, name) == [["all"]] * 3
    assert expect_as_scan({}, asked, name) == [[]] * 3


@every_matcher
def test_a_batch_that_fills_the_room_many_times(name, monkeypatch):
    monkeypatch.setattr(candidates_module, "_MORE", 3)
    rng = random.Random(9)
    expect_as_scan(conditions(rng, 60), documents(rng, 40), name)


@every_matcher
def test_what_a_finder_finds_are_the_entries_whose_rank_tests_hold(name):
    """And of some of the entries, with numbers of their own."""
    rng = random.Random(8)
    image = profilec.compile(conditions(rng, 200), options={"rules": "none"})._image
    for own in (np.ones(image.n_entries, np.bool_), np.arange(image.n_entries) % 3 == 1):
        tests = rank_tests(image, own)
        subject = finder(name, image, own)
        scratch = subject.scratch()
        for _ in range(30):
            document = [
                (slot, rng.randrange(1, n)) for slot, n in enumerate(tests.n_ranks.tolist()) if rng.random() < 0.8
            ]
            assert found_by(subject, document, scratch) == by_definition(tests, document)


def by_definition(tests, document):
    ranks = dict(document)

    def holds(test):
        rank = ranks.get(int(tests.slot[test]), 0)
        return any(tests.low[i] <= rank <= tests.high[i] for i in range(tests.test_off[test], tests.test_off[test + 1]))

    return [e for e in range(len(tests.entries)) if all(map(holds, tests.tests[tests.off[e] : tests.off[e + 1]]))]


@pytest.mark.parametrize("n_ranks", [1, 2, 3, 7, 8, 9, 100])
def test_canonical_nodes(n_ranks):
    """Each rank lies under one node of the intervals that contain it; nodes are few, and none could be joined."""
    pairs = [(low, high) for low in range(n_ranks) for high in range(low, n_ranks)]
    low, high = (np.array(ends) for ends in zip(*pairs, strict=True))
    intervals, nodes = canonical_nodes(np.full(len(low), n_ranks), low, high)
    assert np.bincount(intervals).max() <= max(1, 2 * np.log2(n_ranks))
    at = {(interval, node) for interval, node in zip(intervals.tolist(), nodes.tolist(), strict=True)}
    assert len(at) == len(nodes)
    for rank in range(n_ranks):
        path = [(n_ranks + rank) >> level for level in range((n_ranks + rank).bit_length())]
        for interval, (first, last) in enumerate(pairs):
            assert sum((interval, node) in at for node in path) == (first <= rank <= last)


# access


@pytest.mark.parametrize("index", sorted(INDEXES))
def test_access_by_every_index(index):
    rng = random.Random(11)
    chosen = dict.fromkeys(ATTRIBUTES, index)
    expect_as_scan(conditions(rng, 400), documents(rng, 20), "access", index=chosen)
    profiles = profilec.compile(conditions(rng, 400), options={"matcher": "access", "index": chosen})
    matcher = matcher_of(profiles._image, "access", index_of=chosen)
    made = INDEXES[index]
    expected = made.func if isinstance(made, partial) else made
    assert {type(one) for one in matcher._finder._indexes.values()} == {expected}


def test_access_needs_the_index_option():
    with pytest.raises(ValueError, match="uses no index: leave out `index`, or choose the matcher access or bitmap"):
        profilec.compile({"p": "a = 1"}, options={"matcher": "counting", "index": {"a": "hash"}})
    plan = profilec.compile({"p": "a = 1"}, options={"matcher": "access", "index": {"a": "hash"}}).plan
    assert plan.matcher == "access"


def test_access_candidates_are_the_entries_whose_access_test_holds():
    rng = random.Random(12)
    image = profilec.compile(conditions(rng, 800))._image
    subject, tests = finder("access", image), rank_tests(image, np.ones(image.n_entries, np.bool_))
    for _ in range(40):
        document = [(slot, rng.randrange(1, n)) for slot, n in enumerate(tests.n_ranks.tolist()) if rng.random() < 0.7]
        ranks = dict(document)
        wanted = 0
        for test in subject.access.tolist():
            part = range(tests.test_off[test], tests.test_off[test + 1]) if test >= 0 else ()
            rank = ranks.get(int(tests.slot[test]), 0)
            wanted += test < 0 or any(tests.low[i] <= rank <= tests.high[i] for i in part)
        slots, found = (np.array(part, np.int32) for part in zip(*document, strict=True))
        assert subject.n_candidates(slots, found) == wanted
        assert sorted(set(subject.holding(slots, found).tolist())) == sorted(subject.holding(slots, found).tolist())


def test_access_is_the_planners_where_that_is_a_rank_test():
    image = profilec.compile(conditions(random.Random(13), 500))._image
    subject, tests = finder("access", image), rank_tests(image, np.ones(image.n_entries, np.bool_))
    used = np.unique(image.entry_tests[image.entry_tests < image.n_tests])
    numbers = used[np.argsort(image.test_slot[used], kind="stable")]
    n_bits = 0
    for entry, (planned, access) in enumerate(zip(image.entry_access.tolist(), subject.access.tolist(), strict=True)):
        if 0 <= planned < image.n_tests:
            assert numbers[access] == planned
        elif planned < 0:
            assert access == -1
        else:  # a pattern: the first rank test that refuses absence, if there is one
            n_bits += 1
            own = tests.tests[tests.off[entry] : tests.off[entry + 1]]
            assert access == next(iter(own[~tests.refutes[own]].tolist()), -1)
    assert n_bits > 10


def test_access_keeps_what_indexes_told_within_a_budget(monkeypatch):
    monkeypatch.setattr(access_module, "_KEPT", 120)
    image = image_of(*(f"a = {number}" for number in range(500)))
    subject = finder("access", image)
    for rank in range(1, image.slots[0].constants.n_ranks):
        assert len(found_by(subject, [(0, rank)])) <= 1
        assert len(subject._told) <= 3
    assert found_by(subject, [(0, 2)]) == [0]


# counting


def test_counting_looks_at_no_test_that_fails():
    image = image_of(*(f"a BETWEEN {number} AND {number + 50} AND b = {number}" for number in range(300)))
    directory = finder("counting", image).directory
    tests = rank_tests(image, np.ones(image.n_entries, np.bool_))
    for slot, n_ranks in enumerate(tests.n_ranks.tolist()):
        for rank in range(1, n_ranks):
            node, found = n_ranks + rank, []
            while node:
                at = directory.first_node[slot] + node
                found += directory.node_tests[directory.node_off[at] : directory.node_off[at + 1]].tolist()
                node >>= 1
            intervals = np.flatnonzero((tests.low <= rank) & (rank <= tests.high))
            holding = np.searchsorted(tests.test_off, intervals, side="right") - 1
            assert sorted(found) == holding[tests.slot[holding] == slot].tolist()


def test_counting_stores_wide_ranges_in_little_room():
    n = 2_000
    image = image_of(*(f"a BETWEEN {number} AND {2 * n - number}" for number in range(n)))
    directory = finder("counting", image).directory
    n_ranks = image.slots[0].constants.n_ranks
    assert len(directory.node_off) == 2 * n_ranks + 1
    assert len(directory.node_tests) <= 2 * n * np.log2(n_ranks)
    assert len(directory.of_test) == n


@pytest.mark.parametrize("name", ["counting", "opindex"])
def test_counters_are_clean_whatever_was_left_in_them(name):
    """A document that was interrupted half-way, and the last of two thousand million."""
    image = image_of("a = 1 AND b = 2", "a = 1", "a = 1 AND b IS NULL", "b IS NULL", "(a = 1) IS NOT TRUE")
    subject = finder(name, image)
    a, b = slot_number(image, "a"), slot_number(image, "b")
    one, two = image.slots[a].constants.rank(1), image.slots[b].constants.rank(2)
    asked = {(): [3, 4], ((a, one),): [1, 2, 3], ((a, one), (b, two)): [0, 1], ((b, two),): [4]}
    scratch = subject.scratch()
    for left in (0, 1, 2):
        for document, right in asked.items():
            scratch.state[:-1] = scratch.state[-1] + left  # touched, by a document that never ended
            assert found_by(subject, list(document), scratch) == right
            assert not scratch.bits.any()
            assert not scratch.summary.any()
    scratch.state[-1] = (2**31 - 3) * EPOCH
    for _ in range(3):
        for document, right in asked.items():
            assert found_by(subject, list(document), scratch) == right
    assert 0 < scratch.state[-1] < 20 * EPOCH


# opindex: the running example of the paper (Table 1, Figures 4 and 5, Examples 2 to 5)


@pytest.fixture
def example(builder, slots):
    """Table 1: S_1 to S_6 are the entries 0 to 5. Attributes A to E are slots 0 to 4; each entry's tests as written."""
    constants = {"A": (2, 8), "B": (3, 4, 6, 9), "C": (2, 4, 6, 3), "D": (10, 12), "E": (3, 7, 9, 12)}
    number = {name: builder.slot(slots.plain(name, *values)) for name, values in constants.items()}

    def test(name, *intervals):
        of_slot = builder.slots[number[name]].constants
        first, last = of_slot.first(1), of_slot.last(1)

        def rank(value, end):
            return end if value is None else of_slot.rank(value)

        return builder.rank_test(number[name], [(rank(low, first), rank(high, last)) for low, high in intervals])

    for profile, tests in enumerate(
        (
            [test("A", (2, 2)), test("B", (3, 3), (6, 6), (9, 9))],
            [test("A", (None, 8)), test("C", (2, None))],
            [test("C", (6, 6)), test("B", (None, 4)), test("E", (3, 12))],
            [test("A", (2, 2))],
            [test("D", (12, None)), test("E", (None, 9))],
            [test("B", (3, 3), (6, 6)), test("C", (None, 4)), test("D", (10, None)), test("E", (None, 7))],
        )
    ):
        builder.entry(tests, [profile])
    return builder.image(6)


def of_example(image, **given):
    tests = rank_tests(image, np.ones(6, np.bool_))
    return tests, lists_of(tests, **given)


def test_opindex_pivots_of_the_example(example):
    """Example 2: A, C and D; D is rarer, and of equally rare attributes the first is taken."""
    tests, lists = of_example(example)
    assert pivots(tests, np.array([3, 3, 3, 2, 3])).tolist() == [0, 0, 2, 0, 3, 3]
    assert lists.partition.tolist() == [1, -1, 2, 3, -1]
    assert lists.entry.tolist() == [0, 1, 3, 2, 4, 5]


def test_opindex_lists_of_the_example(example):
    """Figure 5: the predicates of each pivot and operator, in segments {A, C, E} and {B, D}; the counter arrays."""
    _, lists = of_example(example, segments=2)
    names = [operator.name for operator in OPERATORS]
    contents = {}
    for number in range(len(lists.list_off) - 1):
        pivot = {0: None, **{place: "ABCDE"[slot] for slot, place in enumerate(lists.partition)}}[number // len(names)]
        segments = []
        for segment in range(lists.list_off[number], lists.list_off[number + 1]):
            part = slice(lists.seg_off[segment], lists.seg_off[segment + 1])
            predicates = []
            for key, place in zip(lists.key[part].tolist(), lists.place[part].tolist(), strict=True):
                slot, rank = key >> 32, key & (2**32 - 1)
                of_slot = example.slots[slot].constants
                value = of_slot.numbers[(rank - of_slot.first(1)) // 2]
                predicates.append(("ABCDE"[slot], value, int(lists.entry[place]) + 1))
            segments.append(predicates)
        if segments:
            contents[pivot, names[number % len(names)]] = segments
    assert contents == {
        ("A", "equal"): [[("A", 2, 1), ("A", 2, 4)], [("B", 3, 1), ("B", 6, 1), ("B", 9, 1)]],
        ("A", "at_most"): [[("A", 8, 2)]],
        ("A", "at_least"): [[("C", 2, 2)]],
        ("C", "equal"): [[("C", 6, 3)]],
        ("C", "at_most"): [[("E", 12, 3)], [("B", 4, 3)]],
        ("C", "at_least"): [[("E", 3, 3)]],
        ("D", "equal"): [[], [("B", 3, 6), ("B", 6, 6)]],
        ("D", "at_most"): [[("C", 4, 6), ("E", 7, 6), ("E", 9, 5)], []],
        ("D", "at_least"): [[], [("D", 10, 6), ("D", 12, 5)]],
    }
    # E BETWEEN 3 AND 12 is two predicates; B IN (3, 6, 9) is one clause, of which one disjunct is to hold.
    assert dict(zip((lists.entry + 1).tolist(), lists.needed.tolist(), strict=True)) == {
        1: 2,
        2: 2,
        4: 1,
        3: 4,
        5: 2,
        6: 4,
    }


def test_opindex_matches_the_example(example):
    """Example 5: of the event B = 6, C = 3, E = 9 only the lists of C are searched, and nothing matches."""
    tests, _ = of_example(example)
    subject = OpIndexFinder(tests)

    def ask(scratch, **event):
        pairs = [("ABCDE".index(name), value) for name, value in event.items()]
        return found_by(subject, [(slot, example.slots[slot].constants.rank(value)) for slot, value in pairs], scratch)

    scratch = subject.scratch()
    assert ask(scratch, B=6, C=3, E=9) == []
    touched = {int(subject.lists.entry[place]) for place in np.flatnonzero(scratch.state[:-1] >= EPOCH)}
    assert touched == {2}, "S_2 and S_5 hold in part, and are not looked at"
    assert ask(scratch, A=2, B=6) == [0, 3]
    assert ask(scratch, A=2, C=2) == [1, 3]
    assert ask(scratch, C=6, B=3, E=5) == [2]
    assert ask(scratch, C=6, B=5, E=5) == []
    assert ask(scratch, D=12, E=7, C=4, B=6) == [4, 5]


def test_opindex_signatures_tell_what_a_segment_has_not(example):
    """Equality: by attribute and value; other operators: by attribute (4.2)."""
    _, lists = of_example(example)
    for number in range(len(lists.list_off) - 1):
        operator = OPERATORS[number % len(OPERATORS)]
        for segment in range(lists.list_off[number], lists.list_off[number + 1]):
            keys = lists.key[lists.seg_off[segment] : lists.seg_off[segment + 1]].astype(np.uint64)
            slot, key = keys >> np.uint64(32), keys & np.uint64(2**32 - 1)
            bits = _bit(slot, key if operator.hashes_key else np.zeros_like(key))
            assert lists.signature[segment] == np.bitwise_or.reduce(np.uint64(1) << bits, initial=np.uint64(0))
    assert len(np.unique(_bit(np.arange(64, dtype=np.uint64), np.uint64(0)))) > 32


def test_opindex_takes_frequencies_that_are_known(example):
    tests, _ = of_example(example)
    frequency = np.array([9, 1, 5, 9, 2])  # B is rarest, then E, C
    assert pivots(tests, frequency).tolist() == [1, 2, 1, 0, 4, 1]
    subject = OpIndexFinder(tests, frequency)
    assert np.flatnonzero(subject.lists.partition > 0).tolist() == [0, 1, 2, 4]
    rng = random.Random(5)
    for _ in range(50):
        document = [(slot, rng.randrange(1, n)) for slot, n in enumerate(tests.n_ranks.tolist()) if rng.random() < 0.8]
        assert found_by(subject, document) == by_definition(tests, document)


def test_opindex_segments_are_powers_of_two_and_hold_whole_attributes():
    image = image_of(*(f"a = {n} AND b{n % 40} > {n}" for n in range(900)))
    lists = lists_of(rank_tests(image, np.ones(image.n_entries, np.bool_)))
    n_segments = np.diff(lists.list_off)
    assert set(n_segments.tolist()) <= {0, 1, 2, 4, 8, 16, 32}
    for number in range(len(n_segments)):
        for place in range(n_segments[number]):
            segment = lists.list_off[number] + place
            attributes = lists.key[lists.seg_off[segment] : lists.seg_off[segment + 1]] >> 32
            assert (attributes % n_segments[number] == place).all()
            assert (np.diff(lists.key[lists.seg_off[segment] : lists.seg_off[segment + 1]]) >= 0).all()


@pytest.mark.parametrize(
    ("condition", "operators"),
    [
        ("a = 3", ["equal"]),
        ("a IN (3, 5)", ["equal", "equal"]),
        ("a <= 3", ["at_most"]),
        ("a < 3", ["at_most"]),
        ("a > 3", ["at_least"]),
        ("a BETWEEN 3 AND 5", ["at_least", "at_most"]),
        ("a != 3", ["everything_but"]),
        ("a >= 'x'", ["at_least"]),
        ("a NOT IN (3, 5)", ["within"]),
        ("a IS NOT NULL", ["within"]),
        ("a = 'x' OR a = 3", ["equal", "equal"]),
        ("a IS NULL", ["within"]),
        ("(a = 3) IS NOT TRUE", ["equal"]),
        ("(a <= 3) IS NOT TRUE", ["at_most"]),
        ("(a NOT IN (3, 5)) IS NOT TRUE", ["within"]),
    ],
)
def test_opindex_operators(condition, operators):
    image = profilec.compile(
        {"p": condition, "q": "a IN (1, 3, 4, 5, 7)", "r": "a = 'x'"}, options={"matcher": "scan"}
    )._image
    own = np.arange(image.n_entries) == 0
    tests = rank_tests(image, own)
    lists = lists_of(tests)
    n_predicates = np.diff(lists.seg_off[lists.list_off]).reshape(-1, len(OPERATORS)).sum(axis=0)
    found = [op.name for op, n in zip(OPERATORS, n_predicates.tolist(), strict=True) for _ in range(n)]
    assert sorted(set(found)) == sorted(set(operators))
    if "within" not in operators:
        assert sorted(found) == sorted(operators)
    for rank in range(1, int(tests.n_ranks[0])):
        assert found_by(OpIndexFinder(tests), [(0, rank)]) == by_definition(tests, [(0, rank)])


def test_opindex_each_rank_finds_one_predicate_of_a_clause_that_it_is_in():
    rng = random.Random(21)
    image = profilec.compile(conditions(rng, 300), options={"rules": "none"})._image
    tests = rank_tests(image, np.ones(image.n_entries, np.bool_))
    clauses, test_of = _clauses(tests)
    left = np.ones(len(test_of), np.bool_)
    for operator in OPERATORS:
        taken = left & operator.takes(clauses)
        left &= ~taken
        found = operator.predicates(clauses, taken)
        assert set(found.clause.tolist()) <= set(np.flatnonzero(taken).tolist())
        assert set(found.clause.tolist()) == set(np.flatnonzero(taken & (np.diff(clauses.off) > 0)).tolist())
    assert not left.any()
    first, last = _kind_of(tests.bounds, np.zeros(3, np.int32), np.array([0, 1, 2], np.int32))
    assert (first <= [0, 1, 2]).all()
    assert (last >= [0, 1, 2]).all()
