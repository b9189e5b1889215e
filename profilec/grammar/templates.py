"""Templates: a condition as a chain of closures that make the same IR from other literals.

In: a located condition, and the places of the literals in its text. Out: which literals are slots,
and a `Template`, which with the literals of another text is `Bound`: a condition that is made when
somebody asks for it. `shapes` says what for.

Invariant: a literal is a slot only where it is compared with something that is no literal, is a
value of IN, or the pattern of a LIKE without ESCAPE; there it is a whole token, at most with a
minus before it. Which literals are slots does not depend on their values.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias

from profilec.grammar import ir
from profilec.grammar.lexer import string_value
from profilec.grammar.located import Located
from profilec.values.compare import MIRRORED_OPERATOR
from profilec.values.kinds import Kind, kind_of
from profilec.values.numbers import Exact, Number, negate, parse_number

STRING = r"(?:'[^']*+(?:''[^']*+)*+'|\"[^\"]*+(?:\"\"[^\"]*+)*+\")"
END_OF_NUMBER = r"(?:[eE][+-]?[0-9]++)?(?![\w.@$])"
SIGNED = rf"-?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++){END_OF_NUMBER}"
_LISTED = re.compile(f"{STRING}|{SIGNED}")

Literals: TypeAlias = list[str]
"""The literals of a text, in order; the values of an IN, with their parentheses, are one."""
_Make: TypeAlias = "Callable[[Literals], Any]"
_Read: TypeAlias = Callable[[str], Any]
"""The value of a literal, of a list all of them. Raises ValueError where it is too long, or of another kind."""

_LOWER, _UPPER = ("=", ">", ">="), ("=", "<", "<=")
_MOST_PAIRS = 16
_MOST_FORMS = 4_096
_MOST_PREDICATES = 100_000
_MOST_LITERALS = 1_000
_READABLE = len("1e999")
"""Characters up to which no number is too long."""
_SHORT = 15
"""Characters of a number, without an exponent, up to which the double next to it stands for it and for no other."""


class Asks(NamedTuple):
    """A leaf that asks a scalar about the value of a slot: `price < ?`. `read`: of a short number, it gives the double
    that stands for it."""

    scalar: ir.Scalar
    operator: str
    """Of a comparison, the constant being on its right; IN, NOT IN, of all values of a list; LIKE."""
    slot: int
    read: _Read


@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """`make` gives the condition of the literals. `checks`: the slots whose literals may be none that can be read where
    they are longer than so many characters, and what raises then.

    Of each of the `pairs` of values the first must be below the second, or the text may deserve a warning.
    `leaves`: those of which the condition is the AND, where all its slots are in such as `Asks` tells of; else None.
    """

    make: _Make
    checks: tuple[tuple[int, int, _Read], ...]
    pairs: tuple[tuple[_Make, _Make], ...]
    leaves: tuple[Asks | ir.Condition, ...] | None

    def bind(self, literals: Literals) -> Bound | None:
        """The condition of the literals; None where the text may deserve a warning.

        Raises:
            ValueError: a number that is too long, a list of another kind.
            OverflowError: a bound that is beyond all doubles.
        """
        for slot, n_characters, check in self.checks:
            if len(literals[slot]) > n_characters:
                check(literals[slot])
        for low, high in self.pairs:
            if not low(literals) < high(literals):
                return None
        return Bound(self, literals)


class Bound:
    """A condition that is not made yet: a template with literals."""

    __slots__ = ("literals", "template")

    def __init__(self, template: Template, literals: Literals) -> None:
        self.template = template
        self.literals = literals

    def condition(self) -> ir.Condition:
        """Makes it."""
        made: ir.Condition = self.template.make(self.literals)
        return made


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
    >>> pinned, made.bind(["7", "2", "1"]).condition() is parse_condition("a < 7 AND ROUND(b, 2) > -1").node
    ((1,), True)
    """
    compiler = _Compiler(text, spans, predicates)
    make = compiler.compile(located) or _always(located.node)
    pairs = compiler.pairs(located)
    leaves = compiler.leaves(located)
    pinned = tuple(index for index in range(len(spans)) if index not in compiler.slots)
    checks = tuple([(slot, *_CHECKS[read]) for slot, read in compiler.slots.items() if read in _CHECKS])
    return None if pairs is None else Template(make, checks, pairs, leaves), pinned


class _Compiler:
    """Walks over one condition. `slots` are the literals that are slots, each with what reads it."""

    def __init__(self, text: str, spans: list[tuple[int, int]], predicates: Predicates) -> None:
        self.slots: dict[int, _Read] = {}
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
                if found := self._list(parts[1:]):
                    return self._maker(found[0], _in_list, found[1], item)
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
        read = self.slots[index] = string_value if at.node.type_ is str else _negative if negated else parse_number
        return index, read

    def _list(self, options: list[Located]) -> tuple[int, _Read] | None:
        """The list that the values of IN were written as, and how they are read."""
        index, end = self._at.get(options[0].start - 1, (-1, -1))
        if end <= options[-1].end:
            return None
        first = options[0].node
        read = self.slots[index] = _strings if isinstance(first, ir.Constant) and first.type_ is str else _numbers
        return index, read

    def leaves(self, located: Located) -> tuple[Asks | ir.Condition, ...] | None:
        """What `Template.leaves` is. An AND inside another is one with it."""
        found: list[Asks | ir.Condition] = []
        waiting = [located]
        while waiting:
            at = waiting.pop()
            if isinstance(at.node, ir.And):
                waiting.extend(reversed(at.parts))
            elif asks := self._asks(at):
                found.append(asks)
            elif self.compile(at) is None and not isinstance(at.node, _OF_CONDITIONS):
                assert isinstance(at.node, ir.Condition)
                found.append(at.node)
            else:
                return None
        return tuple(found)

    def _asks(self, at: Located) -> Asks | None:
        node, parts = at.node, at.parts
        match node:
            case ir.Compare():
                scalar, operator, constant = _oriented(at)
                if not isinstance(scalar.node, ir.Constant) and (found := self._slot(constant)):
                    return _asked(scalar.node, operator, *found)
            case ir.Like(text, _, None, False):
                if not isinstance(text, ir.Constant) and (found := self._slot(parts[1])):
                    return _asked(text, "LIKE", *found)
            case ir.In(item):
                if found := self._list(parts[1:]):
                    return _asked(item, "IN", *found)
                if len(parts) == 2 and (found := self._slot(parts[1])):
                    return _asked(item, "=", *found)
            case ir.Not(ir.In(item)):
                if found := self._list(parts[0].parts[1:]):
                    return _asked(item, "NOT IN", *found)
        return None

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
        scalar, operator, constant = _oriented(at)
        if not isinstance(constant.node, ir.Constant) or isinstance(scalar.node, ir.Constant) or operator == "!=":
            return None
        value: Any = constant.node.value
        kind = kind_of(value)
        if not (found := self._slot(constant)):
            return scalar.node, operator, kind, lambda _: float(value) if kind is Kind.NUMBER else value
        slot, read = found
        return scalar.node, operator, kind, _value(slot, _NEAREST.get(read, read))


_OF_CONDITIONS = (ir.Or, ir.Not, ir.IsTruth, ir.Exists, ir.ForAll)


def _negative(literal: str) -> Exact:
    """The number behind a minus."""
    value = negate(parse_number(literal))
    assert isinstance(value, int | Decimal)  # a literal is exact
    return value


def _oriented(at: Located) -> tuple[Located, str, Located]:
    """A comparison as scalar, operator and constant, where one of its sides is a constant."""
    assert isinstance(at.node, ir.Compare)
    scalar, constant = at.parts
    if isinstance(scalar.node, ir.Constant):
        return constant, MIRRORED_OPERATOR[at.node.operator], scalar
    return scalar, at.node.operator, constant


def _asked(scalar: ir.Node, operator: str, slot: int, read: _Read) -> Asks:
    assert isinstance(scalar, ir.Scalar)
    return Asks(scalar, operator, slot, _QUICK.get(read, read))


def _value(slot: int, read: _Read) -> _Make:
    return lambda literals: read(literals[slot])


def _quick(literal: str) -> Number:
    """A number. PERF: to make a Decimal, and to compare it, takes longer than all else that is done with it."""
    if len(literal) <= _SHORT and "e" not in literal and "E" not in literal:
        return float(literal)
    return parse_number(literal)


def _quick_negative(literal: str) -> Number | None:
    return negate(_quick(literal))


_QUICK: dict[_Read, _Read] = {parse_number: _quick, _negative: _quick_negative}
_NEAREST: dict[_Read, _Read] = {parse_number: float, _negative: lambda literal: -float(literal)}
"""The double next to a number: where one is below another, so are they."""


def _expect_strings(literal: str) -> None:
    if literal[1] not in "'\"":
        raise ValueError("a list of another kind")


def _strings(literal: str) -> tuple[str, ...]:
    """The values of a list of strings."""
    return tuple(map(string_value, _LISTED.findall(literal)))


def _numbers(literal: str) -> tuple[Exact, ...]:
    """The values of a list of numbers."""
    if literal[1] in "'\"":
        raise ValueError("a list of another kind")
    return tuple(_negative(one[1:]) if one[0] == "-" else parse_number(one) for one in _LISTED.findall(literal))


_CHECKS: dict[_Read, tuple[int, _Read]] = {
    parse_number: (_READABLE, _quick),
    _negative: (_READABLE, _quick_negative),
    _strings: (0, _expect_strings),
    _numbers: (0, _numbers),
}


def _constant(read: _Read, literal: str) -> ir.Constant:
    value = read(literal)
    return ir.Constant(type(value), value)


def _compare_right(read: _Read, operator: str, left: ir.Scalar, literal: str) -> ir.Condition:
    return ir.Compare(operator, left, _constant(read, literal))


def _compare_left(read: _Read, operator: str, right: ir.Scalar, literal: str) -> ir.Condition:
    return ir.Compare(operator, _constant(read, literal), right)


def _like(text: ir.Scalar, ignore_case: bool, literal: str) -> ir.Condition:
    return ir.Like(text, _constant(string_value, literal), None, ignore_case)


def _in_list(read: _Read, item: ir.Scalar, literal: str) -> ir.Condition:
    return ir.In(item, tuple([ir.Constant(type(value), value) for value in read(literal)]))


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
