"""Where the nodes of a structure on secondary storage are kept: numbered values, in memory or in LMDB.

In: numbers, and the bytes of nodes. Out: the same bytes. What the bytes mean is the structure's own affair
(`indexes/stored_pbtree`).

    number      0        1 .. last           any other
    value       root,    the bytes of        none
                last     a node

A store holds one structure, which is found by its root; a new store has the root 0, which is none. Numbers are given
once: one that was deleted, or that an error left unused, is not given again.

`LmdbNodes` does all within the transaction that it is given, and keeps nothing outside of it. Committing, and aborting
after an error, is the caller's; what was aborted leaves no trace, the root and the numbers included.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import lmdb

_NUMBER = struct.Struct(">Q")
"""LAYOUT: big-endian, so that LMDB has the nodes in the order of their numbers."""
_STATE = struct.Struct(">QQ")
_STATE_KEY = _NUMBER.pack(0)


class NodeStore(Protocol):
    """Numbered nodes, and which of them is the root."""

    reads: int
    """How often `get` was called."""
    writes: int
    """How often `put` was called."""
    root: int
    """The number of the root; 0 where nothing is stored yet."""

    def get(self, number: int) -> bytes:
        """The bytes of a node.

        Raises:
            KeyError: there is no such node.
        """

    def put(self, number: int, data: bytes) -> None:
        """Keeps a node, in place of what its number had before. `number` is one that `new` gave."""

    def delete(self, number: int) -> None:
        """Forgets a node.

        Raises:
            KeyError: there is no such node.
        """

    def new(self) -> int:
        """A number that no node has or had."""

    def numbers(self) -> Iterator[int]:
        """The numbers of all nodes, ascending."""


class MemoryNodes:
    """Nodes in a dict.

    >>> nodes = MemoryNodes()
    >>> nodes.root = nodes.new()
    >>> nodes.put(nodes.root, b"abc")
    >>> nodes.get(nodes.root), nodes.reads, nodes.writes
    (b'abc', 1, 1)
    """

    __slots__ = ("_last", "_nodes", "reads", "root", "writes")

    def __init__(self) -> None:
        self._nodes: dict[int, bytes] = {}
        self._last = 0
        self.root = 0
        self.reads = 0
        self.writes = 0

    def get(self, number: int) -> bytes:
        self.reads += 1
        return self._nodes[number]

    def put(self, number: int, data: bytes) -> None:
        _check(number, self._last)
        self.writes += 1
        self._nodes[number] = bytes(data)

    def delete(self, number: int) -> None:
        del self._nodes[number]

    def new(self) -> int:
        self._last += 1
        return self._last

    def numbers(self) -> Iterator[int]:
        return iter(sorted(self._nodes))


class LmdbNodes:
    """Nodes as values of a named database of LMDB, within a transaction.

    `database` is what `env.open_db(name, txn=transaction)` gives, for an environment opened with `max_dbs`. LMDB allows
    one transaction that writes at a time; what this object read is of the transaction's snapshot. It is of no more use
    when the transaction ends.
    """

    __slots__ = ("_database", "_transaction", "reads", "writes")

    def __init__(self, transaction: lmdb.Transaction[Any], database: lmdb._Database) -> None:
        self._transaction = transaction
        self._database = database
        self.reads = 0
        self.writes = 0

    @property
    def root(self) -> int:
        return self._state()[0]

    @root.setter
    def root(self, number: int) -> None:
        self._set_state(number, self._state()[1])

    def get(self, number: int) -> bytes:
        self.reads += 1
        data = self._transaction.get(_NUMBER.pack(number), db=self._database) if number > 0 else None
        if data is None:
            raise KeyError(number)
        # A transaction with `buffers` gives a view into the map, which the next write makes invalid.
        return bytes(data)

    def put(self, number: int, data: bytes) -> None:
        _check(number, self._state()[1])
        self.writes += 1
        self._transaction.put(_NUMBER.pack(number), data, db=self._database)

    def delete(self, number: int) -> None:
        if number <= 0 or not self._transaction.delete(_NUMBER.pack(number), db=self._database):
            raise KeyError(number)

    def new(self) -> int:
        root, last = self._state()
        self._set_state(root, last + 1)
        return last + 1

    def numbers(self) -> Iterator[int]:
        with self._transaction.cursor(db=self._database) as cursor:
            for key in cursor.iternext(keys=True, values=False):
                if bytes(key) != _STATE_KEY:
                    yield _NUMBER.unpack(key)[0]

    def _state(self) -> tuple[int, int]:
        """The root, and the last number that was given."""
        data = self._transaction.get(_STATE_KEY, db=self._database)
        if data is None:
            return 0, 0
        root, last = _STATE.unpack(data)
        return root, last

    def _set_state(self, root: int, last: int) -> None:
        self._transaction.put(_STATE_KEY, _STATE.pack(root, last), db=self._database)


def _check(number: int, last: int) -> None:
    if not 0 < number <= last:
        raise ValueError(f"{number} is no number that `new` gave")
