"""Checks all of a stored PB+-tree: that each node says what the others say.

In: a store. Out: counts; or the error that names the first node that is wrong.

What is checked: the B+-trees (depth, sizes, order, separators, links, marks), the lists (order, links), every pointer
of every leaf item, the sets, the counts of predicates by key and of all, and that the store has no nodes but these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from profilec.runtime.indexes.stored_pbtree.leaf_items import Pointer, n_predicates, pointer, set_of
from profilec.runtime.indexes.stored_pbtree.members import count, is_spilled
from profilec.runtime.indexes.stored_pbtree.node_bytes import Branch, DamagedNodeError, Items, Node
from profilec.runtime.indexes.stored_pbtree.operation import LIST_OPERATORS, SET_OPERATORS, Operation
from profilec.runtime.indexes.stored_pbtree.ranges import reach
from profilec.runtime.store.nodes import NodeStore

_BITS = 3
"""The lowest bits of a member: its operator."""
_SET_BITS = frozenset(SET_OPERATORS.values())


@dataclass(frozen=True, slots=True)
class Checked:
    """What a tree has."""

    n_predicates: int
    n_keys: int
    n_nodes: int
    height: int
    """Nodes from the root of the keys' tree to a leaf."""
    n_list_nodes: int


def check(nodes: NodeStore) -> Checked:
    """Reads all of the nodes in a store.

    Raises:
        DamagedNodeError: something is wrong.
    """
    return _Check(Operation(nodes)).run(nodes)


class _Check:
    """What was read so far; each method checks one sort of thing."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.order = operation.header.order
        self.seen = {operation.header.number}

    def run(self, nodes: NodeStore) -> Checked:
        header = self.operation.header
        leaves, height = self.tree(header.tree, None)
        by_key: Counter[bytes] = Counter()
        for leaf in leaves:
            for key, item in zip(leaf.keys, leaf.values, strict=True):
                by_key[key] = self.members(leaf, set_of(item), _SET_BITS)
        set_sizes = dict(by_key)
        n_of_lists = [self.operator_list(which, leaves, by_key) for which in Pointer]
        for leaf in leaves:
            for key, item in zip(leaf.keys, leaf.values, strict=True):
                self.agree(leaf, n_predicates(item) == by_key[key] > 0, "an item's count of predicates is another")
        self.agree(header, len(by_key) == header.n_keys, "the count of keys is another")
        self.agree(header, set_sizes.keys() == by_key.keys(), "a list has a key that no leaf has")
        n_ranges = sum(
            self.members(leaf, members, frozenset({0}), may_be_empty=False)
            for leaf in self.tree(header.ranges, reach)[0]
            for members in leaf.values
        )
        self.agree(header, n_ranges == header.n_ranges, "the count of ranges is another")
        self.agree(header, by_key.total() + n_ranges == header.n_predicates, "the count of predicates is another")
        for number in nodes.numbers():
            if number not in self.seen:
                raise DamagedNodeError(number, "nothing leads to it")
        return Checked(header.n_predicates, header.n_keys, len(self.seen), height, sum(n_of_lists))

    def tree(self, root: int, mark: Callable[[bytes], bytes] | None) -> tuple[list[Items], int]:
        """The leaves of a B+-tree, and its height."""
        leaves: list[tuple[Items, int]] = []
        self.below(root, b"", None, 1, mark, leaves, root)
        for (left, _), (right, _) in pairwise(leaves):
            self.agree(left, left.next == right.number, "its next leaf is another")
            self.agree(right, right.previous == left.number, "its previous leaf is another")
        first, last = leaves[0][0], leaves[-1][0]
        self.agree(first, first.previous == 0 and last.next == 0, "the leaves have no end")
        for leaf, depth in leaves:
            self.agree(leaf, depth == leaves[0][1], "it is not as deep as the others")
        return [leaf for leaf, _ in leaves], leaves[0][1]

    def below(
        self,
        number: int,
        low: bytes,
        high: bytes | None,
        depth: int,
        mark: Callable[[bytes], bytes] | None,
        leaves: list[tuple[Items, int]],
        root: int,
    ) -> bytes:
        """Checks a node with all below it, whose keys are from `low` on, below `high`; its mark."""
        node = self.read(number)
        if isinstance(node, Items):
            least = 0 if number == root else self.order // 2
            self.keys(node, node.keys, low, high)
            self.agree(node, least <= len(node.keys) <= self.order, f"it has {len(node.keys)} keys")
            leaves.append((node, depth))
            return max(map(mark, node.keys), default=b"") if mark else b""
        if not isinstance(node, Branch):
            raise DamagedNodeError(number, f"it is {type(node).__name__}, where a node of a B+-tree was to be")
        least = 2 if number == root else (self.order + 1) // 2
        self.keys(node, node.keys, low, high)
        self.agree(node, least <= len(node.children) <= self.order, f"it has {len(node.children)} children")
        bounds = pairwise([low, *node.keys, high])
        for child, (start, end), said in zip(node.children, bounds, node.marks, strict=True):
            assert start is not None
            is_so = self.below(child, start, end, depth + 1, mark, leaves, root) == said
            self.agree(node, is_so, f"its mark of node {child} is another")
        return max(node.marks)

    def operator_list(self, which: Pointer, leaves: list[Items], by_key: Counter[bytes]) -> int:
        """Checks a list, and all pointers into it; adds what it has to the predicates by key; how many nodes it has."""
        nodes: list[Items] = []
        for node in self.operation.lists[which].nodes():
            self.see(node)  # before the next, for links that lead back would have no end
            nodes.append(node)
        is_from_head = which is not Pointer.LESS
        bits = frozenset(bits for list_, bits in LIST_OPERATORS.values() if list_ is which)
        ordered = nodes if is_from_head else nodes[::-1]
        self.agree(ordered[0], ordered[0].previous == 0 and ordered[-1].next == 0, "the list has no end")
        for left, right in pairwise(ordered):
            self.agree(right, left.next == right.number and right.previous == left.number, "its neighbours are others")
        last = b""
        where: dict[bytes, int] = {}
        for node in ordered:
            self.agree(node, len(node.keys) <= self.order, f"it has {len(node.keys)} keys")
            self.agree(node, bool(node.keys) or node is nodes[0], "it has no keys")
            self.keys(node, node.keys, last, None)
            for key, members in zip(node.keys, node.values, strict=True):
                self.agree(node, key > last, "its keys are not in order")
                last = key
                where[key] = node.number
                n = self.members(node, members, bits, may_be_empty=False)
                by_key[key] += n - self.n_in_both(members)
        at = nodes[0].number
        for leaf in leaves if is_from_head else reversed(leaves):
            pairs = list(zip(leaf.keys, leaf.values, strict=True))
            for key, item in pairs if is_from_head else reversed(pairs):
                at = where.get(key, at)
                self.agree(leaf, pointer(item, which) == at, f"a {which.name} pointer is not to node {at}")
        return len(nodes)

    def n_in_both(self, members: bytes) -> int:
        """Members of a list's set that were counted with a leaf's: those of `<=` and `>=`."""
        return sum(number & _BITS in _SET_BITS - {0} for number in self.numbers(members))

    def members(self, node: Items, data: bytes, bits: frozenset[int], *, may_be_empty: bool = True) -> int:
        """Checks a set; how many members it has."""
        sets = self.operation.members
        self.agree(node, may_be_empty or bool(data), "a set is empty")
        if is_spilled(data):
            directory = sets.directory(data)
            leaves, _ = self.tree(directory.root, None)
            fences = [int.from_bytes(key, "big") for leaf in leaves for key in leaf.keys]
            chunks = list(sets.chunks(data))
            self.agree(node, fences[0] == 0 and len(fences) == len(chunks), "a set's chunks do not begin at 0")
            for chunk, low, high in zip(chunks, fences, [*fences[1:], 2**64], strict=True):
                self.see(chunk)
                self.agree(chunk, 0 < len(chunk.members) <= sets.chunk, f"it has {len(chunk.members)} members")
                self.agree(chunk, low <= chunk.members[0] and chunk.members[-1] < high, "it has others' members")
            self.agree(node, count(data) > sets.inline // 2, "a set is too small for chunks")
        else:
            self.agree(node, len(data) <= 8 * sets.inline, "a set is too large for its item")
        found = self.numbers(data)
        self.agree(node, all(left < right for left, right in pairwise(found)), "a set is not in order")
        self.agree(node, len(found) == count(data), "a set's count is another")
        self.agree(node, bits.issuperset(number & _BITS for number in found), "a set has members of other operators")
        return len(found)

    def numbers(self, data: bytes) -> list[int]:
        joined = b"".join(self.operation.members.parts(data))
        return [int.from_bytes(joined[at : at + 8], "little") for at in range(0, len(joined), 8)]

    def keys(self, node: Node, keys: list[bytes], low: bytes, high: bytes | None) -> None:
        is_ordered = all(left < right for left, right in pairwise(keys))
        is_within = not keys or (low <= keys[0] and (high is None or keys[-1] < high))
        self.agree(node, is_ordered and is_within, "its keys are not in order")

    def read(self, number: int) -> Node:
        node = self.operation.pages.read(number)
        self.see(node)
        return node

    def see(self, node: Node) -> None:
        self.agree(node, node.number not in self.seen, "two nodes lead to it")
        self.seen.add(node.number)

    def agree(self, node: Node, is_so: bool, otherwise: str) -> None:
        if not is_so:
            raise DamagedNodeError(node.number, otherwise)
