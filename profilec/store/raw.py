"""What is left in `data.mdb` where its pages cannot be followed any more: records, page by page.

In: the bytes of the file. Out: what stores keep in it, told by its checksum and its form, whatever page names it: what
the last commit has, and what is left of earlier ones, since LMDB writes over pages only when it needs them again.

A record is a node of a leaf page, or its value stands in overflow pages, which follow one another.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from profilec.living.records import Change, change_of, number_of, unsealed
from profilec.store.store import arrays_of

_PAGE = 4_096
_HEADER = 16
_LEAF = 2
_BIG = 1


class Left(NamedTuple):
    """`facts`: the latest of those found, or none. `segments`: of each number all places and dead that were found.
    `changes`: by moment. `n_changes_lost`: records of the log whose checksum is wrong, of moments of which no other is
    right."""

    facts: dict[str, Any]
    segments: dict[int, list[tuple[Any, Any]]]
    changes: dict[int, Change]
    n_changes_lost: int


def left_in(path: Path) -> Left:
    """All records that are whole.

    Raises:
        OSError: the file cannot be read.
    """
    facts: list[dict[str, Any]] = []
    segments: dict[int, list[tuple[Any, Any]]] = {}
    changes: dict[int, Change] = {}
    lost: set[int] = set()
    for key, value in _records(path.read_bytes()):
        if key == b"facts":
            facts += _facts(value)
        elif len(key) == 8:
            number = number_of(key)
            try:
                payload = unsealed(value)
            except ValueError:
                if value[4:6] == b"[[":
                    lost.add(number)
                continue
            if payload[:1] == b"[":
                try:
                    changes[number] = change_of(value)
                except ValueError:
                    continue
            elif len(payload) >= 8 and 8 + 8 * int.from_bytes(payload[:8], "little") <= len(payload):
                segments.setdefault(number, []).append(arrays_of(path, number, value))
    latest = max(facts, key=lambda one: (one["merges"], one["moment"]), default={})
    return Left(latest, segments, changes, len(lost - set(changes)))


def _facts(value: bytes) -> list[dict[str, Any]]:
    try:
        found = json.loads(unsealed(value))
        return [found] if {"format", "schema", "options", "moment", "merged", "merges"} <= set(found) else []
    except (ValueError, TypeError):
        return []


def _records(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Key and value of whatever looks like a node of a leaf."""
    for start in range(0, len(data), _PAGE):
        page = data[start : start + _PAGE]
        if len(page) < _HEADER or int.from_bytes(page[10:12], "little") != _LEAF:
            continue
        lower = min(int.from_bytes(page[12:14], "little"), len(page) - 1)
        for at in struct.unpack_from(f"<{max(lower - _HEADER, 0) // 2}H", page, _HEADER):
            if at < _HEADER or at + 8 > len(page):
                continue
            low, high, flags, key_size = struct.unpack_from("<HHHH", page, at)
            size, behind = low | high << 16, at + 8 + key_size
            value = page[behind : behind + size]
            if flags == _BIG:
                first = int.from_bytes(page[behind : behind + 8], "little") * _PAGE + _HEADER
                value = data[first : first + size]
            if len(value) == size:
                yield page[at + 8 : behind], value
