"""Export: what the golden files do not show."""

from __future__ import annotations

import sqlite3
import subprocess
import sys

import pytest

from profilec.grammar import ir
from profilec.grammar.diagnostics import ProfileError
from profilec.grammar.parse import parse_condition
from profilec.grammar.sql import export_condition, import_sql
from profilec.grammar.sql.letters import folds_alike, has_case
from profilec.grammar.sql.refusal import Refusal
from profilec.grammar.sql.regexes import translate


def test_a_refusal_is_raised_with_the_profile_s_id() -> None:
    condition = parse_condition("a MATCHES 'x'").node
    with pytest.raises(ProfileError) as caught:
        export_condition(condition, "sqlite", profile="p 1")
    assert caught.value.diagnostics[0].profile == "p 1"
    with pytest.raises(ProfileError, match="PC506"):
        export_condition(condition, "no such dialect")


@pytest.mark.parametrize("text", ["a = 'x\0y'", "a = '\ud800'", "`a\0b` = 1"])
def test_what_no_dialect_keeps_in_a_string_is_refused(text: str) -> None:
    condition = {
        "a = 'x\0y'": ir.Compare("=", ir.attribute("a"), ir.constant("x\0y")),
        "a = '\ud800'": ir.Compare("=", ir.attribute("a"), ir.constant("\ud800")),
        "`a\0b` = 1": ir.Compare("=", ir.Attribute(ir.NEW, ("a\0b",)), ir.constant(1)),
    }[text]
    with pytest.raises(ProfileError, match="PC503"):
        export_condition(condition, "duckdb")


@pytest.mark.parametrize("function", ["FOLD", "REVERSE"])
def test_functions_of_derived_attributes_are_refused(function: str) -> None:
    condition = ir.Compare("=", ir.Call(function, (ir.attribute("a"),)), ir.constant("x"))
    with pytest.raises(ProfileError, match="PC503"):
        export_condition(condition, "duckdb")


def test_a_long_chain_is_no_deep_expression_to_sqlite() -> None:
    condition = ir.or_([ir.Compare("=", ir.attribute("a"), ir.constant(number)) for number in range(5_000)])
    clause = export_condition(condition, "sqlite")
    assert sqlite3.connect(":memory:").execute(f"SELECT {clause} FROM (SELECT 4999 AS a)").fetchone() == (1,)
    (profile,) = import_sql(clause, "sqlite")
    assert isinstance(profile.condition, ir.Or)


def test_exported_sqlite_does_not_depend_on_case_sensitive_like() -> None:
    clause = export_condition(parse_condition("a LIKE 'x%' AND a ILIKE 'X_' AND NOT a LIKE '%Y'").node, "sqlite")
    for setting in ("ON", "OFF"):
        connection = sqlite3.connect(":memory:")
        connection.execute(f"PRAGMA case_sensitive_like = {setting}")
        rows = connection.execute(f"SELECT a FROM (SELECT 'xy' AS a UNION ALL SELECT 'Xy') WHERE {clause}").fetchall()
        assert rows == [("xy",)]


def test_deep_conditions_are_written() -> None:
    condition: ir.Condition = ir.Compare("=", ir.attribute("a"), ir.constant(1))
    for number in range(190):
        condition = ir.Not(condition) if number % 2 else ir.Or((condition, ir.IsNull(ir.attribute("b"))))
    assert export_condition(condition, "duckdb").count("NOT") == 95


def test_the_kind_that_a_later_predicate_tells_serves_an_earlier_one() -> None:
    condition = parse_condition("a < b AND b < c AND c = 'x'").node
    assert export_condition(condition, "postgres") == 'a COLLATE "C" < b AND b COLLATE "C" < c AND c = \'x\''


@pytest.mark.parametrize(
    ("pattern", "why"),
    [("a{300}", "255"), ("(a", "never closed"), ("a)", "closes nothing"), ("*a", "repeat"), ("[a", "never closed"),
     ("a++", "possessive"), ("(?<n>a)", r"\(\?<n"), ("[[:alpha:]]", "inside a set"), ("[a&&b]", "inside a set"),
     ("\\1", r"\\1"), ("[z-a]", "range"), ("[]a]", "first of a set"), ("a{,2}", "repetition")],
)  # fmt: skip
@pytest.mark.parametrize("languages", [("posix", "re2"), ("java", "re2"), ("re2", "posix"), ("re2", "java")])
def test_patterns_that_may_mean_something_else_are_refused(pattern: str, why: str, languages: tuple[str, str]) -> None:
    with pytest.raises(Refusal, match=why):
        translate(pattern, *languages)  # type: ignore[arg-type]


def test_letters_with_one_other_case() -> None:
    assert all(map(folds_alike, ["Acme", "ÉCOLE", "Привет", "五十"]))
    assert not any(map(folds_alike, ["σ", "ß", "µ", "ﬁ", "ǅ", "İ"]))
    assert has_case("a")
    assert not has_case("1 %_五")


def test_importing_the_package_loads_no_dialects() -> None:
    code = "import sys, profilec.grammar.sql; assert 'sqlglot' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
