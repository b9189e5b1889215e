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
