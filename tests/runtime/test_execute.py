"""An image at work: both matchers, single and batch, against the definition read off the image."""

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

import profilec.runtime.encode as encode_module
import profilec.runtime.indexes.interval as interval_module
from profilec.planner.lower import with_tree
from profilec.runtime.batch import MatchBatch
from profilec.runtime.execute import Executor
from profilec.runtime.image import (
    OP_JOIN,
    OP_JOIN_NOT,
    OP_JUMP_IF_FALSE,
    OP_JUMP_IF_TRUE,
    OP_SET,
    OP_TEST,
    WANT_FALSE,
    WANT_NOT_FALSE,
    WANT_NOT_TRUE,
    WANT_TRUE,
)
from profilec.runtime.matchers.by_name import MATCHERS
from profilec.runtime.program import JoinTerm, run
from profilec.runtime.store.documents import DocumentStore
from profilec.values.kinds import DocumentError
from profilec.values.patterns import like_matches, parse_like

HOLDS = {
    WANT_TRUE: lambda truth: truth is True,
    WANT_FALSE: lambda truth: truth is False,
    WANT_NOT_TRUE: lambda truth: truth is not True,
    WANT_NOT_FALSE: lambda truth: truth is not False,
}


def definition(image, document, store=()):
    """The matching profiles, by reading the image entry by entry as its docstring says."""

    def test_holds(test):
        if test < image.n_tests:
            slot = image.slots[image.test_slot[test]]
            rank = slot.constants.rank(run(slot.program, document))
            span = range(image.test_off[test], image.test_off[test + 1])
            return any(image.test_low[i] <= rank <= image.test_high[i] for i in span)
        bit = test - image.n_tests
        return HOLDS[image.bit_want[bit]](truth_of(image.bit_kind[bit], image.bit_source[bit]))

    def truth_of(kind, source):
        if kind == 1:
            return run(image.terms[source], document)
        pattern = image.patterns[source]
        text = run(image.slots[pattern.slot].program, document)
        if not isinstance(text, str):
            return None
        return bool(like_matches(pattern.like, text) if pattern.like else re2.search(pattern.regex, text))

    def join_holds(join):
        truths = [run(join.body, document, old) is True for old in store]
        return any(truths) if join.kind == "exists" else all(truths)

    def residual_holds(residual):
        rows = image.residual_code[image.residual_off[residual] : image.residual_off[residual + 1]].tolist()
        row, register = 0, False
        while row < len(rows):
            op, argument = rows[row]
            row += 1
            if op == OP_TEST:
                register = test_holds(argument)
            elif op == OP_JOIN:
                register = join_holds(image.joins[argument])
            elif op == OP_JOIN_NOT:
                register = not join_holds(image.joins[argument])
            elif (op == OP_JUMP_IF_FALSE and not register) or (op == OP_JUMP_IF_TRUE and register):
                row = argument
            elif op == OP_SET:
                register = bool(argument)
        return register

    found = set()
    for entry in range(image.n_entries):
        tests = image.entry_tests[image.entry_off[entry] : image.entry_off[entry + 1]]
        residual = image.entry_residual[entry]
        if all(map(test_holds, tests)) and (residual < 0 or residual_holds(residual)):
            found.update(
                image.entry_profiles[image.entry_profile_off[entry] : image.entry_profile_off[entry + 1]].tolist()
            )
    return sorted(found)


def random_intervals(rng, n_ranks):
    """Sorted disjoint closed intervals; none at all now and then, and often one that NULL satisfies."""
    cuts = sorted(rng.sample(range(n_ranks + 1), min(n_ranks + 1, 2 * rng.randint(0, 3))))
    return [(low, high - 1) for low, high in zip(cuts[::2], cuts[1::2], strict=False)]


def attribute(name, scope=0):
    return ("attribute", scope, (name,), None)


def random_image(rng, new_builder, slots):
    builder = new_builder()
    n_slots = rng.choice([1, 3, 40])
    for number in range(n_slots):
        values = rng.sample([0, 1, 2, 3, 0.5, "a", "b", "ab", True], rng.randint(0, 5))
        if number % 3 == 2:
            program = (attribute(f"a{number}"), ("constant", 1), ("call", "COALESCE", 2))
            builder.slot(slots.derived(f"d{number}", program, *values))
        else:
            builder.slot(slots.plain(f"a{number}", *values))
    tests = []
    for _ in range(rng.randint(1, 30)):
        slot = rng.randrange(n_slots)
        tests.append(builder.rank_test(slot, random_intervals(rng, builder.slots[slot].constants.n_ranks)))
    for _ in range(rng.randint(0, 5)):
        slot, want = rng.randrange(n_slots), rng.randrange(4)
        if rng.random() < 0.5:
            tests.append(builder.pattern_test(slot, want, like=parse_like(rng.choice(["%ab%", "a_", "%a%", "%"]))))
        else:
            tests.append(builder.pattern_test(slot, want, regex=rng.choice(["ab", "a+$", "[ab]b", "b|a"])))
    for _ in range(rng.randint(0, 4)):
        left, right = rng.randrange(n_slots), rng.randrange(n_slots)
        program = (attribute(f"a{left}"), attribute(f"a{right}"), ("compare", rng.choice(["=", "<", "!="])))
        tests.append(builder.term_test(program, rng.randrange(4)))
        tests.append(builder.term_test(program, rng.randrange(4), len(builder.terms) - 1))
    for kind in ("exists", "forall"):
        name = f"a{rng.randrange(n_slots)}"
        body = (attribute(name), attribute(name, 1), ("compare", rng.choice(["=", "<"])))
        builder.join(JoinTerm(kind, body))
    for _ in range(rng.randint(0, 4)):
        n_rows = rng.randint(1, 7)
        rows = []
        for row in range(n_rows):
            op = rng.randrange(6)
            argument = {OP_TEST: rng.choice(tests), OP_SET: rng.randrange(2)}.get(op, rng.randrange(2))
            if op in (OP_JUMP_IF_FALSE, OP_JUMP_IF_TRUE):
                argument = rng.randint(row + 1, n_rows)
            rows.append((op, argument))
        builder.residual(rows)
    n_profiles = rng.randint(1, 12)
    for _ in range(rng.randint(0, 25)):
        chosen = rng.sample(tests, min(len(tests), rng.choice([0, 1, 1, 2, 3, 6])))
        residual = rng.randrange(-1, len(builder.residuals)) if rng.random() < 0.5 else -1
        builder.entry(chosen, rng.sample(range(n_profiles), rng.randint(1, min(3, n_profiles))), residual)
    return builder.image(n_profiles)


def executors(image):
    """All matchers; of the tree, all forms of leaves and several capacities."""
    for matcher in ("access", "bitmap", "counting", "opindex", "scan"):
        yield Executor(image, matcher)
    for leaves in ("any", "list", "matrix"):
        for max_cap in (None, 1, 2, 5):
            yield Executor(with_tree(image, max_cap, leaves))


def random_document(rng, n_names=40):
    values = [0, 1, 2, 3, 1.0, 0.5, 4, "a", "b", "ab", "abb", "", True, False, None, [], float("nan")]
    names = range(n_names) if rng.random() < 0.3 else [rng.randrange(n_names) for _ in range(4)] + [0, 1, 2]
    return {f"a{number}": rng.choice(values) for number in names}


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_every_way_gives_what_the_image_says(seed, new_builder, slots):
    rng = random.Random(seed)
    image = random_image(rng, new_builder, slots)
    documents = [random_document(rng) for _ in range(8)]
    store = [random_document(rng) for _ in range(3)]
    expected = [definition(image, document, store) for document in documents]
    for executor in executors(image):
        assert [executor.match(document, store).tolist() for document in documents] == expected
        assert [executor.count(document, store) for document in documents] == list(map(len, expected))
        assert [executor.any(document, store) for document in documents] == list(map(bool, expected))
        frame = pd.DataFrame({f"a{n}": pd.Series([d.get(f"a{n}") for d in documents], dtype=object) for n in range(40)})
        for batch in (documents, iter(documents), frame):
            found = MatchBatch(*executor.match_batch(batch, DocumentStore(store)), [str(n) for n in range(12)])
            assert [list(map(int, ids)) for ids in found] == expected


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_cells_collected_on_demand_give_the_same(seed, new_builder, slots):
    """What dense interval indexes and tiny caches do is done here for every slot."""
    rng = random.Random(seed)
    kept = interval_module.MAX_REPETITION, interval_module._STORED_FROM, interval_module._KEPT_ENTRIES
    interval_module.MAX_REPETITION, interval_module._STORED_FROM, interval_module._KEPT_ENTRIES = 0, 1, 3
    try:
        image = random_image(rng, new_builder, slots)
        executor = Executor(image, "bitmap")
        for document in [random_document(rng) for _ in range(8)]:
            assert executor.match(document).tolist() == definition(image, document)
    finally:
        interval_module.MAX_REPETITION, interval_module._STORED_FROM, interval_module._KEPT_ENTRIES = kept


@pytest.mark.parametrize("matcher", MATCHERS)
@pytest.mark.parametrize("threads", [None, 1, 3])
def test_chunks_and_threads_change_nothing(matcher, threads, new_builder, slots, monkeypatch):
    monkeypatch.setattr(encode_module, "_MAX_ROWS", 7)
    rng = random.Random(5)
    image = random_image(rng, new_builder, slots)
    documents = [random_document(rng) for _ in range(50)]
    executor = Executor(with_tree(image), matcher)
    offsets, indices = executor.match_batch(documents, threads=threads)
    assert (offsets.dtype, indices.dtype) == (np.int64, np.int32)
    found = [indices[offsets[n] : offsets[n + 1]].tolist() for n in range(50)]
    assert found == [definition(image, document) for document in documents]


def test_arrow_rows_reach_patterns_terms_and_joins(builder, slots):
    text = builder.slot(slots.plain("text"))
    folded = builder.slot(slots.derived("FOLD(text)", (attribute("text"), ("call", "FOLD", 1))))
    smaller = (attribute("low"), attribute("high"), ("compare", "<"))
    builder.entry([builder.pattern_test(text, WANT_TRUE, regex="^A")], [0])
    builder.entry([builder.pattern_test(folded, WANT_TRUE, like=parse_like("%bc%"))], [1])
    builder.entry([builder.pattern_test(text, WANT_FALSE, regex="^A")], [2])
    builder.entry([builder.term_test(smaller, WANT_TRUE)], [3])
    seen = builder.join(JoinTerm("exists", (attribute("low"), attribute("low", 1), ("compare", "="))))
    builder.entry([], [4], builder.residual([(OP_JOIN, seen)]))
    image = builder.image(5)
    table = pa.table(
        {"text": ["Abc", "xBC", None], "low": [1, 2, 3], "high": [2.5, 0.5, None], "blob": [b"", b"", b""]}
    )
    for executor in executors(image):
        offsets, indices = executor.match_batch(table, [{"low": 2.0}])
        assert [part.tolist() for part in np.split(indices, offsets[1:-1])] == [[0, 1, 3], [1, 2, 4], []]


def test_terms_patterns_and_joins_are_decided_once_per_document(builder, slots, monkeypatch):
    import profilec.runtime.decide as decide_module
    from profilec.runtime.joins.table import JoinTable
    from profilec.runtime.patterns import PatternSet

    calls = []
    monkeypatch.setattr(decide_module, "run", lambda *a, **k: calls.append("term") or run(*a, **k))
    decide = JoinTable.decide
    monkeypatch.setattr(JoinTable, "decide", lambda *a: calls.append("join") or decide(*a))
    matches = PatternSet.matches
    monkeypatch.setattr(PatternSet, "matches", lambda self, text: calls.append("pattern") or matches(self, text))
    slot = builder.slot(slots.plain("s"))
    term = (attribute("s"), ("constant", "x"), ("compare", "="))
    tests = [builder.term_test(term, WANT_TRUE), builder.term_test(term, WANT_NOT_FALSE, 0)]
    tests += [builder.pattern_test(slot, want, regex="x") for want in (WANT_TRUE, WANT_NOT_FALSE)]
    join = builder.join(JoinTerm("exists", (("literal", True),)))
    for test in tests:
        builder.entry([test], [0], builder.residual([(OP_TEST, test), (OP_JUMP_IF_FALSE, 3), (OP_JOIN, join)]))
    assert Executor(with_tree(builder.image(1))).match({"s": "x"}, [{}]).tolist() == [0]
    assert sorted(calls) == ["join", "pattern", "term"]


def test_a_join_nobody_asks_for_is_not_evaluated(builder, slots):
    slot = builder.slot(slots.plain("s", "x"))
    explosive = builder.join(JoinTerm("exists", (("call", "no such function", 0),)))
    rare = builder.rank_test(slot, [(slots.plain("s", "x").constants.rank("x"),) * 2])
    builder.entry([rare], [0], builder.residual([(OP_JOIN, explosive)]))
    executor = Executor(with_tree(builder.image(1)))
    assert executor.match({"s": "y"}, [{}]).tolist() == []
    with pytest.raises(KeyError):
        executor.match({"s": "x"}, [{}])


def test_an_empty_set_and_an_entry_without_tests(new_builder):
    builder = new_builder()
    builder.entry([], [1, 0])
    for nothing, everything in zip(executors(new_builder().image(0)), executors(builder.image(2)), strict=True):
        assert nothing.match({"a": 1}).tolist() == []
        assert nothing.match_batch([{"a": 1}, {}])[0].tolist() == [0, 0, 0]
        assert everything.match({}).tolist() == [0, 1]
        assert everything.match_batch([])[0].tolist() == [0]


def test_unknown_matcher_and_bad_documents(builder):
    image = builder.image(0)
    with pytest.raises(
        ValueError, match="no matcher 'nope'; there are access, betree, bitmap, counting, opindex, scan"
    ):
        Executor(image, "nope")
    with pytest.raises(DocumentError, match="a document is a mapping"):
        Executor(image, "scan").match([1])


def test_several_threads_share_an_executor(new_builder, slots):
    rng = random.Random(11)
    image = random_image(rng, new_builder, slots)
    documents = [random_document(rng) for _ in range(200)]
    expected = [definition(image, document) for document in documents]
    executor = Executor(with_tree(image))
    with ThreadPoolExecutor(4) as pool:
        assert [found.tolist() for found in pool.map(executor.match, documents)] == expected
