"""`profilec warmup`: machine code is there afterwards, and nothing is compiled again, whatever is asked."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from profilec import warm
from profilec.cli.warmup import warmup
from profilec.runtime.kernels import cache_directory

ROOT = Path(__file__).parents[2]
LATER = """
import datetime, pickle, sys, tempfile
from pathlib import Path
import numpy as np
import pandas as pd
import pyarrow as pa
import profilec
from profilec.runtime import machine_code

profilec.warmup()
before = len(machine_code.compiled)
plain = {f"p{n}": f"a = {n % 9} AND b > {n}.5 AND s = 'v{n}'" for n in range(120)}
mixed = {
    f"q{n}": f"(a = {n} OR s LIKE '%x{n}%') AND NOT (b > {n} AND d > DATE '2024-01-0{n % 9 + 1}') OR a / b < {n}"
    for n in range(80)
}
odd = {"r1": "ANY(tags) = 'x'", "r2": "EXISTS d (a < d.a)", "r3": "s MATCHES 'a+b'", "r4": "a IS NULL AND b NOT IN (1)"}
documents = [{"a": n % 9, "b": n / 2, "s": f"v{n}", "tags": ["x"]} for n in range(50)]
whole = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
numbers = [*map(pa.type_for_alias, whole), pa.float32(), pa.float64()]
tables = [pa.table({"a": pa.array([1, None, 3], type_), "b": pa.array([1, 2, 3], type_)}) for type_ in numbers]
tables += [
    pa.table({"d": pa.array([datetime.date(2024, 1, 1), None])}),
    pa.table({"s": pa.array(["v1", None]).dictionary_encode()}),
    pa.table({"s": pa.array(["v1", None], pa.large_string()), "tags": [["x"], None]}),
    pa.record_batch({"a": [1, 2, 3, 4], "s": list("abcd")}).slice(1, 2),
    pd.DataFrame({"a": [1, 2], "s": ["v1", None], "b": np.array([1.5, np.nan], np.float32)}),
]
for conditions in (plain, {**plain, **mixed, **odd}, {"p1": plain["p1"]}, {}):
    for options in ({"matcher": "betree"}, {"matcher": "betree:list"}, {"max_cap": 1}, {"ranking": "histogram"}):
        fresh = profilec.compile(conditions, options=options)
        fresh.replan(documents)
        with tempfile.TemporaryDirectory() as folder:
            fresh.save(Path(folder) / "set.image")
            for profiles in (fresh, profilec.load(Path(folder) / "set.image"), pickle.loads(pickle.dumps(fresh))):
                for document in (documents[0], {}):
                    profiles.match(document), profiles.count(document), profiles.any(document)
                for _ in range(200):
                    profiles.match(documents[0])
                profiles.process(documents[0])
                for batch in ([], documents, [{"s": "y" * 9_000}], *tables):
                    profiles.match_batch(batch, threads=2)
        if conditions is plain:
            fresh.match({"a": profilec.Between(1, 3), "s": profilec.OneOf(["v1"])}, semantics="overlap")
with tempfile.TemporaryDirectory() as folder:
    large = {f"p{n}": f"a = {n} AND b < {n} AND s = 'v'" for n in range(300)}
    profilec.compile(large).save(Path(folder) / "set.image")
    loaded, kept = profilec.load(Path(folder) / "set.image"), profilec.open(Path(folder) / "store")
    for living in (profilec.compile(large), loaded, kept):
        for at in range(0, 300, 100):
            living.insert_many({f"new {n}": f"a = {n} AND b < {n}.5 AND s IN ('v', 'w')" for n in range(at, at + 100)})
            living.match(documents[0]), living.match_batch(documents)
        living.delete_many([f"new {n}" for n in range(0, 300, 2)])
        living.match(documents[0]), living.match_batch(documents)
        living.compact()
        living.insert("after", "a = 1")
        living.match(documents[0])
        living.close()
print(machine_code.compiled[before:])
"""


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    settings = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    folder = settings["PYTHONPATH"]  # what is imported from the current folder goes before all
    return subprocess.run(
        [sys.executable, *command], env=settings, cwd=folder, capture_output=True, text=True, check=False
    )


def test_after_it_nothing_is_compiled_again() -> None:
    first = run("-m", "profilec", "warmup")
    assert first.returncode == 0, first.stderr
    assert "kept in" in first.stdout
    assert run("-m", "profilec", "warmup").stdout.startswith("all kernels were compiled already; kept in ")
    later = run("-c", LATER)
    assert later.returncode == 0, later.stderr
    assert later.stdout == "[]\n"


def test_what_was_warmed_up_serves_an_install_that_cannot_be_written_to(tmp_path: Path) -> None:
    """As in a container: root warms up while the image is built, and somebody without a home runs it."""
    assert run("-m", "profilec", "warmup").returncode == 0
    warm = cache_directory()
    assert warm is not None
    shutil.copytree(ROOT / "profilec", tmp_path / "profilec", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "profilec" / "__pycache__").touch()  # no directory: it cannot be written to, not even by root
    shutil.copytree(warm, tmp_path / "kept" / "profilec" / warm.name)
    profiles = tmp_path / "some.prof"
    profiles.write_text("PROFILE cheap WHERE price < 10;\n")
    documents = tmp_path / "some.ndjson"
    documents.write_text('{"price": 9}\n')
    before = sorted(tmp_path.rglob("*"))
    nowhere = str(tmp_path / "profilec" / "__pycache__")
    done = run(
        *("-B", "-m", "profilec", "match", "--matcher", "betree", str(profiles), str(documents)),
        **{"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "kept")},
        **{"HOME": nowhere, "XDG_CACHE_HOME": ""},
    )
    assert (done.stdout, done.stderr) == ('{"document": 0, "profiles": ["cheap"]}\n', "")
    assert sorted(tmp_path.rglob("*")) == before


def test_where_nothing_is_kept_it_fails(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(warm, "warmup", lambda: warm.Warmth(None, 1.0, 3))
    with pytest.raises(typer.Exit) as end:
        warmup()
    assert end.value.exit_code == 1
    assert "NUMBA_CACHE_DIR" in capsys.readouterr().err
