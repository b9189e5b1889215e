"""sort_options: an IN list in one order, each value once, without what can't matter."""

from __future__ import annotations

from operator import attrgetter

from profilec.grammar import ir
from profilec.planner.scalar_conditions import asked_scalar, condition_of, value_set
from profilec.planner.value_sets import BOOLEAN, COMPARABLE
from profilec.planner.wants import signed, split
from profilec.values.kinds import kind_of


def sort_options(node: ir.Condition) -> ir.Condition:
    """
        a IN (3, 1, 3)              a IN (1, 3)
        a IN (1)                    a = 1
        a IN (1, NULL)              a = 1
        a NOT IN (1, NULL)          FALSE
        a NOT IN (1, 'x')           FALSE
        (a IN (1, NULL)) IS NOT TRUE    (a = 1) IS NOT TRUE

    NULL: an option NULL turns FALSE into UNKNOWN and leaves TRUE alone; so does an option of
    another kind than the value. Hence no value is FALSE of such a list, and its TRUE is that of the
    rest. It is read as a set of values and written from that. A list of one kind is only sorted,
    which changes no truth; booleans are few enough for NOT IN to be said with `=`.

    >>> a, one, two = ir.attribute("a"), ir.constant(1), ir.constant(2)
    >>> sort_options(ir.In(a, (two, one, ir.NULL))).options == (one, two)
    True
    """
    leaf, want = split(node)
    if type(leaf) is not ir.In:
        return node
    scalar = asked_scalar(node)
    if scalar is None:
        return node
    kinds = {kind_of(option.value).value for option in leaf.options}  # type: ignore[attr-defined]
    if len(kinds) > 1 or BOOLEAN in kinds or not kinds <= set(COMPARABLE):
        return condition_of(scalar, value_set(node), node)
    options = sorted(set(leaf.options), key=attrgetter("value"))
    if len(options) == 1:
        return signed(ir.Compare("=", scalar, options[0]), want)
    return signed(ir.In(scalar, tuple(options)), want)
