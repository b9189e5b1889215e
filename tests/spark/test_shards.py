"""Sets that are split: the answers of the whole set, whatever the number of shards."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

import profilec
import profilec.spark
from profilec.spark import SparkMatchError, shard, sharded_set, sharding
from profilec.spark.sharded_set import MANIFEST, ShardedSet

NUMBERS = (1, 2, 3, 7, 100)


def condition(rng: random.Random, depth: int = 2) -> str:
    """A condition of any sort, over few attributes and values."""
    if depth and rng.random() < 0.6:
        parts = [condition(rng, depth - 1) for _ in range(rng.randrange(2, 4))]
        text = f"({rng.choice((' AND ', ' OR ')).join(parts)})"
        return f"NOT {text}" if rng.random() < 0.3 else text
    attribute, n = rng.choice("ab"), rng.randrange(6)
    return rng.choice(
        [
            f"{attribute} < {n}",
            f"{attribute} = {n}",
            f"{attribute} BETWEEN {n} AND {n + 2}",
            f"{attribute} NOT IN ({n}, {n + 1})",
            f"{attribute} IS NULL",
            f"{attribute} + b > {n}",
            f"s = 'v{n}'",
            f"s LIKE 'v{n}%'",
            f"s MATCHES '[{n}-9]x?'",
            f"ANY(tags) = 't{n}'",
            f"ALL(tags) != 't{n}'",
            f"ANY items AS i (i.sku = {n} AND i.qty > {n})",
            f"user.age > {n}",
            "a < 1 AND a > 2",
            "TRUE",
        ]
    )


def document(rng: random.Random) -> dict[str, Any]:
    def some(value: Any) -> Any:
        return None if rng.random() < 0.2 else value

    return {
        "a": some(rng.randrange(7)),
        "b": some(rng.randrange(7)),
        "s": some(f"v{rng.randrange(7)}{rng.choice(('', 'x'))}"),
        "tags": some([some(f"t{rng.randrange(7)}") for _ in range(rng.randrange(3))]),
        "items": some([{"sku": rng.randrange(7), "qty": rng.randrange(7)} for _ in range(rng.randrange(3))]),
        "user": some({"age": some(rng.randrange(7))}),
    }


def profiles_of(seed: int, n: int = 60) -> dict[str, str]:
    rng = random.Random(seed)
    return {f"p{number}": condition(rng) for number in range(n)}


def opened(folder: Path) -> ShardedSet:
    return ShardedSet(folder / MANIFEST)


@pytest.mark.parametrize("seed", range(6))
def test_any_number_of_shards_answers_as_the_whole(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    whole = profilec.compile(profiles_of(seed))
    documents = [document(rng) for _ in range(80)]
    expected = whole.match_batch(documents)
    assert len(expected.indices) > 100
    for n in NUMBERS:
        split = opened(shard(whole, n, tmp_path / str(n)))
        assert split.n_shards == min(n, len(whole))
        assert list(split.ids) == list(whole.ids)
        for _ in range(2):  # there and back
            found = split.match_batch(documents)
            assert found.offsets.tolist() == expected.offsets.tolist(), f"seed {seed}, {n} shards"
            assert found.indices.tolist() == expected.indices.tolist(), f"seed {seed}, {n} shards"
            assert list(found) == list(expected)


def test_shards_that_do_not_stay_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharded_set, "MOST_BYTES", 1)
    rng = random.Random(1)
    whole = profilec.compile(profiles_of(1))
    split = opened(shard(whole, 7, tmp_path))
    for _ in range(3):
        documents = [document(rng) for _ in range(20)]
        assert list(split.match_batch(documents)) == list(whole.match_batch(documents))
        assert len(split._open) == 1
    assert list(split.match_batch([])) == []


def test_what_a_set_keeps_of_its_profiles_stays_in_the_shards(tmp_path: Path) -> None:
    file = tmp_path / "all.prof"
    file.write_text(
        "SCHEMA (a NUMBER, b NUMBER, at TIMESTAMP);\n"
        "-- of Ann\n"
        "PROFILE p WITH (owner = 'ann')\n"
        "  WHERE a < 1 AND b = 2\n"
        '  ACCEPTS {"a": 0, "b": 2};\n'
        "PROFILE q WHERE a > 1;\n"
        "PROFILE r WHERE b IN (1, 2);\n"
    )
    whole = profilec.compile(file)
    split = opened(shard(file, 3, tmp_path / "shards"))
    assert split.n_shards == 3
    assert split.schema == whole.schema
    for id_ in whole.ids:
        assert str(split.why({"a": 0, "b": 2}, id_)) == str(whole.why({"a": 0, "b": 2}, id_))
        assert split.ordinal(id_) == whole.ordinal(id_)
        number, _ = split._place(split.ordinal(id_))
        assert split._shard(number)[id_] == whole[id_]
        assert split._shard(number).place(id_) == whole.place(id_)
        assert list(split._shard(number).examples(id_)) == list(whole.examples(id_))
    with pytest.raises(KeyError) as caught:
        split.ordinal("pp")
    with pytest.raises(KeyError) as expected:
        whole.ordinal("pp")
    assert str(caught.value) == str(expected.value)


def test_shards_are_smaller_and_of_groups(tmp_path: Path) -> None:
    rng = random.Random(5)
    conditions = {
        f"p{n}": f"brand = 'brand {rng.randrange(9_000)}'" if n % 3 else f"price < {n} AND name != 'n{n}'"
        for n in range(6_000)
    }
    whole = profilec.compile(conditions)
    whole.save(tmp_path / "whole")
    size = (tmp_path / "whole").stat().st_size
    for n in (2, 6):
        facts = json.loads((shard(whole, n, tmp_path / str(n)) / MANIFEST).read_text())
        sizes = [one["bytes"] for one in facts["shards"]]
        assert len(sizes) == n
        assert max(sizes) < 1.4 * size / n
        assert sum(one["profiles"] for one in facts["shards"]) == facts["profiles"] == 6_000
    split = opened(tmp_path / "6")
    attributes = [{slot.name for slot in image.slots} for image in split.images()]
    assert sum({"price", "brand"} <= names for names in attributes) <= 1  # the end of one group and the next


def test_options_of_attributes_that_a_shard_has_not(tmp_path: Path) -> None:
    conditions = {f"p{n}": f"price < {n}" if n % 2 else f"brand = 'b{n}'" for n in range(400)}
    for options in (
        {"index": {"price": "interval", "brand": "hash"}},
        {"matcher": {"price": "access", "*": "counting"}, "index": {"price": "interval"}},
        {"matcher": {"price": "access", "*": "counting"}, "index": {"brand": "hash"}},
        {"ranking": "optimistic"},
        {"matcher": "opindex", "replan": 2},
    ):
        whole = profilec.compile(conditions, options=options)
        split = opened(shard(whole, 4, tmp_path / str(options)[:20]))
        documents = [{"price": n, "brand": f"b{n}"} for n in range(50)]
        assert list(split.match_batch(documents)) == list(whole.match_batch(documents))


def test_a_profile_is_in_one_shard(tmp_path: Path) -> None:
    whole = profilec.compile({f"p{n}": f"a = {n} OR b = {n} OR s = 'v{n}'" for n in range(40)})
    runs = list(sharding.runs_of(whole, 7))
    assert sorted(ordinal for run in runs for ordinal in run.tolist()) == list(range(40))
    split = opened(shard(whole, 7, tmp_path))
    assert split.match_batch([{"a": 3, "b": 3, "s": "v4"}])[0] == ["p3", "p4"]


def test_rows_of_a_data_frame(spark: Any, tmp_path: Path) -> None:
    rng = random.Random(9)
    whole = profilec.compile(profiles_of(9))
    documents = [document(rng) for _ in range(60)]
    schema = (
        "a INT, b INT, s STRING, tags ARRAY<STRING>, items ARRAY<STRUCT<sku: INT, qty: INT>>, user STRUCT<age: INT>"
    )
    frame = spark.createDataFrame(documents, schema).coalesce(2)
    expected = [whole.match_batch(frame.toArrow())[n] for n in range(60)]
    ordinals = [[whole.ordinal(id_) for id_ in ids] for ids in expected]
    folder = shard(whole, 3, tmp_path / "shards")
    for given, shards, ship_by in ((whole, 1, "path"), (whole, 7, "file"), (folder, None, "path")):
        found = profilec.spark.match(given, frame, columns=[], ship_by=ship_by, shards=shards)
        assert [row[0] for row in found.collect()] == expected
    found = profilec.spark.match(folder, frame, "pairs", ["a"], ship_by="file", returns="ordinals")
    assert [row[1] for row in found.collect()] == [ordinal for row in ordinals for ordinal in row]
    profilec.spark.register(spark, folder, replace=True, ship_by="file", schema=frame, missing="null")
    frame.createOrReplaceTempView("documents")
    query = "SELECT match_profiles(struct(*)), profile_matches(struct(*), 'p7') FROM documents"
    assert [list(row) for row in spark.sql(query).collect()] == [[ids, "p7" in ids] for ids in expected]
    (told,) = spark.sql("SELECT why_profiles(struct(1 AS a), 'p7')").collect()
    assert told[0] == str(whole.why({"a": 1}, "p7"))


def test_joins_ask_the_same_documents_in_each_shard(spark: Any, tmp_path: Path) -> None:
    conditions = {f"p{n}": f"a > {n} AND EXISTS d (d.a = a AND d.b > {n})" for n in range(6)}
    conditions |= {"new": "FORALL d (d.a != a)", "plain": "a = 3"}
    whole = profilec.compile(conditions)
    whole.documents.extend([{"a": 3, "b": 2}, {"a": 5, "b": 9}])
    frame = spark.sql("SELECT CAST(id AS INT) AS a FROM range(0, 8, 1, 2)")
    expected = [whole.match({"a": n}) for n in range(8)]
    assert len({tuple(ids) for ids in expected}) == 3
    found = profilec.spark.match(whole, frame, columns=[], shards=3)
    assert [row[0] for row in found.collect()] == expected
    earlier = spark.createDataFrame([(3, 2), (5, 9)], "a INT, b INT")
    folder = shard(whole, 3, tmp_path)
    found = profilec.spark.match(folder, frame, columns=[], documents=earlier)
    assert [row[0] for row in found.collect()] == expected


def test_many_batches_become_blocks(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow as pa

    monkeypatch.setattr(sharded_set, "MOST_BYTES", 1)
    monkeypatch.setattr(sharded_set, "_BLOCK_ROWS", 25)
    split = opened(shard(profilec.compile(profiles_of(2)), 3, tmp_path))
    batches = [pa.RecordBatch.from_pydict({"a": list(range(n, n + 10))}) for n in range(0, 70, 10)]
    assert [block.num_rows for block in split.blocks(batches)] == [30, 30, 10]
    assert [row["a"] for block in split.blocks(batches) for row in block.to_pylist()] == list(range(70))
    assert list(split.blocks([])) == []
    monkeypatch.setattr(sharded_set, "MOST_BYTES", 1 << 30)
    assert [block.num_rows for block in split.blocks(batches)] == [10] * 7


def test_shards_at_a_path_are_followed(spark: Any, tmp_path: Path) -> None:
    shard(profilec.compile({"one": "a < 10", "two": "b < 1"}), 2, tmp_path)
    profilec.spark.register(spark, tmp_path, "match_shards", replace=True)
    query = "SELECT match_shards(struct(5 AS a))"
    assert spark.sql(query).collect()[0][0] == ["one"]
    shard(profilec.compile({"other": "a < 10", "three": "a < 1", "four": "a = 5"}), 2, tmp_path)
    assert spark.sql(query).collect()[0][0] == ["other", "four"]


def test_folders_that_are_none(tmp_path: Path) -> None:
    folder = shard(profilec.compile({"p": "a = 1", "q": "b = 1"}), 2, tmp_path)
    facts = json.loads((folder / MANIFEST).read_text())
    image = folder / facts["shards"][1]["image"]
    content = image.read_bytes()
    image.unlink()
    with pytest.raises(SparkMatchError, match=r"a shard cannot be read here: .*No such file.*split the set again"):
        opened(folder)
    image.write_bytes(content[:100])
    with pytest.raises(SparkMatchError, match=r"a shard cannot be read here: .*(copy it|compile the profiles) again"):
        opened(folder)
    image.write_bytes((folder / facts["shards"][0]["image"]).read_bytes())
    opened(folder)  # as many profiles as it should have: what is in the images is trusted
    changed = dict(facts, shards=facts["shards"][:1])
    for text in ("", "[]", "{", json.dumps(changed), json.dumps({**facts, "profilec_shards": 2})):
        (folder / MANIFEST).write_text(text)
        with pytest.raises(SparkMatchError, match=r"shards\.json is (no list of shards|of another version)"):
            opened(folder)


@pytest.mark.parametrize(
    ("n", "error", "message"),
    [
        (0, ValueError, "a set has one shard at least, not 0"),
        (2.0, TypeError, "a number of shards is a whole number, not 2.0"),
        (True, TypeError, "a number of shards is a whole number, not True"),
    ],
)
def test_numbers_of_shards(tmp_path: Path, n: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        shard(profilec.compile({"p": "a = 1"}), n, tmp_path)


def test_few_profiles_and_sets_that_are_split_already(tmp_path: Path) -> None:
    assert opened(shard(profilec.compile({}), 5, tmp_path / "none")).match_batch([{"a": 1}])[0] == []
    heavy = {"heavy": f"a IN ({', '.join(map(str, range(9_000)))})", "p": "a = 1", "q": "b = 1"}
    split = opened(shard(profilec.compile(heavy), 3, tmp_path / "heavy"))
    assert split.n_shards == 3
    assert split.match_batch([{"a": 1, "b": 1}])[0] == ["heavy", "p", "q"]
    with pytest.raises(TypeError, match="is a set that was split already"):
        shard(tmp_path / "none", 2, tmp_path / "again")
