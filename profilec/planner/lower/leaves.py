"""A leaf of a normal form as a row of numbers.

In: signed leaves (IR). Out: rows in columns, and the slots, patterns, terms and joins that they name.

    row    slot   op        first  second  negated      the rank set it stands for
    0      price  BETWEEN   #10    #30     0            [point(10), point(30)]
    1      brand  EQUAL     #Acme  -       0            [point(Acme)]
    2      isbn   NULL      -      -       1            everything but rank 0

`first` and `second` number a constant in the order in which its slot and kind met it; ranks
exist only when all profiles have been read. Ops from PATTERN on are bit tests. Rows need not be
distinct: `ranks` finds those that are equal.

NULL: after negation normal form only TRUE matters. A row is the set of ranks on which its leaf is
TRUE (or FALSE, for Not(leaf)); `negated` is the complement of that set over *all* ranks, absence
included, for IS NOT TRUE and IS NOT FALSE.

Source: rank space, after the elementary intervals of Tatbul 2001, 4.1.2.
"""

from __future__ import annotations

from array import array
from decimal import Decimal
from enum import IntEnum
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from profilec.grammar import ir
from profilec.grammar.print import print_condition, print_scalar
from profilec.planner.lower.programs import ProgramBuilder
from profilec.runtime.image import Pattern
from profilec.runtime.program import JoinTerm, Program
from profilec.values.kinds import Date, Kind, Timestamp
from profilec.values.patterns import LikePattern, Wildcard, fold_pattern, parse_like
from profilec.values.types import Schema


class Op(IntEnum):
    """What a row's rank set is made of; `block` is all ranks of the constants' kind."""

    NEVER = 0
    NULL = 1
    EQUAL = 2
    NOT_EQUAL = 3
    LESS = 4
    AT_MOST = 5
    GREATER = 6
    AT_LEAST = 7
    BETWEEN = 8  # first <= x <= second
    OPEN_BETWEEN = 9  # first < x < second
    LEFT_OPEN = 10  # first < x <= second
    RIGHT_OPEN = 11  # first <= x < second
    NOT_RIGHT_OPEN = 12  # the block without [first, second)
    BLOCK = 13  # any value of the kind
    IN = 14  # `first` numbers a list of constants
    NOT_IN = 15
    PATTERN = 16  # `first` numbers the pattern; kind holds the want
    TERM = 17


WANT_TRUE, WANT_FALSE, WANT_NOT_TRUE, WANT_NOT_FALSE = range(4)

_COMPARE_OP = {
    "=": int(Op.EQUAL),
    "!=": int(Op.NOT_EQUAL),
    "<": int(Op.LESS),
    "<=": int(Op.AT_MOST),
    ">": int(Op.GREATER),
    ">=": int(Op.AT_LEAST),
}
_FALSE_OF = {
    Op.NEVER: Op.NEVER,
    Op.EQUAL: Op.NOT_EQUAL,
    Op.NOT_EQUAL: Op.EQUAL,
    Op.LESS: Op.AT_LEAST,
    Op.AT_LEAST: Op.LESS,
    Op.GREATER: Op.AT_MOST,
    Op.AT_MOST: Op.GREATER,
    Op.RIGHT_OPEN: Op.NOT_RIGHT_OPEN,
    Op.BLOCK: Op.NEVER,
    Op.IN: Op.NOT_IN,
}
_LAST_CODE_POINT = chr(0x10FFFF)


class Order(NamedTuple):
    """The sign of one scalar against another: -1, 0, 1, or NULL where they do not compare."""

    left: ir.Scalar
    right: ir.Scalar


Derived: TypeAlias = ir.Scalar | ir.Like | Order
"""What a slot holds: a scalar's value, a sign, or the truth of a LIKE whose pattern is in the document."""


CONNECTIVE, JOINED, NOT_JOINED, LITERAL = range(4)
"""What a part of a skeleton is where it is no row; see `part`."""


def part(sort: int, number: int) -> int:
    """A part of a skeleton, as the integer that stands for it: rows are >= 0, all else is below."""
    return ~(number << 2 | sort)


FALSE_PART, TRUE_PART = part(LITERAL, 0), part(LITERAL, 1)

KIND_SHIFT = 28
"""A constant of a list is its kind above this bit, and its number below: ranks, twice as many, are int32."""


class Rows(NamedTuple):
    """Rows as columns, int32."""

    slot: NDArray[np.int32]
    op: NDArray[np.int32]
    kind: NDArray[np.int32]
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    negated: NDArray[np.int32]


class SlotConstants:
    """The constants of one slot: by kind (an index), value to the number that rows know it by.

    PERF: kinds and ops are plain integers in here, since members of an enumeration hash in Python.
    """

    __slots__ = ("by_kind", "derived", "name")

    def __init__(self, name: str, derived: Derived) -> None:
        self.name = name
        self.derived = derived
        self.by_kind: tuple[dict[Any, int], ...] = tuple([{} for _ in Kind])

    def number(self, kind: int, value: Any) -> int:
        known = self.by_kind[kind]
        return known.setdefault(value, len(known))


class LeafTable:
    """The rows of leaves, with everything they name. Append-only.

    `lists`: what IN asks for, each the bytes of ascending int32 (see KIND_SHIFT), to its number.
    """

    def __init__(self, schema: Schema | None) -> None:
        self.programs = ProgramBuilder(schema)
        self._rows = array("i")
        self._n_rows = 0
        self.slots: list[SlotConstants] = []
        self.lists: dict[bytes, int] = {}
        self.patterns: list[Pattern] = []
        self.terms: list[Program] = []
        self.joins: list[JoinTerm] = []
        self._slot_of: dict[Any, int] = {}
        self._never_false = bytearray()
        self._pattern_of: dict[Pattern, int] = {}
        self._term_of: dict[ir.Condition, int] = {}
        self._join_of: dict[ir.Condition, int] = {}

    def add(self, leaf: ir.Condition) -> int:
        """Appends the row of a signed leaf and returns its number; a quantified expression is a `part`."""
        if type(leaf) is ir.Compare and type(leaf.right) is ir.Constant:  # PERF: nearly all leaves
            slot, op, kind, first, _ = self._compare(leaf)
            return self.append(slot, op, kind, first, 0, 0)
        want = WANT_TRUE
        if type(leaf) is ir.Not:
            inner = leaf.operand
            want = WANT_FALSE
            if type(inner) is ir.IsTruth and inner.truth is not None:
                want = WANT_NOT_TRUE if inner.truth else WANT_NOT_FALSE
                inner = inner.operand
            leaf = inner
        if type(leaf) is ir.Exists or type(leaf) is ir.ForAll:
            return part(NOT_JOINED if want in (WANT_FALSE, WANT_NOT_TRUE) else JOINED, self._join(leaf))
        handler = _HANDLERS.get(type(leaf))
        if handler is None:
            raise TypeError(f"no leaf of a normal form: {leaf!r}")
        slot, op, kind, first, second = handler(self, leaf)
        if op >= _PATTERN:
            return self.append(slot, op, want, first, 0, 0)
        if op == _IS_NULL:  # two-valued: its FALSE and its NOT TRUE are one
            return self.append(slot, op, 0, 0, 0, want in (WANT_FALSE, WANT_NOT_TRUE))
        if want in (WANT_FALSE, WANT_NOT_FALSE):
            op = self._false_of(op, first)
        return self.append(slot, op, kind, first, second, want >= WANT_NOT_TRUE)

    @property
    def term_names(self) -> tuple[str, ...]:
        """What each term says, for `explain`."""
        return tuple([text_of(term) for term in self._term_of])

    @property
    def join_names(self) -> tuple[str, ...]:
        """What each join says, for `explain`."""
        return tuple([text_of(join) for join in self._join_of])

    def append(self, slot: int, op: int, kind: int, first: int, second: int, negated: int) -> int:
        self._rows.extend((slot, op, kind, first, second, negated))
        number = self._n_rows
        self._n_rows = number + 1
        return number

    def rows(self) -> Rows:
        """All rows so far; a copy."""
        return Rows(*np.array(self._rows, np.int32).reshape(-1, len(Rows._fields)).T.copy())

    def _false_of(self, op: int, first: int) -> int:
        """NULL: a list that holds NULL, or constants of two kinds, is never FALSE."""
        if op == Op.IN and self._never_false[first]:
            return Op.NEVER
        return _FALSE_OF[Op(op)]

    def slot_of(self, derived: Derived) -> int:
        """The slot whose ranks say what a derived attribute's value is."""
        slot = self._slot_of.get(derived)
        if slot is None:
            slot = self._slot_of[derived] = len(self.slots)
            self.slots.append(SlotConstants(_name_of(derived), derived))
        return slot

    def _compare(self, leaf: ir.Compare) -> tuple[int, int, int, int, int]:
        operator, left, right = leaf.operator, leaf.left, leaf.right
        op = _COMPARE_OP[operator]
        if type(right) is not ir.Constant:
            slot = self.slot_of(Order(left, right))
            return slot, op, Kind.NUMBER, self.slots[slot].number(Kind.NUMBER, 0), 0
        slot = self.slot_of(left)
        kind = _CONSTANT_KIND.get(right.type_, _NULL)
        if kind == _NULL:
            return slot, Op.NEVER, 0, 0, 0
        value = right.value if kind <= _BOOLEAN else _key(right.value)
        return slot, op, kind, self.slots[slot].number(kind, value), 0

    def _in(self, leaf: ir.In) -> tuple[int, int, int, int, int]:
        slot = self.slot_of(leaf.item)
        by_kind = self.slots[slot].by_kind
        points = set()
        for option in leaf.options:
            if type(option) is not ir.Constant:
                raise TypeError("IN with an option that is no constant is an OR after normalization")
            kind = _CONSTANT_KIND.get(option.type_, _NULL)
            if kind == _NULL:
                points.add(0)
            else:
                known = by_kind[kind]
                value = option.value if kind <= _BOOLEAN else _key(option.value)
                points.add(kind << KIND_SHIFT | known.setdefault(value, len(known)))
        listed = sorted(points)
        lowest = listed[0] >> KIND_SHIFT
        lists = self.lists
        number = lists.setdefault(array("i", listed).tobytes(), len(lists))
        if number == len(self._never_false):
            self._never_false.append(lowest == _NULL or listed[-1] >> KIND_SHIFT != lowest)
        return slot, _IN, lowest, number, 0

    def _is_null(self, leaf: ir.IsNull) -> tuple[int, int, int, int, int]:
        return self.slot_of(leaf.operand), Op.NULL, 0, 0, 0

    def _like(self, leaf: ir.Like) -> tuple[int, int, int, int, int]:
        if not isinstance(leaf.pattern, ir.Constant):
            slot = self.slot_of(leaf)
            return slot, Op.EQUAL, Kind.BOOLEAN, self.slots[slot].number(Kind.BOOLEAN, True), 0
        if not isinstance(leaf.pattern.value, str):
            return self.slot_of(leaf.text), Op.NEVER, 0, 0, 0
        pattern = parse_like(leaf.pattern.value, leaf.escape)
        text: ir.Scalar = leaf.text
        if leaf.ignore_case:
            pattern, text = fold_pattern(pattern), ir.Call("FOLD", (text,))
        match pattern.elements:
            case ():
                return self._text_constant(text, Op.EQUAL, "")
            case (str() as literal,):
                return self._text_constant(text, Op.EQUAL, literal)
            case (Wildcard.ANY_RUN,):
                return self.slot_of(text), Op.BLOCK, Kind.STRING, 0, 0
            case (str() as literal, Wildcard.ANY_RUN):
                return self._prefix(text, literal)
            case (Wildcard.ANY_RUN, str() as literal):
                return self._prefix(ir.Call("REVERSE", (text,)), literal[::-1])
        if all(isinstance(element, Wildcard) for element in pattern.elements):
            return self._length(text, pattern)
        return self._pattern(text, pattern, None)

    def _matches(self, leaf: ir.Matches) -> tuple[int, int, int, int, int]:
        return self._pattern(leaf.text, None, leaf.pattern)

    def _pattern(self, text: ir.Scalar, like: LikePattern | None, regex: str | None) -> tuple[int, int, int, int, int]:
        slot = self.slot_of(text)
        pattern = Pattern(slot, like, regex)
        number = self._pattern_of.setdefault(pattern, len(self.patterns))
        if number == len(self.patterns):
            self.patterns.append(pattern)
        return slot, Op.PATTERN, 0, number, 0

    def _prefix(self, text: ir.Scalar, prefix: str) -> tuple[int, int, int, int, int]:
        """`LIKE 'abc%'` is 'abc' <= text < 'abd', by code points."""
        slot = self.slot_of(text)
        constants = self.slots[slot]
        first = constants.number(Kind.STRING, prefix)
        stem = prefix.rstrip(_LAST_CODE_POINT)
        if not stem:
            return slot, Op.AT_LEAST, Kind.STRING, first, 0
        following = stem[:-1] + chr(ord(stem[-1]) + 1)
        return slot, Op.RIGHT_OPEN, Kind.STRING, first, constants.number(Kind.STRING, following)

    def _length(self, text: ir.Scalar, pattern: LikePattern) -> tuple[int, int, int, int, int]:
        """`___` asks for a length, `_%_` for one at least."""
        slot = self.slot_of(ir.Call("LENGTH", (text,)))
        length = sum(element is Wildcard.ANY_ONE for element in pattern.elements)
        op = Op.AT_LEAST if Wildcard.ANY_RUN in pattern.elements else Op.EQUAL
        return slot, op, Kind.NUMBER, self.slots[slot].number(Kind.NUMBER, length), 0

    def _text_constant(self, text: ir.Scalar, op: Op, literal: str) -> tuple[int, int, int, int, int]:
        slot = self.slot_of(text)
        return slot, op, Kind.STRING, self.slots[slot].number(Kind.STRING, literal), 0

    def _term(self, leaf: ir.Some | ir.Every) -> tuple[int, int, int, int, int]:
        number = self._term_of.get(leaf)
        if number is None:
            number = self._term_of[leaf] = len(self.terms)
            self.terms.append(self.programs.program(leaf))
        return -1, Op.TERM, 0, number, 0

    def _join(self, leaf: ir.Exists | ir.ForAll) -> int:
        number = self._join_of.get(leaf)
        if number is None:
            number = self._join_of[leaf] = len(self.joins)
            self.joins.append(self.programs.join_term(leaf))
        return number


def _key(value: Any) -> Any:
    """A constant as its slot sorts it: days and nanoseconds as plain integers."""
    if isinstance(value, Date):
        return value.days
    return value.nanos if isinstance(value, Timestamp) else value


def text_of(condition: ir.Condition) -> str:
    """The condition as it would be written; what the language cannot write is shown all the same."""
    try:
        return print_condition(condition)
    except ValueError:
        return print_condition(condition, exact=False)


def _name_of(derived: Derived) -> str:
    match derived:
        case Order(left, right):
            return f"{print_scalar(left, exact=False)} against {print_scalar(right, exact=False)}"
        case ir.Like():
            return text_of(derived)
    return print_scalar(derived, exact=False)


_NULL, _BOOLEAN = int(Kind.NULL), int(Kind.BOOLEAN)
_IN, _IS_NULL, _PATTERN = int(Op.IN), int(Op.NULL), int(Op.PATTERN)
_CONSTANT_KIND: dict[type, int] = {
    int: int(Kind.NUMBER),
    Decimal: int(Kind.NUMBER),
    str: int(Kind.STRING),
    bool: int(Kind.BOOLEAN),
    Date: int(Kind.DATE),
    Timestamp: int(Kind.TIMESTAMP),
}
_HANDLERS: dict[type, Any] = {
    ir.Compare: LeafTable._compare,
    ir.In: LeafTable._in,
    ir.Like: LeafTable._like,
    ir.Matches: LeafTable._matches,
    ir.IsNull: LeafTable._is_null,
    ir.Some: LeafTable._term,
    ir.Every: LeafTable._term,
}
