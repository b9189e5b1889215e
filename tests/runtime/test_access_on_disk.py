"""`access` with its indexes and all its arrays on secondary storage: what a document reads, and who may ask."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import profilec
from profilec.runtime.indexes.pbtree_on_disk import StoredPBTreeIndex
from profilec.runtime.matchers import access as access_module
from profilec.runtime.matchers.access import AccessFinder
from profilec.runtime.store import node_file
from profilec.runtime.store.node_file import Disk
from profilec.runtime.store.nodes import LmdbNodes

ON_DISK = {"matcher": "access", "memory": 1}
ORDER = 64
BRANDS = [f"b{number}" for number in range(300)]


def conditions(n: int = 1_200) -> dict[str, str]:
    draw = random.Random(4)
    shapes = (
        lambda: f"price {draw.choice(('=', '!=', '<', '<=', '>', '>='))} {draw.randrange(5_000)}",
        lambda: f"price BETWEEN {(low := draw.randrange(5_000))} AND {low + draw.randrange(300)}",
        lambda: f"brand = '{draw.choice(BRANDS)}' AND price < {draw.randrange(5_000)}",
        lambda: f"brand IN ('{draw.choice(BRANDS)}', '{draw.choice(BRANDS)}') AND stars != {draw.randrange(5)}",
        lambda: f"NOT (brand >= '{draw.choice(BRANDS)}') OR price IS NULL",
        lambda: f"title LIKE '%{draw.choice(BRANDS)}%' AND stars > {draw.randrange(5)}",
        lambda: f"EXISTS d (d.brand = brand AND d.price < price) AND stars = {draw.randrange(5)}",
    )
    return {f"p{number}": draw.choice(shapes)() for number in range(n)}


def documents(n: int = 60) -> list[dict[str, Any]]:
    draw = random.Random(5)
    whole = [
        {
            "price": draw.choice((draw.randrange(5_000), draw.randrange(5_000) + 0.5, "dear", None)),
            "brand": draw.choice(BRANDS),
            "stars": draw.randrange(5),
            "title": f"a {draw.choice(BRANDS)} of {draw.choice(BRANDS)}",
        }
        for _ in range(n)
    ]
    return [{key: value for key, value in one.items() if draw.random() < 0.85} for one in whole]


def filled(profiles: profilec.ProfileSet) -> profilec.ProfileSet:
    profiles.documents.extend([{"brand": brand, "price": 700} for brand in BRANDS[::7]])
    return profiles


def answers(profiles: profilec.ProfileSet) -> list[list[str]]:
    return [profiles.match(document) for document in documents()]


@pytest.fixture(scope="module")
def right() -> list[list[str]]:
    return answers(filled(profilec.compile(conditions(), options={"matcher": "scan"})))


@pytest.fixture
def profiles() -> profilec.ProfileSet:
    return filled(profilec.compile(conditions(), options=ON_DISK))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The one for temporary files."""
    monkeypatch.setattr(node_file.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def finder_of(profiles: profilec.ProfileSet) -> AccessFinder:
    finder = profiles._whole().executor(10_000).matchers["access"].finder
    assert isinstance(finder, AccessFinder)
    return finder


def test_all_of_it_is_on_disk(profiles: profilec.ProfileSet) -> None:
    finder = finder_of(profiles)
    assert finder._indexes
    assert {type(index) for index in finder._indexes.values()} == {StoredPBTreeIndex}
    in_memory = finder_of(profilec.compile(conditions(), options={"matcher": "access"}))
    for name, array, own in zip(finder.checks._fields, finder.checks, in_memory.checks, strict=True):
        assert (array == own).all(), name
        assert not array.flags.owndata or array.nbytes < 4_096, name
    assert (finder.access == in_memory.access).all()


def test_answers(profiles: profilec.ProfileSet, right: list[list[str]], folder: Path) -> None:
    assert answers(profiles) == right
    assert list(profiles.match_batch(documents())) == right
    assert list(profiles.match_batch(documents(), threads=2)) == right
    assert [profiles.count(document) for document in documents()] == list(map(len, right))
    assert not list(folder.iterdir())


def test_one_index_in_memory_and_one_on_disk(right: list[list[str]]) -> None:
    index = {"price": "pbtree:stored", "brand": "hash"}
    mixed = filled(profilec.compile(conditions(), options={"matcher": "access", "index": index}))
    assert answers(mixed) == right
    kinds = {mixed._image.slots[slot].name: type(index).__name__ for slot, index in finder_of(mixed)._indexes.items()}
    assert (kinds["price"], kinds["brand"]) == ("StoredPBTreeIndex", "HashIndex")


def test_a_group_of_entries_on_disk(right: list[list[str]]) -> None:
    options = {"matcher": {"price": "access", "*": "betree"}, "index": {"price": "pbtree:stored"}}
    grouped = filled(profilec.compile(conditions(), options=options))
    assert set(dict(grouped.plan.groups).values()) | {grouped.plan.matcher} == {"access", "betree"}
    assert answers(grouped) == right


def test_documents_read_log_n_nodes_and_their_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search without answers reads the header, a node of each list and two more, and two trees of n keys."""
    n_reads = 0
    get = LmdbNodes.get

    def counted(nodes: LmdbNodes, number: int) -> bytes:
        nonlocal n_reads
        n_reads += 1
        return get(nodes, number)

    monkeypatch.setattr(LmdbNodes, "get", counted)
    for n in (2_000, 20_000):
        shapes = {f"e{k}": f"x = {4 * k}" for k in range(n)} | {f"g{k}": f"x > {20 * k}" for k in range(n // 5)}
        shapes |= {f"n{k}": f"y != {k}" for k in range(n // 100)}
        shapes |= {f"r{k}": f"x BETWEEN {4 * k + 1} AND {4 * k + 2}" for k in range(n // 2)}
        least = 8 + 2 * log(n, ORDER // 2)
        profiles = profilec.compile(shapes, options=ON_DISK)
        assert profiles.plan.matcher == "access"
        finder = finder_of(profiles)
        seen = set()
        for value in (-1, 1, 2, 3, 40, *range(0, 4 * n, 4 * n // 40)):
            n_reads = 0
            slots, ranks, n_slots = profiles._whole().executor(10_000).encode({"x": value})
            n_found = len(finder.holding(slots[:n_slots].copy(), ranks[:n_slots].copy()))
            # A list's node has half as many keys as there may be, or more; another range may be in another leaf.
            assert n_reads <= least + 4 * n_found / ORDER, (n, value, n_found)
            assert n_found == len(profiles.match({"x": value}))
            seen.add(n_found // ORDER)
        assert len(seen) > 1
        n_reads = 0
        profiles.match({"x": value})
        assert n_reads == 0  # what was told last is kept


def test_what_is_kept_is_within_the_memory(profiles: profilec.ProfileSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access_module, "_OF_A_RANK", 50)
    own = np.ones(profiles._image.n_entries, np.bool_)
    finder = AccessFinder(profiles._image, own, profiles.plan.rank_index, Disk(memory=8 * 500))
    slot = max(finder._indexes, key=lambda slot: profiles._image.slots[slot].constants.n_ranks)
    for rank in range(1, profiles._image.slots[slot].constants.n_ranks):
        finder.holding(np.array([slot], np.int32), np.array([rank], np.int32))
        assert len(finder._told) <= 11


def test_two_threads(profiles: profilec.ProfileSet, right: list[list[str]]) -> None:
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(answers, [profiles] * 4)) == [right] * 4


def test_two_threads_that_find_it_unmade(right: list[list[str]]) -> None:
    profiles = filled(profilec.compile(conditions(), options=ON_DISK))
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(answers, [profiles] * 2)) == [right] * 2


def test_saved_loaded_and_pickled(
    profiles: profilec.ProfileSet, right: list[list[str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("images") / "set.prfi"
    profiles.save(path)
    profilec.verify(path)
    for again in (filled(profilec.load(path)), pickle.loads(pickle.dumps(profiles))):
        assert again._parts.options.memory == 1
        assert again.plan == profiles.plan
        assert answers(again) == right
    assert [path.name for path in path.parent.iterdir()] == ["set.prfi"]


def test_the_file_goes_with_the_set(profiles: profilec.ProfileSet) -> None:
    if not Path("/proc/self/maps").exists():
        pytest.skip("Linux tells what is mapped")

    def n_mapped() -> int:
        return Path("/proc/self/maps").read_text().count("profilec-nodes-")

    gc.collect()
    before = n_mapped()
    finder = finder_of(profiles)
    assert n_mapped() > before
    del finder
    profiles.__dict__.clear()
    gc.collect()
    assert n_mapped() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing to fork")
def test_a_child_that_was_forked(profiles: profilec.ProfileSet, right: list[list[str]]) -> None:
    assert answers(profiles) == right
    finder_of(profiles)._told.clear()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if answers(profiles) == right else 2
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    finder_of(profiles)._told.clear()
    assert answers(profiles) == right


def test_a_process_that_is_spawned(profiles: profilec.ProfileSet, right: list[list[str]], folder: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        assert pool.map(answers, [profiles]) == [right]
    assert not list(folder.iterdir())


def test_replanned_it_is_on_disk_as_before(profiles: profilec.ProfileSet, right: list[list[str]]) -> None:
    profiles.replan(documents())
    assert set(profiles.plan.rank_index.values()) == {"pbtree:stored"}
    assert answers(profiles) == right
    assert isinstance(next(iter(finder_of(profiles)._indexes.values())), StoredPBTreeIndex)


def test_profiles_that_come_and_go(profiles: profilec.ProfileSet, right: list[list[str]]) -> None:
    profiles.delete("p0")
    profiles.insert("p0 again", conditions()["p0"])
    expected = [sorted(ids) for ids in right]
    assert [sorted("p0" if id == "p0 again" else id for id in ids) for ids in answers(profiles)] == expected
    profiles.compact()
    assert profiles.plan.matcher == "access"
    assert [sorted("p0" if id == "p0 again" else id for id in ids) for ids in answers(profiles)] == expected
