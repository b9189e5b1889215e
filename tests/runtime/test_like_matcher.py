"""One LIKE pattern in compiled code, against its plain definition in `values.patterns`."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profilec.runtime.like import LikeMatcher, like_holds, read_like
from profilec.values.folding import fold
from profilec.values.patterns import fold_pattern, like_matches, parse_like

# Few characters, so that near misses are common: regex metacharacters, two-byte and four-byte ones, lone surrogates.
ALPHABET = "ab.*\\\n é😀\ud800\udfff\uffff"
PATTERNS = st.text(alphabet="ab%%_", max_size=6) | st.text(alphabet=ALPHABET + "%%%___", max_size=8)
TEXTS = st.text(alphabet="ab", max_size=6) | st.text(alphabet=ALPHABET, max_size=10)


@settings(max_examples=500, deadline=None)
@given(PATTERNS, TEXTS)
def test_is_the_definition(pattern, text):
    read = parse_like(pattern)
    assert LikeMatcher(read).matches(text) == like_matches(read, text)


@given(st.text(alphabet="aA%_ſkK", max_size=6), st.text(alphabet="aAsSſkKK", max_size=6))
def test_ignoring_case_is_folding_both(pattern, text):
    read = fold_pattern(parse_like(pattern))
    assert like_holds(read, text, ignore_case=True) == like_matches(read, fold(text))


@pytest.mark.parametrize(
    ("pattern", "text", "holds"),
    [
        ("", "", True),
        ("", "a", False),
        ("%", "", True),
        ("_", "", False),
        ("a%a", "a", False),  # the ends must not overlap
        ("ab%bc", "abc", False),
        ("%ab%b%", "abx", False),  # nor may two literals in between
        ("%a_%_b", "axb", False),
        ("%aa_b%", "aaaab", True),  # the first place where `aa` stands is not the one
        ("%_\ud800_%", "x\ud800y", True),
        ("%_x_%", "\ud800x\udfff", True),
        ("%\uffff_%", "\ud800x", False),  # a surrogate is not the character that stands in for it
    ],
)
def test_named_cases(pattern, text, holds):
    assert LikeMatcher(parse_like(pattern)).matches(text) is holds


def test_escape_that_escapes_nothing_gives_no_pattern():
    assert read_like("a!b", "!", False) is None
    assert read_like("a!%B", "!", True) == parse_like("a!%b", "!")


@pytest.mark.parametrize("pattern", ["%" + "a%" * 200 + "b", "%a_a" * 100 + "_b%", "%" + "a" * 500 + "b%"])
def test_hostile_pattern_on_a_hostile_text_is_linear(pattern):
    started = time.process_time()
    assert not LikeMatcher(parse_like(pattern)).matches("a" * 1_000_000)
    assert time.process_time() - started < 20
