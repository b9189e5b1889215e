"""`profilec import` and `export`: the command around the translation."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Runs = Callable[..., Any]
Writes = Callable[..., Path]

SQL = """-- id: cheap
SELECT * FROM goods g WHERE g.price < 10;
-- id: two words
WHERE brand = 'A' AND size IS NOT NULL;
SELECT * FROM goods WHERE price > ALL (SELECT price FROM goods);
"""


def test_import_writes_profiles_and_names_what_it_refuses(profilec: Runs, write: Writes) -> None:
    write("in.sql", SQL)
    run = profilec("import", "--dialect", "duckdb", "in.sql")
    assert written(run) == [
        "PROFILE cheap WHERE price < 10;",
        "PROFILE 'two words' WHERE brand = 'A' AND size IS NOT NULL;",
    ]
    assert run.err.startswith("in.sql:5:")
    assert run.status == 1
    assert profilec("check", "-", stdin=run.out).status == 0


def written(run: Any) -> list[str]:
    return [line for line in run.lines if line]


@pytest.mark.parametrize("name", ["in.csv", "in.ndjson"])
def test_import_of_a_table(profilec: Runs, write: Writes, name: str) -> None:
    write("in.csv", "id,condition\n1,price < 10\nb,\"brand = 'x, y'\"\n,a = 1\n")
    rows = [{"id": "1", "condition": "price < 10"}, {"id": "b", "condition": "brand = 'x, y'"}, {"condition": "a = 1"}]
    write("in.ndjson", "".join(json.dumps({"id": None, **row}) + "\n" for row in rows))
    run = profilec("import", "--dialect", "postgres", name)
    assert written(run) == [
        "PROFILE '1' WHERE price < 10;",
        "PROFILE b WHERE brand = 'x, y';",
        "PROFILE profile_3 WHERE a = 1;",
    ]
    assert run.status == 0


def test_import_of_a_table_by_its_first_two_columns(profilec: Runs, write: Writes) -> None:
    write("in.csv", "name,rule,owner\na,price < 10,ann\n")
    run = profilec("import", "--dialect", "postgres", "in.csv")
    assert (run.status, written(run)) == (0, ["PROFILE a WHERE price < 10;"])


def test_ids_are_unique_over_files(profilec: Runs, write: Writes) -> None:
    write("a.sql", "-- id: p\nx = 1;")
    write("b.sql", "-- id: p\nx = 2;")
    run = profilec("import", "--dialect", "duckdb", "a.sql", "b.sql")
    assert (run.status, written(run)) == (1, ["PROFILE p WHERE x = 1;"])
    assert "b.sql" in run.err


def test_export_and_back(profilec: Runs, write: Writes) -> None:
    profiles = "PROFILE p WHERE price < 10 AND NOT brand LIKE 'A%';\nPROFILE 'q r' WHERE x IN (1, 2);\n"
    write("a.prof", profiles)
    exported = profilec("export", "--dialect", "duckdb", "a.prof")
    assert exported.status == 0
    back = profilec("import", "--dialect", "duckdb", "-", stdin=exported.out)
    assert (back.status, back.err) == (0, "")
    write("back.prof", back.out)
    write("docs.ndjson", '{"price": 9, "brand": "B"}\n{"price": 9, "brand": "A"}\n{"x": 2}\n{}\n')
    matches = profilec("match", "a.prof", "docs.ndjson").out
    assert '["p"]' in matches
    assert '["q r"]' in matches
    assert profilec("match", "back.prof", "docs.ndjson").out == matches


def test_export_names_what_the_dialect_cannot_say(profilec: Runs, write: Writes) -> None:
    write("a.prof", "PROFILE p WHERE x = 1;\nPROFILE q WHERE EXISTS d (d.x = x);\n")
    run = profilec("export", "--dialect", "sqlite", "--format", "ndjson", "a.prof")
    assert [json.loads(line) for line in run.lines] == [{"profile": "p", "where": "x = 1"}]
    assert run.err.startswith("a.prof:2:17: error PC503: ")
    assert run.status == 1


@pytest.mark.parametrize("verb", ["import", "export"])
def test_unknown_dialect(profilec: Runs, write: Writes, verb: str) -> None:
    write("a.prof", "PROFILE p WHERE x = 1;")
    run = profilec(verb, "--dialect", "postgress", "a.prof")
    assert (run.status, run.out) == (2, "")
    assert "postgres" in run.err
