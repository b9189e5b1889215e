"""Templates: a condition as a chain of closures that make the same IR from other literals.

In: a located condition, and the places of the literals in its text. Out: which literals are slots,
and a `Template` that makes the condition from the literals of another text. `shapes` says what for.

Invariant: a literal is a slot only where it is compared with something that is no literal, is a
value of IN, or the pattern of a LIKE without ESCAPE; there it is a whole token, at most with a
minus before it. Which literals are slots does not depend on their values.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from profilec.grammar import ir
from profilec.grammar.lexer import string_value
from profilec.grammar.located import Located
from profilec.values.compare import MIRRORED_OPERATOR
from profilec.values.kinds import Kind, kind_of
from profilec.values.numbers import Exact, negate, parse_number

STRING = r"(?:'[^']*+(?:''[^']*+)*+'|\"[^\"]*+(?:\"\"[^\"]*+)*+\")"
END_OF_NUMBER = r"(?:[eE][+-]?[0-9]++)?(?![\w.@$])"
SIGNED = rf"-?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++){END_OF_NUMBER}"
_LISTED = re.compile(f"{STRING}|{SIGNED}")

Literals: TypeAlias = list[str]
"""The literals of a text, in order; the values of an IN, with their parentheses, are one."""
_Make: TypeAlias = "Callable[[Literals], Any]"

_LOWER, _UPPER = ("=", ">", ">="), ("=", "<", "<=")
_MOST_PAIRS = 16
_MOST_FORMS = 4_096
_MOST_PREDICATES = 100_000
_MOST_LITERALS = 1_000


@dataclass(frozen=True, slots=True)
class Template:
    """`make` gives the condition of the literals.

    Of each of the `pairs` the first value must be below the second, or the text may deserve a warning.
    """

    make: _Make
    pairs: tuple[tuple[_Make, _Make], ...]


class Predicates:
    """Predicates that templates made, by their form (`price < ?`) and literal.

    PERF: texts of one shape repeat most of each other's predicates; to find one here costs a tenth
    of what it costs to make it. Of a form with literals without end only the first are kept, for
    each is some objects more that Python's collector walks through.
    """

    def __init__(self) -> None:
        self._forms: dict[tuple[Any, ...], dict[str, ir.Condition]] = {}
        self._n_predicates = 0

    def maker(self, slot: int, build: Callable[..., ir.Condition], *form: Any) -> _Make:
        """What gives `build(*form, literal)` for the literal at `slot`."""
        if len(self._forms) >= _MOST_FORMS:
            return lambda literals: build(*form, literals[slot])
        known = self._forms.setdefault((build, *form), {})
        find = known.get

        def make(literals: Literals) -> ir.Condition:
            literal = literals[slot]
            return find(literal) or self._add(known, literal, build(*form, literal))

        return make

    def _add(self, known: dict[str, ir.Condition], literal: str, predicate: ir.Condition) -> ir.Condition:
        if len(known) < _MOST_LITERALS and self._n_predicates < _MOST_PREDICATES:
            self._n_predicates += 1
            known[literal] = predicate
        return predicate


def template(
    located: Located, text: str, spans: list[tuple[int, int]], predicates: Predicates
) -> tuple[Template | None, tuple[int, ...]]:
    """The template of a condition that was read from `text`, and the literals that are no slots.

    `spans` are the places of the literals. The template is None where too many bounds would have to
    be compared each time.

    >>> from profilec.grammar.parse import parse_condition
    >>> text = "a < 5 AND ROUND(b, 2) > -1"
    >>> made, pinned = template(parse_condition(text), text, [(4, 5), (19, 20), (25, 26)], Predicates())
    >>> pinned, made.make(["7", "2", "1"]) is parse_condition("a < 7 AND ROUND(b, 2) > -1").node
    ((1,), True)
    """
    compiler = _Compiler(text, spans, predicates)
    make = compiler.compile(located) or _always(located.node)
    pairs = compiler.pairs(located)
    pinned = tuple(index for index in range(len(spans)) if index not in compiler.slots)
    return None if pairs is None else Template(make, pairs), pinned


class _Compiler:
    """One walk over one condition. `slots` are the literals that are slots."""

    def __init__(self, text: str, spans: list[tuple[int, int]], predicates: Predicates) -> None:
        self.slots: set[int] = set()
        self._text = text
        self._at = {start: (index, end) for index, (start, end) in enumerate(spans)}
        self._maker = predicates.maker

    def compile(self, at: Located) -> _Make | None:
        """What makes the node from the literals; None where it holds no slot, so that it stays as it is."""
        node, parts = at.node, at.parts
        match node:
            case ir.Compare(operator, left, right):
                if not isinstance(left, ir.Constant) and (found := self._slot(parts[1])):
                    return self._maker(found[0], _compare_right, found[1], operator, left)
                if not isinstance(right, ir.Constant) and (found := self._slot(parts[0])):
                    return self._maker(found[0], _compare_left, found[1], operator, right)
            case ir.Like(text, _, None, ignore_case):
                if not isinstance(text, ir.Constant) and (found := self._slot(parts[1])):
                    return self._maker(found[0], _like, text, ignore_case)
            case ir.In(item, options):
                if (slot := self._list(parts[1:])) is not None:
                    of_strings = isinstance(options[0], ir.Constant) and options[0].type_ is str
                    return self._maker(slot, _in_list, item, of_strings)
                slots = [self._slot(part) for part in parts[1:]]
                if any(slots):
                    return _in(item, list(zip(slots, options, strict=True)))
            case ir.And() | ir.Or():
                makes = [self.compile(part) for part in parts]
                if any(makes):
                    return _gathered(
                        type(node), [make or _always(p.node) for make, p in zip(makes, parts, strict=True)]
                    )
            case ir.Not():
                return _around(self.compile(parts[0]), ir.Not)
            case ir.IsTruth(_, truth):
                return _around(self.compile(parts[0]), lambda operand: ir.IsTruth(operand, truth))
            case ir.Some(array, _) | ir.Every(array, _):
                return _around(self.compile(parts[1]), lambda body: type(node)(array, body))
            case ir.Exists() | ir.ForAll():
                body, scope = (self.compile(part) for part in parts)
                if body or scope:
                    return _quantified(type(node), body or _always(node.body), scope or _always(node.scope))
            case ir.Scope(ir.Condition(), within, within_of, last):
                return _around(self.compile(parts[0]), lambda where: ir.Scope(where, within, within_of, last))
        return None

    def _slot(self, at: Located) -> tuple[int, _Read] | None:
        """The literal that a constant was written as, where it is that and at most a minus; and how it is read."""
        if not isinstance(at.node, ir.Constant):
            return None
        start = at.start
        negated = self._text[start] == "-"
        if negated:
            start = at.end - len(self._text[start + 1 : at.end].lstrip())
        index, end = self._at.get(start, (-1, -1))
        if end != at.end:
            return None
        self.slots.add(index)
        return index, string_value if at.node.type_ is str else _negative if negated else parse_number

    def _list(self, options: list[Located]) -> int | None:
        """The list that the values of IN were written as."""
        index, end = self._at.get(options[0].start - 1, (-1, -1))
        if end <= options[-1].end:
            return None
        self.slots.add(index)
        return index

    def pairs(self, located: Located) -> tuple[tuple[_Make, _Make], ...] | None:
        """The pairs of lower and upper bounds that an AND sets on one scalar; None where they are too many.

        An AND directly inside another sets its bounds together with it, as `ranges` sees it.
        """
        found: list[tuple[_Make, _Make]] = []
        waiting = [located]
        while waiting:
            at = waiting.pop()
            if isinstance(at.node, ir.And):
                comparisons: list[Located] = []
                inside = [at]
                while inside:
                    part = inside.pop()
                    if isinstance(part.node, ir.And):
                        inside.extend(part.parts)
                    elif isinstance(part.node, ir.Compare):
                        comparisons.append(part)
                    else:
                        waiting.append(part)
                found.extend(self._bounds(comparisons))
                if len(found) > _MOST_PAIRS:
                    return None
            else:
                waiting.extend(part for part in at.parts if not isinstance(part.node, ir.Scalar))
        return tuple(found)

    def _bounds(self, comparisons: list[Located]) -> list[tuple[_Make, _Make]]:
        pairs: list[tuple[_Make, _Make]] = []
        bounds: dict[tuple[ir.Node, Kind], list[tuple[str, _Make]]] = {}
        for at in comparisons:
            bound = self._bound(at)
            if bound is None or len(pairs) > _MOST_PAIRS:
                continue
            scalar, operator, kind, value = bound
            others = bounds.setdefault((scalar, kind), [])
            for other, other_value in others:
                if other in _LOWER and operator in _UPPER:
                    pairs.append((other_value, value))
                if operator in _LOWER and other in _UPPER:
                    pairs.append((value, other_value))
            others.append((operator, value))
        return pairs

    def _bound(self, at: Located) -> tuple[ir.Node, str, Kind, _Make] | None:
        """A comparison with a constant: scalar, operator, and the kind of the constant and what gives its value."""
        node = at.node
        assert isinstance(node, ir.Compare)
        scalar, constant = at.parts
        operator = node.operator
        if isinstance(scalar.node, ir.Constant):
            scalar, constant, operator = constant, scalar, MIRRORED_OPERATOR[operator]
        if not isinstance(constant.node, ir.Constant) or isinstance(scalar.node, ir.Constant) or operator == "!=":
            return None
        value: Any = constant.node.value
        found = self._slot(constant)
        return scalar.node, operator, kind_of(value), _value(*found) if found else _always(value)


_Read: TypeAlias = Callable[[str], Any]
"""The value of a literal. Raises ValueError where it is too long."""


def _negative(literal: str) -> Exact:
    """The number behind a minus."""
    value = negate(parse_number(literal))
    assert isinstance(value, int | Decimal)  # a literal is exact
    return value


def _value(slot: int, read: _Read) -> _Make:
    return lambda literals: read(literals[slot])


def _constant(read: _Read, literal: str) -> ir.Constant:
    value = read(literal)
    return ir.Constant(type(value), value)


def _compare_right(read: _Read, operator: str, left: ir.Scalar, literal: str) -> ir.Condition:
    return ir.Compare(operator, left, _constant(read, literal))


def _compare_left(read: _Read, operator: str, right: ir.Scalar, literal: str) -> ir.Condition:
    return ir.Compare(operator, _constant(read, literal), right)


def _like(text: ir.Scalar, ignore_case: bool, literal: str) -> ir.Condition:
    return ir.Like(text, _constant(string_value, literal), None, ignore_case)


def _in_list(item: ir.Scalar, of_strings: bool, literal: str) -> ir.Condition:
    """Raises ValueError where the list is not of the kind that the template was made for."""
    if (literal[1] in "'\"") is not of_strings:
        raise ValueError("a list of another kind")
    read = string_value if of_strings else _signed
    return ir.In(item, tuple([_constant(read, option) for option in _LISTED.findall(literal)]))


def _signed(literal: str) -> Exact:
    return _negative(literal[1:]) if literal[0] == "-" else parse_number(literal)


def _in(item: ir.Scalar, places: list[tuple[tuple[int, _Read] | None, ir.Scalar]]) -> _Make:
    def make(literals: Literals) -> ir.Condition:
        options = [_constant(slot[1], literals[slot[0]]) if slot else option for slot, option in places]
        return ir.In(item, tuple(options))

    return make


def _always(node: ir.Node) -> _Make:
    return lambda _: node


def _gathered(kind: type[ir.And] | type[ir.Or], makes: list[_Make]) -> _Make:
    return lambda literals: kind(tuple([make(literals) for make in makes]))


def _around(make: _Make | None, outer: Callable[[Any], ir.Node]) -> _Make | None:
    return None if make is None else lambda literals: outer(make(literals))


def _quantified(kind: type[ir.Exists] | type[ir.ForAll], body: _Make, scope: _Make) -> _Make:
    return lambda literals: kind(body(literals), scope(literals))
