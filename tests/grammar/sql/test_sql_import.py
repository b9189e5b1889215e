"""Import of files and tables: ids, places, and one bad statement among good ones."""

from __future__ import annotations

import pytest

from profilec.grammar import ir
from profilec.grammar.diagnostics import Diagnostic, ProfileError
from profilec.grammar.sql import ImportedProfile, import_rows, import_sql

FILE = """\
-- id: cheap_acme
SELECT *
FROM shop.products AS p
WHERE p.price < 5 AND p.brand = 'Acme'; -- id: of no statement

/* what nobody has seen
   id: rare */
WHERE n_seen = 0;
price > 100;
CREATE VIEW luxury AS SELECT * FROM products WHERE price > 1000;
"""


def read(text: str, dialect: str = "postgres") -> tuple[list[ImportedProfile], list[Diagnostic]]:
    found: list[Diagnostic] = []
    return import_sql(text, dialect, file="rules.sql", report=found.append), found


def test_ids_come_from_comments_views_and_numbers() -> None:
    profiles, found = read(FILE)
    assert [(profile.id, profile.where, profile.line, profile.column) for profile in profiles] == [
        ("cheap_acme", "price < 5 AND brand = 'Acme'", 2, 1),
        ("rare", "n_seen = 0", 8, 1),
        ("profile_3", "price > 100", 9, 1),
        ("luxury", "price > 1000", 10, 1),
    ]
    assert not found
    assert profiles[2].condition is ir.Compare(">", ir.attribute("price"), ir.constant(100))


def test_a_bad_statement_is_named_with_its_place_and_the_others_come() -> None:
    profiles, found = read("a = 1;\n-- id: late\n  b = 2 AND\n    c > now();\nd = 3;")
    assert [profile.where for profile in profiles] == ["a = 1", "d = 3"]
    (diagnostic,) = found
    assert (diagnostic.code, diagnostic.line, diagnostic.column, diagnostic.profile) == ("PC502", 4, 9, "late")
    assert diagnostic.render() == (
        "rules.sql:4:9: error PC502: the current time is not in the language\n"
        "      c > now();\n"
        "          ^^^\n"
        "  hint: write the time as a literal"
    )


@pytest.mark.parametrize(
    ("text", "wheres", "place"),
    [
        ("a = 1;\nb = 'x;\nc = 2;\n-- id: q\nd = 'y';", ["a = 1", "c = 2", "d = 'y'"], (2, 1)),
        ("a = 1; b = 'x", ["a = 1"], (1, 8)),
        ("a = 1;\n/* b = 2;\nc = 3;", ["a = 1", "c = 3"], (2, 1)),
        ('a = 1;\n"b = 2;\nc = 3;', ["a = 1", "c = 3"], (2, 1)),
    ],
)
def test_an_open_quote_or_comment_loses_one_statement(text: str, wheres: list[str], place: tuple[int, int]) -> None:
    profiles, found = read(text)
    assert [profile.where for profile in profiles] == wheres
    (diagnostic,) = found
    assert (diagnostic.code, diagnostic.line, diagnostic.column) == ("PC501", *place)


def test_places_are_right_after_an_open_quote() -> None:
    profiles, found = read("a = 'x;\n  b = 2;\nc = 1; d > now();")
    assert [(profile.where, profile.line, profile.column) for profile in profiles] == [("b = 2", 2, 3), ("c = 1", 3, 1)]
    assert [(diagnostic.line, diagnostic.column) for diagnostic in found] == [(1, 1), (3, 12)]


def test_a_second_use_of_an_id_names_the_first() -> None:
    profiles, found = read("-- id: a\nx = 1;\n\n-- id: a\nx = 2;")
    assert [profile.where for profile in profiles] == ["x = 1"]
    assert [(diagnostic.code, diagnostic.line) for diagnostic in found] == [("PC216", 5)]
    assert "line 2" in found[0].message


def test_without_a_reporter_all_errors_are_raised_together() -> None:
    with pytest.raises(ProfileError) as caught:
        import_sql("a = now(); b = 1; c || 'x' = 'y'", "postgres")
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["PC502", "PC502"]


def test_warnings_alone_raise_nothing() -> None:
    (profile,) = import_sql("a = 1 OR a = 'x'", "sqlite")
    assert profile.where == "a = 1 OR a = 'x'"


@pytest.mark.parametrize("text", ["", "  \n", ";;;", "-- only a comment", "/* and one */"])
def test_a_file_without_statements_is_empty(text: str) -> None:
    assert read(text) == ([], [])


@pytest.mark.parametrize(("dialect", "hint"), [("postgre", "`postgres`"), ("prql", "duckdb"), ("custom", "duckdb")])
def test_an_unknown_dialect_is_named(dialect: str, hint: str) -> None:
    with pytest.raises(ProfileError, match="PC506") as caught:
        import_sql("a = 1", dialect)
    assert hint in (caught.value.diagnostics[0].hint or "")


@pytest.mark.parametrize("dialect", ["PostgreSQL", "pgsql", "psql", "pg"])
def test_other_names_of_a_dialect(dialect: str) -> None:
    (profile,) = import_sql("a ~~* 'x%'", dialect)
    assert profile.where == "a ILIKE 'x%'"


def test_an_unknown_like_case_is_no_dialect_default() -> None:
    with pytest.raises(ValueError, match="like_case"):
        import_sql("a = 1", "sqlite", like_case="insensitive")  # type: ignore[arg-type]


def test_rows_keep_their_ids_and_numbers() -> None:
    found: list[Diagnostic] = []
    rows = [("a b", "x = 1"), (None, "WHERE x = 2"), ("", "SELECT * FROM t WHERE x = 3"), ("d", "x = now()")]
    profiles = import_rows(rows, "duckdb", report=found.append)
    assert [(profile.id, profile.where, profile.line) for profile in profiles] == [
        ("a b", "x = 1", 1),
        ("profile_2", "x = 2", 2),
        ("profile_3", "x = 3", 3),
    ]
    assert [(diagnostic.profile, diagnostic.code, diagnostic.place) for diagnostic in found] == [
        ("d", "PC502", "text:1:5")
    ]


@pytest.mark.parametrize(
    ("text", "code"), [("", "PC501"), ("-- nothing", "PC501"), ("x = 1; y = 2", "PC505"), ("x = 'y", "PC501")]
)
def test_a_row_holds_one_condition(text: str, code: str) -> None:
    found: list[Diagnostic] = []
    assert import_rows([("a", text)], "duckdb", report=found.append) == []
    assert [diagnostic.code for diagnostic in found] == [code]


@pytest.mark.parametrize("text", ["(" * 190 + "a = 1" + ")" * 190, "NOT " * 190 + "a = 1", "a = " + "- " * 190 + "b"])
def test_deep_nesting_is_read(text: str) -> None:
    assert len(read(text)[0]) == 1


@pytest.mark.parametrize(
    "text", ["(" * 10_000 + "a = 1" + ")" * 10_000, "NOT " * 10_000 + "a = 1", "- " * 10_000 + "1"]
)
def test_nesting_without_end_is_refused(text: str) -> None:
    profiles, found = read(text)
    assert profiles == []
    assert [diagnostic.code for diagnostic in found] == ["PC301"]


def test_long_chains_are_read_without_recursion() -> None:
    text = " OR ".join(f"a = {number}" for number in range(5_000))
    ((profile,), found) = read(text)
    assert isinstance(profile.condition, ir.Or)
    assert len(profile.condition.operands) == 5_000
    assert not found


def test_the_stack_limit_is_as_before() -> None:
    import sys

    before = sys.getrecursionlimit()
    read("a = 1; b ||")
    assert sys.getrecursionlimit() == before
