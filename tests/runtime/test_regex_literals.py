"""The pre-filter of regexes: a text that RE2 matches never lacks what the pre-filter asks for."""

import pytest
import re2
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from profilec.runtime.literals import MAX_LENGTH, least_length, required_literals
from profilec.runtime.regex import regex_holds
from profilec.values.folding import fold

PLAIN = ["a", "b", "k", "s", "ab", ".", "^", "$", "é", "K", "ſ", "{", "}", "-", "]"]
ESCAPED = [r"\b", r"\d", r"\.", r"\x61", r"\x{212A}", r"\pL", r"\p{Greek}", r"\Qa.b\E", r"\n", r"\07"]
CLASSES = ["[ab]", "[^a]", "[a-k]", "[]a]", r"[\]a]", "[[:alpha:]]"]
FLAGS = ["(?i)", "(?-i)", "(?s)", "(?i:k)", "(?-i:k)"]
ATOMS = st.sampled_from([*PLAIN, *ESCAPED, *CLASSES, *FLAGS])
SUFFIXES = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{0,1}", "{0}", "{1,}", "+?", "*?", "{,2}", "{01}"])


def _wrap(inner):
    pieces = st.lists(st.tuples(inner, SUFFIXES).map("".join), min_size=1, max_size=4).map("".join)
    alternatives = st.lists(pieces, min_size=1, max_size=3).map("|".join)
    return st.tuples(st.sampled_from(["(", "(?:", "(?i:", "(?P<n>", "(?-i:", "(?si:"]), alternatives).map(
        lambda pair: pair[0] + pair[1] + ")"
    )


NESTED = st.recursive(ATOMS, _wrap, max_leaves=8)
REGEXES = st.lists(
    st.lists(st.tuples(NESTED, SUFFIXES).map("".join), min_size=1, max_size=4).map("".join), min_size=1, max_size=2
).map("|".join)
TEXTS = st.text(alphabet="abkKKsSſé.]{}-,12\nα", max_size=12)


@settings(max_examples=150, deadline=None)
@given(REGEXES, st.lists(TEXTS, min_size=5, max_size=20))
def test_a_match_holds_a_required_literal(pattern, texts):
    try:
        re2.compile(pattern)
    except re2.error:
        assume(False)
    required, least = required_literals(pattern), least_length(pattern)
    for text in texts:
        if not regex_holds(pattern, text):
            continue
        assert len(text) >= least, (pattern, text)
        if required is not None:
            seen = fold(text) if required.folded else text
            assert any(literal in seen for literal in required.literals), (pattern, text, required)


def test_re2_ignores_case_no_further_than_folding_does():
    """Every character that `(?i)x` matches folds to x; what the pre-filter says of ASCII letters rests on it."""
    everything = [chr(point) for point in range(0x110000) if not 0xD800 <= point <= 0xDFFF]
    text = "\n".join(everything).encode()
    for letter in "abcdefghijklmnopqrstuvwxyz":
        options = re2.Options()
        options.never_nl = False
        found = re2.findall(f"(?i){letter}".encode(), text)
        assert {fold(character.decode()) for character in found} == {letter}


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        ("error", ("error",)),
        ("err(or|no)[0-9]+", ("error", "errno")),
        ("fo+bar", ("bar",)),
        ("colou?r", ("colour", "color")),
        ("[Ee]rror", ("Error", "error")),
        (r"\bfoo\.bar\b", ("foo.bar",)),
        ("(foo|bar)?baz", ("foobaz", "barbaz", "baz")),
        ("(foo|bar)*baz", ("baz",)),
        ("(foo|bar){2}", ("foo", "bar")),
        ("a(?:b(?:c)d)e", ("abcde",)),
        ("foo|", None),
        ("foo|[a-z]", None),
        ("foo*", ("fo",)),
        ("x" * 100, ("x" * MAX_LENGTH,)),
        (r"\Qa.b\E", None),
        ("a+(?i)*", None),
    ],
)
def test_literals_found(pattern, literals):
    required = required_literals(pattern)
    assert (None if required is None else required.literals) == literals


@pytest.mark.parametrize(
    ("pattern", "least"),
    [
        ("", 0),
        ("abc", 3),
        ("ab|c", 1),
        ("(ab){3}", 6),
        ("[ab]{2,}c?", 2),
        (r"\d\bx*", 1),
        ("(?i)é{4}", 4),
        ("a{01}", 0),
    ],
)
def test_least_lengths(pattern, least):
    assert least_length(pattern) == least


def test_ignored_case_speaks_of_the_folded_text():
    required = required_literals("(?i)SELECT .* from")
    assert required is not None
    assert (required.literals, required.folded) == (("select ",), True)
    assert required_literals("(?i)é") is None  # RE2's case folding is asked of ASCII only


def test_deep_parentheses_are_read_without_recursion():
    required = required_literals("(" * 5_000 + "abc" + ")" * 5_000)
    assert required is not None
    assert required.literals == ("abc",)
