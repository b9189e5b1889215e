"""Diagnostics: what is said of each wrong text, and that the caret stands under what is meant."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from profilec.grammar.check import check
from profilec.grammar.diagnostics import CODES, Diagnostic, ProfileError, Source, did_you_mean, suggest, width
from profilec.grammar.limits import Limits
from profilec.grammar.parse import parse_condition
from profilec.grammar.statements import decode, iter_profiles, read_schema
from profilec.values.types import Schema
from tests.grammar.golden_blocks import TESTDATA, cases, compare

# Codes that other stages give: ids and schemas of a whole set, examples, SQL.
OF_OTHER_STAGES = {"PC216", "PC615"} | {code for code in CODES if code.startswith(("PC4", "PC5"))}
SMALL = Limits(max_depth=4, max_terms=4, max_size=60)


def of_condition(text: str, limits: Limits = Limits()) -> str:  # noqa: B008
    text = text.removesuffix("\n")
    try:
        diagnostics = check(parse_condition(text, limits=limits), text)
    except ProfileError as error:
        diagnostics = list(error.diagnostics)
    return "\n".join(map(str, diagnostics)) or "nothing"


def of_file(text: str) -> str:
    """All diagnostics of a file, and the ids of the profiles that are good."""
    data = text.encode().replace(b"\\xFF", b"\xff").replace(b"\\0", b"\0")
    found: list[Diagnostic] = []
    decoded = decode(data, "p.prof", found.append)
    ids = []
    if decoded is not None:
        fields = tuple(field for field, _, _ in read_schema(decoded, "p.prof", found.append))
        schema = Schema(fields) if fields else None
        ids = [p.id for p in iter_profiles(decoded, file="p.prof", schema=schema, report=found.append)]
    return "\n".join([*map(str, found), f"good: {', '.join(ids) or 'none'}"])


@pytest.mark.parametrize(("file", "number"), [*cases("diagnostics", "text"), *cases("diagnostics", "meaning")])
def test_errors(file: Path, number: int, rewrite_golden: bool) -> None:
    compare(file, number, rewrite_golden, of_condition)


@pytest.mark.parametrize(("file", "number"), [*cases("diagnostics", "warnings")])
def test_warnings(file: Path, number: int, rewrite_golden: bool) -> None:
    compare(file, number, rewrite_golden, of_condition)


@pytest.mark.parametrize(("file", "number"), [*cases("diagnostics", "limits")])
def test_limits(file: Path, number: int, rewrite_golden: bool) -> None:
    compare(file, number, rewrite_golden, lambda text: of_condition(text, SMALL))


@pytest.mark.parametrize(("file", "number"), [*cases("diagnostics", "schema"), *cases("diagnostics", "statements")])
def test_files(file: Path, number: int, rewrite_golden: bool) -> None:
    compare(file, number, rewrite_golden, of_file)


def test_every_code_has_a_golden_case() -> None:
    text = "".join(file.read_text(encoding="utf-8") for file in (TESTDATA / "diagnostics").glob("*.txt"))
    assert {code for code in CODES if f" {code}: " in text} == set(CODES) - OF_OTHER_STAGES


def test_a_family_says_how_grave_a_code_is() -> None:
    source = Source("abc")
    assert {code: source.diagnostic(code, 0, 1, "").severity for code in CODES} == {
        code: "warning" if code.startswith("PC6") else "error" for code in CODES
    }


@pytest.mark.parametrize(
    "before",
    ["", "a\t", "\t\t", "価格", "e\u0301e\u0301", "🙂 ", "\u200b", "한글", "ﬃ", "x" * 300, "価" * 300, "\x1b[31m"],
)
def test_the_caret_stands_under_what_is_meant(before: str) -> None:
    text = f"first\n{before}HERE and after\nlast"
    start = text.index("HERE")
    shown, caret = Source(text).diagnostic("PC101", start, start + 4, "m").render().splitlines()[1:]
    cells = sum(map(width, shown[: shown.index("HERE")]))
    assert caret == " " * cells + "^^^^"
    assert "\x1b" not in shown


def test_a_mark_that_is_wide_or_combining() -> None:
    wide = Source("a = 価格").diagnostic("PC101", 4, 6, "m").render().splitlines()
    assert wide[2] == "      ^^^^"
    combining = Source("ae\u0301b").diagnostic("PC101", 2, 3, "m").render().splitlines()
    assert combining[2] == "   ^"


def test_a_mark_ends_with_its_line() -> None:
    found = Source("ab\ncd").diagnostic("PC101", 1, 5, "m")
    assert (found.line, found.column, found.end_column, found.source_line) == (1, 2, 3, "ab")


def test_the_end_of_a_text() -> None:
    found = Source("a =").diagnostic("PC101", 3, 3, "m")
    assert (found.line, found.column, found.end_column) == (1, 4, 5)
    assert Source("").diagnostic("PC101", 0, 0, "m").render().endswith("^")


def test_a_very_long_line_is_kept_in_part() -> None:
    text = "x" * 1_000_000 + "HERE" + "y" * 1_000_000
    found = Source(text).diagnostic("PC101", 1_000_000, 1_000_004, "m")
    assert found.column == 1_000_001
    assert found.source_line is not None
    assert len(found.source_line) < 2_000
    assert found.source_line[found.column - found.source_column :].startswith("HERE")


def test_places_in_any_order() -> None:
    text = "ab\n\ncde\n"
    expected = [(1, 1), (1, 2), (1, 3), (2, 1), (3, 1), (3, 2), (3, 3), (3, 4), (4, 1)]
    source = Source(text)
    for offsets in (range(9), reversed(range(9)), [5, 0, 8, 3, 4, 2, 7]):
        for offset in offsets:
            assert source.position(offset) == expected[offset]


def test_carriage_returns_are_not_shown() -> None:
    assert Source("a b\r\nc").diagnostic("PC101", 2, 3, "m").source_line == "a b"


def test_suggestions() -> None:
    assert suggest("prise", ["price", "prize_money"]) == "price"
    assert suggest("PRICE", ["price"]) == "price"
    assert suggest("price", []) is None
    assert did_you_mean("zzz", ["price"]) is None


def test_an_error_tells_all_and_can_be_pickled() -> None:
    with pytest.raises(ProfileError) as error:
        parse_condition("foo(a) = 1 AND bar(b) = 2", file="a.prof")
    assert [d.line for d in error.value.diagnostics] == [1, 1]
    assert str(error.value) == "\n".join(d.render() for d in error.value.diagnostics)
    assert pickle.loads(pickle.dumps(error.value)).diagnostics == error.value.diagnostics


def test_what_a_terminal_would_obey_is_escaped_in_message_and_hint() -> None:
    found = Diagnostic("PC101", "error", "a\x1b[31m\nb", hint="\u202e `c\td`")
    assert found.render().splitlines() == [r"text: error PC101: a\x1b[31m\nb", r"  hint: \u202e `c\td`"]
