"""An image that is matched with less memory than it has pages, and read from the disk as it is needed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent / "benchmarks"))

from memory import NoGroupError, documents_of, evict, few_constants, group, matching_bytes, peak_alone, resident, run
from memory_child import match_all

import profilec
from profilec.runtime.imagefile import room

N_PROFILES = 120_000


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="control groups are Linux's")
def test_a_quarter_of_an_image_is_enough(tmp_path: Path) -> None:
    """The group holds what a process needs for a small set (the interpreter and Numba, mostly), and a quarter of what
    matching reads of the image."""
    tiny, image, documents = tmp_path / "tiny", tmp_path / "image", documents_of(150)
    profilec.compile(few_constants(3_000)).save(tiny)
    profiles = profilec.compile(few_constants(N_PROFILES))
    profiles.save(image)
    try:
        alone = peak_alone(tiny, documents)
    except NoGroupError as error:
        pytest.skip(str(error))
    n_pages = matching_bytes(image) // 4_096
    assert n_pages > 2_000
    evict(image)
    assert resident(image) < n_pages / 20, "nothing has to be read"
    with group() as limited:
        limited.limit(alone + n_pages * 4_096 // 4)
        found = run(image, tiny, documents, 2, limited)
        assert limited.peak() <= alone + n_pages * 4_096 // 4
    assert found.answers == match_all(profiles, documents)
    first, second = found.passes
    assert first.major_faults > n_pages / 4, "more pages than there is room for"
    assert second.major_faults > 0, "some were pushed out"
    assert first.pages_read < 3 * first.major_faults, "pages are read that nobody asked for"


def test_room_is_what_the_limits_leave(tmp_path: Path) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "outer" / "memory.max").write_text("1000\n")
    (tmp_path / "outer" / "memory.stat").write_text("anon 300\nfile 400\n")
    (inner / "memory.max").write_text("max\n")
    assert room._left(tmp_path, "/outer/inner", "memory.max", "anon") == 700
    (inner / "memory.max").write_text("100\n")
    (inner / "memory.stat").write_text("anon 300\n")
    assert room._left(tmp_path, "/outer/inner", "memory.max", "anon") == 0
    assert room._left(tmp_path, "/elsewhere", "memory.max", "anon") == room.NO_LIMIT
    assert 0 < room.room() <= room.NO_LIMIT
