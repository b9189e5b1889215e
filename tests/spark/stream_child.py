"""A program that `test_stream_restarts` kills: it runs a query over a folder of files, and ends when all are processed.

    stream_child.py FOLDER [KILL]

FOLDER holds `in` and `set.image`, and gets `output`, `documents` and `checkpoint`. KILL is a step, as "publish
documents 3 before" or "write_aside matches 0 after": there the program kills itself and its JVM.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from profilec.spark import process_stream
from profilec.spark.batch_folders import BatchFolder

SCHEMA = "id INT, user STRING, amount INT"


def main(folder: Path, kill: str) -> None:
    from pyspark.sql import SparkSession

    if kill:
        _kill_at(*kill.split())
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.extraJavaOptions", f"-XX:TieredStopAtLevel=1 -Dderby.system.home={folder}")
        .config("spark.driver.memory", "512m")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.local.dir", str(folder / "local"))
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    rows = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(folder / "in"))
    query = process_stream(
        folder / "set.image",
        rows,
        output=folder / "output",
        checkpoint=folder / "checkpoint",
        documents=folder / "documents",
        trigger={"availableNow": True},
    )
    print("started", flush=True)
    query.awaitTermination()
    spark.stop()


def _kill_at(step: str, what: str, batch: str, when: str) -> None:
    done = getattr(BatchFolder, step)

    def killing(folder: BatchFolder, given: Any, id_: int) -> Any:
        is_here = folder._what == what and id_ == int(batch)
        if is_here and when == "before":
            os.killpg(0, signal.SIGKILL)
        result = done(folder, given, id_)
        if is_here:
            os.killpg(0, signal.SIGKILL)
        return result

    setattr(BatchFolder, step, killing)


if __name__ == "__main__":
    main(Path(sys.argv[1]), " ".join(sys.argv[2:]))
