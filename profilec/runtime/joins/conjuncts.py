"""What a join term asks of the store, as conjunctions: of each, what narrows the documents down stands apart.

In: a join term. Out: `Question`, whose conjunctions range over the earlier documents in the term's LAST:

    EXISTS holds iff some document satisfies one of them
    FORALL holds iff none does: they say of a document that it is in range and the body is not TRUE

    d.user = user           a key: documents are looked up by it
    d.amount > amount       a comparison of an expression over the earlier document with a value
    d.amount > 500, amount > 500    the same with a constant, which terms of one shape may differ in
    d.name LIKE 'x%'        a filter: over the earlier document alone
    country != 'nl'         a guard: over the new document alone
    d.a + a < 5             the rest: asked of each document that is left

WITHIN is two comparisons, WHERE a condition like the body's.

Invariant: a conjunction never says UNKNOWN. What a comparison says of values that do not compare (`or_other`) is
decided here, from the truths wanted: FALSE for TRUE, and TRUE for not TRUE.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple, TypeAlias

from profilec.runtime.image import WANT_FALSE, WANT_NOT_FALSE, WANT_NOT_TRUE, WANT_TRUE
from profilec.runtime.program import Instruction, JoinTerm, Program
from profilec.runtime.store.columns import OTHER
from profilec.values.compare import MIRRORED_OPERATOR, NEGATED_OPERATOR
from profilec.values.kinds import Interval, Value

MOST_CONJUNCTIONS = 16
"""More are not built: the term is then asked of each document."""
_NEW, _OLD = 1, 2
_MIRRORED_WANT = (WANT_FALSE, WANT_TRUE, WANT_NOT_FALSE, WANT_NOT_TRUE)


class Comparison(NamedTuple):
    """`old operator new`, of which `new` is a program over the new document, or None for a constant of the term.

    `old` is a program over the earlier document; that of a guard is None, and `new` stands on its left: `new operator
    constant`. `minus`: the interval that WITHIN takes from `new` first.
    """

    old: Program | None
    operator: str
    new: Program | None
    or_other: bool = False
    minus: Interval | None = None


class Conjunction(NamedTuple):
    """All that one earlier document has to satisfy."""

    keys: tuple[Comparison, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    filter: Program | None = None
    limits: tuple[Comparison, ...] = ()
    guard: Program | None = None
    rest: Program | None = None


class Question(NamedTuple):
    """The shape of a term: what terms that differ only in constants have in common."""

    negated: bool
    last: int | None
    conjunctions: tuple[Conjunction, ...]


Constants: TypeAlias = tuple[tuple[Value, ...], ...]
"""For each conjunction those of its keys, comparisons and limits that have `new` or `old` None, in their order."""


class _Node(NamedTuple):
    instruction: Instruction
    operands: tuple[_Node, ...]
    program: Program
    scopes: int


def question_of(term: JoinTerm) -> tuple[Question, Constants]:
    """The shape of a term, and its constants."""
    body = _parsed(term.body)
    is_all = term.kind == "forall"
    wanted = [_pushed(body, WANT_NOT_TRUE if is_all else WANT_TRUE)]
    if term.where is not None:
        wanted.append(_pushed(_parsed(term.where), WANT_TRUE))
    window = _window(term)
    parts = _disjuncts(_And(wanted))
    if parts is None:
        rest = _condition(body, WANT_NOT_TRUE if is_all else WANT_TRUE)
        if term.where is not None:
            rest = (*rest, *term.where, ("and", 2))
        parts = [[_Rest(rest)]]
    pairs = [_conjunction([*part, *window]) for part in parts]
    conjunctions = tuple(conjunction for conjunction, _ in pairs)
    return Question(is_all, term.last, conjunctions), tuple(constants for _, constants in pairs)


def _window(term: JoinTerm) -> list[Comparison]:
    if term.within is None or term.within_of is None:
        return []
    old, new = ((("attribute", scope, term.within_of, term.within_type),) for scope in (1, 0))
    return [Comparison(old, ">=", new, minus=term.within), Comparison(old, "<=", new)]


def _parsed(program: Program) -> _Node:
    stack: list[_Node] = []
    for instruction in program:
        n = _n_operands(instruction)
        operands = tuple(stack[len(stack) - n :])
        del stack[len(stack) - n :]
        scopes = _own_scopes(instruction)
        for operand in operands:
            scopes |= operand.scopes
        own = tuple(step for operand in operands for step in operand.program)
        stack.append(_Node(instruction, operands, (*own, instruction), scopes))
    return stack.pop()


def _n_operands(instruction: Instruction) -> int:
    match instruction[0]:
        case "attribute" | "constant" | "literal":
            return 0
        case "compare" | "like" | "order":
            return 2
        case "call":
            return int(instruction[2])
        case "and" | "or":
            return int(instruction[1])
        case "in":
            return int(instruction[1]) + 1
    return 1


def _own_scopes(instruction: Instruction) -> int:
    if instruction[0] == "attribute":
        return (_NEW, _OLD, 0)[min(instruction[1], 2)]
    if instruction[0] in ("some", "every"):
        scopes = 0
        for inner in instruction[1]:
            scopes |= _own_scopes(inner)
        return scopes
    return 0


class _And(NamedTuple):
    operands: list[Any]


class _Or(NamedTuple):
    operands: list[Any]


class _Guard(NamedTuple):
    program: Program


class _Filter(NamedTuple):
    program: Program


class _Rest(NamedTuple):
    program: Program


class _Constant(NamedTuple):
    comparison: Comparison
    value: Value


_TRUE, _FALSE = _And([]), _Or([])


def _pushed(node: _Node, want: int) -> Any:
    """A tree of _And and _Or over comparisons, guards, filters and what is left, that holds where `node` has the truth
    wanted."""
    operation = node.instruction[0]
    if operation == "not":
        return _pushed(node.operands[0], _MIRRORED_WANT[want])
    if operation == "literal":
        truth = node.instruction[1]
        holds = (truth is True, truth is False, truth is not True, truth is not False)[want]
        return _TRUE if holds else _FALSE
    if operation == "is_truth" and node.scopes == _NEW | _OLD:
        return _pushed_is_truth(node, want in (WANT_TRUE, WANT_NOT_FALSE))
    if operation in ("and", "or"):
        is_and = (operation == "and") == (want in (WANT_TRUE, WANT_NOT_FALSE))
        if is_and or node.scopes == _NEW | _OLD:
            return (_And if is_and else _Or)([_pushed(operand, want) for operand in node.operands])
    if operation == "in" and node.scopes == _NEW | _OLD:
        item, *options = node.operands
        equal = [_pushed_comparison("=", item, option, want) for option in options]
        return (_Or if want in (WANT_TRUE, WANT_NOT_FALSE) else _And)(equal)
    if operation == "compare":
        left, right = node.operands
        return _pushed_comparison(node.instruction[1], left, right, want)
    return _left(node, want)


def _pushed_is_truth(node: _Node, wanted: bool) -> Any:
    (operand,), truth = node.operands, node.instruction[1]
    if truth is None:
        is_known = _Or([_pushed(operand, WANT_TRUE), _pushed(operand, WANT_FALSE)])
        is_unknown = _And([_pushed(operand, WANT_NOT_TRUE), _pushed(operand, WANT_NOT_FALSE)])
        return is_unknown if wanted else is_known
    has, has_not = (WANT_TRUE, WANT_NOT_TRUE) if truth else (WANT_FALSE, WANT_NOT_FALSE)
    return _pushed(operand, has if wanted else has_not)


def _pushed_comparison(operator: str, left: _Node, right: _Node, want: int) -> Any:
    or_other = want in (WANT_NOT_TRUE, WANT_NOT_FALSE)
    if want in (WANT_FALSE, WANT_NOT_TRUE):
        operator = NEGATED_OPERATOR[operator]
    if (left.scopes in (_NEW, 0) and right.scopes == _OLD) or (left.scopes == 0 and right.scopes == _NEW):
        left, right, operator = right, left, MIRRORED_OPERATOR[operator]
    if left.scopes == _OLD and right.scopes == _NEW:
        return _compared(Comparison(left.program, operator, right.program, or_other))
    if left.scopes in (_OLD, _NEW) and right.instruction[0] == "constant":
        value = right.instruction[1]
        if left.scopes == _NEW:
            return _Constant(Comparison(None, operator, left.program, or_other), value)
        compared = _compared(Comparison(left.program, operator, None, or_other))
        if isinstance(compared, _Or):
            return _Or([_Constant(one, value) for one in compared.operands])
        return _Constant(compared, value)
    program = (*left.program, *right.program, ("compare", operator))
    scopes = left.scopes | right.scopes
    return _of_scopes((*program, ("is_truth", False), ("not",)) if or_other else program, scopes)


def _compared(comparison: Comparison) -> Any:
    """An equality is looked up alone; `or_other` is asked apart."""
    if comparison.operator == "=" and comparison.or_other:
        differs = comparison._replace(operator=OTHER)
        return _Or([comparison._replace(or_other=False), differs])
    return comparison


def _left(node: _Node, want: int) -> Any:
    return _of_scopes(_condition(node, want), node.scopes)


def _of_scopes(program: Program, scopes: int) -> Any:
    if scopes == _OLD:
        return _Filter(program)
    return _Guard(program) if scopes in (_NEW, 0) else _Rest(program)


def _condition(node: _Node, want: int) -> Program:
    """What is TRUE where the node has the truth wanted, and else not."""
    suffix: tuple[Program, ...] = ((), (("not",),), (("is_truth", True), ("not",)), (("is_truth", False), ("not",)))
    return (*node.program, *suffix[want])


def _disjuncts(tree: Any) -> list[list[Any]] | None:
    """The tree's disjunctive form; None where it is too large."""
    if isinstance(tree, _Or):
        found: list[list[Any]] = []
        for operand in tree.operands:
            own = _disjuncts(operand)
            if own is None or len(found) + len(own) > MOST_CONJUNCTIONS:
                return None
            found += own
        return found
    if isinstance(tree, _And):
        parts: list[list[list[Any]]] = []
        n = 1
        for operand in tree.operands:
            own = _disjuncts(operand)
            if own is None:
                return None
            parts.append(own)
            n *= len(own)
            if n > MOST_CONJUNCTIONS:
                return None
        return [[leaf for one in chosen for leaf in one] for chosen in product(*parts)]
    return [[tree]]


def _conjunction(leaves: Sequence[Any]) -> tuple[Conjunction, tuple[Value, ...]]:
    """The leaves by what they are; constants in the order in which they are asked for."""
    keys: list[tuple[Comparison, list[Value]]] = []
    comparisons: list[tuple[Comparison, list[Value]]] = []
    limits: list[tuple[Comparison, list[Value]]] = []
    conditions: dict[type, list[Program]] = {_Filter: [], _Guard: [], _Rest: []}
    for leaf in leaves:
        if type(leaf) in conditions:
            conditions[type(leaf)].append(leaf.program)
            continue
        comparison, constant = (leaf.comparison, [leaf.value]) if isinstance(leaf, _Constant) else (leaf, [])
        if comparison.old is None:
            limits.append((comparison, constant))
        elif comparison.operator == "=":
            keys.append((comparison, constant))
        else:
            comparisons.append((comparison, constant))
    conjunction = Conjunction(
        tuple(comparison for comparison, _ in keys),
        tuple(comparison for comparison, _ in comparisons),
        _all_of(conditions[_Filter]),
        tuple(comparison for comparison, _ in limits),
        _all_of(conditions[_Guard]),
        _all_of(conditions[_Rest]),
    )
    constants = tuple(value for _, own in (*keys, *comparisons, *limits) for value in own)
    return conjunction, constants


def _all_of(programs: list[Program]) -> Program | None:
    if not programs:
        return None
    if len(programs) == 1:
        return programs[0]
    return (*(step for program in programs for step in program), ("and", len(programs)))
