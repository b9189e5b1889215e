"""Two executors that are processes of their own, as on a cluster: images reach them as files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import profilec

ROOT = Path(__file__).parents[2]
SECONDS = 240

PROGRAM = """
import json, os, shutil, sys, time
import profilec, pyspark
from profilec.spark import images, match, register, shard
from pyspark.sql import SparkSession

folder, profiles = sys.argv[1], profilec.compile(json.loads(sys.argv[2]))
os.environ["SPARK_HOME"] = folder + "/spark"  # executors write beneath it
os.mkdir(os.environ["SPARK_HOME"])
for part in ("bin", "jars"):
    os.symlink(os.path.join(os.path.dirname(pyspark.__file__), part), os.path.join(os.environ["SPARK_HOME"], part))
settings = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.executorEnv.PYTHONPATH": sys.argv[3],
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.cores.max": "2",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.warehouse.dir": folder + "/warehouse",
    "spark.local.dir": folder + "/local",
}
builder = SparkSession.builder.master("local-cluster[2,1,2048]")
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("OFF")


def executor(number):
    time.sleep(0.5)
    return os.getcwd(), sorted(name for name in os.listdir() if name.startswith("profilec-"))


try:
    frame = spark.sql("SELECT CAST(id AS INT) AS price, 'Acme' AS brand FROM range(0, 40, 1, 4)")
    frame.createOrReplaceTempView("sales")
    whole = match(profiles, frame, columns=["price"])
    split = match(profiles, frame, columns=["price"], shards=3)
    register(spark, {"whole": profiles, "split": shard(profiles, 2, folder + "/shards")})
    query = "SELECT price, match_profiles('whole', struct(*)), match_profiles('split', struct(*)) FROM sales"
    found = dict(spark.sparkContext.parallelize(range(8), 8).map(executor).collect())
    shutil.rmtree(folder + "/shards")
    shutil.rmtree(images._own_folder())
    answers = [[list(row) for row in rows.collect()] for rows in (whole, split, spark.sql(query))]
    print(json.dumps([list(found.values()), answers]))
finally:
    spark.stop()
"""


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """The files of each executor, and what they answered, when the driver's own files were gone already."""
    pytest.importorskip("pyspark", reason="PySpark is not installed; it comes with the extra `test`")
    from profilec.spark.errors import SparkMatchError
    from profilec.spark.session import expect_java

    try:
        expect_java()
    except SparkMatchError as error:
        pytest.skip(str(error))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SPARK_")}
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    folder = str(tmp_path_factory.mktemp("cluster"))
    environment |= {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": path}
    command = [sys.executable, "-c", PROGRAM, folder, json.dumps(PROFILES), path]
    run = subprocess.run(
        command, capture_output=True, text=True, timeout=SECONDS, env=environment, check=False, cwd=folder
    )
    assert run.returncode == 0, run.stderr[-3_000:]
    files, answers = json.loads(run.stdout.splitlines()[-1])
    return files, answers


PROFILES = {f"p{n}": f"price < {n}" for n in range(0, 40, 5)} | {"acme": "brand = 'Acme' AND price > 30"}


def test_images_are_sent_to_each_executor(answered: tuple[Any, Any]) -> None:
    files, _ = answered
    assert len(files) == 2
    for names in files:
        endings = [name.rsplit(".", 1)[1] for name in names]
        assert {ending: endings.count(ending) for ending in endings} == {"image": 6, "npy": 1, "shards": 2}  # one map


def test_executors_answer_as_the_set_does(answered: tuple[Any, Any]) -> None:
    _, (whole, split, asked) = answered
    profiles = profilec.compile(PROFILES)
    expected = [[price, profiles.match({"price": price, "brand": "Acme"})] for price in range(40)]
    assert whole == expected
    assert split == expected
    assert asked == [[price, ids, ids] for price, ids in expected]
