"""What `bench_spark` measures: a session, rows, conditions, and how these are checked in Spark without profilec."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

N_NUMBERS, N_STRINGS = 14, 6
CARDINALITY = 1_000
"""Values of a column."""


@contextmanager
def session(n_cores: int, folder: Path) -> Iterator[Any]:
    """A Spark of its own, whose workers run this Python."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    spark = (
        SparkSession.builder.master(f"local[{n_cores}]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "4g")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.files.maxPartitionBytes", "4m")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    try:
        yield spark
    finally:
        with suppress(Exception):  # it may be down
            spark.stop()


def write_rows(path: Path, n_rows: int, n_files: int = 4) -> None:
    """Rows of 20 columns, as Parquet."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(5)
    path.mkdir(parents=True)
    for number in range(n_files):
        n = n_rows // n_files
        columns: dict[str, Any] = {f"n{i}": rng.integers(0, CARDINALITY, n) for i in range(N_NUMBERS)}
        names = np.array([f"v{value}" for value in range(CARDINALITY)])
        columns |= {f"s{i}": names[rng.integers(0, CARDINALITY, n)] for i in range(N_STRINGS)}
        pq.write_table(pa.table(columns), path / f"{number}.parquet")


class Predicate(NamedTuple):
    """A value of the column is within `low` and `high`, or one of `values`, or begins with `prefix`."""

    column: str
    low: int | None = None
    high: int | None = None
    values: tuple[Any, ...] = ()
    prefix: str | None = None


def conditions(n: int) -> list[list[Predicate]]:
    """Conjunctions of many shapes, as alerts and segments have them: two to six predicates on different columns, in any
    order. One is selective, the others hold for a third or a half; so a condition holds for one row in 100,000 or less
    often, by which a million match a row ten times."""
    rng = random.Random(7)
    found = []
    for _ in range(n):
        columns = rng.sample(
            [f"n{i}" for i in range(N_NUMBERS)] + [f"s{i}" for i in range(N_STRINGS)], rng.randint(4, 6)
        )
        predicates = [_selective(columns[0], rng), _selective(columns[1], rng, CARDINALITY // 50)]
        predicates += [_broad(column, rng) for column in columns[2:]]
        rng.shuffle(predicates)
        found.append(predicates)
    return found


def _selective(column: str, rng: random.Random, n: int = 1) -> Predicate:
    """Of so many of the column's values."""
    if column[0] == "n":
        low = rng.randrange(CARDINALITY - n)
        return Predicate(column, low, low + n - 1)
    return Predicate(column, values=tuple(f"v{value}" for value in rng.sample(range(CARDINALITY), n)))


def _broad(column: str, rng: random.Random) -> Predicate:
    """Of a third to a half of the column's values; of a string, of a ninth, by its beginning."""
    if column[0] == "s":
        return Predicate(column, prefix=f"v{rng.randint(1, 9)}")
    width = rng.randint(CARDINALITY // 3, CARDINALITY // 2)
    low = rng.randrange(CARDINALITY - width)
    return Predicate(column, low, low + width)


def texts(n: int) -> dict[str, str]:
    """The conditions as profiles, which are Spark's SQL as well."""
    return {f"profile-{number}": " AND ".join(map(_sql, own)) for number, own in enumerate(conditions(n))}


def _sql(predicate: Predicate) -> str:
    column = predicate.column
    if predicate.prefix is not None:
        return f"{column} LIKE '{predicate.prefix}%'"
    if predicate.values:
        return f"{column} IN ({', '.join(map(repr, predicate.values))})"
    if predicate.low == predicate.high:
        return f"{column} = {predicate.low}"
    return f"{column} BETWEEN {predicate.low} AND {predicate.high}"


def by_expressions(rows: Any, n: int) -> Any:
    """`array(when(…))` without NULLs."""
    cases = ", ".join(f"CASE WHEN {where} THEN '{id_}' END" for id_, where in texts(n).items())
    return rows.selectExpr(f"array_compact(array({cases})) AS ids")


def by_python(rows: Any, n: int) -> Any:
    """A loop over compiled conditions, in an Arrow UDF."""
    import pyarrow as pa
    from pyspark.sql.functions import struct

    places = {name: f"r[{place}]" for place, name in enumerate(rows.columns)}
    ids = list(texts(n))
    tests = ["lambda r: " + " and ".join(_python(one, places[one.column]) for one in own) for own in conditions(n)]
    compiled: list[Any] = []

    def match(document: Any) -> Any:
        if not compiled:
            compiled.extend(zip(ids, map(eval, tests), strict=True))
        columns = [column.to_pylist() for column in document.flatten()]
        return pa.array([[id_ for id_, holds in compiled if holds(row)] for row in zip(*columns, strict=True)])

    return rows.select(_arrow_udf(match, "array<string>")(struct("*")).alias("ids"))


def _python(predicate: Predicate, value: str) -> str:
    if predicate.prefix is not None:
        return f"{value}.startswith({predicate.prefix!r})"
    if predicate.values:
        return f"{value} in {set(predicate.values)!r}"  # a constant, for the compiler
    if predicate.low == predicate.high:
        return f"{value} == {predicate.low}"
    return f"{predicate.low} <= {value} <= {predicate.high}"


def by_join(rows: Any, n: int) -> Any:
    """A nested-loop join with a broadcast table of conditions, of what each column may be; a row for each match."""
    from pyspark.sql.functions import broadcast, expr

    found = []
    for number, own in enumerate(conditions(n)):
        of = {one.column: one for one in own}
        bounds = [of.get(f"n{i}", Predicate("")) for i in range(N_NUMBERS)]
        strings = [of.get(f"s{i}", Predicate("")) for i in range(N_STRINGS)]
        cells = [cell for one in bounds for cell in (one.low, one.high)]
        cells += [cell for one in strings for cell in (list(one.values) or None, one.prefix)]
        found.append((*cells, f"profile-{number}"))
    names = [f"{cell}{i} int" for i in range(N_NUMBERS) for cell in ("low", "high")]
    names += [name for i in range(N_STRINGS) for name in (f"values{i} array<string>", f"prefix{i} string")]
    table = broadcast(rows.sparkSession.createDataFrame(found, ", ".join([*names, "id string"]))).alias("p")
    holds = [f"(p.low{i} IS NULL OR r.n{i} BETWEEN p.low{i} AND p.high{i})" for i in range(N_NUMBERS)]
    for i in range(N_STRINGS):
        holds.append(f"(p.values{i} IS NULL OR array_contains(p.values{i}, r.s{i}))")
        holds.append(f"(p.prefix{i} IS NULL OR startswith(r.s{i}, p.prefix{i}))")
    return rows.alias("r").join(table, expr(" AND ".join(holds))).select("id")


def by_identity(rows: Any) -> Any:
    """An Arrow UDF that returns its input."""
    from pyspark.sql.functions import struct

    def same(document: Any) -> Any:
        return document

    return rows.select(_arrow_udf(same, rows.schema)(struct("*")).alias("document"))


def _arrow_udf(function: Any, type_: Any) -> Any:
    from pyspark.sql.functions import ArrowUDFType, arrow_udf

    return arrow_udf(function, type_, ArrowUDFType.SCALAR)


def run(frame: Any) -> None:
    """All of it, written nowhere."""
    frame.write.format("noop").mode("overwrite").save()


def processor_time() -> float:
    """Seconds of the processor that this process and all beneath it have taken, ended ones too."""
    return sum(_times(pid) for pid in _tree(os.getpid())) / os.sysconf("SC_CLK_TCK")


def worker_memory() -> int:
    """Private memory of the largest Python worker of Spark, in bytes; pages of mapped files are not."""
    return max((_private(pid) for pid in _tree(os.getpid()) if _is_worker(pid)), default=0)


def _tree(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        waiting += children.get(pid, [])
    return found


def _times(pid: int) -> int:
    try:
        return sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]))
    except OSError:
        return 0


def _is_worker(pid: int) -> bool:
    try:
        return b"pyspark.daemon" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _private(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty")) * 1024
