"""The nodes that one operation reads and changes, each read once and written once.

In: numbers. Out: nodes, as objects that may be changed. An operation asks for a node as often as it likes and gets one
object; what it changed is written at its end by `flush`. So an operation that fails before has written nothing, and no
two parts of it have different copies of one node.

Invariant: nothing is kept from one operation to the next, for the store's transaction may have been aborted.
"""

from __future__ import annotations

from typing import TypeVar

from profilec.runtime.indexes.stored_pbtree.node_bytes import (
    Branch,
    Chunk,
    DamagedNodeError,
    Header,
    Items,
    Node,
    decode,
    encode,
)
from profilec.runtime.store.nodes import NodeStore

_Any = TypeVar("_Any", Header, Items, Branch, Chunk)
_MANY = 1_000
"""Nodes that are in memory before `relieve` writes them."""


class Pages:
    """The nodes of one operation."""

    __slots__ = ("_changed", "_known", "_removed", "_store")

    def __init__(self, store: NodeStore) -> None:
        self._store = store
        self._known: dict[int, Node] = {}
        self._changed: dict[int, Node] = {}
        self._removed: list[int] = []

    def __len__(self) -> int:
        return len(self._known)

    def read(self, number: int) -> Node:
        """The node of a number.

        Raises:
            DamagedNodeError: there is none, or it is damaged.
        """
        node = self._known.get(number)
        if node is None:
            try:
                data = self._store.get(number)
            except KeyError:
                raise DamagedNodeError(number, "it is missing") from None
            node = self._known[number] = decode(number, data)
        return node

    def header(self) -> Header:
        return self._of(self._store.root, Header)

    def items(self, number: int) -> Items:
        return self._of(number, Items)

    def chunk(self, number: int) -> Chunk:
        return self._of(number, Chunk)

    def new(self, node: _Any) -> _Any:
        """Gives a node its number."""
        node.number = self._store.new()
        self._known[node.number] = node
        self._changed[node.number] = node
        return node

    def change(self, node: Node) -> None:
        """To be called for each node that is changed."""
        self._changed[node.number] = node

    def remove(self, node: Node) -> None:
        del self._known[node.number]
        self._changed.pop(node.number, None)
        self._removed.append(node.number)

    def flush(self) -> None:
        """Writes what was changed, and forgets all nodes. If that fails, the transaction is to be aborted."""
        for number, node in self._changed.items():
            self._store.put(number, encode(node))
        for number in self._removed:
            try:
                self._store.delete(number)
            except KeyError:  # it was made and removed in one operation
                continue
        self._known.clear()
        self._changed.clear()
        self._removed.clear()

    def relieve(self) -> None:
        """Writes nodes where many were made. One that is changed afterwards is written again."""
        if len(self._known) > _MANY:
            self.flush()

    def forget(self) -> None:
        """Forgets nodes that were only read."""
        assert not self._changed
        self._known.clear()

    def _of(self, number: int, type_: type[_Any]) -> _Any:
        node = self.read(number)
        if not isinstance(node, type_):
            raise DamagedNodeError(number, f"it is {type(node).__name__}, where {type_.__name__} was to be")
        return node
