"""Documents to ranks: every way in gives the rank that the slot's program gives for the document."""

import datetime
import threading
from collections import OrderedDict, defaultdict
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from itertools import pairwise
from types import MappingProxyType
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import profilec.runtime.encode as encode_module
import profilec.runtime.encode_rows as rows_module
import profilec.runtime.ranking as ranking_module
from profilec.runtime.encode import Encoder
from profilec.runtime.image import WANT_TRUE
from profilec.runtime.program import run
from profilec.runtime.regex import regex_holds
from profilec.values.kinds import Date, DocumentError, Timestamp
from profilec.values.patterns import like_matches, parse_like
from profilec.values.types import Type

NOON = datetime.datetime(2024, 5, 6, 12, 0, tzinfo=datetime.UTC)
CONSTANTS = [
    0, 1, -1, 5, 100, 2**24 + 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 10**30,
    Decimal("0.1"), Decimal("0.25"), Decimal("-0.5"), Decimal("1.10"), Decimal("123456789012345678901.5"),
    "", "a", "b", "é", "2024-05-06", True, datetime.date(2024, 5, 6), datetime.date(1969, 12, 31),
    NOON, Timestamp(1), Timestamp(-1), Timestamp(1_714_996_800_123_456_789),
]  # fmt: skip


def naive(image, documents):
    """Of each document the slots of which the rank is not 0, and a pseudo-slot for each pattern that matches."""
    return [{**_ranks(image, document), **_matches(image, document)} for document in documents]


def _ranks(image, document):
    ranks = [slot.constants.rank(run(slot.program, document)) for slot in image.slots]
    return {slot: rank for slot, rank in enumerate(ranks) if rank}


def _matches(image, document):
    found = {}
    for number, pattern in enumerate(image.patterns):
        text = run(image.slots[pattern.slot].program, document)
        if isinstance(text, str) and (
            like_matches(pattern.like, text) if pattern.like else regex_holds(pattern.regex, text)
        ):
            found[len(image.slots) + number] = 1
    return found


def ranks(image, documents, n=None):
    n = len(documents) if n is None else n
    return unpacked(Encoder(image).encode_batch(documents, 0, n))


def unpacked(batch):
    assert batch.doc_off.dtype == np.int64
    assert batch.doc_slots.dtype == batch.doc_ranks.dtype == np.int32
    assert len(batch.doc_slots) == len(batch.doc_ranks) == batch.doc_off[-1]
    return [as_dict(batch.doc_slots[start:end], batch.doc_ranks[start:end]) for start, end in pairwise(batch.doc_off)]


def as_dict(slots, ranks):
    assert len(set(slots.tolist())) == len(slots)
    return dict(zip(slots.tolist(), ranks.tolist(), strict=True))


def one_by_one(image, documents):
    encoder = Encoder(image)
    return [one(encoder, document) for document in documents]


def one(encoder, document):
    slots, ranks, k = encoder.encode_sparse(document)
    return as_dict(slots[:k], ranks[:k])


@pytest.fixture(scope="module")
def image(new_builder, slots):
    """Slots of every sort on the attributes x, y, s, n.x and a.b."""
    builder = new_builder()
    x, y, s = ("attribute", 0, ("x",), None), ("attribute", 0, ("y",), None), ("attribute", 0, ("s",), None)
    for name in ("x", "y", "s", "n.x", "a.b"):
        builder.slot(slots.plain(name, *CONSTANTS))
    builder.slot(slots.plain("s", *CONSTANTS, type_=Type("DATE")))
    builder.slot(slots.derived("FOLD(s)", (s, ("call", "FOLD", 1)), "a", "é"))
    builder.slot(slots.derived("REVERSE(a.b)", (("attribute", 0, ("a", "b"), None), ("call", "REVERSE", 1)), "ba"))
    builder.slot(slots.derived("COALESCE(x, 5)", (x, ("constant", 5), ("call", "COALESCE", 2)), 5, 1))
    builder.slot(slots.derived("x + y", (x, y, ("call", "+", 2)), 6, 2**53 + 1, Decimal("0.2")))
    builder.slot(slots.derived("order(x, y)", (x, y, ("order",)), -1, 0, 1))
    builder.slot(slots.derived("order(a.b, x)", (("attribute", 0, ("a", "b"), None), x, ("order",)), -1, 0, 1))
    builder.slot(slots.derived("5", (("constant", 5),), 5))
    patterned = builder.slot(slots.plain("s", "a", "b"))
    for regex in ("a", "^.$", "[0-9]-0"):
        builder.pattern_test(patterned, WANT_TRUE, regex=regex)
    for slot in (
        builder.slot(slots.plain("s", "a", type_=Type("TIMESTAMP"))),
        builder.slot(slots.plain("x")),
        builder.slot(slots.plain("a.b", "ab")),
        builder.slot(slots.derived("COALESCE(y, 'ab')", (y, ("constant", "ab"), ("call", "COALESCE", 2)), "a")),
        builder.slot(slots.derived("LOWER(s)", (s, ("call", "LOWER", 1)), "a")),
    ):
        builder.pattern_test(slot, WANT_TRUE, like=parse_like("%b%"))
        builder.pattern_test(slot, WANT_TRUE, like=parse_like("%a"))
    return builder.image(0)


def check_column(image, array, values):
    """One Arrow column named x (and s, and inside of a struct n), against the documents of the same values."""
    table = pa.table({"x": array, "s": array})
    documents = [{"x": value, "s": value} for value in values]
    assert ranks(image, table, len(table)) == naive(image, documents)
    sliced = table.slice(1, len(table) - 1)
    assert ranks(image, sliced, len(sliced)) == naive(image, documents[1:])
    nested = pa.table({"n": pa.StructArray.from_arrays([array], names=["x"])})
    assert ranks(image, nested, len(nested)) == naive(image, [{"n": {"x": value}} for value in values])
    batch = pa.RecordBatch.from_arrays([array, array], names=["x", "a.b"])
    documents = [{"x": value, "a.b": value} for value in values]
    assert ranks(image, batch, len(array)) == naive(image, documents)
    assert ranks(image, batch.slice(1), len(array) - 1) == naive(image, documents[1:])
    whole = pa.RecordBatch.from_arrays([pa.StructArray.from_arrays([array], names=["x"])], names=["n"])
    assert ranks(image, whole.slice(1), len(array) - 1) == naive(image, [{"n": {"x": value}} for value in values[1:]])
    if array.null_count:
        chunked = pa.chunked_array([array, array.slice(2), array.slice(0, 0)])
        several = pa.table({"x": chunked})
        assert ranks(image, several, len(several)) == naive(image, [{"x": v} for v in [*values, *values[2:]]])


INTEGERS = [0, 1, -1, 5, 6, 100, None, 99]
WIDE = [2**53, 2**53 + 1, 2**63 - 1, -(2**63), None, 0, 1, 2**24 + 1, 2**24]
UNSIGNED = [2**64 - 1, 2**63, 2**63 - 1, 2**53 + 1, 0, None, 1]
DECIMALS = [Decimal(text) for text in ("0.1", "0.11", "0.25", "-0.5", "1.1", "5", "100", "0")]
LONG_DECIMALS = [*map(Decimal, ("123456789012345678901.5", "123456789012345678901.6", "1e25", "-1e25", "0.1")), None]
STRINGS = ["", "a", "A", "é", "É", None, "zz", "2024-05-06", "2024-05-07"]
DAYS = [datetime.date(2024, 5, 6), None, datetime.date(1969, 12, 31), datetime.date(1, 1, 1)]
SECONDS = [datetime.datetime(2024, 5, 6, 12), datetime.datetime(1969, 12, 31, 23, 59, 59), None, NOON]


@pytest.mark.parametrize(
    ("type_", "values"),
    [(name, INTEGERS) for name in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.decimal128(5, 0))]
    + [(name, [v for v in INTEGERS if v is None or v >= 0]) for name in (pa.uint8(), pa.uint16(), pa.uint32())]
    + [(pa.int64(), WIDE), (pa.uint64(), UNSIGNED), (pa.decimal128(20, 0), WIDE)]
    + [(pa.float64(), [0.1, 0.25, -0.0, 5.0, 2.0**53, 2.0**63, 1e30, float("inf"), -float("inf"), None, float("nan")])]
    + [(pa.float64(), [0.1 + 0.2, 0.30000000000000004, 2.0**53 + 2, 1e22, 5e-324, None])]
    + [(type_, [*DECIMALS, None]) for type_ in (pa.decimal32(6, 2), pa.decimal64(10, 3), pa.decimal128(30, 4))]
    + [(pa.decimal256(60, 10), [*DECIMALS, None]), (pa.decimal128(38, 3), LONG_DECIMALS)]
    + [(pa.decimal256(70, 3), LONG_DECIMALS), (pa.decimal128(5, -2), [Decimal(100), None, Decimal(500)])]
    + [(type_, STRINGS) for type_ in (pa.string(), pa.large_string(), pa.string_view())]
    + [(pa.bool_(), [True, False, None, True])]
    + [(type_, DAYS) for type_ in (pa.date32(), pa.date64())]
    + [(pa.timestamp(unit), SECONDS[:3]) for unit in ("s", "ms", "us", "ns")]
    + [(pa.timestamp(unit, "Asia/Tokyo"), SECONDS[2:]) for unit in ("s", "ms", "us", "ns")]
    + [(pa.null(), [None, None, None])]
    + [(pa.list_(pa.int64()), [[1], [], None]), (pa.map_(pa.string(), pa.int64()), [{"x": 1}, {}, None])],
    ids=str,
)  # fmt: skip
def test_arrow_types(image, type_, values):
    data = [list(value.items()) if isinstance(value, dict) else value for value in values]
    array = pa.array(data, type_, from_pandas=False)
    check_column(image, array, values)
    if not pa.types.is_nested(type_) and type_ not in (pa.decimal32(6, 2), pa.decimal64(10, 3), pa.string_view()):
        check_column(image, array.dictionary_encode(), values)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_narrow_floats_stand_for_the_decimal_of_their_own_width(image, dtype):
    numbers = [0.1, 0.25, 5, -0.5, 1.1, 100, 16777216 if dtype == np.float32 else 2048, float("inf")]
    values = [dtype(number) for number in numbers]
    check_column(image, pa.array([*values, None], pa.from_numpy_dtype(dtype)), [*values, None])


def test_nanoseconds_are_kept(image):
    nanos = [1_714_996_800_123_456_789, 1_714_996_800_123_456_788, 1, 0, -1, None]
    check_column(image, pa.array(nanos, pa.timestamp("ns")), [None if n is None else Timestamp(n) for n in nanos])


def test_wrapped_types(image):
    import pyarrow.compute as pc

    check_column(image, pc.run_end_encode(pa.array([1, 1, 5])), [1, 1, 5])
    storage = pa.array([1, 0, None], pa.int8())
    check_column(image, pa.ExtensionArray.from_storage(pa.bool8(), storage), [True, False, None])


def test_dictionary_with_a_null_among_its_values(image):
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0], pa.int8()), pa.array(["a", None]))
    check_column(image, array, ["a", None, None, "a"])


def test_paths_through_structs_lists_and_flat_names(image):
    rows = [
        {"a": {"b": "ab"}, "a.b": None, "n": [{"x": 1}]},
        {"a": {"b": "ab"}, "a.b": "b", "n": None},
        {"a": None, "a.b": None, "n": []},
        {"a": {"b": None}, "a.b": "zz", "n": [None]},
    ]
    structs = pa.struct([("b", pa.string())])
    table = pa.table(
        {
            "a": pa.array([row["a"] for row in rows], structs),
            "a.b": pa.array([row["a.b"] for row in rows]),
            "n": pa.array([row["n"] for row in rows], pa.list_(pa.struct([("x", pa.int64())]))),
        }
    )
    assert ranks(image, table, 4) == naive(image, rows)
    maps = pa.table({"a": pa.array([[("b", "ab")], [("c", "x"), ("b", "é")], None], pa.map_(pa.string(), pa.string()))})
    assert ranks(image, maps, 3) == naive(image, [{"a": {"b": "ab"}}, {"a": {"b": "é"}}, {}])
    scalar = pa.table({"a": [1, 2]})
    assert ranks(image, scalar, 2) == naive(image, [{"a": 1}, {"a": 2}])


def test_null_struct_hides_what_is_under_it(image):
    under = pa.array(["ab", "ab"])
    table = pa.table({"a": pa.StructArray.from_arrays([under], names=["b"], mask=pa.array([True, False]))})
    assert ranks(image, table, 2) == naive(image, [{"a": None}, {"a": {"b": "ab"}}])


@pytest.mark.parametrize(
    "type_",
    [pa.binary(), pa.time64("us"), pa.duration("s"), pa.list_(pa.binary()), pa.dictionary(pa.int8(), pa.binary())],
)
def test_columns_of_no_kind_are_refused_if_a_profile_uses_them(image, type_):
    column = pa.nulls(2, type_) if not pa.types.is_dictionary(type_) else pa.nulls(2, pa.binary()).dictionary_encode()
    assert ranks(image, pa.table({"unused": column, "x": [1, 5]}), 2) == naive(image, [{"x": 1}, {"x": 5}])
    if pa.types.is_list(type_):
        assert ranks(image, pa.table({"x": column}), 2) == naive(image, [{}, {}])
        return
    with pytest.raises(DocumentError, match="column 'x' has the type"):
        ranks(image, pa.table({"x": column}), 2)
    with pytest.raises(DocumentError, match=r"column 'n\.x' has the type"):
        ranks(image, pa.table({"n": pa.StructArray.from_arrays([column], names=["x"])}), 2)


def test_periods_are_no_numbers(image):
    frame = pd.DataFrame({"x": pd.period_range("2024", periods=2)})
    with pytest.raises(DocumentError, match="column 'x'"):
        ranks(image, frame, 2)


def test_two_columns_of_one_name_are_refused_if_used(image):
    with pytest.raises(DocumentError, match="two columns are named 'x'"):
        ranks(image, pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"]), 1)
    both = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["other", "other"])
    assert ranks(image, both, 1) == naive(image, [{}])


@pytest.mark.parametrize(
    ("series", "values"),
    [
        (pd.Series([1, 2**53 + 1, 5]), [1, 2**53 + 1, 5]),
        (pd.Series([2**63, 2**64 - 1], dtype="uint64"), [2**63, 2**64 - 1]),
        (pd.Series([0.1, None, 2.0**53]), [0.1, None, 2.0**53]),
        (pd.Series([0.1, 5], dtype="float32"), [0.1, 5]),
        (pd.Series([1, None, 2**53 + 1], dtype="Int64"), [1, None, 2**53 + 1]),
        (pd.Series([0.1, None], dtype="Float64"), [0.1, None]),
        (pd.Series([True, None], dtype="boolean"), [True, None]),
        (pd.Series([True, False]), [True, False]),
        (pd.Series(["a", None, "é"]), ["a", None, "é"]),
        (pd.Series(["a", None, "é"], dtype="string"), ["a", None, "é"]),
        (pd.Series(["a", None, "a"], dtype="category"), ["a", None, "a"]),
        (pd.Series([5, None, 1], dtype="category"), [5, None, 1]),
        (pd.Series(pd.Categorical([True, "a", None], categories=[True, "a"])), [True, "a", None]),
        (pd.Series([2**53 + 1, 0.1, "a", True, None, float("nan"), pd.NA, pd.NaT], dtype=object), None),
        (pd.Series([2**70, Decimal("0.1"), np.float32(0.1), np.int8(5)], dtype=object), None),
        (pd.Series([datetime.date(2024, 5, 6), NOON, None], dtype=object), None),
        (pd.Series([[1, 2], None, np.array([1])], dtype=object), None),
        (pd.Series(["a", "\ud800"], dtype=object), None),
        (pd.Series(pd.to_datetime(["2024-05-06 12:00", None])), [NOON, None]),
        (pd.Series(pd.to_datetime(["2024-05-06 21:00"]).tz_localize("Asia/Tokyo")), [NOON]),
        (pd.Series([NOON.replace(tzinfo=None)], dtype="datetime64[s]"), [NOON]),
        (pd.Series([1, None], dtype=pd.ArrowDtype(pa.int64())), [1, None]),
        (pd.Series([Decimal("0.1")], dtype=pd.ArrowDtype(pa.decimal128(9, 2))), [Decimal("0.1")]),
        (pd.Series([0.0, 5.0, 0.0], dtype=pd.SparseDtype("float64", 0.0)), [0, 5, 0]),
    ],
    ids=lambda value: str(value.dtype) if isinstance(value, pd.Series) else "",
)
def test_pandas_columns(image, series, values):
    values = list(series) if values is None else values
    frame = pd.DataFrame({"x": series, "s": series, 7: series}).set_axis(range(10, 10 + len(series)))
    expected = naive(image, [{"x": value, "s": value} for value in values])
    assert ranks(image, frame, len(frame)) == expected
    assert one_by_one(image, [{"x": value, "s": value} for value in values]) == expected


def test_pandas_nested_columns(image):
    frame = pd.DataFrame({"a": [{"b": "ab"}, None, {"c": 1}], "n": [[{"x": 1}], {"x": 5}, []]})
    assert ranks(image, frame, 3) == naive(image, frame.to_dict("records"))


def test_missing_values_of_pandas_fall_through_to_the_path(image):
    rows = [{"a.b": missing, "a": {"b": "ab"}} for missing in (pd.NA, pd.NaT, float("nan"), None)]
    expected = naive(image, [{"a": {"b": "ab"}}] * 4)
    assert naive(image, rows) == one_by_one(image, rows) == expected
    assert ranks(image, pd.DataFrame(rows, dtype=object), 4) == expected


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 7),
    st.sampled_from([2**53, 2**53 + 1, 2**63, -(2**63), 10**30, 10**31]),
    st.sampled_from([0.1, 0.25, float("nan"), float("inf"), 2.0**53, 5.0, np.float32(0.1), np.int64(5)]),
    st.sampled_from([Decimal("0.1"), Decimal("1.1"), Decimal("NaN"), Decimal("5.0")]),
    st.sampled_from(["", "a", "A", "b", "ba", "é", "2024-05-06", "\ud800"]),
    st.sampled_from([datetime.date(2024, 5, 6), NOON, NOON.astimezone(ZoneInfo("Asia/Tokyo")), Date(3), Timestamp(1)]),
)
NESTED = st.recursive(
    VALUES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xb"), inner), max_leaves=3
)
DOCUMENTS = st.dictionaries(st.sampled_from(["x", "y", "s", "n", "a", "n.x", "a.b", "other", "z"]), NESTED, max_size=6)


@settings(max_examples=200, deadline=None)
@given(documents=st.lists(DOCUMENTS, min_size=1, max_size=4), n=st.sampled_from([1, rows_module._FEW]))
def test_documents_one_by_one_in_lists_and_in_object_columns(image, documents, n):
    expected = naive(image, documents)
    assert one_by_one(image, documents) == expected
    assert ranks(image, documents * n) == expected * n
    names = sorted({name for document in documents for name in document})
    columns = {}
    for name in names:
        columns[name] = pd.Series([None] * len(documents), dtype=object)
        for number, document in enumerate(documents):
            columns[name].iat[number] = document.get(name)
    frame = pd.DataFrame(columns, index=range(len(documents)))
    assert ranks(image, frame, len(frame)) == expected


WORDS = st.sampled_from(["", "a", "b", "ba", "2024-05-06", None, "é", "\ud800"])
NUMBERS = st.sampled_from([0, 1, 5, 6, -1, 99, 2**53 + 1, 2**63, -(2**70)])
FLOATS = st.sampled_from([0.1, 0.25, -0.0, 5.0, 2.0**53, float("inf"), float("-inf"), float("nan"), 1e300])


@settings(max_examples=100, deadline=None)
@given(data=st.data(), values=st.sampled_from([WORDS, NUMBERS, FLOATS, NUMBERS | FLOATS | st.booleans() | WORDS]))
def test_columns_of_one_kind_of_value(image, data, values):
    """What a key holds in many documents is told of together, where it is of one kind."""
    row = st.fixed_dictionaries({}, optional=dict.fromkeys(("x", "y", "s", "a.b", "a"), values))
    documents = data.draw(st.lists(row, min_size=rows_module._FEW, max_size=2 * rows_module._FEW))
    assert ranks(image, documents) == naive(image, documents)


def test_equal_values_of_different_kinds_are_kept_apart(image):
    documents = [{"x": value, "s": value} for value in (1, True, 1.0, Decimal(1), np.int8(1), "1", 0, -0.0, False)] * 9
    assert ranks(image, documents) == one_by_one(image, documents) == naive(image, documents)


@pytest.mark.parametrize("other", [None, 1, True, Decimal("0.5"), datetime.date(2024, 5, 6), ["b"]])
def test_two_attributes_are_compared_as_strings_only_where_both_are(image, other):
    documents = [{"x": x, "y": y} for x in ("a", "b", None) for y in ("a", "b", "\ud800", None)] * 3
    documents += [{"x": "a"}, {"y": "a"}]
    assert ranks(image, documents) == one_by_one(image, documents) == naive(image, documents)
    documents += [{"x": other, "y": "a"}, {"x": "a", "y": other}]
    assert ranks(image, documents) == one_by_one(image, documents) == naive(image, documents)


def test_a_value_of_no_kind_is_refused_though_the_other_to_compare_it_with_is_missing(new_builder, slots):
    builder = new_builder()
    x, y = (("attribute", 0, (name,), None) for name in "xy")
    builder.slot(slots.derived("order(x, y)", (x, y, ("order",)), -1, 0, 1))
    image = builder.image(0)
    documents = [{"x": "a", "y": "b"}, {"x": "a"}, {"y": "b"}] * 20
    assert ranks(image, documents) == one_by_one(image, documents) == naive(image, documents)
    for document in ({"x": b""}, {"x": b"", "y": "a"}):
        with pytest.raises(DocumentError, match=r"document 60: .*bytes"):
            ranks(image, [*documents, document])


def test_a_batch_may_begin_anywhere(image):
    documents = [{"x": number, "s": "a"} for number in range(100)]
    encoder = Encoder(image)
    for batch in (
        encoder.encode_batch(documents, 40, 90),
        encoder.encode_batch(pa.Table.from_pylist(documents), 40, 90),
    ):
        assert unpacked(batch) == naive(image, documents[40:90])
        assert len(batch) == 50
        assert (batch.first, batch.document(3)) == (40, documents[43])


def test_a_wide_table_is_cut_into_parts(image, monkeypatch):
    documents = [{"x": number, "s": "ab"} for number in range(100)]
    monkeypatch.setattr(encode_module, "_MAX_CELLS", 70)
    assert ranks(image, pa.Table.from_pylist(documents), 100) == naive(image, documents)


def test_a_dictionary_larger_than_its_column(image):
    dictionary = pa.array([f"b{number}" for number in range(1_000)] + ["a", "ab"])
    column = pa.DictionaryArray.from_arrays(pa.array([1000, 7, None, 1001, 7], pa.int32()), dictionary)
    check_column(image, column, ["a", "b7", None, "ab", "b7"])
    views = pa.DictionaryArray.from_arrays(pa.array([1000, 7], pa.uint64()), dictionary.cast(pa.string_view()))
    assert ranks(image, pa.table({"s": views}), 2) == naive(image, [{"s": "a"}, {"s": "b7"}])


def test_many_constants_are_ranked_before_and_after_they_are_prepared(new_builder, slots):
    """Far apart, near one another, and with the gaps at both ends."""
    builder = new_builder()
    for step in (1, 10**12, -(10**30)):
        builder.slot(slots.plain("x", *(step * number for number in range(200)), *(f"s{n}" for n in range(200))))
    image = builder.image(0)
    documents = [{"x": value} for n in (-1, 0, 1, 7, 199, 200, 10**30) for value in (n, n * 10**12, n + 0.5, f"s{n}")]
    assert one_by_one(image, documents * 2) == ranks(image, documents) * 2 == naive(image, documents) * 2


def test_constants_are_prepared_once_for_all_values(slots, monkeypatch):
    """Also where all go through the one method that was there before."""
    prepared, calls = ranking_module._prepared, []
    monkeypatch.setattr(ranking_module, "_prepared", lambda *of: calls.append(of) or prepared(*of))
    constants = slots.plain("x", *range(100)).constants
    found = list(map(ranking_module.Ranking(constants, None).rank_of, range(200)))
    assert found == [constants.rank(number) for number in range(200)]
    assert len(calls) == 1


def test_threads_do_not_share_their_documents(image):
    encoder, barrier = Encoder(image), threading.Barrier(4)
    documents = [{"x": number, "s": "ab" * number} for number in range(200)]
    expected = naive(image, documents)

    def work(first):
        barrier.wait()
        return [one(encoder, documents[number]) == expected[number] for number in range(first, 200)]

    with ThreadPoolExecutor(4) as pool:
        assert all(map(all, pool.map(work, range(4))))


def test_any_mapping_is_a_document(image):
    expected = naive(image, [{"x": 5, "a": {"b": "ab"}}])
    for wrap in (OrderedDict, MappingProxyType, lambda document: defaultdict(list, document)):
        assert one_by_one(image, [wrap({"x": 5, "a": {"b": "ab"}})]) == expected


def test_a_document_of_many_keys_costs_the_slots_that_it_has(image):
    wide = {f"unused {number}": b"never looked at" for number in range(10_000)}
    assert one_by_one(image, [{**wide, "x": 5}]) == naive(image, [{"x": 5}])


@pytest.mark.parametrize("document", [None, [], "x", 5, [("x", 1)]])
def test_what_is_no_mapping_is_refused(image, document):
    with pytest.raises(DocumentError, match="a document is a mapping"):
        Encoder(image).encode_sparse(document)
    with pytest.raises(DocumentError, match="document 1: a document is a mapping"):
        ranks(image, [{}, document])


def test_a_value_of_no_kind_is_refused_where_a_profile_uses_it(image, new_builder):
    for documents in ([{}, {"x": b""}], pd.DataFrame({"x": pd.Series([1, b""], dtype=object)})):
        with pytest.raises(DocumentError, match=r"attribute 'x'.*bytes"):
            ranks(image, documents, 2)
    builder = new_builder()
    some = ("some", (("literal", True),))
    builder.term_test((("attribute", 0, ("t",), None), some), WANT_TRUE)
    of_term = builder.image(0)
    for documents in ([{"t": object()}], [{"t": [object()]}], pd.DataFrame({"t": pd.Series([object()], dtype=object)})):
        with pytest.raises(DocumentError, match="object"):
            ranks(of_term, documents, 1)


def test_empty_batches(image):
    for documents in ([], pa.table({"x": pa.array([], pa.int64())}), pd.DataFrame({"x": []})):
        assert ranks(image, documents, 0) == []
