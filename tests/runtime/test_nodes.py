"""Stores of nodes: in memory and in LMDB they do the same."""

import subprocess
import sys

import lmdb
import pytest

from profilec.runtime.store.nodes import LmdbNodes, MemoryNodes


@pytest.fixture
def environment(tmp_path):
    environment = lmdb.open(str(tmp_path), max_dbs=3, map_size=1 << 24)
    yield environment
    environment.close()


@pytest.fixture(params=["memory", "lmdb", "lmdb with buffers"])
def nodes(request, environment):
    if request.param == "memory":
        yield MemoryNodes()
        return
    with environment.begin(write=True, buffers="buffers" in request.param) as transaction:
        yield LmdbNodes(transaction, environment.open_db(b"nodes", txn=transaction))


def test_a_new_store_has_no_root_and_no_nodes(nodes):
    assert nodes.root == 0
    assert list(nodes.numbers()) == []


def test_what_was_put_is_there_and_counted(nodes):
    first, second = nodes.new(), nodes.new()
    nodes.put(first, b"a")
    nodes.put(second, b"")
    nodes.put(first, b"b\0")
    assert (nodes.get(first), nodes.get(second)) == (b"b\0", b"")
    assert type(nodes.get(first)) is bytes
    assert (nodes.reads, nodes.writes) == (3, 3)


def test_numbers_are_given_once(nodes):
    numbers = [nodes.new() for _ in range(300)]
    for number in numbers:
        nodes.put(number, b"x")
    nodes.delete(numbers[-1])
    assert nodes.new() == numbers[-1] + 1
    assert list(nodes.numbers()) == numbers[:-1]


def test_the_root_is_kept_beside_the_numbers(nodes):
    number = nodes.new()
    nodes.root = number
    assert nodes.new() == number + 1
    assert nodes.root == number


@pytest.mark.parametrize("number", [0, 7, -1])
def test_absent_nodes(nodes, number):
    nodes.root = nodes.new()
    with pytest.raises(KeyError):
        nodes.get(number)
    with pytest.raises(KeyError):
        nodes.delete(number)
    with pytest.raises(ValueError, match="no number that `new` gave"):
        nodes.put(number, b"x")
    assert nodes.root == 1


def test_other_databases_and_transactions(environment):
    with environment.begin(write=True) as transaction:
        databases = [environment.open_db(name, txn=transaction) for name in (b"a", b"b")]
        for database in databases:
            nodes = LmdbNodes(transaction, database)
            nodes.root = nodes.new()
            nodes.put(nodes.root, bytes([database is databases[1]]))
    with environment.begin() as transaction:
        for place, database in enumerate(databases):
            nodes = LmdbNodes(transaction, database)
            assert nodes.get(nodes.root) == bytes([place])
        with pytest.raises(lmdb.ReadonlyError):
            nodes.new()


def test_an_aborted_transaction_leaves_no_number_behind(environment):
    with environment.begin(write=True) as transaction:
        database = environment.open_db(b"nodes", txn=transaction)
        LmdbNodes(transaction, database).new()
    transaction = environment.begin(write=True)
    nodes = LmdbNodes(transaction, database)
    nodes.put(nodes.new(), b"x")
    nodes.root = 2
    transaction.abort()
    with environment.begin(write=True) as transaction:
        nodes = LmdbNodes(transaction, database)
        assert (nodes.root, list(nodes.numbers()), nodes.new()) == (0, [], 2)


def test_lmdb_is_loaded_only_by_who_opens_it():
    program = (
        "import sys, profilec; from profilec.runtime.store.nodes import LmdbNodes;"
        "profiles = profilec.compile({'a': 'b = 1'}); assert profiles.match({'b': 1}) == ['a'];"
        "from profilec.runtime.indexes.stored_pbtree import StoredPBTree;"
        "assert 'lmdb' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
