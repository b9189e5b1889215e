"""Bytes of values: they compare as the values do, and give them back."""

from decimal import Decimal, localcontext

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profilec.values.compare import order
from profilec.values.kinds import Date, Kind, Timestamp, kind_of
from profilec.values.numbers import exact
from profilec.values.ordered_bytes import ordered_bytes, value_of

DIGITS = st.text("0123456789", min_size=1, max_size=40) | st.text("0123456789", min_size=900, max_size=1000)
LONG_DECIMALS = st.builds(
    lambda sign, digits, exponent: Decimal(f"{sign}{digits}E{exponent}"),
    st.sampled_from(["", "-"]),
    DIGITS,
    st.integers(-1100, 1100) | st.integers(-5, 5) | st.sampled_from([10**15, -(10**15)]),
)
SMALL = st.integers(-20, 20)
NUMBERS = st.one_of(
    SMALL,
    SMALL.map(float),
    SMALL.map(lambda number: Decimal(number) / 4),
    SMALL.map(lambda number: number / 10),
    st.integers(),
    st.integers(2**53 - 3, 2**53 + 3).map(float),
    st.integers(2**53 - 3, 2**53 + 3),
    st.integers(10**400, 10**400 + 5),
    st.floats(allow_nan=False),
    LONG_DECIMALS,
    st.decimals(allow_nan=False),
)
STRINGS = st.text(st.characters(codec=None, exclude_categories=()), max_size=6) | st.text("a\0\uffff\ud800\U00010000")
VALUES = st.one_of(
    NUMBERS,
    STRINGS,
    st.booleans(),
    (SMALL | st.integers()).map(Date),
    (SMALL | st.integers()).map(Timestamp),
)


def sign(left, right):
    return (left > right) - (left < right)


@settings(max_examples=600, deadline=None)
@given(VALUES, VALUES)
def test_bytes_compare_as_values_do(left, right):
    kinds = sign(kind_of(left), kind_of(right))
    assert sign(ordered_bytes(left), ordered_bytes(right)) == (kinds or order(left, right))


@settings(max_examples=600, deadline=None)
@given(NUMBERS, NUMBERS)
def test_numbers_of_any_types_compare_exactly(left, right):
    assert sign(ordered_bytes(left), ordered_bytes(right)) == order(left, right)


@settings(max_examples=600, deadline=None)
@given(VALUES)
def test_a_value_comes_back(value):
    back = value_of(ordered_bytes(value))
    assert kind_of(back) is kind_of(value)
    assert order(back, value) == 0


@given(LONG_DECIMALS)
def test_the_context_of_decimals_changes_nothing(value):
    with localcontext() as context:
        context.prec = 3
        assert order(value_of(ordered_bytes(value)), value) == 0


@pytest.mark.parametrize(
    "equal",
    [
        [0, -0.0, 0.0, Decimal("-0.000"), Decimal("0E+9")],
        [0.1, Decimal("0.1"), Decimal("0.1000")],
        [1e22, 10**22, Decimal("1E+22")],
        [float("inf"), Decimal("Infinity")],
        [-7, -7.0, Decimal("-7.0")],
        [10**6000, Decimal("1E+6000")],
    ],
    ids=["zero", "tenth", "1e22", "infinity", "minus seven", "1e6000"],
)
def test_equal_numbers_have_the_same_bytes(equal):
    assert len({ordered_bytes(number) for number in equal}) == 1


def test_the_integers_that_doubles_cannot_tell_apart():
    assert ordered_bytes(9007199254740992.0) < ordered_bytes(9007199254740993)
    # A double that is no integer is its shortest decimal, not its binary value.
    binary = Decimal.from_float(0.1)
    assert exact(0.1) < binary
    assert ordered_bytes(0.1) < ordered_bytes(binary)


def test_kinds_come_in_their_order():
    values = [Decimal("Infinity"), "", False, Date(-5), Timestamp(-5)]
    assert [kind_of(value) for value in values] == list(Kind)[1:-1]
    keys = [ordered_bytes(value) for value in values]
    assert keys == sorted(keys)


def test_code_points_not_utf_16():
    strings = ["", "a", "a\0", "ab", "\ud800", "\udfff", "\uffff", "\U00010000"]
    keys = [ordered_bytes(string) for string in strings]
    assert keys == sorted(keys)
    assert [value_of(key) for key in keys] == strings


@pytest.mark.parametrize("value", [None, float("nan"), Decimal("NaN"), Decimal("sNaN"), [1], {"a": 1}], ids=str)
def test_what_compares_with_nothing_has_no_bytes(value):
    with pytest.raises(ValueError, match="compares with nothing"):
        ordered_bytes(value)


@pytest.mark.parametrize(
    "data",
    [b"", b"\1", b"\7a", b"\1\3", b"\1\3\x84", b"\1\3\x84x", b"\1\3\x84\x31\x30", b"\3\3\x81\x32", b"\4\4", b"\2\xff"],
    ids=bytes.hex,
)
def test_bytes_of_no_value_are_refused(data):
    with pytest.raises(ValueError, match="no value has the bytes"):
        value_of(data)
