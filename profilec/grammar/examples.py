"""Inline examples: the JSON of ACCEPTS, REJECTS and GIVEN.

In: the text of one JSON value. Out: documents (dicts), or a TextError at the place inside the
JSON. A key that an object has twice is refused, since readers differ on which one counts.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from profilec.grammar.refusals import TextError, shorten

_KEY = re.compile(r'[{}\[\]]|"(?:[^"\\]|\\.)*+"(?P<key>\s*:)?')


class Example(NamedTuple):
    """A document that the profile must match (ACCEPTS) or must not (REJECTS), after the documents `given`."""

    kind: str
    document: dict[str, Any]
    given: list[dict[str, Any]]
    line: int
    column: int


def read_object(text: str, start: int, word: str) -> dict[str, Any]:
    """The document of ACCEPTS or REJECTS (`word`). `start` is the text's place, for errors.

    >>> read_object('{"price": 12}', 0, "ACCEPTS")
    {'price': 12}

    Raises:
        TextError: no JSON object, or a key twice.
    """
    value = _read(text, start)
    if not isinstance(value, dict):
        raise TextError("PC118", start, start + len(text), f"{word} takes JSON objects", 'as in {"price": 12}')
    return value


def read_objects(text: str, start: int) -> list[dict[str, Any]]:
    """The documents of GIVEN.

    Raises:
        TextError: no JSON array of objects, or a key twice.
    """
    value = _read(text, start)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        hint = 'as in [{"price": 12}, {"price": 13}]'
        raise TextError("PC118", start, start + len(text), "GIVEN takes a JSON array of objects", hint)
    return value


class _DuplicateKeyError(ValueError):
    pass


class _NoConstantError(ValueError):
    pass


def _read(text: str, start: int) -> Any:
    try:
        return _DECODER.decode(text)
    except _DuplicateKeyError:
        first, last, key = _second_key(text)
        raise TextError("PC119", start + first, start + last, f"the key {key} stands here twice") from None
    except json.JSONDecodeError as error:
        at = start + min(error.pos, len(text) - 1)
        raise TextError("PC118", at, at + 1, f"this is no JSON: {error.msg[:1].lower()}{error.msg[1:]}") from None
    except _NoConstantError as error:
        raise TextError("PC118", start, start + len(text), f"this is no JSON: {error}") from None
    except ValueError:  # Python reads no integer of thousands of digits
        raise TextError("PC118", start, start + len(text), "this has an integer of too many digits") from None
    except RecursionError:
        raise TextError("PC301", start, start + 1, "this JSON is nested too deep") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _DuplicateKeyError
    return found


def _no_constant(name: str) -> Any:
    raise _NoConstantError(f"{name} is no JSON value")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_constant)


def _second_key(text: str) -> tuple[int, int, str]:
    """Start, end and text of the first key that its object has already."""
    seen: list[set[str]] = []
    for found in _KEY.finditer(text):
        piece = found[0]
        if piece[0] in "{[":
            seen.append(set())
        elif piece[0] in "}]":
            seen.pop()
        elif found["key"] is not None:
            key = json.loads(piece[: -len(found["key"])])
            if key in seen[-1]:
                return found.start(), found.start("key"), shorten(json.dumps(key, ensure_ascii=False))
            seen[-1].add(key)
    raise AssertionError("the decoder found a key twice")
