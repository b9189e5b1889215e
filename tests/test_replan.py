"""Plans that follow the documents: `replan`, and the option `replan`."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import profilec
from profilec import observed as observing
from profilec.observed import Observed

CONDITIONS = {f"p{n}": f"a = {n % 50} AND b = {n // 50}" for n in range(2_500)}


def documents(has: str, n: int = 400) -> list[dict[str, Any]]:
    """Those that lack one of the two attributes, mostly."""
    rng = random.Random(n)
    return [
        {has: rng.randrange(50)} | ({"a": rng.randrange(50), "b": rng.randrange(50)} if rng.random() < 0.05 else {})
        for _ in range(n)
    ]


def candidates(profiles: profilec.ProfileSet, asked: list[dict[str, Any]]) -> float:
    executor: Any = profiles._whole().executor()
    counts = [executor._matcher.count_candidates(*executor.encode(document)) for document in asked]
    return sum(counts) / len(counts)


def test_a_set_is_planned_again() -> None:
    profiles = profilec.compile(CONDITIONS, statistics=documents("a"))
    plain = profilec.compile(CONDITIONS, options={"matcher": "scan"})
    drifted = documents("b")
    before = candidates(profiles, drifted)
    plan = profiles.replan(drifted)
    assert plan is profiles.plan
    assert plan.n_sampled == len(drifted)
    assert candidates(profiles, drifted) < before / 4
    for document in [*drifted[:50], *documents("a", 50), {"a": 3, "b": 7}, {}]:
        assert profiles.match(document) == plain.match(document)
    assert "400 sampled documents" in profiles.explain()


def test_it_is_planned_as_if_it_had_been_compiled_so(tmp_path: Any) -> None:
    sample = documents("b")
    profiles = profilec.compile(CONDITIONS, statistics=documents("a"))
    profiles.replan(sample)
    profiles.save(tmp_path / "again.prfi")
    profilec.compile(CONDITIONS, statistics=sample).save(tmp_path / "once.prfi")
    assert (tmp_path / "again.prfi").read_bytes() == (tmp_path / "once.prfi").read_bytes()
    loaded = profilec.load(tmp_path / "again.prfi")
    loaded.replan(documents("a"))
    assert loaded.match({"a": 3, "b": 7}) == ["p353"]


def test_a_small_set_is_planned_again() -> None:
    profiles = profilec.compile({"x": "a = 1", "y": "NOT EXISTS d (d.a = a) AND b > 2"})
    assert profiles.match({"a": 1, "b": 3}) == ["x", "y"]
    profiles.documents.add({"a": 1})
    profiles.replan([{"a": 1}])
    assert profiles.match({"a": 1, "b": 3}) == ["x"]


def test_nothing_to_plan_by() -> None:
    profiles = profilec.compile(CONDITIONS)
    with pytest.raises(ValueError, match="the option replan"):
        profiles.replan()
    for wrong in (1, 0, True, "2", float("inf"), float("nan")):
        with pytest.raises(ValueError, match="replan takes a number above 1"):
            profilec.compile(CONDITIONS, options={"replan": wrong})


def test_a_set_follows_its_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    """From one attribute to the other and back; each time it is planned again, aside, and never answers otherwise."""
    monkeypatch.setattr(observing, "STRIDE", 2)
    monkeypatch.setattr(observing, "BETWEEN", 50)
    monkeypatch.setattr(observing, "KEPT", 100)
    profiles = profilec.compile(CONDITIONS, statistics=documents("a"), options={"replan": 2})
    plain = profilec.compile(CONDITIONS, options={"matcher": "scan"})
    sizes = []
    for has in ("b", "a", "b"):
        drifted = documents(has, 700)
        before, plan = candidates(profiles, drifted), profiles.plan
        for document in drifted:
            assert profiles.match(document) == plain.match(document)
        deadline = time.monotonic() + 60
        while profiles.plan is plan and time.monotonic() < deadline:
            profiles.match(drifted[0])
            time.sleep(0.01)
        for _ in range(20):  # more than one may be under way
            [thread.join(60) for thread in threading.enumerate() if thread.name == "profilec replan"]
        sizes.append((before, candidates(profiles, drifted)))
    assert all(after < before / 2 for before, after in sizes), sizes


@pytest.mark.parametrize("as_batch", [list, pa.Table.from_pylist], ids=["dicts", "Arrow"])
def test_a_set_follows_its_batches(as_batch: Callable[[list[Any]], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observing, "STRIDE", 2)
    monkeypatch.setattr(observing, "BETWEEN", 50)
    monkeypatch.setattr(observing, "KEPT", 100)
    profiles = profilec.compile(CONDITIONS, statistics=documents("a"), options={"replan": 2})
    drifted = documents("b", 700)
    before, plan, batch = candidates(profiles, drifted), profiles.plan, as_batch(drifted)
    deadline = time.monotonic() + 60
    while profiles.plan is plan and time.monotonic() < deadline:
        profiles.match_batch(batch)
    assert candidates(profiles, drifted) < before / 2


def test_documents_as_expected_change_no_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observing, "BETWEEN", 20)
    profiles = profilec.compile(CONDITIONS, statistics=documents("a"), options={"replan": 3})
    plan = profiles.plan
    for document in documents("a", 1_500):
        profiles.match(document)
    assert profiles.plan is plan
    assert profiles.replan().n_sampled > 50


@pytest.mark.parametrize("size", [1, 7, 5_000])
def test_batches_are_kept_like_documents(size: int) -> None:
    observed, alike = Observed(), Observed()
    for number in range(20_000):
        alike.saw({"n": number})
    for start in range(0, 20_000, size):
        n = min(size, 20_000 - start)
        observed.saw_many(n, lambda places, start=start: [{"n": start + at} for at in places])  # type: ignore[misc]
    assert observed.statistics().sample == alike.statistics().sample


def test_the_last_documents_are_kept() -> None:
    observed = Observed()
    for number in range(100_000):
        observed.saw({"n": number, "odd": object()} if number % 7 == 0 else {"n": number})
    kept = [document["n"] for document in observed.statistics().sample]
    assert len(kept) == observing.KEPT
    assert min(kept) > 100_000 - 2 * observing.STRIDE * observing.KEPT
    assert max(kept) > 99_900
    assert len({number % 2 for number in kept}) == 2
