"""A trie of literals: which of them a text goes on with, from a position on.

In: literals. Out: for a text and a position in it, the literals that stand there, in one walk.

A run of nodes with one child each is one node (a radix tree), so the walk costs what it branches and not what it reads.
Nodes are numbered breadth first, 0 is the root, and edge e leads to node e + 1:

    literals   "ab" "abcd" "abce" "x"

                  0                 heads      "a" "x" | "c" | "d" "e"       first characters of the edges
              ab /  \\ x            off        0 2 3 3 5 5 5                  edges of node n: off[n] .. off[n+1]
                1    2              labels     "" "b" "" "" "" ""             the rest of the edge that leads to node n
              c |                   literal    -1 0 3 -1 1 2                  the literal that ends there, or -1
                3
            d /   \\ e
             4     5

Source: Morrison, PATRICIA, Journal of the ACM 15(4), 1968, for the nodes with one child that are none.

Invariant: the walk takes time linear in the longest literal, whatever the literals are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from os.path import commonprefix
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import Int32


class TrieArrays(NamedTuple):
    """What `trie_kernels.find_literals` reads."""

    heads: NDArray[np.uint32]
    off: Int32
    labels: NDArray[np.uint32]
    label_off: Int32
    literal: Int32
    longest: int


class LiteralTrie:
    """Literals, all different and none empty, numbered as they come.

    >>> trie = LiteralTrie(["ab", "abcd", "abce", "x"])
    >>> trie.standing_at("zabcex", 1), trie.standing_at("zabcex", 5), trie.standing_at("zabcex", 0)
    ([0, 2], [3], [])
    """

    __slots__ = ("_heads", "_labels", "_literal", "_longest", "_off", "_root")

    def __init__(self, literals: Sequence[str]) -> None:
        order = sorted(range(len(literals)), key=literals.__getitem__)
        keys = [literals[number] for number in order]
        heads: list[str] = []
        self._labels = [""]
        ends: list[int] = []
        off = [0]
        # Node n has the keys from start to before stop, all the same up to a depth.
        nodes = [(0, len(keys), 0)]
        for start, stop, depth in nodes:  # it grows meanwhile
            ends.append(-1)
            if start < stop and len(keys[start]) == depth:
                ends[-1] = order[start]
                start += 1  # noqa: PLW2901
            for head, group in groupby(range(start, stop), key=lambda place, depth=depth: keys[place][depth]):  # type: ignore[misc]
                places = list(group)
                first, last = places[0], places[-1]
                label = commonprefix([keys[first][depth + 1 :], keys[last][depth + 1 :]])  # noqa: RUF071  (no paths)
                heads.append(head)
                self._labels.append(label)
                nodes.append((first, last + 1, depth + 1 + len(label)))
            off.append(len(heads))
        self._heads = "".join(heads)
        # PERF: a memoryview gives one number in a quarter of the time that an array takes.
        self._off = np.array(off, np.int32).data
        self._literal = np.array(ends, np.int32).data
        self._longest = max(map(len, literals), default=0)
        self._root = {head: node for node, head in enumerate(heads[: off[1]], start=1)}

    @property
    def root(self) -> dict[str, int]:
        """The nodes to which the root leads, by first character; not to be changed."""
        return self._root

    def arrays(self) -> TrieArrays:
        """The trie for a kernel."""
        return TrieArrays(
            code_points(self._heads),
            np.array(self._off),
            code_points("".join(self._labels)),
            np.cumsum([0, *map(len, self._labels)], dtype=np.int32),
            np.array(self._literal),
            self._longest,
        )

    def standing_at(self, text: str, position: int) -> list[int]:
        """The numbers of the literals that stand in the text from this position on, the shortest first."""
        node = self._root.get(text[position : position + 1])
        return [] if node is None else self.from_node(node, text, position + 1)

    def from_node(self, node: int, text: str, position: int) -> list[int]:
        """As `standing_at`, where the characters up to this position have led to one of the `root` nodes."""
        labels, literal, off, heads = self._labels, self._literal, self._off, self._heads
        n = len(text)
        found: list[int] = []
        while True:
            label = labels[node]
            if label:
                if not text.startswith(label, position):
                    return found
                position += len(label)
            if literal[node] >= 0:
                found.append(literal[node])
            start, end = off[node], off[node + 1]
            if start == end or position == n:
                return found
            # PERF: this compares many characters at a time, and few nodes but the root have more than a few.
            edge = heads.find(text[position], start, end)
            if edge < 0:
                return found
            position += 1
            node = edge + 1


def code_points(text: str) -> NDArray[np.uint32]:
    """The text as an array; read-only.

    >>> code_points("aé").tolist()
    [97, 233]
    """
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
