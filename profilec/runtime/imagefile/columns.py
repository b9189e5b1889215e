"""Sequences over flat arrays: a million strings, numbers or slots that cost nothing until they are asked for.

In: offsets and bytes, mapped or fresh. Out: Python objects, one at a time.

    off     0     4  4        10       int64, n + 1, ascending
    data    A c m e  p r i c e s       UTF-8; a lone surrogate has three bytes of its own

Invariant: what is read is what was written, for any string and any integer or decimal.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.arrow_values import arrow_of
from profilec.runtime.imagefile.container import ImageError, ImageFile, NewSection, refusal
from profilec.values.numbers import Exact

T = TypeVar("T")
Offsets = NDArray[np.int64]
_CHUNK = 4_096
_MOST_SHOWN = 20


class Strings(Sequence[str]):
    """Strings as Python objects, as columns, or both. Equal to any sequence of the same strings.

    >>> strings = Strings(["a", "", "β"])
    >>> strings[2], list(strings), strings == ["a", "", "β"]
    ('β', ['a', '', 'β'], True)
    """

    __slots__ = ("_texts", "_off", "_data", "_source")

    def __init__(self, texts: list[str]) -> None:
        """Of a list, which must not change any more."""
        self._texts: list[str] | None = texts
        self._off: Offsets | None = None
        self._data: memoryview = memoryview(b"")
        self._source = ("", "")

    @classmethod
    def over(cls, off: Offsets, data: memoryview, source: tuple[str, str] = ("", "")) -> Strings:
        """Of columns; `source` names the image and the section, for messages."""
        strings = cls([])
        strings._texts, strings._off, strings._data, strings._source = None, off, data, source
        return strings

    @classmethod
    def read(cls, file: ImageFile, name: str) -> Strings:
        """Of two sections of an image.

        Raises:
            ImageError: they are not there, or contradict each other.
        """
        off = file.array(f"{name}.off", np.int64)
        data = file.array(f"{name}.data", np.uint8).data
        if not len(off) or off[0] != 0 or off[-1] != len(data):
            raise refusal(file.name, f"{name}.off does not cut the {len(data):,} bytes of {name}.data")
        return cls.over(off, data, (file.name, name))

    @property
    def texts(self) -> list[str] | None:
        """The list that they were made of; None of columns."""
        return self._texts

    def sections(self, name: str, *, matching: bool) -> list[NewSection]:
        """The two sections that `read` reads."""
        off, data = self.columns()
        return [
            NewSection(f"{name}.off", off, matching),
            NewSection(f"{name}.data", np.frombuffer(data, np.uint8), matching),
        ]

    def columns(self) -> tuple[Offsets, bytes | memoryview]:
        """Offsets and bytes."""
        if self._off is not None:
            return self._off, self._data
        texts = self._texts or []
        # PERF: between two chunks another thread may run; nothing within one lets go of the interpreter for a moment,
        # since whoever waits for it would then begin to wait anew.
        lengths = array("q")
        pieces = []
        for start in range(0, len(texts), _CHUNK):
            part = texts[start : start + _CHUNK]
            joined = "".join(part)
            if joined.isascii():
                lengths.extend(map(len, part))
                pieces.append(joined.encode("ascii"))
            else:
                encoded = [text.encode("utf-8", "surrogatepass") for text in part]
                lengths.extend(map(len, encoded))
                pieces.append(b"".join(encoded))
        off = np.zeros(len(texts) + 1, np.int64)
        np.cumsum(np.frombuffer(lengths, np.int64), out=off[1:])
        return off, b"".join(pieces)

    def part(self, start: int, end: int) -> Strings:
        """The strings start .. end - 1, sharing the bytes."""
        if self._off is None:
            return Strings((self._texts or [])[start:end])
        return Strings.over(self._off[start : end + 1], self._data, self._source)

    def raw(self, index: int) -> bytes:
        """The UTF-8 of one string, whose order is that of code points."""
        if self._off is None:
            return self[index].encode("utf-8", "surrogatepass")
        return self._data[self._off[index] : self._off[index + 1]].tobytes()

    def take(self, indices: NDArray[Any]) -> list[str]:
        """The strings at these places, none of them negative."""
        if self._off is None:
            texts = self._texts or []
            return [texts[index] for index in indices.tolist()]
        data = self._data
        starts, ends = self._off[indices].tolist(), self._off[indices + 1].tolist()
        try:
            return [str(data[start:end], "utf-8", "surrogatepass") for start, end in zip(starts, ends, strict=True)]
        except UnicodeDecodeError:
            raise self._damaged() from None

    def to_arrow(self, indices: NDArray[Any]) -> Any:
        """The strings at these places as a `pyarrow.StringArray`.

        Raises:
            ImageError: one is no UTF-8, as a lone surrogate is not.
        """
        import pyarrow as pa

        if self._off is None:
            used, places = np.unique(indices, return_inverse=True)
            return pa.DictionaryArray.from_arrays(pa.array(places), pa.array(self.take(used), pa.string())).cast(
                pa.string()
            )
        every = pa.LargeStringArray.from_buffers(len(self), pa.py_buffer(self._off), pa.py_buffer(self._data))
        taken = every.take(arrow_of(indices))
        try:
            taken.validate(full=True)
        except pa.ArrowInvalid:
            raise self._damaged() from None
        return taken.cast(pa.string())

    def __len__(self) -> int:
        return len(self._texts or ()) if self._off is None else len(self._off) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if self._off is None:
            return (self._texts or [])[index]
        if isinstance(index, slice):
            return self.take(np.arange(*index.indices(len(self))))
        place = range(len(self._off) - 1)[index]
        try:
            return str(self._data[self._off[place] : self._off[place + 1]], "utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise self._damaged() from None

    def __iter__(self) -> Iterator[str]:
        if self._off is None:
            yield from self._texts or ()
            return
        for start in range(0, len(self), _CHUNK):
            yield from self.take(np.arange(start, min(start + _CHUNK, len(self))))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(ours == theirs for ours, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if len(self) <= _MOST_SHOWN:
            return repr(list(self))
        shown = ", ".join(map(repr, self[:_MOST_SHOWN]))
        return f"[{shown}, … {len(self) - _MOST_SHOWN:,} more]"

    def __reduce__(self) -> tuple[Any, ...]:
        return Strings, (list(self),)

    def _damaged(self) -> ImageError:
        image, section = self._source
        return refusal(image, f"a text of its section {section} is not UTF-8")

    def faults(self) -> Iterator[str]:
        """What contradicts itself in columns that were read: all is looked at."""
        if self._off is None:
            return
        if (np.diff(self._off) < 0).any() or self._off[0] < 0 or self._off[-1] > len(self._data):
            yield "its offsets do not ascend"
            return
        try:
            str(self._data, "utf-8", "surrogatepass")
        except UnicodeDecodeError:
            yield "it is not UTF-8"
            return
        starts = self._off[:-1][np.diff(self._off) > 0]
        if ((np.frombuffer(self._data, np.uint8)[starts] & 0xC0) == 0x80).any():
            yield "an offset cuts a character"


class Integers(Sequence[int]):
    """Integers of 64 bits as Python's."""

    __slots__ = ("array",)

    def __init__(self, array: Offsets) -> None:
        self.array = array

    @property
    def view(self) -> memoryview:
        """The same for a search, without a step of Python's for each that is looked at."""
        return self.array.data

    def __len__(self) -> int:
        return len(self.array)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        return self.array[index].tolist()  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[int]:
        return iter(self.array.tolist())


class Decoded(Sequence[T], Generic[T]):
    """Objects decoded from strings, each when it is first asked for.

    >>> numbers = Decoded(Strings(["1", "0x10", "=1.50"]), number_of)
    >>> numbers[2], len(numbers)
    (Decimal('1.50'), 3)
    """

    __slots__ = ("strings", "_decode", "_known")

    def __init__(self, strings: Strings, decode: Callable[[str], T]) -> None:
        self.strings = strings
        self._decode = decode
        self._known: dict[int, T] = {}

    def __len__(self) -> int:
        return len(self.strings)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        places = range(len(self.strings))[index]
        if isinstance(places, range):
            return [self[place] for place in places]
        if places not in self._known:
            self._known[places] = self._decode(self.strings[places])
        return self._known[places]

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (list(self),)


def strings_of(values: Sequence[T], encode: Callable[[T], str]) -> Strings:
    """The strings that `Decoded` decodes to these values; those it was read from, where it was."""
    return values.strings if isinstance(values, Decoded) else Strings(list(map(encode, values)))


def number_text(number: Exact) -> str:
    """An integer or decimal as text. Long integers are hexadecimal, since Python refuses to print long decimals."""
    if isinstance(number, int):
        return str(number) if number.bit_length() < 64 else hex(number)
    return f"={number}"


def number_of(text: str) -> Exact:
    """What `number_text` wrote.

    Raises:
        ValueError: it wrote no such text.
    """
    if text.startswith("="):
        try:
            return Decimal(text[1:])
        except InvalidOperation:
            raise ValueError(f"no number: {text[:40]!r}") from None
    return int(text, 16) if "x" in text[:3] else int(text)


def fits_int64(values: Iterable[Any]) -> bool:
    """Whether all values are integers that fit 64 bits."""
    return isinstance(values, Integers) or all(type(value) is int and -(2**63) <= value < 2**63 for value in values)
