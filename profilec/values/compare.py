"""Comparison under three-valued logic: exact within a kind, UNKNOWN across kinds and with NULL."""

from __future__ import annotations

from typing import Any

from profilec.values.kinds import Kind, Truth, Value, kind_of
from profilec.values.numbers import exact

NEGATED_OPERATOR = {"=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
MIRRORED_OPERATOR = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def order(left: Value, right: Value) -> int | None:
    """-1, 0 or 1 as `left` is less than, equal to or greater than `right`; None where they do not compare.

    >>> order(9007199254740993, 9007199254740992.0), order(0.1, "0.1"), order(None, None)
    (1, None, None)
    """
    kind = kind_of(left)
    if kind is not kind_of(right) or kind is Kind.NULL or kind is Kind.OPAQUE:
        return None
    key_left, key_right = order_key(left), order_key(right)
    return 0 if key_left == key_right else 1 if key_left > key_right else -1


def order_key(value: Value) -> Any:
    """What orders a value among those of its own kind."""
    return exact(value) if type(value) is float else value


def compare(operator: str, left: Value, right: Value) -> Truth:
    """The truth of `left operator right`; operator is one of `= != < <= > >=`."""
    sign = order(left, right)
    if sign is None:
        return None
    return sign_satisfies(operator, sign)


def sign_satisfies(operator: str, sign: int) -> bool:
    match operator:
        case "=":
            return sign == 0
        case "!=":
            return sign != 0
        case "<":
            return sign < 0
        case "<=":
            return sign <= 0
        case ">":
            return sign > 0
        case ">=":
            return sign >= 0
    raise ValueError(f"no comparison operator: {operator!r}")


def truth_not(value: Truth) -> Truth:
    return None if value is None else not value


def truth_and(values: list[Truth]) -> Truth:
    if False in values:
        return False
    return None if None in values else True


def truth_or(values: list[Truth]) -> Truth:
    if True in values:
        return True
    return None if None in values else False
