"""The rank layout: NULL, then a block of gaps and points for each kind, then arrays and records."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from profilec.runtime.image import Constants
from profilec.values.kinds import Date, Kind, Timestamp

SAMPLE = Constants((1, Decimal("2.5")), ("a", "b"), (False, True), (0,), (5,))


def test_layout():
    assert [SAMPLE.first(kind) for kind in Kind] == [0, 1, 6, 11, 16, 19, 22]
    assert [SAMPLE.last(kind) for kind in Kind] == [0, 5, 10, 15, 18, 21, 22]
    assert SAMPLE.n_ranks == 23
    assert Constants().n_ranks == 7


def test_each_value_has_its_rank():
    values = [None, 0, 1, True, 1.0, 2, 2.5, 3, "", "a", "aa", "b", "c", False, Date(-1), Date(0), Timestamp(5), [], {}]
    assert [SAMPLE.rank(value) for value in values] == [0, 1, 2, 14, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 17, 20, 22, 22]


def test_numbers_are_told_apart_exactly():
    constants = Constants(numbers=(Decimal("0.1"), 2**53, 2**53 + 1, 2**63, 10**400))
    first = constants.first(Kind.NUMBER)
    place = {0.1: 1, Decimal("0.1000000000000000055"): 2, 2**53: 3, float(2**53): 3, 2**53 + 1: 5, 2.0**63: 7}
    place |= {float("inf"): 10, float("-inf"): 0, 10**400: 9}
    assert {number: constants.rank(number) - first for number in place} == place


def test_strings_are_in_the_order_of_code_points():
    constants = Constants(strings=("Z", "a", "\ud800", "\uffff", "😀"))
    assert [constants.rank(text) for text in ("Z", "a", "\ud800", "\uffff", "😀")] == [3, 5, 7, 9, 11]


@given(st.lists(st.integers(-5, 5) | st.decimals(-5, 5, places=1)), st.integers(-6, 6) | st.decimals(-6, 6, places=2))
def test_rank_counts_the_constants_below(numbers, value):
    constants = Constants(numbers=tuple(sorted(set(numbers))))
    below = sum(c < value for c in constants.numbers)
    assert constants.rank(value) == 1 + 2 * below + (value in constants.numbers)
