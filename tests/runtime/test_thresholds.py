"""Thresholds: the rank of every value of a machine type, against comparing it with every constant."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profilec.runtime.image import Constants
from profilec.runtime.imagefile.columns import Integers
from profilec.runtime.ranking import Ranking
from profilec.runtime.thresholds import MANY, float_thresholds, integer_thresholds
from profilec.values.kinds import from_document
from profilec.values.numbers import exact, normal

EDGES = [0, 1, -1, 2**24, 2**53, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), 10**30, 10**400, -(10**400)]
EDGES += [Decimal(text) for text in ("0.1", "0.5", "-0.1", "1e-400", "-1e-400", "5e-324", "1e-45", "16777216.5")]
EDGES += [Decimal(text) for text in ("9007199254740992.5", "1.7976931348623157e308", "65504", "Infinity", "-Infinity")]
CONSTANTS = st.one_of(
    st.sampled_from(EDGES),
    st.tuples(st.sampled_from(EDGES[:10]), st.integers(-2, 2)).map(sum),
    st.integers(-300, 300),
    st.decimals(-100, 100, places=2),
    st.floats(allow_nan=False).map(exact),
    st.floats(allow_nan=False, width=32).map(np.float32).map(from_document).map(exact),
    st.floats(allow_nan=False, width=16).map(np.float16).map(from_document).map(exact),
)
CONSTANT_SETS = st.lists(CONSTANTS, max_size=6).map(lambda found: tuple(sorted({normal(c) for c in found})))


def place(constants, number):
    return sum(c < number for c in constants) + sum(c <= number for c in constants)


@pytest.mark.parametrize("width", [16, 32, 64])
@given(st.data())
def test_floats(width, data):
    dtype = np.dtype(f"f{width // 8}")
    constants = data.draw(CONSTANT_SETS)
    numbers = data.draw(st.lists(st.floats(allow_nan=False, width=width), max_size=5))
    with np.errstate(over="ignore"):
        near = [dtype.type(max(min(float(c), 1e308), -1e308)) for c in constants if abs(c) < 10**308]
    values = [dtype.type(number) for number in numbers] + near + [dtype.type("inf"), dtype.type("-inf")]
    with np.errstate(over="ignore"):
        values += [np.nextafter(value, dtype.type(end)) for value in near for end in ("inf", "-inf")]
    thresholds = float_thresholds(constants, dtype)
    assert thresholds.dtype == dtype
    for value in values:
        expected = place(constants, exact(from_document(value)))
        assert np.searchsorted(thresholds, value, side="right") == expected, (constants, value)


@pytest.mark.parametrize("name", ["int64", "uint64"])
@given(st.data())
def test_integers(name, data):
    dtype = np.dtype(name)
    limits = np.iinfo(dtype)
    constants = data.draw(CONSTANT_SETS)
    number = st.integers(int(limits.min), int(limits.max))
    near = [int(c) + step for c in constants if abs(c) < 10**30 for step in (-1, 0, 1)]
    values = data.draw(st.lists(number, max_size=5)) + [v for v in near if limits.min <= v <= limits.max]
    thresholds = integer_thresholds(constants, dtype)
    for value in [*values, int(limits.min), int(limits.max)]:
        assert np.searchsorted(thresholds, dtype.type(value), side="right") == place(constants, value)


@given(CONSTANT_SETS, st.integers(0, 20), st.integers(-(2**63), 2**63 - 1))
def test_decimals_of_a_scale(constants, scale, unscaled):
    thresholds = integer_thresholds(constants, np.dtype("int64"), of=10**scale)
    near = [int(c * 10**scale) + step for c in constants if abs(c) < 10**6 for step in (-1, 0, 1)]
    for value in [unscaled, *(v for v in near if abs(v) < 2**63)]:
        number = Decimal(value).scaleb(-scale)
        assert np.searchsorted(thresholds, np.int64(value), side="right") == place(constants, number)


@given(st.lists(st.integers(-(10**25), 10**25), max_size=5), st.integers(-(2**63), 2**63 - 1))
def test_timestamps_in_a_coarser_unit(nanos, seconds):
    constants = tuple(sorted(set(nanos)))
    thresholds = integer_thresholds(constants, np.dtype("int64"), per=10**9)
    assert np.searchsorted(thresholds, np.int64(seconds), side="right") == place(constants, seconds * 10**9)


@pytest.mark.parametrize("constant", [2**53 + 1, Decimal("0.1"), Decimal("0.30000000000000004"), 2**63])
def test_the_famous_numbers(constant):
    """A float search would take 2**53 + 1 for 2**53, and 0.1 + 0.2 for 0.3."""
    thresholds = float_thresholds((constant,), np.dtype("f8"))
    for value in (float(constant), np.nextafter(float(constant), np.inf), np.nextafter(float(constant), -np.inf)):
        assert np.searchsorted(thresholds, value, side="right") == place((constant,), exact(float(value)))


@pytest.mark.parametrize("as_column", [tuple, lambda constants: Integers(np.array(constants, np.int64))])
@pytest.mark.parametrize("greatest", [30_000, 2**53 + 1, 2**63 - 2, 2**63 - 1])
def test_many_constants_are_ranked_as_few_are(as_column, greatest):
    constants = (-(2**53) - 1, *range(0, 3 * (MANY + 1), 3), greatest)
    ranking = Ranking(Constants(as_column(constants)), None)
    rank_of = ranking.prepared()
    near = [constant + step for constant in (*constants[:3], *constants[-3:]) for step in (-1, 0, 1)]
    for value in (*near, *map(float, near), 0.5, 7.5, 2**80, -(2**80), float("inf"), float("-inf"), float("nan"), True):
        assert rank_of(value) == Constants(constants).rank(from_document(value)), value


@given(
    st.lists(
        st.one_of(
            st.decimals(allow_nan=False, allow_infinity=False),
            st.builds(
                lambda digits, power: Decimal(digits).scaleb(power),
                st.integers(-(10**17), 10**17),
                st.integers(-300, 300),
            ),
            st.integers(-(2**60), 2**60),
        ),
        max_size=6,
    ).map(lambda constants: tuple(sorted(set(map(exact, constants))))),
    st.floats(allow_nan=False),
)
def test_short_and_long_decimals(constants, drawn):
    thresholds = float_thresholds(constants, np.dtype("f8"))
    near = [np.nextafter(double, end) for double in map(float, constants) for end in (-np.inf, double, np.inf)]
    for value in (drawn, *near):
        assert np.searchsorted(thresholds, value, side="right") == place(constants, exact(float(value)))
