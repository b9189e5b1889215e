"""Retention: the store keeps what its bounds say, and what it refuses leaves it as it was."""

import datetime
import pickle

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import profilec
from profilec.runtime.store import documents as documents_module
from profilec.runtime.store.documents import DocumentStore
from profilec.runtime.store.retention import Ages
from profilec.values.kinds import Date, DocumentError, Timestamp

SECOND = 10**9


def at(*seconds):
    return [{"at": Timestamp(second * SECOND)} for second in seconds]


def seconds_of(store):
    return [document["at"].nanos // SECOND for document in store]


def test_the_newest_documents_are_kept_from_now_on():
    store = DocumentStore({"n": n} for n in range(5))
    store.retain(max_documents=3)
    assert [document["n"] for document in store] == [2, 3, 4]
    store.add({"n": 5})
    assert [document["n"] for document in store] == [3, 4, 5]
    store.extend([{"n": n} for n in range(6, 20)])
    assert [document["n"] for document in store] == [17, 18, 19]
    store.retain()
    store.extend([{"n": 20}, {"n": 21}])
    assert len(store) == 5


def test_documents_are_kept_for_an_age_in_whatever_order_they_came():
    store = DocumentStore(at(30, 0, 45, 10))
    store.retain(max_age="30 seconds", age_of="at")
    assert seconds_of(store) == [30, 45]
    store.extend(at(60, 50, 61))
    assert seconds_of(store) == [45, 60, 50, 61]
    store.add(*at(80))
    assert seconds_of(store) == [60, 50, 61, 80]
    store.retain(2, "30 seconds", "at")
    assert seconds_of(store) == [61, 80]


def test_the_age_counts_from_the_greatest_time_seen():
    store = DocumentStore(at(0, 100))
    store.retain(max_age="50 seconds", age_of="at")
    store.delete([0])
    assert len(store) == 0
    store.extend(at(50, 51))
    with pytest.raises(DocumentError, match="1970-01-01 00:00:49 is more than 50 seconds before 1970-01-01 00:01:40"):
        store.add(*at(49))
    assert seconds_of(store) == [50, 51]


def test_dates_months_and_paths():
    store = DocumentStore()
    store.retain(max_age="1 month", age_of="sale.at")
    store.extend([{"sale": {"at": datetime.date(2024, 1, 31)}}, {"sale.at": datetime.date(2024, 2, 29)}])
    store.add({"sale": {"at": datetime.datetime(2024, 2, 29, 12)}})
    assert len(store) == 3  # 2024-02-29 12:00 minus a month is 2024-01-29 12:00, and the first is later
    store.add({"sale": {"at": datetime.date(2024, 3, 30)}})
    assert len(store) == 3  # the day itself, cut to the month's end, is not older


def test_before_the_calendar_there_is_no_limit():
    store = DocumentStore()
    store.retain(max_age="10 years", age_of="at")
    store.extend([{"at": datetime.date(1, 1, 2)}, {"at": datetime.date(1, 1, 1)}])
    assert len(store) == 2


BAD = [
    ({"x": 1}, "attribute 'at' is missing"),
    ({"at": None}, "attribute 'at' is missing"),
    ({"at": "2024-01-01"}, "attribute 'at' is a string, not a date or timestamp; SCHEMA can declare it"),
    ({"at": 5}, "attribute 'at' is a number"),
    ({"at": [Date(1)]}, "attribute 'at' is an array or record"),
    ({"at": Timestamp(0)}, "is more than 10 seconds before 1970-01-01 00:00:20, the latest seen, and too old"),
    ({"at": b"x"}, "attribute 'at': bytes"),
]


@pytest.mark.parametrize(("bad", "message"), BAD)
def test_a_refused_document_leaves_the_store_as_it_was(bad, message):
    store = DocumentStore(at(11, 20))
    store.retain(3, "10 seconds", "at")
    with store.reading() as read:
        read.sorted_index((("attribute", 1, ("at",), None),))
    with pytest.raises(DocumentError, match=message):
        store.add(bad)
    with pytest.raises(DocumentError, match=f"^document 2: .*{message}"):
        store.extend([*at(19, 20), bad, *at(22)])
    assert seconds_of(store) == [11, 20]
    store.extend(at(10, 21))
    assert seconds_of(store) == [11, 20, 21]


def test_a_batch_is_judged_as_if_its_documents_came_one_by_one():
    store = DocumentStore()
    store.retain(max_age="10 seconds", age_of="at")
    with pytest.raises(DocumentError, match=r"^document 2: .*00:00:09 is more than 10 seconds before .*00:00:20"):
        store.extend(at(0, 20, 9))
    store.extend(at(0, 20, 10))
    assert seconds_of(store) == [20, 10]


def test_documents_without_a_time_must_go_before_ages_count():
    store = DocumentStore([*at(1), {"x": 1}])
    store.retain(max_documents=2)
    with pytest.raises(DocumentError, match=r"^the document at position 1: attribute 'at' is missing"):
        store.retain(1, max_age="1 day", age_of="at")
    assert len(store) == 2
    store.extend([{"x": 2}, {"x": 3}])  # the bounds before still hold
    assert list(store) == [{"x": 2}, {"x": 3}]


def test_tables_are_judged_by_their_column():
    store = DocumentStore()
    store.retain(max_age="10 seconds", age_of="at")
    store.extend(pa.table({"at": pa.array([0, 5, 12], pa.timestamp("s")), "x": [1, 2, 3]}))
    assert [document["x"] for document in store] == [2, 3]
    with pytest.raises(DocumentError, match=r"^document 1: attribute 'at' is missing"):
        store.extend(pa.table({"at": pa.array([13, None], pa.timestamp("s"))}))
    store.extend(pa.table({"at": pa.array([13, 22], pa.timestamp("s")), "tags": [["a"], ["b"]]}))
    assert seconds_of(store) == [12, 13, 22]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"max_documents": 0}, ValueError, "max_documents takes 1 or more, not 0"),
        ({"max_documents": True}, TypeError, "max_documents takes a number of documents, not bool"),
        ({"max_documents": "5"}, TypeError, "max_documents takes a number of documents, not str"),
        ({"max_age": "7 days"}, ValueError, "max_age needs age_of"),
        ({"age_of": "at"}, ValueError, "max_age is missing"),
        ({"max_age": 7, "age_of": "at"}, TypeError, "max_age takes the text of an interval, as '7 days', not int"),
        ({"max_age": "7 dais", "age_of": "at"}, ValueError, "max_age: '7 dais': 'dais' is no unit of time"),
        ({"max_age": "1 month -1 day", "age_of": "at"}, ValueError, "no part of an age is negative"),
        ({"max_age": "7 days", "age_of": "sale..at"}, ValueError, "age_of takes the name of an attribute"),
        ({"max_age": "7 days", "age_of": ["at"]}, TypeError, "age_of takes the name of an attribute.*not list"),
        ({"max_age": "7 days", "age_of": "nothing"}, ValueError, "SCHEMA has no attribute nothing"),
        ({"max_age": "7 days", "age_of": "n"}, ValueError, "SCHEMA says that n is NUMBER"),
    ],
)
def test_bounds_that_make_no_sense(arguments, error, message):
    documents = profilec.compile("SCHEMA (at TIMESTAMP, n NUMBER); PROFILE a WHERE TRUE;").documents
    documents.retain(max_documents=1)
    with pytest.raises(error, match=message):
        documents.retain(**arguments)
    documents.extend([{"n": 1}, {"n": 2}])
    assert list(documents) == [{"n": 2}]


def test_a_set_reads_times_as_its_schema_does_and_keeps_its_bounds_when_pickled():
    profiles = profilec.compile("SCHEMA (at TIMESTAMP, x STRING); PROFILE again WHERE EXISTS d (d.x = x);")
    profiles.documents.retain(max_age="1 day", age_of="at")
    stream = [
        ("a", "2024-01-01T00:00"),
        ("a", "2024-01-02T00:00"),
        ("b", "2024-01-02T00:00:01"),
        ("b", "2024-01-01T12:00"),
    ]
    found = [profiles.process({"x": x, "at": time}) for x, time in stream]
    assert found == [[], ["again"], [], ["again"]]
    profiles.documents.delete([0, 1])
    for living in (profiles, pickle.loads(pickle.dumps(profiles))):
        with pytest.raises(DocumentError, match="attribute 'at' is TIMESTAMP in SCHEMA, and is 'noon', a string"):
            living.process({"x": "b", "at": "noon"})
        with pytest.raises(DocumentError, match="2024-01-01 00:00:00 is more than 1 day before 2024-01-02 00:00:01"):
            living.process({"x": "b", "at": "2024-01-01T00:00"})
        assert living.process({"x": "b", "at": "2024-01-02T20:00"}) == ["again"]
        assert len(living.documents) == 1


def test_what_is_not_kept_is_let_go():
    store = DocumentStore({"text": "x" * 100} for _ in range(100))
    store.retain(max_documents=1)
    (chunk,) = store._chunks
    assert sum(map(len, chunk.documents)) == 1


TIMES = st.integers(0, 60)


@given(
    batches=st.lists(st.lists(TIMES, max_size=6), max_size=12),
    most=st.none() | st.integers(1, 8),
    age=st.none() | st.integers(0, 40),
    as_tables=st.booleans(),
    is_rewritten=st.booleans(),
)
@example(batches=[[1, 0, 0, 29]], most=2, age=28, as_tables=False, is_rewritten=False)
def test_any_stream_against_a_plain_model(batches, most, age, as_tables, is_rewritten):
    store = DocumentStore()
    store.retain(most, None if age is None else f"{age} seconds", None if age is None else "at")
    model, greatest = [], -(10**6)
    with pytest.MonkeyPatch.context() as patch:
        if is_rewritten:
            patch.setattr(documents_module, "_DEAD", 2)
        for batch in batches:
            after, latest, refused = list(model), greatest, None
            for number, time in enumerate(batch):
                if age is not None and time < latest - age:
                    refused = number
                    break
                latest = max(latest, time)
                after = [old for old in [*after, time] if age is None or old >= latest - age]
                after = after[-most:] if most else after
            given_ = pa.Table.from_pylist([{"at": datetime.datetime.fromtimestamp(t, datetime.UTC)} for t in batch])
            added = given_ if as_tables else at(*batch)
            if refused is None:
                store.extend(added)
                model, greatest = after, latest
            else:
                with pytest.raises(DocumentError, match=f"^document {refused}: "):
                    store.extend(added)
            assert seconds_of(store) == model
            with store.reading() as read:
                index = read.sorted_index((("attribute", 1, ("at",), None),))
                assert sorted(seconds_of(map(read.document, index.of_kind(5)))) == sorted(model)


@pytest.mark.parametrize("step", ["add", "expired"])
def test_after_an_interrupt_ages_are_found_anew(step, monkeypatch):
    store = DocumentStore()
    store.retain(max_age="10 seconds", age_of="at")
    store.extend(at(0, 5))

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Ages, step, interrupted)
        with pytest.raises(KeyboardInterrupt):
            store.add(*at(12))
    assert seconds_of(store) == [0, 5, 12]
    with pytest.raises(DocumentError, match="more than 10 seconds before"):
        store.add(*at(1))
    store.add(*at(16))
    assert seconds_of(store) == [12, 16]
