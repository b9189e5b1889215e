"""Documents of one shape: what the short way gives is what the general way gives, whatever the values are."""

import enum
import threading
from bisect import bisect_right
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import profilec.runtime.document_shapes as shapes_module
import profilec.runtime.encode as encode_module
from profilec.runtime.document_shapes import Shape
from profilec.runtime.encode import Encoder
from profilec.runtime.encode_kernels import N_STEP, WORD_IS_FLOAT, WORD_IS_INTEGER, float_keys, rank_document
from profilec.runtime.image import WANT_TRUE
from profilec.runtime.program import run
from profilec.values.kinds import DocumentError
from profilec.values.patterns import parse_like
from profilec.values.types import Type

NUMBERS = [0, 1, -1, 5, 100, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 10**30, -(10**30)]
NUMBERS += map(Decimal, ("0.1", "-0.5", "1.5", "1e300", "-1e300", "Infinity", "-Infinity"))


class Text(str):
    __slots__ = ()


class Whole(int):
    pass


class Real(float):
    pass


class Level(enum.IntEnum):
    FIVE = 5


class WithoutHash(type):
    __hash__ = None


class Odd(metaclass=WithoutHash):
    pass


@pytest.fixture(scope="module")
def image(new_builder, slots):
    """Plain slots on x, y, s, d and p.q; z is there where d is not; s and p.q are asked for patterns, too."""
    builder = new_builder()
    for name in ("x", "y", "s", "p.q"):
        builder.slot(slots.plain(name, *NUMBERS, "", "a", "b", "é", True, date(2024, 5, 6)))
    builder.slot(slots.plain("d", date(2024, 5, 6), "soon", type_=Type("DATE")))
    d, x = (("attribute", 0, (name,), None) for name in "dx")
    builder.slot(slots.derived("COALESCE(d, 5)", (d, ("constant", 5), ("call", "COALESCE", 2)), 5))
    builder.slot(slots.derived("x + d", (x, d, ("call", "+", 2)), 6))
    for name in ("s", "p.q"):
        builder.pattern_test(builder.slot(slots.plain(name)), WANT_TRUE, like=parse_like("%a%"))
    return builder.image(0)


def general(image, document):
    """By the definition: of each slot its rank, and of each pattern whether it matches."""
    ranks = {number: slot.constants.rank(run(slot.program, document)) for number, slot in enumerate(image.slots)}
    for number, pattern in enumerate(image.patterns):
        text = run(image.slots[pattern.slot].program, document)
        ranks[len(image.slots) + number] = int(isinstance(text, str) and "a" in text)
    return {slot: rank for slot, rank in ranks.items() if rank}


def encoded(encoder, document):
    slots, ranks, n = encoder.encode_sparse(document)
    assert slots.dtype == ranks.dtype == np.int32
    assert len(set(slots[:n].tolist())) == n
    return dict(zip(slots[:n].tolist(), ranks[:n].tolist(), strict=True))


def warm(encoder, document):
    """Until the document's shape is made."""
    for _ in range(200):
        encoder.encode_sparse(document)
    assert type(encoder._shapes.known[tuple(document), tuple(map(type, document.values()))]) is Shape


INTEGERS = st.one_of(st.integers(-3, 7), st.sampled_from([2**53 + 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**31]))
FLOATS = st.floats(allow_nan=True, allow_infinity=True) | st.sampled_from([0.1, -0.0, 5.0, 2.0**63, 1e300, 5e-324])
STRINGS = st.sampled_from(["", "a", "aa", "b", "2024-05-06", "soon", "é", "\ud800", "ab" * 200])
OTHERS = st.sampled_from([Decimal("0.1"), np.int64(5), np.float64(0.1), np.str_("a"), Text("a"), Whole(5), Level.FIVE])
OTHERS |= st.sampled_from([Real(0.1), date(2024, 5, 6), ["a"], {"q": "a"}, {"q": 5}, np.bool_(True), Decimal("NaN")])
KINDS = [st.none(), st.booleans(), INTEGERS, FLOATS, STRINGS, OTHERS]
KEYS = st.lists(st.sampled_from(["x", "y", "s", "p.q", "p", "d", "unused"]), unique=True)


@pytest.fixture(scope="module")
def encoder(image):
    """One for all examples: its shapes, its thresholds and what it remembers grow on."""
    return Encoder(image)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), keys=KEYS)
def test_values_of_one_shape_are_encoded_as_the_general_way_does(image, encoder, data, keys):
    kinds = {key: data.draw(st.sampled_from(KINDS)) for key in keys}
    documents = data.draw(st.lists(st.fixed_dictionaries(kinds), min_size=1, max_size=4))
    for document in documents * 40:
        encoder.encode_sparse(document)
    for document in documents:
        assert encoded(encoder, document) == general(image, document)


def test_plain_values_go_the_short_way(image, monkeypatch):
    encoder = Encoder(image)
    document = {"unused": b"", "x": 5, "y": 0.1, "d": "2024-05-06"}
    others = [
        {"unused": b"x", "x": x, "y": y, "d": d} for x in (-7, 2**63 - 1) for y in (-0.0, 9e99) for d in ("", "soon")
    ]
    warm(encoder, document)
    monkeypatch.setattr(Encoder, "_told", None)
    for other in (document, *others):
        assert encoded(encoder, other) == general(image, other)


@pytest.mark.parametrize(
    ("usual", "odd"),
    [
        (5, [2**63, -(2**63) - 1, 10**400, True, 5.0, Whole(5), Level.FIVE, np.int64(5), Decimal(5), "5", None]),
        (0.1, [float("nan"), float("inf"), float("-inf"), -0.0, 5e-324, Real(0.1), np.float64(0.1), Decimal("0.1"), 1]),
        ("a", ["\ud800", "a" * 1_000, Text("a"), np.str_("a"), b"".decode(), None, 1]),
        (True, [False, 1, 1.0, np.bool_(True), None]),
        (None, [0, "", False]),
    ],
)
@pytest.mark.parametrize("key", ["x", "s", "p.q", "d"])
def test_a_value_that_only_looks_the_same(image, key, usual, odd):
    encoder = Encoder(image)
    warm(encoder, {"y": 1, key: usual})
    for value in odd:
        document = {"y": 1, key: value}
        assert [encoded(encoder, document) for _ in range(3)] == [general(image, document)] * 3
    assert encoded(encoder, {"y": 1, key: usual}) == general(image, {"y": 1, key: usual})


def test_infinities_that_sum_to_nothing_are_no_nan(image):
    encoder = Encoder(image)
    warm(encoder, {"x": 1.0, "y": 2.0})
    for x, y in ((float("inf"), float("-inf")), (float("nan"), 5.0), (1e308, 1e308)):
        assert encoded(encoder, {"x": x, "y": y}) == general(image, {"x": x, "y": y})


def test_values_of_no_kind_are_refused_by_name(image):
    encoder = Encoder(image)
    warm(encoder, {"x": 5, "unused": 1})
    for value in (b"", object()):
        for _ in range(100):
            with pytest.raises(DocumentError, match="attribute 'x'"):
                encoder.encode_sparse({"x": value, "unused": 1})
    assert encoded(encoder, {"x": 5, "unused": Odd()}) == general(image, {"x": 5})


def test_a_shape_stays_right_while_others_are_added(image):
    """The thresholds of all are one array, which is replaced."""
    encoder = Encoder(image)
    documents = [{"x": 5}, {"y": 0.1}, {"x": 0.1}, {"y": 5, "x": -1.5}, {"d": "2024-05-06", "y": 10**18, "s": True}]
    for document in documents:
        warm(encoder, document)
    assert [encoded(encoder, document) for document in documents] == [general(image, one) for one in documents]


def test_threads_meet_shapes_at_once(image):
    encoder, barrier = Encoder(image), threading.Barrier(4)
    keys = ("x", "y", "s", "d")
    documents = [{key: n * 0.5 if n & bit else n for bit, key in enumerate(keys, 1)} for n in range(400)]
    expected = [general(image, document) for document in documents]

    def work(_):
        barrier.wait()
        return [encoded(encoder, document) for document in documents] == expected

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


def test_what_is_kept_is_bounded(image, monkeypatch):
    monkeypatch.setattr(shapes_module, "MOST_SHAPES", 10)
    monkeypatch.setattr(encode_module, "_MOST_REMEMBERED", 10)
    encoder = Encoder(image)
    for number in range(200):
        for _ in range(3):
            document = {"s": f"a{number}", f"unused {number}": 1, "x": 5}
            assert encoded(encoder, document) == general(image, document)
    assert len(encoder._shapes.known) <= 10
    assert len(encoder._remembered) <= 10
    long = {f"unused {number}": 1 for number in range(shapes_module.MOST_KEYS)} | {"x": 5}
    n_known = len(encoder._shapes.known)
    assert encoded(encoder, long) == general(image, long)
    assert len(encoder._shapes.known) == n_known


def test_a_slot_remembers_few_strings_that_are_no_constants(new_builder, slots):
    builder = new_builder()
    builder.slot(slots.plain("x", "m"))
    image = builder.image(0)
    encoder = Encoder(image)
    documents = [{"x": text} for number in range(2_000) for text in (f"a{number}", f"z{number}", "m", "y" * 1_000)]
    assert [encoded(encoder, document) for document in documents * 2] == [
        general(image, document) for document in documents * 2
    ]
    assert len(encoder._slots[0].ranking.of_string) < 1_000


@given(
    st.lists(st.floats(allow_nan=False), max_size=9).map(sorted),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=9).map(sorted),
    st.floats(allow_nan=False),
    st.integers(-(2**63), 2**63 - 1),
)
def test_a_kernel_counts_thresholds_as_bisection_does(floats, integers, real, whole):
    keys = float_keys(np.array(floats, np.float64))
    thresholds = np.concatenate((keys, np.array(integers, np.int64)))
    steps = np.array([WORD_IS_FLOAT, 0, len(floats), 1, WORD_IS_INTEGER, len(floats), len(integers), 1], np.int64)
    words = np.concatenate((np.array([real], np.float64).view(np.int64), np.array([whole], np.int64)))
    ranks = np.zeros(len(steps) // N_STEP, np.int32)
    assert rank_document(words, steps, thresholds, ranks)
    assert ranks.tolist() == [1 + bisect_right(floats, real), 1 + bisect_right(integers, whole)]
    words[0] = np.array([-np.nan], np.float64).view(np.int64)[0]
    assert not rank_document(words, steps, thresholds, ranks)
