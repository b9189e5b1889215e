"""Reading the corpus: `tests/testdata/corpus`, whose README says what each key means."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "testdata" / "corpus"
FILES = ("selectors", "cesql", "patterns", "sql3vl", "sql_edges", "quantified")
TRUTHS = {True: "true", False: "false", None: "unknown"}


@dataclass(frozen=True)
class CorpusCase:
    place: str  # selectors.jsonl:12
    profile: str
    document: dict[str, Any]
    earlier: tuple[dict[str, Any], ...]
    theirs: frozenset[str]
    """The answers that the source allows: of `true`, `false`, `unknown`, `error`."""
    ours: frozenset[str]
    """The answers that this project allows; another set only where the case is set aside."""


def _theirs(row: dict[str, Any]) -> frozenset[str]:
    expected = {True: "true", False: "false"}.get(row["expect"], row["expect"])
    if row["mode"] == "parse":
        return frozenset({"true", "false", "unknown"})
    if "expect3" in row:
        return frozenset({{True: "true", False: "false"}.get(row["expect3"], row["expect3"])})
    if row["mode"] in ("match", "cesql-default") and expected == "false":
        return frozenset({"false", "unknown"})
    return frozenset({expected} if expected else ())


@cache
def read(name: str) -> tuple[CorpusCase, ...]:
    """The cases of one file, in order."""
    cases = []
    ours = {place: answer for place, _, answer in set_aside()} | rulings()
    with (FOLDER / f"{name}.jsonl").open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            row = json.loads(line)
            place, theirs = f"{name}.jsonl:{number}", _theirs(row)
            answer = frozenset({ours[place]}) if place in ours else theirs
            cases.append(CorpusCase(place, row["profile"], row["event"], tuple(row.get("docs", ())), theirs, answer))
    return tuple(cases)


def by_profile(cases: tuple[CorpusCase, ...]) -> dict[str, list[CorpusCase]]:
    grouped: dict[str, list[CorpusCase]] = defaultdict(list)
    for case in cases:
        grouped[case.profile].append(case)
    return grouped


def set_aside() -> list[tuple[str, str, str]]:
    """Place, heading and our answer of each case that is set aside."""
    return [tuple(row) for row in _rows("set_aside.txt")]


def rulings() -> dict[str, str]:
    """Place and our answer of each case on which SQL engines differ."""
    return dict(_rows("rulings.txt"))


def headings() -> set[str]:
    """The headings that the README's last table explains."""
    _, _, table = (FOLDER / "README.md").read_text(encoding="utf-8").partition("| heading |")
    return {line.split("|")[1].strip() for line in table.splitlines()[2:] if line.startswith("|")}


def _rows(name: str) -> list[Any]:
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.split("|")] for line in lines if line and not line.startswith("#")]
