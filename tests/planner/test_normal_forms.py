"""CNF and DNF: the right shape, the same truth, and a refusal where the form would explode."""

from __future__ import annotations

import pickle
import random

import pytest

from profilec.grammar import ir
from profilec.grammar.parse import parse_condition
from profilec.grammar.print import print_condition
from profilec.planner.normal_forms import NormalFormTooLarge, cnf_distance, dnf_distance, to_cnf, to_dnf
from profilec.planner.normalize import normalize
from profilec.planner.reference import evaluate
from tests.planner.random_conditions import Where, random_condition, random_document


def leaf(name: str, value: int = 1) -> ir.Condition:
    return ir.Compare("=", ir.attribute(name), ir.constant(value))


def n_leaves(node: ir.Condition) -> int:
    return sum(map(n_leaves, node.operands)) if isinstance(node, ir.And | ir.Or) else 1


def is_form(node: ir.Condition, outer: type, inner: type) -> bool:
    clauses = node.operands if isinstance(node, outer) else (node,)  # type: ignore[attr-defined]
    leaves = [part for clause in clauses for part in (clause.operands if isinstance(clause, inner) else (clause,))]
    return not any(isinstance(part, ir.And | ir.Or) for part in leaves)


@pytest.mark.parametrize(
    ("text", "cnf", "dnf"),
    [
        ("a = 1", "a = 1", "a = 1"),
        ("a = 1 AND b = 2", "a = 1 AND b = 2", "a = 1 AND b = 2"),
        ("a = 1 OR b = 2", "a = 1 OR b = 2", "a = 1 OR b = 2"),
        (
            "a = 1 AND b = 2 OR c = 3",
            "(a = 1 OR c = 3) AND (b = 2 OR c = 3)",
            "a = 1 AND b = 2 OR c = 3",
        ),
        (
            "a = 1 AND (b = 2 OR c = 3 AND d = 4)",
            "a = 1 AND (b = 2 OR c = 3) AND (b = 2 OR d = 4)",
            "a = 1 AND b = 2 OR a = 1 AND c = 3 AND d = 4",
        ),
        # a clause that another makes needless is dropped
        (
            "(a = 1 OR b = 2) AND (b = 2 OR c = 3 OR d = 4) AND (a = 1 OR e = 5)",
            "(a = 1 OR b = 2) AND (b = 2 OR c = 3 OR d = 4) AND (a = 1 OR e = 5)",
            "a = 1 AND b = 2 OR a = 1 AND c = 3 OR a = 1 AND d = 4 OR b = 2 AND e = 5",
        ),
        # so is one that is never TRUE
        (
            "(a LIKE 'x%' OR b = 1) AND (a NOT LIKE 'x%' OR c = 1)",
            "(a LIKE 'x%' OR b = 1) AND (a NOT LIKE 'x%' OR c = 1)",
            "a LIKE 'x%' AND c = 1 OR b = 1 AND a NOT LIKE 'x%' OR b = 1 AND c = 1",
        ),
        # but not one that is UNKNOWN where a is absent
        (
            "a LIKE 'x%' AND b = 1 OR a NOT LIKE 'x%' AND c = 1",
            "(a LIKE 'x%' OR a NOT LIKE 'x%') AND (a LIKE 'x%' OR c = 1)"
            " AND (b = 1 OR a NOT LIKE 'x%') AND (b = 1 OR c = 1)",
            "a LIKE 'x%' AND b = 1 OR a NOT LIKE 'x%' AND c = 1",
        ),
    ],
)
def test_forms(text: str, cnf: str, dnf: str) -> None:
    condition = normalize(parse_condition(text).node)
    assert print_condition(to_cnf(condition)) == cnf
    assert print_condition(to_dnf(condition)) == dnf


def test_forms_of_random_conditions_have_their_shape_and_the_same_truth() -> None:
    rng = random.Random(1)
    documents = [random_document(rng) for _ in range(40)]
    n_built = n_refused = 0
    for _ in range(500):
        condition = normalize(random_condition(rng, Where(depth=4)))
        for to_form, distance, outer, inner in (
            (to_cnf, cnf_distance, ir.And, ir.Or),
            (to_dnf, dnf_distance, ir.Or, ir.And),
        ):
            try:
                form = to_form(condition, max_distance=50)
            except NormalFormTooLarge:
                n_refused += distance(condition) > 50
                continue
            n_built += form is not condition
            assert is_form(form, outer, inner)
            assert distance(condition) <= 50
            assert n_leaves(form) <= n_leaves(condition) + distance(condition)
            for document in rng.sample(documents, 8):
                store = documents[:2]
                assert evaluate(form, document, store) is evaluate(condition, document, store) or (
                    evaluate(form, document, store) is not True and evaluate(condition, document, store) is not True
                )
    assert n_built > 100
    assert n_refused > 3


def test_an_or_of_400_conjunctions_is_its_dnf_and_has_no_cnf() -> None:
    condition = ir.Or(tuple(ir.And((leaf(f"a{i}"), leaf(f"b{i}"), leaf(f"c{i}"))) for i in range(400)))
    assert to_dnf(condition) is condition
    assert dnf_distance(condition) == 0
    with pytest.raises(NormalFormTooLarge, match="the CNF of this condition would have more than") as refusal:
        to_cnf(condition)
    assert refusal.value.hint == "its DNF has 0 more"


def test_an_and_of_40_ors_of_10_is_its_cnf_and_has_no_dnf() -> None:
    condition = ir.And(tuple(ir.Or(tuple(leaf(f"a{i}_{j}") for j in range(10))) for i in range(40)))
    assert to_cnf(condition) is condition
    with pytest.raises(NormalFormTooLarge, match=r"about 10\^42 leaves more; at most 10,000") as refusal:
        to_dnf(condition)
    assert refusal.value.distance == 40 * 10**40 - 400
    assert refusal.value.hint == "its CNF has 0 more"


def test_distance_is_counted_before_anything_is_built() -> None:
    condition = ir.Or((ir.And((leaf("a"), leaf("b"))), ir.And((leaf("c"), leaf("d")))))
    assert (cnf_distance(condition), dnf_distance(condition)) == (4, 0)
    assert n_leaves(to_cnf(condition, max_distance=4)) == 8
    with pytest.raises(NormalFormTooLarge, match="4 leaves more; at most 3 are allowed"):
        to_cnf(condition, max_distance=3)


def test_a_nest_that_is_large_as_a_tree_is_refused_either_way() -> None:
    condition: ir.Condition = leaf("a")
    for level in range(80):
        inside = ir.Or((ir.And((condition, leaf(f"b{level}"))), leaf(f"c{level}")))
        condition = ir.IsTruth(inside, None)
    for to_form in (to_cnf, to_dnf):
        with pytest.raises(NormalFormTooLarge, match="use neither"):
            to_form(normalize(condition))


def test_an_or_of_100_000_leaves_is_both_forms() -> None:
    condition = ir.Or(tuple(leaf(f"a{i}") for i in range(100_000)))
    assert to_cnf(condition) is condition
    assert to_dnf(condition) is condition


def test_the_refusal_survives_pickling() -> None:
    refusal = NormalFormTooLarge("CNF", 7, 3, "its DNF has 0 more")
    assert str(pickle.loads(pickle.dumps(refusal))) == str(refusal)
