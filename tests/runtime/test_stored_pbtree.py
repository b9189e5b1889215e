"""The PB+-tree on secondary storage against brute force, in memory and in LMDB, and what the paper says of it."""

import random
from decimal import Decimal
from functools import partial

import lmdb
import pytest

from profilec.runtime.indexes.stored_pbtree import StoredPBTree
from profilec.runtime.indexes.stored_pbtree.leaf_items import Pointer, pointer
from profilec.runtime.indexes.stored_pbtree.operation import Operation
from profilec.runtime.store.nodes import LmdbNodes, MemoryNodes
from profilec.values.compare import compare
from profilec.values.kinds import Date, Timestamp
from profilec.values.ordered_bytes import ordered_bytes, value_of

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
MIXED = [
    *range(-3, 12),
    *(number / 4 for number in range(9)),
    Decimal("0.1"),
    0.1,
    2**53,
    2.0**53,
    2**53 + 1,
    float("inf"),
    float("-inf"),
    Decimal("1E+999"),
    *("", "a", "a\0", "ab", "b", "\ud800", "\uffff", "\U00010000"),
    *(True, False),
    *map(Date, range(-1, 4)),
    *map(Timestamp, range(-1, 4)),
]


class Reference:
    """Predicates in a set, each asked by itself."""

    def __init__(self):
        self.predicates = set()

    def insert(self, *predicate):
        is_new = self._key(predicate) not in self.predicates
        self.predicates.add(self._key(predicate))
        return is_new

    def delete(self, *predicate):
        self.predicates.remove(self._key(predicate))

    def search(self, value):
        return {entry for *test, entry in self.predicates if self._holds(value, *test)}

    @staticmethod
    def _key(predicate):
        *test, entry = predicate
        return (*(part if part in OPERATORS else ordered_bytes(part) for part in test), entry)

    @staticmethod
    def _holds(value, operator, operand):
        return compare(operator, value, value_of(operand))


class Ranges(Reference):
    """The same, of (low operator, low, high operator, high)."""

    @staticmethod
    def _holds(value, low_operator, low, high_operator, high):
        return compare(low_operator, value, value_of(low)) and compare(high_operator, value, value_of(high))


@pytest.fixture
def environment(tmp_path):
    environment = lmdb.open(str(tmp_path), max_dbs=1, map_size=1 << 28, sync=False)
    yield environment
    environment.close()


@pytest.fixture(params=["memory", "lmdb"])
def nodes(request, environment):
    if request.param == "memory":
        yield MemoryNodes()
        return
    with environment.begin(write=True, buffers=True) as transaction:
        yield LmdbNodes(transaction, environment.open_db(b"tree", txn=transaction))


def keys_of_leaves(tree):
    return [[value_of(key) for key in leaf.keys] for leaf in Operation(tree._nodes).tree.leaves()]


def stored(nodes):
    return {number: nodes.get(number) for number in nodes.numbers()}


# Against brute force ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [3, 4, 7])
@pytest.mark.parametrize("seed", range(6))
def test_random_sequences(nodes, order, seed):
    draw = random.Random(1000 * order + seed)
    tree = StoredPBTree(nodes, order)
    plain, ranges = Reference(), Ranges()
    constants = draw.sample(MIXED, draw.choice([4, 20, len(MIXED)]))
    n_entries = draw.choice([4, 300])
    for step in range(500):
        grows = draw.random() < (0.75 if step % 250 < 150 else 0.25)
        entry = draw.randrange(n_entries)
        if draw.random() < 0.8:
            predicate = draw.choice(OPERATORS), draw.choice(constants), entry
            if grows:
                assert tree.insert(*predicate) == plain.insert(*predicate)
                continue
            if plain.predicates and draw.random() < 0.9:
                operator, key, entry = draw.choice(sorted(plain.predicates))
                predicate = operator, value_of(key), entry
            both_delete(partial(tree.delete, *predicate), partial(plain.delete, *predicate))
            continue
        low, high = draw.choice(constants), draw.choice(constants)
        if compare("=", low, high) is None:
            continue
        opens = draw.random() < 0.5, draw.random() < 0.5
        if not grows and ranges.predicates and draw.random() < 0.9:
            left, low, right, high, entry = draw.choice(sorted(ranges.predicates))
            low, high, opens = value_of(low), value_of(high), (left == ">", right == "<")
        test = (">" if opens[0] else ">=", low, "<" if opens[1] else "<=", high, entry)
        how = {"low_open": opens[0], "high_open": opens[1]}
        if grows:
            assert tree.insert_range(low, high, entry, **how) == ranges.insert(*test)
        else:
            both_delete(partial(tree.delete_range, low, high, entry, **how), partial(ranges.delete, *test))
        if step % 10 == 0:
            tree.check()
            for value in draw.sample(MIXED, 5):
                assert set(tree.search(value)) == plain.search(value) | ranges.search(value), (step, value)
    assert len(tree) == len(plain.predicates) + len(ranges.predicates)
    empty(tree, plain, ranges, draw)


def both_delete(*deletions):
    """Both remove it, or neither has it."""
    failed = []
    for deletion in deletions:
        try:
            deletion()
        except KeyError:
            failed.append(deletion)
    assert len(failed) in {0, len(deletions)}, deletions


def empty(tree, plain, ranges, draw):
    """Deletes all that is left: the nodes left are those of a new tree."""
    left = [*plain.predicates, *ranges.predicates]
    draw.shuffle(left)
    for *test, entry in left:
        if len(test) == 2:
            tree.delete(test[0], value_of(test[1]), entry)
        else:
            low, high = value_of(test[1]), value_of(test[3])
            tree.delete_range(low, high, entry, low_open=test[0] == ">", high_open=test[2] == "<")
    assert len(tree) == 0
    assert tree.check().n_nodes == 6
    assert not any(tree.search(value) for value in MIXED)
    assert list(tree.range()) == []


@pytest.mark.parametrize("backwards", [False, True])
def test_constants_in_order(nodes, backwards):
    tree = StoredPBTree(nodes, 3)
    values = range(200, 0, -1) if backwards else range(1, 201)
    for value in values:
        for operator in ("<", ">=", "!="):
            tree.insert(operator, value, value)
    tree.check()
    assert [len(tree.search(value)) for value in (0, 1, 100.5, 200, 201)] == [200, 200, 200, 200, 200]
    assert set(tree.search(50)) == set(range(1, 201))  # < above it, >= at it and below, != all others
    for value in values:
        tree.delete("!=", value, value)
        tree.delete("<", value, value)
    assert set(tree.search(50.5)) == set(range(1, 51))
    assert tree.check().n_predicates == 200


def test_many_at_once_are_the_same_tree_as_one_by_one(nodes):
    draw = random.Random(5)
    predicates = [(draw.choice(OPERATORS), draw.choice(MIXED), draw.randrange(50)) for _ in range(600)]
    tree, other = StoredPBTree(nodes, 4), StoredPBTree(MemoryNodes(), 4)
    n_new = tree.insert_all(predicates)
    assert n_new == sum(other.insert(*predicate) for predicate in predicates) == len(tree)
    assert tree.check() == other.check()
    assert all(tree.search(value) == other.search(value) for value in MIXED)
    assert list(tree.range()) == list(other.range())


# What the paper says, and leaves open -------------------------------------------------------------------------------


def test_the_pointers_of_figure_5(nodes):
    """GTPointers of keys 5 and 6 lead to the node of the biggest key that is not greater; LTPointers the other way."""
    tree = StoredPBTree(nodes, 4)
    for entry, (operator, value) in enumerate([(">", 5), ("<", 8), ("=", 6), ("=", 2), ("!=", 6)]):
        tree.insert(operator, value, entry)
    operation = Operation(nodes)
    leaves = list(operation.tree.leaves())
    items = {value_of(key): item for leaf in leaves for key, item in zip(leaf.keys, leaf.values, strict=True)}
    keys = {
        which: {
            value: [value_of(key) for key in operation.pages.items(pointer(item, which)).keys]
            for value, item in items.items()
        }
        for which in Pointer
    }
    assert keys[Pointer.GREATER][5] == keys[Pointer.GREATER][6] == [5]
    assert keys[Pointer.LESS][6] == keys[Pointer.LESS][8] == [8]
    assert keys[Pointer.UNEQUAL][8] == [6]


def test_figure_9_where_all_keys_of_the_leaf_exceed_the_input(nodes):
    tree = StoredPBTree(nodes, 3)
    for value in range(10, 130, 10):
        tree.insert(">", value, value)
        tree.insert("!=", value, 1000 + value)
    gone = next(keys[0] for keys in reversed(keys_of_leaves(tree)) if len(keys) >= 2)
    tree.delete(">", gone, gone)
    tree.delete("!=", gone, 1000 + gone)
    tree.check()
    # The separator still leads to this leaf, of which all keys exceed the input; the pointer is in the previous leaf.
    found, position, is_there = Operation(nodes).tree.find(ordered_bytes(gone + 1))
    assert not is_there
    assert position == 0
    assert found.previous
    others = set(range(10, 130, 10)) - {gone}
    lesser = {value for value in others if value < gone}
    assert len(lesser) > 2 * 3  # more than the head of the list has
    assert set(tree.search(gone + 1)) == lesser | {1000 + value for value in others}
    assert set(tree.search(gone)) == lesser | {1000 + value for value in others}
    # A key that is put there takes its GTPointer from the previous leaf, too (Figure 6, lines 9 to 16).
    tree.insert(">", gone + 1, 1)
    tree.check()
    assert set(tree.search(gone + 2)) == lesser | {1} | {1000 + value for value in others}


def test_the_next_leaf_where_all_keys_of_the_leaf_are_less(nodes):
    tree = StoredPBTree(nodes, 3)
    for value in range(10, 130, 10):
        tree.insert("<", value, value)
    last = keys_of_leaves(tree)[0][-1]
    leaf, position, _ = Operation(nodes).tree.find(ordered_bytes(last + 1))
    assert position == len(leaf.keys)
    assert leaf.next
    assert set(tree.search(last + 1)) == set(range(last + 10, 130, 10))


def test_inputs_before_and_after_all_keys(nodes):
    tree = StoredPBTree(nodes, 3)
    for value in range(10):
        for place, operator in enumerate(OPERATORS):
            tree.insert(operator, value, 10 * place + value)
    entries = {operator: set(range(10 * place, 10 * place + 10)) for place, operator in enumerate(OPERATORS)}
    assert set(tree.search(-1)) == entries["!="] | entries["<"] | entries["<="]
    assert set(tree.search(99)) == entries["!="] | entries[">"] | entries[">="]


def test_other_kinds_never_hold(nodes):
    tree = StoredPBTree(nodes, 3)
    values = [3, "3", True, Date(3), Timestamp(3)]
    for entry, value in enumerate(values):
        for operator in ("<", "!=", ">"):
            tree.insert(operator, value, entry)
    for entry, value in enumerate([4, "4", False, Date(4), Timestamp(4)]):
        assert set(tree.search(value)) == {entry}
    assert not tree.search([3])
    assert not tree.search(None)
    assert not tree.search(float("nan"))


def test_two_operators_of_one_entry_at_one_constant(nodes):
    tree = StoredPBTree(nodes)
    for operator in ("=", "<=", ">="):
        assert tree.insert(operator, 5, 7)
    tree.delete("=", 5.0, 7)
    tree.delete(">=", Decimal(5), 7)
    assert list(tree.search(5)) == [7]
    assert list(tree.search(4)) == [7]
    tree.delete("<=", 5, 7)
    assert list(tree.search(5)) == []


def test_duplicates_and_absent_deletes(nodes):
    tree = StoredPBTree(nodes)
    assert tree.insert("<", 5, 7)
    assert not tree.insert("<", 5.0, 7)
    assert tree.insert_range(1, 2, 7)
    assert not tree.insert_range(1, 2.0, 7)
    assert len(tree) == 2
    before = stored(nodes)
    for absent in (("<", 5, 8), ("<=", 5, 7), ("<", 6, 7), ("<", "5", 7), ("=", 5, 7), ("!=", 5, 7)):
        with pytest.raises(KeyError):
            tree.delete(*absent)
    for absent in ((1, 2, 8), (1, 3, 7)):
        with pytest.raises(KeyError):
            tree.delete_range(*absent)
    with pytest.raises(KeyError):
        tree.delete_range(1, 2, 7, low_open=True)
    assert stored(nodes) == before


@pytest.mark.parametrize("value", [None, float("nan"), Decimal("NaN"), [1], {"a": 1}], ids=str)
def test_what_compares_with_nothing_is_refused(nodes, value):
    tree = StoredPBTree(nodes)
    before = stored(nodes)
    for operator in OPERATORS:
        with pytest.raises(ValueError, match="compares with nothing"):
            tree.insert(operator, value, 1)
        with pytest.raises(ValueError, match="compares with nothing"):
            tree.delete(operator, value, 1)
    for bounds in ((value, 1), (1, value)):
        with pytest.raises(ValueError, match="compares with nothing"):
            tree.insert_range(*bounds, 1)
    assert stored(nodes) == before


def test_other_arguments_that_are_refused():
    nodes = MemoryNodes()
    with pytest.raises(ValueError, match="at least 3"):
        StoredPBTree(nodes, 2)
    tree = StoredPBTree(nodes, 5)
    with pytest.raises(ValueError, match="order 5, not 6"):
        StoredPBTree(nodes, 6)
    assert StoredPBTree(nodes).order == 5
    with pytest.raises(ValueError, match="'~'"):
        tree.insert("~", 1, 1)
    for entry in (-1, 2**32):
        with pytest.raises(ValueError, match="entries are from 0"):
            tree.insert("=", 1, entry)
    with pytest.raises(ValueError, match="NUMBER and STRING"):
        tree.insert_range(1, "2", 1)
    tree.insert("=", 1, 2**32 - 1)
    assert list(tree.search(1)) == [2**32 - 1]


def test_ranges_that_are_empty_hold_for_nothing(nodes):
    tree = StoredPBTree(nodes, 3)
    tree.insert_range(5, 1, 1)
    tree.insert_range(5, 5, 2, low_open=True)
    tree.insert_range(5, 5, 3)
    assert [list(tree.search(value)) for value in (1, 3, 5)] == [[], [], [3]]


@pytest.mark.parametrize("order", [3, 4, 5, 8])
def test_many_ranges_come_and_go(nodes, order):
    draw = random.Random(order)
    tree, expected = StoredPBTree(nodes, order), Ranges()
    ranges = [(low, low + draw.randrange(30), entry) for entry in range(150) for low in [draw.randrange(60)]]
    for low, high, entry in ranges:
        tree.insert_range(low, high, entry)
        expected.insert(">=", low, "<=", high, entry)
    draw.shuffle(ranges)
    for low, high, entry in ranges:
        tree.delete_range(low, high, entry)
        expected.delete(">=", low, "<=", high, entry)
        tree.check()
        value = draw.randrange(90)
        assert set(tree.search(value)) == expected.search(value)


def test_keys_are_read_in_order_with_their_sets(nodes):
    tree = StoredPBTree(nodes, 3)
    draw = random.Random(3)
    expected = {}
    for entry in range(300):
        operator, value = draw.choice(OPERATORS), draw.choice(MIXED)
        tree.insert(operator, value, entry)
        entries = expected.setdefault(ordered_bytes(value), set())
        if "=" in operator and operator != "!=":
            entries.add(entry)
    found = [(ordered_bytes(value), set(entries)) for value, entries in tree.range()]
    assert found == sorted(expected.items())
    for low, high in ((2, 7), (1.1, 1.1), (None, 3), (3, None), ("a", "b"), (5, "a"), (7, 2), (2.25, 2.25)):
        start = b"" if low is None else ordered_bytes(low)
        end = b"\xff" if high is None else ordered_bytes(high)
        some = [(ordered_bytes(value), set(entries)) for value, entries in tree.range(low, high)]
        assert some == [item for item in sorted(expected.items()) if start <= item[0] <= end]
