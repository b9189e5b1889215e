"""EXISTS and FORALL by their definition: range, scope, UNKNOWN in the body."""

import datetime

import pytest

from profilec.runtime.joins.nested_loop import decide, in_scope
from profilec.runtime.program import JoinTerm
from profilec.runtime.store.documents import DocumentStore
from profilec.values.kinds import Interval, Timestamp
from profilec.values.types import Type


def compared(operator, name="x"):
    """new.name operator old.name"""
    return (("attribute", 0, (name,), None), ("attribute", 1, (name,), None), ("compare", operator))


def ids(term, document, store):
    return [old["id"] for old in in_scope(term, document, store)]


@pytest.mark.parametrize(
    ("olds", "exists", "forall"),
    [
        ([], False, True),
        ([1], False, False),
        ([5], True, True),
        ([1, 5], True, False),
        ([None], False, False),  # an UNKNOWN spoils FORALL
        ([5, None], True, False),
        ([5, "a"], True, False),
    ],
)
def test_a_quantifier_is_never_unknown(olds, exists, forall):
    store = [{"x": old} for old in olds]
    assert decide(JoinTerm("exists", compared("<")), {"x": 3}, store) is exists
    assert decide(JoinTerm("forall", compared("<")), {"x": 3}, store) is forall


def test_no_store_is_an_empty_one():
    assert decide(JoinTerm("exists", (("literal", True),)), {}, None) is False
    assert decide(JoinTerm("forall", (("literal", False),)), {}, None) is True


def test_absent_new_attribute_is_still_decided():
    assert decide(JoinTerm("forall", compared("=")), {}, []) is True
    assert decide(JoinTerm("forall", compared("=")), {}, [{"x": 1}]) is False


def test_where_keeps_what_is_true_only():
    term = JoinTerm("exists", (("literal", True),), where=compared("="))
    store = [{"id": 0, "x": 1}, {"id": 1}, {"id": 2, "x": 2}, {"id": 3, "x": "1"}]
    assert ids(term, {"x": 1}, store) == [0]
    assert ids(term, {}, store) == []


@pytest.mark.parametrize(("last", "expected"), [(0, []), (1, [2]), (2, [1, 2]), (3, [0, 1, 2]), (9, [0, 1, 2])])
def test_last_takes_the_newest(last, expected):
    store = DocumentStore([{"id": number} for number in range(3)])
    assert ids(JoinTerm("exists", (("literal", True),), last=last), {}, store) == expected


def test_last_then_within_then_where():
    """Were WHERE or WITHIN asked first, LAST 2 would reach back to document 0."""
    day = datetime.date(2024, 5, 10)
    store = [
        {"id": 0, "x": 1, "t": day},
        {"id": 1, "x": 1, "t": day - datetime.timedelta(days=30)},
        {"id": 2, "x": 2, "t": day},
    ]
    scope = {"where": compared("="), "within": Interval(0, 7, 0), "within_of": ("t",), "last": 2}
    assert ids(JoinTerm("exists", (("literal", True),), **scope), {"x": 1, "t": day}, store) == []
    assert ids(JoinTerm("exists", (("literal", True),), **{**scope, "last": 3}), {"x": 1, "t": day}, store) == [0]


NOON = datetime.datetime(2024, 3, 31, 12, tzinfo=datetime.UTC)
HOUR = datetime.timedelta(hours=1)


@pytest.mark.parametrize(
    ("new", "old", "interval", "inside"),
    [
        (NOON, NOON, Interval(0, 1, 0), True),
        (NOON, NOON - 24 * HOUR, Interval(0, 1, 0), True),  # both ends belong to the range
        (NOON, NOON - 25 * HOUR, Interval(0, 1, 0), False),
        (NOON, NOON + HOUR, Interval(0, 1, 0), False),  # a later document is not within the past week
        (NOON, datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.UTC), Interval(1, 0, 0), True),  # clamped month
        (NOON, datetime.datetime(2024, 2, 29, 11, tzinfo=datetime.UTC), Interval(1, 0, 0), False),
        (NOON, None, Interval(0, 1, 0), False),
        (None, NOON, Interval(0, 1, 0), False),
        (NOON, NOON.date(), Interval(0, 1, 0), False),  # a date and a timestamp do not compare
        (NOON.date(), NOON.date(), Interval(0, 1, 0), True),
        (NOON.date(), NOON.date(), Interval(0, 0, 1), False),  # a date less a nanosecond is a timestamp
        (5, 5, Interval(0, 1, 0), False),
        ("2024-03-31", "2024-03-31", Interval(0, 1, 0), False),
        (datetime.date(1, 1, 5), datetime.date(1, 1, 5), Interval(1, 0, 0), False),  # there is no month before
    ],
)
def test_within(new, old, interval, inside):
    term = JoinTerm("exists", (("literal", True),), within=interval, within_of=("t",))
    assert decide(term, {"t": new}, [{"t": old}]) is inside


def test_within_reads_both_sides_as_the_schema_says():
    scope = {"within": Interval(0, 1, 0), "within_of": ("m", "t"), "within_type": Type("TIMESTAMP")}
    term = JoinTerm("exists", (("literal", True),), **scope)
    assert decide(term, {"m": {"t": "2024-03-31 12:00"}}, [{"m": {"t": Timestamp(1_711_886_400 * 10**9)}}]) is True
    assert decide(term, {"m": {"t": "2024-03-31 12:00"}}, [{"m": {"t": "2024-03-30 11:59"}}]) is False
