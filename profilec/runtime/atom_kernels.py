"""Kernel of patterns: which literals occur in which of many texts.

    data         uint8: the UTF-8 of the texts, one after another; read-only, as `names`
    ends         int64 [n]: where each text ends
    names        uint8: the atoms; `name_off`, int32 [n_atoms + 1], cuts them
    buckets      int32 [2 ** (32 - shift)]: for a hash the first atom whose window has it, or -1
    following    int32 [n_atoms]: the next with that hash, or -1
    marks        uint64: bit h is set where bucket h is not empty
    windows      int32 [n_atoms]: where the window of an atom ends in it

The window of an atom is 4, 2 or 1 of its bytes, of a length that `lengths`, a mask, tells of.

PERF: at most bytes of a text no atom's window ends; `marks` tells, out of the nearest cache. No step waits for the
one before, as those of an automaton do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.kernels import inlined, kernel

TOO_MUCH_WORK, NO_ROOM = -1, -2
_WORK_PER_BYTE = 8
_LEAST_WORK = 65_536
# Unsigned throughout: Numba would otherwise ask of each index whether it counts from the end.
_WORD = np.uint64(0xFFFF_FFFF)
_MULTIPLIER = np.uint64(0x5E37_79B1)
_PAIR = np.uint64(0xFFFF)
_BYTE = np.uint64(0xFF)
_1, _2, _4, _6, _8, _63 = (np.uint64(number) for number in (1, 2, 4, 6, 8, 63))


@inlined
def hash_of(window: np.uint64, length: np.uint64, shift: np.uint64) -> np.uint64:
    """Of a window of so many bytes, in one integer; it has 32 - `shift` bits."""
    return (((window + length) * _MULTIPLIER) & _WORD) >> shift


@inlined
def _is_marked(marks: NDArray[Any], bucket: np.uint64) -> Any:
    return (marks[bucket >> _6] >> (bucket & _63)) & _1


@kernel
def find_atoms(
    data: NDArray[Any], ends: NDArray[Any], names: NDArray[Any], name_off: NDArray[Any], buckets: NDArray[Any],
    following: NDArray[Any], marks: NDArray[Any], windows: NDArray[Any], lengths: int, shift: int, seen: NDArray[Any],
    hits: NDArray[Any],
) -> int:  # fmt: skip
    """Fills `hits`, int64, with `text * n_atoms + atom`, each once, and gives their number; NO_ROOM where it is short.

    `seen`, int32 [n_atoms], is filled with -1. TOO_MUCH_WORK: the texts are full of windows, and what is to be
    compared there is more than a few times their length.
    """
    n_atoms = len(name_off) - 1
    work = _WORK_PER_BYTE * len(data) + _LEAST_WORK
    by = np.uint64(shift)
    has_long, has_pairs, has_bytes = lengths & 4 != 0, lengths & 2 != 0, lengths & 1 != 0
    is_short = has_pairs or has_bytes
    n_hits = 0
    start = 0
    for text in range(len(ends)):
        end = ends[text]
        last = np.uint64(0)
        for i in range(start, end):
            last = ((last << _8) | np.uint64(data[np.uint64(i)])) & _WORD
            marked = _is_marked(marks, hash_of(last, _4, by))
            if is_short:
                if has_pairs:
                    marked |= _is_marked(marks, hash_of(last & _PAIR, _2, by))
                if has_bytes:
                    marked |= _is_marked(marks, hash_of(last & _BYTE, _1, by))
            if not marked:
                continue
            for way in range(3):
                if way == 0 and has_long:
                    bucket = hash_of(last, _4, by)
                elif way == 1 and has_pairs:
                    bucket = hash_of(last & _PAIR, _2, by)
                elif way == 2 and has_bytes:
                    bucket = hash_of(last & _BYTE, _1, by)
                else:
                    continue
                atom = buckets[bucket]
                while atom >= 0:
                    first = i + 1 - windows[atom]
                    low, high = name_off[atom], name_off[atom + 1]
                    work -= 1
                    if seen[atom] != text and first >= start and first + high - low <= end:
                        at = low
                        while at < high and data[first + at - low] == names[at]:
                            at += 1
                        work -= at - low
                        if at == high:
                            if n_hits == len(hits):
                                return NO_ROOM
                            seen[atom] = text
                            hits[n_hits] = text * n_atoms + atom
                            n_hits += 1
                    atom = following[atom]
            if work < 0:
                return TOO_MUCH_WORK
        start = end
    return n_hits
