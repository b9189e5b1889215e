"""The file of an image: what goes in comes out, and anything else is refused with its reason."""

import contextlib
import os
import stat
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profilec.runtime.imagefile import container
from profilec.runtime.imagefile.container import FORMAT, ImageError, ImageFile, NewSection, is_image, to_bytes, write

SECTIONS = [
    NewSection("numbers", np.arange(5, dtype=np.int32)),
    NewSection("texts", np.frombuffer(b"abc", np.uint8), matching=False),
    NewSection("pairs", np.arange(6, dtype=np.int64).reshape(3, 2)),
    NewSection("none", np.zeros(0, np.uint64)),
]
SOUND = to_bytes(SECTIONS)
ROW, FIRST_ROW = 96, 64


def sealed(data: bytes | bytearray) -> bytes:
    """The bytes with the header's checksum made right again."""
    data = bytearray(data)
    (table_length,) = struct.unpack_from("<Q", data, 24)
    checksum = zlib.crc32(bytes(data[64 : 64 + table_length]), zlib.crc32(bytes(data[:60])))
    struct.pack_into("<I", data, 60, checksum)
    return bytes(data)


def changed(offset: int, form: str, *values: object, seal: bool = True) -> bytes:
    data = bytearray(SOUND)
    struct.pack_into(form, data, offset, *values)
    return sealed(data) if seal else bytes(data)


def row(number: int, field: int) -> int:
    """The place of a field of a row of the table."""
    return FIRST_ROW + ROW * number + field


def test_arrays_come_back_aligned_and_read_only(tmp_path: Path) -> None:
    write(tmp_path / "a", SECTIONS)
    file = ImageFile.open(tmp_path / "a")
    for name, array, matching in SECTIONS:
        found = file.array(name, array.dtype, array.ndim)
        assert found.tolist() == array.tolist()
        assert not found.flags.writeable
        assert found.ctypes.data % 64 == 0 or not len(found)
        assert file.sections[name].matching == matching
    assert [section.name for section in file.sections.values()] == ["numbers", "pairs", "none", "texts"]
    assert not list(file.damage())


def test_a_section_that_is_not_as_wanted_is_refused() -> None:
    file = ImageFile(SOUND, "shop.prfi")
    with pytest.raises(ImageError, match=r"shop\.prfi: it has no section x; compile"):
        file.array("x", np.int32)
    with pytest.raises(ImageError, match=r"its section numbers is <i4 of shape \(5,\), not <i8"):
        file.array("numbers", np.int64)
    with pytest.raises(ImageError, match="pairs is <i8"):
        file.array("pairs", np.int64, 1)


NAME, DTYPE, DIMENSIONS, FLAGS, SHAPE, OFFSET, LENGTH = 0, 48, 52, 53, 56, 72, 80
HOSTILE = {
    "no image": (b"PROFILE a WHERE TRUE;" * 10, "it is no image; make one"),
    "empty": (b"", "it is empty"),
    "a few bytes": (SOUND[:5], "cut off after 5 bytes"),
    "half a header": (SOUND[:40], "cut off after 40 bytes"),
    "half a table": (SOUND[:200], "cut off: it has 200 of"),
    "half a body": (SOUND[:-1], "cut off: it has"),
    "more than all": (SOUND + b"x", "1 bytes follow the end"),
    "text mode": (SOUND.replace(b"\r\n", b"\n"), "it is no image"),
    "older": (changed(8, "<I", 0), f"format 0, and this profilec reads format {FORMAT}; compile the profiles again"),
    "newer": (changed(8, "<I", FORMAT + 1), f"format {FORMAT + 1}, and .* reads format {FORMAT}; use a newer profilec"),
    "newer or damaged": (
        changed(8, "<I", FORMAT + 1, seal=False),
        rf"format {FORMAT + 1}, .*\(or its header is damaged\)",
    ),
    "damaged header": (changed(16, "<Q", 1, seal=False), "header is damaged"),
    "damaged table": (changed(row(1, LENGTH), "<Q", 1, seal=False), "header is damaged"),
    "a huge file": (changed(16, "<Q", 2**63), "cut off"),
    "a huge table": (changed(24, "<Q", 2**63, seal=False), "header is damaged"),
    "many sections": (changed(32, "<I", 2**32 - 1), "its table of 4,294,967,295 sections"),
    "a section too few": (changed(32, "<I", 3), "its table of 3 sections"),
    "no such dtype": (changed(row(0, DTYPE), "<4s", b"|O8"), "is of no type"),
    "an odd name": (changed(row(0, NAME), "<4s", b"a\nb"), "is of no type"),
    "three dimensions": (changed(row(0, DIMENSIONS), "<B", 3), "is of no type"),
    "an unknown flag": (changed(row(0, FLAGS), "<B", 2), "is of no type"),
    "a huge shape": (changed(row(0, SHAPE), "<Q", 2**64 - 1), "has 20 bytes for the shape"),
    "a product that wraps": (changed(row(1, SHAPE), "<QQ", 2**32, 2**32), "bytes for the shape"),
    "an offset beyond": (changed(row(0, OFFSET), "<Q", 2**40), "lies where it cannot"),
    "an offset in the table": (changed(row(0, OFFSET), "<Q", 64), "lies where it cannot"),
    "an offset not aligned": (changed(row(1, OFFSET), "<Q", 517), "lies where it cannot"),
    "one over another": (changed(row(1, OFFSET), "<Q", 448), "lies where it cannot"),
    "a length beyond": (changed(row(3, SHAPE), "<Q24x", 1000), "bytes for the shape"),
    "a section twice": (changed(row(1, NAME), "<48s", b"numbers"), "two of its sections have one name"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_sound_image_is_refused(name: str, tmp_path: Path) -> None:
    data, reason = HOSTILE[name]
    path = tmp_path / "shop.prfi"
    path.write_bytes(data)
    with pytest.raises(ImageError, match=reason) as caught:
        ImageFile.open(path)
    assert str(caught.value).startswith(f"{path}: ")


@given(st.integers(0, len(SOUND) * 8 - 1))
def test_any_bit_that_flips_is_found(bit: int) -> None:
    data = bytearray(SOUND)
    data[bit // 8] ^= 1 << bit % 8
    with contextlib.suppress(ImageError):
        assert list(ImageFile(bytes(data), "x").damage())


@given(st.integers(64, len(SOUND)), st.binary(max_size=40))
def test_no_garbage_makes_it_crash(place: int, garbage: bytes) -> None:
    data = bytearray(SOUND)
    data[place : place + len(garbage)] = garbage
    with contextlib.suppress(ImageError):
        list(ImageFile(sealed(data), "x").damage())


def test_on_a_big_endian_machine_nothing_is_read_or_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container.sys, "byteorder", "big")
    with pytest.raises(ImageError, match="this machine is big-endian"):
        ImageFile(SOUND, "x")
    with pytest.raises(ImageError, match="this machine is big-endian"):
        to_bytes(SECTIONS)


def test_a_file_that_fails_half_way_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    write(path, SECTIONS)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        write(path, SECTIONS[:1])
    assert caught.value.filename == str(path)
    assert path.read_bytes() == SOUND
    assert os.listdir(tmp_path) == ["a"]


def test_what_is_mapped_outlives_its_replacement(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write(path, SECTIONS)
    array = ImageFile.open(path).array("numbers", np.int32)
    write(path, [NewSection("numbers", np.zeros(9, np.int32))])
    assert array.tolist() == [0, 1, 2, 3, 4]
    assert len(ImageFile.open(path).array("numbers", np.int32)) == 9


def test_modes_and_links_are_kept(tmp_path: Path) -> None:
    path, link = tmp_path / "a", tmp_path / "link"
    before = os.umask(0o027)
    try:
        write(path, SECTIONS)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    link.symlink_to(path)
    write(link, SECTIONS[:1])
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    assert path.read_bytes() == to_bytes(SECTIONS[:1])


def test_a_device_is_written_to_and_not_replaced() -> None:
    write("/dev/null", SECTIONS)
    assert not Path("/dev/null").is_file()


def test_an_image_is_told_from_text_and_a_pipe_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", SECTIONS)
    (tmp_path / "b.prfi").write_text("PROFILE a WHERE TRUE;")
    os.mkfifo(tmp_path / "pipe")
    names = ("a.txt", "b.prfi", "pipe", "none", ".")
    assert [is_image(tmp_path / name) for name in names] == [True, False, False, False, False]
    with pytest.raises(ImageError, match="no regular file"):
        ImageFile.open(tmp_path / "pipe")


def test_an_object_array_is_never_written() -> None:
    with pytest.raises(TypeError, match="no section of an image"):
        to_bytes([NewSection("a", np.array([object()]))])


def test_pages_that_were_given_back_come_again(tmp_path, monkeypatch):
    monkeypatch.setattr(container, "_FEW_PAGES", 1 << 16)
    numbers = np.arange(100_000)
    write(tmp_path / "a.image", [*SECTIONS, NewSection("many", numbers)])
    file = ImageFile.open(tmp_path / "a.image")
    many = file.array("many", np.int64)
    assert many[0] == 0
    file.let_go()
    assert (many == numbers).all()
    assert not list(file.damage())
    ImageFile(SOUND, "of bytes").let_go()
