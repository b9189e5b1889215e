"""The matches of a batch, as lists and as Arrow."""

import numpy as np
import pyarrow as pa
import pytest

from profilec.runtime.batch import MatchBatch


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


def test_to_arrow(batch):
    table = batch.to_arrow()
    assert table.schema == pa.schema([("profiles", pa.list_(pa.string()))])
    assert table.column("profiles").to_pylist() == list(batch)


def test_empty():
    empty = MatchBatch(np.zeros(1, np.int64), np.zeros(0, np.int32), ())
    assert (len(empty), list(empty), empty.to_arrow().num_rows) == (0, [], 0)
    none = MatchBatch(np.zeros(3, np.int64), np.zeros(0, np.int32), ())
    assert none.to_arrow().column("profiles").to_pylist() == [[], []]
