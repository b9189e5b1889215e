"""Atoms: many literals, looked for together in one text or in many.

In: the literals that decide patterns, or that a match cannot lack. Out: which of them occur in a text. Three ways:

    few atoms     each on its own
    one text      an Aho-Corasick automaton
    many texts    a kernel that compares where the rarest bytes of an atom are (`atom_kernels`); the automaton where
                  the kernel gives up

Invariant: time is linear in the text, and memory bounded, whatever the atoms are.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate, chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import Int32, gather

FEW = 8
"""PERF: so many atoms are looked for one by one; a call of the automaton costs 3 us, and 10 ns a character."""
_CHUNK = 4096
_FLOOD = 8
_LEAST_BITS, _MOST_BITS = 12, 17
_MOST_WINDOWS = 20
_MANY_HITS = 64
_KERNEL_BYTES = 4096
"""PERF: of fewer bytes the automaton tells before a kernel's arrays are there."""

_Csr: TypeAlias = tuple[NDArray[np.int64], Int32]


class Atoms:
    """Literals, and what it says of which pattern that one occurs: that it matches, or that it may."""

    def __init__(self, *, only_automaton: bool = False) -> None:
        """`only_automaton`: the automaton tells in any case."""
        self._only_automaton = only_automaton
        self._keys: dict[str, int] = {}
        self._few: list[str] = []
        self.decided: list[list[int]] = []
        self.possible: list[list[int]] = []
        self._names: list[bytes] = []
        self._automaton: Any = None
        self._overlap = 0
        self._index: _Index | None = None
        self._told: tuple[_Csr, _Csr] | None = None

    def __bool__(self) -> bool:
        return bool(self._keys)

    def add(self, atoms: Iterable[str], number: int, *, decides: bool) -> None:
        for atom in atoms:
            key = self._keys.setdefault(atom, len(self._keys))
            if key == len(self.decided):
                self.decided.append([])
                self.possible.append([])
            (self.decided if decides else self.possible)[key].append(number)

    def close(self) -> None:
        """Builds the automaton; nothing is added afterwards."""
        if len(self._keys) <= FEW and not self._only_automaton:
            self._few = list(self._keys)
        else:
            self._names = [atom.encode("utf-8", "surrogatepass") for atom in self._keys]
            self._automaton = _automaton(self._names)
            self._overlap = max(map(len, self._names)) - 1

    def deciding(self) -> list[tuple[str, list[int]]] | None:
        """The atoms and the patterns that each decides; None where they are many, or leave something open."""
        if any(self.possible) or self._automaton is not None:
            return None
        return list(zip(self._few, self.decided, strict=True))

    def tell(self, keys: Iterable[int], found: list[int], candidates: set[int]) -> None:
        """Adds the patterns that match, and that may, of a text in which these keys occur."""
        for key in keys:
            found += self.decided[key]
            candidates.update(self.possible[key])

    def tell_each(
        self, hits: Collection[int], places: list[int], found: list[int], candidates: set[int], n_patterns: int
    ) -> None:
        """As `tell` of many texts with these hits; a candidate is `place * n_patterns + number`."""
        if len(hits) < _MANY_HITS:
            n_keys = len(self._keys)
            for hit in hits:
                place, key = divmod(hit, n_keys)
                for number in self.decided[key]:
                    places.append(place)
                    found.append(number)
                for number in self.possible[key]:
                    candidates.add(place * n_patterns + number)
            return
        if self._told is None:
            self._told = _csr(self.decided), _csr(self.possible)
        decided, possible = self._told
        where, keys = np.divmod(np.fromiter(hits, np.int64, len(hits)), len(self._keys))
        numbers, cut = gather(*decided, keys)
        places += np.repeat(where, np.diff(cut)).tolist()
        found += numbers.tolist()
        numbers, cut = gather(*possible, keys)
        candidates.update((np.repeat(where, np.diff(cut)) * n_patterns + numbers).tolist())

    def occurring(self, text: str, data: bytes) -> Collection[int]:
        """The keys that occur in the text, of which `data` is the UTF-8.

        PERF: every occurrence is reported, and a key within a key within a key makes them many
        (`a`, `aa`, … in `aaaa…`). So the text is read in overlapping chunks, and after a flood the
        keys that are found already leave the automaton.
        """
        if self._automaton is None:
            return [key for key, atom in enumerate(self._few) if atom in text]
        if len(data) <= _CHUNK:
            hits = self._automaton.find_matches_as_indexes(data, overlapping=True)
            return {hit[0] for hit in hits} if hits else ()
        found: set[int] = set()
        automaton, names = self._automaton, self._names
        keys = list(range(len(names)))
        view = memoryview(data)
        for start in range(0, max(1, len(data) - self._overlap), _CHUNK):
            chunk = view[start : start + _CHUNK + self._overlap]
            hits = automaton.find_matches_as_indexes(chunk, overlapping=True)
            found.update({keys[hit[0]] for hit in hits})
            if len(found) == len(names):
                break
            if len(hits) > _FLOOD * _CHUNK:
                keys = [key for key in range(len(names)) if key not in found]
                automaton = _automaton([names[key] for key in keys])
        return found

    def occurring_in_each(self, texts: Sequence[str], data: bytes) -> Collection[int]:
        """As `occurring` in each text: `place * n + key` for the text of that place, n the number of keys.

        `data`: the UTF-8 of the texts, one after another.

        PERF: a call of the automaton costs as much as 200 characters do, so it is given the texts in one piece, as
        long as a chunk is. What it finds across the border of two of them is none.
        """
        n_keys = len(self._keys)
        if self._automaton is None:
            return {
                place * n_keys + key
                for key, atom in enumerate(self._few)
                for place, text in enumerate(texts)
                if atom in text
            }
        if len(data) >= _KERNEL_BYTES and "profilec.runtime.kernels" in sys.modules:
            hits = self._found_by_kernel(texts, data)
            if hits is not None:
                return hits
        found: set[int] = set()
        piece: list[bytes] = []
        first = n = 0
        for place, own in enumerate(map(str.encode, texts)):
            length = len(own)
            if n + length > _CHUNK:
                self._find_in_piece(piece, first, found)
                piece, first, n = [], place, 0
                if length > _CHUNK:
                    found.update(place * n_keys + key for key in self.occurring(texts[place], own))
                    first = place + 1
                    continue
            piece.append(own)
            n += length
        self._find_in_piece(piece, first, found)
        return found

    def _found_by_kernel(self, texts: Sequence[str], data: bytes) -> list[int] | None:
        """None where that would take too long."""
        from profilec.runtime.atom_kernels import NO_ROOM, find_atoms

        if self._index is None:
            self._index = _index_of(self._names)
        is_ascii = len(data) == sum(map(len, texts))
        lengths = map(len, texts if is_ascii else map(str.encode, texts))
        ends = np.cumsum(np.fromiter(lengths, np.int64, len(texts)))
        bytes_ = np.frombuffer(data, np.uint8)
        hits, n = np.empty(max(1_024, 4 * len(texts)), np.int64), NO_ROOM
        while n == NO_ROOM:
            hits = np.empty(4 * len(hits), np.int64)
            n = find_atoms(bytes_, ends, *self._index, np.full(len(self._names), -1, np.int32), hits)
        found: list[int] = hits[:n].tolist()
        return None if n < 0 else found

    def _find_in_piece(self, piece: Sequence[bytes], first: int, found: set[int]) -> None:
        """Adds what occurs in each of the texts; the place of the first is `first`."""
        hits = self._automaton.find_matches_as_indexes(b"".join(piece), overlapping=True)
        n_keys = len(self._keys)
        ends = list(accumulate(map(len, piece)))
        for key, start, end in hits:
            place = bisect_right(ends, start)
            if end <= ends[place]:
                found.add((first + place) * n_keys + key)


def _automaton(keys: list[bytes]) -> Any:
    from ahocorasick_rs import BytesAhoCorasick

    return BytesAhoCorasick(keys)


def _csr(lists: Sequence[Sequence[int]]) -> _Csr:
    """The offsets and elements of lists one after another."""
    return np.cumsum([0, *map(len, lists)]), np.array(list(chain.from_iterable(lists)), np.int32)


class _Index(NamedTuple):
    """What `find_atoms` reads."""

    names: NDArray[np.uint8]
    name_off: Int32
    buckets: Int32
    following: Int32
    marks: NDArray[np.uint64]
    windows: Int32
    lengths: int
    shift: int


def _index_of(names: Sequence[bytes]) -> _Index:
    """PERF: the window of an atom is the one that fewest atoms have: what many have, most texts have as well."""
    from profilec.runtime.atom_kernels import hash_of

    n = len(names)
    bits = min(_MOST_BITS, max(_LEAST_BITS, (64 * n).bit_length()))
    shift = 32 - bits
    ends = [range(4, min(len(name), _MOST_WINDOWS) + 1) for name in names]
    shared = Counter(name[end - 4 : end] for name, own in zip(names, ends, strict=True) for end in own)
    buckets, following = np.full(1 << bits, -1, np.int32), np.full(n, -1, np.int32)
    windows = np.empty(n, np.int32)
    lengths = 0
    for atom, name in enumerate(names):
        length = 4 if len(name) >= 4 else 2 if len(name) >= 2 else 1
        end = min(ends[atom], key=lambda end: shared[name[end - 4 : end]]) if length == 4 else length
        window = int.from_bytes(name[end - length : end], "big")
        bucket = int(hash_of(np.uint64(window), np.uint64(length), np.uint64(shift)))
        windows[atom], following[atom], buckets[bucket] = end, buckets[bucket], atom
        lengths |= length
    marks = np.packbits(buckets >= 0, bitorder="little").view(np.uint64)
    off = np.cumsum([0, *map(len, names)], dtype=np.int32)
    return _Index(np.frombuffer(b"".join(names), np.uint8), off, buckets, following, marks, windows, lengths, shift)
