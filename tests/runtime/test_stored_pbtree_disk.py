"""The PB+-tree on secondary storage is found again, survives aborts and crashes, and refuses what is damaged."""

import random
import subprocess
import sys

import lmdb
import pytest

from profilec.runtime.indexes.stored_pbtree import DamagedNodeError, StoredPBTree
from profilec.runtime.indexes.stored_pbtree.operation import Operation
from profilec.runtime.store.nodes import LmdbNodes, MemoryNodes

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
MIXED = [*range(20), *(number / 8 for number in range(20)), *"abcdef", True, False]


@pytest.fixture
def environment(tmp_path):
    environment = lmdb.open(str(tmp_path), max_dbs=1, map_size=1 << 28, sync=False)
    yield environment
    environment.close()


def stored(nodes):
    return {number: nodes.get(number) for number in nodes.numbers()}


def fill(tree, seed, n=300):
    draw = random.Random(seed)
    for entry in range(n):
        tree.insert(draw.choice(OPERATORS), draw.choice(MIXED), entry)
        low = draw.randrange(20)
        tree.insert_range(low, low + draw.randrange(20), entry)


def test_a_tree_is_found_again(environment):
    expected = StoredPBTree(MemoryNodes(), 4)
    fill(expected, 1)
    fill(expected, 2)
    for seed in (1, 2):
        with environment.begin(write=True) as transaction:
            database = environment.open_db(b"tree", txn=transaction)
            fill(StoredPBTree(LmdbNodes(transaction, database), 4), seed)
    path = environment.path()
    environment.close()
    with lmdb.open(path, max_dbs=1, readonly=True) as again, again.begin(db=None) as transaction:
        tree = StoredPBTree(LmdbNodes(transaction, again.open_db(b"tree", txn=transaction, create=False)))
        assert tree.order == 4
        assert tree.check() == expected.check()
        assert all(tree.search(value) == expected.search(value) for value in MIXED)


def test_an_aborted_transaction_leaves_the_tree_as_before(environment):
    with environment.begin(write=True) as transaction:
        database = environment.open_db(b"tree", txn=transaction)
        nodes = LmdbNodes(transaction, database)
        fill(StoredPBTree(nodes, 3), 1)
        before = stored(nodes)
    transaction = environment.begin(write=True)
    nodes = LmdbNodes(transaction, database)
    fill(StoredPBTree(nodes), 2)
    assert stored(nodes) != before
    # Whoever reads meanwhile sees what was committed.
    with environment.begin() as other:
        assert stored(LmdbNodes(other, database)) == before
    transaction.abort()
    with environment.begin(write=True) as transaction:
        nodes = LmdbNodes(transaction, database)
        assert stored(nodes) == before
        StoredPBTree(nodes).check()


def test_a_process_that_dies_leaves_the_tree_as_before(environment):
    with environment.begin(write=True) as transaction:
        database = environment.open_db(b"tree", txn=transaction)
        fill(StoredPBTree(LmdbNodes(transaction, database), 3), 1)
    path = environment.path()
    environment.close()
    program = (
        "import os, sys, lmdb; from profilec.runtime.store.nodes import LmdbNodes\n"
        "from profilec.runtime.indexes.stored_pbtree import StoredPBTree\n"
        "environment = lmdb.open(sys.argv[1], max_dbs=1, map_size=1 << 28)\n"
        "transaction = environment.begin(write=True)\n"
        "tree = StoredPBTree(LmdbNodes(transaction, environment.open_db(b'tree', txn=transaction)))\n"
        "for entry in range(500): tree.insert('!=', entry, entry)\n"
        "os._exit(7)\n"
    )
    assert subprocess.run([sys.executable, "-c", program, path], check=False).returncode == 7
    with lmdb.open(path, max_dbs=1) as again, again.begin(write=True) as transaction:
        nodes = LmdbNodes(transaction, again.open_db(b"tree", txn=transaction))
        expected = StoredPBTree(MemoryNodes(), 3)
        fill(expected, 1)
        assert StoredPBTree(nodes).check() == expected.check()


def test_a_full_disk_is_an_abort_like_any_other(tmp_path):
    with lmdb.open(str(tmp_path), max_dbs=1, map_size=1 << 17, sync=False) as environment:
        with environment.begin(write=True) as transaction:
            database = environment.open_db(b"tree", txn=transaction)
            nodes = LmdbNodes(transaction, database)
            fill(StoredPBTree(nodes, 4), 1, 50)
            before = stored(nodes)
        with pytest.raises(lmdb.MapFullError), environment.begin(write=True) as transaction:
            fill(StoredPBTree(LmdbNodes(transaction, database)), 2, 10_000)
        with environment.begin() as transaction:
            nodes = LmdbNodes(transaction, database)
            assert stored(nodes) == before
            StoredPBTree(nodes).check()


DAMAGES = {
    "a bit": lambda data, other: bytes([*data[:-1], data[-1] ^ 4]),
    "the sort": lambda data, other: bytes([*data[:4], data[4] ^ 1, *data[5:]]),
    "cut": lambda data, other: data[:-1],
    "cut short": lambda data, other: data[:3],
    "none": lambda data, other: b"",
    "longer": lambda data, other: data + b"\0",
    "another": lambda data, other: other,
    "zeros": lambda data, other: bytes(len(data)),
    "missing": None,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_node_is_an_error_that_names_it_and_never_a_wrong_answer(damage):
    nodes = MemoryNodes()
    tree = StoredPBTree(nodes, 4)
    fill(tree, 1, 60)
    for entry in range(200):
        tree.insert("=", 5, entry)
    expected = {value: tree.search(value) for value in range(12)}
    data = stored(nodes)
    for number, other in zip(data, [*list(data)[1:], next(iter(data))], strict=True):
        if DAMAGES[damage] is None:
            nodes.delete(number)
        else:
            nodes.put(number, DAMAGES[damage](data[number], data[other]))
        with pytest.raises(DamagedNodeError, match=f"node {number} of") as caught:
            tree.check()
        assert caught.value.number == number
        n_refused = 0
        for value, entries in expected.items():
            found = found_or_error(tree, value)
            if isinstance(found, DamagedNodeError):
                assert found.number == number
                n_refused += 1
            else:
                assert found == entries
        assert n_refused or number != nodes.root
        nodes.put(number, data[number])
    tree.check()


def found_or_error(tree, value):
    try:
        return tree.search(value)
    except DamagedNodeError as error:
        return error


def test_a_failed_change_writes_nothing():
    nodes = MemoryNodes()
    tree = StoredPBTree(nodes, 3)
    fill(tree, 1, 100)
    tree.insert_range(1, 9, 999)
    data = stored(nodes)
    refused = 0
    for number in data:
        nodes.put(number, b"damaged")
        before = stored(nodes)
        for change in (lambda: tree.insert("<=", 4.5, 1), lambda: tree.delete_range(1, 9, 999)):
            try:
                change()
            except DamagedNodeError:
                refused += 1
                assert stored(nodes) == before
            else:
                restore(nodes, {**data, number: b"damaged"})
        nodes.put(number, data[number])
    assert refused


def restore(nodes, data):
    for number in list(nodes.numbers()):
        if number not in data:
            nodes.delete(number)
    for number, node in data.items():
        nodes.put(number, node)


def test_check_finds_what_checksums_do_not():
    """Nodes that are whole, and say what is not so."""
    for damage in (damage_pointer, damage_order, damage_count, damage_orphan):
        nodes = MemoryNodes()
        tree = StoredPBTree(nodes, 4)
        fill(tree, 1)
        tree.check()
        damage(nodes)
        with pytest.raises(DamagedNodeError):
            tree.check()


def damage_pointer(nodes):
    operation = Operation(nodes)
    leaf = next(operation.tree.leaves())
    leaf.values[0] = leaf.values[0][:8] + leaf.values[0][:8] + leaf.values[0][16:]
    operation.pages.change(leaf)
    operation.pages.flush()


def damage_order(nodes):
    operation = Operation(nodes)
    leaf = next(operation.tree.leaves())
    leaf.keys.reverse()
    operation.pages.change(leaf)
    operation.pages.flush()


def damage_count(nodes):
    operation = Operation(nodes)
    operation.header.n_predicates += 1
    operation.pages.change(operation.header)
    operation.pages.flush()


def damage_orphan(nodes):
    nodes.put(nodes.new(), nodes.get(nodes.root))
