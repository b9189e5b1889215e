"""fold_constants: what holds no attribute is decided now."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, Final

from profilec.grammar import ir
from profilec.planner.wants import signed, split
from profilec.values import dates, functions, numbers
from profilec.values.compare import compare, truth_or
from profilec.values.folding import fold
from profilec.values.kinds import Date, Timestamp
from profilec.values.patterns import fold_pattern, like_matches, parse_like

_SURROGATES = re.compile("[\ud800-\udfff]")
_TOO_LONG_TO_WRITE = 10**numbers.MAX_LITERAL_DIGITS
_NEVER_TRUE_OF_ITSELF = ("<", ">", "!=")


class _Varies:
    """Stands for the value of a scalar that depends on the document."""


_VARIES: Final = _Varies()


def fold_constants(node: ir.Condition) -> ir.Condition:
    """
        a < 1 + 2                   a < 3               a call of constants is a constant
        a + NULL                    NULL                every function but COALESCE is strict
        COALESCE(NULL, a, 5, b)     COALESCE(a, 5)
        1 < 2                       TRUE
        x = NULL                    NULL
        x < x                       NULL                FALSE or UNKNOWN, and never TRUE
        EXISTS d (FALSE)            FALSE
        FORALL d (TRUE)             TRUE

    NULL: constants are folded by the functions that the runtime calls, so to the same value or
    NULL; the leaf's truth, UNKNOWN included, is then asked what its sign asks. A comparison has
    the signs TRUE and NOT TRUE only, to which FALSE and UNKNOWN are one. A quantifier is never
    UNKNOWN. A double stays inside arithmetic, where a decimal would not round as it does, and
    so stays what no literal can write.

    >>> three = ir.Call("+", (ir.constant(1), ir.constant(2)))
    >>> fold_constants(ir.Compare("<", ir.attribute("a"), three)).right.value
    3
    """
    leaf, want = split(node)
    match leaf:
        case ir.Compare():
            folded = _fold_compare(leaf)
        case ir.In():
            folded = _fold_in(leaf)
        case ir.Like():
            folded = _fold_like(leaf)
        case ir.Matches():
            folded = _fold_matches(leaf)
        case ir.IsNull(operand):
            scalar, value = _fold_operand(operand)
            folded = ir.IsNull(scalar) if value is _VARIES else ir.Literal(value is None)
        case ir.Exists(body, scope) if ir.FALSE in (body, scope.where):
            folded = ir.FALSE
        case ir.ForAll(body, scope) if body is ir.TRUE or scope.where is ir.FALSE:
            folded = ir.TRUE
        case _:
            return node
    return node if folded is leaf else signed(folded, want)


def _fold_compare(leaf: ir.Compare) -> ir.Condition:
    if type(leaf.left) is ir.Attribute and type(leaf.right) is ir.Constant and leaf.right is not ir.NULL:
        return leaf  # PERF: nearly all leaves
    left, left_value = _fold_operand(leaf.left)
    right, right_value = _fold_operand(leaf.right)
    if left_value is None or right_value is None:
        return ir.UNKNOWN
    if left_value is not _VARIES and right_value is not _VARIES:
        return ir.Literal(compare(leaf.operator, left_value, right_value))
    if left is right and leaf.operator in _NEVER_TRUE_OF_ITSELF:
        return ir.UNKNOWN
    return ir.Compare(leaf.operator, left, right)


def _fold_in(leaf: ir.In) -> ir.Condition:
    item, value = _fold_operand(leaf.item)
    if value is None:
        return ir.UNKNOWN
    if value is _VARIES:
        return ir.In(item, leaf.options)
    return ir.Literal(truth_or([compare("=", value, option.value) for option in leaf.options]))  # type: ignore[attr-defined]


def _fold_like(leaf: ir.Like) -> ir.Condition:
    text, text_value = _fold_operand(leaf.text)
    pattern, pattern_value = _fold_operand(leaf.pattern)
    for value in (text_value, pattern_value):
        if value is not _VARIES and not isinstance(value, str):
            return ir.UNKNOWN
    if isinstance(pattern_value, str) and (leaf.escape is not None or isinstance(text_value, str)):
        try:
            elements = parse_like(pattern_value, leaf.escape)
        except ValueError:
            return ir.UNKNOWN
        if isinstance(text_value, str):
            if leaf.ignore_case:
                elements, text_value = fold_pattern(elements), fold(text_value)
            return ir.Literal(like_matches(elements, text_value))
    return ir.Like(text, pattern, leaf.escape, leaf.ignore_case)


def _fold_matches(leaf: ir.Matches) -> ir.Condition:
    text, value = _fold_operand(leaf.text)
    if value is _VARIES:
        return ir.Matches(text, leaf.pattern)
    if not isinstance(value, str):
        return ir.UNKNOWN
    import re2

    return ir.Literal(re2.search(leaf.pattern, _SURROGATES.sub("\ufffd", value)) is not None)


def _fold_operand(scalar: ir.Scalar) -> tuple[ir.Scalar, Any]:
    """The operand of a predicate, folded, and its value. Here a double may become the decimal that compares alike."""
    if type(scalar) is ir.Attribute:
        return scalar, _VARIES
    scalar = fold_scalar(scalar)
    value = _value(scalar)
    if value is not _VARIES and type(scalar) is not ir.Constant and _can_be_written(value):
        scalar = ir.constant(value)
    return scalar, value


def fold_scalar(scalar: ir.Scalar) -> ir.Scalar:
    """A scalar with the same value in every document, its constant parts folded as far as literals can write them."""
    match scalar:
        case ir.Cast(argument, to):
            argument = fold_scalar(argument)
            return _written(ir.Cast(argument, to))
        case ir.Call("COALESCE", arguments):
            return _fold_coalesce(arguments)
        case ir.Call(function, arguments):
            folded: list[ir.Scalar] = []
            for argument in arguments:
                folded.append(fold_scalar(argument))  # noqa: PERF401 (a comprehension costs a frame)
            return ir.NULL if ir.NULL in folded else _written(ir.Call(function, tuple(folded)))
    return scalar


def _fold_coalesce(arguments: tuple[ir.Scalar, ...]) -> ir.Scalar:
    kept: list[ir.Scalar] = []
    for argument in arguments:
        folded = fold_scalar(argument)
        if folded is ir.NULL:
            continue
        kept.append(folded)
        if type(folded) is ir.Constant:
            break
    if len(kept) < 2:
        return kept[0] if kept else ir.NULL
    return ir.Call("COALESCE", tuple(kept))


def _written(scalar: ir.Call | ir.Cast) -> ir.Scalar:
    """The constant that a call of constants gives; the call itself where its value is a double or has no literal."""
    arguments = scalar.arguments if isinstance(scalar, ir.Call) else (scalar.argument,)
    if any(type(argument) is not ir.Constant for argument in arguments):
        return scalar
    value = _value(scalar)
    return scalar if type(value) is float or not _can_be_written(value) else ir.constant(value)


def _value(scalar: ir.Scalar) -> Any:
    """The value of a scalar that holds no attribute, a value of `values.kinds` or an Interval; else _VARIES."""
    match scalar:
        case ir.Constant(_, value):
            return value
        case ir.Cast(argument, to):
            value = _value(argument)
            return value if value is _VARIES else functions.cast(value, to)
        case ir.Call(function, arguments):
            values: list[Any] = []
            for argument in arguments:
                value = _value(argument)
                if value is _VARIES:
                    return _VARIES
                values.append(value)
            return functions.call(function, values)
    return _VARIES


def _can_be_written(value: Any) -> bool:
    """Whether some literal reads as this value (as a comparison sees it)."""
    match value:
        case None | bool() | str():
            return True
        case int() | float() | Decimal():
            number = numbers.exact(value)
            if isinstance(number, int):
                return bool(abs(number) < _TOO_LONG_TO_WRITE)
            return (
                number.is_finite()
                and len(number.as_tuple().digits) <= numbers.MAX_LITERAL_DIGITS
                and abs(number.adjusted()) < numbers.MAX_LITERAL_EXPONENT
            )
        case Date():
            return dates.print_date(value) is not None
        case Timestamp():
            return dates.print_timestamp(value) is not None
    return False
