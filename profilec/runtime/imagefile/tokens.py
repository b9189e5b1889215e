"""Programs, types and values as text: a flat list of tokens, in JSON, that a small stack machine reads back.

In: tuples, lists, mappings, sets of strings, None, truths, numbers, strings, dates, and the dataclasses of
`values` and `runtime` that a compiled set is made of. Out: text; and from it equal objects of the same types.

    (("attribute", 0, ("price",), None),)
    ["attribute",0,"price",["tuple",1],null,["tuple",4],["tuple",1]]

A token is a value, which is pushed, or a list `[kind, argument]`: "tuple", "list", "set" and "dict" pop that many
items (or pairs) and push what they make; the kind of a dataclass pops its fields; "int", "decimal" and "float" push
a number that JSON cannot say. Nothing is nested, so no text is too deep, and a text can name no other class.

Invariant: `loads(dumps(value))` is equal to `value`, type by type: no tuple becomes a list, no decimal a float, -0.0
keeps its sign, and a string may hold any code point.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from profilec.runtime.program import JoinTerm
from profilec.values.kinds import Date, Interval, Timestamp
from profilec.values.patterns import LikePattern, Wildcard
from profilec.values.types import Field, Schema, Type

_CLASSES: dict[str, type] = {
    "date": Date,
    "field": Field,
    "interval": Interval,
    "join": JoinTerm,
    "like": LikePattern,
    "schema": Schema,
    "timestamp": Timestamp,
    "type": Type,
}
_KIND_OF = {class_: kind for kind, class_ in _CLASSES.items()}
_FIELDS = {class_: tuple(field.name for field in fields(class_)) for class_ in _KIND_OF}
_INTEGERS = frozenset({Date, Interval, Timestamp})
_PLAIN = (type(None), bool, str)


class NotKeptError(TypeError):
    """A value of a type that no image keeps."""


def dumps(value: Any) -> str:
    """The tokens of a value, as JSON.

    >>> dumps((1, Decimal("-0.10")))
    '[1,["decimal","-0.10"],["tuple",2]]'

    Raises:
        NotKeptError: it is, or holds, an object of another type.
    """
    tokens: list[Any] = []
    # Last first, and turned round at the end: a whole stands before its parts on the way.
    pending = [value]
    while pending:
        item = pending.pop()
        kind = type(item)
        if kind in _PLAIN:
            tokens.append(item)
        elif kind is int:
            tokens.append(item if item.bit_length() < 64 else ["int", hex(item)])
        elif kind is float:
            tokens.append(item if math.isfinite(item) else ["float", repr(item)])
        elif kind is Decimal:
            tokens.append(["decimal", str(item)])
        elif kind is tuple or kind is list:
            tokens.append([kind.__name__, len(item)])
            pending.extend(item)
        elif kind is frozenset:
            tokens.append(["set", len(item)])
            pending.extend(sorted(item))
        elif isinstance(item, Mapping):
            tokens.append(["dict", len(item)])
            pending.extend(part for pair in item.items() for part in pair)
        elif kind in _FIELDS:
            tokens.append([_KIND_OF[kind], 0])
            pending.extend(getattr(item, name) for name in _FIELDS[kind])
        elif kind is Wildcard:
            tokens.append(["wildcard", item.value])
        elif kind is datetime or kind is date:
            tokens.append([f"python_{kind.__name__}", item.isoformat()])
        else:
            raise NotKeptError(f"an image keeps no {kind.__name__}")
    tokens.reverse()
    return json.dumps(tokens, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def loads(text: str) -> Any:
    """The value whose tokens these are.

    Raises:
        ValueError: `dumps` wrote no such text.
    """
    try:
        tokens = json.loads(text)
    except RecursionError:
        raise ValueError("tokens that are nested") from None
    if type(tokens) is not list:
        raise ValueError("no list of tokens")
    stack: list[Any] = []
    for token in tokens:
        if type(token) is list:
            _apply(token, stack)
        elif type(token) is dict:
            raise ValueError("a token that is an object")
        else:
            stack.append(token)
    if len(stack) != 1:
        raise ValueError(f"tokens of {len(stack)} values, not of one")
    return stack.pop()


def _apply(token: list[Any], stack: list[Any]) -> None:
    if len(token) != 2 or type(token[0]) is not str:
        raise ValueError(f"no token: {str(token)[:60]}")
    kind, argument = token
    class_ = _CLASSES.get(kind)
    if class_ is not None:
        stack.append(_object(class_, _pop(stack, len(_FIELDS[class_]))))
    elif kind in ("tuple", "list", "set", "dict"):
        if type(argument) is not int or argument < 0:
            raise ValueError(f"a {kind} of {str(argument)[:60]} items")
        items = _pop(stack, 2 * argument if kind == "dict" else argument)
        stack.append(_compound(kind, items))
    elif type(argument) is str:
        stack.append(_scalar(kind, argument))
    else:
        raise ValueError(f"no token: {str(token)[:60]}")


def _compound(kind: str, items: list[Any]) -> Any:
    if kind == "list":
        return items
    if kind == "tuple":
        return tuple(items)
    try:
        return frozenset(items) if kind == "set" else dict(zip(items[::2], items[1::2], strict=True))
    except TypeError:
        raise ValueError(f"a {kind} of what has no hash") from None


def _scalar(kind: str, text: str) -> Any:
    match kind:
        case "int":
            return int(text, 16)
        case "float" if text in ("inf", "-inf", "nan"):
            return float(text)
        case "decimal":
            try:
                return Decimal(text)
            except InvalidOperation:
                raise ValueError(f"no decimal: {text[:60]!r}") from None
        case "wildcard":
            return Wildcard(text)
        case "python_date":
            return date.fromisoformat(text)
        case "python_datetime":
            return datetime.fromisoformat(text)
    raise ValueError(f"no token of kind {kind[:60]!r}")


def _object(class_: type, values: list[Any]) -> Any:
    if class_ in _INTEGERS and not all(type(value) is int for value in values):
        raise ValueError(f"a {class_.__name__} of other than integers")
    return class_(*values)


def _pop(stack: list[Any], n: int) -> list[Any]:
    cut = len(stack) - n
    if cut < 0:
        raise ValueError("a token that takes more than there is")
    items = stack[cut:]
    del stack[cut:]
    return items
