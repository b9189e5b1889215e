"""Documents of sets: every matcher and every form of the tree, against all values that a set may hold, one by one."""

import datetime
import operator
import random
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import profilec
from profilec import Between, DocumentError, OneOf
from profilec.planner.lower import with_tree
from profilec.runtime.overlap import Overlap

MATCHERS = ("betree", "betree:list", "betree:matrix", "bitmap", "opindex", "scan")
TREES = [(cap, leaves) for cap in (1, 2, 3, 7, None) for leaves in ("any", "list", "matrix")]
ATTRIBUTES = "abc"
STEPS = [step / 2 for step in range(-2, 14)]
"""Constants are whole, 0 .. 5; so every rank has one of these."""


def compiled(profiles, matcher="scan", **arguments):
    return profilec.compile(profiles, options={"matcher": matcher}, **arguments)


def overlapped(profiles, document):
    return profiles.match(document, semantics="overlap")


# What a predicate says of one value; None is absence.
PREDICATES = {
    "{} = {}": lambda value, constant: value == constant,
    "{} != {}": lambda value, constant: value is not None and value != constant,
    "{} < {}": lambda value, constant: value is not None and operator.lt(value, constant),
    "{} >= {}": lambda value, constant: value is not None and operator.ge(value, constant),
    "{} IN ({}, 5)": lambda value, constant: value in (constant, 5),
    "{} NOT IN ({}, 2)": lambda value, constant: value is not None and value not in (constant, 2),
    "{} BETWEEN {} AND 4": lambda value, constant: value is not None and constant <= value <= 4,
    "{} IS NULL": lambda value, _: value is None,
    "{} IS NOT NULL": lambda value, _: value is not None,
    "({} = {}) IS NOT TRUE": lambda value, constant: value != constant,
}


def text_of(profile):
    parts = [form.format(name, constant) for name, tests in profile.items() for form, constant in tests]
    return " AND ".join(parts) or "TRUE"


def values_of(given):
    """The values of a set that are told apart by some profile."""
    if isinstance(given, OneOf):
        return list(given.values)
    if not isinstance(given, Between):
        return [given]
    low = STEPS[0] if given.low is None else given.low
    high = STEPS[-1] if given.high is None else given.high
    return [low, high, *(step for step in STEPS if low < step < high)]


def expected(profile, document):
    return all(
        any(
            all(PREDICATES[form](value, constant) for form, constant in tests)
            for value in values_of(document.get(name))
        )
        for name, tests in profile.items()
    )


NUMBERS = st.integers(-4, 24).map(lambda quarters: quarters / 4)
BETWEEN = st.tuples(NUMBERS, NUMBERS).map(lambda pair: Between(min(pair), max(pair)))
OPEN = st.builds(lambda bound, is_low: Between(bound, None) if is_low else Between(None, bound), NUMBERS, st.booleans())
VALUES = st.one_of(NUMBERS, BETWEEN, OPEN, st.lists(st.none() | NUMBERS, min_size=1, max_size=5).map(OneOf), st.none())
TESTS = st.lists(st.tuples(st.sampled_from(sorted(PREDICATES)), st.integers(0, 5)), min_size=1, max_size=2)
PROFILES = st.lists(st.dictionaries(st.sampled_from(ATTRIBUTES), TESTS), min_size=1, max_size=40)
DOCUMENTS = st.lists(st.dictionaries(st.sampled_from(ATTRIBUTES), VALUES), min_size=1, max_size=6)


@settings(deadline=None, max_examples=60)
@given(PROFILES, DOCUMENTS)
def test_every_matcher_and_tree_finds_what_some_value_of_each_set_satisfies(profiles, documents):
    image = compiled({str(number): text_of(profile) for number, profile in enumerate(profiles)})._image
    matchers = [Overlap(image, with_tree=False)]
    matchers += [Overlap(with_tree(image, cap, leaves), with_tree=True) for cap, leaves in TREES]
    for document in documents:
        right = [number for number, profile in enumerate(profiles) if expected(profile, document)]
        for matcher in matchers:
            assert matcher.match(document).tolist() == right


@pytest.mark.parametrize("cap", [1, 4, 30])
@pytest.mark.parametrize("leaves", ["list", "matrix"])
def test_in_a_deep_tree(cap, leaves):
    drawn = random.Random(20)

    def condition():
        of_slots = []
        for name in drawn.sample("abcdefgh", drawn.randint(1, 4)):
            low = drawn.randrange(200)
            form = drawn.choice(["{0} = {1}", "{0} BETWEEN {1} AND {2}", "{0} IN ({1}, {2}, {3})", "{0} != {1}"])
            of_slots.append(form.format(name, low, low + drawn.randrange(1, 60), low + 90))
        return " AND ".join(of_slots)

    def value():
        low = drawn.randrange(200)
        sets = [low, Between(low, low + drawn.randrange(40)), Between(low, None)]
        return drawn.choice([*sets, OneOf(drawn.sample(range(250), 5))])

    image = with_tree(compiled({str(number): condition() for number in range(1500)})._image, cap, leaves)
    assert image.tree.n_nodes > 30
    assert (len(image.tree.words) > 0) == (leaves == "matrix")
    tree, plain = Overlap(image, with_tree=True), Overlap(replace(image, tree=None), with_tree=False)
    n_found = 0
    for _ in range(60):
        document = {name: value() for name in drawn.sample("abcdefgh", drawn.randint(0, 8))}
        right = plain.match(document).tolist()
        assert tree.match(document).tolist() == right
        n_found += len(right)
    assert n_found > 1000


@pytest.mark.parametrize("matcher", MATCHERS)
def test_two_predicates_on_an_attribute_ask_for_one_value(matcher):
    profiles = compiled({"p": "a > 1 AND a != 3", "same": "a != 3 AND a > 1", "other": "a > 1"}, matcher)
    assert overlapped(profiles, {"a": OneOf([1, 3])}) == ["other"]
    assert overlapped(profiles, {"a": Between(3, 4)}) == ["p", "same", "other"]


@pytest.mark.parametrize("matcher", MATCHERS)
def test_absence_and_null_among_the_values(matcher):
    profiles = compiled({"absent": "a IS NULL", "there": "a IS NOT NULL", "all": "TRUE"}, matcher)
    assert overlapped(profiles, {}) == ["absent", "all"]
    assert overlapped(profiles, {"a": None, "x": Between(1, 2)}) == ["absent", "all"]
    assert overlapped(profiles, {"a": Between(None, 2)}) == ["there", "all"]
    assert overlapped(profiles, {"a": OneOf([None, "x"])}) == ["absent", "there", "all"]
    assert overlapped(profiles, {"a": [1]}) == ["there", "all"]


@pytest.mark.parametrize("matcher", MATCHERS)
def test_an_or_about_one_attribute_is_one_predicate(matcher):
    profiles = compiled({"p": "a < 3 OR a > 10 AND a != 12", "equal": "a > 10 AND a != 12 OR a < 3"}, matcher)
    assert overlapped(profiles, {"a": Between(3, 10)}) == []
    assert overlapped(profiles, {"a": OneOf([5, 12])}) == []
    assert overlapped(profiles, {"a": Between(3, 11)}) == ["p", "equal"]


def test_count_and_any_too():
    profiles = compiled({"low": "a < 5", "high": "a > 5"}, "betree")
    assert profiles.count({"a": Between(4, 6)}, semantics="overlap") == 2
    assert profiles.any({"a": Between(4, 5)}, semantics="overlap")
    assert not profiles.any({"a": 5}, semantics="overlap")


def test_a_set_that_was_saved(tmp_path):
    profiles = compiled({"p": "a > 1 AND a < 5 AND a != 3 AND b = 'x'"}, "betree")
    profiles.save(tmp_path / "set.image")
    loaded = profilec.load(tmp_path / "set.image")
    assert overlapped(loaded, {"a": Between(3, 4), "b": OneOf(["xy"])}) == []
    assert overlapped(loaded, {"a": Between(3, 4), "b": OneOf(["y", "x"])}) == ["p"]


DAY = datetime.date(2024, 5, 1)
AT = datetime.datetime(2024, 5, 1, 12, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("condition", "schema", "nothing_there", "something_there"),
    [
        ("a > DATE '2024-05-01' AND a < DATE '2024-05-02'", None, Between(DAY, datetime.date(2024, 5, 2)), None),
        (
            "a NOT IN (DATE '2024-05-01', DATE '2024-05-02')",
            None,
            Between(DAY, datetime.date(2024, 5, 2)),
            Between(DAY, datetime.date(2024, 5, 3)),
        ),
        ("a > DATE '2024-05-01' AND a < DATE '2024-05-03'", None, DAY, Between(DAY, datetime.date(2024, 5, 3))),
        (
            "a > TIMESTAMP '2024-05-01T12:00:00Z' AND a < TIMESTAMP '2024-05-01T12:00:00.000000001Z'",
            None,
            Between(AT, None),
            None,
        ),
        ("a > 5 AND a < 6", "a INTEGER", Between(5, 6), None),
        ("a > 5 AND a < 6", "a NUMBER", Between(6, 7), Between(5, 6)),
        ("a > 5 AND a < 6", None, OneOf([5, 6]), Between(5, 6)),
        ("a > 5 AND a < 7", "a INTEGER", Between(6.5, 9), Between(5.5, 6.5)),
        ("a > 5.2 AND a < 5.8", "a INTEGER", Between(5, 6), None),
        ("a > 'x' AND a < 'y'", None, Between("y", "z"), Between("x", "xa")),
        ("a < ''", None, Between(None, "b"), None),
        ("a > 0.1", None, Between(0, 0.1), Between(0, 0.10000000000000002)),
        ("a > 9007199254740992", None, Between(0, 2.0**53), Between(0, 2**53 + 1)),
        ("a = DATE '2024-05-01'", "a DATE", Between("2024-05-02", None), Between("2024-04-30", "2024-05-01")),
        ("a < 0", None, Between(0, float("inf")), Between(float("-inf"), 0)),
        ("a = 5", None, Between("4", "6"), OneOf(["4", 5.0])),
        ("a LIKE 'ab%'", None, Between("ac", None), Between("aa", "abb")),
    ],
)
def test_gaps_hold_only_what_values_there_are(condition, schema, nothing_there, something_there):
    for matcher in ("betree", "scan"):
        profiles = compiled({"p": condition}, matcher, schema=schema)
        assert overlapped(profiles, {"a": nothing_there}) == []
        if something_there is not None:
            assert overlapped(profiles, {"a": something_there}) == ["p"]


def test_paths_lead_to_sets():
    profiles = compiled({"p": "a.b > 5"}, "betree")
    assert overlapped(profiles, {"a": {"b": Between(4, 6)}}) == ["p"]
    assert overlapped(profiles, {"a.b": Between(4, 6)}) == ["p"]
    assert overlapped(profiles, {"a.b": None, "a": {"b": OneOf([1, 6])}}) == ["p"]
    assert overlapped(profiles, {"a.b": 1, "a": {"b": OneOf([1, 6])}}) == []
    assert overlapped(profiles, {"a": Between(4, 6)}) == []
    with pytest.raises(DocumentError, match=r"attribute 'a\.b': a set of records"):
        overlapped(profiles, {"a": OneOf([{"b": 4}, {"b": 6}])})


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("(p = 1 OR b = 'x') AND p = 2", "has an OR"),
        ("p = 1 OR b = 'x'", "has an OR"),
        ("NOT (p = 1 AND b = 'x')", "has an OR"),
        ("p / 2 > 3", "expression"),
        ("p < q", "expression"),
        ("LOWER(b) = 'x' AND b = 'X'", "expression"),
        ("b LIKE '%x%'", "pattern"),
        ("b MATCHES 'x+'", "pattern"),
        ("ANY(t) = 1", "array"),
        ("p = 1 AND EXISTS d (d.p > p)", "earlier documents"),
        ("a.b != 1 AND `a.b` != 2", "one attribute in two ways"),
    ],
)
def test_what_is_no_conjunction_is_refused_by_name(condition, reason):
    profiles = compiled({"fine": "p = 1", "never": "p = NULL", "odd": condition, "good": "p = 2"}, "betree")
    with pytest.raises(ValueError, match=f"'odd' .*{reason}") as caught:
        overlapped(profiles, {})
    assert "'fine'" not in str(caught.value)
    assert not isinstance(caught.value, DocumentError)


def test_a_refusal_names_the_first_and_counts_the_rest():
    profiles = compiled({str(number): f"b LIKE '%{number}%'" for number in range(1003)}, "betree")
    with pytest.raises(ValueError, match=r"'0' .*'1' .*'2' \(.*\), and 1,000 more$"):
        overlapped(profiles, {})


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (Between(3, 1), "low is above high"),
        (Between(float("nan"), 1), "not NaN"),
        (Between(1, pd.NaT), "not NaN"),
        (Between(1, "2"), "a NUMBER and a STRING"),
        (Between(DAY, AT), "a DATE and a TIMESTAMP"),
        (Between(False, True), "not a boolean"),
        (Between([1], None), "not an array"),
        (Between(None, None), "no bound"),
        (Between(b"a", b"b"), "bytes is no number"),
        (OneOf([]), "without values"),
        (OneOf([1, Between(1, 2)]), "Between within OneOf"),
        (OneOf([b"a"]), "bytes is no number"),
        (b"a", "bytes is no number"),
    ],
)
def test_what_is_no_set_is_refused(value, message):
    with pytest.raises(DocumentError, match=f"^attribute 'a': .*{message}"):
        overlapped(compiled({"p": "a > 1"}), {"a": value})


def test_an_integer_attribute_has_no_fractions():
    with pytest.raises(DocumentError, match="no whole number"):
        overlapped(compiled({"p": "a > 1"}, schema="a INTEGER"), {"a": Between(5.2, 5.8)})


@pytest.mark.parametrize("values", ["abc", b"abc", {"a": 1}, 5])
def test_one_of_takes_a_list(values):
    with pytest.raises(TypeError, match="OneOf takes a list"):
        OneOf(values)


@pytest.mark.parametrize("value", [Between(1, 2), OneOf([1])])
@pytest.mark.parametrize("matcher", MATCHERS)
def test_point_semantics_takes_no_sets(value, matcher):
    profiles = compiled({"p": "a > 1", "q": "b / 2 > 1"}, matcher)
    for name in "ab":
        for ask in (profiles.match, profiles.count, profiles.any, profiles.process):
            with pytest.raises(DocumentError, match=rf"attribute '{name}'.*semantics=\"overlap\""):
                ask({name: value})
        with pytest.raises(DocumentError, match=rf"document 1: attribute '{name}'.*semantics=\"overlap\""):
            profiles.match_batch([{}, {name: value}])
        with pytest.raises(DocumentError):
            profiles.match_batch(pd.DataFrame({name: [value]}, dtype=object))
    assert profiles.match({"a": 2, "c": value}) == ["p"]


def test_other_semantics_are_refused():
    with pytest.raises(ValueError, match="'point' or 'overlap', not 'intersect'"):
        compiled({"p": "a > 1"}).match({}, semantics="intersect")
    with pytest.raises(DocumentError, match="a document is a mapping"):
        overlapped(compiled({"p": "a > 1"}), [1])
