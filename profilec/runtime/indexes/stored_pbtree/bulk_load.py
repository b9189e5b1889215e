"""A stored PB+-tree made at once, from below.

In: predicates in the order of their keys. Out: a tree like one into which they were inserted, with full nodes; each is
written once.

The lists come first, and then the leaves, whose items point into them: what a list's nodes begin or end with tells
for each key which one its pointer is to (`operator_list`).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import TypeAlias

from profilec.runtime.indexes.stored_pbtree.bplus_tree import BPlusTree, chained
from profilec.runtime.indexes.stored_pbtree.leaf_items import Pointer, leaf_item, with_n_predicates, with_set
from profilec.runtime.indexes.stored_pbtree.members import Members
from profilec.runtime.indexes.stored_pbtree.node_bytes import Header
from profilec.runtime.indexes.stored_pbtree.operation import LIST_OPERATORS, SET_OPERATORS, member_of
from profilec.runtime.indexes.stored_pbtree.pages import Pages
from profilec.runtime.indexes.stored_pbtree.ranges import reach
from profilec.runtime.store.nodes import NodeStore

Keyed: TypeAlias = tuple[bytes, str, int]
"""The ordered bytes of a predicate's constant, its operator, its entry."""
_Anchors: TypeAlias = list[tuple[bytes, int]]
"""Of each node of a list the key next to the list's end, and its number; in the order of keys."""


def load(nodes: NodeStore, order: int, predicates: Iterable[Keyed], ranges: Iterable[tuple[bytes, int]]) -> None:
    """Puts a tree into a store that is empty.

    Args:
        predicates: in the order of their keys, none twice; gone over four times.
        ranges: keys (`ranges.range_key`) and entries, in the order of keys, none twice.
    """
    pages = Pages(nodes)
    header = pages.new(Header(0, order))
    nodes.root = header.number
    members = Members(pages, order)
    ends: dict[Pointer, int] = {}
    pointers: dict[Pointer, Callable[[bytes], int]] = {}
    for which in Pointer:
        anchors = _list_of(pages, members, order, which, predicates)
        ends[which] = anchors[-1 if which is Pointer.LESS else 0][1]
        pointers[which] = _pointers_up(anchors) if which is Pointer.LESS else _pointers_down(anchors)
    header.greater, header.less, header.unequal = ends[Pointer.GREATER], ends[Pointer.LESS], ends[Pointer.UNEQUAL]

    def items() -> Iterator[tuple[bytes, bytes]]:
        for key, group in groupby(predicates, itemgetter(0)):
            own = list(group)
            item = leaf_item(*(pointers[which](key) for which in (Pointer.GREATER, Pointer.LESS, Pointer.UNEQUAL)))
            header.n_keys += 1
            header.n_predicates += len(own)
            in_set = [member_of(entry, SET_OPERATORS[by]) for _, by, entry in own if by in SET_OPERATORS]
            yield key, with_n_predicates(with_set(item, members.loaded(array("Q", sorted(in_set)))), len(own))

    def of_ranges() -> Iterator[tuple[bytes, bytes]]:
        for key, group in groupby(ranges, itemgetter(0)):
            own = array("Q", sorted(member_of(entry, 0) for _, entry in group))
            header.n_ranges += len(own)
            yield key, members.loaded(own)

    header.tree = BPlusTree.loaded(pages, order, items()).root
    header.ranges = BPlusTree.loaded(pages, order, of_ranges(), reach).root
    header.n_predicates += header.n_ranges
    pages.change(header)
    pages.flush()


def _list_of(pages: Pages, members: Members, order: int, which: Pointer, predicates: Iterable[Keyed]) -> _Anchors:
    bits = {operator: bits for operator, (list_, bits) in LIST_OPERATORS.items() if list_ is which}
    own = ((key, member_of(entry, bits[operator])) for key, operator, entry in predicates if operator in bits)
    sets = (
        (key, members.loaded(array("Q", sorted(member for _, member in group))))
        for key, group in groupby(own, itemgetter(0))
    )
    place = -1 if which is Pointer.LESS else 0
    return [(node.keys[place] if node.keys else b"", node.number) for _, node in chained(pages, order, sets)]


def _pointers_down(anchors: _Anchors) -> Callable[[bytes], int]:
    """For keys that ascend: the last node that begins no later, or the first of all."""
    place = 0

    def pointer(key: bytes) -> int:
        nonlocal place
        while place + 1 < len(anchors) and anchors[place + 1][0] <= key:
            place += 1
        return anchors[place][1]

    return pointer


def _pointers_up(anchors: _Anchors) -> Callable[[bytes], int]:
    """For keys that ascend: the first node that ends no earlier, or the last of all."""
    place = 0

    def pointer(key: bytes) -> int:
        nonlocal place
        while place + 1 < len(anchors) and anchors[place][0] < key:
            place += 1
        return anchors[place][1]

    return pointer
