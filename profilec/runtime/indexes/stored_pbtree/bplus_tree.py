"""A B+-tree whose nodes are pages: keys that are bytes, each with a value that is bytes.

In: the pages of an operation, and the number of the root. Out: keys found, inserted, removed.

    order 4               Branch 7:   m
                                 /         \\
    Items 3:  a d k          Items 5:  m q s            linked with each other, previous and next

A leaf has at most `order` keys and, unless it is the root, at least order // 2; a branch at most `order` children and
at least (order + 1) // 2. Splits, merges and evenings-out go up the path that the search came down. A separator is the
shortest that is greater than all before it and not greater than what is after it: keys that are long strings stand in
leaves alone.

A tree may have *marks*: of each child of a branch the greatest `mark(key)` of all keys below it.

Invariant: all leaves are at one depth; through the links they have all keys in order.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, takewhile
from operator import eq
from typing import TypeAlias, TypeVar

from profilec.runtime.indexes.stored_pbtree.node_bytes import Branch, DamagedNodeError, Items
from profilec.runtime.indexes.stored_pbtree.pages import Pages

Place: TypeAlias = "tuple[Items, int]"
"""An item: its leaf, and its position there."""
_Path: TypeAlias = "list[tuple[Branch, int]]"
_T = TypeVar("_T")


class BPlusTree:
    """`root` changes when the tree grows or shrinks by a level; whoever keeps it asks for it afterwards."""

    __slots__ = ("_mark", "_order", "_pages", "root")

    def __init__(self, pages: Pages, root: int, order: int, mark: Callable[[bytes], bytes] | None = None) -> None:
        self._pages = pages
        self._order = order
        self._mark = mark
        self.root = root

    @classmethod
    def empty(cls, pages: Pages, order: int, mark: Callable[[bytes], bytes] | None = None) -> BPlusTree:
        return cls(pages, pages.new(Items(0)).number, order, mark)

    @classmethod
    def loaded(
        cls,
        pages: Pages,
        order: int,
        items: Iterable[tuple[bytes, bytes]],
        mark: Callable[[bytes], bytes] | None = None,
    ) -> BPlusTree:
        """A tree of keys that ascend, made from below, with full nodes. Keys are taken one by one, and nodes written
        where they are many."""
        tree = cls(pages, 0, order, mark)
        level: list[tuple[bytes, int, bytes]] = []
        for separator, leaf in chained(pages, order, items):
            level.append((separator, leaf.number, tree._mark_of(leaf)))
        while len(level) > 1:
            above = []
            for part in parts_of(level, order):
                separators, children, marks = (list(column) for column in zip(*part, strict=True))
                branch = pages.new(Branch(0, separators[1:], children, marks))
                above.append((separators[0], branch.number, max(marks)))
                pages.relieve()
            level = above
        tree.root = level[0][1]
        return tree

    def find(self, key: bytes) -> tuple[Items, int, bool]:
        """The leaf where a key is or would be, its position there, and whether it is there."""
        _, leaf = self._descend(key)
        position = bisect_left(leaf.keys, key)
        return leaf, position, position < len(leaf.keys) and leaf.keys[position] == key

    def before(self, leaf: Items, position: int) -> Place | None:
        """The last item before a place. Where all keys of the leaf are greater, that is the previous leaf's."""
        if position > 0:
            return leaf, position - 1
        if not leaf.previous:
            return None
        previous = self._pages.items(leaf.previous)
        return previous, len(previous.keys) - 1

    def after(self, leaf: Items, position: int) -> Place | None:
        """The item at a place, or the first one of the next leaf."""
        if position < len(leaf.keys):
            return leaf, position
        return (self._pages.items(leaf.next), 0) if leaf.next else None

    def leaves(self, key: bytes = b"") -> Iterator[Items]:
        """The leaves from that on where a key is or would be."""
        _, leaf = self._descend(key)
        while True:
            yield leaf
            if not leaf.next:
                return
            leaf = self._pages.items(leaf.next)

    def insert(self, key: bytes, value: bytes) -> None:
        """Adds a key that is not there."""
        path, leaf = self._descend(key)
        position = bisect_left(leaf.keys, key)
        leaf.keys.insert(position, key)
        leaf.values.insert(position, value)
        self._pages.change(leaf)
        node: Items | Branch = leaf
        while True:
            separator, right = self._split(node) if _size(node) > self._order else (b"", None)
            if not path:
                break
            parent, child = path.pop()
            has_changed = self._set_mark(parent, child, node)
            if right is not None:
                parent.keys.insert(child, separator)
                parent.children.insert(child + 1, right.number)
                parent.marks.insert(child + 1, self._mark_of(right))
            elif not has_changed:
                return
            self._pages.change(parent)
            node = parent
        if right is not None:
            marks = [self._mark_of(node), self._mark_of(right)]
            self.root = self._pages.new(Branch(0, [separator], [node.number, right.number], marks)).number

    def remove(self, key: bytes) -> None:
        """Removes a key that is there."""
        path, leaf = self._descend(key)
        position = bisect_left(leaf.keys, key)
        del leaf.keys[position], leaf.values[position]
        self._pages.change(leaf)
        node: Items | Branch = leaf
        while path:
            parent, child = path.pop()
            least = self._order // 2 if isinstance(node, Items) else (self._order + 1) // 2
            if _size(node) < least:
                self._refill(parent, max(child - 1, 0))
                self._pages.change(parent)
            elif not self._set_mark(parent, child, node):
                return
            else:
                self._pages.change(parent)
            node = parent
        if isinstance(node, Branch) and len(node.children) == 1:
            self.root = node.children[0]
            self._pages.remove(node)

    def clear(self) -> None:
        """Removes all nodes; the tree is none any more."""
        nodes = [self._node(self.root)]
        while nodes:
            node = nodes.pop()
            if isinstance(node, Branch):
                nodes.extend(map(self._node, node.children))
            self._pages.remove(node)

    def _node(self, number: int) -> Items | Branch:
        node = self._pages.read(number)
        if not isinstance(node, Items | Branch):
            raise DamagedNodeError(number, f"it is {type(node).__name__}, where a node of a B+-tree was to be")
        return node

    def _descend(self, key: bytes) -> tuple[_Path, Items]:
        path: _Path = []
        node = self._node(self.root)
        while isinstance(node, Branch):
            child = bisect_right(node.keys, key)
            path.append((node, child))
            node = self._node(node.children[child])
        return path, node

    def _split(self, node: Items | Branch) -> tuple[bytes, Items | Branch]:
        """Cuts a node in two; the separator, and the right half."""
        half = _size(node) // 2
        self._pages.change(node)
        if isinstance(node, Branch):
            separator = node.keys[half - 1]
            branch = self._pages.new(Branch(0, node.keys[half:], node.children[half:], node.marks[half:]))
            del node.keys[half - 1 :], node.children[half:], node.marks[half:]
            return separator, branch
        right = self._pages.new(Items(0, node.number, node.next, node.keys[half:], node.values[half:]))
        del node.keys[half:], node.values[half:]
        self._link(right.number, node.next)
        node.next = right.number
        return _separator(node, right), right

    def _refill(self, parent: Branch, child: int) -> None:
        """Makes one of two neighbours, or shares out evenly what they have."""
        left, right = self._node(parent.children[child]), self._node(parent.children[child + 1])
        size = _size(left) + _size(right)
        half = size if size <= self._order else size // 2
        if isinstance(left, Items) and isinstance(right, Items):
            keys, values = left.keys + right.keys, left.values + right.values
            left.keys, left.values, right.keys, right.values = keys[:half], values[:half], keys[half:], values[half:]
            if right.keys:
                parent.keys[child] = _separator(left, right)
            else:
                left.next = right.next
                self._link(left.number, right.next)
        elif isinstance(left, Branch) and isinstance(right, Branch):
            keys = [*left.keys, parent.keys[child], *right.keys]
            children, marks = left.children + right.children, left.marks + right.marks
            left.keys, left.children, left.marks = keys[: half - 1], children[:half], marks[:half]
            right.keys, right.children, right.marks = keys[half:], children[half:], marks[half:]
            if right.children:
                parent.keys[child] = keys[half - 1]
        self._pages.change(left)
        self._set_mark(parent, child, left)
        if _size(right):
            self._pages.change(right)
            self._set_mark(parent, child + 1, right)
        else:
            self._pages.remove(right)
            del parent.keys[child], parent.children[child + 1], parent.marks[child + 1]

    def _link(self, previous: int, number: int) -> None:
        """Tells a leaf, if there is one, which one is before it."""
        if number:
            leaf = self._pages.items(number)
            leaf.previous = previous
            self._pages.change(leaf)

    def _set_mark(self, parent: Branch, child: int, node: Items | Branch) -> bool:
        """Whether the mark is another than it was."""
        mark = self._mark_of(node)
        if parent.marks[child] == mark:
            return False
        parent.marks[child] = mark
        return True

    def _mark_of(self, node: Items | Branch) -> bytes:
        if self._mark is None:
            return b""
        return max(node.marks if isinstance(node, Branch) else map(self._mark, node.keys), default=b"")


def chained(pages: Pages, order: int, items: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, Items]]:
    """Linked nodes of keys that ascend, each with what separates it from the one before it; one at least."""
    before: Items | None = None
    for part in parts_of(items, order):
        node = pages.new(Items(0, 0 if before is None else before.number, 0, [key for key, _ in part]))
        node.values = [value for _, value in part]
        if before is not None:
            before.next = node.number
            pages.change(before)
        yield b"" if before is None else _separator(before, node), node
        pages.relieve()
        before = node
    if before is None:
        yield b"", pages.new(Items(0))


def parts_of(items: Iterable[_T], size: int) -> Iterator[list[_T]]:
    """Parts of `size` items; of the last two, both are at least half as large.

    >>> [len(part) for part in parts_of(range(9), 4)], list(parts_of([], 4))
    ([4, 2, 3], [])
    """
    left = iter(items)
    held = list(islice(left, size))
    while more := list(islice(left, size)):
        if len(more) < size:
            held += more
            held, more = held[: len(held) // 2], held[len(held) // 2 :]
        yield held
        held = more
    if held:
        yield held


def _size(node: Items | Branch) -> int:
    return len(node.keys) if isinstance(node, Items) else len(node.children)


def _separator(left: Items, right: Items) -> bytes:
    first = right.keys[0]
    n_equal = sum(takewhile(bool, map(eq, left.keys[-1], first)))
    return first[: n_equal + 1]
