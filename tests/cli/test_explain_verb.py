"""`profilec explain`: the set, its profiles, and why a document does or does not match."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Runs = Callable[..., Any]
Writes = Callable[..., Path]


PROFILES = """PROFILE cheap WHERE brand = "Acme" AND NOT price >= 10;
PROFILE "two words" WHERE a = 1 OR b = 2 AND c = 3;
"""


@pytest.fixture
def profiles(write: Writes) -> str:
    write("a.prof", PROFILES)
    return "a.prof"


def test_set(profilec: Runs, profiles: str) -> None:
    run = profilec("explain", profiles)
    assert run.out.startswith("Plan for 2 profiles: ")
    assert " 1 entries" not in run.out
    assert " 1 tests" not in run.out
    assert json.loads(profilec("explain", profiles, "--format", "json").out)["profiles"] == 2


def test_one_profile(profilec: Runs, profiles: str) -> None:
    run = profilec("explain", profiles, "--id", "cheap")
    assert run.lines[0] == "cheap   a.prof:1:21"
    assert "price < 10" in run.out  # the negation has gone to the comparison
    assert json.loads(profilec("explain", profiles, "--id", "cheap", "--format", "json").out)["profile"] == "cheap"


def test_all_profiles(profilec: Runs, profiles: str) -> None:
    run = profilec("explain", profiles, "--all", "--format", "json")
    assert [json.loads(line)["profile"] for line in run.lines] == ["cheap", "two words"]


def test_normal_forms(profilec: Runs, profiles: str) -> None:
    run = profilec("explain", profiles, "--form", "cnf", "--id", "two words")
    assert "(a = 1 OR b = 2) AND (a = 1 OR c = 3)" in run.out


def test_normal_form_that_would_explode(profilec: Runs, write: Writes) -> None:
    write("big.prof", "PROFILE big WHERE " + " OR ".join(f"(a{i} = 1 AND b{i} = 2)" for i in range(400)) + ";")
    run = profilec("explain", "big.prof", "--form", "cnf")
    assert (run.status, run.out) == (2, "")
    assert run.err.startswith("error: profile 'big': ")


def test_why(profilec: Runs, profiles: str, write: Writes) -> None:
    run = profilec("explain", profiles, "--id", "cheap", "--why", '{"brand": "Acme", "price": 12}')
    assert run.lines[0] == "cheap: FALSE"
    assert any("price is 12" in line and "1:44" in line for line in run.lines)
    write("docs.ndjson", '{"brand": "Acme", "price": 12}\n{"brand": "Acme"}\n')
    run = profilec("explain", profiles, "--id", "cheap", "--why", "docs.ndjson", "--format", "json")
    found = [json.loads(line) for line in run.lines]
    assert [(one["document"], one["profile"], one["truth"]) for one in found] == [
        (0, "cheap", False),
        (1, "cheap", None),
    ]


def test_why_with_earlier_documents(profilec: Runs, write: Writes) -> None:
    write("new.prof", "PROFILE new WHERE NOT EXISTS d (d.x = x);")
    write("past.ndjson", '{"x": 1}\n')
    run = profilec("explain", "new.prof", "--why", '{"x": 1}', "--join-documents", "past.ndjson")
    assert run.lines[0] == "new: FALSE"


def test_unknown_id(profilec: Runs, profiles: str) -> None:
    run = profilec("explain", profiles, "--id", "cheep")
    assert (run.status, run.err) == (2, "error: no profile 'cheep'; did you mean `cheap`?\n")


def test_why_of_what_json_has_no_word_for(profilec: Runs, write: Writes) -> None:
    write("i.prof", "PROFILE i WHERE a > 1;")
    for number, shown in [("-Infinity", "-Infinity"), ("1e999", "1" + "0" * 58 + "…"), ("9" * 1_500, "9" * 59 + "…")]:
        run = profilec("explain", "i.prof", "--why", f'{{"a": {number}}}')
        assert (run.status, run.lines[1].rpartition(" a is ")[2], run.err) == (0, shown, "")
    run = profilec("explain", "i.prof", "--why", '{"a": -Infinity}', "--format", "json")
    assert json.loads(run.out, parse_constant=pytest.fail)["steps"][0]["value"] == "-Infinity"
    write("huge.prof", "PROFILE huge WHERE a * a > 1;")
    run = profilec("explain", "huge.prof", "--why", f'{{"a": {"9" * 4_000}}}', "--format", "json")
    assert len(json.loads(run.out)["steps"][0]["value"]) == 8_000


def test_control_characters_reach_no_terminal(profilec: Runs, write: Writes) -> None:
    write("e.prof", "PROFILE e WHERE s = 'a\x1b[31m';")
    for arguments in (["--why", r'{"s": "b\u001b[31m\n"}'], ["--all"], ["--id", "\x1b"]):
        run = profilec("explain", "e.prof", *arguments)
        assert "\x1b" not in run.out + run.err
        assert r"\x1b" in run.out + run.err


def test_earlier_documents_are_those_that_costs_are_for(profilec: Runs, write: Writes) -> None:
    write("joins.prof", "PROFILE seen WHERE EXISTS d (d.a = a AND d.n < n);\nPROFILE one WHERE EXISTS d (d.b = 1);\n")
    write("earlier.ndjson", '{"a": 1, "n": 2}\n{"a": 1, "n": 3}\n')
    assert "as with 1,000,000 earlier documents:" in profilec("explain", "joins.prof").out
    run = profilec("explain", "joins.prof", "--join-documents", "earlier.ndjson")
    assert "with 2 earlier documents:" in run.out
    assert "\n  key-partitioned" not in run.out
    assert "(rejected: walk of a group " in run.out
    assert "1 profile cannot match yet\n  one\n" in run.out
    facts = json.loads(profilec("explain", "joins.prof", "--join-documents", "earlier.ndjson", "--format", "json").out)
    assert facts["documents"] == 2
    assert facts["prefilter"] == {"constraints": 3, "joins_replaced": 1, "cannot_match": ["one"]}
    (asked,) = facts["join_rows"][0]["asked_by"]
    assert asked["way"] == "key-partitioned sorted probe"
    assert asked["ns"] <= min(other["ns"] for other in asked["rejected"])


def test_a_broken_line_of_earlier_documents_is_a_finding(profilec: Runs, profiles: str, write: Writes) -> None:
    write("earlier.ndjson", '{"a": 1}\n{"a":\n')
    run = profilec("explain", profiles, "--join-documents", "earlier.ndjson")
    assert (run.status, "earlier.ndjson:2" in run.err, "Plan for 2 profiles" in run.out) == (1, True, True)


@pytest.mark.parametrize("value", ["False", "false"])
def test_the_prefilter_is_switched_off(profilec: Runs, write: Writes, value: str) -> None:
    write("joins.prof", "PROFILE seen WHERE EXISTS d (d.a = a);\n")
    facts = json.loads(profilec("explain", "joins.prof", "-o", f"prefilter={value}", "--format", "json").out)
    assert facts["prefilter"] is None
    assert [one["detail"] for one in facts["operators"] if one["operator"] == "joins"] == ["1 join term, no pre-filter"]


DOCUMENTS = "".join(f'{{"brand": "Acme", "price": {number % 20}}}\n' for number in range(100))


@pytest.mark.parametrize(("format_", "begins"), [("dot", "digraph"), ("mermaid", "flowchart"), ("html", "<!doctype")])
def test_the_plan_is_drawn(profilec: Runs, profiles: str, format_: str, begins: str) -> None:
    run = profilec("explain", profiles, "--format", format_)
    assert (run.status, run.out.startswith(begins)) == (0, True)
    run = profilec("explain", profiles, "--format", format_, "--id", "cheap")
    assert (run.status, "--format is one of text, json" in run.err) == (2, True)


def test_the_plan_is_run(profilec: Runs, profiles: str, write: Writes) -> None:
    write("docs.ndjson", DOCUMENTS)
    run = profilec("explain", profiles, "--analyze", "docs.ndjson", "--statistics", "docs.ndjson")
    assert (run.status, "rows seen" in run.out, "seen with 100 documents" in run.out) == (0, True, True)
    facts = json.loads(profilec("explain", profiles, "--analyze", "docs.ndjson", "--format", "json").out)
    assert facts["operators"][0]["rows_seen"] == 0.5
    write("half.ndjson", '{"price": 1}\n{"price":\n')
    assert profilec("explain", profiles, "--analyze", "half.ndjson").status == 1
    assert profilec("explain", profiles, "--analyze", "none.ndjson").status == 2
    assert profilec("explain", profiles, "--analyze", "docs.ndjson", "--id", "cheap").status == 2


def test_two_plans_are_compared(profilec: Runs, profiles: str, write: Writes) -> None:
    write("docs.ndjson", DOCUMENTS)
    write("others.ndjson", '{"brand": "Acme"}\n' * 50)
    assert profilec("stats", "others.ndjson", "-o", "others.stats").status == 0
    run = profilec("explain", profiles, "--diff", "docs.ndjson", "others.stats")
    assert (run.status, "match  2 profiles     rows 0.5 -> " in run.out) == (0, True)
    assert profilec("explain", profiles, "--diff", "docs.ndjson", "docs.ndjson").out == "no difference\n"
    found = json.loads(profilec("explain", profiles, "--diff", "docs.ndjson", "others.stats", "--format", "json").out)
    assert set(found) == {"before", "after"}


def test_unit_costs_of_a_file(profilec: Runs, profiles: str, write: Writes) -> None:
    write("slow.json", '{"profilec_calibration": 1, "units": {"betree_document": 1e9}}')
    facts = json.loads(profilec("explain", profiles, "--calibration", "slow.json", "--format", "json").out)
    assert facts["matcher"] != "betree"
    write("bad.json", '{"profilec_calibration": 1, "units": {"betree": 1}}')
    run = profilec("explain", profiles, "--calibration", "bad.json")
    assert (run.status, "bad.json: no unit cost 'betree'" in run.err) == (2, True)
    assert profilec("explain", profiles, "--calibration", "none.json").status == 2
    assert profilec("compile", profiles, "-o", "a.prfi").status == 0
    run = profilec("explain", "a.prfi", "--calibration", "slow.json")
    assert (run.status, "give --calibration to `profilec compile`" in run.err) == (2, True)
    run = profilec("explain", profiles, "--diff", "docs.ndjson", "docs.ndjson", "--analyze", "docs.ndjson")
    assert (run.status, "--analyze does not go with --diff" in run.err) == (2, True)
