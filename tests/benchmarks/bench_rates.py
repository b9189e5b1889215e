"""Whole answers on one core: detection rules over events, an Arrow table end to end, one dictionary.

In: for the rules, the folder that `tests/corpus/sigma.py` describes, named by PROFILEC_SIGMA; without it they are left
out. Out: rows with their limits.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bench_encode
from figures import Row, seconds

TITLE = "Rates: whole answers on one core"
N_ATTRIBUTES = bench_encode.N_WHOLE + bench_encode.N_DECIMAL + bench_encode.N_TEXT


def rows(quick: bool) -> Iterator[Row]:
    folder = os.environ.get("PROFILEC_SIGMA")
    if folder:
        yield from _of_rules(Path(folder), 100 if quick else None)
    profiles = _profiles()
    table = bench_encode._table(2_000 if quick else 200_000)
    whole = _per(lambda: profiles.match_batch(table, threads=1), table.num_rows)
    listed = _per(table.to_pylist, table.num_rows)
    yield Row(
        "a row of 20 columns, 1,000 profiles of 4 predicates", whole, "us", listed, "Table.to_pylist", 1e6 / 300e3
    )
    documents = [dict(list(row.items())[:15]) for row in table.slice(0, 2_000).to_pylist()]
    yield _of_one(profiles, documents)


def _of_rules(folder: Path, most: int | None) -> Iterator[Row]:
    import profilec
    from profilec.grammar.sql import import_rows

    def lines(name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (folder / name).open(encoding="utf-8")]

    rules = {line["id"]: line["where"] for line in lines("profiles.jsonl")}
    imported = import_rows(rules.items(), "sqlite", like_case="sensitive", report=lambda diagnostic: None)
    profiles = profilec.compile({rule.id: rule.where for rule in imported})
    events = [line["event"] for line in lines("events.jsonl")[:most]]
    batch = _per(lambda: profiles.match_batch(events, threads=1), len(events))
    yield Row(f"an event, {len(profiles):,} detection rules, in a list", batch, "us", target=1e6 / 40e3)
    yield Row("the same, alone", _per(lambda: [profiles.match(event) for event in events], len(events)), "us")


def _of_one(profiles: Any, documents: list[dict[str, Any]]) -> Row:
    """What is neither the kernels' work, as a batch needs it, nor the making of the list of ids."""
    profiles.match_batch(documents)
    executor = profiles._whole().executor()
    batch = executor._encoder.encode_batch(documents, 0, len(documents))
    arrays = batch.doc_off, batch.doc_slots, batch.doc_ranks
    found = [executor.match(document) for document in documents]
    n = len(documents)
    whole = _per(lambda: [profiles.match(document) for document in documents], n)
    kernels = _per(lambda: executor._matcher.match_batch(*arrays), n)
    listed = _per(lambda: [profiles._table.ids.take(ordinals) for ordinals in found], n)
    name = "a document of 15 attributes, besides kernel and result list"
    return Row(name, whole - kernels - listed, "us", whole, "all of it", 15)


def _profiles() -> Any:
    import profilec

    rng = random.Random(11)
    conditions = {
        f"p{number}": " AND ".join(
            bench_encode._predicate(rng, attribute) for attribute in rng.sample(range(N_ATTRIBUTES), 4)
        )
        for number in range(bench_encode.N_PROFILES)
    }
    return profilec.compile(conditions, options={"matcher": "betree"})


def _per(run: Callable[[], Any], n: int) -> float:
    run()
    return seconds(run, 5) / n * 1e6
