"""CNF and DNF: a normalized condition spelled out as clauses, or refused where that would explode.

In: a condition in normal form (`normalize`). Out: an equivalent AND of ORs of signed leaves (CNF),
or OR of ANDs (DNF). Conditions with one level less are both: a leaf, an OR of leaves.

The *distance* of a condition from a form is how many more leaves the form would have at most. It is
counted in one pass, before anything is built; sqlglot's `normalization_distance` is the model.

Invariant: what is built has at most `max_distance` leaves more than the condition. NULL: AND and OR
distribute over each other under three-valued logic, so the forms are exact; of a signed leaf only
TRUE matters, so an AND of contradictory signs is dropped.

A matcher that needs clauses takes these (OpIndex takes either, BE-Tree DNF); `lower` does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import log10

from profilec.grammar import ir
from profilec.planner.rules.absorb_terms import absorb_terms
from profilec.planner.rules.cancel_complements import cancel_complements
from profilec.planner.wants import join

DEFAULT_MAX_DISTANCE = 10_000
# A number of leaves that is never built is told to this size, then "more than" it.
_LARGEST_TOLD = 10**100

Connective = type[ir.And] | type[ir.Or]


class NormalFormTooLarge(Exception):  # noqa: N818 (it says what is wrong with the form, not with the program)
    """The form asked for would have too many leaves: `distance` more than the condition has."""

    def __init__(self, form: str, distance: int, max_distance: int, hint: str) -> None:
        super().__init__(form, distance, max_distance, hint)
        self.form, self.distance, self.max_distance, self.hint = form, distance, max_distance, hint

    def __str__(self) -> str:
        most, told = f"at most {self.max_distance:,} are allowed", _told(self.distance)
        return f"the {self.form} of this condition would have {told} leaves more; {most}\n  hint: {self.hint}"


@dataclass(frozen=True, slots=True)
class _Size:
    """Clauses of a form and leaves in all of them, each at most _LARGEST_TOLD."""

    clauses: int
    leaves: int


def to_cnf(condition: ir.Condition, *, max_distance: int = DEFAULT_MAX_DISTANCE) -> ir.Condition:
    """The condition as an AND of ORs.

    >>> p, q, r = (ir.Compare("=", ir.attribute(name), ir.constant(1)) for name in "pqr")
    >>> to_cnf(ir.Or((p, ir.And((q, r))))) is ir.And((ir.Or((p, q)), ir.Or((p, r))))
    True

    Raises:
        NormalFormTooLarge: its distance from this form exceeds `max_distance`.
    """
    return _to_form(condition, ir.And, max_distance)


def to_dnf(condition: ir.Condition, *, max_distance: int = DEFAULT_MAX_DISTANCE) -> ir.Condition:
    """The condition as an OR of ANDs.

    Raises:
        NormalFormTooLarge: its distance from this form exceeds `max_distance`.
    """
    return _to_form(condition, ir.Or, max_distance)


def cnf_distance(condition: ir.Condition) -> int:
    """How many more leaves than the condition its CNF has at most; 0 for what is in CNF.

    >>> p, q, r = (ir.Compare("=", ir.attribute(name), ir.constant(1)) for name in "pqr")
    >>> cnf_distance(ir.Or((p, ir.And((q, r))))), dnf_distance(ir.Or((p, ir.And((q, r)))))
    (1, 0)
    """
    return _distance(condition, ir.And)


def dnf_distance(condition: ir.Condition) -> int:
    """How many more leaves than the condition its DNF has at most; 0 for what is in DNF."""
    return _distance(condition, ir.Or)


def _distance(condition: ir.Condition, outer: Connective) -> int:
    leaves = _size(condition, outer, {}).leaves
    return leaves if leaves == _LARGEST_TOLD else leaves - _n_leaves(condition, {})


def _size(node: ir.Condition, outer: Connective, known: dict[ir.Condition, _Size]) -> _Size:
    """The size of the form, multiplied out: clauses add up under `outer`, and combine under the other connective."""
    if type(node) is not ir.And and type(node) is not ir.Or:
        return _Size(1, 1)
    if node not in known:
        clauses, leaves = (0, 0) if type(node) is outer else (1, 0)
        for operand in node.operands:
            size = _size(operand, outer, known)
            if type(node) is outer:
                clauses, leaves = clauses + size.clauses, leaves + size.leaves
            else:
                clauses, leaves = clauses * size.clauses, leaves * size.clauses + clauses * size.leaves
            clauses, leaves = min(clauses, _LARGEST_TOLD), min(leaves, _LARGEST_TOLD)
        known[node] = _Size(clauses, leaves)
    return known[node]


def _n_leaves(node: ir.Condition, known: dict[ir.Condition, int]) -> int:
    if type(node) is not ir.And and type(node) is not ir.Or:
        return 1
    if node not in known:
        count = 0
        for operand in node.operands:
            count += _n_leaves(operand, known)
        known[node] = count
    return known[node]


def _to_form(condition: ir.Condition, outer: Connective, max_distance: int) -> ir.Condition:
    inner: Connective = ir.Or if outer is ir.And else ir.And
    distance = _distance(condition, outer)
    if distance > max_distance:
        form, other = ("CNF", "DNF") if outer is ir.And else ("DNF", "CNF")
        distance_of_other = _distance(condition, inner)
        small = distance_of_other <= max_distance
        hint = f"its {other} has {_told(distance_of_other)} more" if small else f"its {other} is as large; use neither"
        raise NormalFormTooLarge(form, distance, max_distance, hint)
    if distance == 0 and _is_form(condition, outer, inner):
        return condition
    clauses = [_simplified(join(inner, [*clause])) for clause in _clauses(condition, outer)]
    return _simplified(join(outer, [*dict.fromkeys(clauses)]))


def _is_form(condition: ir.Condition, outer: Connective, inner: Connective) -> bool:
    for clause in condition.operands if isinstance(condition, outer) else (condition,):
        for part in clause.operands if isinstance(clause, inner) else (clause,):
            if type(part) is ir.And or type(part) is ir.Or:
                return False
    return True


def _clauses(node: ir.Condition, outer: Connective) -> list[dict[ir.Condition, None]]:
    """The clauses of the form, each an ordered set of signed leaves."""
    if type(node) is not ir.And and type(node) is not ir.Or:
        return [{node: None}]
    of_operands: list[list[dict[ir.Condition, None]]] = []
    for operand in node.operands:
        of_operands.append(_clauses(operand, outer))  # noqa: PERF401 (a comprehension costs a frame)
    if type(node) is outer:
        return [clause for clauses in of_operands for clause in clauses]
    combined: list[dict[ir.Condition, None]] = []
    for choice in product(*of_operands):
        clause: dict[ir.Condition, None] = {}
        for part in choice:
            clause |= part
        combined.append(clause)
    return combined


def _simplified(node: ir.Condition) -> ir.Condition:
    for rule in (cancel_complements, absorb_terms):
        if type(node) is ir.And or type(node) is ir.Or:
            node = rule(node)
    return node


def _told(number: int) -> str:
    if number >= _LARGEST_TOLD:
        return "more than 10^100"
    return f"{number:,}" if number < 10**9 else f"about 10^{log10(number):.0f}"
