"""One operation on a stored PB+-tree: what it reads and changes (PB+-tree 4.3 to 4.5, Figures 6 to 9).

In: the pages of the operation, and ordered bytes. Out: changed pages, or sets.

    operator       set of the leaf's item      list below
    =              member
    <=             member                      LessThan
    >=             member                      GreaterThan
    <                                          LessThan
    >                                          GreaterThan
    !=                                         Inequality

Lists are asked for what is strictly on one side of a key, so `<=` and `>=` hold at the key itself through its set
alone, and no predicate is found twice.
"""

from __future__ import annotations

from collections.abc import Iterator

from profilec.runtime.indexes.stored_pbtree.bplus_tree import BPlusTree
from profilec.runtime.indexes.stored_pbtree.leaf_items import (
    Pointer,
    leaf_item,
    n_predicates,
    pointer,
    set_of,
    with_n_predicates,
    with_set,
)
from profilec.runtime.indexes.stored_pbtree.members import Members
from profilec.runtime.indexes.stored_pbtree.node_bytes import DamagedNodeError, Header, Items
from profilec.runtime.indexes.stored_pbtree.operator_list import OperatorList
from profilec.runtime.indexes.stored_pbtree.pages import Pages
from profilec.runtime.indexes.stored_pbtree.ranges import containing, range_tree
from profilec.runtime.store.nodes import NodeStore

SET_OPERATORS = {"=": 0, "<=": 1, ">=": 2}
"""Operators of a leaf's set, and their lowest bits in a member."""
LIST_OPERATORS = {
    "<": (Pointer.LESS, 3),
    "<=": (Pointer.LESS, 1),
    ">": (Pointer.GREATER, 3),
    ">=": (Pointer.GREATER, 2),
    "!=": (Pointer.UNEQUAL, 0),
}
"""Operators of lists, each with its list and lowest bits."""
MEMBER_SHIFT = 2


class Operation:
    """The tree, as one operation sees it."""

    __slots__ = ("header", "lists", "members", "pages", "tree")

    def __init__(self, nodes: NodeStore) -> None:
        self.pages = Pages(nodes)
        self.header = header = self.pages.header()
        self.members = Members(self.pages, header.order)
        self.tree = BPlusTree(self.pages, header.tree, header.order)
        ends = {Pointer.GREATER: header.greater, Pointer.LESS: header.less, Pointer.UNEQUAL: header.unequal}
        self.lists = {
            which: OperatorList(self.pages, self.members, self.tree, which, end, header.order)
            for which, end in ends.items()
        }

    def insert(self, operator: str, key: bytes, entry: int) -> bool:
        """Whether the predicate was not there."""
        leaf, position, is_there = self.tree.find(key)
        if not is_there:
            self.tree.insert(key, self._new_item(leaf, position))
            self.header.tree = self.tree.root
            self.header.n_keys += 1
            leaf, position, _ = self.tree.find(key)
        return self._update(leaf, position, operator, key, entry, comes=True)

    def delete(self, operator: str, key: bytes, entry: int) -> bool:
        """Whether the predicate was there."""
        leaf, position, is_there = self.tree.find(key)
        if not is_there:
            return False
        if not self._update(leaf, position, operator, key, entry, comes=False):
            return False
        if n_predicates(leaf.values[position]) == 0:
            self.tree.remove(key)
            self.header.tree = self.tree.root
            self.header.n_keys -= 1
        return True

    def _update(self, leaf: Items, position: int, operator: str, key: bytes, entry: int, *, comes: bool) -> bool:
        """Puts an entry to the predicates of an operator and a key, or takes it from there; whether that changes
        any."""
        if operator in SET_OPERATORS:
            item = leaf.values[position]
            update = self.members.add if comes else self.members.discard
            members = update(set_of(item), member_of(entry, SET_OPERATORS[operator]))
            if members is None:
                return False
            leaf.values[position] = with_set(item, members)
        if operator in LIST_OPERATORS:
            which, bits = LIST_OPERATORS[operator]
            number = pointer(leaf.values[position], which)
            change = self.lists[which].insert if comes else self.lists[which].remove
            if not change(key, number, member_of(entry, bits)):
                return _same(operator not in SET_OPERATORS, number)
        item = leaf.values[position]  # not the earlier one: its pointers may have been turned
        n = 1 if comes else -1
        leaf.values[position] = with_n_predicates(item, n_predicates(item) + n)
        self.pages.change(leaf)
        self.header.n_predicates += n
        self.pages.change(self.header)
        return True

    def insert_range(self, range_: bytes, entry: int) -> bool:
        """Whether the range was not there; `range_` is its key."""
        tree = range_tree(self.pages, self.header.ranges, self.header.order)
        leaf, position, is_there = tree.find(range_)
        members = self.members.add(leaf.values[position] if is_there else b"", member_of(entry, 0))
        if members is None:
            return False
        if is_there:
            leaf.values[position] = members
            self.pages.change(leaf)
        else:
            tree.insert(range_, members)
        self._changed_ranges(tree, 1)
        return True

    def delete_range(self, range_: bytes, entry: int) -> bool:
        """Whether the range was there."""
        tree = range_tree(self.pages, self.header.ranges, self.header.order)
        leaf, position, is_there = tree.find(range_)
        members = self.members.discard(leaf.values[position], member_of(entry, 0)) if is_there else None
        if members is None:
            return False
        if members:
            leaf.values[position] = members
            self.pages.change(leaf)
        else:
            tree.remove(range_)
        self._changed_ranges(tree, -1)
        return True

    def satisfied(self, key: bytes, *, from_lists: bool = True) -> Iterator[bytes]:
        """The sets of all predicates that hold for a key's value, none twice (Figure 8); without `from_lists` of those
        alone that the key's item has, and of ranges."""
        leaf, position, is_there = self.tree.find(key)
        if is_there:
            yield set_of(leaf.values[position])
        if from_lists:
            yield from self._from_lists(key, leaf, position, is_there)
        yield from containing(self.pages, self.header.ranges, key)

    def _from_lists(self, key: bytes, leaf: Items, position: int, is_there: bool) -> Iterator[bytes]:
        # Figure 9, line 4. Where all keys of the leaf exceed the input, the item is in the previous leaf; where the key
        # was found its own pointer does, for the list is read from below the key.
        floor = (leaf, position) if is_there else self.tree.before(leaf, position)
        ceiling = self.tree.after(leaf, position)
        greater = _pointer(floor, Pointer.GREATER) or self.header.greater
        less = _pointer(ceiling, Pointer.LESS) or self.header.less
        unequal = _pointer(floor, Pointer.UNEQUAL) or self.header.unequal
        yield from self.lists[Pointer.GREATER].below(key, greater)
        yield from self.lists[Pointer.LESS].above(key, less)
        yield from self.lists[Pointer.UNEQUAL].below(key, unequal)
        yield from self.lists[Pointer.UNEQUAL].above(key, unequal)

    def _new_item(self, leaf: Items, position: int) -> bytes:
        """The item of a new key, to stand at a place, with the pointers of its neighbours (Figure 6, lines 7 to 16)."""
        previous, next_ = self.tree.before(leaf, position), self.tree.after(leaf, position)
        return leaf_item(
            _pointer(previous, Pointer.GREATER) or self.header.greater,
            _pointer(next_, Pointer.LESS) or self.header.less,
            _pointer(previous, Pointer.UNEQUAL) or self.header.unequal,
        )

    def _changed_ranges(self, tree: BPlusTree, change: int) -> None:
        self.header.ranges = tree.root
        self.header.n_ranges += change
        self.header.n_predicates += change
        self.pages.change(self.header)


def create(nodes: NodeStore, order: int) -> None:
    """Puts a tree without predicates into a store."""
    pages = Pages(nodes)
    header = pages.new(Header(0, order))
    header.tree, header.greater, header.less, header.unequal, header.ranges = (
        pages.new(Items(0)).number for _ in range(5)
    )
    nodes.root = header.number
    pages.flush()


def member_of(entry: int, bits: int) -> int:
    """An entry in a set, with the lowest bits of its operator."""
    return entry << MEMBER_SHIFT | bits


def _same(is_so: bool, number: int) -> bool:
    """False, for what a list says, if the set of the leaf's item says so, too."""
    if not is_so:
        raise DamagedNodeError(number, "it and the leaves have other predicates")
    return False


def _pointer(place: tuple[Items, int] | None, which: Pointer) -> int:
    """Where an item points to; 0 where there is no item."""
    if place is None:
        return 0
    leaf, position = place
    number = pointer(leaf.values[position], which)
    if not number:
        raise DamagedNodeError(leaf.number, "an item points to no list")
    return number
