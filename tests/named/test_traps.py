"""Traps of the compiler and the matchers: patterns decided together, faults of a file, negation at records."""

from __future__ import annotations

import random
import re

import pytest
from asking import truth

import profilec

UNKNOWN = None


def test_a_prefix_is_a_range_of_strings() -> None:
    last = "\U0010ffff"
    assert truth("x LIKE 'ab%'", {"x": "ab"}) is True
    assert truth("x LIKE 'ab%'", {"x": "ab" + last * 3}) is True
    assert truth("x LIKE 'ab%'", {"x": "ac"}) is False
    assert truth(f"x LIKE 'a{last}%'", {"x": f"a{last}b"}) is True
    assert truth(f"x LIKE 'a{last}%'", {"x": "b"}) is False
    assert truth(f"x LIKE '{last}%'", {"x": last * 2}) is True
    assert truth("x LIKE '\ud7ff%'", {"x": "\ue000"}) is False
    assert truth("x NOT LIKE 'ab%'", {"x": "aa"}) is True


def test_a_suffix_is_one_too() -> None:
    assert truth("x LIKE '%abab'", {"x": "aabab"}) is True
    assert truth("x LIKE '%ab' AND x LIKE 'ab%'", {"x": "ab"}) is True
    assert truth("x LIKE 'ab%ab'", {"x": "ab"}) is False
    assert truth("x LIKE 'aba%aba'", {"x": "ababa"}) is False


def test_negations_stop_at_records() -> None:
    items = [{"sku": "x"}, {"sku": "y"}]
    assert truth("NOT ANY items AS i (NOT i.sku = 'x')", {"items": items}) is False
    assert truth("NOT ALL items AS i (i.sku = 'x' OR i.qty > 1)", {"items": items}) is UNKNOWN
    assert truth("(ANY items AS i (i.qty > 1)) IS UNKNOWN", {"items": items}) is True


def test_many_patterns_are_decided_as_each_alone() -> None:
    draw = random.Random(7)
    pieces = ["ab", "ba", "abc", "xyz", "k1", "é", "日本", "a", "0"]
    likes = ["%".join(draw.choice(pieces) for _ in range(draw.randint(1, 3))) for _ in range(200)]
    likes = [draw.choice(("{}%", "%{}", "%{}%", "{}", "_{}%")).format(like) for like in likes]
    regexes = [draw.choice(("{}+", "^{}", "{}$", "[{}]{{2}}", "{}.*{}")) for _ in range(100)]
    regexes = [regex.replace("{}", draw.choice(pieces)) for regex in regexes]
    texts = ["".join(draw.choice(pieces) for _ in range(draw.randint(0, 6))) for _ in range(60)]
    wheres = {f"like {place} {like}": f"x LIKE '{like}'" for place, like in enumerate(likes)}
    wheres |= {f"regex {place} {regex}": f"x MATCHES '{regex}'" for place, regex in enumerate(regexes)}
    expected = [
        [f"like {p} {like}" for p, like in enumerate(likes) if re.fullmatch(_translated(like), text, re.DOTALL)]
        + [f"regex {p} {regex}" for p, regex in enumerate(regexes) if re.search(regex, text)]
        for text in texts
    ]
    for matcher in ("scan", "bitmap"):
        profiles = profilec.compile(wheres, options={"matcher": matcher})
        assert [list(ids) for ids in profiles.match_batch([{"x": text} for text in texts])] == expected
        assert [profiles.match({"x": text}) for text in texts[:10]] == expected[:10]


def _translated(like: str) -> str:
    return "".join(".*" if c == "%" else "." if c == "_" else re.escape(c) for c in like)


def test_an_exhausted_set_of_regexes_is_not_no_match() -> None:
    # Each alone is small; together their automata outgrow any memory limit.
    regexes = {str(n): f"(?:[a-z]{{1,40}}{n}[a-z]{{1,40}}){{1,5}}z.*y{n}" for n in range(300)}
    profiles = profilec.compile({id_: f"x MATCHES '{regex}'" for id_, regex in regexes.items()})
    text = "abc7defz abc123defz abc299defz " + "q" * 300 + " y7 y123 y299"
    assert [id_ for id_, regex in regexes.items() if re.search(regex, text)] == ["7", "123", "299"]
    assert profiles.match({"x": text}) == ["7", "123", "299"]


def test_a_pattern_per_document() -> None:
    profiles = profilec.compile({"p": "a LIKE b", "q": "a NOT LIKE b ESCAPE '!'"})
    assert [list(ids) for ids in profiles.match_batch([{"a": "x", "b": b} for b in ("x", "_", "y", "!", 5, None)])] == [
        ["p"],
        ["p"],
        ["q"],
        [],
        [],
        [],
    ]


@pytest.mark.parametrize(
    "fault",
    [
        "PROFILE bad WHERE a = 'unclosed",
        'PROFILE bad WHERE a = "unclosed',
        "PROFILE bad WHERE `a = 1",
        "PROFILE bad WHERE (a = 1",
        "PROFILE bad WHERE a = 1 /* never closed",
        "PROFILE bad WHERE a = = 1;",
        "PROFILE bad WHERE a = 1",
        "PROFILE bad a = 1;",
        "SCHEMA (a NUMBER",
        'PROFILE bad WHERE a = 1 ACCEPTS {"a": ;',
        'PROFILE bad WHERE a = 1 ACCEPTS {"a": "unclosed};',
        "what is this;",
        ");",
    ],
)
def test_a_fault_loses_no_good_profile(fault: str) -> None:
    text = f"PROFILE one WHERE a = 1;\n\n{fault}\n\nPROFILE two WHERE a = 'it''s; fine';\nPROFILE three WHERE a = 3;\n"
    profiles = profilec.compile(text, on_error="skip")
    assert profiles.ids == ["one", "two", "three"]
    errors = [found for found in profiles.diagnostics if found.severity == "error"]
    assert errors
    assert min(found.line or 0 for found in errors) == 3


def test_every_error_of_a_file_is_reported() -> None:
    text = "PROFILE a WHERE x = ;\nPROFILE b WHERE x IN ();\nPROFILE c WHERE y = 1;\nPROFILE c WHERE FOO(x) = 1;\n"
    with pytest.raises(profilec.ProfileError) as caught:
        profilec.compile(text)
    assert [found.line for found in caught.value.diagnostics if found.severity == "error"] >= [1, 2, 4]
