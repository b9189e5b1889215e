"""profilec in Spark against the judges: worlds of the differential test, as DataFrames and as JSON text.

One query asks several sets at once, each of one world; what differs from query to query is drawn: ANSI mode, the time
zone, partitions (empty ones too), the size of batches, the way of asking. `PROFILEC_DIFFERENTIAL_SEED` and
`PROFILEC_DIFFERENTIAL_SECONDS` as for `test_differential`; run it for an hour by hand before a release.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import math
import os
import random
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import pyarrow as pa
from engines import WORDS, Case, options_of, three_forms
from generator import worlds
from hypothesis import HealthCheck, Phase, given, seed, settings
from structures import Document, World
from tables import TYPES_OF_COLUMNS
from test_differential import SECONDS, judged

import profilec
from profilec.spark import SparkMatchError, match, register

SETTINGS = {
    "spark.sql.ansi.enabled": ("true", "false"),
    "spark.sql.session.timeZone": ("UTC", "America/New_York", "Asia/Kathmandu"),
    "spark.sql.execution.arrow.maxRecordsPerBatch": ("1", "3", "10000"),
}


def test_spark_agrees_with_the_judges(spark: Any, record_property: Callable[[str, object], None]) -> None:
    given_seed = os.environ.get("PROFILEC_DIFFERENTIAL_SEED")
    first_seed = int(given_seed) if given_seed else random.SystemRandom().randrange(2**32)
    record_property("told", f"differential test in Spark: PROFILEC_DIFFERENTIAL_SEED={first_seed}")
    deadline = time.monotonic() + SECONDS / 2
    counts: Counter[str] = Counter()
    for round_ in range(10**6):
        if time.monotonic() > deadline and round_:
            break
        draw = random.Random(first_seed + round_)
        with drawn_settings(spark, draw), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of columns that are not there, or of another type
            for case in some_cases(first_seed + round_):
                ways = (by_function, by_array, by_explode) if case.tabular else (by_json, by_variant)
                way = draw.choice((by_joins,) * (2 * bool(case.tabular and case.earlier)) + ways)
                asked = way.__name__
                compare(case, way(spark, case, draw), f"{asked}, seed {first_seed + round_}")
                counts.update({"worlds": 1, asked: 1, "truths": len(case.profiles) * len(case.documents)})
    record_property("told", ", ".join(f"{count:,} {what}" for what, count in counts.items()))
    assert counts["worlds"] > 0


def some_cases(number: int, n: int = 12) -> list[Case]:
    """Worlds of conditions, as Spark can have them, with their truths."""
    found: list[Case] = []

    def take(world: World) -> None:
        if not world.changes and not world.processed:
            found.append(judged(world if world.tabular else of_json(world)))

    search = settings(
        max_examples=n, deadline=None, database=None, phases=(Phase.generate,), suppress_health_check=list(HealthCheck)
    )(seed(number)(given(worlds())(take)))
    search()
    return found


def of_json(world: World) -> World:
    """The world with documents of what JSON, and Spark's VARIANT, can hold."""
    documents = [{name: value for name, value in document.items() if is_json(value)} for document in world.documents]
    return dataclasses.replace(world, documents=documents, sql=None)


def by_function(spark: Any, case: Case, draw: random.Random) -> list[Any]:
    register(spark, compiled(case), "match_world", missing="null", replace=True)
    return collected(frame_of(spark, case.documents, draw).selectExpr("number", "match_world(struct(*)) AS ids"), case)


def by_array(spark: Any, case: Case, draw: random.Random) -> list[Any]:
    frame = frame_of(spark, case.documents, draw)
    return collected(match(compiled(case), frame, columns=["number"], output="ids"), case)


def by_joins(spark: Any, case: Case, draw: random.Random) -> list[Any]:
    """The earlier documents as a DataFrame, which has no order: worlds with LAST are asked of the set's own."""
    frame, profiles = frame_of(spark, case.documents, draw), compiled(case)
    options = {"allow_nested_loop": True, "phase_order": draw.choice((None, "constant_first", "join_first"))}
    try:
        found = match(
            profiles, frame, columns=["number"], output="ids", documents=frame_of(spark, case.earlier, draw), **options
        )
    except SparkMatchError as error:
        if "LAST" not in str(error):
            raise
        found = match(profiles, frame, columns=["number"], output="ids")
    return collected(found, case)


def by_explode(spark: Any, case: Case, draw: random.Random) -> list[Any]:
    frame = frame_of(spark, case.documents, draw)
    found: list[list[str]] = [[] for _ in case.documents]
    for row in match(compiled(case), frame, "pairs", ["number"]).collect():
        found[row.number].append(row.profile)
    return found


def by_json(spark: Any, case: Case, draw: random.Random) -> list[Any]:
    return by_text(spark, case, draw, "match_world(text)")


def by_variant(spark: Any, case: Case, draw: random.Random) -> list[Any]:
    return by_text(spark, case, draw, "match_world(parse_json(text))")


def by_text(spark: Any, case: Case, draw: random.Random, call: str) -> list[Any]:
    register(spark, compiled(case), "match_world", missing="null", replace=True)
    texts = [json_text(document) for document in case.documents]
    rows = pa.table({"number": range(len(texts)), "text": texts})
    frame = parted(spark.createDataFrame(rows), draw)
    return collected(frame.selectExpr("number", f"{call} AS ids"), case)


def compiled(case: Case) -> profilec.ProfileSet:
    matcher = "betree" if case.matchers[0] in ("mixed", "living") else case.matchers[0]
    options = {"rules": case.rules, **options_of(matcher)}
    profiles = profilec.compile(three_forms(case.profiles, case.forms), schema=case.schema, options=options)
    profiles.documents.extend(list(case.earlier))
    return profiles


def frame_of(spark: Any, documents: Sequence[Document], draw: random.Random) -> Any:
    """The documents as rows, numbered."""
    columns = {}
    for name, type_ in TYPES_OF_COLUMNS.items():
        values = [document.get(name) for document in documents]
        if any(value is not None for value in values) or draw.random() < 0.3:
            columns[name] = pa.array(values, type_)
    return parted(spark.createDataFrame(pa.table({"number": pa.array(range(len(documents))), **columns})), draw)


def parted(frame: Any, draw: random.Random) -> Any:
    n = draw.choice((None, 1, 5))
    return frame if n is None else frame.repartition(n)


def collected(frame: Any, case: Case) -> list[Any]:
    found: list[Any] = [None] * len(case.documents)
    for row in frame.collect():
        assert found[row.number] is None, f"row {row.number} came twice"
        found[row.number] = row.ids
    return found


def compare(case: Case, answers: list[Any], asked: str) -> None:
    for document, truths, ids in zip(case.documents, case.truths, answers, strict=True):
        expected = [f"{p} {WORDS[truth]}" for p, truth in enumerate(truths) if WORDS[truth] in case.forms]
        wrong = set(expected) ^ set(ids or [])
        profiles = {id_: case.profiles[int(id_.split()[0])] for id_ in wrong}
        assert ids == expected, f"{asked}: {profiles} of {document}, schema {case.schema}, rules {case.rules}"


def is_json(value: Any) -> bool:
    """Whether a value is one of JSON that Spark's VARIANT holds, too."""
    match value:
        case dict():
            return all(isinstance(key, str) and is_json(item) for key, item in value.items())
        case list() | tuple():
            return all(map(is_json, value))
        case datetime.date():
            return False
        case float():
            return math.isfinite(value)
        case int() | Decimal():
            exponent = Decimal(value).as_tuple().exponent
            return isinstance(exponent, int) and exponent >= -10 and abs(value) < 10**18
        case str():
            return value.isprintable() or value.isspace()
    return value is None


def json_text(value: Any) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{json.dumps(key)}: {json_text(item)}" for key, item in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(json_text, value)) + "]"
        case Decimal():
            return f"{value:f}"
        case float():  # without an exponent it would be a decimal of Spark's VARIANT
            text = repr(value)
            return text if "e" in text else f"{text}e0"
    return json.dumps(value)


@contextmanager
def drawn_settings(spark: Any, draw: random.Random) -> Iterator[None]:
    for name, values in SETTINGS.items():
        spark.conf.set(name, draw.choice(values))
    try:
        yield
    finally:
        for name in SETTINGS:
            spark.conf.unset(name)
