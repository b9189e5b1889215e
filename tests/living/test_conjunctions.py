"""What the delta makes of a condition."""

from __future__ import annotations

import pytest

from profilec.grammar.parse import parse_condition
from profilec.living.axes import HIGHEST, LOWEST, Axes
from profilec.living.conjunctions import Lowered, Lowering
from profilec.planner.normalize import normalize
from profilec.runtime.store.order_keys import order_key64


def lowered(condition: str) -> Lowered:
    return Lowering(Axes(), None).lowered(normalize(parse_condition(condition).node))


def key(value: float) -> int:
    return order_key64(value).key


@pytest.mark.parametrize(
    ("condition", "intervals"),
    [
        ("a >= 1 AND a < 3", [(key(1), key(3) - 1)]),
        ("a < 3 AND a >= 1", [(key(1), key(3) - 1)]),
        ("a BETWEEN 1 AND 3 AND a != 2", [(key(1), key(2) - 1), (key(2) + 1, key(3))]),
        ("a IN (1, 2, 5) AND a > 1 AND a < 5", [(key(2), key(2))]),
        ("a != 1", [(LOWEST, key(1) - 1), (key(1) + 1, HIGHEST)]),
    ],
)
def test_a_conjunction_has_one_test_of_an_axis(condition: str, intervals: list[tuple[int, int]]) -> None:
    found = lowered(condition)
    assert found.is_exact
    ((test,),) = found.conjunctions
    assert test.intervals == intervals


@pytest.mark.parametrize("condition", ["a > 3 AND a < 1", "a > 1 AND a < 1", "a = 1 AND a != 1", "s = 'x' AND s = 'y'"])
def test_a_conjunction_that_no_key_satisfies_is_none(condition: str) -> None:
    assert lowered(condition) == Lowered([], is_exact=True)


def test_of_several_conjunctions_those_stay_that_hold_somewhere() -> None:
    found = lowered("a < 2 AND (a > 1 OR a > 5 OR b = 1)")
    assert found.is_exact
    assert [[len(test.intervals) for test in one] for one in found.conjunctions] == [[1], [1, 1]]


def test_axes_of_one_attribute_are_not_one() -> None:
    """A string's order and its constants; numbers, and what has no key of its own."""
    found = lowered("s != 'x' AND s > 'a'")
    assert not found.is_exact
    assert len({test.axis for test in found.conjunctions[0]}) == 2
