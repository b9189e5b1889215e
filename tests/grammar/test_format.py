"""`profilec fmt`: one style, nothing lost, nothing changed in meaning, and the same again the second time."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profilec.grammar.diagnostics import Diagnostic, ProfileError
from profilec.grammar.format import format_text
from profilec.grammar.layout import HARD, LINE, SOFT, Comment, Group, Indent, set_lines
from profilec.grammar.lexer import Token, tokens
from profilec.grammar.print import print_condition
from profilec.grammar.statements import iter_profiles, read_schema
from profilec.values.types import TYPE_NAMES
from tests.grammar.golden_blocks import DIVIDER, TESTDATA
from tests.grammar.ir_strategies import conditions

NEXT = "\n====\n"
GOLDEN = sorted((TESTDATA / "format").glob("*.txt"))


def golden_cases() -> list[object]:
    return [
        pytest.param(file, number, id=f"{file.stem}-{number}")
        for file in GOLDEN
        for number in range(len(file.read_text(encoding="utf-8").split(NEXT)))
    ]


def formatted(text: str) -> str:
    return format_text(text, report=lambda _: None)


@pytest.mark.parametrize(("file", "number"), golden_cases())
def test_golden(file: Path, number: int, rewrite_golden: bool) -> None:
    """Blocks of text and formatted text, parted by lines of `====`: both may have blank lines."""
    blocks = file.read_text(encoding="utf-8").split(NEXT)
    text, _, expected = (blocks[number] + "\n").partition(DIVIDER)
    result = formatted(text).rstrip("\n")
    if rewrite_golden:
        blocks[number] = f"{text}{DIVIDER}{result}"
        file.write_text(NEXT.join(blocks).rstrip("\n") + "\n", encoding="utf-8")
        return
    assert result == expected.rstrip("\n")
    assert formatted(result) == result + "\n"
    assert all(len(line) <= 100 for line in result.split("\n") if "x" * 80 not in line)


def content(text: str) -> tuple[list[tuple[str, str]], list[str]]:
    """What formatting keeps: the tokens, but for the case of keywords and types; and the comments, in order."""
    words: list[tuple[str, str]] = [("SEMICOLON", ";")]
    comments = []
    for token in tokens(text, comments=True):
        if token.type == "COMMENT":
            comments.append(" ".join(token.text.split()))
        elif not token.type == words[-1][0] == "SEMICOLON":  # an empty statement
            words.append((token.type, kept(token)))
    return words, comments


def kept(token: Token) -> str:
    if token.type == "JSON":
        return "".join(token.text.split())
    is_name = token.type in ("NAME", "STRING") and token.text.upper() not in TYPE_NAMES
    return token.text if is_name else token.text.upper()


SPACES = st.sampled_from([" "] * 12 + ["\n", "  \n\n "])
COMMENTS = st.sampled_from(
    [" -- c\n", "\n-- alone\n", " /* in */ ", "\n/* alone */\n", "\n /* in */", " /* two\n   lines */ ", "-- a\n-- b\n"]
)
CLAUSES = st.sampled_from(
    [
        """ACCEPTS {"a": 1, "b": [1, 2.50, "x"]}""",
        """REJECTS {}, {"a": {"b": null, "c": "a {long} string, with: punctuation, -- and 'quotes'", "d": []}}""",
        """GIVEN [{"a": 1}, {"a": 2}] ACCEPTS {"a":1}, {"a":2}""",
    ]
)


@st.composite
def files(draw: st.DrawFn) -> str:
    """Statements that parse, with white space and comments wherever they may stand."""
    statements = []
    for number in range(draw(st.integers(1, 3))):
        condition = print_condition(draw(conditions(draw(st.integers(0, 4)))))
        properties = draw(st.sampled_from(["", "WITH (priority = 5, owner = 'ann')"]))
        clauses = " ".join(draw(st.lists(CLAUSES, max_size=2)))
        statements.append(f"profile p{number} {properties} where {condition} {clauses};")
    statements.append(
        draw(
            st.sampled_from(
                ["", ";", "schema (a number not null, `b c` array<record(d date, e array<string>)>, f boolean);"]
            )
        )
    )
    pieces: list[str] = []
    text = " ".join(statements)
    n_comments = draw(st.sampled_from([0, 0, 1, 5]))
    for token in tokens(text):
        pieces.append(token.text)
        pieces.append(draw(COMMENTS if n_comments and draw(st.integers(0, 20)) < n_comments else SPACES))
    return "".join(pieces)


@settings(max_examples=120, deadline=None)
@given(files())
def test_nothing_is_lost_and_the_second_time_changes_nothing(text: str) -> None:
    result = formatted(text)
    assert content(result) == content(text)
    assert formatted(result) == result


@settings(max_examples=40, deadline=None)
@given(files())
def test_meaning_stays(text: str) -> None:
    def meaning(text: str) -> list[object]:
        found: list[Diagnostic] = []
        profiles = iter_profiles(text, report=found.append)
        fields = [(p.id, p.condition, p.properties, [e[:2] for e in p.examples]) for p in profiles]
        return [fields, read_schema(text, None, found.append) and "schema", [d.code for d in found]]

    assert meaning(formatted(text)) == meaning(text)


@pytest.mark.parametrize(
    "broken",
    [
        "PROFILE  b   WHERE a = = 1;",
        "PROFILE  b   WHERE a = 'x;",
        "PROFILE  b   WHERE (a = 1;",
        "PROFILE  b   WHERE a /* c = 1;",
        "profile  b   where a = 1",
        "nonsense   here ;",
        'PROFILE  b  WHERE a ACCEPTS {"a":  1, "a": 2};',
    ],
)
def test_what_cannot_be_read_stays_as_it_is_and_is_reported(broken: str) -> None:
    found: list[Diagnostic] = []
    text = f"profile a where x;\n{broken}\nprofile c where y;\n"
    result = format_text(text, "f.prof", report=found.append)
    assert f"\n\n{broken}\n\n" in result
    assert result.startswith("PROFILE a WHERE x;")
    assert result.endswith("PROFILE c WHERE y;\n")
    assert [(diagnostic.file, diagnostic.line) for diagnostic in found] == [("f.prof", 2)]
    assert formatted(result) == result
    with pytest.raises(ProfileError):
        format_text(text)


@pytest.mark.parametrize("text", ["", " \n\n", "\ufeff"])
def test_empty_files(text: str) -> None:
    assert format_text(text) == ""


def test_line_ends_and_byte_order_mark() -> None:
    text = "\ufeffprofile a\r\nwhere x -- why  \r\n= 'a\r\nb';\r\n\r\n\r\n-- end\t\r\n"
    assert format_text(text) == "PROFILE a\n  WHERE x -- why\n    = 'a\r\nb';\n\n-- end\n"


def test_text_that_is_not_utf8_stays_as_it_is() -> None:
    found: list[Diagnostic] = []
    text = "profile a where x; -- \udcff\n"
    assert format_text(text, report=found.append) == text
    assert [diagnostic.code for diagnostic in found] == ["PC107"]


def test_wide_and_deep_statements_are_set_in_linear_time() -> None:
    values = ", ".join(map(str, range(5_000)))
    wide = f"PROFILE p WHERE a IN ({values}) AND {' OR '.join(f'b = {n}' for n in range(2_000))};"
    assert formatted(wide).count("\n") > 2_000
    deep = f"PROFILE p WHERE {'(' * 199}a{')' * 199};"
    assert formatted(formatted(deep)) == formatted(deep)


def test_layout_takes_the_line_ends_of_a_group_together() -> None:
    inner = Group("(", Indent(SOFT, "a,", LINE, "b"), SOFT, ")")
    outer = Group("x", LINE, inner)
    assert set_lines(outer, 9) == "x (a, b)"
    assert set_lines(outer, 6) == "x\n(a, b)"
    assert set_lines(outer, 5) == "x\n(\n  a,\n  b\n)"
    assert set_lines(Group("a", Comment("-- c", alone=False), LINE, "b", HARD, "c"), 80) == "a -- c\nb\nc"
    assert set_lines(Group("a", Comment("-- c", alone=True), "b"), 80) == "a\n-- c\nb"
    assert set_lines(Group("価格", LINE, "b"), 5) == "価格\nb"
