"""Single values of numpy in documents: narrow floats and far dates."""

from decimal import Decimal

import numpy as np
import pytest

from profilec.runtime.image import Constants
from profilec.values.kinds import Timestamp, from_document
from profilec.values.numbers import exact


@pytest.mark.parametrize(
    "value", [np.float32(123456789), np.float32(1e20), np.float16(65504), np.float32(2**24), np.float32(-3)]
)
def test_a_narrow_float_that_is_an_integer_stands_for_that_integer(value):
    """Its shortest decimal may be another number: float32(123456789) is 123456792, and prints as 123456790."""
    assert exact(from_document(value)) == int(value)


def test_a_narrow_float_that_is_no_integer_stands_for_its_shortest_decimal():
    assert from_document(np.float32(0.1)) == from_document(np.float16(0.1)) == 0.1


def test_narrow_floats_keep_their_order():
    values = np.unique(np.arange(0, 2**16, dtype=np.uint16).view(np.float16))
    numbers = [exact(from_document(value)) for value in values if np.isfinite(value) and value >= 0]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize(
    ("text", "seconds", "nanos"),
    [("9999-12-31", 253402214400, 0), ("0001-01-01T00:00:00.5", -62135596800, 500_000_000), ("1969", -31536000, 0)],
)
def test_dates_beyond_the_nanosecond_range_are_kept(text, seconds, nanos):
    assert from_document(np.datetime64(text)) == Timestamp(seconds * 10**9 + nanos)
    constants = Constants(timestamps=(seconds * 10**9 + nanos,))
    assert constants.rank(from_document(np.datetime64(text))) == constants.first(5) + 1


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="a long double is a double here")
@pytest.mark.parametrize("text", ["9007199254740993", "-9007199254740993.5", "0.1"])
def test_a_long_double_is_not_rounded_to_a_double(text):
    assert exact(from_document(np.longdouble(text))) == Decimal(text)
