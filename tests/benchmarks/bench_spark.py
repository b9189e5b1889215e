"""Spark: a set as a function of SQL, against what users write without one.

All on rows of 20 columns from Parquet. Each figure is the best of some runs, taken in turns; the first run of each,
which starts workers and compiles, does not count. Processor time is that of the JVM and its Python workers together.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import spark_loads
from figures import Row, Skipped, seconds
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from spark_loads import by_expressions, by_identity, by_join, by_python, run, session, write_rows

import profilec
import profilec.spark

TITLE = "Spark: matching as a function of SQL, local[2]"
_ASKED = {100: 5.0, 1_000: 20.0}
"""Profiles: how many times faster than the best of the others."""
BASELINES: dict[str, Callable[[Any, int], Any]] = {"Python loop": by_python, "join": by_join, "CASE": by_expressions}
PATIENCE = 120.0
"""Seconds after which a baseline is given up."""


def rows(quick: bool) -> Iterator[Row | Skipped]:
    n_rows, largest, repeat = (4_000, 10_000, 1) if quick else (200_000, 1_000_000, 5)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_rows(folder / "rows", n_rows)
        sets = {n: profilec.compile(spark_loads.texts(n)) for n in (100, 1_000, largest)}
        for n, times in _ASKED.items():
            with session(2, folder) as spark:  # each its own, which a baseline may bring down
                given = spark.read.parquet(str(folder / "rows"))
                given.createOrReplaceTempView("given")
                profilec.spark.register(spark, sets[n], f"match_{n}")
                yield from _against_others(spark, given, n, times, n_rows)
        with session(2, folder) as spark:
            given = spark.read.parquet(str(folder / "rows"))
            given.createOrReplaceTempView("given")
            for n, profiles in sets.items():
                profilec.spark.register(spark, profiles, f"match_{n}")
            yield from _by_size(spark, sets, n_rows, repeat)
            yield from _of_the_matcher(spark, given, n_rows, repeat)
            yield from _opening(spark, sets[largest], folder)
        yield from _memory(sets[largest], folder)
        yield from _with_cores(sets[largest], folder, n_rows, repeat)


def _matched(spark: Any, n: int) -> Any:
    return spark.sql(f"SELECT match_{n}(struct(*)) AS ids FROM given")


def _against_others(spark: Any, given: Any, n: int, times: float, n_rows: int) -> Iterator[Row | Skipped]:
    matched = _matched(spark, n)
    run(matched)
    own = seconds(lambda: run(matched), 3)
    n_matches = matched.selectExpr("sum(size(ids))").collect()[0][0]
    took: dict[str, float] = {}
    for name, baseline in BASELINES.items():
        frame = baseline(given, n)
        watch = threading.Timer(PATIENCE, spark.sparkContext.cancelAllJobs)
        watch.start()
        try:
            if n == min(_ASKED):
                counted = "count(*)" if "id" in frame.columns else "sum(size(ids))"
                found = frame.selectExpr(counted).collect()[0][0]
                assert found == n_matches, f"{name}: {found} matches, not {n_matches}"
            run(frame)
            took[name] = seconds(lambda frame=frame: run(frame), 2)
        except (PySparkException, Py4JError, OSError) as error:  # Spark's compiler, or its memory, has enough of it
            reason = next((line for line in str(error).splitlines() if "rror" in line or "ancel" in line), str(error))
            yield Skipped(f"{n:,} profiles: {name}", f"it fails: {reason.strip():.100}")
            continue
        finally:
            watch.cancel()
        yield Row(f"{n:,} profiles: {name}", took[name] / n_rows * 1e6, "us")
    best = min(took, key=took.__getitem__)
    per_row = own / n_rows * 1e6
    yield Row(f"{n:,} profiles: match_profiles", per_row, "us", took[best] / n_rows * 1e6, best, times=times)


def _by_size(spark: Any, sets: dict[int, Any], n_rows: int, repeat: int) -> Iterator[Row]:
    small, large = 1_000, max(sets)
    frames = {n: _matched(spark, n) for n in (small, large)}
    n_matches = frames[large].selectExpr("sum(size(ids))").collect()[0][0] / n_rows
    took = _in_turns({n: lambda frame=frame: run(frame) for n, frame in frames.items()}, repeat)
    yield Row(f"{small:,} profiles, whole query", took[small] / n_rows * 1e6, "us")
    yield Row(f"{large:,} profiles, {n_matches:.1f} matches a row", took[large] / n_rows * 1e6, "us")
    yield Row(f"{large:,} profiles to {small:,}", took[large] / took[small], "x", target=3.0)
    planned = _in_turns({n: lambda n=n: _matched(spark, n)._jdf.queryExecution().executedPlan() for n in frames}, 20)
    yield Row(f"planning, {large:,} profiles to {small:,}", planned[large] / planned[small], "x", target=1.5)


def _of_the_matcher(spark: Any, given: Any, n_rows: int, repeat: int) -> Iterator[Row]:
    """What the matcher adds to a query that sends rows to Python and back."""
    frames = {"identity": by_identity(given), "match": _matched(spark, 1_000)}
    took: dict[str, list[float]] = {name: [] for name in frames}
    for _ in range(repeat + 1):
        for name, frame in frames.items():
            start = spark_loads.processor_time()
            run(frame)
            took[name].append(spark_loads.processor_time() - start)
    identity, match = (statistics.median(times[1:]) / n_rows * 1e6 for times in took.values())
    yield Row("identity, processor time of a row", identity, "us")
    yield Row("match of 1,000, processor time of a row", match, "us")
    yield Row("of which the matcher's, to the identity's whole", (match - identity) / identity, "x", target=1.0)


def _opening(spark: Any, profiles: Any, folder: Path) -> Iterator[Row]:
    """A worker that never saw the image: until its first row is matched, Spark's own time for a query included."""
    image = folder / "large.image"
    profiles.save(image)
    size = image.stat().st_size / 1e6
    profilec.spark.register(spark, image, "match_large")
    frame = spark.sql("SELECT match_large(struct(*)) AS ids FROM given LIMIT 1")
    start = time.perf_counter()
    frame.collect()
    yield Row(f"an image of {size:,.0f} MB, until a row is matched", time.perf_counter() - start, "s", target=1.0)


def _memory(profiles: Any, folder: Path) -> Iterator[Row]:
    """Memory that a worker has for itself, in sessions of one core, each with its own worker."""
    took = {}
    for name in ("identity", "match"):
        with session(1, folder) as spark:
            given = spark.read.parquet(str(folder / "rows"))
            given.createOrReplaceTempView("given")
            profilec.spark.register(spark, profiles, "match_large")
            frame = by_identity(given) if name == "identity" else spark.sql("SELECT match_large(struct(*)) FROM given")
            run(frame)
            took[name] = spark_loads.worker_memory() / 1e6
            yield Row(f"private memory of a worker: {name}", took[name], "MB")
    yield Row("of which the matcher's", took["match"] - took["identity"], "MB", target=64.0)


def _with_cores(profiles: Any, folder: Path, n_rows: int, repeat: int) -> Iterator[Row]:
    took = {}
    for n_cores in (1, 2):
        with session(n_cores, folder) as spark:
            spark.read.parquet(str(folder / "rows")).createOrReplaceTempView("given")
            profilec.spark.register(spark, profiles, "match_large", missing="null")
            # Bound to the matcher: each row is matched eight times for each time that it is read.
            frame = spark.sql("SELECT " + ", ".join(["size(match_large(struct(*)))"] * 8) + " FROM given")
            run(frame)
            took[n_cores] = seconds(lambda frame=frame: run(frame), repeat)
    yield Row(
        "8 times 1M profiles, local[2]", took[2] / n_rows * 1e6, "us", took[1] / n_rows * 1e6, "local[1]", times=1.5
    )


def _in_turns(runs: dict[int, Callable[[], Any]], repeat: int) -> dict[int, float]:
    """The best of each; once before that for nothing."""
    took: dict[int, list[float]] = {name: [] for name in runs}
    for _ in range(repeat + 1):
        for name, run_ in runs.items():
            took[name].append(seconds(run_))
    return {name: min(times[1:]) for name, times in took.items()}
