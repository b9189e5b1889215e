"""Detection rules in SQLite's dialect, imported and matched against recorded events.

    python tests/corpus/sigma.py FOLDER

FOLDER holds `profiles.jsonl` (id and `where`, one rule a line), `events.jsonl` (id and `event`)
and `expected.jsonl` (a profile and the ids of its events; a profile without a line matches none).
The rules' licence asks that each author stay named, so they are no part of this repository, and
no test needs them. Prints a line per difference, then the figures; exits with 1 if there was any.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import profilec
from profilec.grammar.sql import import_rows


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def main(folder: Path) -> int:
    rules = {line["id"]: line["where"] for line in lines_of(folder / "profiles.jsonl")}
    refused: list[Any] = []
    started = time.perf_counter()
    imported = import_rows(rules.items(), "sqlite", like_case="sensitive", report=refused.append)
    imported_after = time.perf_counter() - started
    for diagnostic in refused:
        print(diagnostic.render())
    events = list(lines_of(folder / "events.jsonl"))
    expected = {line["profile"]: set(line["events"]) for line in lines_of(folder / "expected.jsonl")}
    n_different = 0
    for matcher in ("scan", "bitmap", "betree"):
        started = time.perf_counter()
        profiles = profilec.compile({rule.id: rule.where for rule in imported}, options={"matcher": matcher})
        compiled_after = time.perf_counter() - started
        started = time.perf_counter()
        found: dict[str, set[str]] = defaultdict(set)
        for event, ids in zip(events, profiles.match_batch([event["event"] for event in events]), strict=True):
            for id_ in ids:
                found[id_].add(event["id"])
        matched_after = time.perf_counter() - started
        for id_ in rules:
            missing, extra = expected.get(id_, set()) - found[id_], found[id_] - expected.get(id_, set())
            if missing or extra:
                n_different += 1
                print(f"{matcher}: {id_}: misses {sorted(missing)[:3]}, has {sorted(extra)[:3]} too many")
        n_matches = sum(map(len, found.values()))
        print(
            f"{matcher}: {len(imported):,} of {len(rules):,} rules imported ({imported_after:.1f} s) and compiled "
            f"({compiled_after:.1f} s); {n_matches:,} matches in {len(events):,} events ({matched_after:.1f} s); "
            f"{n_different} rules differ from the expectation"
        )
    return 1 if n_different or len(imported) < len(rules) else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
