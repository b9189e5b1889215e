"""ProfileSet: what users hold."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

import profilec

SOURCE = """
SCHEMA (x NUMBER, y STRING, sold DATE);
-- the first
PROFILE a WITH (owner = 'ann') WHERE x = 1;
PROFILE b WHERE y LIKE '%q%' AND x > 3 OR NOT EXISTS d (d.x = x);
PROFILE 'c d' WHERE sold >= DATE '2024-01-01' ACCEPTS {"sold": "2024-01-01"};
"""


def test_a_set_is_a_collection_of_ids() -> None:
    profiles = profilec.compile(SOURCE)
    assert profiles.ids == list(profiles) == ["a", "b", "c d"]
    assert len(profiles) == 3
    assert "a" in profiles
    assert "z" not in profiles
    assert profiles["a"] == profilec.Profile("a", "x = 1", {"owner": "ann"}, "the first")
    assert [example.kind for example in profiles.examples("c d")] == ["ACCEPTS"]


def test_an_unknown_id_is_a_key_error_with_a_hint() -> None:
    profiles = profilec.compile({"price_alert": "x = 1"})
    for ask in (profiles.__getitem__, profiles.explain, lambda id_: profiles.why({}, id_)):
        with pytest.raises(KeyError, match="did you mean `price_alert`"):
            ask("price_alrt")


def test_every_kind_of_source_gives_the_same_set(tmp_path: Path) -> None:
    conditions = {"a": "x = 1", "b": "x > 1"}
    text = "".join(f"PROFILE {id_} WHERE {where};\n" for id_, where in conditions.items())
    (tmp_path / "one.prof").write_text(text)
    table = pa.table({"id": list(conditions), "condition": list(conditions.values())})
    listed = [profilec.Profile(id_, where) for id_, where in conditions.items()]
    sources = (conditions, text, tmp_path, [tmp_path / "one.prof"], table, listed, iter(conditions.items()))
    for source in sources:
        profiles = profilec.compile(source)
        assert profiles.ids == ["a", "b"]
        assert profiles.match({"x": 2}) == ["b"]


def test_a_file_name_is_no_text() -> None:
    with pytest.raises(ValueError, match=r"pathlib\.Path\('shop\.prof'\)"):
        profilec.compile("shop.prof")
    with pytest.raises(TypeError, match=r"files are given as pathlib\.Path"):
        profilec.compile(["shop.prof"])


def test_a_data_frame_of_profiles_is_no_list_of_them() -> None:
    frame = pa.table({"id": ["a"], "condition": ["x = 1"]}).to_pandas()
    with pytest.raises(TypeError, match="Arrow table"):
        profilec.compile(frame)


def test_a_type_of_a_schema_is_a_name() -> None:
    with pytest.raises(TypeError, match="the type of 'price' is given by its name, such as 'NUMBER'"):
        profilec.compile({"p": "price < 3"}, schema={"price": float})


def test_all_errors_come_together_in_the_order_of_the_source(tmp_path: Path) -> None:
    (tmp_path / "a.prof").write_text("PROFILE a WHERE x <;\nPROFILE b WHERE y = 1;\nPROFILE b WHERE y = 2;")
    (tmp_path / "b.prof").write_text("PROFILE c WHERE z IN ();\nPROFILE d WHERE w = 1;")
    with pytest.raises(profilec.ProfileError) as caught:
        profilec.compile(tmp_path)
    places = [(Path(found.file).name, found.line, found.code) for found in caught.value.diagnostics]
    assert places == [("a.prof", 1, "PC101"), ("a.prof", 3, "PC216"), ("b.prof", 1, "PC115")]
    profiles = profilec.compile(tmp_path, on_error="skip")
    assert profiles.ids == ["b", "d"]
    assert len(profiles.diagnostics) == 3


def test_schemas_of_several_files_are_one(tmp_path: Path) -> None:
    (tmp_path / "a.prof").write_text("SCHEMA (x NUMBER);")
    (tmp_path / "b.prof").write_text("SCHEMA (x STRING, y NUMBER);\nPROFILE p WHERE x = 1 AND y = 2;")
    with pytest.raises(profilec.ProfileError, match=r"`x` is declared STRING here and NUMBER at .*a\.prof:1:9"):
        profilec.compile(tmp_path)


@pytest.mark.parametrize(
    "schema",
    ["x NUMBER, day DATE", {"x": "NUMBER", "day": "DATE"}, pa.schema({"x": pa.int64(), "day": pa.date32()})],
    ids=["text", "mapping", "arrow"],
)
def test_a_schema_has_three_forms(schema: object) -> None:
    profiles = profilec.compile({"p": "day > DATE '2024-01-01'"}, schema=schema)
    assert profiles.match({"day": "2024-01-02"}) == ["p"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"matchr": "scan"}, "did you mean 'matcher'"),
        ({"matcher": "scn"}, "did you mean 'scan'"),
        ({"index": {"x": "skip_list"}}, "There are: cluster, hash, hybrid, interval"),
        ({"matcher": "scan", "index": {"x": "interval"}}, "uses no index"),
        ({"rules": ["fold"]}, "no rule 'fold'"),
        ({"max_terms": 0}, "a whole number from 1"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        profilec.compile({"p": "x = 1"}, options=options)


def test_a_set_can_be_pickled_with_its_documents() -> None:
    profiles = profilec.compile(SOURCE)
    profiles.documents.add({"x": 9})
    again = pickle.loads(pickle.dumps(profiles))
    for document in ({"x": 1}, {"x": 9}, {"x": 4, "y": "q"}, {"sold": "2024-05-05"}):
        assert again.match(document) == profiles.match(document)
    assert again.documents.to_arrow().to_pylist() == [{"x": 9}]


def test_threads_get_the_answers_of_one() -> None:
    profiles = profilec.compile({f"p{n}": f"x = {n} OR y LIKE '%{n}%'" for n in range(200)})
    documents = [{"x": n, "y": f"-{n % 17}-"} for n in range(100)]
    expected = [profiles.match(document) for document in documents]
    found: dict[int, list[list[str]]] = {}

    def match_all(thread: int) -> None:
        found[thread] = [profiles.match(document) for document in documents]

    threads = [threading.Thread(target=match_all, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(found.values()) == [expected] * 4
    assert list(profiles.match_batch(documents, threads=3)) == expected


def test_worker_processes_change_nothing() -> None:
    """More novel shapes than one process takes on, good and bad ones mixed."""
    script = """
import random, profilec
from profilec.planner import workers
rng = random.Random(5)
def shape(n):
    terms = [f"a{rng.randrange(400)} {rng.choice(['<', '>', '=', '!='])} {n}" for _ in range(rng.randrange(2, 6))]
    return f" {rng.choice(['AND', 'OR'])} ".join(terms) + (" AND" if n % 501 == 0 else "")
text = "".join(f"PROFILE p{n} WHERE {shape(n)};\\n" for n in range(3_000))
started = []
start = workers.WorkerPool._start
workers.WorkerPool._start = lambda pool: (started.append(1), start(pool))
apart = profilec.compile(text, on_error="skip")
workers.LEAST_BATCH = 10**9
together = profilec.compile(text, on_error="skip")
assert started == [1] and len(together) == 2_994, (started, len(together))
assert apart.ids == together.ids and apart.diagnostics == together.diagnostics
for n in range(50):
    document = {f"a{rng.randrange(400)}": rng.randrange(3_000) for _ in range(60)}
    assert apart.match(document) == together.match(document)
"""
    # Without `if __name__ == "__main__"`, as users write scripts.
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_process_remembers_after_it_matches() -> None:
    profiles = profilec.compile({"new": "NOT EXISTS d (d.isbn = isbn)"})
    assert [profiles.process({"isbn": n}) for n in (1, 1, 2)] == [["new"], [], ["new"]]
    with pytest.raises(profilec.DocumentError):
        profiles.process({"isbn": b"3"})
    assert len(profiles.documents) == 3


def test_count_and_any() -> None:
    profiles = profilec.compile({"a": "x > 1", "b": "x > 2"})
    assert [profiles.count({"x": n}) for n in (1, 2, 3)] == [0, 1, 2]
    assert [profiles.any({"x": n}) for n in (1, 2, 3)] == [False, True, True]


@pytest.mark.parametrize("options", [5, "scan", ["scan"], {"index": "price"}, {"index": [("price", "interval")]}])
def test_options_that_are_no_mapping_are_told(options: object) -> None:
    with pytest.raises(TypeError, match="a mapping of"):
        profilec.compile({"a": "b"}, options=options)  # type: ignore[arg-type]


@pytest.mark.parametrize("matcher", ["scan", "bitmap"])
def test_a_decimal_of_20_000_digits_can_be_cast_to_a_string(matcher: str) -> None:
    profiles = profilec.compile(
        {"cast": "CAST(a AS STRING) LIKE '0.1%1'", "length": "LENGTH(CAST(a AS STRING)) = 20002"},
        options={"matcher": matcher},
    )
    assert profiles.match({"a": Decimal("0." + "1" * 20_000 + "000")}) == ["cast", "length"]


def test_progress_is_told_in_characters() -> None:
    text = "".join(f"PROFILE p{n} WHERE x = {n};\n" for n in range(12_000))
    told: list[tuple[int, int]] = []
    profilec.compile(text, progress=lambda done, total: told.append((done, total)))
    assert len(told) == 2
    assert 0 < told[0][0] < told[1][0] < told[1][1] == len(text)
