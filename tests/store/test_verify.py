"""Damaged stores: refused, or as they were; nothing ends the process."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import profilec
from profilec.runtime.imagefile.container import ImageFile
from profilec.store import verify
from profilec.store.environment import StoreError
from profilec.store.pages import Pages
from tests.store.stores import DOCUMENTS, fill, wanted

Ask = Callable[..., list[dict[str, Any]]]


def flip(path: Path, at: int, with_: int = 0x20) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= with_
    path.write_bytes(data)


def images(store: Path) -> list[Path]:
    """The segments that the store names."""
    with Pages(store / "data.mdb") as pages:
        return [store / "segments" / f"{int.from_bytes(key, 'big')}.image" for key, _ in pages.records(b"segments")]


def test_a_sound_store(store: Path) -> None:
    found = verify.verify_store(store)
    assert found.faults == ()
    with profilec.open(store) as profiles:
        assert found.n_profiles == len(profiles)
        assert verify.verify_store(store) == found  # while it is open here
        profiles.insert("new", "a = 1")
        assert verify.verify_store(store).n_profiles == len(profiles)
        profiles.compact()
        assert verify.verify_store(store).n_changes == 0


def test_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is no store"):
        verify.verify_store(tmp_path)
    assert not list(tmp_path.iterdir())


def test_every_section_of_a_segment(store: Path, tmp_path: Path, ask: Ask) -> None:
    (image, *_) = images(store)
    sections = ImageFile.open(image).sections.values()
    copies = []
    for section in sections:
        if section.length:
            copy = tmp_path / section.name
            shutil.copytree(store, copy)
            flip(copy / "segments" / image.name, section.offset + section.length // 2)
            copies.append(copy)
    assert len(copies) > 20
    for copy, told in zip(copies, ask(*copies), strict=True):
        (fault,) = told["faults"]
        assert fault.startswith(f"segment {image.stem}, section {copy.name} does not have the bytes")
        assert f"section {copy.name} does not have" in told["refused"]
        assert "`profilec store salvage` writes down" in told["refused"]


@pytest.mark.parametrize("at", [0, 9, 20, 61, 100])
def test_the_header_of_a_segment(store: Path, ask: Ask, at: int) -> None:
    (image, *_) = images(store)
    flip(image, at)
    (told,) = ask(store)
    assert told["faults"][0].startswith(f"segment {image.stem}: ")
    assert f"segment {image.stem}" in told["refused"]


def test_a_record_of_the_log(store: Path, ask: Ask) -> None:
    data = (store / "data.mdb").read_bytes()
    at = data.index(b"a > 4 AND a < 10")
    while at >= 0:
        flip(store / "data.mdb", at)
        at = data.find(b"a > 4 AND a < 10", at + 1)
    (told,) = ask(store)
    (fault,) = told["faults"]
    assert fault.startswith("change ")
    assert "the checksum is wrong" in fault
    assert fault.partition(":")[0] in told["refused"]


@pytest.mark.parametrize("pages", [0, 1, 2, 5])
def test_a_file_that_is_cut_off(store: Path, ask: Ask, pages: int) -> None:
    data = (store / "data.mdb").read_bytes()
    (store / "data.mdb").write_bytes(data[: pages * 4_096 + 17])
    (told,) = ask(store)
    assert told["faults"][0].startswith("data.mdb: ")
    assert "data.mdb is damaged: it is cut off" in told["refused"]


def test_a_segment_that_is_not_there(store: Path, ask: Ask) -> None:
    (image, *_) = images(store)
    image.unlink()
    (told,) = ask(store)
    assert told["faults"] == [f"segment {image.stem}: its file is not there"]
    assert f"{image.name} is not there; `profilec store verify`" in told["refused"]


def test_no_data_file_is_no_new_store(store: Path, ask: Ask) -> None:
    (store / "data.mdb").unlink()
    (told,) = ask(store)
    assert told["faults"] == ["data.mdb: it is not there"]
    assert "data.mdb is not there, and segments are" in told["refused"]


@pytest.mark.parametrize("seed", range(6))
def test_bytes_at_random(tmp_path: Path, ask: Ask, seed: int) -> None:
    """Of each page that the store has, some byte that is in use; and any bytes of the first two."""
    draw = random.Random(seed)
    held = fill(tmp_path / "store")
    data = (tmp_path / "store" / "data.mdb").read_bytes()
    copies = []
    for number in range(60):
        page = draw.randrange(2) if number % 3 == 0 else draw.randrange(2, len(data) // 4_096)
        within = draw.randrange(16) if draw.random() < 0.3 else draw.randrange(16, 160)
        within = within if draw.random() < 0.6 else draw.randrange(4_096)
        copy = tmp_path / f"{number} {page} {within}"
        shutil.copytree(tmp_path / "store", copy)
        flip(copy / "data.mdb", page * 4_096 + within, draw.randrange(1, 256))
        copies.append(copy)
    expect(copies, ask(*copies), held)


def test_every_byte_of_the_metas(tmp_path: Path, ask: Ask) -> None:
    held = fill(tmp_path / "store")
    copies = []
    for at in range(0, 152, 1):
        for page in (0, 1):
            copy = tmp_path / f"{page} {at}"
            shutil.copytree(tmp_path / "store", copy)
            flip(copy / "data.mdb", page * 4_096 + at, 2)
            copies.append(copy)
    expect(copies, ask(*copies), held)


def expect(copies: list[Path], told: list[dict[str, Any]], held: dict[str, str]) -> None:
    """Each is refused, and found to be damaged; or is sound, and gives the answers."""
    answers = wanted(held)
    for copy, one in zip(copies, told, strict=True):
        if "refused" in one:
            assert one["faults"], (copy.name, one["refused"])
            assert "profilec store salvage" in one["refused"], (copy.name, one["refused"])
        else:
            assert one["faults"] == [], copy.name
            assert sorted(one["ids"]) == sorted(held), copy.name
            assert [sorted(ids) for ids in one["answers"]] == [sorted(ids) for ids in answers], copy.name
    assert len(DOCUMENTS) == len(answers)
