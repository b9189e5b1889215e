"""What `bench_spark` measures: a session, rows, conditions, and how these are checked in Spark without profilec."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

N_NUMBERS, N_STRINGS = 14, 6
CARDINALITY = 1_000
"""Values of a column: a condition holds for one of 100,000 rows."""


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


def conditions(n: int) -> list[tuple[int, int, int, int, int, int]]:
    """Each an equality of a string, and two ranges of numbers that hold for a tenth: column and value, then twice
    column and low."""
    rng = random.Random(7)
    tenth = CARDINALITY // 10
    found = []
    for _ in range(n):
        first, second = rng.sample(range(N_NUMBERS), 2)
        low, other = (rng.randrange(CARDINALITY - tenth) for _ in range(2))
        found.append((rng.randrange(N_STRINGS), rng.randrange(CARDINALITY), first, low, second, other))
    return found


def texts(n: int) -> dict[str, str]:
    """The conditions as profiles, which are Spark's SQL as well."""
    found = {}
    for number, (s, value, i, low, j, other) in enumerate(conditions(n)):
        ranges = f"n{i} BETWEEN {low} AND {low + 99} AND n{j} BETWEEN {other} AND {other + 99}"
        found[f"profile-{number}"] = f"s{s} = 'v{value}' AND {ranges}"
    return found


def by_expressions(rows: Any, n: int) -> Any:
    """`array(when(…))` without NULLs."""
    cases = ", ".join(f"CASE WHEN {where} THEN '{id_}' END" for id_, where in texts(n).items())
    return rows.selectExpr(f"array_compact(array({cases})) AS ids")


def by_python(rows: Any, n: int) -> Any:
    """A loop over compiled conditions, in an Arrow UDF."""
    import pyarrow as pa
    from pyspark.sql.functions import struct

    names = rows.columns
    ids = list(texts(n))
    tests = [
        f"lambda r: r[{names.index(f's{s}')}] == 'v{value}' and {low} <= r[{names.index(f'n{i}')}] <= {low + 99}"
        f" and {other} <= r[{names.index(f'n{j}')}] <= {other + 99}"
        for s, value, i, low, j, other in conditions(n)
    ]
    compiled: list[Any] = []

    def match(document: Any) -> Any:
        if not compiled:
            compiled.extend(zip(ids, map(eval, tests), strict=True))
        columns = [column.to_pylist() for column in document.flatten()]
        return pa.array([[id_ for id_, holds in compiled if holds(row)] for row in zip(*columns, strict=True)])

    return rows.select(_arrow_udf(match, "array<string>")(struct("*")).alias("ids"))


def by_join(rows: Any, n: int) -> Any:
    """A nested-loop join with a broadcast table of conditions; a row for each match."""
    from pyspark.sql.functions import broadcast, expr

    columns = "s int, value string, i int, ilow int, j int, jlow int, id string"
    found = [(s, f"v{v}", i, low, j, o, f"profile-{k}") for k, (s, v, i, low, j, o) in enumerate(conditions(n))]
    table = broadcast(rows.sparkSession.createDataFrame(found, columns)).alias("p")
    strings = "array(" + ", ".join(f"s{i}" for i in range(N_STRINGS)) + ")"
    numbers = "array(" + ", ".join(f"n{i}" for i in range(N_NUMBERS)) + ")"
    given = rows.selectExpr(f"{strings} AS strings", f"{numbers} AS numbers").alias("r")
    holds = (
        "r.strings[p.s] = p.value AND r.numbers[p.i] BETWEEN p.ilow AND p.ilow + 99 "
        "AND r.numbers[p.j] BETWEEN p.jlow AND p.jlow + 99"
    )
    return given.join(table, expr(holds)).select("id")


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
