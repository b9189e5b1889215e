"""The nodes of a stored PB+-tree, as objects and as bytes.

In: a node and its number. Out: bytes that say when they are damaged, and from them the node again.

    bytes 0..4     CRC-32 of the node's number and of all that follows
    byte 4         what it is: H, I, B or C
    H  header      magic, order, counts, and the numbers of the roots and of the fixed ends of the lists
    I  items       previous, next; n; n lengths of keys, n lengths of values; keys; values
    B  branch      n; n children; n - 1 lengths of keys, n lengths of marks; keys; marks
    C  chunk       members, 8 bytes each, ascending

All numbers are little-endian: those of nodes 8 bytes, n and lengths 4. `Items` are the leaves of a B+-tree and the
nodes of the lists below them; keys ascend. Of a `Branch`, an inner node, child i + 1 has the keys from keys[i] on.

Invariant: `decode(number, encode(node))` is the node; bytes that were cut, changed or put under another number are
refused with an error that names the number, and never read as something else.
"""

from __future__ import annotations

import struct
import sys
from array import array
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import TypeAlias
from zlib import crc32

_CRC = struct.Struct("<I")
_NUMBER = struct.Struct("<Q")
_LINKS = struct.Struct("<QQI")
_COUNT = struct.Struct("<I")
_HEADER = struct.Struct("<4sI8Q")
_MAGIC = b"PB+1"


class DamagedNodeError(ValueError):
    """A node that is not as it was written, or that does not fit the others."""

    def __init__(self, number: int, reason: str) -> None:
        super().__init__(f"node {number} of the stored PB+-tree is damaged: {reason}")
        self.number = number


@dataclass(slots=True)
class Header:
    """The one node that is found by the store's root."""

    number: int
    order: int
    n_predicates: int = 0
    n_keys: int = 0
    tree: int = 0
    """The root of the B+-tree of keys."""
    greater: int = 0
    """The head of the GreaterThan list."""
    less: int = 0
    """The tail of the LessThan list."""
    unequal: int = 0
    """The head of the Inequality list."""
    ranges: int = 0
    """The root of the B+-tree of ranges."""
    n_ranges: int = 0


@dataclass(slots=True)
class Items:
    """Keys in ascending order, each with a value, between two neighbours; 0 is no neighbour."""

    number: int
    previous: int = 0
    next: int = 0
    keys: list[bytes] = field(default_factory=list)
    values: list[bytes] = field(default_factory=list)


@dataclass(slots=True)
class Branch:
    """An inner node of a B+-tree: where a search turns to which child."""

    number: int
    keys: list[bytes] = field(default_factory=list)
    """One fewer than children. A key is not greater than any key below the child after it, nor less than or equal to
    any below the child before it."""
    children: list[int] = field(default_factory=list)
    marks: list[bytes] = field(default_factory=list)
    """By child: what `BPlusTree` says of all that is below it."""


@dataclass(slots=True)
class Chunk:
    """A part of a large set."""

    number: int
    members: array[int] = field(default_factory=lambda: array("Q"))


Node: TypeAlias = Header | Items | Branch | Chunk


def encode(node: Node) -> bytes:
    """The bytes of a node, its checksum first."""
    body = _body(node)
    return _CRC.pack(crc32(body, crc32(_NUMBER.pack(node.number)))) + body


def decode(number: int, data: bytes) -> Node:
    """The node that `data`, found under `number`, is.

    Raises:
        DamagedNodeError: it is none.
    """
    if len(data) <= _CRC.size:
        raise DamagedNodeError(number, f"it has {len(data)} bytes")
    if crc32(memoryview(data)[_CRC.size :], crc32(_NUMBER.pack(number))) != _CRC.unpack_from(data)[0]:
        raise DamagedNodeError(number, "its checksum is another")
    try:
        match data[_CRC.size : _CRC.size + 1]:
            case b"I":
                return _items(number, data)
            case b"B":
                return _branch(number, data)
            case b"C":
                return Chunk(number, little_endian(array("Q", data[_CRC.size + 1 :])))
            case b"H":
                magic, *numbers = _HEADER.unpack(data[_CRC.size + 1 :])
                if magic != _MAGIC:
                    raise DamagedNodeError(number, f"it is of the version {magic!r}, not {_MAGIC!r}")
                return Header(number, *numbers)
    except (struct.error, ValueError) as error:
        raise error if isinstance(error, DamagedNodeError) else DamagedNodeError(number, str(error)) from error
    raise DamagedNodeError(number, f"{data[_CRC.size : _CRC.size + 1]!r} is no sort of node")


def _body(node: Node) -> bytes:
    match node:
        case Items():
            lengths = [*map(len, node.keys), *map(len, node.values)]
            head = b"I" + _LINKS.pack(node.previous, node.next, len(node.keys))
            return b"".join([head, struct.pack(f"<{len(lengths)}I", *lengths), *node.keys, *node.values])
        case Branch():
            n = len(node.children)
            lengths = [*map(len, node.keys), *map(len, node.marks)]
            head = b"B" + _COUNT.pack(n) + struct.pack(f"<{n}Q{len(lengths)}I", *node.children, *lengths)
            return b"".join([head, *node.keys, *node.marks])
        case Chunk():
            return b"C" + little_endian(node.members).tobytes()
        case Header():
            numbers = (node.order, node.n_predicates, node.n_keys, node.tree)
            lists = (node.greater, node.less, node.unequal, node.ranges, node.n_ranges)
            return b"H" + _HEADER.pack(_MAGIC, *numbers, *lists)


def _items(number: int, data: bytes) -> Items:
    start = _CRC.size + 1
    previous, next_, n = _LINKS.unpack_from(data, start)
    parts = _parts(data, start + _LINKS.size, 2 * n)
    return Items(number, previous, next_, parts[:n], parts[n:])


def _branch(number: int, data: bytes) -> Branch:
    start = _CRC.size + 1
    (n,) = _COUNT.unpack_from(data, start)
    start += _COUNT.size
    children = list(struct.unpack_from(f"<{n}Q", data, start))
    parts = _parts(data, start + n * _NUMBER.size, 2 * n - 1)
    return Branch(number, parts[: n - 1], children, parts[n - 1 :])


def _parts(data: bytes, start: int, n: int) -> list[bytes]:
    """n lengths, and what is as long, to the end."""
    lengths = struct.unpack_from(f"<{n}I", data, start)
    ends = accumulate(lengths, initial=start + n * _COUNT.size)
    found = [data[begin:end] for begin, end in pairwise(ends)]
    if start + n * _COUNT.size + sum(lengths) != len(data):
        raise ValueError("its lengths are others")
    return found


def little_endian(numbers: array[int]) -> array[int]:
    """LAYOUT: members are little-endian on every machine: from these to the machine's order, or back."""
    if sys.byteorder == "big":
        numbers = array("Q", numbers)
        numbers.byteswap()
    return numbers
