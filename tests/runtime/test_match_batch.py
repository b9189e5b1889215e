"""The matches of a batch, as lists and as Arrow."""

import re

import numpy as np
import pyarrow as pa
import pytest

from profilec import compile
from profilec.runtime.batch import MatchBatch

SET = compile({"p": "a = 1"})


@pytest.fixture
def batch():
    return MatchBatch(np.array([0, 2, 2, 3], np.int64), np.array([0, 2, 1], np.int32), ("a", "b", "c"))


def test_it_is_a_sequence_of_lists(batch):
    assert len(batch) == 3
    assert [batch[number] for number in range(3)] == list(batch) == [["a", "c"], [], ["b"]]
    assert batch[-1] == ["b"]
    for number in (3, -4):
        with pytest.raises(IndexError, match="in a batch of 3"):
            batch[number]


@pytest.mark.parametrize("key", [slice(0, 2), slice(None), slice(None, None, -1), slice(5, 9), slice(-1, None)])
def test_a_slice_is_a_list_of_lists(batch, key):
    assert batch[key] == list(batch)[key]


def test_numbers_of_numpy_are_numbers(batch):
    assert batch[np.int64(2)] == batch[np.uint8(2)] == ["b"]


@pytest.mark.parametrize("key", ["x", 1.0, None, [None], (0, 1), np.array([0, 1])])
def test_other_keys_are_refused(batch, key):
    with pytest.raises(TypeError, match=r"^a batch takes the number of a document or a slice, not "):
        batch[key]


@pytest.mark.parametrize(
    ("documents", "said"),
    [
        (None, "not NoneType"),
        (5, "not int"),
        (b"x", "not bytes"),
        ("{}", "not str"),
        ({"a": 1}, "not dict; a mapping is one document, as `match` takes it"),
        (pa.table({"a": [1]}).to_reader(), "not RecordBatchReader; its read_all() is a Table"),
        (pa.array([1]), "not Int64Array"),
    ],
    ids=["None", "int", "bytes", "str", "mapping", "reader", "array"],
)
def test_what_documents_may_be(documents, said):
    message = "documents are a list of mappings, a pyarrow Table or RecordBatch, or a pandas DataFrame, "
    with pytest.raises(TypeError) as refused:
        SET.match_batch(documents)
    assert str(refused.value) == message + said
    if documents is not None:
        with pytest.raises(TypeError, match=re.escape(message + said)):
            compile({"p": "a = 1"}, statistics=documents)


@pytest.mark.parametrize("threads", [0, -1, "x", 1.5, 2.0, float("nan"), True, [2]])
def test_what_threads_may_be(threads):
    message = "^threads takes None, for one, or a whole number from 1, not "
    with pytest.raises(ValueError if threads in (0, -1) else TypeError, match=message):
        SET.match_batch([{"a": 1}], threads=threads)


@pytest.mark.parametrize("threads", [None, 1, 3, np.int64(2), np.uint8(1)])
def test_any_number_of_threads(threads):
    assert list(SET.match_batch(iter([{"a": 1}, {}]), threads=threads)) == [["p"], []]


def test_to_arrow(batch):
    table = batch.to_arrow()
    assert table.schema == pa.schema([("profiles", pa.list_(pa.string()))])
    assert table.column("profiles").to_pylist() == list(batch)


def test_empty():
    empty = MatchBatch(np.zeros(1, np.int64), np.zeros(0, np.int32), ())
    assert (len(empty), list(empty), empty.to_arrow().num_rows) == (0, [], 0)
    none = MatchBatch(np.zeros(3, np.int64), np.zeros(0, np.int32), ())
    assert none.to_arrow().column("profiles").to_pylist() == [[], []]
