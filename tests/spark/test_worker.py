"""What runs in workers, run here: images that are opened once, and dropped for others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import profilec
from profilec.spark import worker
from profilec.spark.binding import bind
from profilec.spark.errors import SparkMatchError
from profilec.spark.images import Shipped
from profilec.spark.session import _expect_version, expect_java, expect_session, own_version
from profilec.spark.worker import MOST_OPEN, open_set


@pytest.fixture(autouse=True)
def _nothing_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_open", type(worker._open)())


def shipped(path: Path, place: str = "match_profiles/") -> Shipped:
    return Shipped(place, str(path), "", False, own_version())


def saved(path: Path, where: str) -> Path:
    profilec.compile({"p": where}).save(path)
    return path


def test_an_image_is_opened_once_and_again_when_it_is_another(tmp_path: Path) -> None:
    path = saved(tmp_path / "set.image", "a = 1")
    first = open_set(shipped(path))
    assert open_set(shipped(path)) is first
    saved(path, "a = 2")
    second = open_set(shipped(path))
    assert second is not first
    assert list(worker._open.values()) == [second]
    assert first.profiles.match({"a": 1}) == ["p"], "a task that has it open goes on with it"


def test_what_serves_the_same_place_takes_it_and_only_some_stay_open(tmp_path: Path) -> None:
    open_set(shipped(saved(tmp_path / "one.image", "a = 1")))
    two = open_set(shipped(saved(tmp_path / "two.image", "a = 2")))
    assert list(worker._open.values()) == [two]
    for number in range(MOST_OPEN + 3):
        open_set(shipped(tmp_path / "one.image", f"place {number}"))
    assert len(worker._open) == MOST_OPEN
    assert "place 2" not in "".join(worker._open)


def test_images_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(SparkMatchError, match=r"the image .*nothing\.image cannot be read here: No such file"):
        open_set(shipped(tmp_path / "nothing.image"))
    (tmp_path / "text").write_text("PROFILE p WHERE a = 1;")
    with pytest.raises(SparkMatchError, match="it is no image"):
        open_set(shipped(tmp_path / "text"))
    with pytest.raises(SparkMatchError, match=r"the driver has profilec 0\.0\.1, and this executor"):
        open_set(Shipped("", str(tmp_path / "text"), "", False, "0.0.1"))


def test_a_worker_loads_no_parser_and_no_session(tmp_path: Path) -> None:
    path = saved(tmp_path / "set.image", "a = 1 AND s LIKE '%x%'")
    program = f"""
import sys
import pyarrow as pa
from profilec.spark.calls import MatchCall
from profilec.spark.images import Shipped
from profilec.spark.session import own_version
call = MatchCall("f", {{"": Shipped("f", {str(path)!r}, "", False, own_version())}}, (), "null", "ids")
rows = pa.StructArray.from_arrays([pa.array([1, 2]), pa.array(["xx", "x"])], ["A", "s"])
assert call(rows).to_pylist() == [["p"], []]
loaded = [name for name in ("lark", "sqlglot", "networkx", "rich", "typer", "pyspark.sql") if name in sys.modules]
assert not loaded, loaded
"""
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root}
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_kernels_are_compiled_by_one_process_of_a_machine(tmp_path: Path) -> None:
    """Several begin at once, where no kernel is yet; each is compiled by one of them."""
    path = saved(tmp_path / "set.image", " OR ".join(f"a = {n} AND b > {n}" for n in range(300)))
    program = f"""
from pathlib import Path
from profilec.runtime import kernels, machine_code
kernels.cache_directories = lambda: (Path({str(tmp_path / "kernels")!r}),)  # and nowhere else
import pyarrow as pa
from profilec.spark.images import Shipped
from profilec.spark.session import own_version
from profilec.spark.worker import open_set
opened = open_set(Shipped("f", {str(path)!r}, "", False, own_version()))
opened.match(pa.table({{"a": [1], "b": [2.5]}}))
print(len(machine_code.compiled))
"""
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root}
    runs = [
        subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    compiled = [int(run.communicate()[0]) for run in runs]
    assert sorted(compiled)[:2] == [0, 0]
    assert max(compiled) > 0


def test_kernels_have_a_folder_where_neither_home_nor_the_sources_can_be_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from profilec.runtime import kernels

    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(kernels, "cache_directory", lambda: None)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    worker._keep_kernels_somewhere()
    folder = Path(os.environ["NUMBA_CACHE_DIR"])
    assert folder.parent == tmp_path
    assert folder.stat().st_mode & 0o077 == 0
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    folder.chmod(0o777)  # somebody else could write there, and what is there is run
    worker._keep_kernels_somewhere()
    assert "NUMBA_CACHE_DIR" not in os.environ


def test_versions_and_sessions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for good in ("4.1.0", "4.3.0.dev1", "5.0"):
        _expect_version(good)
    for old in ("3.5.4", "4.0.1"):
        with pytest.raises(SparkMatchError, match=f"PySpark {old} has no arrow_udf: profilec needs 4.1 or newer"):
            _expect_version(old)
    with pytest.raises(TypeError, match="a SparkSession is needed, not str"):
        expect_session("local")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SparkMatchError, match="Spark needs Java 17 or newer: JAVA_HOME is"):
        expect_java()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SparkMatchError, match="there is none on PATH"):
        expect_java()


def test_second_names_at_any_depth() -> None:
    inner = pa.struct([("SKU", pa.string()), ("Codes", pa.list_(pa.struct([("C", pa.int64())])))])
    items = [[{"SKU": "x", "Codes": [{"C": 1}]}], None, [], [{"SKU": None, "Codes": None}]]
    table = pa.table({"Items": pa.array(items, pa.list_(inner)), "a.B": pa.array([1, 2, 3, 4])})
    paths = [("items", "sku"), ("items", "codes", "c"), ("Items", "SKU"), ("a", "b"), ("items", "none")]
    binding = bind(paths, table.schema)
    assert binding.missing == (("items", "none"),)
    for start in range(4):
        for batch in table.slice(start).to_batches():
            rows = binding.documents(batch.columns, batch.schema.names, batch.num_rows).to_pylist()
            for row, given in zip(rows, batch.to_pylist(), strict=True):
                assert row["Items"] == row["items"]
                assert row["a.b"] == row["a.B"] == given["a.B"]
                for ours, theirs in zip(row["items"] or [], given["Items"] or [], strict=True):
                    assert ours["sku"] == ours["SKU"] == theirs["SKU"]
                    assert [code["c"] for code in ours["codes"] or []] == [code["C"] for code in theirs["Codes"] or []]
