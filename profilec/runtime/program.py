"""Programs: scalars and conditions that are decided per document, as postfix code on one stack.

In: a program and the documents it speaks of. Out: a value (`profilec.values.kinds.Value`) or a
truth (True, False, None for UNKNOWN). The planner writes programs; a matcher runs them for
derived slots, for terms, for joins and for `why`.

    price < list_price     ("attribute", 0, ("price",), None)
                           ("attribute", 0, ("list_price",), None)
                           ("compare", "<")

    ("attribute", scope, parts, type)   scope 0: the new document, 1: the old one, 2 + k: element k, whole if no parts
    ("constant", value)   ("call", name, n)   ("cast", to)
    ("compare", operator)   ("order",): -1, 0, 1 or NULL   ("in", n)   ("is_null",)   ("is_truth", truth)
    ("like", escape, ignore_case)   ("like_constant", LikePattern, ignore_case)   ("matches", pattern)
    ("not",)   ("and", n)   ("or", n)   ("literal", truth)
    ("some", body)   ("every", body)    pop an array, run the body for each element
    ("exists", JoinTerm)   ("forall", JoinTerm)

Invariant: a program leaves exactly one item on the stack. Nothing is cut short, so the steps of
`run_traced` are complete; the cost is linear in the program (and in the elements of its arrays).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from profilec.values.compare import compare, order, truth_and, truth_not, truth_or
from profilec.values.functions import call, cast
from profilec.values.kinds import Interval, Truth, Value
from profilec.values.paths import elements_of, lookup
from profilec.values.types import Type, read_as

Instruction: TypeAlias = tuple[Any, ...]
Program: TypeAlias = tuple[Instruction, ...]
Document: TypeAlias = Mapping[str, Any]
Parts: TypeAlias = tuple[str, ...]
Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class JoinTerm:
    """A quantifier over the earlier documents in scope: LAST, then WITHIN, then WHERE.

    `within_of`: the parts of the attribute, of both documents, that WITHIN compares; read as `within_type`.
    """

    kind: Literal["exists", "forall"]
    body: Program
    where: Program | None = None
    within: Interval | None = None
    within_of: tuple[str, ...] | None = None
    within_type: Type | None = None
    last: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """What a traced predicate or connective saw: its operands (truths, for a connective) and the truth it gave."""

    start: int
    end: int
    values: tuple[Any, ...]
    truth: Truth


class _Scope(NamedTuple):
    """The documents and elements that the attributes of one run speak of."""

    document: Document
    old: Document | None
    elements: tuple[Value, ...]
    store: Sequence[Document] | None


def run(
    program: Program,
    document: Document,
    old: Document | None = None,
    elements: tuple[Value, ...] = (),
    store: Sequence[Document] | None = None,
) -> Any:
    """The value or truth that a program gives.

    >>> run((("attribute", 0, ("price",), None), ("constant", 10), ("compare", "<")), {"price": 9.5})
    True

    Raises:
        DocumentError: an attribute that the program reads holds a value of no kind.
    """
    scope = _Scope(document, old, elements, store)
    stack: list[Any] = []
    for instruction in program:
        _OPERATIONS[instruction[0]](stack, instruction, scope)
    return stack.pop()


def run_traced(
    program: Program,
    spans: Sequence[Span | None],
    document: Document,
    store: Sequence[Document] | None = None,
) -> tuple[Truth, list[Step]]:
    """The truth of a condition, and a step for each of its predicates and connectives that has a span.

    `spans` are parallel to the instructions of the program; bodies of arrays and joins are not entered.
    """
    scope = _Scope(document, None, (), store)
    stack: list[Any] = []
    steps: list[Step] = []
    for instruction, span in zip(program, spans, strict=True):
        operation = instruction[0]
        traced = span is not None and operation in _N_OPERANDS
        operands = tuple(stack[len(stack) - _n_operands(instruction) :]) if traced else ()
        _OPERATIONS[operation](stack, instruction, scope)
        if traced and span is not None:
            steps.append(Step(span[0], span[1], operands, stack[-1]))
    return stack.pop(), steps


def identity(program: Program) -> tuple[Any, ...]:
    """What tells programs apart: Python takes 1, 1.0 and True for equal.

    >>> identity((("constant", 1),)) == identity((("constant", True),))
    False
    """
    found: list[Any] = []
    for instruction in program:
        match instruction[0]:
            case "constant":
                found.append((*instruction, type(instruction[1])))
            case "some" | "every":
                found.append((instruction[0], identity(instruction[1])))
            case _:
                found.append(instruction)
    return tuple(found)


def attributes_read(program: Program, scope: int = 0) -> dict[Parts, None]:
    """The attributes of the new document that a program reads (scope 1: of the earlier one), also in bodies of arrays
    and joins; in order.

    >>> list(attributes_read((("attribute", 0, ("a", "b"), None), ("is_null",))))
    [('a', 'b')]
    """
    found: dict[Parts, None] = {}
    pending: list[Program] = [program]
    while pending:
        for instruction in pending.pop():
            match instruction[0]:
                case "attribute" if instruction[1] == scope:
                    found[instruction[2]] = None
                case "some" | "every":
                    pending.append(instruction[1])
                case "exists" | "forall":
                    term = instruction[1]
                    pending.append(term.body)
                    if term.where is not None:
                        pending.append(term.where)
                    if term.within_of is not None and scope == 0:
                        found[term.within_of] = None
    return found


# A predicate or connective pops this many items; None: as many as its argument says. Nothing else is traced.
_N_OPERANDS: dict[str, int | None] = {
    "compare": 2,
    "in": None,
    "like": 2,
    "like_constant": 1,
    "matches": 1,
    "is_null": 1,
    "is_truth": 1,
    "not": 1,
    "and": None,
    "or": None,
    "literal": 0,
    "some": 1,
    "every": 1,
    "exists": 0,
    "forall": 0,
}


def _n_operands(instruction: Instruction) -> int:
    fixed = _N_OPERANDS[instruction[0]]
    if fixed is not None:
        return fixed
    n: int = instruction[1]
    return n + 1 if instruction[0] == "in" else n


def _attribute(stack: list[Any], instruction: Instruction, scope: _Scope) -> None:
    _, number, parts, type_ = instruction
    value: Value
    if number == 0:
        value = lookup(scope.document, parts)
    elif number == 1:
        value = None if scope.old is None else lookup(scope.old, parts)
    else:
        value = scope.elements[number - 2]
        if parts:
            value = lookup(value, parts) if isinstance(value, Mapping) else None
    stack.append(value if type_ is None else read_as(value, type_))


def _constant(stack: list[Any], instruction: Instruction, scope: _Scope) -> None:
    stack.append(instruction[1])


def _call(stack: list[Any], instruction: Instruction, scope: _Scope) -> None:
    stack.append(call(instruction[1], popped(stack, instruction[2])))


def _cast(stack: list[Any], instruction: Instruction, scope: _Scope) -> None:
    stack.append(cast(stack.pop(), instruction[1]))


def _compare(stack: list[Any], instruction: Instruction, scope: _Scope) -> None:
    right = stack.pop()
    stack.append(compare(instruction[1], stack.pop(), right))


def _order(stack: list[Any], instruction: Instruction, scope: _Scope) -> None:
    right = stack.pop()
    stack.append(order(stack.pop(), right))


def _in(stack: list[Any], instruction: Instruction, scope: _Scope) -> None:
    options = popped(stack, instruction[1])
    item = stack.pop()
    stack.append(truth_or([compare("=", item, option) for option in options]))


def _like(stack: list[Any], instruction: Instruction, scope: _Scope) -> None:
    from profilec.runtime.like import like_holds, read_like

    pattern, text = stack.pop(), stack.pop()
    truth: Truth = None
    if isinstance(pattern, str) and isinstance(text, str):
        _, escape, ignore_case = instruction
        read = read_like(pattern, escape, ignore_case)
        # NULL: a pattern whose escape escapes nothing, met in a document, is UNKNOWN.
        truth = None if read is None else like_holds(read, text, ignore_case)
    stack.append(truth)


def _like_constant(stack: list[Any], instruction: Instruction, scope: _Scope) -> None:
    from profilec.runtime.like import like_holds

    text = stack.pop()
    stack.append(like_holds(instruction[1], text, instruction[2]) if isinstance(text, str) else None)


def _matches(stack: list[Any], instruction: Instruction, scope: _Scope) -> None:
    from profilec.runtime.regex import regex_holds

    text = stack.pop()
    stack.append(regex_holds(instruction[1], text) if isinstance(text, str) else None)


def _is_null(stack: list[Any], instruction: Instruction, scope: _Scope) -> None:
    stack.append(stack.pop() is None)


def _is_truth(stack: list[Any], instruction: Instruction, scope: _Scope) -> None:
    stack.append(stack.pop() is instruction[1])


def _not(stack: list[Any], instruction: Instruction, scope: _Scope) -> None:
    stack.append(truth_not(stack.pop()))


def _and(stack: list[Any], instruction: Instruction, scope: _Scope) -> None:
    stack.append(truth_and(popped(stack, instruction[1])))


def _or(stack: list[Any], instruction: Instruction, scope: _Scope) -> None:
    stack.append(truth_or(popped(stack, instruction[1])))


def _some(stack: list[Any], instruction: Instruction, scope: _Scope) -> None:
    stack.append(_over_elements(stack.pop(), instruction[1], scope, truth_or))


def _every(stack: list[Any], instruction: Instruction, scope: _Scope) -> None:
    stack.append(_over_elements(stack.pop(), instruction[1], scope, truth_and))


def _over_elements(array: Value, body: Program, scope: _Scope, combine: Callable[[list[Truth]], Truth]) -> Truth:
    elements = elements_of(array)
    if elements is None:
        return None
    outer = scope.elements
    return combine([run(body, scope.document, scope.old, (*outer, element), scope.store) for element in elements])


def _join(stack: list[Any], instruction: Instruction, scope: _Scope) -> None:
    from profilec.runtime.joins.nested_loop import decide

    stack.append(decide(instruction[1], scope.document, scope.store))


def popped(stack: list[Any], n: int) -> list[Any]:
    """The top n items, in the order they were pushed; n may be 0."""
    cut = len(stack) - n
    items = stack[cut:]
    del stack[cut:]
    return items


_OPERATIONS: dict[str, Callable[[list[Any], Instruction, _Scope], None]] = {
    "attribute": _attribute,
    "constant": _constant,
    "call": _call,
    "cast": _cast,
    "compare": _compare,
    "order": _order,
    "in": _in,
    "like": _like,
    "like_constant": _like_constant,
    "matches": _matches,
    "is_null": _is_null,
    "is_truth": _is_truth,
    "not": _not,
    "and": _and,
    "or": _or,
    "literal": _constant,
    "some": _some,
    "every": _every,
    "exists": _join,
    "forall": _join,
}
