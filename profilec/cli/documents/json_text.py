"""One record's JSON text -> its document, with no digit lost.

Beyond the standard library's reading: a number that a double cannot hold is a Decimal, NaN is
NULL (as it is everywhere), and under `strict` a key that comes twice is an error.
"""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from typing import Any

from profilec.cli.documents.chunks import Malformed, Record

_SAFE_LENGTH = 15
"""A number of at most 15 significant digits and no exponent reads back from its double unchanged."""


class RecordDecoder:
    """Decodes records; `strict` refuses what is otherwise read as best it can be.

    >>> RecordDecoder().decode(b'{"a": 0.1, "b": 12345678901234567890.5}', 1).document
    {'a': 0.1, 'b': Decimal('12345678901234567890.5')}
    >>> RecordDecoder().decode(b'[1]', 7)
    Malformed(line=7, message='a record is an object, and this is an array', column=None)
    """

    def __init__(self, *, strict: bool = False) -> None:
        self._decoder = json.JSONDecoder(
            parse_float=number,
            parse_constant=_refuse_constant if strict else _constant,
            object_pairs_hook=_distinct if strict else None,
        )

    def decode(self, text: bytes, line: int) -> Record | Malformed:
        """The record that stands in `text`, which starts on `line`."""
        try:
            decoded = text.decode()
            document = self._decoder.decode(decoded)
        except UnicodeDecodeError as error:
            return Malformed(line + text.count(b"\n", 0, error.start), f"byte {text[error.start]:#04x} is not UTF-8")
        except json.JSONDecodeError as error:
            message = error.msg[:1].lower() + error.msg[1:]
            return Malformed(line + error.lineno - 1, message, error.colno)
        except RecursionError:
            return Malformed(line, "nested too deep")
        except ValueError as error:
            return Malformed(line, _number_message(error))
        if type(document) is not dict:
            return Malformed(line, f"a record is an object, and this is {json_kind(document)}")
        return Record(line, document, len(text))


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
