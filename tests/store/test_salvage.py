"""What is left of damaged stores."""

from __future__ import annotations

import random
import shutil
import struct
from pathlib import Path

import pytest

import profilec
from profilec.runtime.imagefile.container import ImageFile
from profilec.store.environment import StoreError
from profilec.store.pages import Pages
from profilec.store.salvage import Salvage, salvage


def found_in(path: Path) -> tuple[dict[str, str], Salvage]:
    """Ids and conditions, in order."""
    found = salvage(path)
    return {one.id: one.where for one in found}, found


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 0x20
    path.write_bytes(data)


def image_of(store: Path) -> Path:
    """The segment that the store names."""
    with Pages(store / "data.mdb") as pages:
        ((key, _),) = pages.records(b"segments")
    return store / "segments" / f"{int.from_bytes(key, 'big')}.image"


def test_a_sound_store_loses_nothing(store: Path, held: dict[str, str]) -> None:
    found, salvaged = found_in(store)
    with profilec.open(store) as profiles:
        assert list(found) == list(profiles.ids)  # in the set's order
        assert found_in(store)[0] == found
    assert found == held
    assert salvaged.lost == []
    assert str(salvaged.schema.fields[0]) == "a NUMBER"  # type: ignore[union-attr]


def test_all_that_a_profile_has(tmp_path: Path) -> None:
    text = '-- why\nPROFILE a WITH (p = 5) WHERE x = 1 ACCEPTS {"x": 1};\nPROFILE b WHERE x = 2;'
    with profilec.open(tmp_path / "store") as profiles:
        profiles.insert_many(text)
        logged = list(salvage(tmp_path / "store"))
        profiles.compact()
        merged = list(salvage(tmp_path / "store"))
    for first, second in (logged, merged):
        assert (first.id, first.where, first.properties, first.comment) == ("a", "x = 1", {"p": 5}, "why")
        assert [one.document for one in first.examples] == [{"x": 1}]
        assert (second.id, second.properties, second.examples, second.comment) == ("b", {}, (), None)


def test_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no store"):
        salvage(tmp_path)


def test_a_change_whose_checksum_is_wrong_is_skipped(store: Path, held: dict[str, str]) -> None:
    data = (store / "data.mdb").read_bytes()
    at = data.index(b"a < 33 AND")
    while at >= 0:
        flip(store / "data.mdb", at)
        at = data.find(b"a < 33 AND", at + 1)
    found, salvaged = found_in(store)
    assert found == {id: where for id, where in held.items() if id != "q33"}
    (lost,) = salvaged.lost
    assert lost.startswith("change ")


def test_a_row_that_is_no_text_is_skipped(store: Path, held: dict[str, str]) -> None:
    image = image_of(store)
    section = ImageFile.open(image).sections["wheres.data"]
    at = image.read_bytes().index(held["p2"].encode(), section.offset)
    data = bytearray(image.read_bytes())
    data[at] = 0xFF
    image.write_bytes(data)
    found, salvaged = found_in(store)
    assert found == {id: where for id, where in held.items() if id != "p2"}
    assert any("section wheres.data does not have" in lost for lost in salvaged.lost)
    assert any(lost.endswith("1 of 40 profiles, which cannot be read") for lost in salvaged.lost)


@pytest.mark.parametrize("at", [3, 9, 61, 64 + 96 * 3 + 60])
def test_an_image_whose_header_is_damaged(store: Path, held: dict[str, str], at: int) -> None:
    flip(image_of(store), at)
    found, salvaged = found_in(store)
    assert found == held
    assert salvaged.lost


def test_a_segment_that_is_not_there(store: Path, held: dict[str, str]) -> None:
    image_of(store).unlink()
    found, salvaged = found_in(store)
    assert found == {id: where for id, where in held.items() if id[0] in "qw" or id == "p7"}
    assert salvaged.lost == ["segment 1: its file is not there"]


def test_without_the_data_file(store: Path) -> None:
    (store / "data.mdb").unlink()
    found, salvaged = found_in(store)
    assert list(found) == [f"p{number}" for number in range(40)]
    assert "deleted or replaced may be among it" in salvaged.lost[0]
    assert salvaged.schema is not None


@pytest.mark.parametrize("pages", [[0], [1], [0, 1], ["root"], ["log"]])
def test_pages_that_cannot_be_followed(store: Path, held: dict[str, str], pages: list[int | str]) -> None:
    """Records are found wherever they stand: of a leaf, and of pages that follow one another."""
    data = bytearray((store / "data.mdb").read_bytes())
    with Pages(store / "data.mdb") as read:
        roots = {"root": read.meta.main.root, "log": 0}
        for _, value, _ in [*_databases(data, read.meta.main.root)]:
            roots["log"] = struct.unpack("<Q", value[40:48])[0]
            break
    for page in pages:
        number = roots[page] if isinstance(page, str) else page
        data[number * 4_096 : number * 4_096 + 16] = b"\xff" * 16
    (store / "data.mdb").write_bytes(data)
    with pytest.raises(StoreError, match="salvage"):
        profilec.open(store)
    found, salvaged = found_in(store)
    if pages != ["log"]:
        assert {id: found.get(id) for id in held} == held
    assert {id: found[id] for id in held if id[0] == "p" and id != "p7"} == {
        id: where for id, where in held.items() if id[0] == "p" and id != "p7"
    }
    assert salvaged.lost


def _databases(data: bytearray, page: int) -> list[tuple[bytes, bytes, int]]:
    """`log`, of the leaf that has the databases."""
    at = data.index(b"log", page * 4_096)
    return [(b"log", bytes(data[at + 3 : at + 51]), 2)]


@pytest.mark.parametrize("seed", range(4))
def test_it_never_fails(tmp_path: Path, held: dict[str, str], seed: int) -> None:
    draw = random.Random(seed)
    size = (tmp_path / "store" / "data.mdb").stat().st_size
    for number in range(25):
        copy = tmp_path / f"{number}"
        shutil.copytree(tmp_path / "store", copy)
        for _ in range(draw.choice((1, 30))):
            flip(copy / "data.mdb", draw.randrange(size))
        image = image_of(tmp_path / "store").name
        for _ in range(draw.choice((0, 1, 30))):
            flip(copy / "segments" / image, draw.randrange((copy / "segments" / image).stat().st_size))
        found, salvaged = found_in(copy)
        assert found == held or salvaged.lost
