"""Ranges with two bounds: a B+-tree by low bound, whose branches say how far what is below each child reaches.

In: two bounds, and a member. Out: for a key, the sets of the ranges that contain it.

    ranges            1..3    2..9    2..(4    5..6         the last but one without 4 itself
    branch            child 0: 1.. to 2..      child 1: 2.. to 5..
    marks             9                        6
    for 7             child 0 starts before it and reaches it; child 1 does not reach it, and is not read

The paper has no such list: for it BETWEEN is two predicates, which a second phase counts, and which touch all that one
bound satisfies. The form in memory (`indexes/pbtree`) has a list by low bound, along which it walks back until nothing
reaches further; one long range makes the walk pass all of them, and an insertion would rewrite how far all nodes behind
it reach. Hence a tree here. A node that is read for a key, but for those on the one path that ends at the key, has an
answer in it or below it: no more leaves than answers, and for each no more branches than the tree is high, that is
O(log n) nodes an answer at the worst, and O(log n + L) where answers are near one another.

    key of a range    low, 00 or 01 where it is open; high, 01 or 00 where it is open
    mark              the second half

Bounds are written so that none is the beginning of another: 00 as 00 FF, and 00 00 at the end. A range starts in time
for a key where (low, openness) <= (key, 00), and reaches it where (high, openness) >= (key, 01).
"""

from __future__ import annotations

from collections.abc import Iterator

from profilec.runtime.indexes.stored_pbtree.bplus_tree import BPlusTree
from profilec.runtime.indexes.stored_pbtree.node_bytes import Branch, DamagedNodeError, Items
from profilec.runtime.indexes.stored_pbtree.pages import Pages

_END = b"\0\0"
_NOT_AFTER, _AFTER = b"\0", b"\1"


def range_key(low: bytes, high: bytes, low_open: bool, high_open: bool) -> bytes:
    """The key of a range, from the ordered bytes of its bounds."""
    return (
        _delimited(low)
        + (_AFTER if low_open else _NOT_AFTER)
        + _delimited(high)
        + (_NOT_AFTER if high_open else _AFTER)
    )


def reach(key: bytes) -> bytes:
    """How far a range reaches: the mark of its key."""
    return key[key.index(_END) + len(_END) + 1 :]


def containing(pages: Pages, root: int, key: bytes) -> Iterator[bytes]:
    """The sets of the ranges that contain a key."""
    needed = start = _delimited(key) + _AFTER
    numbers = [root]
    while numbers:
        node = pages.read(numbers.pop())
        match node:
            case Branch():
                starts = [b"", *node.keys]
                numbers.extend(
                    child
                    for child, low, mark in zip(node.children, starts, node.marks, strict=True)
                    if low < start and mark >= needed
                )
            case Items():
                for range_, members in zip(node.keys, node.values, strict=True):
                    if range_ >= start:
                        break
                    if reach(range_) >= needed:
                        yield members
            case _:
                raise DamagedNodeError(node.number, "it is no node of the tree of ranges")


def range_tree(pages: Pages, root: int, order: int) -> BPlusTree:
    return BPlusTree(pages, root, order, reach)


def _delimited(key: bytes) -> bytes:
    return key.replace(b"\0", b"\0\xff") + _END
