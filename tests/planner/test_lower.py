"""Lowering: an image holds for a document exactly when the reference says TRUE."""

from __future__ import annotations

import random
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import profilec
from profilec.grammar import ir
from profilec.planner.lower import ImageBuilder, TooComplexError
from profilec.planner.lower.describe import describe_residual, describe_test
from profilec.planner.lower.lists import no_lists, with_list
from profilec.planner.lower.ranks import packed
from profilec.planner.reference import evaluate
from profilec.runtime.image import Image
from profilec.runtime.program import JoinTerm, run
from profilec.values.patterns import like_matches


def matches(image: Image, document: dict[str, Any], store: list[dict[str, Any]]) -> list[int]:
    """An image executed as its description reads: nothing shared with the matchers."""
    values = [run(slot.program, document) for slot in image.slots]
    holds = []
    for test, slot in enumerate(image.test_slot):
        rank = image.slots[slot].constants.rank(values[slot])
        span = range(image.test_off[test], image.test_off[test + 1])
        holds.append(any(image.test_low[i] <= rank <= image.test_high[i] for i in span))
    for kind, source, want in zip(image.bit_kind, image.bit_source, image.bit_want, strict=True):
        if kind:
            truth = run(image.terms[source], document)
        else:
            pattern = image.patterns[source]
            value = values[pattern.slot]
            assert pattern.like is not None
            truth = like_matches(pattern.like, value) if isinstance(value, str) else None
        holds.append([truth is True, truth is False, truth is not True, truth is not False][want])
    joins = [_join(term, document, store) for term in image.joins]
    found: set[int] = set()
    for entry in range(image.n_entries):
        tests = image.entry_tests[image.entry_off[entry] : image.entry_off[entry + 1]]
        residual = image.entry_residual[entry]
        if all(holds[test] for test in tests) and (residual < 0 or _residual(image, residual, holds, joins)):
            found.update(
                image.entry_profiles[image.entry_profile_off[entry] : image.entry_profile_off[entry + 1]].tolist()
            )
    return sorted(found)


def _join(term: JoinTerm, document: dict[str, Any], store: list[dict[str, Any]]) -> bool:
    truths = [run(term.body, document, old) is True for old in store]
    return any(truths) if term.kind == "exists" else all(truths)


def _residual(image: Image, residual: int, holds: list[bool], joins: list[bool]) -> bool:
    code = image.residual_code[image.residual_off[residual] : image.residual_off[residual + 1]].tolist()
    register, row = False, 0
    while row < len(code):
        op, argument = code[row]
        row += 1
        if op == 0:
            register = holds[argument]
        elif op in (1, 2):
            register = joins[argument] is (op == 1)
        elif op == 5:
            register = bool(argument)
        elif (op == 4) == register:
            row = argument
    return register


def lowered(*conditions: ir.Condition) -> Image:
    builder = ImageBuilder()
    for condition in conditions:
        builder.add(condition)
    image = builder.build().image
    image.check()
    return image


NAMES = ("a", "b", "c", "tags")
CONSTANTS = (1, 2, Decimal("2.5"), "", "ab", "abc", "b%", "é", True, False, 2**53 + 1)
VALUES = (
    None,
    0,
    1,
    1.5,
    2,
    2.5,
    3,
    2**53,
    2**53 + 1,
    "",
    "a",
    "ab",
    "abc",
    "abd",
    "xab",
    "b%",
    "é",
    True,
    False,
    [1],
    ["ab", None],
)


def signed_leaf(rng: random.Random) -> ir.Condition:
    attribute = ir.attribute(rng.choice(NAMES))
    constant = ir.constant(rng.choice(CONSTANTS))
    operator = rng.choice(("=", "!=", "<", "<=", ">", ">="))
    options = tuple(ir.constant(value) for value in rng.sample((*CONSTANTS, None), rng.randint(1, 4)))
    patterns = ("ab%", "%b", "%b%", "a_", "%", "_", "__%", "a%b", "", "AB%", "abc", "\U0010ffff%")
    leaf: ir.Condition = rng.choice(
        (
            ir.Compare(operator, attribute, constant),
            ir.Compare(operator, attribute, ir.attribute(rng.choice(NAMES))),
            ir.Compare(operator, ir.Call("LENGTH", (attribute,)), ir.constant(2)),
            ir.In(attribute, options),
            ir.Like(attribute, ir.constant(rng.choice(patterns)), None, rng.random() < 0.3),
            ir.Like(attribute, ir.attribute("b"), None, False),
            ir.IsNull(attribute),
            ir.Some(ir.attribute("tags"), ir.Compare(operator, ir.Attribute(ir.ELEMENT, ()), constant)),
            ir.Every(ir.attribute("tags"), ir.Compare(operator, ir.Attribute(ir.ELEMENT, ()), constant)),
            ir.Exists(ir.Compare(operator, ir.Attribute(ir.OLD, ("a",)), attribute), ir.WHOLE_STORE),
            ir.ForAll(ir.Compare(operator, ir.Attribute(ir.OLD, ("a",)), constant), ir.WHOLE_STORE),
        )
    )
    return rng.choice((leaf, leaf, ir.Not(leaf), ir.Not(ir.IsTruth(leaf, True)), ir.Not(ir.IsTruth(leaf, False))))


def normal_form(rng: random.Random, depth: int) -> ir.Condition:
    if depth == 0 or rng.random() < 0.3:
        return signed_leaf(rng)
    operands = tuple(dict.fromkeys(normal_form(rng, depth - 1) for _ in range(rng.randint(2, 4))))
    return rng.choice((ir.and_, ir.or_))(operands)


def test_image_means_what_the_reference_says() -> None:
    seed = random.SystemRandom().randrange(2**32)
    print("seed", seed)
    rng = random.Random(seed)
    n_matches = 0
    for _ in range(60):
        conditions = [normal_form(rng, rng.randint(0, 3)) for _ in range(25)]
        image = lowered(*conditions)
        store = [{"a": rng.choice(VALUES), "b": rng.choice(VALUES)} for _ in range(rng.randint(0, 3))]
        for _ in range(12):
            document = {name: rng.choice(VALUES) for name in NAMES if rng.random() < 0.8}
            expected = [n for n, condition in enumerate(conditions) if evaluate(condition, document, store) is True]
            assert matches(image, document, store) == expected, (seed, document, store)
            n_matches += len(expected)
    assert n_matches > 1_000


def test_bounds_of_one_attribute_are_one_test() -> None:
    price = ir.attribute("price")
    image = lowered(
        ir.And((ir.Compare(">=", price, ir.constant(10)), ir.Compare("<", price, ir.constant(30)))),
        ir.And((ir.Compare("<", price, ir.constant(30)), ir.Compare(">=", price, ir.constant(10)))),
    )
    assert image.n_entries == 1
    assert image.entry_profiles.tolist() == [0, 1]
    assert describe_test(image, int(image.entry_tests[0])) == "price >= 10 AND price < 30"


def test_equal_profiles_share_an_entry() -> None:
    a, b = (ir.Compare("=", ir.attribute(name), ir.constant(1)) for name in "ab")
    image = lowered(ir.And((a, b)), a, ir.And((b, a)), ir.Or((a, b)), a)
    assert image.n_entries == 3
    assert matches(image, {"a": 1}, []) == [1, 3, 4]


def test_or_reaches_its_branches_by_their_own_access() -> None:
    a, b, c = (ir.Compare("=", ir.attribute(name), ir.constant(1)) for name in "abc")
    unselective = ir.IsNull(ir.attribute("e"))
    image = lowered(ir.And((ir.Or((a, b)), ir.Or((c, unselective)))))
    assert image.n_entries == 2
    assert (image.entry_access >= 0).all()
    residual = describe_residual(image, int(image.entry_residual[0]))
    assert residual == "c = 1 OR e IS NULL"


def test_absence_gives_no_access() -> None:
    a = ir.attribute("a")
    image = lowered(ir.IsNull(a), ir.Not(ir.IsTruth(ir.Compare("=", a, ir.constant(1)), True)), ir.TRUE)
    assert (image.entry_access < 0).all()
    assert matches(image, {}, []) == [0, 1, 2]


def test_what_can_never_hold_has_no_entry() -> None:
    a = ir.attribute("a")
    image = lowered(ir.Compare("=", a, ir.NULL), ir.Not(ir.In(a, (ir.constant(1), ir.NULL))), ir.FALSE)
    assert (image.n_profiles, image.n_entries) == (3, 0)


def test_two_large_ors_make_no_product() -> None:
    def any_of(name: str) -> ir.Condition:
        return ir.or_([ir.Like(ir.attribute(name), ir.constant(f"%{n}%"), None, False) for n in range(5_000)])

    image = lowered(ir.And((any_of("a"), any_of("b"))))
    assert image.n_entries == 5_000
    assert len(image.residual_code) < 10_001
    assert matches(image, {"a": "x4711y", "b": "12"}, []) == [0]


def test_an_or_is_not_the_and_of_the_same_tests() -> None:
    a, b = ir.attribute("a"), ir.attribute("b")
    of_a, of_b = (ir.Compare("=", one, ir.constant("x")) for one in (a, b))
    like_a, like_b = (ir.Like(one, ir.constant("x"), None, False) for one in (a, b))  # the same tests, other nodes
    both = ir.Or((ir.And((of_a, of_b)), ir.And((like_a, like_b))))
    image = lowered(ir.And((ir.Or((of_a, of_b)), both)), both)
    assert matches(image, {"a": "x"}, []) == []
    assert matches(image, {"a": "x", "b": "x"}, []) == [0, 1]


def test_a_bound_joins_the_first_row_of_its_attribute_only() -> None:
    def compare(operator: str, value: int) -> ir.Condition:
        return ir.Compare(operator, ir.attribute("a"), ir.constant(value))

    image = lowered(
        ir.And((compare(">", 1), compare("<", 9), compare("<", 8))),
        ir.And((compare("!=", 5), compare(">", 1), compare("<", 9))),
        ir.Or((ir.And((compare("<", 9), compare(">", 1))), ir.IsNull(ir.attribute("a")))),
    )
    described = [
        {describe_test(image, test) for test in image.entry_tests[start:end].tolist()}
        for start, end in pairwise(image.entry_off.tolist())
    ]
    assert described == [{"a > 1 AND a < 9", "a < 8"}, {"a != 5", "a > 1", "a < 9"}, {"a > 1 AND a < 9"}, {"a IS NULL"}]


def test_what_is_remembered_of_nodes_does_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(11)
    conditions = [normal_form(rng, rng.randint(0, 3)) for _ in range(60)]
    usual = lowered(*conditions)
    monkeypatch.setattr("profilec.planner.lower.skeleton._MOST_KNOWN", 2)
    assert_same(lowered(*conditions), usual)


def test_a_builder_goes_on_after_it_has_built() -> None:
    rng = random.Random(12)
    conditions = [normal_form(rng, rng.randint(0, 3)) for _ in range(60)]
    builder = ImageBuilder()
    for number, condition in enumerate(conditions):
        if number % 20 == 7:
            assert builder.build().image.n_profiles == number
        builder.add(condition)
    assert_same(builder.build().image, lowered(*conditions))


def test_rows_of_many_constants_are_sorted_by_more_than_one_key() -> None:
    rng = np.random.default_rng(3)
    columns = [rng.integers(0, 2**bits, 500).astype(np.int32) for bits in (0, 2, 29, 1, 31, 3, 31)]
    columns[4][:250] = columns[4][250:]
    keys = packed(*columns)
    assert len(keys) == 2
    assert np.array_equal(np.lexsort(keys[::-1]), np.lexsort(columns[::-1]))


def test_a_list_that_comes_again_has_its_number() -> None:
    rng = random.Random(13)
    drawn = [tuple(rng.choices(range(-3, 3), k=rng.randint(0, 5))) for _ in range(2_000)]
    known: dict[tuple[int, ...], int] = {}
    lists = no_lists()
    for one in drawn:
        lists, number = with_list(lists, np.array([*one, 7], np.int32), len(one))
        assert number == known.setdefault(one, len(known))
    assert lists.n[0] == len(known)
    for one, number in known.items():
        assert lists.items[lists.off[number] : lists.off[number + 1]].tolist() == list(one)


def test_doubling_is_refused() -> None:
    condition: ir.Condition = ir.Compare("=", ir.attribute("a"), ir.constant(1))
    for _ in range(40):
        condition = ir.Or((ir.And((condition, ir.Not(ir.IsNull(ir.attribute("b"))))), ir.And((condition, condition))))
    with pytest.raises(TooComplexError, match="1,000 terms"):
        ImageBuilder(max_terms=1_000).add(condition)


def test_same_profiles_give_the_same_image() -> None:
    def build() -> Image:
        rng = random.Random(7)
        return lowered(*[normal_form(rng, 3) for _ in range(50)])

    assert_same(build(), build())


def assert_same(one: Image, other: Image) -> None:
    for name in one.__slots__:
        left, right = getattr(one, name), getattr(other, name)
        assert np.array_equal(left, right) if isinstance(left, np.ndarray) else left == right, name


def test_the_deepest_condition_allowed_is_compiled_matched_and_explained() -> None:
    half = 149
    text = "(a = 1 OR (b = 1 AND " * half + "c = 1" + "))" * half
    profiles = profilec.compile({"p": text}, options={"max_depth": 300})
    assert profiles.match({"b": 1, "c": 1}) == ["p"]
    assert profiles.why({"b": 1}, "p").truth is None
    assert "a = 1" in profiles.explain("p")
    with pytest.raises(ValueError, match="from 1 to 300"):
        profilec.compile({"p": text}, options={"max_depth": 301})
