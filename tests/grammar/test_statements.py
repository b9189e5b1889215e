"""Statements: profiles one by one, with all that belongs to them; what is wrong costs no good profile."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from profilec.grammar import cut, ir, parse, statements
from profilec.grammar.cut import Cutter
from profilec.grammar.diagnostics import Diagnostic
from profilec.grammar.lexer import json_extent
from profilec.grammar.limits import Limits
from profilec.grammar.parse import parse_condition, parse_statement
from profilec.grammar.statements import ProfileStatement, decode, iter_profiles, parse_where, read_schema
from profilec.values.dates import parse_date
from profilec.values.types import Field, Schema, Type


def read(text: str, schema: Schema | None = None) -> tuple[list[ProfileStatement], list[Diagnostic]]:
    found: list[Diagnostic] = []
    return list(iter_profiles(text, file="p.prof", schema=schema, report=found.append)), found


def good(text: str) -> list[ProfileStatement]:
    profiles, found = read(text)
    assert not found
    return profiles


FULL = """\
SCHEMA (price NUMBER);

-- Cheap things.
--   And nothing else.
PROFILE cheap
  WITH (priority = -5, owner = 'ann', since = DATE '2024-01-01', note = NULL, on = TRUE)
  WHERE  brand = "Acme" AND -- the brand
    10 <= price
  ACCEPTS {"brand": "Acme", "price": 12},
          {"price": 1.5}
  GIVEN [{"isbn": "1"}, {}] REJECTS {"a": [1, {"b": null}]};  -- of cheap, not of next
PROFILE next WHERE x;

/* a block
   of two lines */
PROFILE 'quoted; id' WHERE y = ';';

-- stands alone

PROFILE last WHERE z;
"""


def test_all_of_a_statement() -> None:
    profiles = good(FULL)
    assert [p.id for p in profiles] == ["cheap", "next", "quoted; id", "last"]
    cheap = profiles[0]
    assert cheap.where == 'brand = "Acme" AND -- the brand\n    10 <= price'
    assert cheap.condition is parse_condition(cheap.where).node
    assert cheap.properties == {
        "priority": -5, "owner": "ann", "since": parse_date("2024-01-01"), "note": None, "on": True,
    }  # fmt: skip
    assert (cheap.line, cheap.column, cheap.file) == (7, 10, "p.prof")
    assert FULL[cheap.start :].startswith(cheap.where)
    assert [(e.kind, e.document, e.given, e.line, e.column) for e in cheap.examples] == [
        ("ACCEPTS", {"brand": "Acme", "price": 12}, [], 9, 11),
        ("ACCEPTS", {"price": 1.5}, [], 10, 11),
        ("REJECTS", {"a": [1, {"b": None}]}, [{"isbn": "1"}, {}], 11, 37),
    ]


def test_comments_right_above_are_the_profiles() -> None:
    assert [p.comment for p in good(FULL)] == ["Cheap things.\nAnd nothing else.", None, "a block\nof two lines", None]


def test_a_given_holds_until_the_next() -> None:
    text = (
        'PROFILE a WHERE x ACCEPTS {} GIVEN [{"n": 1}] ACCEPTS {} REJECTS {} '
        'GIVEN [{"n": 2}] REJECTS {} GIVEN [] ACCEPTS {};'
    )
    assert [e.given for e in good(text)[0].examples] == [[], [{"n": 1}], [{"n": 1}], [{"n": 2}], []]


@pytest.mark.parametrize("text", ["", " \n\t", "-- c", "/* c */", ";", "; ;\n", "\ufeff"])
def test_an_empty_file(text: str) -> None:
    assert good(text) == []
    assert read_schema(text, None, pytest.fail) == []


def test_carriage_returns_and_a_byte_order_mark() -> None:
    data = b"\xef\xbb\xbf-- c\r\nPROFILE a\r\nWHERE x = 'a\r\nb';\r\n"
    text = decode(data, "f", pytest.fail)
    assert text is not None
    (profile,) = good(text)
    assert (profile.line, profile.column, profile.comment) == (3, 7, "c")
    assert profile.condition is ir.Compare("=", ir.attribute("x"), ir.constant("a\r\nb"))
    assert [p.id for p in good("\ufeffPROFILE a WHERE x;")] == ["a"]


@pytest.mark.parametrize("data", ["PROFILE a WHERE x;".encode("utf-16"), "PROFILE a WHERE x;".encode("utf-16-be")])
def test_a_file_in_another_encoding(data: bytes) -> None:
    found: list[Diagnostic] = []
    assert decode(data, "f", found.append) is None
    assert [(d.code, d.file) for d in found] == [("PC107", "f")]


def test_bytes_that_are_not_utf8_cost_only_what_holds_them() -> None:
    data = b"PROFILE a WHERE x;\nPROFILE b WHERE x = '\xe9';\nPROFILE c WHERE y; -- \xe9\nPROFILE d WHERE z;"
    profiles, found = read(decode(data, "f", pytest.fail) or "")
    assert [p.id for p in profiles] == ["a", "c", "d"]
    assert [(d.code, d.line, d.column) for d in found] == [("PC107", 2, 22), ("PC107", 3, 23)]


def test_plain_and_other_statements_mean_the_same() -> None:
    """The plain form is read by one expression, the same statement with a comment in it by the parser."""
    plain = "PROFILE {} WHERE a = {} AND b IN ('x', {}) AND c LIKE '%{}' OR d - 1 / 2 = \"{}\";\n"
    text = "".join(plain.format(f"p{n}", n, n * 2, f"it''s{n}", 'q""') for n in range(10))
    commented = text.replace("WHERE ", "WHERE /**/ ")
    assert [p.condition for p in good(text)] == [p.condition for p in good(commented)]
    assert [(p.line, p.column, p.where) for p in good(text)] == [
        (n + 1, 18, line.partition("WHERE ")[2].rstrip(";")) for n, line in enumerate(text.splitlines())
    ]


@pytest.mark.parametrize(
    "name", ["'it''s'", '"q"', "`a b`", "a.b", "größe", "where", "with", "_1", "profile", "'null'"]
)
def test_ids(name: str) -> None:
    (profile,) = good(f"PROFILE {name} WHERE x;")
    assert profile.id == name.strip("'\"`").replace("''", "'")


@pytest.mark.parametrize("name", ["null", "'a\x00b'", "'a\u2028b'", '"\x1b[31m"', "''", "a-b", "1a"])
def test_what_is_no_id(name: str) -> None:
    profiles, found = read(f"PROFILE a WHERE x;PROFILE {name} WHERE x;PROFILE b WHERE x;")
    assert [p.id for p in profiles] == ["a", "b"]
    assert len(found) == 1


def test_a_profile_that_starts_a_line_inside_a_string_is_no_profile() -> None:
    text = "PROFILE a WHERE x = '\nPROFILE b WHERE y;\n';\nPROFILE c WHERE z;"
    assert [p.id for p in good(text)] == ["a", "c"]


def test_the_id_is_told_where_it_can_be_read() -> None:
    _, found = read("PROFILE a WHERE ;PROFILE 'b c' WHERE ;PROFILE;")
    assert [d.profile for d in found] == ["a", "b c", None]


def test_a_missing_semicolon_is_an_error() -> None:
    profiles, found = read("PROFILE a WHERE x\nPROFILE b WHERE y;\nPROFILE c WHERE price < 10")
    assert [p.id for p in profiles] == ["b"]
    assert [(d.code, d.line) for d in found] == [("PC101", 1), ("PC101", 3)]


def test_limits_of_a_profile() -> None:
    found: list[Diagnostic] = []
    text = f"PROFILE a WHERE {'(' * 10_000}x; PROFILE b WHERE x = {'1' * 5000};\nPROFILE c WHERE x;"
    assert [p.id for p in iter_profiles(text, report=found.append)] == ["c"]
    assert [d.code for d in found] == ["PC301", "PC304"]
    long = f"PROFILE a WHERE x = '{'y' * 90}';"
    assert not list(iter_profiles(long, limits=Limits(max_size=50), report=found.append))
    assert found[-1].code == "PC303"


def test_json_nested_deep_is_no_crash() -> None:
    _, found = read(f'PROFILE a WHERE x ACCEPTS {"{"}"a": {"[" * 100_000}{"]" * 100_000}{"}"};')
    assert [d.code for d in found] == ["PC301"]


# ---- recovery


FAULTS: list[Callable[[str], str]] = [
    lambda text: text.replace("'", "", 1) if "'" in text else text.replace('"', "", 1),
    lambda text: text.replace(" = ", " = '", 1),
    lambda text: text.replace(" = ", ' = "', 1),
    lambda text: text.replace(" = ", " = `", 1),
    lambda text: text.replace(" = ", " = (", 1),
    lambda text: text.replace(" = ", " /* = ", 1),
    lambda text: text.replace(" AND ", " AND AND ", 1),
    lambda text: text.removesuffix(";"),
    lambda text: text.replace("WHERE", "WEHRE", 1),
    lambda text: text.replace("PROFILE", "PROFYLE", 1),
    lambda text: text.replace(" = ", " = 5 'x' ", 1),
    lambda text: text.removesuffix(";") + ' ACCEPTS {"a": 1;',
    lambda text: text.removesuffix(";") + ' ACCEPTS {"a: 1};',
    lambda text: text.replace(" = ", " = [", 1),
    lambda text: text.replace(" = ", " = } ", 1),
    lambda text: text.replace(" = ", " = \udc80", 1),
    lambda text: text.replace(" = ", " ?= ", 1),
    lambda text: text.replace("PROFILE ", "PROFILE -", 1),
    lambda text: text.replace("name", "nonsense(name)", 1),
    lambda text: text.partition("WHERE")[0] + "WHERE ;",
]

# What stands before a profile, the profile, and what stands behind it.
FORMS = [
    ("", "PROFILE p{n} WHERE name = 'n{n}' AND price < {n};", "\n"),
    ("", 'PROFILE p{n} WHERE price BETWEEN {n} AND 2000000 AND name = "x{n}";', " -- it's {n}\n"),
    (
        "-- don't\n",
        "PROFILE 'p{n}'\n  WHERE name = 'a;b' AND note LIKE '%{n}'\n  ACCEPTS {{\"name\": \"a\\\"; PROFILE\"}};",
        "\n",
    ),
    ("/* {n} ' */ ", "PROFILE p{n} WITH (k = {n}) WHERE name = 'it''s' AND `a;b` IN ({n}, 2);", "\n"),
    ("", "PROFILE p{n} WHERE name = 'first\nline' AND EXISTS d (d.x = {n});", "\n\n"),
]


def written(form: tuple[str, str, str], n: int, fault: Callable[[str], str] = str) -> str:
    before, statement, after = (part.format(n=n) for part in form)
    faulty = fault(statement)
    assert fault is str or faulty != statement
    return before + faulty + after


@pytest.mark.parametrize("seed", range(4))
def test_no_good_profile_is_lost(seed: int) -> None:
    """Two in a hundred are faulty, in every way there is."""
    rng = random.Random(seed)
    expected, pieces = [], []
    for n in range(1_500):
        is_faulty = rng.random() < 0.02
        pieces.append(written(rng.choice(FORMS), n, rng.choice(FAULTS) if is_faulty else str))
        expected += [] if is_faulty else [f"p{n}"]
    profiles, found = read("".join(pieces))
    assert [p.id for p in profiles] == expected, f"seed {seed}"
    assert found


@pytest.mark.parametrize("fault", FAULTS, ids=range(len(FAULTS)))
@pytest.mark.parametrize("form", FORMS, ids=range(len(FORMS)))
@pytest.mark.parametrize("following", FORMS, ids=range(len(FORMS)))
def test_a_fault_costs_one_profile(
    form: tuple[str, str, str], following: tuple[str, str, str], fault: Callable[[str], str]
) -> None:
    text = written(form, 0) + written(form, 1, fault) + written(following, 2) + written(form, 3)
    profiles, found = read(text)
    assert [p.id for p in profiles] == ["p0", "p2", "p3"]
    first, last = (text.count("\n", 0, len(written(form, 0)) + at) + 1 for at in (0, len(written(form, 1, fault))))
    assert all(first <= (diagnostic.line or 0) <= last for diagnostic in found)
    assert found


@pytest.mark.parametrize("opener", ["'", '"', "`", "/*", "(", "[", "{", 'ACCEPTS {"a": "', "'\"`/*"])
def test_many_unclosed_in_linear_time(opener: str) -> None:
    """One never closed in each of many statements; with a search to the end for each this takes minutes."""
    text = "".join(f"PROFILE p{n} WHERE x = {n} {opener} ;\n" for n in range(3_000))
    profiles, found = read(text + "PROFILE good WHERE x;\n")
    assert [p.id for p in profiles] == ["good"]
    assert len(found) >= 3_000


def test_statements_are_cut_outside_strings_comments_and_json() -> None:
    text = 'a \';\' ";" `;` -- ;\n /* ; */ {"x": ";"} - / b; c'
    cutter = Cutter(text)
    first = cutter.cut(0)
    assert first is not None
    second = cutter.cut(first.next)
    assert second is not None
    assert (text[first.start : first.end], first.is_terminated) == (text[:-3], True)
    assert (text[second.start : second.end], second.is_terminated) == ("c", False)


# ---- schema


def test_schema_statements() -> None:
    text = (
        "PROFILE a WHERE schema = 1;\nSCHEMA (price NUMBER NOT NULL, tags ARRAY<ARRAY<STRING>>);\n"
        "schema (`unit price` number, user.city STRING, items ARRAY<RECORD(sku STRING, n INTEGER NOT NULL)>,\n"
        "date DATE);"
    )
    found = read_schema(text, "s", pytest.fail)
    assert [str(field) for field, _, _ in found] == [
        "price NUMBER NOT NULL",
        "tags ARRAY<ARRAY<STRING>>",
        "unit price NUMBER",
        "user.city STRING",
        "items ARRAY<RECORD(sku STRING, n INTEGER NOT NULL)>",
        "date DATE",
    ]
    assert [(line, column) for _, line, column in found][:3] == [(2, 9), (2, 32), (3, 9)]


def test_a_schema_is_found_behind_a_profile_that_cannot_be_read() -> None:
    text = "PROFILE a WHERE x = 'oops;\nSCHEMA (x STRING);\nPROFILE b WHERE x = 'x';\nPROFILE c WHERE y = 'y;"
    assert [str(field) for field, _, _ in read_schema(text, None, pytest.fail)] == ["x STRING"]
    profiles, found = read(text)
    assert [p.id for p in profiles] == ["b"]
    assert [d.line for d in found] == [1, 4]


def test_a_word_in_a_string_or_comment_is_no_schema() -> None:
    text = (
        "-- SCHEMA (x STRING);\nPROFILE a WHERE x = 'SCHEMA (y STRING);' /*\nSCHEMA (z STRING); */ "
        "AND y = '\nSCHEMA (w STRING);';"
    )
    assert read_schema(text, None, pytest.fail) == []
    assert len(good(text)) == 1


def test_errors_of_a_schema_are_reported_by_its_reader_only() -> None:
    text = "SCHEMA (x NUMBR, y STRING);\nPROFILE a WHERE x;"
    found: list[Diagnostic] = []
    assert read_schema(text, "s", found.append) == []
    assert [d.code for d in found] == ["PC206"]
    assert len(good(text)) == 1


SCHEMA = Schema((Field("price", Type("NUMBER")), Field("name", Type("STRING"))))


def test_a_schema_holds_for_shapes_that_are_known() -> None:
    text = "".join(
        f"PROFILE p{n} WHERE prise = {n}; PROFILE q{n} WHERE price < {n}; PROFILE r{n} WHERE price = '{n}';\n"
        for n in range(9)
    )
    profiles, found = read(text, SCHEMA)
    assert [p.id for p in profiles] == [f"{c}{n}" for n in range(9) for c in "qr"]
    assert [d.code for d in found] == ["PC214", "PC603"] * 9


def test_warnings_keep_the_profile() -> None:
    profiles, found = read("PROFILE a WHERE x = NULL;" * 5)
    assert len(profiles) == 5
    assert [d.code for d in found] == ["PC604"] * 5


# ---- single conditions


def test_parse_where() -> None:
    found: list[Diagnostic] = []
    assert parse_where("p", "price < 10", report=pytest.fail) is parse_condition("price < 10").node
    assert parse_where("p", "price <\n x; y", report=found.append, file="f") is None
    assert [(d.code, d.file, d.profile, d.line, d.column) for d in found] == [("PC109", "f", "p", 2, 3)]
    assert parse_where("a\nb", "price < 10", report=found.append) is None
    assert found[-1].code == "PC217"
    assert parse_where("p", "prise < 10", schema=SCHEMA, report=found.append) is None
    assert (found[-1].code, found[-1].hint) == ("PC214", "did you mean `price`?")
    assert parse_where("p", "x = '\ud800'", report=found.append) is None
    assert found[-1].code == "PC107"


@pytest.mark.parametrize("text", ["a = 1;", "a = 1; b", "a = 1 -- c\n;", "a = (1;)"])
def test_no_statement_hides_in_a_condition(text: str) -> None:
    found: list[Diagnostic] = []
    assert parse_where("p", text, report=found.append) is None
    assert [d.code for d in found] == ["PC109"]


@pytest.mark.parametrize("text", ["a = ';'", "a = 1 -- ;", "a /* ; */ = 1", "`;` = 1"])
def test_a_semicolon_in_a_string_or_comment(text: str) -> None:
    assert parse_where("p", text, report=pytest.fail) is not None


BEGINNINGS = {
    "no semicolon": "PROFILE p{} WHERE a = 1\n",
    "no semicolon, strings": "PROFILE p{} WHERE a = 'x'\n",
    "open brace": "PROFILE p{} WHERE a = 1 ACCEPTS {{\n",
    "open brackets": "PROFILE p{} WHERE a = 1 GIVEN [{{[\n",
    "open quote in JSON": 'PROFILE p{} WHERE a = 1 ACCEPTS {{"\n',
    "open comment": "PROFILE p{} /* WHERE a = 1;\n",
    "open comment in a schema": "SCHEMA (a{} NUMBER /*\n",
}


@pytest.mark.parametrize("line", BEGINNINGS.values(), ids=BEGINNINGS)
def test_a_file_of_statements_without_end_is_cut_in_linear_time(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the cutter and the parser look at, in characters: doubling the file no more than about doubles it."""

    def looked_at(n: int) -> int:
        text = "".join(line.format(number) for number in range(n)) + "PROFILE last WHERE b;\n"
        found: list[Diagnostic] = []
        total = 0

        def counting(part: str, limits: Limits | None = None) -> Any:
            nonlocal total
            total += len(part)
            return parse_statement(part)

        class CountingCutter(Cutter):
            def _end(self, position: int, limit: int) -> tuple[int, int]:
                nonlocal total
                end, fault = super()._end(position, limit)
                total += (fault if fault >= position and end == len(self.text) else end) - position
                return end, fault

        monkeypatch.setattr(parse, "parse_statement", counting)
        monkeypatch.setattr(statements, "Cutter", CountingCutter)
        read_schema(text, "p.prof", found.append)
        names = [p.id for p in iter_profiles(text, file="p.prof", report=found.append)]
        assert names == ["last"]
        assert len({d.line for d in found}) == n
        return total

    assert looked_at(400) < 3 * looked_at(200)


def test_json_that_opens_again_and_again_is_scanned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    scanned: list[int] = []

    def counting(text: str, start: int) -> tuple[int, list[int]]:
        end, unclosed = json_extent(text, start)
        scanned.append(end - start)
        return end, unclosed

    monkeypatch.setattr(cut, "json_extent", counting)
    for braces in ("{" * 5_000, "[" * 5_000, '{ "\\" { " ' * 5_000):
        scanned.clear()
        read(f"PROFILE a WHERE b ACCEPTS {braces};")
        assert sum(scanned) < 100 * len(braces)


def test_a_statement_that_begins_inside_of_broken_json() -> None:
    text = 'PROFILE a WHERE b ACCEPTS {"a": 1\nPROFILE c WHERE d ACCEPTS {"d": "; \\" x"};\nPROFILE e WHERE f;'
    profiles, found = read(text)
    assert [p.id for p in profiles] == ["c", "e"]
    assert [(d.code, d.line) for d in found] == [("PC106", 1)]


@pytest.mark.parametrize(
    "condition",
    [
        "ANY\nprofile AS i (i.x = 1) AND ANY\nprofile AS j (j.x = 2)",
        "a = 'x\nPROFILE b WHERE c' AND d",
        "a /* x\nPROFILE b WHERE c */ AND d",
        "a = 1 AND\nprofile IN (1, 2)",
    ],
)
def test_a_line_that_only_looks_like_the_next_statement(condition: str) -> None:
    profiles, found = read(f"PROFILE p WHERE {condition};\nPROFILE q WHERE r;")
    assert ([p.id for p in profiles], found) == (["p", "q"], [])
    assert profiles[0].where == condition


def test_an_integer_that_python_does_not_read_is_told_in_our_words() -> None:
    found: list[Diagnostic] = []
    text = f'PROFILE p WHERE a > 1 ACCEPTS {{"a": {"9" * 5_000}}};'
    assert not list(iter_profiles(text, report=found.append))
    assert [(one.code, one.message) for one in found] == [("PC118", "this has an integer of too many digits")]
