"""Merging: when it is due, and that it ends."""

from __future__ import annotations

import numpy as np
import pytest

import profilec
from profilec.living import merging
from profilec.living.segment import Segment


def test_of_too_many_segments_enough_are_merged_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where each is so much larger than the next that none would have to be moved."""
    monkeypatch.setattr(merging, "MOST_SEGMENTS", 2)
    profiles = profilec.compile({f"a{number}": "x = 1" for number in range(100)})
    profiles.insert("first", "x = 1")
    for n in (20, 4):
        profiles._living.append(segment_of({f"b{n} {number}": "x = 1" for number in range(n)}, profiles))
    assert merging.is_due(profiles._living.state)
    assert merging._merge(profiles._living, everything=False)
    assert not merging.is_due(profiles._living.state)
    assert len(profiles.match({"x": 1})) == 125


def segment_of(left: dict[str, str], profiles: profilec.ProfileSet) -> Segment:
    """Profiles as a segment behind all that there are."""
    compiled = profilec.compile(left)._whole()
    return Segment(compiled, profiles._living._next_place + np.arange(len(left)))


def test_a_property_that_no_file_keeps_is_merged_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("profilec.living.aside.LARGE", 2)
    thing = object()
    profiles = profilec.compile([profilec.Profile("a", "x = 1", {"thing": thing})])
    profiles.insert_many([profilec.Profile("b", "x = 1", {"thing": thing}), profilec.Profile("c", "x = 2")])
    profiles.compact()
    assert profiles.match({"x": 1}) == ["a", "b"]
    assert profiles["b"].properties["thing"] is thing
    with pytest.raises(TypeError, match="the properties of profile 'a'"):
        profiles.save("/dev/null")


def test_what_was_given_out_stays() -> None:
    """Though the segments that it is of are let go."""
    profiles = profilec.compile({f"a{number}": f"x = {number % 7}" for number in range(20)})
    profiles.insert_many({f"b{number}": f"x = {number % 7}" for number in range(100)})
    for _ in range(2):
        ids, found = profiles.ids, profiles.match_batch([{"x": 3}, {"x": 6}])
        expected = list(ids), list(found)
        profiles.insert("c", "x = 3")
        profiles.compact()
        profiles.delete("c")
        profiles.compact()
        assert (list(ids), list(found)) == expected


def test_a_segment_of_a_delta_alone_is_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    """For documents like those that the other segments matched: none has to wait."""
    monkeypatch.setattr(merging, "MOST_IN_DELTA", 10)
    conditions = {f"a{number}": f"x = {number}" for number in range(200)}
    profiles = profilec.compile(conditions, options={"matcher": "betree"})
    profiles.insert("first", "x = 1")
    for number in range(100):
        profiles.match({"x": number})
    with profiles._living.merging:
        profiles.insert_many({f"b{number}": f"x = {number}" for number in range(12)})
        assert merging._merge(profiles._living, everything=False)
    old, new = profiles._living.state.segments
    assert (len(old), len(new)) == (200, 13)
    assert old.compiled.final is not None
    assert new.compiled.final is not None
