"""IR to text: the canonical text of a condition.

In: a node of the IR. Out: text that `parse_condition` reads back as that very node, with the
fewest parentheses, BETWEEN where it stands for its two comparisons, and back-quotes only where
a name needs them. An earlier document is `d`; the elements of ANY and ALL are `i`, `j`, `k`, …

Invariant: whatever the parser can build has a text. Rewrites build more than that; such a node
raises ValueError, or, with `exact=False`, gets the nearest readable text. Without a text are

- the functions of derived attributes (FOLD, REVERSE), and a minus before a number that is not part
  of the number;
- numbers that no literal of MAX_LITERAL_DIGITS and MAX_LITERAL_EXPONENT writes, infinities,
  dates and timestamps outside the calendar's years 0001 to 9999;
- an element by itself (no field of it), but in the one predicate that is the whole body of its
  ANY or ALL: `ANY(tags) = 'x'` names the element by naming the array;
- an attribute of an earlier document outside a quantifier, or of an element outside its body;
- names with an empty part or a line end, and quantifiers, arrays and lists that the language
  does not have (a quantifier in another, an empty IN).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from enum import IntEnum
from itertools import pairwise

from profilec.grammar import ir
from profilec.grammar.spell import quote, spell_literal, spell_name
from profilec.values.functions import FUNCTIONS
from profilec.values.kinds import Interval, Truth

_TRUE = ir.constant(True)
_TRUTHS = {True: "TRUE", False: "FALSE", None: "NULL"}
_ASCENDING = frozenset({"<", "<="})
_TESTS = {True: "TRUE", False: "FALSE", None: "UNKNOWN"}
_DOCUMENT = "d"


class _Level(IntEnum):
    """How tightly a form holds together: a form stands without parentheses where its level is high enough."""

    OR = 0
    AND = 1
    NOT = 2
    PREDICATE = 3
    SUM = 4
    PRODUCT = 5
    UNARY = 6
    ATOM = 7


@dataclass(frozen=True, slots=True)
class _Element:
    """What an element in scope is called: `i`, whose fields are `i.x`; or ANY(tags), the element itself."""

    name: str
    is_variable: bool


@dataclass(frozen=True, slots=True)
class _Names:
    """The names in scope, outermost element first."""

    exact: bool
    document: str | None = None
    elements: tuple[_Element, ...] = ()

    def is_variable(self, name: str) -> bool:
        return name == self.document or any(e.is_variable and e.name == name for e in self.elements)


def print_condition(condition: ir.Condition, *, exact: bool = True) -> str:
    """The canonical text of a condition.

    >>> a, b = ir.attribute("a"), ir.attribute("b")
    >>> print_condition(ir.And((ir.Compare(">=", a, ir.constant(1)), ir.Compare("<=", a, b))))
    'a BETWEEN 1 AND b'
    >>> print_condition(ir.Some(a, ir.Like(ir.Attribute(ir.ELEMENT, ()), ir.constant("x%"), None, False)))
    "ANY(a) LIKE 'x%'"

    Raises:
        ValueError: with `exact`, where no text is read back as this node.
    """
    return _condition(condition, _Names(exact), _Level.OR)


def print_scalar(scalar: ir.Scalar, *, exact: bool = True) -> str:
    """The canonical text of a scalar; an earlier document is `d`, elements are `i`, `j`, …

    >>> a, b = ir.attribute("a"), ir.attribute("unit price")
    >>> print_scalar(ir.Call("*", (ir.Call("+", (a, ir.constant(-1))), b)))
    '(a + -1) * `unit price`'

    Raises:
        ValueError: with `exact`, where no text is read back as this node.
    """
    elements = tuple(_Element(_variable(depth), True) for depth in range(_n_elements(scalar)))
    return _scalar(scalar, _Names(exact, _DOCUMENT, elements), _Level.SUM)


def _refuse(names: _Names, reason: str) -> None:
    if names.exact:
        raise ValueError(reason)


# Conditions. PERF: recursion takes two frames a level, `_condition` and a comprehension or `_predicate`.


def _condition(node: ir.Condition, names: _Names, least: _Level) -> str:
    """The text, in parentheses where its level is below `least`."""
    match node:
        case ir.Or(operands):
            if len(operands) < 2:
                _refuse(names, "an OR of fewer than two conditions has no text")
            text, level = " OR ".join([_condition(operand, names, _Level.AND) for operand in operands]), _Level.OR
        case ir.And(operands) if not (_is_between(node) and least <= _Level.PREDICATE):
            if len(operands) < 2:
                _refuse(names, "an AND of fewer than two conditions has no text")
            chain = _chain(operands) if least > _Level.AND else None
            if chain is not None and {link.operator for link in chain} <= _ASCENDING:
                text, level = _chain_text(chain, names), _Level.PREDICATE
            else:
                text, level = " AND ".join([_condition(operand, names, _Level.NOT) for operand in operands]), _Level.AND
        case ir.Not(operand):
            negated = _predicate(operand, names, " NOT") if _takes_not(operand) else None
            if negated is not None:
                text, level = negated, _Level.PREDICATE
            else:
                text, level = f"NOT {_condition(operand, names, _Level.NOT)}", _Level.NOT
        case _:
            text, level = _predicate(node, names, ""), _Level.PREDICATE
    return f"({text})" if level < least else text


def _predicate(node: ir.Condition, names: _Names, negation: str) -> str:
    """A form without AND, OR and a leading NOT; `negation` is " NOT" where its operator is to be negated."""
    match node:
        case ir.Literal(truth):
            return _TRUTHS[truth]
        case ir.Compare("=", ir.Attribute(_, parts), right) if parts and right is _TRUE:
            return _scalar(node.left, names, _Level.SUM)
        case ir.Compare(operator, left, right):
            return f"{_scalar(left, names, _Level.SUM)} {operator} {_scalar(right, names, _Level.SUM)}"
        case ir.And((ir.Compare(_, item, low), ir.Compare(_, _, high))):  # BETWEEN
            item_text, low_text = _scalar(item, names, _Level.SUM), _scalar(low, names, _Level.SUM)
            return f"{item_text}{negation} BETWEEN {low_text} AND {_scalar(high, names, _Level.SUM)}"
        case ir.In(item, options):
            if not options:
                _refuse(names, "an IN of no values has no text")
            listed = ", ".join([_scalar(option, names, _Level.SUM) for option in options])
            return f"{_scalar(item, names, _Level.SUM)}{negation} IN ({listed})"
        case ir.Like(text, pattern, escape, ignore_case):
            word = "ILIKE" if ignore_case else "LIKE"
            end = "" if escape is None else f" ESCAPE {quote(escape)}"
            return f"{_scalar(text, names, _Level.SUM)}{negation} {word} {_scalar(pattern, names, _Level.SUM)}{end}"
        case ir.Matches(text, pattern):
            return f"{_scalar(text, names, _Level.SUM)}{negation} MATCHES {quote(pattern)}"
        case ir.IsNull(operand):
            return f"{_scalar(operand, names, _Level.SUM)} IS{negation} NULL"
        case ir.IsTruth(ir.Compare("=", ir.Attribute(_, parts), right), truth) if parts and right is _TRUE:
            return f"{_predicate(node.operand, names, '')} IS{negation} {_TESTS[truth]}"
        case ir.IsTruth(operand, truth):
            return f"({_condition(operand, names, _Level.OR)}) IS{negation} {_TESTS[truth]}"
        case ir.Some(array, body) | ir.Every(array, body):
            word = "ANY" if isinstance(node, ir.Some) else "ALL"
            depth, array_text = len(names.elements), _scalar(array, names, _Level.ATOM)
            if names.exact and _names_element(body, ir.ELEMENT + depth):
                return _of_element(body, _with_element(names, _Element(f"{word}({array_text})", False)))
            inner = _with_element(names, _Element(_variable(depth), True))
            return f"{word} {array_text} AS {_variable(depth)} ({_condition(body, inner, _Level.OR)})"
        case ir.Exists(body, scope) | ir.ForAll(body, scope):
            word = "EXISTS" if isinstance(node, ir.Exists) else "FORALL"
            inner = replace(names, document=_DOCUMENT)
            return f"{word} {_DOCUMENT}{_scope(scope, inner)} ({_condition(body, inner, _Level.OR)})"
    raise TypeError(f"no condition: {node!r}")


def _takes_not(node: ir.Condition) -> bool:
    """Whether the form has a place for NOT of its own: NOT IN, IS NOT NULL, …"""
    return isinstance(node, ir.In | ir.Like | ir.Matches | ir.IsNull | ir.IsTruth) or _is_between(node)


def _is_between(node: ir.Condition) -> bool:
    match node:
        case ir.And((ir.Compare(">=", low_item, _), ir.Compare("<=", high_item, _))):
            return low_item is high_item
    return False


def _of_element(body: ir.Condition, names: _Names) -> str:
    """The one predicate that says something of `ANY(array)`."""
    match body:
        case ir.Compare(operator, left, right):  # `ANY(flags) = TRUE` too: `(ANY(flags)) IS TRUE` is another condition
            return f"{_scalar(left, names, _Level.SUM)} {operator} {_scalar(right, names, _Level.SUM)}"
        case ir.In() | ir.Like() | ir.Matches() | ir.IsNull():
            return _predicate(body, names, "")
        case ir.IsTruth(operand, truth):
            return _element_test(operand, truth, names, "")
        case ir.Not(ir.IsTruth(operand, truth)):
            return _element_test(operand, truth, names, " NOT")
        case ir.Not(operand) if _takes_not(operand):
            return _predicate(operand, names, " NOT")
        case ir.And(operands):
            if _is_between(body):
                return _predicate(body, names, "")
            chain = _chain(operands)
            if chain is not None:
                return _chain_text(chain, names)
    raise ValueError("an element by itself has a text in one predicate only")


def _element_test(tested: ir.Condition, truth: Truth, names: _Names, negation: str) -> str:
    match tested:
        case ir.Compare("=", ir.Attribute(_, ()) as element, right) if right is _TRUE:
            return f"{_scalar(element, names, _Level.SUM)} IS{negation} {_TESTS[truth]}"
    raise ValueError("IS TRUE of an element has a text for the element by itself only")


def _chain(operands: tuple[ir.Condition, ...]) -> list[ir.Compare] | None:
    """The links of `1 < x < 5`: comparisons, each beginning with what the one before ends with; else None."""
    links = [operand for operand in operands if isinstance(operand, ir.Compare)]
    joined = len(links) == len(operands) and all(one.right is next_.left for one, next_ in pairwise(links))
    return links if joined else None


def _chain_text(chain: list[ir.Compare], names: _Names) -> str:
    links = [f" {link.operator} {_scalar(link.right, names, _Level.SUM)}" for link in chain]
    return _scalar(chain[0].left, names, _Level.SUM) + "".join(links)


def _names_element(node: ir.Node, scope: int) -> bool:
    """Whether an element by itself is named anywhere below."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ir.Attribute):
            if node.scope == scope and not node.parts:
                return True
        else:
            waiting.extend(ir.children(node))
    return False


def _scope(scope: ir.Scope, names: _Names) -> str:
    """The scopes in the order in which they act."""
    text = ""
    if scope.last is not None:
        text += f" LAST {scope.last}"
    if scope.within is not None:
        text += f" WITHIN {spell_literal(scope.within)} OF {_attribute(ir.NEW, scope.within_of or (), names)}"
    if scope.where is not None:
        text += f" WHERE ({_condition(scope.where, names, _Level.OR)})"
    return text


# Scalars.


def _scalar(node: ir.Scalar, names: _Names, least: _Level) -> str:
    """The text, in parentheses where its level is below `least`."""
    level = _Level.ATOM
    match node:
        case ir.Attribute(scope, parts):
            text = _attribute(scope, parts, names)
        case ir.Constant(_, value):
            text = spell_literal(value, exact=names.exact)
            if text[0] == "-":
                level = _Level.UNARY
        case ir.Cast(argument, to):
            text = f"CAST({_scalar(argument, names, _Level.SUM)} AS {to})"
        case ir.Call("NEGATE", (argument,)):
            if isinstance(argument, ir.Constant) and argument.type_ in (int, Decimal, Interval):
                _refuse(names, "a minus before a number is part of the number")
            text, level = f"-{_scalar(argument, names, _Level.ATOM)}", _Level.UNARY
        case ir.Call("+" | "-" as operator, (left, right)):
            text = f"{_scalar(left, names, _Level.SUM)} {operator} {_scalar(right, names, _Level.PRODUCT)}"
            level = _Level.SUM
        case ir.Call("*" | "/" | "%" as operator, (left, right)):
            text = f"{_scalar(left, names, _Level.PRODUCT)} {operator} {_scalar(right, names, _Level.UNARY)}"
            level = _Level.PRODUCT
        case ir.Call(function, arguments):
            if function not in FUNCTIONS or not FUNCTIONS[function].public:
                _refuse(names, f"{function} is no function of the language")
            text = f"{function}({', '.join([_scalar(argument, names, _Level.SUM) for argument in arguments])})"
        case _:
            raise TypeError(f"no scalar: {node!r}")
    return f"({text})" if level < least else text


def _attribute(scope: int, parts: tuple[str, ...], names: _Names) -> str:
    if scope == ir.NEW:
        return spell_name(parts, quoted=bool(parts) and names.is_variable(parts[0]))
    if scope == ir.OLD:
        if names.document is None:
            _refuse(names, "an attribute of an earlier document has a text in a quantifier only")
        if not parts:
            _refuse(names, "an earlier document by itself has no text")
        return spell_name((_DOCUMENT, *parts))
    depth = scope - ir.ELEMENT
    if depth >= len(names.elements):
        _refuse(names, "an element has a text in the body of its ANY or ALL only")
        element = _Element(_variable(depth), True)
    else:
        element = names.elements[depth]
    if not parts:
        if element.is_variable:
            _refuse(names, "an element by itself has a text in one predicate only")
        return element.name
    if not element.is_variable:
        raise ValueError(f"{element.name} has no fields; ANY … AS has")
    return spell_name((element.name, *parts))


def _variable(depth: int) -> str:
    letters = ord("z") - ord("i") + 1
    return chr(ord("i") + depth) if depth < letters else f"i{depth}"


def _with_element(names: _Names, element: _Element) -> _Names:
    return replace(names, elements=(*names.elements, element))


def _n_elements(node: ir.Node) -> int:
    """How many elements must be in scope for all attributes below."""
    if isinstance(node, ir.Attribute):
        return node.scope - ir.ELEMENT + 1
    return max(map(_n_elements, ir.children(node)), default=0)
