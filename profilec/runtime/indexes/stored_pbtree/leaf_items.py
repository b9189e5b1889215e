"""What a leaf of the tree has beside each key (PB+-tree, Figure 4): its set, and three pointers.

bytes 0..8     GTPointer: the node of the GreaterThan list with the greatest key that is <= the item's; or its head
bytes 8..16    LTPointer: the node of the LessThan list with the least key that is >= the item's; or its tail
bytes 16..24   INEQPointer, set as the GTPointer is, into the Inequality list
bytes 24..32   how many predicates have the key as their constant, in the set or in a list; never 0
bytes 32..     the SidSet: members (`members`) for `=`, `<=` and `>=` with the key
"""

from __future__ import annotations

import struct
from enum import IntEnum

_POINTER = struct.Struct("<Q")
_HEAD = struct.Struct("<QQQQ")
_N_AT = 24


class Pointer(IntEnum):
    """Where an item has its pointer into each list."""

    GREATER = 0
    LESS = 8
    UNEQUAL = 16


def leaf_item(greater: int, less: int, unequal: int) -> bytes:
    """An item with pointers, and nothing else yet."""
    return _HEAD.pack(greater, less, unequal, 0)


def pointer(item: bytes, which: Pointer) -> int:
    return int(_POINTER.unpack_from(item, which)[0])


def with_pointer(item: bytes, which: Pointer, number: int) -> bytes:
    return item[:which] + _POINTER.pack(number) + item[which + _POINTER.size :]


def n_predicates(item: bytes) -> int:
    return int(_POINTER.unpack_from(item, _N_AT)[0])


def with_n_predicates(item: bytes, n: int) -> bytes:
    return item[:_N_AT] + _POINTER.pack(n) + item[_HEAD.size :]


def set_of(item: bytes) -> bytes:
    return item[_HEAD.size :]


def with_set(item: bytes, data: bytes) -> bytes:
    return item[: _HEAD.size] + data
