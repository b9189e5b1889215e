"""A list below the leaves: GreaterThan, LessThan or Inequality (PB+-tree 4.2, Figures 2 and 3).

In: a key, and a member of its set. Out: the sets on one side of a key, by walking along the list.

    leaf items          2    4    5    7    8    9           keys of all predicates
    GreaterThan         [4 5]--[8]                           its head is the node of 4 and 5
    GTPointers          head head head head 8    8           where the greatest key is that is <= the item's
    LessThan            [2]--[7 9]                           its tail is the node of 7 and 9
    LTPointers          2    tail tail tail tail tail        where the least key is that is >= the item's

The two kinds of list mirror each other. One is *anchored* at its head or at its tail, which is a node that is never
removed and may be empty: where the paper has a Minimum or a Maximum. A node's anchor key is that next to this end, and
the leaf items that point to the node are those from the anchor key on, away from the end, up to the next node's anchor
key; and to the end itself all before. So a pointer needs to change where a node is split, joined with another, or loses
its anchor key, and those that do follow one another in the leaves (Figure 7, line 7, `_repoint`).

Left open by the paper and decided here: all lists have both links, which deletion needs. A node that has become less
than half full is joined with a neighbour if one node holds both, else it stays as it is; evening out would move
pointers for nothing, and a walk needs of a node no more than that it has something.

Invariant: every node but the end has a key; every key of a list is a key of the leaves.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from profilec.runtime.indexes.stored_pbtree.bplus_tree import BPlusTree
from profilec.runtime.indexes.stored_pbtree.leaf_items import Pointer, pointer, with_pointer
from profilec.runtime.indexes.stored_pbtree.members import Members
from profilec.runtime.indexes.stored_pbtree.node_bytes import DamagedNodeError, Items
from profilec.runtime.indexes.stored_pbtree.pages import Pages


class OperatorList:
    """One of the lists; `end` is the number of the node at which it is anchored."""

    __slots__ = ("_end", "_is_from_head", "_members", "_order", "_pages", "_tree", "_which")

    def __init__(self, pages: Pages, members: Members, tree: BPlusTree, which: Pointer, end: int, order: int) -> None:
        self._pages = pages
        self._members = members
        self._tree = tree
        self._which = which
        self._end = end
        self._order = order
        self._is_from_head = which is not Pointer.LESS

    def insert(self, key: bytes, number: int, member: int) -> bool:
        """Adds a member to a key's set; whether it was not there. `number` is where the key's leaf item points to."""
        node = self._pages.items(number)
        position = bisect_left(node.keys, key)
        is_there = position < len(node.keys) and node.keys[position] == key
        members = self._members.add(node.values[position] if is_there else b"", member)
        if members is None:
            return False
        if is_there:
            node.values[position] = members
        else:
            node.keys.insert(position, key)
            node.values.insert(position, members)
        self._pages.change(node)
        if len(node.keys) > self._order:
            self._split(node)
        return True

    def remove(self, key: bytes, number: int, member: int) -> bool:
        """Removes a member from a key's set; whether it was there. The leaf's item goes later, if it does."""
        node = self._pages.items(number)
        position = bisect_left(node.keys, key)
        if position == len(node.keys) or node.keys[position] != key:
            return False
        members = self._members.discard(node.values[position], member)
        if members is None:
            return False
        self._pages.change(node)
        if members:
            node.values[position] = members
            return True
        del node.keys[position], node.values[position]
        near = node.previous if self._is_from_head else node.next
        was_anchor = position == (0 if self._is_from_head else len(node.keys))
        if was_anchor and near and node.keys:
            self._repoint(key, node.number, near, self._anchor(node))
        if len(node.keys) < (self._order + 1) // 2:
            self._join(node, key)
        return True

    def below(self, key: bytes, number: int) -> Iterator[bytes]:
        """The sets of lesser keys of the key's kind, from a node that has the greatest of them or is after it."""
        kind = key[:1]
        node = self._pages.items(number)
        end = bisect_left(node.keys, key)
        while True:
            start = bisect_left(node.keys, kind, 0, end)
            yield from node.values[start:end]
            if start or not node.previous:
                return
            node = self._pages.items(node.previous)
            end = len(node.keys)

    def above(self, key: bytes, number: int) -> Iterator[bytes]:
        """The sets of greater keys of the key's kind, from a node that has the least of them or is before it."""
        other_kind = bytes([key[0] + 1])
        node = self._pages.items(number)
        start = bisect_right(node.keys, key)
        while True:
            end = bisect_left(node.keys, other_kind, start)
            yield from node.values[start:end]
            if end < len(node.keys) or not node.next:
                return
            node = self._pages.items(node.next)
            start = 0

    def nodes(self) -> Iterator[Items]:
        """All nodes, from the end on."""
        node = self._pages.items(self._end)
        while True:
            yield node
            number = node.next if self._is_from_head else node.previous
            if not number:
                return
            node = self._pages.items(number)

    def _anchor(self, node: Items) -> bytes:
        return node.keys[0 if self._is_from_head else -1]

    def _split(self, node: Items) -> None:
        """Moves the half of a node that is further from the end into a new one."""
        half = len(node.keys) // 2
        if self._is_from_head:
            new = self._pages.new(Items(0, node.number, node.next, node.keys[half:], node.values[half:]))
            del node.keys[half:], node.values[half:]
        else:
            new = self._pages.new(Items(0, node.previous, node.number, node.keys[:half], node.values[:half]))
            del node.keys[:half], node.values[:half]
        self._link(new.previous, new.number)
        self._link(new.number, new.next)
        self._repoint(self._anchor(new), node.number, new.number)

    def _join(self, node: Items, removed: bytes) -> None:
        """Joins a node with one of its neighbours if one node holds both; the one towards the end first, for what is
        empty has given it its pointers' meaning. Those to what is empty are from the key that was removed on."""
        towards_end = (node.previous, node.next) if self._is_from_head else (node.next, node.previous)
        for number in towards_end:
            if not number:
                continue
            other = self._pages.items(number)
            if len(node.keys) + len(other.keys) > self._order:
                continue
            left, right = (other, node) if number == node.previous else (node, other)
            near, far = (left, right) if self._is_from_head else (right, left)
            self._repoint(self._anchor(far) if far.keys else removed, far.number, near.number)
            near.keys, near.values = left.keys + right.keys, left.values + right.values
            self._link(left.previous if near is right else left.number, right.number if near is right else right.next)
            self._pages.change(near)
            self._pages.remove(far)
            return

    def _link(self, previous: int, next_: int) -> None:
        """Makes neighbours of two nodes, of which one may be none."""
        if previous:
            node = self._pages.items(previous)
            node.next = next_
            self._pages.change(node)
        if next_:
            node = self._pages.items(next_)
            node.previous = previous
            self._pages.change(node)

    def _repoint(self, key: bytes, old: int, new: int, stop: bytes | None = None) -> None:
        """Turns the pointers of leaf items from one node to another, from a key on and away from the end, as long as
        they are to the first one and `stop` is not reached."""
        leaf, position, is_there = self._tree.find(key)
        if not is_there:
            raise DamagedNodeError(leaf.number, "a key of a list is not among the leaves")
        step = 1 if self._is_from_head else -1
        while True:
            while 0 <= position < len(leaf.keys):
                item = leaf.values[position]
                if pointer(item, self._which) != old or leaf.keys[position] == stop:
                    return
                leaf.values[position] = with_pointer(item, self._which, new)
                self._pages.change(leaf)
                position += step
            number = leaf.next if self._is_from_head else leaf.previous
            if not number:
                return
            leaf = self._pages.items(number)
            position = 0 if self._is_from_head else len(leaf.keys) - 1
