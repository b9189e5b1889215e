"""`profilec match`: what it prints, in what order, and how it ends."""

import csv
import gzip
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
Runs = Callable[..., Any]
Writes = Callable[..., Path]

PROFILES = """
PROFILE cheap_acme WHERE brand = "Acme" AND 10 <= price <= 30;
PROFILE "any, price" WHERE price IS NOT NULL;
"""
DOCUMENTS = '{"brand": "Acme", "price": 12}\n{"brand": "Acme"}\n{"price": 40}\n'


@pytest.fixture
def profiles(write: Writes) -> str:
    return str(write("shop.prof", PROFILES).name)


def results(run: Any) -> list[tuple[int, list[str]]]:
    return [(result["document"], result["profiles"]) for result in map(json.loads, run.lines)]


MATCHES = [(0, ["cheap_acme", "any, price"]), (1, []), (2, ["any, price"])]


def test_one_line_a_document(profilec: Runs, profiles: str, write: Writes) -> None:
    write("docs.ndjson", DOCUMENTS)
    run = profilec("match", profiles, "docs.ndjson")
    assert run.lines[0] == '{"document": 0, "profiles": ["cheap_acme", "any, price"]}'
    assert (results(run), run.err, run.status) == (MATCHES, "", 0)


@pytest.mark.parametrize("arguments", [["-"], []])
def test_documents_from_standard_input(profilec: Runs, profiles: str, arguments: list[str]) -> None:
    assert results(profilec("match", profiles, *arguments, stdin=DOCUMENTS)) == MATCHES


def test_profiles_from_standard_input(profilec: Runs, write: Writes) -> None:
    write("docs.ndjson", DOCUMENTS)
    assert results(profilec("match", "-", "docs.ndjson", stdin=PROFILES)) == MATCHES


def test_every_format_gives_the_same(profilec: Runs, profiles: str, write: Writes, tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    records = [json.loads(line) for line in DOCUMENTS.splitlines()]
    write("docs.json", json.dumps(records, indent=2))
    write("docs.csv", "brand,price\nAcme,12\nAcme,\n,40\n")
    parquet.write_table(pa.Table.from_pylist(records), write("docs.parquet", ""))
    for name in ("docs.json", "docs.csv", "docs.parquet"):
        assert results(profilec("match", profiles, name)) == MATCHES, name
    for name in ("docs.json", "docs.parquet"):  # told apart by what they begin with
        assert results(profilec("match", profiles, stdin=(tmp_path / name).read_bytes())) == MATCHES, name
    csv_input = (tmp_path / "docs.csv").read_bytes()
    assert results(profilec("match", profiles, "--input-format", "csv", stdin=csv_input)) == MATCHES


def test_numbers_run_on_over_files(profilec: Runs, profiles: str, write: Writes) -> None:
    write("a.ndjson", DOCUMENTS)
    write("b.csv", "price\n1\n")
    assert results(profilec("match", profiles, "a.ndjson", "b.csv"))[-1] == (3, ["any, price"])


def test_only_matches(profilec: Runs, profiles: str) -> None:
    assert [number for number, _ in results(profilec("match", profiles, "--only-matches", stdin=DOCUMENTS))] == [0, 2]


def test_json_and_csv_results(profilec: Runs, profiles: str) -> None:
    run = profilec("match", profiles, "--format", "json", stdin=DOCUMENTS)
    assert [(result["document"], result["profiles"]) for result in json.loads(run.out)] == MATCHES
    run = profilec("match", profiles, "--format", "csv", stdin=DOCUMENTS)
    assert list(csv.reader(io.StringIO(run.out))) == [
        ["document", "profile"],
        ["0", "cheap_acme"],
        ["0", "any, price"],
        ["2", "any, price"],
    ]
    assert json.loads(profilec("match", profiles, "--format", "json", stdin="").out) == []


def test_malformed_records_are_reported_and_the_others_go_on(profilec: Runs, profiles: str, write: Writes) -> None:
    write("docs.ndjson", '{"price": 1}\n{"price": \n[1]\n{"price": 2}\n')
    run = profilec("match", profiles, "docs.ndjson")
    assert results(run) == [(0, ["any, price"]), (3, ["any, price"])]
    assert run.err.splitlines() == [
        "docs.ndjson:2:11: error: malformed record: expecting value",
        "docs.ndjson:3: error: malformed record: a record is an object, and this is an array",
    ]
    assert run.status == 1


def test_strict_stops_at_the_first_malformed_record(profilec: Runs, profiles: str) -> None:
    run = profilec("match", profiles, "--strict", stdin='{"price": 1}\n{"price": 1, "price": 2}\n{"price": 3}\n')
    assert results(run) == [(0, ["any, price"])]
    assert run.err == '<stdin>:2: error: malformed record: the key "price" comes twice\n'
    assert run.status == 2


def test_numbers_are_exact(profilec: Runs, write: Writes) -> None:
    write("n.prof", "PROFILE big WHERE n = 9007199254740993; PROFILE small WHERE n = 0.1;")
    documents = '{"n": 9007199254740993}\n{"n": 9007199254740992}\n{"n": 0.1}\n{"n": 0.1000000000000000055}\n'
    assert results(profilec("match", "n.prof", stdin=documents)) == [(0, ["big"]), (1, []), (2, ["small"]), (3, [])]


def test_process_makes_the_stream_its_own_past(profilec: Runs, write: Writes) -> None:
    write("new.prof", "PROFILE new WHERE NOT EXISTS d (d.isbn = isbn);")
    documents = '{"isbn": 1}\n{"isbn": 2}\n{"isbn": 1}\n'
    run = profilec("match", "new.prof", "--process", stdin=documents)
    assert results(run) == [(0, ["new"]), (1, ["new"]), (2, [])]
    run = profilec("match", "new.prof", stdin=documents)
    assert results(run) == [(0, ["new"]), (1, ["new"]), (2, ["new"])]
    write("past.csv", "isbn\n1\n")
    run = profilec("match", "new.prof", "--join-documents", "past.csv", stdin=documents)
    assert results(run) == [(0, []), (1, ["new"]), (2, [])]


@pytest.fixture
def new(write: Writes) -> str:
    return str(write("new.prof", "PROFILE new WHERE NOT EXISTS d (d.isbn = isbn);").name)


@pytest.mark.parametrize("name", ["past.ndjson", "past.json", "past.csv", "past.parquet", "past.arrow", "past.arrows"])
def test_earlier_documents_in_every_format(profilec: Runs, new: str, write: Writes, name: str) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    path, table = write(name, ""), pa.table({"isbn": [1, 2]})
    match path.suffix:
        case ".csv":
            path.write_text("isbn\n1\n2\n")
        case ".parquet":
            parquet.write_table(table, path)
        case ".arrow" | ".arrows":
            make = pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream
            with make(str(path), table.schema) as writer:
                writer.write_table(table)
        case _:
            path.write_text('{"isbn": 1}\n{"isbn": 2}\n')
    write("later.ndjson", '{"isbn": 4}\n')
    run = profilec(
        "match", new, "--join-documents", name, "--join-documents", "later.ndjson", "--input-format", "csv",
        stdin="isbn\n2\n3\n4\n",
    )  # fmt: skip
    assert (results(run), run.err, run.status) == ([(0, []), (1, ["new"]), (2, [])], "", 0)


def test_input_format_is_that_of_earlier_documents_whose_suffix_says_nothing(
    profilec: Runs, new: str, write: Writes
) -> None:
    write("docs.txt", "isbn\n1\n2\n")
    run = profilec("match", new, "docs.txt", "--join-documents", "-", "--input-format", "csv", stdin="isbn\n1\n")
    assert results(run) == [(0, []), (1, ["new"])]


def test_process_goes_on_from_earlier_documents(profilec: Runs, write: Writes) -> None:
    write("high.prof", "PROFILE high WHERE FORALL d (d.bid < bid); PROFILE again WHERE EXISTS d LAST 1 (d.bid = bid);")
    write("past.ndjson", '{"bid": 5}\n{"bid": 7}\n')
    bids = "".join(f'{{"bid": {bid}}}\n' for bid in (7, 6, 8, 8, 9))
    run = profilec("match", "high.prof", "--join-documents", "past.ndjson", "--process", stdin=bids)
    assert results(run) == [(0, ["again"]), (1, []), (2, ["high"]), (3, ["again"]), (4, ["high"])]
    run = profilec("match", "high.prof", "--join-documents", "past.ndjson", stdin=bids)
    assert results(run) == [(0, ["again"]), (1, []), (2, ["high"]), (3, ["high"]), (4, ["high"])]


@pytest.mark.parametrize("process", [[], ["--process"]])
def test_earlier_document_that_is_refused_is_named_and_the_others_are_loaded(
    profilec: Runs, new: str, write: Writes, process: list[str]
) -> None:
    deep = '{"isbn": 3, "y": ' + "[" * 900 + "]" * 900 + "}"
    write("past.ndjson", f'{{"isbn": 1}}\n{{"isbn"\n{deep}\n{{"isbn": 2}}\n')
    arguments = ("match", new, "--join-documents", "past.ndjson", *process)
    run = profilec(*arguments, stdin="".join(f'{{"isbn": {isbn}}}\n' for isbn in (1, 2, 3)))
    assert results(run) == [(0, []), (1, []), (2, ["new"])]
    syntax, depth = run.err.splitlines()
    assert syntax.startswith("past.ndjson:2:8: error: malformed record: ")
    assert depth == "past.ndjson:3: error: malformed record: attribute 'y' is nested too deeply"
    assert run.status == 1
    run = profilec(*arguments, "--strict", stdin='{"isbn": 4}\n')
    assert (run.out, run.err, run.status) == ("", f"{syntax}\n", 2)


def test_earlier_documents_are_kept_by_number_and_age(profilec: Runs, write: Writes) -> None:
    write("new.prof", "SCHEMA (isbn NUMBER, at DATE); PROFILE new WHERE NOT EXISTS d (d.isbn = isbn);")
    days = "".join(f'{{"isbn": {isbn}, "at": "2024-01-{day:02}"}}\n' for isbn, day in ((1, 1), (2, 2), (1, 3), (1, 1)))
    run = profilec("match", "new.prof", "--process", "--max-documents", "1", stdin=days)
    assert results(run) == [(0, ["new"]), (1, ["new"]), (2, ["new"]), (3, [])]
    days += '{"isbn": 5}\n'
    aged = ("match", "new.prof", "--process", "--max-age", "1 day", "--age-of", "at")
    run = profilec(*aged, stdin=days)
    assert (results(run), run.status) == ([(0, ["new"]), (1, ["new"]), (2, [])], 1)
    old, missing = run.err.splitlines()
    assert old.startswith("<stdin>:4: error: malformed record: attribute 'at': 2024-01-01 00:00:00 is more")
    assert missing.startswith("<stdin>:5: error: malformed record: attribute 'at' is missing")
    run = profilec(*aged, "--strict", stdin=days)
    assert (run.out.count("\n"), run.err, run.status) == (3, f"{old}\n", 2)


@pytest.mark.parametrize("name", ["past.ndjson", "past.parquet"])
def test_earlier_documents_that_are_too_old_are_named_and_the_others_are_loaded(
    profilec: Runs, new: str, write: Writes, name: str
) -> None:
    import datetime

    import pyarrow as pa
    from pyarrow import parquet

    rows = [(1, 1), (2, 9), (3, 1), (4, 8)]
    if name.endswith("parquet"):
        table = pa.table({"isbn": [isbn for isbn, _ in rows], "at": [datetime.date(2024, 1, day) for _, day in rows]})
        parquet.write_table(table, write(name, ""))
    else:
        write("new.prof", "SCHEMA (isbn NUMBER, at DATE); PROFILE new WHERE NOT EXISTS d (d.isbn = isbn);")
        write(name, "".join(f'{{"isbn": {isbn}, "at": "2024-01-{day:02}"}}\n' for isbn, day in rows))
    documents = "".join(f'{{"isbn": {isbn}}}\n' for isbn, _ in rows)
    run = profilec("match", new, "--join-documents", name, "--max-age", "7 days", "--age-of", "at", stdin=documents)
    assert results(run) == [(0, ["new"]), (1, []), (2, ["new"]), (3, [])]
    assert run.err.startswith(f"{name}:3: error: malformed record: attribute 'at': 2024-01-01 00:00:00 is more than 7")
    assert (run.err.count("\n"), run.status) == (1, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--process", "--max-documents", "0"], "--max-documents takes 1 or more, not 0"),
        (["--process", "--max-age", "7 days"], "--max-age needs --age-of, the attribute that tells a document's time"),
        (["--process", "--max-age", "7", "--age-of", "at"], "--max-age: '7' is no interval"),
        (["--max-documents", "5"], "there are no earlier documents to keep: --process or --join-documents says"),
    ],
)
def test_bounds_that_make_no_sense(profilec: Runs, new: str, options: list[str], message: str) -> None:
    run = profilec("match", new, *options, stdin="{}\n")
    assert run.err.startswith(f"error: {message}")
    assert (run.out, run.status) == ("", 2)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.ndjson", None, "none.ndjson: No such file or directory"),
        ("past.csv", "isbn,isbn\n1,2\n", "past.csv: two columns are named 'isbn'"),
        ("past.parquet", "isbn", "past.parquet: "),
        ("past.arrow", "isbn", "past.arrow: "),
        ("past.arrow", "ARROW1 and no more", "past.arrow: "),
        ("past.arrow", "", "past.arrow: "),
    ],
)
def test_earlier_documents_that_cannot_be_read(
    profilec: Runs, new: str, write: Writes, name: str, content: str | None, message: str
) -> None:
    if content is not None:
        write(name, content)
    run = profilec("match", new, "--process", "--join-documents", name, stdin='{"isbn": 1}\n')
    assert run.err.startswith(f"error: {message}")
    assert "Traceback" not in run.err
    assert (run.out, run.status) == ("", 2)


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_arrow_from_a_pipe(profilec: Runs, profiles: str, kind: str) -> None:
    import pyarrow as pa

    table = pa.Table.from_pylist([json.loads(line) for line in DOCUMENTS.splitlines()] * 3_000)
    sink = pa.BufferOutputStream()
    with (pa.ipc.new_file if kind == "file" else pa.ipc.new_stream)(sink, table.schema) as writer:
        writer.write_table(table)
        writer.write_table(table.slice(0, 1))
    run = profilec("match", profiles, "-", "--only-matches", stdin=sink.getvalue().to_pybytes())
    assert len(run.lines) == 6_001
    assert results(run)[-1] == (9_000, MATCHES[0][1])
    assert (run.err, run.status) == ("", 0)


def test_attributes_that_the_schema_does_not_know(profilec: Runs, write: Writes) -> None:
    write("s.prof", "SCHEMA (price NUMBER, user RECORD(name STRING)); PROFILE p WHERE price < 10;")
    run = profilec("match", "s.prof", stdin='{"prise": 1}\n{"prise": 1, "price": 2, "user": {}}\n')
    assert results(run) == [(0, []), (1, ["p"])]
    assert run.err == "warning: SCHEMA has no attribute `prise`; did you mean `price`?\n"
    assert run.status == 0


def test_csv_columns_have_the_types_of_the_schema(profilec: Runs, write: Writes) -> None:
    write("s.prof", "SCHEMA (zip STRING, day DATE); PROFILE p WHERE zip = '00123' AND day > DATE '2024-01-01';")
    write("docs.csv", "zip,day\n00123,2024-02-01\n123,2024-02-01\n00123,2023-01-01\n")
    assert [ids for _, ids in results(profilec("match", "s.prof", "docs.csv"))] == [["p"], [], []]


@pytest.mark.parametrize(("name", "header"), [("docs.csv", "a;b"), ("docs.csv", "a\tb"), ("docs.tsv", "a,b")])
def test_columns_that_another_sign_separates(
    profilec: Runs, profiles: str, write: Writes, name: str, header: str
) -> None:
    write(name, f"{header}\n1\n")
    run = profilec("match", profiles, name)
    assert run.err.startswith(f"warning: {name}: the header is one column, {header!r}; columns are separated by ")
    assert (results(run), run.status) == ([(0, [])], 0)


def test_profiles_with_errors(profilec: Runs, write: Writes) -> None:
    write("bad.prof", "PROFILE good WHERE price < 10;\nPROFILE bad WHERE price <;\n")
    run = profilec("match", "bad.prof", stdin='{"price": 1}\n')
    assert (run.out, run.status) == ("", 2)
    assert "bad.prof:2:" in run.err
    run = profilec("match", "bad.prof", "--skip-errors", stdin='{"price": 1}\n')
    assert (results(run), run.status) == ([(0, ["good"])], 1)
    assert "bad.prof:2:" in run.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["shop.prof", "none.ndjson"], "none.ndjson: No such file or directory"),
        (["none.prof", "-"], "none.prof: no such file or folder"),
        (["shop.prof", "-", "--format", "xml"], "--format is one of ndjson, json, csv, not 'xml'"),
        (
            ["shop.prof", "-", "--input-format", "xml"],
            "--input-format is one of ndjson, json, csv, parquet, arrow, not 'xml'",
        ),
        (["shop.prof", "bad.parquet"], "bad.parquet: "),
        (["shop.prof", "twice.csv"], "twice.csv: two columns are named 'a'"),
        (["shop.prof", "docs.ndjson.gz"], "docs.ndjson.gz: this is compressed; unpack it and pass `-`"),
        (["shop.prof", "-", "--matcher", "none"], "no matcher 'none'"),
        (["shop.prof", "-", "-o", "max_depth"], "--option takes NAME=VALUE, not 'max_depth'"),
    ],
)
def test_what_cannot_be_done_is_said(
    profilec: Runs, profiles: str, write: Writes, arguments: list[str], message: str
) -> None:
    write("bad.parquet", "no parquet")
    write("twice.csv", "a,a\n1,2\n")
    write("docs.ndjson.gz", gzip.compress(b"{}\n"))
    run = profilec("match", *arguments)
    assert run.err.startswith(f"error: {message}")
    assert (run.out, run.status) == ("", 2)


@pytest.mark.parametrize("option", [[], ["--process"], ["--join-documents", "docs.parquet"]])
def test_column_of_a_type_that_has_no_kind(profilec: Runs, write: Writes, option: list[str]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    write("p.prof", "PROFILE p WHERE x = 1;")
    parquet.write_table(pa.table({"x": pa.array([b"a", None], pa.binary())}), write("docs.parquet", ""))
    run = profilec("match", "p.prof", "docs.parquet", *option)
    assert run.err.startswith("error: docs.parquet: column 'x' has the type binary, which is no ")
    assert (run.out, run.status) == ("", 2)


def test_record_nested_too_deep_for_the_store_costs_only_itself(profilec: Runs, write: Writes) -> None:
    write("p.prof", "PROFILE p WHERE x = 1;")
    deep = '{"y": ' + "[" * 900 + "]" * 900 + "}"
    run = profilec("match", "p.prof", "--process", stdin=f'{deep}\n{{"x": 1}}\n')
    assert results(run)[-1] == (1, ["p"])
    assert "Traceback" not in run.err


def test_folders_of_documents(profilec: Runs, profiles: str, write: Writes) -> None:
    write("docs/a.ndjson", '{"price": 1}\n')
    write("docs/b.csv", "price\n2\n")
    write("docs/notes.txt", "no documents")
    assert [number for number, _ in results(profilec("match", profiles, "docs"))] == [0, 1]


def test_without_profiles(profilec: Runs, write: Writes) -> None:
    write("docs.ndjson", "{}")
    run = profilec("match", "docs.ndjson")
    assert (run.status, run.err.split(":")[1]) == (2, " no profiles")


def test_a_reader_that_goes_away_is_no_error(profiles: str, tmp_path: Path) -> None:
    documents = tmp_path / "docs.ndjson"
    documents.write_text('{"price": 1}\n' * 50_000)
    command = [sys.executable, "-m", "profilec", "match", profiles, "docs.ndjson"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read().splitlines()
        assert [line for line in said if not line.startswith(b"compiling kernels")] == []
        process.wait(60)


def test_results_come_while_the_input_is_open_and_interrupts_end_it(profiles: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "profilec", "match", profiles, "-"]
    pipe = subprocess.PIPE
    # A shell's background job ignores SIGINT, and so would the command that the tests start there.
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env=ENVIRONMENT,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        preexec_fn=heed,  # noqa: PLW1509
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b'{"price": 40}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == {"document": 0, "profiles": ["any, price"]}
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert b"Traceback" not in process.stderr.read()


def test_memory_stays_bounded(profiles: str, tmp_path: Path) -> None:
    """300 MB of records through 4,096 at a time: far less than the input is ever held."""
    program = (
        "import resource, subprocess, sys\n"
        "run = subprocess.Popen([sys.executable, '-m', 'profilec', 'match', sys.argv[1], '-', '--only-matches'],\n"
        "    stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)\n"
        "line = b'{\"brand\": \"' + b'x' * 10_000 + b'\"}\\n'\n"
        "for _ in range(300):\n"
        "    run.stdin.write(line * 100)\n"
        "run.stdin.close()\n"
        "assert run.wait() == 0\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, profiles], cwd=tmp_path, capture_output=True, check=True, env=ENVIRONMENT
    )
    assert int(done.stdout) < 280, "MB"


@pytest.mark.parametrize(
    "arguments", [["shop.prof", "-", "--join-documents", "-"], ["-", "--join-documents", "-"], ["-", "-"]]
)
def test_standard_input_named_twice_is_refused(profilec: Runs, profiles: str, arguments: list[str]) -> None:
    run = profilec("match", *arguments, stdin=DOCUMENTS)
    assert (run.status, run.out) == (2, "")
    assert "only once" in run.err or "no profiles" in run.err
