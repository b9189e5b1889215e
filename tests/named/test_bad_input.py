"""Bad input: each with a clear error, and nothing else lost."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from truths import OPTIONS, Options, codes, named, truths_by

import profilec

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=OPTIONS, ids=named)
def options(request: pytest.FixtureRequest) -> Options:
    """Options of `compile`: a matcher, and all rewrite rules or none."""
    given: Options = request.param
    return given


def diagnostics_of(source: Any) -> tuple[Any, ...]:
    """All that is wrong with a source that cannot be compiled."""
    with pytest.raises(profilec.ProfileError) as raised:
        profilec.compile(source)
    return raised.value.diagnostics


# Files and statements


def test_all_errors_of_all_files_come_together(tmp_path: Path) -> None:
    (tmp_path / "a.prof").write_text("PROFILE a WHERE x ==;\nPROFILE b WHERE x = NULL;\nPROFILE c WHERE x = 'open;\n")
    (tmp_path / "b.prof").write_text("PROFILE d WHERE x IN ();\nPROFILE e WHERE x = 1;")
    found = diagnostics_of([tmp_path / "a.prof", tmp_path / "b.prof"])
    told = sorted((Path(each.file or "").name, each.line or 0, each.code) for each in found)
    assert told == [("a.prof", 1, "PC101"), ("a.prof", 2, "PC604"), ("a.prof", 3, "PC103"), ("b.prof", 1, "PC115")]
    skipped = profilec.compile(tmp_path, on_error="skip")
    assert skipped.diagnostics == found
    assert skipped.ids == ["b", "e"]
    assert skipped.match({"x": 1}) == ["e"]


def test_on_error_takes_raise_or_skip() -> None:
    with pytest.raises(ValueError, match="skip"):
        profilec.compile("", on_error="ignore")


def test_a_file_that_is_not_utf8_costs_no_other(tmp_path: Path) -> None:
    (tmp_path / "bad.prof").write_bytes("PROFILE p WHERE a = 1;\nPROFILE q WHERE name = 'é';\n".encode("latin-1"))
    (tmp_path / "good.prof").write_text("PROFILE r WHERE a = 1;")
    profiles = profilec.compile(tmp_path, on_error="skip")
    (found,) = profiles.diagnostics
    assert (found.code, Path(found.file or "").name, found.line, found.column) == ("PC107", "bad.prof", 2, 25)
    assert "0xE9" in found.message
    assert profiles.match({"a": 1}) == ["p", "r"]
    assert [each.code for each in diagnostics_of(tmp_path)] == ["PC107"]


def test_a_second_use_of_an_id_names_the_file_and_line_of_the_first(tmp_path: Path) -> None:
    (tmp_path / "a.prof").write_text("PROFILE x WHERE a = 1;\nPROFILE y WHERE a = 1;")
    (tmp_path / "b.prof").write_text("\nPROFILE 'y' WHERE a = 2;")
    (found,) = diagnostics_of(tmp_path)
    assert (found.code, Path(found.file or "").name, found.line) == ("PC216", "b.prof", 2)
    assert "a.prof:2" in (found.hint or "")
    assert profilec.compile(tmp_path, on_error="skip").match({"a": 1}) == ["x", "y"]


def test_control_characters_in_ids_are_named_and_never_printed() -> None:
    for character in "\0\t\r\x1b\x7f\x85":
        profiles = profilec.compile({f"a{character}b": "TRUE", "ok": "a = 1"}, on_error="skip")
        (found,) = profiles.diagnostics
        assert found.code == "PC217"
        assert f"U+{ord(character):04X}" in found.message
        assert character not in found.render()
        assert profiles.match({"a": 1}) == ["ok"]
    assert codes("PROFILE 'a\nb' WHERE TRUE; PROFILE ok WHERE TRUE;") == ["PC217"]


def test_a_month_is_a_calendar_month_clamped_to_its_end(options: Options) -> None:
    truth = truths_by(options)
    document = {"t": datetime(2024, 1, 31, 12), "day": date(2023, 1, 31)}
    assert truth("t + INTERVAL '1 month' = TIMESTAMP '2024-02-29 12:00:00'", document) is True
    assert truth("t + INTERVAL '1 year' = TIMESTAMP '2025-01-31 12:00:00'", document) is True
    assert truth("day + INTERVAL '1 month' = DATE '2023-02-28'", document) is True


# Size and depth


def test_a_10_mb_profile_of_100_000_terms_compiles_in_seconds_and_matches() -> None:
    pad = "x" * 90
    where = " OR ".join(f"a{n % 10} = '{pad}{n}'" for n in range(100_000))
    assert len(where) > 10_000_000
    started = time.perf_counter()
    profiles = profilec.compile({"before": "a1 IS NOT NULL", "large": where, "after": "a2 IS NOT NULL"})
    assert time.perf_counter() - started < 60  # a few seconds on an idle machine
    documents: list[dict[str, Any]] = [
        {"a7": f"{pad}77777"}, {"a6": f"{pad}77777"}, {"a1": f"{pad}1"}, {"a9": f"{pad}99999"}, {"a2": pad}, {},
    ]  # fmt: skip
    expected = [["large"], [], ["before", "large"], ["large"], ["after"], []]
    assert [profiles.match(document) for document in documents] == expected
    assert list(map(list, profiles.match_batch(documents))) == expected


def test_an_or_of_thousands_of_attributes_and_its_not(options: Options) -> None:
    n_attributes = 2_000
    where = " OR ".join(f"a{n} > {n}" for n in range(n_attributes))
    profiles = profilec.compile({"or": where, "not": f"NOT ({where})"}, options=options)
    assert profiles.match({"a1999": 2_000}) == ["or"]
    assert profiles.match({"a1999": 1_999}) == []
    assert profiles.match({f"a{n}": n for n in range(n_attributes)}) == ["not"]


def test_an_excess_names_the_option_that_allows_more() -> None:
    wheres = {
        "max_depth": "(" * 30 + "a = 1" + ")" * 30,
        "max_terms": " OR ".join(["a = 1"] * 30),
        "max_size": f"a = '{'x' * 1_000}'",
        "ok": "a = 1",
    }
    for option, most, code in (("max_depth", 20, "PC301"), ("max_terms", 20, "PC302"), ("max_size", 900, "PC303")):
        profiles = profilec.compile(wheres, options={option: most}, on_error="skip")
        (found,) = profiles.diagnostics
        assert (found.code, found.profile) == (code, option)
        assert option in f"{found.message} {found.hint}"
        assert profiles.ids == [id_ for id_ in wheres if id_ != option]
        assert "ok" in profiles.match({"a": 1})


@pytest.mark.parametrize(
    "deep",
    [
        "(" * 10_000 + "a = 1" + ")" * 10_000,
        "(" * 10_000 + "a" + ")" * 10_000 + " = 1",
        "(" * 10_000 + "a = 1",
        "NOT " * 10_000 + "a = 1",
        "NOT (" * 10_000 + "a = 1" + ")" * 10_000,
        "(-" * 10_000 + "a" + ")" * 10_000 + " = 1",
        "LOWER(" * 10_000 + "a" + ")" * 10_000 + " = 'x'",
        "(a = 1 OR (b = 1 AND " * 5_000 + "c = 1" + "))" * 5_000,
        "a" + " + a" * 10_000 + " = 1",
    ],
    ids=["conditions", "values", "never-closed", "not", "not-brackets", "minus", "calls", "alternating", "sum"],
)
def test_10_000_deep_nesting_is_an_error_and_no_crash(deep: str) -> None:
    profiles = profilec.compile({"before": "a = 1", "deep": deep, "after": "a = 1"}, on_error="skip")
    assert profiles.match({"a": 1}) == ["before", "after"]
    assert [each.code for each in profiles.diagnostics] in (["PC301"], ["PC106"])
    text = f"PROFILE deep WHERE {deep};\nPROFILE after WHERE a = 1;"
    assert profilec.compile(text, on_error="skip").ids == ["after"]


def test_200_deep_is_allowed(options: Options) -> None:
    where = "(a = 1 OR (b = 1 AND " * 90 + "c = 1" + "))" * 90
    profiles = profilec.compile({"p": where, "q": "(" * 190 + "a = 1" + ")" * 190}, options=options)
    assert profiles.match({"a": 1}) == ["p", "q"]
    assert profiles.match({"b": 1}) == []
    assert profiles.match({"b": 1, "c": 1}) == ["p"]


def test_a_literal_of_5_000_digits(options: Options) -> None:
    wheres = {
        "long": f"a = {'1' * 5_000}",
        "decimals": f"a = 0.{'1' * 5_000}",
        "most": f"a >= {'9' * 1_000}",
        "ok": "a > 1",
    }
    profiles = profilec.compile(wheres, on_error="skip", options=options)
    assert [(each.code, each.profile) for each in profiles.diagnostics] == [("PC304", "long"), ("PC304", "decimals")]
    assert profiles.match({"a": 10**1_000 - 1}) == ["most", "ok"]
    assert profiles.match({"a": 10**1_000 - 2}) == ["ok"]
    assert profiles.match({"a": 10**6_000}) == ["most", "ok"]
    assert profiles.match({"a": math.inf}) == ["most", "ok"]


# Patterns


def test_a_pattern_that_re2_refuses() -> None:
    for pattern in ("(", "(?=x)", r"(a)\1", "[z-a]", "a{5000}", "(?<=a)b"):
        profiles = profilec.compile({"p": f"a MATCHES '{pattern}'", "ok": "a MATCHES 'a'"}, on_error="skip")
        assert [(each.code, each.profile) for each in profiles.diagnostics] == [("PC210", "p")], pattern
        assert profiles.match({"a": "a"}) == ["ok"]


def test_a_hostile_pattern_and_text_stay_linear(options: Options) -> None:
    wheres = {"regex": "a MATCHES '^(a+)+$'", "like": f"a LIKE '{'a%' * 30}b'", "other": "a MATCHES '(x|xx)*y'"}
    profiles = profilec.compile(wheres, options=options)
    started = time.perf_counter()
    assert profiles.match({"a": "a" * 50_000 + "!"}) == []
    assert profiles.match({"a": "a" * 50_000}) == ["regex"]
    assert time.perf_counter() - started < 10


# Documents


def test_a_document_that_is_no_mapping() -> None:
    profiles = profilec.compile({"p": "a = 1"})
    documents: list[Any] = [5, "a", [1], None]
    for document in documents:
        with pytest.raises(ValueError, match="document"):
            profiles.match(document)
        with pytest.raises(ValueError, match="document"):
            profiles.match_batch([{"a": 1}, document])
    assert profiles.match({"a": 1}) == ["p"]


def test_a_value_of_no_kind_hurts_only_who_asks_for_it() -> None:
    profiles = profilec.compile({"p": "a = 1"})
    assert profiles.match({"a": 1, "b": object()}) == ["p"]
    with pytest.raises(ValueError, match="object"):
        profiles.match({"a": object()})


def test_columns_that_no_profile_asks_for_and_columns_that_are_missing(options: Options) -> None:
    profiles = profilec.compile({"p": "a = 1", "q": "b IS NULL", "r": "c.d = 1"}, options=options)
    table = pa.table({"a": [1, 2], "unknown": ["x", "y"], "nested": [{"z": 1}, None]})
    assert list(map(list, profiles.match_batch(table))) == [["p", "q"], ["q"]]
    assert profiles.match({"a": 1, "unknown": [{}]}) == ["p", "q"]
    assert list(map(list, profiles.match_batch(table.slice(0, 0)))) == []


# The command


def run(folder: Path, *arguments: str, stdin: bytes) -> tuple[int, list[list[str]], str]:
    """Status, the profiles of each result, and the messages of the command."""
    command = [sys.executable, "-m", "profilec", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=folder, input=stdin, env=environment, capture_output=True, check=False, timeout=120
    )
    results = [json.loads(line)["profiles"] for line in done.stdout.splitlines()]
    return done.returncode, results, done.stderr.decode()


RECORDS = b"""{"a": 1}
[1]
"text"
5
{"a": 1
{"a": "\xff"}
null
{"a": 1, "unknown": {"b": [null]}}
"""


def test_a_record_that_is_no_object_costs_no_other(tmp_path: Path) -> None:
    (tmp_path / "p.prof").write_text("PROFILE p WHERE a = 1;")
    status, results, messages = run(tmp_path, "match", "p.prof", "-", stdin=RECORDS)
    assert (status, results) == (1, [["p"], ["p"]])
    for line in range(1, 9):
        assert (f"<stdin>:{line}:" in messages) is (2 <= line <= 7), messages


def test_strict_refuses_a_record_with_a_key_twice(tmp_path: Path) -> None:
    (tmp_path / "p.prof").write_text("PROFILE p WHERE a = 2;")
    lines = b'{"a": 2}\n{"a": 1, "a": 2}\n'
    assert run(tmp_path, "match", "p.prof", "-", stdin=lines)[:2] == (0, [["p"], ["p"]])
    status, _, messages = run(tmp_path, "match", "--strict", "p.prof", "-", stdin=lines)
    assert status == 2
    assert ":2" in messages
