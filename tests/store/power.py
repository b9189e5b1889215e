"""Power cuts, played: what is on a disk after one.

In: what `power.c`, preloaded, wrote down of a process. Out: a folder as it may be after the power went behind one of
the records.

Of a file, all is there that was written before its last sync, and half of the pages that were written since, by chance.
Of names, all is there that was done before the last sync of their folder; of the rest each may be there, or not, by
chance, but for what needs another that is not. File systems promise more: that they keep the order, for one.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

PAGE = 4_096
_HEAD = struct.Struct("<cBQQH")


class Record(NamedTuple):
    """See `power.c`; `what` is O for what the process said itself."""

    what: str
    is_synced: bool
    offset: int
    path: str
    data: bytes


def records(log: Path) -> Iterator[Record]:
    """All records of a file."""
    data, at = log.read_bytes(), 0
    while at < len(data):
        what, is_synced, offset, length, n = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        path, at = data[at : at + n].decode(), at + n
        yield Record(what.decode(), bool(is_synced), offset, path, data[at : at + length])
        at += length


def said(data: bytes) -> bytes:
    """A record that a process writes itself."""
    return _HEAD.pack(b"O", 0, 0, len(data), 0) + data


@dataclass(eq=False)
class _Node:
    """A file, with what was done to it, or a folder. `n_synced`: so much of what was done is on the disk."""

    is_folder: bool
    done: list[Record] = field(default_factory=list)
    n_synced: int = 0


@dataclass
class _Naming:
    """Something done to names; `node` gets the name `path`, or loses it, or both."""

    what: str
    path: str
    to: str
    node: _Node
    is_settled: bool = False


def cut(written: Iterable[Record], draw: random.Random, folder: Path, share: float = 0.5) -> None:
    """Makes the folder that is there after the power went behind these records. `share`: of what was not synced."""
    names, namings = _replayed(written)
    kept: dict[str, _Node] = {"": names[""]}
    lost: set[int] = set()
    for one in namings:
        if id(one.node) in lost or not (one.is_settled or draw.random() < share):
            lost.add(id(one.node))  # of one node, nothing is done that comes after
            continue
        _name(kept, one)
    folder.mkdir()
    for path, node in sorted(kept.items()):
        if path and node.is_folder:
            (folder / path).mkdir()
        elif path:
            (folder / path).write_bytes(_content(node, draw, share))


def _replayed(written: Iterable[Record]) -> tuple[dict[str, _Node], list[_Naming]]:
    """The names at the end, and all that was done to names."""
    names = {"": _Node(is_folder=True)}
    namings: list[_Naming] = []

    def named(what: str, path: str, to: str, node: _Node) -> None:
        namings.append(_Naming(what, path, to, node))
        _name(names, namings[-1])

    for record in written:
        match record.what:
            case "W" | "T":
                if record.path not in names:
                    named("M", record.path, "", _Node(is_folder=False))
                names[record.path].done.append(record)
            case "M":
                named("M", record.path, "", _Node(is_folder=True))
            case "R" | "L" | "U" if record.path in names:
                named(record.what, record.path, record.data.decode(), names[record.path])
            case "S" if record.path in names:
                node = names[record.path]
                node.n_synced = len(node.done)
                if node.is_folder:
                    there = {id(one.node) for one in namings if names.get(_folder(one.to or one.path)) is node}
                    for one in namings:  # and how what is there now came there
                        one.is_settled |= id(one.node) in there
    return names, namings


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _name(names: dict[str, _Node], naming: _Naming) -> None:
    """Does it, where that can be done."""
    path, to = naming.path, naming.to
    if _folder(to or path) not in names:
        return
    match naming.what:
        case "M":
            names[path] = naming.node
        case "L" if names.get(path) is naming.node:
            names[to] = naming.node
        case "U" if names.get(path) is naming.node:
            del names[path]
        case "R" if names.get(path) is naming.node:
            for old in [one for one in names if one == path or one.startswith(f"{path}/")]:
                names[to + old[len(path) :]] = names.pop(old)


def _content(node: _Node, draw: random.Random, share: float) -> bytes:
    content = bytearray()
    for number, record in enumerate(node.done):
        if record.what == "T":
            content = content[: record.offset].ljust(record.offset, b"\0")
            continue
        for start in range(0, len(record.data), PAGE):
            if number < node.n_synced or record.is_synced or draw.random() < share:
                page = record.data[start : start + PAGE]
                first = record.offset + start
                content = content.ljust(first + len(page), b"\0")
                content[first : first + len(page)] = page
    return bytes(content)
