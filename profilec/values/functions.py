"""The scalar functions: one table of name, number of arguments, and meaning.

NULL: every function gives NULL for a NULL argument and for an argument of the wrong kind
(there is no coercion); COALESCE alone looks past NULLs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from profilec.values import dates, numbers
from profilec.values.folding import fold, lower, upper
from profilec.values.kinds import NANOS_PER_DAY, Date, Interval, Kind, Timestamp, Value, kind_of

_MAX_DIGITS = numbers.MAX_RESULT_DIGITS


@dataclass(frozen=True, slots=True)
class Function:
    """A scalar function: the kinds it takes (None: any) and the kind it gives (None: it depends)."""

    name: str
    min_arguments: int
    max_arguments: int
    parameters: tuple[Kind | None, ...]
    result: Kind | None
    apply: Callable[..., Value]
    public: bool = True


def call(name: str, arguments: list[Value]) -> Value:
    """The function's value. `name` is a key of FUNCTIONS.

    >>> call("SUBSTR", ["profile", 4, 2]), call("ABS", ["x"]), call("COALESCE", [None, 3])
    ('fi', None, 3)
    """
    return FUNCTIONS[name].apply(*arguments)


def cast(value: Value, to: str) -> Value:
    """CAST(value AS to); NULL where the value has no such form.

    INTEGER cuts the fraction off. BOOLEAN reads 'true' and 'false', and a number as "is not zero".

    >>> cast("12.5", "NUMBER"), cast(12.5, "INTEGER"), cast("x", "NUMBER"), cast(True, "STRING")
    (Decimal('12.5'), 12, None, 'true')
    """
    return _CASTS[to](value)


def _number_or_none(value: Value) -> int | float | Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    return value


def _add(left: Value, right: Value) -> Value:
    if isinstance(right, Interval):
        return dates.add_interval(left, right) if isinstance(left, Date | Timestamp) else None
    if isinstance(left, Interval):
        return _add(right, left)
    a, b = _number_or_none(left), _number_or_none(right)
    return None if a is None or b is None else numbers.add(a, b)


def _subtract(left: Value, right: Value) -> Value:
    if isinstance(right, Interval):
        return dates.add_interval(left, right, -1) if isinstance(left, Date | Timestamp) else None
    a, b = _number_or_none(left), _number_or_none(right)
    return None if a is None or b is None else numbers.subtract(a, b)


def _of_numbers(operation: Callable[..., Value]) -> Callable[..., Value]:
    def apply(*arguments: Value) -> Value:
        operands = [_number_or_none(argument) for argument in arguments]
        return None if None in operands else operation(*operands)

    return apply


def _of_string(operation: Callable[[str], Value]) -> Callable[[Value], Value]:
    def apply(argument: Value) -> Value:
        return operation(argument) if isinstance(argument, str) else None

    return apply


def _round(value: Value, digits: Value = 0) -> Value:
    number, places = _number_or_none(value), _integer(digits)
    return None if number is None or places is None else numbers.round_half_away(number, places)


def _integer(value: Value) -> int | None:
    number = _number_or_none(value)
    if number is None:
        return None
    whole = numbers.truncate(number)
    return whole if whole is not None and whole == numbers.exact(number) else None


def _substr(text: Value, start: Value, length: Value = 10**18) -> Value:
    """SQL's SUBSTR: positions count from 1; those before the first are cut away. A negative length is NULL."""
    first, count = _integer(start), _integer(length)
    if not isinstance(text, str) or first is None or count is None or count < 0:
        return None
    return text[max(first - 1, 0) : max(first - 1 + count, 0)]


def _coalesce(*arguments: Value) -> Value:
    return next((argument for argument in arguments if argument is not None), None)


def _to_number(value: Value) -> Value:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        return _read_number(value)
    return _number_or_none(value)


def _read_number(text: str) -> Value:
    text = text.strip(" ")
    body = text[1:] if text[:1] in ("+", "-") else text
    if not body.isascii() or (not body[:1].isdigit() and not (body[:1] == "." and body[1:2].isdigit())):
        return None
    if any(character not in "0123456789.eE+-" for character in body):
        return None
    try:
        number = numbers.parse_number(body)
    except (ValueError, ArithmeticError):
        return None
    return numbers.negate(number) if text[:1] == "-" else number


def _to_integer(value: Value) -> Value:
    number = _number_or_none(_to_number(value))
    return None if number is None else numbers.truncate(number)


def _to_string(value: Value) -> Value:
    match value:
        case bool():
            return "true" if value else "false"
        case str() | None:
            return value
        case Date():
            return dates.print_date(value)
        case Timestamp():
            return dates.print_timestamp(value)
    number = _number_or_none(value)
    return None if number is None else numbers.print_number(number)


def _to_boolean(value: Value) -> Value:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip(" ").lower())
    number = _number_or_none(value)
    return None if number is None else number != 0


def _to_date(value: Value) -> Value:
    match value:
        case Date():
            return value
        case Timestamp():
            return Date(value.nanos // NANOS_PER_DAY)
        case str():
            try:
                return dates.parse_date(value)
            except ValueError:
                return None
    return None


def _to_timestamp(value: Value) -> Value:
    match value:
        case Timestamp():
            return value
        case Date():
            return Timestamp(value.days * NANOS_PER_DAY)
        case str():
            try:
                return dates.parse_timestamp(value)
            except ValueError:
                return None
    return None


_CASTS: dict[str, Callable[[Value], Value]] = {
    "NUMBER": _to_number,
    "INTEGER": _to_integer,
    "STRING": _to_string,
    "BOOLEAN": _to_boolean,
    "DATE": _to_date,
    "TIMESTAMP": _to_timestamp,
}
CAST_TYPES = tuple(_CASTS)
CAST_KINDS = {
    "NUMBER": Kind.NUMBER,
    "INTEGER": Kind.NUMBER,
    "STRING": Kind.STRING,
    "BOOLEAN": Kind.BOOLEAN,
    "DATE": Kind.DATE,
    "TIMESTAMP": Kind.TIMESTAMP,
}

_N, _S = Kind.NUMBER, Kind.STRING
FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        Function("+", 2, 2, (None, None), None, _add),
        Function("-", 2, 2, (None, None), None, _subtract),
        Function("*", 2, 2, (_N, _N), _N, _of_numbers(numbers.multiply)),
        Function("/", 2, 2, (_N, _N), _N, _of_numbers(numbers.divide)),
        Function("%", 2, 2, (_N, _N), _N, _of_numbers(numbers.remainder)),
        Function("NEGATE", 1, 1, (_N,), _N, _of_numbers(numbers.negate), public=False),
        Function("LOWER", 1, 1, (_S,), _S, _of_string(lower)),
        Function("UPPER", 1, 1, (_S,), _S, _of_string(upper)),
        Function("LENGTH", 1, 1, (_S,), _N, _of_string(len)),
        Function("TRIM", 1, 1, (_S,), _S, _of_string(lambda text: text.strip(" "))),
        Function("ABS", 1, 1, (_N,), _N, _of_numbers(numbers.absolute)),
        Function("ROUND", 1, 2, (_N, _N), _N, _round),
        Function("COALESCE", 1, 10**6, (None,), None, _coalesce),
        Function("SUBSTR", 2, 3, (_S, _N, _N), _S, _substr),
        # Not in the language: derived attributes of patterns are made of them.
        Function("FOLD", 1, 1, (_S,), _S, _of_string(fold), public=False),
        Function("REVERSE", 1, 1, (_S,), _S, _of_string(lambda text: text[::-1]), public=False),
    )
}
OPERATORS = ("+", "-", "*", "/", "%")


def kind_name(value: Value) -> str:
    """The kind in a user's words: `number`, `string`, …"""
    return kind_of(value).name.lower()
