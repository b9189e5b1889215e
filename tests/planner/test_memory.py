"""The memory that a set is given: what the planner makes of it, what it says, and what is none."""

from __future__ import annotations

import json
from array import array
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyroaring import BitMap

import profilec
from profilec.planner.lower.held import expected_to_hold
from profilec.planner.lower.rearrange import rearranged
from profilec.planner.lower.workload import KEPT, in_memory_of, workload_of
from profilec.planner.memory import Held, read_memory
from profilec.planner.options import Options
from profilec.planner.plan import Plan
from profilec.runtime.imagefile.tokens import dumps, loads
from profilec.saved_set import _plan_facts, options_of, options_text

STORED = "pbtree:stored"


def conditions(n: int = 600) -> dict[str, str]:
    return {f"p{i}": f"brand = 'b{i % 40}' AND price < {i}" for i in range(n)}


def compiled(**options: Any) -> profilec.ProfileSet:
    return profilec.compile(conditions(), options=options)


DOCUMENT = {"brand": "b3", "price": 40}


@pytest.mark.parametrize(
    ("given", "n_bytes"),
    [
        (1, 1),
        (256_000_000, 256_000_000),
        (np.int64(5), 5),
        ("1", 1),
        ("256 MB", 256_000_000),
        ("256mb", 256_000_000),
        (" 1.5 GiB ", 3 << 29),
        ("1 kB", 1_000),
        ("2KiB", 2_048),
        ("3 TB", 3 * 10**12),
        ("7 B", 7),
    ],
)
def test_bytes(given: Any, n_bytes: int) -> None:
    assert read_memory(given) == n_bytes == Options.read({"memory": given}).memory
    assert type(read_memory(given)) is int


@pytest.mark.parametrize(
    "given", [0, -1, True, None, 1.5, "", "MB", "much", "1 XB", "-1 MB", "0 MB", "1e9", [1], 2**63, "9" * 30]
)
def test_what_is_no_memory(given: Any) -> None:
    with pytest.raises(ValueError, match=r"^memory takes bytes, as 256_000_000, '256 MB' or '1 GiB', not ") as refused:
        Options.read({"memory": given})
    assert len(str(refused.value)) < 150


def test_too_little_brings_it_to_disk() -> None:
    plan = compiled(memory="1 kB").plan
    assert plan.matcher == "access"
    assert dict(plan.index) == {"brand": STORED, "price": STORED}
    assert plan.held is not None
    assert plan.held.given == 1_000 < plan.held.expected
    assert {operator.name for operator in plan.operators} >= {f"{STORED} of brand", f"{STORED} of price"}
    assert compiled(memory="1 kB").match(DOCUMENT) == compiled().match(DOCUMENT)


def test_enough_changes_nothing_else() -> None:
    plain, enough = compiled().plan, compiled(memory="1 GB").plan
    assert enough.held is not None
    assert not enough.held.is_too_much
    assert (plain.matcher, plain.index, plain.operators) == (enough.matcher, enough.index, enough.operators)
    assert plain.held is None
    assert enough.reason.startswith(plain.reason)


def test_the_limit_is_what_is_expected() -> None:
    held = compiled(memory=1).plan.held
    assert held is not None
    assert compiled(memory=held.expected).plan.matcher == "betree"
    assert compiled(memory=held.expected - 1).plan.matcher == "access"


def test_explain_tells_both_figures() -> None:
    small, large = compiled(memory=2_000), compiled(memory="1.5 GB")
    facts = json.loads(small.explain(format="json"))
    assert facts["memory_given"] == 2_000
    assert small.plan.held is not None
    assert facts["memory_expected"] == small.plan.held.expected > 2_000
    assert facts["reason"] in small.explain()
    (kilobytes,) = {f"{small.plan.held.expected / 1_000:.1f} kB"}
    assert facts["reason"] == (
        f"by the cheapest plan the set is expected to hold {kilobytes} of memory, more than the 2 kB that it is given: "
        f"nodes of {STORED} are on secondary storage"
    )
    assert large.plan.reason == (
        f"{compiled().plan.reason}; the set is expected to hold {kilobytes} of the 1.5 GB of memory that it is given"
    )
    nobody = json.loads(compiled().explain(format="json"))
    assert (nobody["memory_given"], nobody["memory_expected"]) == (None, None)
    assert "is expected to hold" not in compiled().explain()


@pytest.mark.parametrize(
    ("options", "matcher"),
    [
        ({"matcher": "betree"}, "betree"),
        ({"matcher": "counting"}, "counting"),
        ({"max_cap": 5}, "betree"),
        ({"ranking": "optimistic"}, "betree"),
    ],
)
def test_what_is_forced_wins_and_says_so(options: dict[str, Any], matcher: str) -> None:
    plan = compiled(memory=1, **options).plan
    assert plan.matcher == matcher
    assert STORED not in dict(plan.index).values()
    assert ", more than the 1 B that it is given" in plan.reason
    assert "secondary storage" not in plan.reason
    assert plan.reason.startswith(compiled(**options).plan.reason)


def test_an_index_that_is_forced_wins() -> None:
    plan = compiled(memory=1, index={"price": "hash"}).plan
    assert (plan.matcher, dict(plan.index)) == ("access", {"brand": STORED, "price": "hash"})
    plan = compiled(memory=1, index={"price": "hash", "brand": "hash"}).plan
    assert (plan.matcher, dict(plan.index)) == ("access", {"brand": "hash", "price": "hash"})
    assert "secondary storage" not in plan.reason
    plan = compiled(memory=1, matcher="access").plan
    assert (plan.matcher, dict(plan.index)) == ("access", {"brand": STORED, "price": STORED})
    assert plan.reason.startswith("as the options say; the set is expected to hold ")
    assert plan.reason.endswith(f": nodes of {STORED} are on secondary storage")


def test_groups_that_are_forced_win() -> None:
    plan = compiled(memory=1, matcher={"price": "counting"}).plan
    assert {plan.matcher, *dict(plan.groups).values()} == {"access", "counting"}
    assert dict(plan.index)["brand"] == STORED


@pytest.mark.parametrize("matcher", ["betree", "scan", "counting", "opindex"])
def test_a_matcher_without_indexes_has_none_on_disk(matcher: str) -> None:
    with pytest.raises(ValueError, match=f"the matcher {matcher} uses no index: leave out `index`, or choose"):
        compiled(matcher=matcher, index={"price": STORED})
    with pytest.raises(ValueError, match="max_cap is the leaf capacity of the matcher betree"):
        compiled(max_cap=5, index={"price": STORED})


def test_patterns_alone_are_on_disk_too() -> None:
    texts = {f"p{i}": f"title LIKE '%a{i}b%' AND size > {i}" for i in range(300)}
    limited = profilec.compile(texts, options={"memory": 1})
    assert dict(limited.plan.index)["size"] == STORED
    document = {"title": "a7b a8b", "size": 8}
    assert limited.match(document) == profilec.compile(texts).match(document) == ["p7"]


def test_the_estimate_is_near_what_it_is() -> None:
    """Of each matcher, within a third: the arrays that it is made of, and those of the image."""
    texts = {f"p{i}": f"a = {i % 2_000} AND b BETWEEN {i} AND {i + 9} AND c != {i % 50}" for i in range(20_000)}
    for name in ("betree", "access", "counting", "opindex", "bitmap", "scan"):
        profiles = profilec.compile(texts, options={"matcher": name, "memory": "1 TB"})
        held = profiles.plan.held
        assert held is not None
        image = profiles._whole().image
        matcher = profiles._whole().executor(10_000).matchers[name]
        known = {id(array) for array in vars_of(image).values()}
        found = sum(array.nbytes for array in vars_of(image).values()) + n_bytes_of(matcher, known)
        assert 2 / 3 < held.expected / found < 1.6, (name, held.expected, found)


def vars_of(image: Any) -> dict[str, Any]:
    names = [name for name in image.__dataclass_fields__ if isinstance(getattr(image, name), np.ndarray)]
    own = {name: getattr(image, name) for name in names}
    for slot in image.slots:
        own[f"constants {slot.name}"] = np.zeros(sum(len(slot.constants.of(kind)) for kind in range(1, 6)), np.int64)
    return own


def n_bytes_of(value: Any, known: set[int]) -> int:
    """Of all arrays and bit vectors of an object, each once."""
    if id(value) in known:
        return 0
    known.add(id(value))
    match value:
        case np.ndarray() if isinstance(value.base, np.ndarray):
            return n_bytes_of(value.base, known)
        case np.ndarray():
            return value.nbytes
        case memoryview():
            return n_bytes_of(value.obj, known)
        case BitMap():
            return len(value.serialize())
        case array():
            return len(value) * value.itemsize
        case tuple() | list():
            return sum(n_bytes_of(each, known) for each in value)
        case dict():
            return sum(n_bytes_of(each, known) for each in value.values())
    if not type(value).__module__.startswith("profilec"):
        return 0
    names = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    of = [getattr(value, name, None) for name in names] + list(getattr(value, "__dict__", {}).values())
    return sum(n_bytes_of(each, known) for each in of)


def test_less_that_is_kept_is_asked_for_more_often() -> None:
    image = replace(compiled()._image, tree=None)
    load = workload_of(image, rearranged(image, [DOCUMENT]).expected, None)
    assert in_memory_of(load, 8 * KEPT) == load
    few = in_memory_of(load, 8 * 1_000)
    assert few.asked > load.asked
    assert {group.asked for group in few.groups} == {few.asked}
    assert expected_to_hold(image, {}) < expected_to_hold(image, {"scan": load})


def test_sets_of_before_are_read() -> None:
    """Options and plans that were written when there was no such option, and those of now without it."""
    plain, limited = Options.read({"max_cap": 3}), Options.read({"memory": "5 MB"})
    assert "memory" not in options_text(plain)
    assert options_of(options_text(plain)) == plain
    assert options_of(options_text(limited)) == limited
    facts = _plan_facts(compiled().plan)
    assert "held" not in facts
    assert Plan(**facts) == compiled().plan
    with_held = compiled(memory=1).plan
    assert Plan(**loads(dumps(_plan_facts(with_held)))) == with_held
    assert isinstance(with_held.held, Held)


def test_a_set_keeps_it(tmp_path: Path) -> None:
    compiled(memory="1 kB").save(tmp_path / "set.prfi")
    again = profilec.load(tmp_path / "set.prfi")
    assert again.plan == compiled(memory="1 kB").plan
    again.replan([DOCUMENT] * 20)
    assert again.plan.matcher == "access"
    assert again.plan.held is not None
    assert again.match(DOCUMENT) == compiled().match(DOCUMENT)
