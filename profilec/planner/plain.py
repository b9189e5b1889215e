"""The quick look that spares most profiles their normalization.

In: a condition. Out: whether it is plain, which means that `normalize` would return it as it is:
AND and OR in one another in turn; the leaves in normal form, each about an attribute or a call of
one; no two operands of one connective about the same subject, but for a lower and then an upper
bound in an AND; no part in two operands of one connective.

Invariant: "yes" is never wrong (a test compares it with what the rules do); "no" may be.

`tidied` goes one step further for an AND: it puts the operands in order, and then takes the look.

PERF: profiles come by the million, and to ask every rule takes ten times longer than this.
"""

from __future__ import annotations

from decimal import Decimal
from operator import attrgetter

from profilec.grammar import ir
from profilec.values.compare import MIRRORED_OPERATOR
from profilec.values.kinds import Date, Timestamp

_ORDERED_TYPES = frozenset((int, Decimal, str, Date, Timestamp))
_NUMBERS = frozenset((int, Decimal))
_STRING = frozenset((str,))
_MAY_CARRY_NOT = frozenset((ir.In, ir.Like, ir.Matches, ir.IsNull, ir.Some, ir.Every, ir.Exists, ir.ForAll))


def is_plain(condition: ir.Condition) -> bool:
    """Whether no rule would touch the condition.

    >>> a = ir.attribute("a")
    >>> low, high = ir.Compare(">=", a, ir.constant(1)), ir.Compare("<", a, ir.constant(5))
    >>> is_plain(ir.And((low, high))), is_plain(ir.And((high, low))), is_plain(ir.Not(low))
    (True, False, False)
    """
    return _subject(condition) is not None


def tidied(condition: ir.Condition) -> ir.Condition | None:
    """An AND that is plain once it is flattened and its comparisons and lists are put in order; None for all others.

    PERF: `10 <= price <= 30 AND brand IN ('b', 'a')` is what people write; the rules would do just this, at length.

    >>> price, one, two = ir.attribute("price"), ir.constant(1), ir.constant(2)
    >>> written = ir.And((ir.Compare("<=", one, price), ir.Compare("<=", price, two)))
    >>> tidied(written) is ir.And((ir.Compare(">=", price, one), ir.Compare("<=", price, two)))
    True
    """
    if type(condition) is not ir.And:
        return None
    operands: list[ir.Condition] = []
    for operand in condition.operands:
        for part in operand.operands if type(operand) is ir.And else (operand,):
            if type(part) is ir.Compare and type(part.left) is ir.Constant:
                operands.append(ir.Compare(MIRRORED_OPERATOR[part.operator], part.right, part.left))
            elif type(part) is ir.In and not _ascend(part.options) and (options := _sorted(part.options)):
                operands.append(ir.In(part.item, options))
            else:
                operands.append(part)
    tidy = ir.And(tuple(operands))
    return tidy if is_plain(tidy) else None


def _sorted(options: tuple[ir.Scalar, ...]) -> tuple[ir.Scalar, ...]:
    """The distinct options in order; none where they are not all numbers or all strings."""
    types = {option.type_ if type(option) is ir.Constant else None for option in options}
    if types <= _NUMBERS or types == _STRING:
        return tuple(sorted(set(options), key=attrgetter("value")))
    return ()


def is_plain_here(node: ir.Condition) -> bool:
    """Whether no rule would touch a leaf, or a connective of leaves alone: an answer in time linear in the operands."""
    if type(node) is ir.And or type(node) is ir.Or:
        for operand in node.operands:
            if type(operand) is ir.And or type(operand) is ir.Or:
                return False
    return _subject(node) is not None


def _subject(node: ir.Condition) -> object:
    """What a plain condition is about: the one subject of all its operands, or itself; None where it is not plain."""
    if type(node) is not ir.And and type(node) is not ir.Or:
        return _subject_of_leaf(node)
    asked: dict[object, ir.Condition] = {}
    nested = False
    for operand in node.operands:
        if type(operand) is ir.And or type(operand) is ir.Or:
            nested = True
            subject = None if type(operand) is type(node) else _subject(operand)
        else:
            subject = _subject_of_leaf(operand)
        if subject is None:
            return None
        if subject in asked and not (type(node) is ir.And and _bound_a_range(asked[subject], operand)):
            return None
        asked[subject] = operand
    if nested and _share_a_part(node.operands):
        return None
    return subject if len(asked) == 1 else node


def _share_a_part(operands: tuple[ir.Condition, ...]) -> bool:
    parts: list[ir.Condition] = []
    for operand in operands:
        if type(operand) is ir.And or type(operand) is ir.Or:
            parts += operand.operands
        else:
            parts.append(operand)
    return len(set(parts)) < len(parts)


def _subject_of_leaf(leaf: ir.Condition) -> object:
    """What a leaf in normal form is about: a scalar, where ranges could be merged, else the leaf without its sign."""
    scalar: ir.Scalar
    subject: object
    if type(leaf) is ir.Compare:
        constant = leaf.right
        if type(constant) is not ir.Constant or constant is ir.NULL:
            return (leaf.left, constant) if _are_in_order(leaf.left, constant) else None
        subject = scalar = leaf.left
    elif type(leaf) is ir.In:
        if not _ascend(leaf.options):
            return None
        subject = scalar = leaf.item
    elif type(leaf) is ir.IsNull:
        subject = scalar = leaf.operand
    elif type(leaf) is ir.Like:
        pattern = leaf.pattern
        if type(pattern) is not ir.Constant or pattern.type_ is not str or leaf.escape is not None:
            return None
        subject, scalar = leaf, leaf.text
    elif type(leaf) is ir.Matches:
        subject, scalar = leaf, leaf.text
    elif type(leaf) is ir.Not:
        return _subject_of_leaf(leaf.operand) if type(leaf.operand) in _MAY_CARRY_NOT else None
    elif type(leaf) is ir.Exists or type(leaf) is ir.ForAll:
        where = leaf.scope.where
        return leaf if _subject(leaf.body) is not None and (where is None or _subject(where) is not None) else None
    else:
        return leaf if type(leaf) is ir.Some or type(leaf) is ir.Every else None
    if type(scalar) is ir.Attribute:
        return subject
    return subject if type(scalar) is ir.Call and _is_plain_call(scalar) else None


def _are_in_order(left: ir.Scalar, right: ir.Scalar) -> bool:
    """Whether two scalars are two attributes, in the order that `orient_comparisons` gives them."""
    if type(left) is not ir.Attribute or type(right) is not ir.Attribute:
        return False
    return left.scope < right.scope or (left.scope == right.scope and left.parts < right.parts)


def _is_plain_call(call: ir.Call) -> bool:
    """Whether a call is of one attribute and constants, none of them NULL."""
    if type(call.arguments[0]) is not ir.Attribute or (call.function == "COALESCE" and len(call.arguments) != 2):
        return False
    return all(type(argument) is ir.Constant and argument is not ir.NULL for argument in call.arguments[1:])


def _ascend(options: tuple[ir.Scalar, ...]) -> bool:
    """Whether an IN list holds at least two numbers or strings, ascending."""
    if len(options) < 2:
        return False
    first = options[0]
    if type(first) is not ir.Constant:
        return False
    types = _NUMBERS if first.type_ in _NUMBERS else _STRING if first.type_ is str else ()
    if not types:
        return False
    last = first.value
    for option in options[1:]:
        if type(option) is not ir.Constant or option.type_ not in types or option.value <= last:  # type: ignore[operator]
            return False
        last = option.value
    return True


def _bound_a_range(low: ir.Condition, high: ir.Condition) -> bool:
    """Whether two comparisons of one scalar are a lower bound and then an upper bound above it."""
    if type(low) is not ir.Compare or type(high) is not ir.Compare:
        return False
    if low.operator not in (">", ">=") or high.operator not in ("<", "<="):
        return False
    least, most = low.right, high.right
    if type(least) is not ir.Constant or type(most) is not ir.Constant:
        return False
    if least.type_ is not most.type_ and not (least.type_ in _NUMBERS and most.type_ in _NUMBERS):
        return False
    return least.type_ in _ORDERED_TYPES and least.value < most.value and least.value != ""  # type: ignore[operator]
