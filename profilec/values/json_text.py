"""A JSON object's text as a document, with no digit lost.

Beyond the standard library's reading: a number that a double cannot hold is a Decimal, NaN is
NULL (as it is everywhere), and under `strict` a key that comes twice is an error.
"""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from typing import Any

_SAFE_LENGTH = 15
"""A number of at most 15 significant digits and no exponent reads back from its double unchanged."""


class JsonError(ValueError):
    """A text that is no JSON object: why, and where in it, lines and columns from 1; the column where it is known."""

    def __init__(self, message: str, line: int = 1, column: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class ObjectDecoder:
    """Decodes objects; `strict` refuses what is otherwise read as best it can be.

    >>> ObjectDecoder().decode('{"a": 0.1, "b": 12345678901234567890.5}')
    {'a': 0.1, 'b': Decimal('12345678901234567890.5')}
    """

    def __init__(self, *, strict: bool = False) -> None:
        self._decoder = json.JSONDecoder(
            parse_float=number,
            parse_constant=_refuse_constant if strict else _constant,
            object_pairs_hook=_distinct if strict else None,
        )

    def decode(self, text: str) -> dict[str, Any]:
        """The object.

        Raises:
            JsonError: it is none.
        """
        try:
            value = self._decoder.decode(text)
        except json.JSONDecodeError as error:
            raise JsonError(error.msg[:1].lower() + error.msg[1:], error.lineno, error.colno) from None
        except RecursionError:
            raise JsonError("nested too deep") from None
        except ValueError as error:
            raise JsonError(_number_message(error)) from None
        if type(value) is not dict:
            raise JsonError(f"a record is an object, and this is {json_kind(value)}")
        return value


def number(text: str) -> float | Decimal:
    """A JSON number with a point or an exponent: the double where it says the same, else a Decimal.

    >>> number("0.10"), number("1e400"), number("0.1000000000000000055511151231257827")
    (0.1, Decimal('1E+400'), Decimal('0.1000000000000000055511151231257827'))
    """
    if len(text) <= _SAFE_LENGTH and "e" not in text and "E" not in text:
        return float(text)
    try:
        exact = Decimal(text)
    except InvalidOperation:
        raise ValueError(f"the exponent of {text[:40]} is beyond all measure") from None
    double = float(text)
    return double if Decimal(repr(double)) == exact else exact


def json_kind(value: Any) -> str:
    """What a JSON value is, with its article.

    >>> json_kind([]), json_kind(None), json_kind(1.5)
    ('an array', 'null', 'a number')
    """
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a string"
        case list():
            return "an array"
        case dict():
            return "an object"
    return "a number"


def _constant(name: str) -> float | None:
    return None if name == "NaN" else float(name)


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {json.dumps(twice, ensure_ascii=False)} comes twice")
    return record


def _number_message(error: ValueError) -> str:
    message = str(error)
    return "an integer of too many digits" if "integer string conversion" in message else message
