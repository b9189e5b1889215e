"""The command itself: help, version, and what is wrong with its arguments."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
Runs = Callable[..., Any]
Writes = Callable[..., Path]

VERBS = ["check", "fmt", "test", "match", "explain", "compile", "verify", "import", "export"]


def test_help_names_every_verb(profilec: Runs) -> None:
    run = profilec("--help")
    assert run.status == 0
    assert [line.split()[0] for line in run.lines if line[:2] == "  " and line.split()[0] in VERBS] == VERBS


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_has_help(profilec: Runs, verb: str) -> None:
    assert profilec(verb, "--help").status == 0


def test_version(profilec: Runs) -> None:
    run = profilec("--version")
    assert (run.status, run.lines[0].split()[0]) == (0, "profilec")


@pytest.mark.parametrize(
    "arguments", [["chek", "a.prof"], ["check"], ["check", "--no-such", "a.prof"], ["import", "a.sql"]]
)
def test_wrong_arguments(profilec: Runs, arguments: list[str]) -> None:
    run = profilec(*arguments)
    assert (run.status, run.out) == (2, "")
    assert "Usage:" in run.err


@pytest.mark.parametrize(
    ("redirect", "message"),
    [
        (">/dev/full", "standard output: No space left on device"),
        (">&-", "standard output is closed"),
        ("<&-", "standard input is closed"),
    ],
)
def test_streams_that_cannot_be_used_end_it_with_2_and_a_word(redirect: str, message: str, write: Writes) -> None:
    path = write("a.prof", "PROFILE a WHERE TRUE;")
    documents = "" if redirect.startswith("<") else write("d.ndjson", "{}\n").name
    command = f"exec {sys.executable} -m profilec match {path.name} {documents} {redirect}"
    run = subprocess.run(command, shell=True, cwd=path.parent, env=ENVIRONMENT, capture_output=True, check=False)
    assert (run.returncode, run.stderr.decode()) == (2, f"error: {message}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "index=3"], "--option index: an index is forced with --index ATTRIBUTE=NAME"),
        (["-o", "index=a=interval"], "--option index: an index is forced with --index ATTRIBUTE=NAME"),
        (["-o", f"max_cap={10**23}"], f"max_cap takes a whole number from 1 to 2,147,483,647, not {10**23}"),
        (["-o", f"max_cap={'9' * 5_000}"], "max_cap takes a whole number from 1 to 2,147,483,647, not '9999"),
        (["-o", "max_cap=-1"], "max_cap takes a whole number from 1 to 2,147,483,647, not -1"),
        (["-o", "max_depth=deep"], "max_depth takes a whole number from 1 to 300, not 'deep'"),
        (["-o", "rules=merge_ranges,fold"], "no rule 'fold'"),
        (["-o", "memory=lots"], "memory takes bytes, as 256_000_000, '256 MB' or '1 GiB', not 'lots'"),
        (["-o", "max_kap=3"], "no option 'max_kap'; did you mean 'max_cap'?"),
        (["--index", "prise=interval"], "index forces 'interval' on 'prise', an attribute that no profile uses; did"),
        (["--index", "price=skip_list"], "no index 'skip_list'"),
    ],
    ids=lambda value: value[-1][:20] if isinstance(value, list) else "",
)
def test_an_option_that_makes_no_sense_is_one_line(
    profilec: Runs, write: Writes, arguments: list[str], message: str
) -> None:
    write("a.prof", "PROFILE a WHERE price < 3;")
    run = profilec("match", "a.prof", *arguments)
    assert (run.status, run.out, run.err.count("\n")) == (2, "", 1)
    assert run.err.startswith(f"error: {message}")


@pytest.mark.parametrize("name", ["lci:table", "operator_lists:bs", "pbtree", "pbtree:stored"])
def test_an_index_may_have_a_form(profilec: Runs, write: Writes, name: str) -> None:
    write("a.prof", "PROFILE a WHERE price < 3; PROFILE b WHERE price BETWEEN 2 AND 5; PROFILE c WHERE price <> 4;")
    write("d.ndjson", '{"price": 4}\n{"price": 2}\n')
    plain = profilec("match", "a.prof", "d.ndjson")
    forced = profilec("match", "a.prof", "d.ndjson", "--index", f"price={name}")
    assert (forced.status, forced.out, forced.err) == (0, plain.out, plain.err)
    assert '["a", "b", "c"]' in forced.out


@pytest.mark.parametrize("memory", ["1", "1 kB", "0.001MiB"])
def test_little_memory_brings_indexes_to_disk(profilec: Runs, write: Writes, memory: str) -> None:
    write("a.prof", "".join(f"PROFILE p{n} WHERE price < {n} AND brand = 'b{n % 9}';" for n in range(300)))
    write("d.ndjson", '{"price": 4, "brand": "b7"}\n{"price": 290, "brand": "b3"}\n')
    option = ("-o", f"memory={memory}")
    told = profilec("explain", "a.prof", *option)
    assert "pbtree:stored of price" in told.out
    assert "more than the 1" in told.out
    plain, limited = (profilec("match", "a.prof", "d.ndjson", *more) for more in ((), option))
    assert (limited.status, limited.out, limited.err) == (0, plain.out, plain.err)


@pytest.mark.parametrize("name", ["trie", "suffix_trie", "aho_corasick", "regex_set"])
def test_an_index_of_patterns_needs_no_matcher(profilec: Runs, write: Writes, name: str) -> None:
    write("a.prof", "PROFILE a WHERE t LIKE 'a%c%'; PROFILE b WHERE t ILIKE '%B%'; PROFILE c WHERE t MATCHES '^ab';")
    write("d.ndjson", '{"t": "abcd"}\n{"t": "xB"}\n')
    plain = profilec("match", "a.prof", "d.ndjson")
    forced = profilec("match", "a.prof", "d.ndjson", "--index", f"t={name}", "--matcher", "opindex")
    assert (forced.status, forced.out, forced.err) == (0, plain.out, plain.err)
    assert '["a", "b", "c"]' in forced.out
    told = profilec("explain", "a.prof", "--index", f"t={name}")
    assert f"patterns of t by {name}" in told.out


def test_rules_are_listed_with_commas(profilec: Runs, write: Writes) -> None:
    write("a.prof", "PROFILE a WHERE price < 3;")
    assert profilec("check", "a.prof", "-o", "rules=merge_ranges,fold_constants").status == 0


@pytest.mark.parametrize("module", ["profilec.cli.app", "typer", "profilec.cli.load", "profilec.planner.options"])
def test_an_interrupt_at_any_import_ends_it_in_silence(module: str, write: Writes) -> None:
    path = write("a.prof", "PROFILE a WHERE TRUE;")
    code = f"""
import runpy, sys
class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupts())
sys.argv = ["profilec", "check", {str(path)!r}]
runpy.run_module("profilec", run_name="__main__")
"""
    run = subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (130, b"", b"")


def test_an_interrupt_while_workers_parse_leaves_no_traceback(write: Writes) -> None:
    path = write("a.prof", "".join(f"PROFILE p{n} WHERE a{n} < {n} AND b{n % 7} = c{n};\n" for n in range(20_000)))
    code = f"""
import os, signal, sys
from profilec.planner import workers
start = workers.WorkerPool._start
def interrupted(pool):
    start(pool)
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(0, signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, 0.2)
workers.WorkerPool._start = interrupted
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv = ["profilec", "compile", {str(path)!r}, "-o", "a.prfi"]
from profilec.__main__ import main
main()
"""
    command = [sys.executable, "-c", code]
    run = subprocess.run(
        command, cwd=path.parent, env=ENVIRONMENT, capture_output=True, check=False, start_new_session=True
    )
    assert (run.returncode, run.stdout, run.stderr) == (130, b"", b"")
    assert os.listdir(path.parent) == ["a.prof"]
