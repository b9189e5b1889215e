"""The PB+-tree on secondary storage, as its users see it. The package's docstring tells how it is made."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from pyroaring import BitMap

from profilec.runtime.indexes.stored_pbtree.bulk_load import Keyed, load
from profilec.runtime.indexes.stored_pbtree.check import Checked, check
from profilec.runtime.indexes.stored_pbtree.leaf_items import set_of
from profilec.runtime.indexes.stored_pbtree.operation import (
    LIST_OPERATORS,
    MEMBER_SHIFT,
    SET_OPERATORS,
    Operation,
    create,
)
from profilec.runtime.indexes.stored_pbtree.ranges import range_key
from profilec.runtime.store.nodes import NodeStore
from profilec.values.compare import order as order_of
from profilec.values.kinds import Kind, Value, kind_of
from profilec.values.ordered_bytes import ordered_bytes, value_of

ORDER = 64
"""Keys to a leaf. LAYOUT: of numbers, half full, about a page of LMDB's (4 kB)."""
_ORDER_TOO_SMALL = "an order of {}; at least 3 keys go into a node"
MAX_ENTRY = 2**32 - 1
_MOST_PAGES = 10_000
"""What `insert_all` holds in memory before it writes."""


class StoredPBTree:
    """Values to the entries whose predicate holds for them; the predicates are in a store of nodes, which holds nothing
    else. All changes are made through the store at once, and belong to its transaction.

    >>> from profilec.runtime.store.nodes import MemoryNodes
    >>> tree = StoredPBTree(MemoryNodes())
    >>> tree.insert(">=", 5, 1), tree.insert("!=", 7, 2), tree.insert_range(3, 6, 3)
    (True, True, True)
    >>> [sorted(tree.search(value)) for value in (2, 5.0, 6, 7, "7", None)]
    [[2], [1, 2, 3], [1, 2, 3], [1], [], []]
    >>> tree.delete(">=", 5, 1)
    >>> sorted(tree.search(5)), len(tree)
    ([2, 3], 2)
    """

    __slots__ = ("_nodes",)

    def __init__(self, nodes: NodeStore, order: int | None = None) -> None:
        """The tree that a store holds; a new one where it holds none, with at most `order` keys to a node (64).

        Raises:
            ValueError: the order is less than 3, or not that of the tree in the store.
            DamagedNodeError: the store's root is no header of a tree.
        """
        self._nodes = nodes
        if order is not None and order < 3:
            raise ValueError(_ORDER_TOO_SMALL.format(order))
        if not nodes.root:
            create(nodes, ORDER if order is None else order)
        elif order not in {None, self.order}:
            raise ValueError(f"the tree in the store has the order {self.order}, not {order}")

    @classmethod
    def load(
        cls,
        nodes: NodeStore,
        predicates: Iterable[tuple[str, Value, int]],
        ranges: Iterable[tuple[Value, Value, int]] = (),
        order: int = ORDER,
    ) -> StoredPBTree:
        """A tree of all these predicates, in a store that is empty: made from below, in a fraction of the time that
        insertions take, and like any other afterwards. `ranges`: as of `insert_range`, both bounds included.

        Raises:
            ValueError: as for `insert` and `insert_range`; or the store is not empty.
        """
        keyed = {(_key(operator, value, entry), operator, entry) for operator, value, entry in predicates}
        of_ranges = {(_range(low, high, entry, False, False), entry) for low, high, entry in ranges}
        return cls.load_keyed(nodes, sorted(keyed), sorted(of_ranges), order)

    @classmethod
    def load_keyed(
        cls, nodes: NodeStore, predicates: Sequence[Keyed], ranges: Sequence[tuple[bytes, int]], order: int = ORDER
    ) -> StoredPBTree:
        """As `load`, of keys that are in order, none twice."""
        if nodes.root:
            raise ValueError("the store has a tree already: load another one, or insert into this")
        if order < 3:
            raise ValueError(_ORDER_TOO_SMALL.format(order))
        load(nodes, order, predicates, ranges)
        return cls(nodes)

    @property
    def order(self) -> int:
        """The most keys of a node."""
        return Operation(self._nodes).header.order

    def __len__(self) -> int:
        """How many predicates there are."""
        return Operation(self._nodes).header.n_predicates

    def insert(self, operator: str, value: Value, entry: int) -> bool:
        """Adds the predicate `operator value` of an entry, from 0 to 2**32 - 1; whether it was not there.

        Raises:
            ValueError: the value is NULL, NaN, an array or a record; the operator none of `= < <= > >= !=`; the entry
                out of range.
            DamagedNodeError: a node that was read is damaged.
        """
        key = _key(operator, value, entry)
        operation = Operation(self._nodes)
        is_new = operation.insert(operator, key, entry)
        operation.pages.flush()
        return is_new

    def insert_all(self, predicates: Iterable[tuple[str, Value, int]]) -> int:
        """Adds many predicates; how many were not there. Nodes are written once for many of these, so that it takes a
        fraction of the time. After an error (as for `insert`) only some are there: abort the transaction."""
        operation = Operation(self._nodes)
        n_new = 0
        for operator, value, entry in predicates:
            n_new += operation.insert(operator, _key(operator, value, entry), entry)
            if len(operation.pages) > _MOST_PAGES:
                operation.pages.flush()
                operation = Operation(self._nodes)
        operation.pages.flush()
        return n_new

    def delete(self, operator: str, value: Value, entry: int) -> None:
        """Removes a predicate.

        Raises:
            KeyError: it is not there.
            ValueError, DamagedNodeError: as for `insert`.
        """
        key = _key(operator, value, entry)
        operation = Operation(self._nodes)
        if not operation.delete(operator, key, entry):
            raise KeyError((operator, value, entry))
        operation.pages.flush()

    def insert_range(
        self, low: Value, high: Value, entry: int, *, low_open: bool = False, high_open: bool = False
    ) -> bool:
        """Adds `low <= x AND x <= high` as one predicate, an open bound with `<` in place of `<=`; whether it was not
        there. BETWEEN 5 AND 1 may be added, and holds for nothing.

        Raises:
            ValueError, DamagedNodeError: as for `insert`; and where the bounds are of different kinds.
        """
        range_ = _range(low, high, entry, low_open, high_open)
        operation = Operation(self._nodes)
        is_new = operation.insert_range(range_, entry)
        operation.pages.flush()
        return is_new

    def delete_range(
        self, low: Value, high: Value, entry: int, *, low_open: bool = False, high_open: bool = False
    ) -> None:
        """Removes a range.

        Raises:
            KeyError: it is not there.
            ValueError, DamagedNodeError: as for `insert_range`.
        """
        range_ = _range(low, high, entry, low_open, high_open)
        operation = Operation(self._nodes)
        if not operation.delete_range(range_, entry):
            raise KeyError((low, high, entry, low_open, high_open))
        operation.pages.flush()

    def search(self, value: Value, *, from_lists: bool = True) -> BitMap:
        """The entries of which a predicate holds for a value; for what compares with nothing there are none. Without
        `from_lists` only predicates whose constant the value is are asked, and ranges.

        Raises:
            DamagedNodeError: a node that was read is damaged.
        """
        try:
            key = ordered_bytes(value)
        except ValueError:
            return BitMap()
        operation = Operation(self._nodes)
        return _entries(operation, operation.satisfied(key, from_lists=from_lists))

    def range(self, low: Value = None, high: Value = None) -> Iterator[tuple[Value, BitMap]]:
        """The constants from `low` to `high`, both included, in order, kinds in the order of `Kind`; None is no bound.
        With each go the entries that have `=`, `<=` or `>=` with it: none where others alone have it. The constants of
        ranges are not among them. The tree is not to be changed before the last is taken.

        Raises:
            ValueError: a bound is NaN, an array or a record.
            DamagedNodeError: a node that was read is damaged.
        """
        start = b"" if low is None else ordered_bytes(low)
        end = bytes([Kind.OPAQUE]) if high is None else ordered_bytes(high)
        return self._between(start, end)

    def check(self) -> Checked:
        """Reads all nodes and compares all that they say of each other; counts of them.

        Raises:
            DamagedNodeError: something is wrong.
        """
        return check(self._nodes)

    def _between(self, start: bytes, end: bytes) -> Iterator[tuple[Value, BitMap]]:
        operation = Operation(self._nodes)
        for leaf in operation.tree.leaves(start):
            for key, item in zip(leaf.keys, leaf.values, strict=True):
                if key > end:
                    return
                if key >= start:
                    yield value_of(key), _entries(operation, [set_of(item)])
            operation.pages.forget()


def _entries(operation: Operation, sets: Iterable[bytes]) -> BitMap:
    members = b"".join(part for data in sets for part in operation.members.parts(data))
    entries = (np.frombuffer(members, "<u8") >> np.uint64(MEMBER_SHIFT)).astype(np.uint32)
    return BitMap(array("I", entries.tobytes()))


def _key(operator: str, value: Value, entry: int) -> bytes:
    if operator not in SET_OPERATORS and operator not in LIST_OPERATORS:
        raise ValueError(f"no comparison operator: {operator!r}")
    _check_entry(entry)
    return ordered_bytes(value)


def _range(low: Value, high: Value, entry: int, low_open: bool, high_open: bool) -> bytes:
    _check_entry(entry)
    bounds = ordered_bytes(low), ordered_bytes(high)
    if order_of(low, high) is None:
        raise ValueError(f"{kind_of(low).name} and {kind_of(high).name} do not compare: no value is between")
    return range_key(*bounds, low_open, high_open)


def _check_entry(entry: int) -> None:
    if not 0 <= entry <= MAX_ENTRY:
        raise ValueError(f"entry {entry}; entries are from 0 to {MAX_ENTRY}")
