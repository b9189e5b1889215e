"""Tokens: any value that a compiled set holds comes back, type by type; no other text is taken."""

import contextlib
import datetime
import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profilec.runtime.imagefile.tokens import NotKeptError, dumps, loads
from profilec.runtime.program import JoinTerm
from profilec.values.kinds import Date, Interval, Timestamp
from profilec.values.patterns import LikePattern, Wildcard, parse_like
from profilec.values.types import Field, Schema, Type

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=8)
NUMBERS = (
    st.integers()
    | st.integers(-(10**1000), 10**1000)
    | st.decimals(allow_nan=False)
    | st.floats(allow_nan=False)
    | st.sampled_from([2**63, -(2**63), -(2**63) - 1, Decimal("-0"), Decimal("1E+900"), Decimal("0.10"), -0.0])
)
SCALARS = (
    st.none()
    | st.booleans()
    | NUMBERS
    | ANY_TEXT
    | st.builds(Date, st.integers())
    | st.builds(Timestamp, st.integers())
    | st.builds(Interval, st.integers(), st.integers(), st.integers())
    | st.builds(lambda text: LikePattern(parse_like(text).elements), ANY_TEXT)
    | st.builds(lambda element: Type("ARRAY", Type(element)), ANY_TEXT)
    | st.dates()
    | st.datetimes().map(lambda time: time.replace(fold=0))
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(ANY_TEXT, inner, max_size=3)
        | st.frozensets(ANY_TEXT, max_size=3)
        | st.builds(lambda body: JoinTerm("exists", body, last=3), st.lists(inner, max_size=3).map(tuple))
    ),
    max_leaves=12,
)


def alike(left, right):
    """Equal type by type, signs of zeros and exponents included: what `repr` shows."""
    return type(left) is type(right) and left == right and (type(left) in (int, frozenset) or repr(left) == repr(right))


@given(VALUES.filter(lambda value: not isinstance(value, frozenset)))
def test_values_come_back(value):
    text = dumps(value)
    found = loads(text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass"))
    assert type(found) is type(value)
    assert found == value
    assert dumps(found) == text
    assert "frozenset" in repr(value) or repr(found) == repr(value)


@pytest.mark.parametrize(
    "value",
    [
        "\0",
        "\ud83d\ude00",  # two lone surrogates, which are not the one character of the pair
        "\udc00x",
        -0.0,
        1.0,
        True,
        Decimal("-0"),
        Decimal("1.50"),
        Decimal("1E+1000"),
        Decimal("Infinity"),
        float("-inf"),
        10**5000,
        (),
        ((),),
        frozenset({"b", "a"}),
        Schema((Field("x", Type("RECORD", fields=(Field("y", Type("DATE"), True),))),)),
        Wildcard.ANY_RUN,
        datetime.datetime(2024, 1, 2, 3, 4, 5, 6, datetime.timezone(datetime.timedelta(hours=2))),
    ],
    ids=lambda value: type(value).__name__,
)
def test_edges_come_back(value):
    assert alike(loads(dumps(value)), value)


def test_a_program_nested_deeper_than_the_stack_comes_back():
    program = (("literal", True),)
    for _ in range(20_000):
        program = (("some", program),)
    assert dumps(loads(dumps(program))) == dumps(program)


def test_a_set_is_written_in_order():
    assert dumps(frozenset({"b", "a", "c"})) == dumps(frozenset({"c", "b", "a"}))


@pytest.mark.parametrize("value", [{1, 2}, object(), b"x", 1j, Ellipsis, (1, [object()])])
def test_what_no_image_keeps_is_refused_by_its_type(value):
    with pytest.raises(NotKeptError, match="an image keeps no"):
        dumps(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "1",
        "[]",
        "[1,2]",
        "[" * 100_000,
        '[{"a":1}]',
        '[["tuple",1]]',
        '[["tuple",-1]]',
        '[["tuple",1e3]]',
        '[["tuple",1000000000000000]]',
        '[["tuple",true]]',
        '[["dict",1]]',
        '[[],1,["dict",1]]',
        '[["list",0],1,["dict",1]]',
        '[["list",0],["set",1]]',
        '[["date",0]]',
        '["x",["date",0]]',
        '[true,["date",0]]',
        '[["int","x"]]',
        '[["int",5]]',
        '[["decimal","x"]]',
        '[["float","1"]]',
        '[["wildcard","?"]]',
        '[["python_date","x"]]',
        '[["os.system","x"]]',
        '[["__class__",0]]',
        '[[["tuple"],0]]',
        "[[1,2]]",
    ],
    ids=lambda text: text[:30],
)
def test_other_texts_are_refused(text):
    with pytest.raises(ValueError, match=r"."):
        loads(text)


@given(st.recursive(st.none() | st.integers() | st.text(max_size=8), st.lists, max_leaves=20))
def test_no_json_makes_it_crash(value):
    with contextlib.suppress(ValueError):
        loads(json.dumps(value))
