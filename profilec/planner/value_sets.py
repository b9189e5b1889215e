"""Sets of values, as cuts of one line.

In and out: sets of the values that one scalar can have. All values lie on one line, NULL first,
then kind by kind, arrays and records (OPAQUE) last; a set is a sorted tuple of an even number of
*cuts*, at which membership begins and ends in turn:

    NULL | … 1 … 5 … | '' … 'a' … | FALSE TRUE | dates | timestamps | OPAQUE
    ^    ^           ^            ^            ^       ^            ^       ^
    (0,) (1,)        (2,)         (3,)         (4,)    (5,)         (6,)    (7,)

    cut (kind,)           before all values of the kind
    cut (kind, value, 0)  just before the value         cut (kind, value, 1)  just after it

    a < 5                  (1,) (1,5,0)
    a != 5                 (1,) (1,5,0) (1,5,1) (2,)     neither NULL nor 'x' is in it
    a IS NOT NULL          (1,) (7,)
    (a < 5) IS NOT TRUE    (0,) (1,) (1,5,0) (7,)

Invariant: cuts ascend strictly, so equal sets are equal tuples. NULL: absence is a point of the
line like any other, so complement is exact: it is the NOT TRUE of a condition, never its FALSE.

Source: the elementary intervals of Tatbul 2001, 4.1.2, over kinds. Dates
and timestamps are taken as dense, which is sound: `d > DATE x AND d < DATE x + 1` is only not
seen to be empty.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any, TypeAlias

from profilec.values.kinds import Kind

Cut: TypeAlias = tuple[Any, ...]
ValueSet: TypeAlias = tuple[Cut, ...]

NULL, NUMBER, STRING, BOOLEAN = Kind.NULL.value, Kind.NUMBER.value, Kind.STRING.value, Kind.BOOLEAN.value
DATE, TIMESTAMP, OPAQUE = Kind.DATE.value, Kind.TIMESTAMP.value, Kind.OPAQUE.value
COMPARABLE = range(NUMBER, OPAQUE)
"""The kinds that a constant can have."""

_START, _END = (NULL,), (OPAQUE + 1,)
EMPTY: ValueSet = ()
FULL: ValueSet = (_START, _END)


def before(kind: int, value: Any) -> Cut:
    """The cut just before a value. Nothing lies below the least string and the least boolean."""
    if (kind == STRING and value == "") or (kind == BOOLEAN and value is False):
        return (kind,)
    return (kind, value, 0)


def after(kind: int, value: Any) -> Cut:
    """The cut just after a value. Nothing lies between FALSE and TRUE, nor after TRUE."""
    if kind == BOOLEAN:
        return (kind + 1,) if value else (kind, True, 0)
    return (kind, value, 1)


def of_kind(kind: int) -> ValueSet:
    """All values of a kind."""
    return ((kind,), (kind + 1,))


def of_points(points: Iterable[tuple[int, Any]]) -> ValueSet:
    """The set of some values, given as (kind, value).

    >>> of_points([(NUMBER, 5), (BOOLEAN, False)])
    ((1, 5, 0), (1, 5, 1), (3,), (3, True, 0))
    """
    return union([(before(kind, value), after(kind, value)) for kind, value in points])


def of_comparison(operator: str, kind: int, value: Any) -> ValueSet:
    """The values for which `value_of_the_scalar operator value` is TRUE.

    >>> of_comparison(">=", STRING, ""), of_comparison("<", STRING, "")
    (((2,), (3,)), ())
    """
    low, high = before(kind, value), after(kind, value)
    match operator:
        case "=":
            return (low, high)
        case "!=":
            cuts: ValueSet = ((kind,), low, high, (kind + 1,))
        case "<":
            cuts = ((kind,), low)
        case "<=":
            cuts = ((kind,), high)
        case ">":
            cuts = (high, (kind + 1,))
        case _:
            cuts = (low, (kind + 1,))
    return tuple(cut for cut in cuts if cuts.count(cut) == 1)


def complement(cuts: ValueSet) -> ValueSet:
    """All values that are not in the set.

    >>> complement(EMPTY) == FULL, complement(FULL) == EMPTY
    (True, True)
    """
    toggled = cuts[1:] if cuts and cuts[0] == _START else (_START, *cuts)
    return toggled[:-1] if toggled and toggled[-1] == _END else (*toggled, _END)


def union(sets: Sequence[ValueSet]) -> ValueSet:
    """The values in some of the sets."""
    if len(sets) == 2:
        return complement(_clip(*(complement(cuts) for cuts in sorted(sets, key=len))))
    return _sweep(sets, 1)


def intersection(sets: Sequence[ValueSet]) -> ValueSet:
    """The values in all of the sets.

    >>> intersection([of_comparison(">", NUMBER, 1), of_comparison("<=", NUMBER, 5)])
    ((1, 1, 1), (1, 5, 1))
    """
    if len(sets) == 2:
        return _clip(*sorted(sets, key=len))
    return _sweep(sets, len(sets))


def _clip(small: ValueSet, large: ValueSet) -> ValueSet:
    """The intersection of two sets. PERF: the large one is cut out in slices, in logarithmic time for each."""
    found: list[Cut] = []
    for low, high in zip(small[::2], small[1::2], strict=True):
        first, last = bisect_right(large, low), bisect_left(large, high)
        if first & 1:
            found.append(low)
        found += large[first:last]
        if last & 1:
            found.append(high)
    return tuple(found)


def _sweep(sets: Sequence[ValueSet], enough: int) -> ValueSet:
    """Where at least `enough` sets overlap. PERF: one sort, for 100,000 sets as for three."""
    events = [(cut, 1 - 2 * (at & 1)) for cuts in sets for at, cut in enumerate(cuts)]
    events.sort(key=itemgetter(0))
    found: list[Cut] = []
    depth = at = 0
    while at < len(events):
        cut, held = events[at][0], depth >= enough
        while at < len(events) and events[at][0] == cut:
            depth += events[at][1]
            at += 1
        if held != (depth >= enough):
            found.append(cut)
    return tuple(found)
