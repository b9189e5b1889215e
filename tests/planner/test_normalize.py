"""Normalization: each rule fires where it should, and no rewrite changes what is TRUE."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from profilec.grammar import ir
from profilec.grammar.parse import parse_condition
from profilec.grammar.print import print_condition
from profilec.planner import normalize as normalize_module
from profilec.planner import scalar_conditions, value_sets, wants
from profilec.planner.normalize import normalize
from profilec.planner.plain import is_plain, tidied
from profilec.planner.reference import evaluate
from profilec.planner.rules import RULE_NAMES, RULES, Rule, cancel_complements
from profilec.planner.wants import Want, split
from tests.planner.random_conditions import Where, random_condition, random_document

# Blocks between blank lines: comments, the rules that must fire (or `none`), a condition, ----, its normal form.
TESTDATA = Path(__file__).parent.parent / "testdata" / "normalize"
DIVIDER = "----"


def blocks_of(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").strip("\n").split("\n\n")


def golden_cases() -> Iterator[Any]:
    for file in sorted(TESTDATA.glob("*.txt")):
        for number, block in enumerate(blocks_of(file)):
            condition = block.partition("\n" + DIVIDER)[0].splitlines()[-1]
            yield pytest.param(file, number, id=f"{file.stem}: {condition}")


@pytest.mark.parametrize(("file", "number"), [*golden_cases()])
def test_golden(file: Path, number: int, rewrite_golden: bool) -> None:
    blocks = blocks_of(file)
    head, _, expected = blocks[number].partition("\n" + DIVIDER)
    *_, expect, text = head.splitlines()
    trace: list[str] = []
    result = print_condition(normalize(parse_condition(text).node, trace=trace))
    rules = expect.removeprefix("expect=").split(",")
    if rules == ["none"]:
        assert not trace
    else:
        assert set(rules) <= set(trace), f"fired: {trace}"
    if rewrite_golden:
        blocks[number] = f"{head}\n{DIVIDER}\n{result}"
        file.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
    else:
        assert result == expected.strip()


def test_every_rule_has_a_golden_case() -> None:
    expected = {
        name
        for file in TESTDATA.glob("*.txt")
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith("expect=")
        for name in line.removeprefix("expect=").split(",")
    }
    assert expected == RULE_NAMES | {"push_negations", "none"}


# ---- the oracle: TRUE for the same documents -------------------------------------------------

Normalizer = Callable[[ir.Condition], ir.Condition]


def first_difference(normalizer: Normalizer, seed: int, n_conditions: int, n_documents: int = 12) -> str | None:
    """A condition and a document that a normalizer gets wrong."""
    rng = random.Random(seed)
    documents = [random_document(rng) for _ in range(60)]
    for _ in range(n_conditions):
        condition = random_condition(rng, Where(depth=rng.randint(1, 3)))
        result = normalizer(condition)
        for document in rng.sample(documents, n_documents):
            store = rng.sample(documents, rng.randrange(3))
            if (evaluate(condition, document, store) is True) != (evaluate(result, document, store) is True):
                return f"{condition!r}\n  became {result!r}\n  for {document} after {store}"
    return None


@pytest.mark.parametrize("rules", ["all", "none", "halves"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_truth_is_preserved(rules: str, seed: int) -> None:
    rng = random.Random(seed)

    def normalizer(condition: ir.Condition) -> ir.Condition:
        if rules == "all":
            return normalize(condition)
        chosen = [name for name in sorted(RULE_NAMES) if rules == "halves" and rng.random() < 0.5]
        return normalize(condition, rules=frozenset(chosen))

    assert first_difference(normalizer, seed=seed, n_conditions=600) is None


def test_truth_is_preserved_with_a_fresh_seed() -> None:
    seed = random.SystemRandom().randrange(2**32)
    assert first_difference(normalize, seed=seed, n_conditions=300) is None, f"seed {seed}"


@pytest.mark.parametrize("seed", [4, 5])
def test_what_is_asked_of_one_scalar_is_merged_exactly(seed: int) -> None:
    """Dense in merges: every leaf asks one attribute, whose values are all that there is."""
    rng = random.Random(seed)
    a = ir.attribute("a")
    constants: list[Any] = [0, 1, 2, "", "a", "b", True, False]
    values: list[Any] = [None, -1, 0, 0.5, 1, 1.5, 2, 3, "", " ", "a", "aa", "b", "c", True, False, [], {}]

    def condition(depth: int) -> ir.Condition:
        if depth == 0:
            leaf: ir.Condition = rng.choice(
                [
                    ir.Compare(rng.choice(("=", "!=", "<", "<=", ">", ">=")), a, ir.constant(rng.choice(constants))),
                    ir.In(a, tuple(ir.constant(rng.choice(constants)) for _ in range(rng.randint(1, 3)))),
                    ir.IsNull(a),
                ]
            )
            return wants.signed(leaf, rng.choice(list(Want)))
        return rng.choice((ir.And, ir.Or))(tuple(condition(rng.randrange(depth)) for _ in range(rng.randint(2, 3))))

    for _ in range(800):
        given = condition(3)
        result = normalize(given)
        assert n_leaves(result) <= n_leaves(given)
        for value in values:
            assert (evaluate(given, {"a": value}) is True) == (evaluate(result, {"a": value}) is True), (given, value)


def plant_not_true_is_false(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(wants, "_TRUTHS", ((True,), (False,), (False,), (True, None)))
    signed = wants.signed
    patch.setattr(wants, "signed", lambda leaf, want: signed(leaf, Want.FALSE if want is Want.NOT_TRUE else want))


def plant_kinds_are_one(patch: pytest.MonkeyPatch) -> None:
    comparison = value_sets.of_comparison
    patch.setattr(
        value_sets,
        "of_comparison",
        lambda operator, kind, value: (
            value_sets.complement(comparison("=", kind, value))
            if operator == "!="
            else comparison(operator, kind, value)
        ),
    )


def plant_null_options_are_nothing(patch: pytest.MonkeyPatch) -> None:
    false_set = scalar_conditions._false_set

    def without_null(leaf: ir.Condition) -> value_sets.ValueSet:
        assert isinstance(leaf, ir.In)
        options = tuple(option for option in leaf.options if option is not ir.NULL)
        return false_set(ir.In(leaf.item, options)) if options else false_set(leaf)

    patch.setattr(scalar_conditions, "_false_set", without_null)


def plant_something_or_its_negation(patch: pytest.MonkeyPatch) -> None:
    module = __import__("sys").modules[cancel_complements.__module__]
    patch.setattr(module, "_EXHAUST", (*module._EXHAUST, module._T | module._F))


def plant_any_is_merged(patch: pytest.MonkeyPatch) -> None:
    def merge_elements(node: ir.Condition) -> ir.Condition:
        assert isinstance(node, ir.And | ir.Or)
        somes = [operand for operand in node.operands if isinstance(operand, ir.Some)]
        if type(node) is ir.Or or len(somes) < 2 or len({some.array for some in somes}) > 1:
            return node
        rest = [operand for operand in node.operands if operand not in somes]
        return ir.and_([ir.Some(somes[0].array, ir.And(tuple(some.body for some in somes))), *rest])

    patch.setattr(normalize_module, "RULES", (*RULES, Rule("merge_elements", False, merge_elements)))
    patch.setattr(normalize_module, "is_plain", lambda condition: False)
    patch.setattr(normalize_module, "is_plain_here", lambda node: False)


def plant_what_is_not_true_is_present(patch: pytest.MonkeyPatch) -> None:
    complement, null = value_sets.complement, value_sets.of_kind(value_sets.NULL)
    patch.setattr(value_sets, "complement", lambda cuts: value_sets._sweep([complement(cuts), complement(null)], 2))


@pytest.mark.parametrize(
    "plant",
    [
        plant_not_true_is_false,
        plant_kinds_are_one,
        plant_null_options_are_nothing,
        plant_something_or_its_negation,
        plant_any_is_merged,
        plant_what_is_not_true_is_present,
    ],
    ids=lambda plant: plant.__name__.removeprefix("plant_"),
)
def test_the_oracle_finds_a_planted_bug(
    plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    normalize_module._choose.cache_clear()
    try:
        found = any(first_difference(normalize, seed=seed, n_conditions=600) is not None for seed in range(1, 5))
    finally:
        normalize_module._choose.cache_clear()
    assert found


# ---- the normal form -------------------------------------------------------------------------


def random_conditions(seed: int, count: int) -> Iterator[ir.Condition]:
    rng = random.Random(seed)
    for _ in range(count):
        yield random_condition(rng)


def n_leaves(node: ir.Condition) -> int:
    return sum(map(n_leaves, node.operands)) if isinstance(node, ir.And | ir.Or) else 1


def assert_in_normal_form(node: ir.Condition, inside: type | None = None) -> None:
    if isinstance(node, ir.And | ir.Or):
        assert type(node) is not inside
        assert len(set(node.operands)) == len(node.operands)
        for operand in node.operands:
            assert_in_normal_form(operand, type(node))
        return
    assert inside is None or not isinstance(node, ir.Literal)
    leaf, want = split(node)
    match leaf:
        case ir.Compare():
            assert want in (Want.TRUE, Want.NOT_TRUE)
            assert not isinstance(leaf.left, ir.Constant)
        case ir.In():
            values = [option.value for option in leaf.options if isinstance(option, ir.Constant)]
            assert len(values) == len(leaf.options) > 1
        case ir.Exists() | ir.ForAll():
            assert want in (Want.TRUE, Want.FALSE)
            assert_in_normal_form(leaf.body)
        case ir.IsNull():
            assert want in (Want.TRUE, Want.FALSE)
        case _:
            assert isinstance(leaf, ir.Like | ir.Matches | ir.Some | ir.Every | ir.Literal)
            assert leaf is not ir.UNKNOWN


def test_results_are_in_normal_form_and_normalize_to_themselves() -> None:
    for condition in random_conditions(seed=6, count=1500):
        result = normalize(condition)
        assert_in_normal_form(result)
        assert normalize(result) is result


def test_literals_stand_alone_whatever_rules_are_off() -> None:
    rng = random.Random(7)
    for condition in random_conditions(seed=7, count=600):
        result = normalize(condition, rules=frozenset(rng.sample(sorted(RULE_NAMES), 4)))
        waiting = [result] if isinstance(result, ir.And | ir.Or) else []
        while waiting:
            for operand in waiting.pop().operands:  # type: ignore[attr-defined]
                assert not isinstance(operand, ir.Literal)
                if isinstance(operand, ir.And | ir.Or):
                    waiting.append(operand)


def test_plain_conditions_are_those_that_no_rule_touches(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(8)
    conditions = [normalize(condition) for condition in random_conditions(seed=8, count=2000)]
    conditions += [random_condition(rng) for _ in range(2000)]
    plain = [condition for condition in conditions if is_plain(condition)]
    assert len(plain) > 500
    monkeypatch.setattr(normalize_module, "is_plain", lambda condition: False)
    monkeypatch.setattr(normalize_module, "is_plain_here", lambda condition: False)
    for condition in plain:
        trace: list[str] = []
        assert normalize(condition, trace=trace) is condition, trace


def test_the_short_way_leads_where_the_rules_lead() -> None:
    rng = random.Random(9)
    conditions = [ir.and_([random_condition(rng) for _ in range(rng.randint(2, 4))]) for _ in range(4000)]
    written = (
        "10 <= a <= 30 AND b IN ('y', 'x', 'y')",
        "c = 1 AND a BETWEEN 0.5 AND 3",
        "1 < a AND b IN (2, 0.5, 3)",
    )
    conditions += [parse_condition(text).node for text in written]
    tidy = [condition for condition in conditions if not is_plain(condition) and tidied(condition) is not None]
    assert len(tidy) > 20
    for condition in tidy:
        trace: list[str] = []
        assert normalize(condition, trace=trace) is normalize(condition)
        assert trace


def test_an_unknown_rule_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="merge_rangs"):
        normalize(ir.Not(ir.TRUE), rules=frozenset({"merge_rangs"}))


# ---- counter-examples that the design names --------------------------------------------------


def normal(text: str) -> str:
    return print_condition(normalize(parse_condition(text).node))


def test_absence_a_range_that_is_empty_is_not_false_under_is_not_true() -> None:
    assert normal("(a < 1 AND a > 2) IS NOT TRUE") == "TRUE"
    assert normal("NOT (a < 1 AND a > 2)") == "a < 1 OR a >= 1"  # not TRUE: a may be absent, or a string
    assert normal("a != 3") == "a != 3"  # not a < 3 OR a > 3 OR a IS NULL


def test_is_true_reaches_the_leaves() -> None:
    assert normal("(NOT (a = 1 AND b = 2)) IS TRUE") == "a != 1 OR b != 2"
    assert normal("NOT ((a = 1 AND b = 2) IS TRUE)") == "(a = 1) IS NOT TRUE OR (b = 2) IS NOT TRUE"


def test_not_stops_at_quantifiers() -> None:
    assert normal("NOT EXISTS d (d.isbn = isbn)") == "NOT EXISTS d (isbn = d.isbn)"
    assert normal("NOT FORALL d (isbn != d.isbn)") == "NOT FORALL d (isbn != d.isbn)"
    assert normal("(NOT EXISTS d (d.isbn = isbn)) IS NOT FALSE") == "NOT EXISTS d (isbn = d.isbn)"
    without_isbn: list[dict[str, Any]] = [{}]
    never_seen = normalize(parse_condition("NOT EXISTS d (d.isbn = isbn)").node)
    all_differ = normalize(parse_condition("FORALL d (isbn != d.isbn)").node)
    assert evaluate(never_seen, {"isbn": 1}, without_isbn) is True
    assert evaluate(all_differ, {"isbn": 1}, without_isbn) is False


def test_not_stops_at_arrays_of_records() -> None:
    text = "NOT ANY items AS i (i.x = 1 AND i.x = 2)"
    assert normal(text) == text


def test_any_is_never_merged_or_split() -> None:
    for text in (
        "ANY(x) >= 3 AND ANY(x) <= 12",
        "ANY(x) < 3 AND ANY(x) > 12",
        "ANY(x) = 1 OR ANY(x) = 2",
        "ALL(x) = 1 OR ALL(x) = 2",
        "ANY(x) BETWEEN 3 AND 12",
    ):
        assert normal(text) == text
    both = normalize(parse_condition("ANY(x) < 3 AND ANY(x) > 12").node)
    assert evaluate(both, {"x": [1, 20]}) is True


def test_kinds_have_their_own_gaps() -> None:
    everything = normalize(parse_condition("a < 1 OR a >= 1").node)
    assert everything is not ir.TRUE
    assert [evaluate(everything, {"a": value}) for value in (0, 1, 5.5, "x", True, None, [])] == [True] * 3 + [None] * 4
    assert normal("a = 1 AND a = 'x'") == "FALSE"
    assert normal("a != 1 AND a != 'x'") == "FALSE"


def test_not_in_with_null_is_never_true() -> None:
    assert normal("x NOT IN (1, NULL)") == "FALSE"
    assert normal("x NOT IN (1, 'a')") == "FALSE"
    assert normal("(x NOT IN (1, NULL)) IS NOT TRUE") == "TRUE"
    assert normal("x IN (1, NULL)") == "x = 1"
    assert normal("3 NOT BETWEEN 5 AND NULL") == "TRUE"


def test_numbers_beyond_doubles_stay_apart() -> None:
    assert normal("a = 9007199254740993 AND a = 9007199254740992") == "FALSE"
    assert normal("a = 9007199254740993 OR a = 9007199254740992") == "a IN (9007199254740992, 9007199254740993)"


def test_a_double_is_not_folded_into_exact_arithmetic() -> None:
    condition = parse_condition("a + 10 / 4 = 9007199254740995.5").node
    assert evaluate(condition, {"a": 9007199254740993}) is False
    assert evaluate(normalize(condition), {"a": 9007199254740993}) is False


# ---- size ------------------------------------------------------------------------------------


def test_an_or_of_100_000_equalities_is_one_list() -> None:
    a = ir.attribute("a")
    result = normalize(ir.Or(tuple(ir.Compare("=", a, ir.constant(i)) for i in range(100_000))))
    assert isinstance(result, ir.In)
    assert len(result.options) == 100_000


def test_40_000_conjunctions_that_share_parts_are_absorbed_within_a_budget() -> None:
    p, q = (ir.Compare("=", ir.attribute(name), ir.constant(1)) for name in "pq")
    others = [ir.Compare("=", ir.attribute(f"x{i}"), ir.constant(i)) for i in range(20_000)]
    result = normalize(ir.Or((*(ir.And((p, other)) for other in others), *(ir.And((q, other)) for other in others))))
    assert n_leaves(result) == 80_000


def test_deep_nests_are_rewritten_from_the_top() -> None:
    condition: ir.Condition = ir.Or(
        tuple(ir.Compare("=", ir.attribute(f"a{i}"), ir.constant(i)) for i in range(20_000))
    )
    for level in range(190):
        condition = ir.Not(ir.And((condition, ir.Compare("=", ir.attribute(f"b{level}"), ir.constant(level)))))
    assert isinstance(normalize(condition), ir.And | ir.Or)


def test_a_nest_of_is_unknown_stays_shared() -> None:
    """As a tree it would double with every level."""
    condition: ir.Condition = ir.Compare("=", ir.attribute("a"), ir.constant(1))
    for level in range(60):
        b, c = (ir.Compare("=", ir.attribute(f"{name}{level}"), ir.constant(1)) for name in "bc")
        condition = ir.IsTruth(ir.Or((ir.And((condition, b)), c)), None)
    assert isinstance(normalize(condition), ir.And | ir.Or)
