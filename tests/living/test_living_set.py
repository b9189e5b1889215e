"""Sets that change: what is inserted, replaced and deleted, while others match."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import profilec
from profilec.living import delta, living_set, merging
from tests.test_interrupts import TimeOutError, interrupted_after, needs_timer

CONDITIONS = (
    "a = 1", "a = 10", "a > 3 AND b = 'x'", "a != 2", "b IN ('x', 'long string of x')", "b NOT IN ('x')",
    "a BETWEEN 2 AND 5 OR b = 'y'", "b LIKE 'long%'", "b LIKE '%x%'", "a IS NULL", "NOT (a = 1 OR c = TRUE)",
    "b < 'long string of y'", "a = 9007199254740993", "a > 9007199254740992", "c IS NOT TRUE", "a + 1 = 3",
    "EXISTS d (d.a = a)", "FORALL d (d.a != a) AND b = 'x'", "ANY(t) = 'x'", "a IN (1, 2, 0.1)", "a < 0.1",
    "TRUE", "FALSE",
)  # fmt: skip
VALUES: dict[str, tuple[Any, ...]] = {
    "a": (None, 0, 1, 2, 3, 3.5, 10, 9007199254740992, 9007199254740993, 0.1, "x", True),
    "b": (None, "x", "y", "", "long string of x", "long string of y", "long strinh", 1),
    "c": (None, True, False),
    "t": (None, [], ["x"], ["y", None]),
}


def document(draw: random.Random) -> dict[str, Any]:
    return {name: draw.choice(values) for name, values in VALUES.items() if draw.random() < 0.9}


@pytest.fixture(params=["small", "as they are"])
def limits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits so small that a few changes plant trees and merge, and those of users."""
    if request.param == "small":
        monkeypatch.setattr(delta, "FEW", 3)
        for module in (living_set, merging):
            monkeypatch.setattr(module, "MOST_IN_DELTA", 6)
            monkeypatch.setattr(module, "MOST_UNDECIDED", 4)


@pytest.mark.usefixtures("limits")
@pytest.mark.parametrize("seed", range(12))
def test_a_changed_set_is_the_set_of_what_is_left(seed: int) -> None:
    draw = random.Random(seed)
    left = {f"p{number}": draw.choice(CONDITIONS) for number in range(draw.randrange(12))}
    profiles = profilec.compile(left)
    earlier = [document(draw) for _ in range(4)]
    profiles.documents.extend(earlier)
    number = len(left)
    for _ in range(12):
        for _ in range(draw.randrange(1, 6)):
            action = draw.choice(("insert", "insert", "replace", "delete", "compact"))
            if action == "insert":
                left[f"p{number}"] = draw.choice(CONDITIONS)
                profiles.insert(f"p{number}", left[f"p{number}"])
                number += 1
            elif action == "compact":
                if draw.random() < 0.2:
                    profiles.compact()
            elif left:
                id = draw.choice(list(left))
                if action == "replace":
                    left[id] = draw.choice(CONDITIONS)
                    profiles.replace(id, left[id])
                else:
                    del left[id]
                    profiles.delete(id)
        again = profilec.compile(left)
        again.documents.extend(earlier)
        documents = [document(draw) for _ in range(8)]
        wanted = [again.match(one) for one in documents]
        assert [profiles.match(one) for one in documents] == wanted
        assert list(profiles.match_batch(documents)) == wanted
        assert [profiles.count(one) for one in documents] == list(map(len, wanted))
        assert list(profiles.ids) == list(left) == list(again.ids)
        assert len(profiles) == len(left)
        assert {id: profiles[id].where for id in left} == left


def test_what_is_changed_keeps_its_place_and_what_is_inserted_goes_last() -> None:
    profiles = profilec.compile({"a": "x = 1", "b": "x = 1", "c": "x = 1"})
    profiles.replace("a", "x > 0")
    profiles.delete("b")
    profiles.insert("b", "x = 1")
    assert profiles.match({"x": 1}) == ["a", "c", "b"]
    assert profiles.ordinal("b") == 2
    profiles.compact()
    assert profiles.match({"x": 1}) == ["a", "c", "b"]


def test_a_change_is_whole_or_not_at_all() -> None:
    profiles = profilec.compile({"a": "x = 1", "b": "x = 2"})
    with pytest.raises(profilec.ProfileError, match="PC101"):
        profiles.insert_many({"c": "x = 1", "d": "x ="})
    with pytest.raises(profilec.ProfileError, match="the id 'a' is taken"):
        profiles.insert_many({"c": "x = 1", "a": "x = 1"})
    with pytest.raises(profilec.ProfileError, match="the id 'c' is taken"):
        profiles.insert_many([("c", "x = 1"), ("c", "x = 2")])
    with pytest.raises(KeyError, match="no profile 'z'"):
        profiles.replace_many({"a": "x = 3", "z": "x = 1"})
    with pytest.raises(KeyError, match="did you mean `b`"):
        profiles.delete_many(["a", "bb"])
    with pytest.raises(KeyError, match="deleted twice"):
        profiles.delete_many(["a", "a"])
    with pytest.raises(TypeError, match="a string is one"):
        profiles.delete_many("ab")
    with pytest.raises(profilec.ProfileError, match="PC302"):
        profilec.compile({}, options={"max_terms": 2}).insert("a", "x = 1 AND y = 2 AND z = 3")
    with pytest.raises(ValueError, match="declares more: x"):
        profiles.insert_many("SCHEMA (x NUMBER); PROFILE c WHERE x = 1;")
    assert list(profiles.ids) == ["a", "b"]
    assert [profiles.match({"x": x}) for x in (1, 2, 3)] == [["a"], ["b"], []]


@pytest.mark.parametrize("n", [1, 200])
def test_what_is_no_document_is_refused_by_what_was_inserted(n: int) -> None:
    profiles = profilec.compile({})
    profiles.insert_many({f"p{number}": f"x = {number}" for number in range(n)})
    for wrong in (None, [("x", 1)]):
        with pytest.raises(profilec.DocumentError, match=r"^a document is a mapping"):
            profiles.match(wrong)  # type: ignore[arg-type]
        with pytest.raises(profilec.DocumentError, match=r"^document 1: a document is a mapping"):
            profiles.match_batch([{"x": 1}, wrong])
    with pytest.raises(profilec.DocumentError, match=r"^document 1: attribute 'x': object is no number"):
        profiles.match_batch([{"x": 1}, {"x": object()}])


def test_a_comment_is_text() -> None:
    profiles = profilec.compile({"a": "x = 1"})
    with pytest.raises(TypeError, match="comment of profile 'b'"):
        profiles.insert_many([profilec.Profile("b", "x = 1", {}, 5)])  # type: ignore[arg-type]
    assert list(profiles.ids) == ["a"]


def test_warnings_are_returned() -> None:
    (warning,) = profilec.compile({}).insert("a", "x = NULL")
    assert warning.severity == "warning"


def test_everything_that_a_profile_has_is_kept() -> None:
    profiles = profilec.compile({"a": "x = 1"})
    profiles.insert_many('-- why\nPROFILE b WITH (priority = 5) WHERE x = 2 ACCEPTS {"x": 2};')
    for _ in range(2):
        assert profiles["b"].properties == {"priority": 5}
        assert profiles["b"].comment == "why"
        assert [example.document for example in profiles.examples("b")] == [{"x": 2}]
        assert profiles.place("b") == (None, 2, 37)
        assert profiles.why({"x": 2}, "b").truth is True
        assert "x = 2" in profiles.explain("b")
        profiles.compact()


def test_a_value_between_two_constants_is_neither() -> None:
    """With constants 10 and 20, 12 and 15 share a rank: an inserted `price = 15` matches one of them."""
    profiles = profilec.compile({"a": "price = 10", "b": "price = 20"})
    profiles.insert("c", "price = 15")
    assert [profiles.match({"price": price}) for price in (10, 12, 15, 20)] == [["a"], [], ["c"], ["b"]]


def test_saved_pickled_and_planned_again() -> None:
    import pickle

    profiles = profilec.compile({"a": "x = 1", "b": "x = 2"})
    profiles.insert("c", "x = 1")
    profiles.delete("b")
    again = pickle.loads(pickle.dumps(profiles))
    assert again.match({"x": 1}) == ["a", "c"]
    profiles.insert("d", "x = 1")
    profiles.replan([{"x": 1}])
    assert profiles.match({"x": 1}) == ["a", "c", "d"]
    assert profiles.match({"x": profilec.OneOf([1, 5])}, semantics="overlap") == ["a", "c", "d"]


def test_who_matches_sees_one_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writers move `flag` from one profile to another in one change; no document may see none or both."""
    monkeypatch.setattr(delta, "FEW", 8)
    for module in (living_set, merging):
        monkeypatch.setattr(module, "MOST_IN_DELTA", 40)
    profiles = profilec.compile({f"p{number}": "flag = 0" if number else "flag = 1" for number in range(20)})
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    seen, stop, wrong = [0], threading.Event(), []

    def match() -> None:
        while not stop.is_set():
            found = [profiles.match({"flag": 1}), *profiles.match_batch([{"flag": 1}] * 3)]
            seen[0] += 1
            if any(len(ids) != 1 for ids in found) or len({ids[0] for ids in found[1:]}) != 1:
                wrong.append(found)

    def write() -> None:
        draw, now = random.Random(3), 0
        for number in range(300):
            then = draw.randrange(20)
            if then != now:
                profiles.replace_many({f"p{now}": "flag = 0", f"p{then}": "flag = 1"})
            now = then
            if number % 60 == 59:
                profiles.compact()

    readers = [threading.Thread(target=match) for _ in range(3)]
    try:
        for one in readers:
            one.start()
        write()
    finally:
        stop.set()
        for one in readers:
            one.join()
        sys.setswitchinterval(interval)
    assert not wrong
    assert seen[0] > 10


def test_merging_ends_with_few_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (living_set, merging):
        monkeypatch.setattr(module, "MOST_IN_DELTA", 20)
    profiles = profilec.compile({f"a{number}": f"x = {number}" for number in range(100)})
    for number in range(500):
        profiles.insert(f"b{number}", f"x = {number} AND y = 1")
    deadline = time.monotonic() + 30
    while merging.is_due(profiles._living.state) and time.monotonic() < deadline:
        time.sleep(0.01)
    with profiles._living.merging:
        state = profiles._living.state
    assert len(state.segments) <= 8
    assert profiles.match({"x": 7, "y": 1}) == ["a7", "b7"]
    assert len(profiles) == 600


class Changes(RuleBasedStateMachine):
    """Any interleaving of operations equals a fresh compile of what is left."""

    def __init__(self) -> None:
        super().__init__()
        self.left: dict[str, str] = {}
        self.profiles = profilec.compile({})
        self.number = 0

    @rule(condition=st.sampled_from(CONDITIONS))
    def insert(self, condition: str) -> None:
        self.number += 1
        self.left[f"p{self.number}"] = condition
        self.profiles.insert(f"p{self.number}", condition)

    @rule(data=st.data(), condition=st.sampled_from(CONDITIONS))
    def replace(self, data: st.DataObject, condition: str) -> None:
        if self.left:
            id = data.draw(st.sampled_from(list(self.left)))
            self.left[id] = condition
            self.profiles.replace(id, condition)

    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        if self.left:
            id = data.draw(st.sampled_from(list(self.left)))
            del self.left[id]
            self.profiles.delete(id)

    @rule()
    def compact(self) -> None:
        self.profiles.compact()

    @rule(seed=st.integers(0, 10_000))
    def match(self, seed: int) -> None:
        documents = [document(random.Random(seed + number)) for number in range(3)]
        again = profilec.compile(self.left)
        assert [self.profiles.match(one) for one in documents] == [again.match(one) for one in documents]

    @invariant()
    def ids_are_in_order(self) -> None:
        assert list(self.profiles.ids) == list(self.left)


TestChanges = Changes.TestCase
TestChanges.settings = settings(max_examples=15, stateful_step_count=30, deadline=None)


@pytest.fixture(autouse=True)
def _nothing_goes_on() -> Iterator[None]:
    yield
    for thread in threading.enumerate():
        if thread.name == "profilec merge":
            thread.join(30)


@needs_timer
def test_an_interrupted_change_is_whole_or_not_at_all() -> None:
    """Each change moves five profiles from `a = 1` to `a = 2`, or back: with an interrupt anywhere, all or none."""
    names = [f"p{number}" for number in range(5)]
    profiles = profilec.compile(dict.fromkeys(names[:2], "a = 1"))
    profiles.insert_many(dict.fromkeys(names[2:], "a = 1") | {f"q{number}": f"b = {number}" for number in range(90)})
    draw, n_interrupted = random.Random(5), 0
    for value in (1, 2) * 20:  # until all kernels are loaded, in which Numba takes no interrupts
        profiles.replace_many(dict.fromkeys(names, f"a = {value}"))
        profiles.match({"a": 1})
    for _ in range(400):
        try:
            with interrupted_after(draw.uniform(1e-5, 1e-3)):
                profiles.replace_many(dict.fromkeys(names, f"a = {draw.choice((1, 2))}"))
        except TimeOutError:
            n_interrupted += 1
        assert sorted(profiles.match({"a": one}) for one in (1, 2)) == [[], names]
        assert profiles.match({"b": 7}) == ["q7"]
    assert n_interrupted > 20
    assert len(profiles) == 95


def test_a_large_segment_is_compiled_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("profilec.living.aside.LARGE", 10)
    profiles = profilec.compile(
        "SCHEMA (x NUMBER, t STRING); PROFILE a WITH (n = 1) WHERE x = 1; PROFILE z WHERE x = 99;",
        options={"max_terms": 50},
    )
    profiles.insert_many({f"b{number}": f"x = {number} AND t != 'ö'" for number in range(30)})
    profiles.delete("z")
    profiles.compact()
    assert profiles.match({"x": 1, "t": "?"}) == ["a", "b1"]
    assert profiles["a"].properties == {"n": 1}
    assert profiles["b7"].where == "x = 7 AND t != 'ö'"
    assert profiles.schema is not None
    with pytest.raises(profilec.ProfileError, match="PC302"):
        profiles.insert("c", " AND ".join(f"(x = {number} OR t = '{number}')" for number in range(40)))


def test_a_process_that_fails_leaves_the_set_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    profiles = profilec.compile({})
    profiles.insert_many({f"b{number}": f"x = {number}" for number in range(30)})
    monkeypatch.setattr("profilec.living.aside.LARGE", 10)
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(RuntimeError, match="ended with 1"):
        profiles.compact()
    assert profiles.match({"x": 3}) == ["b3"]
    profiles.insert("c", "x = 3")
    assert profiles.match({"x": 3}) == ["b3", "c"]


def test_many_profiles_are_a_segment_from_the_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("profilec.living.aside.LARGE", 10)
    profiles = profilec.compile({"a": "x = 1"})
    profiles.insert_many({f"b{number}": f"x = {number % 3}" for number in range(12)})
    with pytest.raises(profilec.ProfileError, match="the id 'b3' is taken"):
        profiles.insert_many({f"b{number}": "x = 1" for number in range(3, 30)})
    assert profiles.match({"x": 1}) == ["a", "b1", "b4", "b7", "b10"]
    assert [len(segment) for segment in profiles._living.state.segments] == [1, 12]
    profiles.insert("c", "x = 1")
    profiles.compact()
    assert profiles.match({"x": 1}) == ["a", "b1", "b4", "b7", "b10", "c"]


def test_what_is_put_is_inserted_or_replaced() -> None:
    profiles = profilec.compile({"a": "x = 1", "b": "x = 1"})
    profiles.put_many({"c": "x = 1", "a": "x = 2", "d": "x = 2"})
    assert list(profiles.ids) == ["a", "b", "c", "d"]
    assert [profiles.match({"x": x}) for x in (1, 2)] == [["b", "c"], ["a", "d"]]
    with pytest.raises(profilec.ProfileError, match="PC101"):
        profiles.put_many({"a": "x = 3", "e": "x ="})
    assert list(profiles.ids) == ["a", "b", "c", "d"]


def test_what_is_explained_is_the_set_as_it_is() -> None:
    profiles = profilec.compile({"a": "x = 1"})
    profiles.delete("a")
    profiles.insert("b", "y LIKE 'z%' AND EXISTS d (d.y = y)")
    profiles.documents.add({"y": "zz"})
    assert "access    y >= 'z'" in profiles.explain("b")
    assert profiles.why({"y": "zz"}, "b").truth is True
    assert profiles.explain().startswith("Plan for 1 profile: ")


def test_many_at_once_are_found_by_each_and_by_batches() -> None:
    profiles = profilec.compile({})
    for n in (70, 5_000, 30):
        first = len(profiles)
        profiles.insert_many({f"p{number}": f"x = {number}" for number in range(first, first + n)})
    documents = [{"x": number} for number in range(0, len(profiles), 7)]
    found = [[f"p{document['x']}"] for document in documents]
    assert list(profiles.match_batch(documents)) == found
    assert [profiles.match(document) for document in documents] == found


def test_a_string_is_no_list_of_ids() -> None:
    profiles = profilec.compile({"a": "x = 1", "b": "x = 2", "ab": "x = 3"})
    with pytest.raises(TypeError, match="takes ids, and a string is one"):
        profiles.delete_many("ab")
    assert list(profiles) == ["a", "b", "ab"]


def test_all_ids_that_are_taken_are_told() -> None:
    profiles = profilec.compile({"a": "x = 1", "b": "x = 2"})
    with pytest.raises(profilec.ProfileError) as raised:
        profiles.insert_many({"a": "x = 3", "c": "x = 3", "b": "x = 3"})
    assert [found.profile for found in raised.value.diagnostics] == ["a", "b"]


@pytest.mark.parametrize("n_inserted", [1, delta.FEW + 1])
def test_what_is_no_document(n_inserted: int) -> None:
    profiles = profilec.compile({})
    profiles.insert_many({f"p{number}": f"x > {number}" for number in range(n_inserted)})
    for wrong in ("x", [{"x": 1}], None):
        with pytest.raises(profilec.DocumentError, match=r"^a document is a mapping"):
            profiles.match(wrong)  # type: ignore[arg-type]
        with pytest.raises(profilec.DocumentError, match=r"^document 1: a document is a mapping"):
            profiles.match_batch([{"x": 1}, wrong])
    with pytest.raises(profilec.DocumentError, match=r"^document 1: attribute 'x': set is no number"):
        profiles.match_batch([{"x": 1}, {"x": {1}}])


def test_its_text_counts_what_was_inserted() -> None:
    profiles = profilec.compile({"a": "x = 1"})
    profiles.insert("b", "x = 2")
    assert repr(profiles).startswith("<ProfileSet: 2 profiles;")
