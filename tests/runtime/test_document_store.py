"""The document store: what is in it is what was added, whatever the caller does afterwards."""

import datetime
import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import profilec
from profilec.runtime.store.documents import DocumentStore
from profilec.values.compare import order
from profilec.values.kinds import Date, DocumentError, Timestamp, from_document


def test_later_changes_of_the_caller_are_not_seen():
    document = {"a": {"b": [1]}, "t": [{"x": 1}]}
    store = DocumentStore()
    store.add(document)
    document["a"]["b"].append(2)
    document["t"][0]["x"] = 9
    document["new"] = 1
    assert list(store) == [{"a": {"b": [1]}, "t": [{"x": 1}]}]


def test_values_become_ours():
    store = DocumentStore([{"d": datetime.date(1970, 1, 2), "f": float("nan"), "t": (1, 2), "n": np.array([1, 2])}])
    assert store[0] == {"d": Date(1), "f": None, "t": [1, 2], "n": [1, 2]}


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([1], "mapping of attribute to value, not list"),
        ({"a": b"x"}, "attribute 'a': bytes is no number"),
        ({"a": [{"b": object()}]}, "attribute 'a'.*object"),
        ({1: "x"}, "attribute 1: the name of an attribute is a string, not int"),
        ({"a": {2: 1}}, "attribute 'a': the name"),
    ],
)
def test_a_refused_document_leaves_the_store_as_it_was(bad, message):
    store = DocumentStore([{"x": 1}])
    with pytest.raises(DocumentError, match=message):
        store.add(bad)
    with pytest.raises(DocumentError, match="document 1: .*" + message):
        store.extend([{"x": 2}, bad, {"x": 3}])
    assert list(store) == [{"x": 1}]


def test_a_document_nested_beyond_all_measure_is_refused():
    value = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(DocumentError, match="nested too deeply"):
        DocumentStore([{"a": value}])


def test_delete():
    store = DocumentStore([{"x": number} for number in range(6)])
    store.delete([0, -1, 2, 2])
    assert [document["x"] for document in store] == [1, 3, 4]
    with pytest.raises(IndexError, match="no document at position 3: the store has 3"):
        store.delete([0, 3])
    assert len(store) == 3
    store.delete(np.array([1]))
    assert store[1] == {"x": 4}
    assert store[-2:] == [{"x": 1}, {"x": 4}]


def test_a_snapshot_does_not_see_what_comes_after():
    store = DocumentStore([{"x": 1}, {"x": 2}])
    before = store.snapshot()
    reader = iter(store)
    store.add({"x": 3})
    store.delete([0])
    assert [document["x"] for document in before] == [document["x"] for document in reader] == [1, 2]
    assert (before[-1], before[0:1]) == ({"x": 2}, [{"x": 1}])
    with pytest.raises(IndexError):
        before[2]


def test_a_store_can_be_pickled():
    store = DocumentStore([{"d": datetime.date(2024, 1, 1)}, {"x": [1]}])
    again = pickle.loads(pickle.dumps(store))
    again.add({"y": 1})
    assert list(again)[:2] == list(store)


def test_adding_and_deleting_at_the_same_time_loses_nothing():
    store = DocumentStore()
    with ThreadPoolExecutor(4) as pool:
        added = [pool.submit(store.extend, [{"x": n}, {"x": -1}]) for n in range(300)]
        for _ in range(300):
            pool.submit(lambda: store.delete([0]) if len(store) > 2 else None).result()
        for job in added:
            job.result()
        n_deleted = 600 - len(store)
    assert 0 <= n_deleted <= 300


def test_tables_are_documents_row_by_row():
    store = DocumentStore()
    store.extend(pa.table({"a": [1, None], "s": [{"x": "y"}, None], "t": pa.array([5, None], pa.timestamp("s"))}))
    store.extend(pd.DataFrame({"a": [0.5], "b": ["x"]}))
    assert list(store) == [
        {"a": 1, "s": {"x": "y"}, "t": Timestamp(5 * 10**9)},
        {"a": None, "s": None, "t": None},
        {"a": 0.5, "b": "x"},
    ]
    with pytest.raises(DocumentError, match="column 'blob' has the type binary"):
        store.extend(pa.table({"blob": [b"x"]}))
    assert len(store) == 3


NUMBERS = st.one_of(
    st.integers(-(2**64), 2**64),
    st.floats(allow_nan=False, allow_infinity=False),
    st.decimals(-(10**6), 10**6, places=3),
    st.sampled_from([2**53 + 1, 0.1, Decimal("0.1"), None]),
)
COLUMNS = st.one_of(
    st.lists(NUMBERS, max_size=4),
    st.lists(st.none() | st.text(alphabet="aé😀", max_size=3), max_size=4),
    st.lists(st.none() | st.booleans(), max_size=4),
    st.lists(st.none() | st.dates(), max_size=4),
    st.lists(st.none() | st.integers(-(2**63), 2**63 - 1).map(Timestamp), max_size=4),
    st.lists(st.none() | st.lists(st.none() | st.integers(0, 3), max_size=2), max_size=4),
    st.lists(st.none() | st.fixed_dictionaries({"x": st.integers(0, 3), "y": st.lists(st.text("a"))}), max_size=4),
)


def same(left, right):
    left, right = from_document(left), from_document(right)
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return left is right is None or order(left, right) == 0


@given(st.dictionaries(st.sampled_from("abc"), COLUMNS, min_size=1))
def test_to_arrow_and_back_is_the_same(columns):
    length = max(map(len, columns.values()))
    documents = [{name: (values + [None] * length)[row] for name, values in columns.items()} for row in range(length)]
    store = DocumentStore(documents)
    try:
        table = store.to_arrow()
    except ValueError as error:
        assert "no one Arrow type is exact" in str(error)  # noqa: PT017
        return
    again = DocumentStore()
    again.extend(table)
    assert len(again) == length
    assert all(map(same, again, store))


def test_to_arrow_gives_exact_types():
    store = DocumentStore([{"a": 1, "b": 2**53 + 1, "c": 0.5}, {"b": Decimal("0.25"), "d": datetime.date(2024, 1, 1)}])
    schema = store.to_arrow().schema
    assert [schema.field(name).type for name in "acd"] == [pa.int64(), pa.float64(), pa.date32()]
    assert pa.types.is_decimal256(schema.field("b").type)
    assert DocumentStore().to_arrow().num_rows == 0


def test_mixed_kinds_have_no_column():
    with pytest.raises(ValueError, match="attribute 'a' holds numbers and strings; an Arrow column has one type"):
        DocumentStore([{"a": 1}, {"a": "x"}]).to_arrow()
    with pytest.raises(ValueError, match="lone surrogate"):
        DocumentStore([{"a": "\ud800"}]).to_arrow()


VALUES = st.one_of(
    NUMBERS,
    st.floats(),
    st.booleans(),
    st.dates(),
    st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2200, 1, 1)),
    st.text(max_size=3),
    st.lists(st.none() | st.integers(0, 3) | st.text("ab", max_size=2), max_size=3),
    st.fixed_dictionaries({"x": st.integers(0, 3)}, optional={"y": st.none() | st.booleans()}),
)
DOCUMENTS = st.dictionaries(st.sampled_from(["a", "b", "a.b", "c"]), VALUES, max_size=3)
ROWS = st.lists(
    st.fixed_dictionaries(
        {"x": st.none() | st.integers(-(2**63), 2**63 - 1), "s": st.none() | st.text("ab", max_size=2)},
        optional={"day": st.dates(), "f": st.floats(allow_infinity=False)},
    ),
    max_size=4,
)
COLUMN_TYPES = {"x": pa.int64(), "s": pa.string(), "day": pa.date32(), "f": pa.float64()}


def held(document):
    """A document without the attributes that it lacks: a table's row has them, as NULL."""
    return {name: value for name, value in document.items() if from_document(value) is not None}


def all_same(documents, expected):
    return len(documents) == len(expected) and all(
        same(held(left), held(right)) for left, right in zip(documents, expected, strict=True)
    )


class StoreAndList(RuleBasedStateMachine):
    """The store does what a plain list does; what was read from it earlier stays as it was."""

    def __init__(self):
        super().__init__()
        self.store = DocumentStore()
        self.model = []
        self.read = []

    @rule(document=DOCUMENTS)
    def add(self, document):
        self.store.add(document)
        self.model = [*self.model, document]

    @rule(documents=st.lists(DOCUMENTS, max_size=5), lazily=st.booleans())
    def extend(self, documents, lazily):
        self.store.extend(iter(documents) if lazily else documents)
        self.model = self.model + documents

    @rule(rows=ROWS, make=st.sampled_from(["table", "batch", "frame"]))
    def extend_with_columns(self, rows, make):
        columns = {name: [row.get(name) for row in rows] for name in COLUMN_TYPES}
        if make == "frame":
            dtypes = {"x": "Int64", "s": "string", "day": "object", "f": "float64"}
            given = pd.DataFrame({name: pd.Series(columns[name], dtype=dtypes[name]) for name in columns})
        else:
            arrays = {name: pa.array(columns[name], type_) for name, type_ in COLUMN_TYPES.items()}
            given = pa.table(arrays) if make == "table" else pa.RecordBatch.from_pydict(arrays)
        self.store.extend(given)
        self.model = self.model + rows

    @rule(data=st.data())
    def delete(self, data):
        n = len(self.model)
        positions = data.draw(st.lists(st.integers(-n, n - 1), max_size=4) if n else st.just([]))
        self.store.delete(np.array(positions, np.int64) if data.draw(st.booleans()) else positions)
        gone = {position % n for position in positions}
        self.model = [document for place, document in enumerate(self.model) if place not in gone]

    @rule(first=st.booleans())
    def delete_what_is_not_there(self, first):
        with pytest.raises(IndexError, match="no document at position"):
            self.store.delete([-len(self.model) - 1] if first else [len(self.model)])

    @rule()
    def add_what_is_refused(self):
        with pytest.raises(DocumentError):
            self.store.extend([{"a": 1}, {"a": object()}])

    @rule(n_read=st.integers(0, 2))
    def begin_to_read(self, n_read):
        reader = iter(self.store)
        begun = [document for _, document in zip(range(n_read), reader, strict=False)]
        self.read.append(((begun, reader), self.model))
        self.read.append((self.store.snapshot(), self.model))

    @rule()
    def end_reading(self):
        for reading, expected in self.read:
            if isinstance(reading, tuple):
                begun, reader = reading
                assert all_same([*begun, *reader], expected)
            else:
                assert all_same(reading, expected)
        self.read = []

    def teardown(self):
        self.end_reading()

    @rule()
    def pickle(self):
        self.store = pickle.loads(pickle.dumps(self.store))

    @rule()
    def to_arrow_and_back(self):
        try:
            table = self.store.to_arrow()
        except ValueError as error:
            assert "attribute" in str(error)  # noqa: PT017
            return
        again = DocumentStore()
        again.extend(table)
        assert all_same(list(again), self.model)

    @invariant()
    def they_agree(self):
        assert len(self.store) == len(self.model)
        assert all_same(list(self.store), self.model)
        assert all_same(self.store[1:-1], self.model[1:-1])
        assert all_same([self.store[place] for place in range(-len(self.model), 0)], self.model)


TestStoreAndList = StoreAndList.TestCase
TestStoreAndList.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)


def test_documents_without_attributes_are_rows_too():
    assert DocumentStore([{}, {}]).to_arrow().num_rows == 2


def test_what_it_gives_is_a_copy() -> None:
    profiles = profilec.compile({"p": "EXISTS d (d.x = x)"})
    profiles.documents.add({"x": 1, "tags": [1]})
    assert profiles.match({"x": 1}) == ["p"]
    profiles.documents[0]["x"] = 2
    profiles.documents[-1:][0]["tags"].append(2)
    next(iter(profiles.documents)).clear()
    assert list(profiles.documents) == [{"x": 1, "tags": [1]}]
    assert profiles.match({"x": 1}) == ["p"]
    assert profiles.why({"x": 1}, "p").truth is True


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda store: store.delete([1.7]), "a position is a whole number, not 1.7"),
        (lambda store: store[Decimal("1.5")], "a position is a whole number, not Decimal"),
        (lambda store: store["x"], "a position is a whole number, not 'x'"),
        (lambda store: store.delete(["0"]), "a position is a whole number, not '0'"),
        (lambda store: store.delete(0), r"as in delete\(\[0\]\), not 0"),
        (lambda store: store.extend(None), "an iterable of mappings.*, not NoneType"),
        (lambda store: store.extend({"x": 1}), "a mapping is one"),
    ],
)
def test_what_makes_no_sense_is_refused(use: Any, message: str) -> None:
    store = DocumentStore([{"x": 1}, {"x": 2}])
    with pytest.raises(TypeError, match=message):
        use(store)
    assert len(store) == 2
    assert repr(store) == "<DocumentStore of 2 documents>"


@pytest.mark.parametrize(
    "text", ["d.s >= lo AND d.s < hi", "d.s < lo", "d.s > hi AND d.s != s", "d.k = k AND d.s > hi"]
)
def test_texts_that_begin_alike(text: str) -> None:
    """Order keys are the first bytes: what they cannot tell apart takes no longer than a comparison each."""
    rng = random.Random(3)
    documents = [{"s": f"order-2024-{rng.randrange(300):07d}", "k": rng.randrange(3)} for _ in range(500)]
    profiles = profilec.compile({"p": f"EXISTS d ({text})"}, options={"matcher": "scan"})
    profiles.documents.extend(documents)
    for step in range(60):
        low = rng.randrange(-5, 305)
        new = {"lo": f"order-2024-{low:07d}", "hi": f"order-2024-{low + 1:07d}", "s": "x", "k": 1}
        assert (profiles.match(new) == ["p"]) == profiles.why(new, "p").truth
        if step % 3 == 0:
            profiles.documents.delete([rng.randrange(len(profiles.documents)) for _ in range(9)])
        profiles.documents.add({"s": new["lo"], "k": 2})
