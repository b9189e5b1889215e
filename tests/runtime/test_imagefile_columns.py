"""Sequences over flat arrays behave as the lists they stand for."""

import copy
import pickle
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profilec.runtime.image import Constants
from profilec.runtime.imagefile.columns import Decoded, Integers, Strings, number_of, number_text, strings_of
from profilec.runtime.imagefile.container import ImageError, ImageFile, to_bytes
from profilec.values.kinds import Kind

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=8)
EXACT = st.integers() | st.integers(-(10**500), 10**500) | st.decimals(allow_nan=False)


def mapped(texts):
    """The strings as they are after a file."""
    file = ImageFile(to_bytes(Strings(list(texts)).sections("s", matching=False)), "x")
    return Strings.read(file, "s")


@given(st.lists(ANY_TEXT, max_size=30), st.data())
def test_strings_are_a_sequence(texts, data):
    strings = mapped(texts)
    assert not list(strings.faults())
    for found in (strings, Strings(texts), copy.copy(strings), pickle.loads(pickle.dumps(strings))):
        assert list(found) == texts
        assert found == texts == found
        assert found == tuple(texts)
        assert found != [*texts, "x"]
        assert (len(found), bool(found), repr(found)[:5]) == (len(texts), bool(texts), repr(list(found))[:5])
    if texts:
        index = data.draw(st.integers(-len(texts), len(texts) - 1))
        assert strings[index] == texts[index]
        assert strings.raw(index % len(texts)) == texts[index].encode("utf-8", "surrogatepass")
        assert texts[index] in strings
        assert strings.index(texts[index]) == texts.index(texts[index])
    part = slice(*data.draw(st.tuples(*[st.none() | st.integers(-40, 40)] * 2)))
    assert strings[part] == texts[part]
    with pytest.raises(IndexError):
        strings[len(texts)]
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(texts))] * 2)))
    assert strings.part(start, end) == Strings(texts).part(start, end) == texts[start:end]


def test_long_ones_are_shown_in_part():
    assert repr(mapped(str(n) for n in range(1_000))).endswith("'19', … 980 more]")


def test_a_text_that_is_not_utf8_is_refused_when_it_is_read():
    strings = Strings.over(np.array([0, 1, 2]), memoryview(b"\xffa"), ("shop.prfi", "ids"))
    assert strings[1] == "a"
    for read in (lambda: strings[0], lambda: list(strings), lambda: strings == ["a", "b"]):
        with pytest.raises(ImageError, match=r"shop\.prfi: a text of its section ids is not UTF-8"):
            read()


@pytest.mark.parametrize(
    ("off", "data", "fault"),
    [([0, 2, 1, 3], b"abc", "ascend"), ([0, 1, 2], "β".encode(), "cuts"), ([0, 1], b"\xff", "not UTF-8")],
)
def test_faults_of_columns_are_found(off, data, fault):
    (found,) = Strings.over(np.array(off), memoryview(data)).faults()
    assert fault in found


@pytest.mark.parametrize("off", [[-5, 99], [99, 1], [-(2**62), 2**62], [3, 2]])
def test_offsets_from_nowhere_do_no_harm(off):
    strings = Strings.over(np.array(off), memoryview(b"abc"))
    assert len(strings[0]) <= 3
    assert len(strings.raw(0)) <= 3


@given(EXACT)
def test_numbers_come_back(number):
    found = number_of(number_text(number))
    assert type(found) is type(number)
    assert found == number
    assert str(found)[:50] == str(number)[:50]


@pytest.mark.parametrize("text", ["", "=", "=x", "x", "0x", "1.5"])
def test_other_texts_are_no_numbers(text):
    with pytest.raises(ValueError, match=r"."):
        number_of(text)


@given(st.sets(EXACT, max_size=600), EXACT | st.floats(allow_nan=False))
def test_ranks_are_the_same_with_and_without_tuples(numbers, value):
    ascending = sorted(numbers)
    known = Constants(numbers=tuple(ascending))
    lazy = Constants(numbers=Decoded(mapped(map(number_text, ascending)), number_of))
    for asked in (value, *ascending[:3]):
        assert lazy.rank(asked) == known.rank(asked)
    assert lazy == known
    assert type(lazy.numbers) is tuple


def test_many_constants_stay_columns_until_they_are_asked_for():
    numbers = Integers(np.arange(0, 20_000, 2))
    strings = mapped(f"{n:05}" for n in range(0, 20_000, 2))
    constants = Constants(numbers=numbers, strings=strings)
    plain = Constants(numbers=tuple(range(0, 20_000, 2)), strings=tuple(f"{n:05}" for n in range(0, 20_000, 2)))
    for value in (-1, 0, 1, 777, 778.0, Decimal("778.5"), 10**30, "", "00777", "00778", "99999"):
        assert constants.rank(value) == plain.rank(value)
    assert constants.column(Kind.NUMBER) is numbers
    assert constants.column(Kind.STRING) is strings
    assert constants.numbers == plain.numbers
    assert all(type(number) is int for number in constants.numbers)


def test_decoded_decodes_each_once_and_keeps_its_strings():
    told = []
    decoded = Decoded(mapped(["1", "2"]), lambda text: told.append(text) or int(text))
    assert (decoded[-1], decoded[1], list(decoded), decoded[:1]) == (2, 2, [1, 2], [1])
    assert told == ["2", "1"]
    assert strings_of(decoded, str) is decoded.strings
    assert pickle.loads(pickle.dumps(decoded)) == (1, 2)
