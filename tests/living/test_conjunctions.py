"""What the delta makes of a condition."""

from __future__ import annotations

from itertools import islice, product

import pytest

import profilec
from profilec.grammar.parse import parse_condition
from profilec.grammar.shapes import ShapeCache
from profilec.grammar.templates import Bound
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
    assert test[1] == intervals


@pytest.mark.parametrize("condition", ["a > 3 AND a < 1", "a > 1 AND a < 1", "a = 1 AND a != 1", "s = 'x' AND s = 'y'"])
def test_a_conjunction_that_no_key_satisfies_is_none(condition: str) -> None:
    assert lowered(condition) == Lowered([], is_exact=True)


def test_of_several_conjunctions_those_stay_that_hold_somewhere() -> None:
    found = lowered("a < 2 AND (a > 1 OR a > 5 OR b = 1)")
    assert found.is_exact
    assert [[len(intervals) for _, intervals in one] for one in found.conjunctions] == [[1], [1, 1]]


def test_axes_of_one_attribute_are_not_one() -> None:
    """A string's order and its constants; numbers, and what has no key of its own."""
    found = lowered("s != 'x' AND s > 'a'")
    assert not found.is_exact
    assert len({axis for axis, _ in found.conjunctions[0]}) == 2


OPERATORS = ("<", "<=", "=", "!=", ">", ">=")
LEAVES = [
    *(f"a {operator} {n}" for operator in OPERATORS for n in ("5", "5.25", "-3", "-0", ".5", "1e3", "5.250")),
    *(f"{n} {operator} a" for operator in OPERATORS for n in ("5", "5.25", "-3")),
    *(f"a = {n}" for n in ("123456789012345678", "0.1234567890123456789", "9007199254740993", "1e300", "1e-300")),
    *(f"s {operator} {text}" for operator in OPERATORS for text in ("'x'", '"it is long"', "'it''s'", "''")),
    *("a IN (1, 2)", "a IN (3, 2, 2.5, -1)", "a IN (2, 2)", "a NOT IN (1, 2)", "a NOT IN (-1, 0.5, 1)"),
    *("s IN ('x', 'y')", "s IN ('y', 'z', 'x')", "s NOT IN ('x', 'y')", "s IN ('x')", "s IN ('y')"),
    *("s LIKE 'ab%'", "s LIKE '%b'", "s LIKE 'a_c'", "s LIKE '%'", "s LIKE ''"),
    *("ROUND(a, 1) < 2.5", "LOWER(s) = 'x'", "a + 1 < 5", "a + 1 < 6"),
]
TOGETHER = [
    *("a BETWEEN 1 AND 3", "a BETWEEN -5 AND 7.5", "a BETWEEN 0.1 AND 0.2", "a BETWEEN -2 AND -1"),
    *("1 <= a AND a < 3", "2 <= a AND a < 3.5", "2 <= a AND a < 9007199254740993", "2 <= a AND a < 1e300"),
    *(
        "a = 1 AND b = TRUE",
        "a = 2 AND b = TRUE",
        "a = 1 AND b IS NULL",
        "a < 5 AND a + 1 < 5",
        "a = 1 AND s LIKE 'x%'",
    ),
    *("a = 1 AND s = 'x' AND s > 'a'", "a = 1 AND s = 'y' AND s > 'b'", "s < 'y' AND s != 'x'", "s = 'x' AND a = 5"),
    *("a = 1 AND a = 2", "a = 1 AND a = 1", "a > 1 AND a != 2", "a > 1 AND a IN (0, 2)", "a > 1 AND a > 2"),
    *("a = 1 AND (b OR s = 'x')", "a = 1 AND NOT (b AND s = 'x')", "a = 1 OR s = 'y'", "a IN (b, 2)", "b AND a != 0.5"),
]


def bound(cache: ShapeCache, condition: str) -> Bound:
    """What a cache knows the shape of."""
    for _ in range(3):
        found = cache.read(condition)
    assert isinstance(found, Bound), condition
    return found


def test_leaves_bound_to_values_are_lowered_as_their_normal_forms() -> None:
    cache, lowering = ShapeCache(), Lowering(Axes(), None)
    for condition in LEAVES:
        own = lowering.lowered(bound(cache, condition))
        assert own == lowering.lowered(normalize(parse_condition(condition).node)), condition


@pytest.mark.parametrize(
    "condition", ["a = 1 OR b = 2", "a = 1 AND (b = 2 OR c = 3)", "s ILIKE 'x'", "(a = 1) IS NOT TRUE"]
)
def test_what_is_no_and_of_leaves_has_a_shape_without_leaves(condition: str) -> None:
    assert bound(ShapeCache(), condition).template.leaves is None


def test_profiles_of_known_shapes_match_as_those_before_them() -> None:
    documents = [
        {"a": a, "s": s, "b": b}
        for a in (None, -3, -1, 0, 0.5, 1, 2, 2.5, 3, 5, 5.25, 1000, 2**53, 2**53 + 1, 1e300, "x", True)
        for s in (None, "", "x", "y", "ab", "abc", "it's", "it is long", 5)
        for b in (None, True, False)
    ]
    conditions = [*LEAVES, *TOGETHER, *map(" AND ".join, product(LEAVES[::7], LEAVES[::9]))]
    texts = {f"{number}, {time}": text for number, text in enumerate(conditions) for time in range(4)}
    profiles, compiled = profilec.compile({}), profilec.compile(texts)
    for start in range(0, len(texts), 50):
        profiles.insert_many(dict(islice(texts.items(), start, start + 50)))
    for document in documents:
        assert profiles.match(document) == compiled.match(document), document
