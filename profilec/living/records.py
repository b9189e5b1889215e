"""Changes as bytes.

In: a change: the ids that go, the profiles that come, each with its place. Out: a checksum and JSON; and back.

Invariant: `change_of(bytes_of(change))` is the change; bytes that are not those written are an error, never another
change.
"""

from __future__ import annotations

import json
import zlib
from typing import Any, NamedTuple

from profilec.grammar.statements import ProfileStatement
from profilec.profile_table import examples_of, examples_text
from profilec.runtime.imagefile.tokens import NotKeptError, dumps, loads

_CHECKSUM = 4
_KEY = 8


class Stored(NamedTuple):
    """A profile as it is kept: all that is known of it but its condition, which is parsed again."""

    place: int
    id: str
    where: str
    properties: dict[str, Any]
    examples: tuple[Any, ...]
    file: str | None
    line: int
    column: int
    comment: str | None


class Change(NamedTuple):
    """`gone`: the ids of profiles that go, before any comes; `come`: profiles, with the places that they have."""

    gone: tuple[str, ...]
    come: tuple[Stored, ...]


def key_of(number: int) -> bytes:
    """The key of a record: keys are in the order of numbers."""
    return number.to_bytes(_KEY, "big")


def number_of(key: Any) -> int:
    """The number that a key is of."""
    return int.from_bytes(key, "big")


def sealed(payload: bytes) -> bytes:
    """Bytes with their checksum."""
    return zlib.crc32(payload).to_bytes(_CHECKSUM, "little") + payload


def unsealed(data: bytes) -> bytes:
    """The bytes that were sealed.

    Raises:
        ValueError: they are not those.
    """
    payload = bytes(data[_CHECKSUM:])
    if zlib.crc32(payload) != int.from_bytes(data[:_CHECKSUM], "little"):
        raise ValueError("the checksum is wrong")
    return payload


def bytes_of(change: Change) -> bytes:
    """A change as it is kept.

    Raises:
        TypeError: a property of a profile is a value that is not kept.
    """
    rows = []
    for one in change.come:
        row: list[Any] = [one.place, one.id, one.where]
        if one.properties or one.examples or one.file is not None or (one.line, one.column) != (1, 1) or one.comment:
            row += [
                _properties_text(one.id, one.properties), examples_text(one.examples) if one.examples else None,
                one.file, one.line, one.column, one.comment,
            ]  # fmt: skip
        rows.append(row)
    return sealed(json.dumps([change.gone, rows], separators=(",", ":")).encode("ascii"))


def change_of(data: bytes) -> Change:
    """The change that `bytes_of` wrote.

    Raises:
        ValueError: the bytes are not those.
    """
    try:
        gone, rows = json.loads(unsealed(data))
        return Change(tuple(gone), tuple([_stored(*row) for row in rows]))
    except (TypeError, ValueError, KeyError, IndexError) as error:
        raise ValueError(f"a change that cannot be read: {error}") from None


def _stored(
    place: int,
    id: str,
    where: str,
    properties: str | None = None,
    examples: str | None = None,
    file: str | None = None,
    line: int = 1,
    column: int = 1,
    comment: str | None = None,
) -> Stored:
    return Stored(
        place, id, where, loads(properties) if properties else {}, examples_of(examples) if examples else (),
        file, line, column, comment,
    )  # fmt: skip


def _properties_text(id: str, properties: dict[str, Any]) -> str | None:
    try:
        return dumps(dict(properties)) if properties else None
    except NotKeptError as error:
        raise NotKeptError(f"the properties of profile {id!r}: {error}") from None


def statement_of(stored: Stored) -> ProfileStatement:
    """A profile that was kept; its condition is yet to be parsed."""
    return ProfileStatement(
        stored.id, stored.where, None, stored.properties, stored.examples, stored.file,
        stored.line, stored.column, 0, stored.comment,
    )  # fmt: skip


def stored_of(place: int, statement: ProfileStatement) -> Stored:
    """A profile as it is kept."""
    return Stored(
        place, statement.id, statement.where, statement.properties, statement.examples, statement.file,
        statement.line, statement.column, statement.comment,
    )  # fmt: skip
