"""Sets of members, small ones in the item that they belong to, large ones in chunks.

In: the bytes that an item keeps for its set, and a member. Out: the bytes that it keeps then.

    bytes            empty: no member; 8 n: n members, ascending, little-endian
    17 bytes         01, the root of a directory (8), how many members (8)
    directory        a B+-tree: the least number that belongs into a chunk (big-endian) to the chunk's number
    chunk            members, ascending

So a million equal predicates are a few thousand chunks, of which an insertion rewrites one. A member is an entry and,
in its lowest two bits, which operator it is for (`operation` says which): `<= 5` and `= 5` of one entry are two members
of the set of 5, and either may be deleted.

Invariant: a set is in chunks if it has more than `inline` members, and stays there until half as many are left. Every
chunk has a member.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_left
from collections.abc import Iterator

from profilec.runtime.indexes.stored_pbtree.bplus_tree import BPlusTree
from profilec.runtime.indexes.stored_pbtree.node_bytes import Chunk, Items, little_endian
from profilec.runtime.indexes.stored_pbtree.pages import Pages

_SPILLED = struct.Struct("<BQQ")
_FENCE = struct.Struct(">Q")
_NUMBER = struct.Struct("<Q")


class Members:
    """Sets, in the pages of an operation. `order` is that of the tree, to which sizes are in proportion."""

    __slots__ = ("_order", "_pages", "chunk", "inline")

    def __init__(self, pages: Pages, order: int) -> None:
        self._pages = pages
        self._order = order
        self.inline = max(2, order // 4)
        """The most members that stand in the item."""
        self.chunk = 8 * order
        """The most members of a chunk."""

    def add(self, data: bytes, member: int) -> bytes | None:
        """The set with one member more; None where it has it."""
        if is_spilled(data):
            return self._add_to_chunks(data, member)
        members = _array(data)
        position = bisect_left(members, member)
        if position < len(members) and members[position] == member:
            return None
        members.insert(position, member)
        return _bytes(members) if len(members) <= self.inline else self._spill(members)

    def loaded(self, members: array[int]) -> bytes:
        """The set of members that ascend."""
        if len(members) <= self.inline:
            return _bytes(members)
        chunks = []
        for start in range(0, len(members), self.chunk):
            chunk = self._pages.new(Chunk(0, members[start : start + self.chunk]))
            chunks.append((_FENCE.pack(members[start] if start else 0), _NUMBER.pack(chunk.number)))
        return _SPILLED.pack(1, BPlusTree.loaded(self._pages, self._order, chunks).root, len(members))

    def discard(self, data: bytes, member: int) -> bytes | None:
        """The set with one member fewer; None where it does not have it."""
        if is_spilled(data):
            return self._discard_from_chunks(data, member)
        members = _array(data)
        position = bisect_left(members, member)
        if position == len(members) or members[position] != member:
            return None
        del members[position]
        return _bytes(members)

    def parts(self, data: bytes) -> Iterator[bytes]:
        """All members, 8 bytes each, little-endian, in parts."""
        if not is_spilled(data):
            yield data
            return
        for chunk in self.chunks(data):
            yield _bytes(chunk.members)

    def chunks(self, data: bytes) -> Iterator[Chunk]:
        """The chunks of a set that has them, in order."""
        for leaf in self.directory(data).leaves():
            for value in leaf.values:
                yield self._pages.chunk(_NUMBER.unpack(value)[0])

    def directory(self, data: bytes) -> BPlusTree:
        return BPlusTree(self._pages, _SPILLED.unpack(data)[1], self._order)

    def _spill(self, members: array[int]) -> bytes:
        chunk = self._pages.new(Chunk(0, members))
        directory = BPlusTree.empty(self._pages, self._order)
        directory.insert(_FENCE.pack(0), _NUMBER.pack(chunk.number))
        return _SPILLED.pack(1, directory.root, len(members))

    def _add_to_chunks(self, data: bytes, member: int) -> bytes | None:
        _, root, n = _SPILLED.unpack(data)
        directory = BPlusTree(self._pages, root, self._order)
        leaf, place = _floor(directory, member)
        chunk = self._pages.chunk(_NUMBER.unpack(leaf.values[place])[0])
        members = chunk.members
        position = bisect_left(members, member)
        if position < len(members) and members[position] == member:
            return None
        members.insert(position, member)
        self._pages.change(chunk)
        if len(members) > self.chunk:
            # What only grows at its end, as the entries of a new set do, leaves full chunks behind.
            half = self.chunk if position == self.chunk and place == len(leaf.keys) - 1 and not leaf.next else None
            half = half or len(members) // 2
            right = self._pages.new(Chunk(0, members[half:]))
            del members[half:]
            directory.insert(_FENCE.pack(right.members[0]), _NUMBER.pack(right.number))
        return _SPILLED.pack(1, directory.root, n + 1)

    def _discard_from_chunks(self, data: bytes, member: int) -> bytes | None:
        _, root, n = _SPILLED.unpack(data)
        directory = BPlusTree(self._pages, root, self._order)
        leaf, place = _floor(directory, member)
        chunk = self._pages.chunk(_NUMBER.unpack(leaf.values[place])[0])
        position = bisect_left(chunk.members, member)
        if position == len(chunk.members) or chunk.members[position] != member:
            return None
        del chunk.members[position]
        self._pages.change(chunk)
        if n - 1 <= self.inline // 2:
            return self._gather(data)
        if len(chunk.members) < self.chunk // 4:
            self._merge(directory, leaf, place)
        return _SPILLED.pack(1, directory.root, n - 1)

    def _merge(self, directory: BPlusTree, leaf: Items, place: int) -> None:
        """Joins the chunk at a place of the directory with the next one, or with the one before it, if they are one."""
        for first, second in (
            ((leaf, place), directory.after(leaf, place + 1)),
            (directory.before(leaf, place), (leaf, place)),
        ):
            if first is None or second is None:
                continue
            left, right = (self._pages.chunk(_NUMBER.unpack(at.values[i])[0]) for at, i in (first, second))
            if len(left.members) + len(right.members) <= self.chunk:
                left.members.extend(right.members)
                self._pages.change(left)
                self._pages.remove(right)
                directory.remove(second[0].keys[second[1]])
                return

    def _gather(self, data: bytes) -> bytes:
        """Brings a set that has become small back into its item."""
        members = array("Q")
        for chunk in list(self.chunks(data)):
            members.extend(chunk.members)
            self._pages.remove(chunk)
        self.directory(data).clear()
        return _bytes(members)


def is_spilled(data: bytes) -> bool:
    return len(data) & 7 == 1


def count(data: bytes) -> int:
    """How many members a set has."""
    return int(_SPILLED.unpack(data)[2]) if is_spilled(data) else len(data) // 8


def _floor(directory: BPlusTree, member: int) -> tuple[Items, int]:
    """Where the directory has the chunk that a member belongs into; the first one is for all from 0 on."""
    leaf, position, is_found = directory.find(_FENCE.pack(member))
    place = (leaf, position) if is_found else directory.before(leaf, position)
    assert place is not None
    return place


def _array(data: bytes) -> array[int]:
    return little_endian(array("Q", data))


def _bytes(members: array[int]) -> bytes:
    return little_endian(members).tobytes()
