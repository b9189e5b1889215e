"""Hypothesis strategies of IR: every condition that a text can say, made without a text.

Names are nasty (reserved words, the printer's own variables, dots and quotes inside a part),
so are strings and numbers. Nodes are well formed: attributes of earlier documents in
quantifiers only, fields of elements in their bodies, no quantifier in another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache

from hypothesis import strategies as st

from profilec.grammar import ir
from profilec.values.functions import CAST_TYPES, FUNCTIONS
from profilec.values.kinds import NANOS_PER_DAY, Date, Interval, Timestamp
from profilec.values.patterns import LikePattern, Wildcard, print_like

_PLAIN = ("price", "brand", "x", "größe", "_a1", "@t", "$v", "名")
_ODD = (
    "d", "i", "j", "in", "Null", "cast", "date", "matches", "escape", "unknown", "lower", "last", "where", "profile",
    "unit price", "a.b", "it's", 'say "x"', "o`tick", "``", "1st", "x-y", "--", "/*", ";", "²", "ſ", "{", " ", "tab\t",
)  # fmt: skip
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
_LOWEST, _HIGHEST = _FIRST_DAY * NANOS_PER_DAY, (_LAST_DAY + 1) * NANOS_PER_DAY - 1
_ZONE = (18 * 60 + 59) * 60 * 10**9

name_parts: st.SearchStrategy[tuple[str, ...]] = st.lists(
    st.sampled_from(_PLAIN) | st.sampled_from(_PLAIN + _ODD) | st.text("ab.`' é-", min_size=1, max_size=4),
    min_size=1,
    max_size=3,
).map(tuple)

strings: st.SearchStrategy[str] = st.sampled_from(
    ["", "x", "it's", "''", '"', "a\nb", "-- x", "/*", ";", "%", "_", "50%", "\\", "価格", "\x00", "🙂", "`", "1"]
) | st.text(max_size=5)

numbers: st.SearchStrategy[int | Decimal] = (
    st.integers(-5, 30)
    | st.sampled_from([2**53, 2**53 + 1, -(2**63), 10**999, 10**1000, 10**1999, 10**999 - 1, -(10**1000)])
    | st.sampled_from(["0.1", "-2.50", "1E-7", "1E-999", "1E-1000", "1E-1999", "123.456E-1000", "1.5E+999"]).map(
        Decimal
    )
    | st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**6), max_value=10**6)
    | st.integers()
)

dates: st.SearchStrategy[Date] = st.integers(_FIRST_DAY, _LAST_DAY).map(Date)

timestamps: st.SearchStrategy[Timestamp] = (
    st.integers(_LOWEST, _HIGHEST)
    | st.integers(0, 10**10).map(lambda seconds: seconds * 10**9)
    | st.sampled_from([_LOWEST - _ZONE, _LOWEST - 1, _HIGHEST + 1, _HIGHEST + _ZONE])
).map(Timestamp)

intervals: st.SearchStrategy[Interval] = st.builds(
    Interval, st.integers(-30, 30), st.integers(-400, 400), st.integers(-(10**15), 10**15) | st.just(0)
)

constants: st.SearchStrategy[ir.Constant] = st.one_of(
    numbers, strings, st.booleans(), st.none(), dates, timestamps
).map(ir.constant)


@dataclass(frozen=True)
class Scopes:
    """What may be named where: earlier documents, elements by their fields, and how much deeper to go."""

    depth: int
    in_quantifier: bool = False
    n_elements: int = 0
    bare: bool = False
    """Whether the innermost element is one of ANY(array), which is named whole and has no fields."""


def conditions(max_depth: int = 4) -> st.SearchStrategy[ir.Condition]:
    """Any condition that the parser can build, nested up to `max_depth`."""
    return _conditions(Scopes(max_depth))


def scalars(max_depth: int = 3) -> st.SearchStrategy[ir.Scalar]:
    """Any scalar over one document."""
    return _scalars(Scopes(max_depth))


@cache
@st.composite
def _conditions(draw: st.DrawFn, scopes: Scopes) -> ir.Condition:
    if scopes.depth <= 0:
        return draw(_predicates(scopes))
    deeper = replace(scopes, depth=scopes.depth - 1)
    inside = _conditions(deeper)
    match draw(st.integers(0, 12)):
        case 0 | 1:
            return ir.And(tuple(draw(st.lists(inside, min_size=2, max_size=4))))
        case 2 | 3:
            return ir.Or(tuple(draw(st.lists(inside, min_size=2, max_size=4))))
        case 4 | 5:
            return ir.Not(draw(inside))
        case 6:
            return ir.IsTruth(draw(inside), draw(st.sampled_from([True, False, None])))
        case 7:
            return draw(_between(_scalars(deeper)))
        case 8:
            quantifier = draw(st.sampled_from([ir.Some, ir.Every]))
            body = _conditions(replace(deeper, n_elements=scopes.n_elements + 1))
            return quantifier(draw(_attributes(scopes)), draw(body))
        case 9:
            quantifier = draw(st.sampled_from([ir.Some, ir.Every]))
            return quantifier(draw(_attributes(scopes)), draw(_of_element(deeper)))
        case 10 if not scopes.in_quantifier and not scopes.n_elements:
            within = replace(deeper, in_quantifier=True)
            quantifier = draw(st.sampled_from([ir.Exists, ir.ForAll]))
            return quantifier(draw(_conditions(within)), draw(_ranges(within)))
    return draw(_predicates(scopes))


@cache
@st.composite
def _ranges(draw: st.DrawFn, scopes: Scopes) -> ir.Scope:
    where = draw(st.none() | _conditions(replace(scopes, depth=min(scopes.depth, 1))))
    within, within_of = draw(st.none() | intervals), None
    if within is not None:
        within_of = draw(name_parts)
    return ir.Scope(where, within, within_of, draw(st.none() | st.integers(1, 10**6)))


@cache
@st.composite
def _of_element(draw: st.DrawFn, scopes: Scopes) -> ir.Condition:
    """The one predicate of ANY(array): what names the element may stand on either side."""
    inner = replace(scopes, n_elements=scopes.n_elements + 1, bare=True)
    element: ir.Scalar = ir.Attribute(ir.ELEMENT + scopes.n_elements, ())
    if draw(st.booleans()):
        element = draw(st.sampled_from([ir.Call("LOWER", (element,)), ir.Call("+", (element, ir.constant(1)))]))
    other = _scalars(replace(inner, depth=1))
    match draw(st.integers(0, 6)):
        case 6:
            element = ir.Attribute(ir.ELEMENT + scopes.n_elements, ())
            test = ir.IsTruth(ir.Compare("=", element, ir.constant(True)), draw(st.sampled_from([True, False, None])))
            return draw(st.sampled_from([test, ir.Not(test)]))
        case 0:
            operator = draw(st.sampled_from(["<", "<=", ">", ">="]))
            low, high = ir.Compare(operator, draw(other), element), ir.Compare(operator, element, draw(other))
            return ir.And((low, high))
        case 1:
            between = draw(_between(st.just(element), other))
            return draw(st.sampled_from([between, ir.Not(between)]))
        case 2:
            return ir.In(draw(other), (element, draw(other)))
        case _:
            predicate = draw(_predicates(inner, st.just(element)))
            takes_not = isinstance(predicate, ir.In | ir.Like | ir.Matches | ir.IsNull)
            return ir.Not(predicate) if takes_not and draw(st.booleans()) else predicate


@st.composite
def _between(
    draw: st.DrawFn, items: st.SearchStrategy[ir.Scalar], bounds: st.SearchStrategy[ir.Scalar] | None = None
) -> ir.Condition:
    item = draw(items)
    bounds = items if bounds is None else bounds
    low, high = draw(bounds), draw(bounds)
    return ir.And((ir.Compare(">=", item, low), ir.Compare("<=", item, high)))


@st.composite
def _predicates(draw: st.DrawFn, scopes: Scopes, items: st.SearchStrategy[ir.Scalar] | None = None) -> ir.Condition:
    scalar = _scalars(scopes)
    item = draw(scalar if items is None else items)
    match draw(st.integers(0, 8 if items is None else 5)):
        case 0:
            return ir.IsNull(item)
        case 1:
            return ir.In(item, tuple(draw(st.lists(scalar, min_size=1, max_size=4))))
        case 2:
            pattern, escape = draw(_patterns())
            return ir.Like(item, ir.constant(pattern), escape, draw(st.booleans()))
        case 3:
            return ir.Matches(item, draw(st.sampled_from(["", "^a.*b$", "it's", "\\d+", "(?i)x|y", "価"])))
        case 6:
            return ir.Literal(draw(st.sampled_from([True, False, None])))
        case 7:
            return ir.Compare("=", draw(_attributes(scopes)), ir.constant(True))
        case 8:
            return ir.Like(item, draw(_attributes(scopes)), draw(st.sampled_from([None, "!", "'"])), False)
    return ir.Compare(draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="])), item, draw(scalar))


@st.composite
def _patterns(draw: st.DrawFn) -> tuple[str, str | None]:
    parts = draw(st.lists(st.sampled_from(list(Wildcard)) | strings, max_size=4))
    text, escape = print_like(LikePattern(tuple(parts)))
    return (text, escape) if escape != "'" else ("", None)


@cache
@st.composite
def _scalars(draw: st.DrawFn, scopes: Scopes) -> ir.Scalar:
    if scopes.depth <= 0 or draw(st.integers(0, 3)):
        return draw(_attributes(scopes) | constants)
    inside = _scalars(replace(scopes, depth=scopes.depth - 1))
    match draw(st.integers(0, 5)):
        case 0 | 1:
            operator = draw(st.sampled_from(["+", "-", "*", "/", "%"]))
            return ir.Call(operator, (draw(inside), draw(inside)))
        case 2:
            moment, interval = draw(inside), ir.constant(draw(intervals))
            forms = [("+", (moment, interval)), ("-", (moment, interval)), ("+", (interval, moment))]
            return ir.Call(*draw(st.sampled_from(forms)))
        case 3:
            argument = draw(inside)
            if isinstance(argument, ir.Constant) and argument.type_ in (int, Decimal):
                return argument  # a minus before a number is part of the number
            return ir.Call("NEGATE", (argument,))
        case 4:
            return ir.Cast(draw(inside), draw(st.sampled_from(CAST_TYPES)))
    named = [function for function in FUNCTIONS.values() if function.public and function.name.isalpha()]
    function = draw(st.sampled_from(named))
    n_most = min(function.max_arguments, 4)
    arguments = draw(st.lists(inside, min_size=function.min_arguments, max_size=n_most))
    return ir.Call(function.name, tuple(arguments))


@cache
@st.composite
def _attributes(draw: st.DrawFn, scopes: Scopes) -> ir.Attribute:
    usable = [ir.NEW, ir.NEW, *([ir.OLD] if scopes.in_quantifier else [])]
    usable += range(ir.ELEMENT, ir.ELEMENT + scopes.n_elements - scopes.bare)
    return ir.Attribute(draw(st.sampled_from(usable)), draw(name_parts))
