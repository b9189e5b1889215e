"""The file of an image: a header, a table of sections, and the sections' bodies.

    0      header  magic 8s, format u32, 0 u32, bytes of the file u64, of the table u64, sections u32, 0 …, crc u32
    64     table   for each section: name 48s, dtype 4s, dimensions u8, flags u8, shape 2 x u64, offset u64, bytes u64,
                   crc u32
    …      bodies  each at a multiple of 64, zeros between them

Invariants: all is little-endian; no body says where it lies, so a file may be mapped anywhere; the
same arrays in the same order give the same bytes. The crc of the header is over the header before
it and the table, that of a section over its body. Magic, format and the header's layout are those
of every format to come, so that each can tell the others.

`open` reads the header and the table, whatever the file's length, and trusts the bodies;
`damage` reads them all.
"""

from __future__ import annotations

import errno
import math
import mmap
import os
import secrets
import stat
import struct
import sys
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.imagefile.room import room

MAGIC = b"\x93PROFI\r\n"
FORMAT = 4
"""Goes up whenever an image of before would be read wrongly."""
ALIGNMENT = 64
MATCHING = 1
"""The flag of a section that matching reads."""

_FEW_BYTES = 1 << 20
"""Of a file up to which it is not asked whether there is room for it."""
_FEW_PAGES = 1 << 24
"""Bytes that are given back at once."""
_HEADER = struct.Struct("<8sIIQQI24xI")
_ROW = struct.Struct("<48s4sBBxxQQQQIxxxx")
_MOST_SECTIONS = 10_000
_DTYPES = ("|u1", "|i1", "|b1", "<u2", "<i2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8")
_COMPILE_AGAIN = "compile the profiles again"
_COPY_AGAIN = "copy it again, or compile the profiles again"


class ImageError(ValueError):
    """A file that is no image, or one that cannot be used; the message says why, and what to do."""


def refusal(name: str, reason: str, remedy: str = _COMPILE_AGAIN) -> ImageError:
    """The error for the image of this name."""
    return ImageError(f"{name}: {reason}; {remedy}")


@dataclass(frozen=True, slots=True)
class Section:
    """A row of the table. `shape` has one or two dimensions, `offset` and `length` are in bytes."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    matching: bool
    offset: int
    length: int
    checksum: int


class NewSection(NamedTuple):
    """An array to be written. `matching`: whether matching reads it."""

    name: str
    array: NDArray[Any]
    matching: bool = True


def is_image(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as images do; never true of what is no regular file (a pipe would lose what is read)."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


class ImageFile:
    """An image's sections, mapped or in memory."""

    def __init__(self, data: mmap.mmap | bytes, name: str) -> None:
        """Reads header and table of what `open` has mapped, or of bytes; `name` stands in messages.

        Raises:
            ImageError: no image, a damaged or truncated one, or one of another format.
        """
        self.name = name
        self.data = memoryview(data)
        self.sections = {section.name: section for section in _read_table(self.data, name)}

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> ImageFile:
        """Maps a file.

        Raises:
            ImageError: as for the class.
            OSError: the file cannot be read.
        """
        name = os.fspath(path)
        try:
            return cls._map(name)
        except IsADirectoryError:
            if not os.path.isfile(os.path.join(name, "data.mdb")):
                raise
            remedy = "profilec.open, or `profilec store`, takes it"
            raise refusal(name, "it is a store, and an image is a file", remedy) from None

    @classmethod
    def _map(cls, name: str) -> ImageFile:
        with open(name, "rb", opener=_open_at_once) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise refusal(name, "it is no regular file, and only those can be mapped", "save it to disk first")
            if status.st_size < _HEADER.size:
                raise _short(file.read(), name)
            found = cls(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), name)
            found._expect_matching()
            return found

    @classmethod
    def open_damaged(cls, path: str | os.PathLike[str]) -> ImageFile:
        """What is left of a file that `open` refuses: the sections whose rows make sense and that lie within it. What
        is in them may be anything; `damage` tells of each.

        Raises:
            OSError: the file cannot be read.
        """
        file = cls.__new__(cls)
        file.name = os.fspath(path)
        file.data = memoryview(Path(path).read_bytes())
        file.sections = {section.name: section for section in _rows_left(file.data, file.name)}
        return file

    def __contains__(self, name: str) -> bool:
        return name in self.sections

    def array(self, name: str, dtype: Any, dimensions: int | None = 1) -> NDArray[Any]:
        """The section of a name, without a copy; read-only. Any number of dimensions where that is None.

        Raises:
            ImageError: there is no such section, or it is of another type or shape.
        """
        section = self.sections.get(name)
        if section is None:
            raise refusal(self.name, f"it has no section {name}")
        wanted = np.dtype(dtype)
        if np.dtype(section.dtype) != wanted or dimensions not in (None, len(section.shape)):
            found = f"{section.dtype} of shape {section.shape}"
            raise refusal(self.name, f"its section {name} is {found}, not {wanted.str}")
        if section.length == 0:
            empty = np.zeros(section.shape, wanted)
            empty.flags.writeable = False
            return empty
        count = section.length // wanted.itemsize
        return np.frombuffer(self.data, wanted, count, section.offset).reshape(section.shape)

    def text(self, name: str) -> str:
        """A section of UTF-8."""
        try:
            return str(self.array(name, np.uint8).data, "utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise refusal(self.name, f"its section {name} is not UTF-8") from None

    def damage(self) -> Iterator[str]:
        """What is wrong with the bodies: the sections whose checksum fails, and what is not zero between them."""
        self._advise("MADV_SEQUENTIAL")
        try:
            yield from self._damage()
        finally:
            self._expect_matching()

    def _damage(self) -> Iterator[str]:
        end = _HEADER.size + len(self.sections) * _ROW.size
        for section in self.sections.values():
            if any(self.data[end : section.offset]):
                yield f"the bytes before section {section.name} are not zero"
            end = section.offset + section.length
            if zlib.crc32(self.data[section.offset : end]) != section.checksum:
                yield f"section {section.name} does not have the bytes that were written (its checksum differs)"

    def let_go(self) -> None:
        """Gives the pages of a mapping back a few at a time, since all threads wait while a large file is unmapped.
        Whoever still reads it gets them again."""
        for start in range(0, len(self.data), _FEW_PAGES):
            self._advise("MADV_DONTNEED", start, min(_FEW_PAGES, len(self.data) - start))

    def _expect_matching(self) -> None:
        """PERF: where there is no room for all pages, what is read ahead would push out those that are needed."""
        there_is_room = len(self.data) <= _FEW_BYTES or len(self.data) <= room()
        self._advise("MADV_NORMAL" if there_is_room else "MADV_RANDOM")

    def _advise(self, how: str, *part: int) -> None:
        if isinstance(self.data.obj, mmap.mmap) and hasattr(mmap, how):
            self.data.obj.madvise(getattr(mmap, how), *part)


def write(path: str | os.PathLike[str] | BinaryIO, sections: Iterable[NewSection]) -> None:
    """Writes an image in the place of what was there, at once: whoever has mapped the old one keeps it.

    A crash, or a full disk, leaves the old file as it was. A stream, and what is no regular file (/dev/stdout), is
    written to.

    Raises:
        OSError: it cannot be written.
    """
    laid_out = _Layout(sections)
    if not isinstance(path, str | os.PathLike):
        laid_out.write(path)
        return
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            laid_out.write(file)
        return
    target = Path(path).resolve()
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    if mode is not None and not os.access(target, os.W_OK):  # for a rename, writing to the folder would be enough
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as file:
            laid_out.write(file)
            file.flush()
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(target)) from None
        raise
    sync_folder(target.parent)


def to_bytes(sections: Iterable[NewSection]) -> bytes:
    """The file that `write` would write."""
    return b"".join(_Layout(sections).pieces())


class _Layout:
    """Sections at their places: those that matching reads first, so that they share pages with no others."""

    def __init__(self, sections: Iterable[NewSection]) -> None:
        _need_little_endian("an image")
        ordered = sorted(sections, key=lambda section: not section.matching)
        arrays = [np.ascontiguousarray(section.array) for section in ordered]
        table_end = _HEADER.size + len(ordered) * _ROW.size
        end = table_end
        rows, self._bodies = [], []
        for section, array in zip(ordered, arrays, strict=True):
            name, dtype = section.name.encode("ascii"), array.dtype.str
            if len(name) > 48 or dtype not in _DTYPES or array.ndim not in (1, 2):
                raise TypeError(f"no section of an image: {section.name}, {dtype} of shape {array.shape}")
            offset = _aligned(end)
            body = array.reshape(-1).view(np.uint8).data
            shape = (*array.shape, 0)[:2]
            flags = MATCHING if section.matching else 0
            rows.append(_ROW.pack(name, dtype.encode(), array.ndim, flags, *shape, offset, len(body), zlib.crc32(body)))
            self._bodies.append((offset - end, body))
            end = offset + len(body)
        table = b"".join(rows)
        head = _HEADER.pack(MAGIC, FORMAT, 0, end, len(table), len(rows), 0)[:-4]
        self._head = head + struct.pack("<I", zlib.crc32(table, zlib.crc32(head))) + table

    def pieces(self) -> Iterator[bytes | memoryview]:
        yield self._head
        for gap, body in self._bodies:
            yield bytes(gap)
            yield body

    def write(self, file: BinaryIO | Any) -> None:
        for piece in self.pieces():
            file.write(piece)


def _read_table(data: memoryview, name: str) -> list[Section]:
    """The sections in the order of their bodies.

    Raises:
        ImageError: see `ImageFile`.
    """
    _need_little_endian(name)
    if len(data) < _HEADER.size or data[: len(MAGIC)] != MAGIC:
        raise _short(data[: _HEADER.size].tobytes(), name)
    _, version, _, length, table_length, n_sections, checksum = _HEADER.unpack_from(data)
    table_end = _HEADER.size + table_length
    head = data[: min(table_end, len(data))]
    if len(head) == table_end and zlib.crc32(head[_HEADER.size :], zlib.crc32(head[: _HEADER.size - 4])) == checksum:
        _expect_format(version, name)
    else:
        if version != FORMAT:
            _expect_format(version, name, "or its header is damaged")
        if len(data) < min(length, table_end):
            raise _truncated(len(data), length, name)
        raise refusal(name, "its header is damaged (the checksum differs)", _COPY_AGAIN)
    if len(data) < length:
        raise _truncated(len(data), length, name)
    if len(data) > length:
        raise refusal(name, f"{len(data) - length:,} bytes follow the end of the image", _COPY_AGAIN)
    if n_sections > _MOST_SECTIONS or table_length != n_sections * _ROW.size:
        raise refusal(name, f"its table of {n_sections:,} sections has {table_length:,} bytes")
    sections: list[Section] = []
    end = table_end
    for row in _ROW.iter_unpack(data[_HEADER.size : table_end]):
        section = _read_row(row, name)
        if section.offset != _aligned(end) or section.offset + section.length > length:
            raise refusal(name, f"its section {section.name} lies where it cannot")
        end = section.offset + section.length
        sections.append(section)
    if end != length:
        raise refusal(name, "its sections do not fill it")
    if len({section.name for section in sections}) != len(sections):
        raise refusal(name, "two of its sections have one name")
    return sections


def _rows_left(data: memoryview, name: str) -> Iterator[Section]:
    """The rows of a table, however damaged, that make sense: they end where the first body begins."""
    end = len(data)
    for number in range(_MOST_SECTIONS):
        start = _HEADER.size + number * _ROW.size
        if start + _ROW.size > end:
            return
        try:
            section = _read_row(_ROW.unpack_from(data, start), name)
        except ImageError:
            continue
        if section.offset % ALIGNMENT == 0 and section.name and start < section.offset <= len(data) - section.length:
            end = min(end, section.offset)
            yield section


def _read_row(row: tuple[Any, ...], name: str) -> Section:
    padded, dtype_bytes, dimensions, flags, first, second, offset, length, checksum = row
    section_name = padded.rstrip(b"\0").decode("ascii", "replace")
    dtype = dtype_bytes.rstrip(b"\0").decode("ascii", "replace")
    if not section_name.isprintable() or dtype not in _DTYPES or dimensions not in (1, 2) or flags > MATCHING:
        raise refusal(name, f"its section {section_name!r} is of no type that an image holds")
    shape = (first, second)[:dimensions]
    if math.prod(shape) * np.dtype(dtype).itemsize != length:
        raise refusal(name, f"its section {section_name} has {length:,} bytes for the shape {shape} of {dtype}")
    return Section(section_name, dtype, shape, flags == MATCHING, offset, length, checksum)


def _aligned(offset: int) -> int:
    """The next multiple of the alignment."""
    return -(-offset // ALIGNMENT) * ALIGNMENT


def _expect_format(version: int, name: str, otherwise: str = "") -> None:
    if version == FORMAT:
        return
    reason = f"it is of image format {version}, and this profilec reads format {FORMAT}"
    reason += f" ({otherwise})" if otherwise else ""
    remedy = f"{_COMPILE_AGAIN} with this one" if version < FORMAT else f"use a newer profilec, or {_COMPILE_AGAIN}"
    raise refusal(name, reason, remedy)


def _need_little_endian(name: str) -> None:
    if sys.byteorder != "little":
        raise refusal(name, "images are little-endian, and this machine is big-endian", "use another machine")


def _short(head: bytes, name: str) -> ImageError:
    """The refusal of a file that has no whole header of ours."""
    if head and MAGIC.startswith(head[: len(MAGIC)]):
        return refusal(name, f"it is cut off after {len(head)} bytes, within the header", _COPY_AGAIN)
    if not head:
        return refusal(name, "it is empty, and no image", "make one with `profilec compile`")
    return refusal(name, "it is no image", "make one with `profilec compile`")


def _truncated(size: int, length: int, name: str) -> ImageError:
    return refusal(name, f"it is cut off: it has {size:,} of {length:,} bytes", _COPY_AGAIN)


def _open_at_once(path: str, flags: int) -> int:
    """Without waiting for a writer where the path is a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def sync_folder(folder: Path) -> None:
    """Makes the new name last. Some file systems cannot, and lose at most the replacement."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)
