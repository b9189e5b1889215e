"""Shapes: documents that have the same keys, with values of the same types, are encoded alike.

In: what an image does with keys (`Use`), and the keys, types and values of a document. Out: its ranks.

    keys     price    weight    name    hue         tags       of a document that is a dict, in its order
    types    int      float     str     NoneType    list
    words    itself   itself    rank                           one int64 or float64 each; a kernel ranks them
    others                                          tags       left to the general way; NULL has rank 0

PERF: what is decided of a shape is not asked of each value again, and no step of Python's is left for a number or a
string that is a constant. A shape is kept from the second document on, as long as there are few of them.

Invariant: a shape gives what the general way gives (`encode`); it is of the very types, and of none derived from them.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.columns import word_thresholds
from profilec.runtime.encode_rows import Use
from profilec.runtime.image import Int32
from profilec.runtime.ranking import PreparedSlot, Ranking
from profilec.values.kinds import Kind
from profilec.values.locks import new_lock

MOST_KEYS = 64
"""A document of more keys is encoded the general way."""
MOST_SHAPES = 1_024
_PATIENCE = 32
"""Documents until a shape is tried again of which the constants of a slot were not prepared (`Ranking`)."""

_Values: TypeAlias = tuple[Any, ...]
Key: TypeAlias = tuple[tuple[str, ...], tuple[type, ...]]
Words: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Shape:
    """How documents of one shape are encoded: `pack` writes their words, `rank` ranks these."""

    slots: Int32
    n_slots: int
    steps: Words
    rank: Callable[..., bool]
    """`encode_kernels.rank_document`."""
    pack: Callable[..., None]
    """Takes numbers, and ranks that are found in the tables. Raises struct.error for an integer of over 64 bits."""
    numbers: Callable[[_Values], _Values]
    tables: tuple[Mapping[Any, int], ...]
    looked_up: Callable[[_Values], _Values]
    other_keys: tuple[str, ...]
    others: Callable[[_Values], _Values]
    uses: Mapping[str, Use]
    """Of the other keys what is left to do."""


class Shapes:
    """The shapes of one image's documents, as they are met. Safe to share between threads."""

    def __init__(self, uses: Mapping[str, Use], always: Iterable[PreparedSlot]) -> None:
        """`always`: the slots that have a rank where nothing that they read is there."""
        self._uses = uses
        self._always = tuple(always)
        self.known: dict[Key, Shape | int] = {}
        """The shapes that are made; of others, how many documents are still to come before they are."""
        self._making = new_lock()
        self.thresholds = np.empty(0, np.int64)
        """Those of all shapes. It is replaced by a longer one; what is in it never moves."""
        self._first: dict[tuple[int, type], tuple[int, int]] = {}

    def meet(self, key: Key, wait: Any) -> Shape | None:
        """The shape, if it can be made by now. `wait`: for how many more documents it is not; None for its first."""
        if wait is None and len(self.known) >= MOST_SHAPES:
            self.known.clear()
        if wait != 0:
            self.known[key] = 0 if wait is None else wait - 1
            return None
        shape = None
        if "profilec.runtime.kernels" in sys.modules:  # PERF: a few documents take less time than Numba takes to load
            with self._making:
                shape = self._make(*key)
        self.known[key] = _PATIENCE if shape is None else shape
        return shape

    def _make(self, keys: tuple[str, ...], types: tuple[type, ...]) -> Shape | None:
        """None where the constants of a slot are not prepared."""
        from profilec.runtime.encode_kernels import NO_WORD, WORD_IS_FLOAT, WORD_IS_INTEGER, WORD_IS_RANK, rank_document

        numbers: list[tuple[int, int, str, tuple[int, ...]]] = []
        looked_up: list[tuple[int, int, Mapping[Any, int]]] = []
        others: dict[str, tuple[int, Use]] = {}
        for place, (key, kind) in enumerate(zip(keys, types, strict=True)):
            use = self._uses.get(key)
            if use is None:
                continue
            slot, ranking, rest = use
            if ranking is not None and kind is not type(None):
                if kind not in (int, float, str, bool):
                    others[key] = place, use
                    continue
                if not ranking.is_ready:
                    return None
                if kind is str:
                    looked_up.append((place, slot, ranking.of_string))
                elif kind is bool:
                    constants = ranking.constants
                    looked_up.append((place, slot, {truth: constants.rank(truth) for truth in (False, True)}))
                else:
                    sort = WORD_IS_FLOAT if kind is float else WORD_IS_INTEGER
                    step = sort, *self._range(slot, ranking, kind), ranking.constants.first(Kind.NUMBER)
                    numbers.append((place, slot, "d" if kind is float else "q", step))
            if rest is not None:
                others[key] = place, (-1, None, rest)
        slots = [*(slot for _, slot, _, _ in numbers), *(slot for _, slot, _ in looked_up)]
        fixed: list[int] = []
        for prepared in self._always:
            if not any(key in keys for key in prepared.keys):
                rank, matching = prepared.tell_absent()
                slots += (prepared.number, *matching)
                fixed += (rank, *[1] * len(matching))
        steps = [step for _, _, _, step in numbers]
        steps += [(WORD_IS_RANK, 0, 0, 0)] * len(looked_up)
        steps += [(NO_WORD, 0, 0, rank) for rank in fixed]
        return Shape(
            np.array(slots, np.int32),
            len(slots),
            np.array(steps, np.int64).reshape(-1),
            rank_document,
            struct.Struct("=" + "".join(letter for _, _, letter, _ in numbers) + "q" * len(looked_up)).pack_into,
            _getter([place for place, _, _, _ in numbers]),
            tuple(table for _, _, table in looked_up),
            _getter([place for place, _, _ in looked_up]),
            tuple(others),
            _getter([place for place, _ in others.values()]),
            {key: use for key, (_, use) in others.items()},
        )

    def _range(self, slot: int, ranking: Ranking, kind: type) -> tuple[int, int]:
        """Where the thresholds of a slot begin, and how many they are. They come to stay."""
        known = self._first.get((slot, kind))
        if known is None:
            from profilec.runtime.encode_kernels import float_keys

            added = word_thresholds(ranking, np.dtype(np.float64 if kind is float else np.int64))
            if kind is float:
                added = float_keys(added)
            known = len(self.thresholds), len(added)
            self.thresholds = np.concatenate((self.thresholds, added))
            self._first[slot, kind] = known  # last: whoever is interrupted before leaves what nobody refers to
        return known


def _getter(places: list[int]) -> Callable[[_Values], _Values]:
    """The values at these places, which ascend; as a tuple also where there is one place, or none."""
    if not places:
        return itemgetter(slice(0, 0))
    if places[-1] - places[0] + 1 == len(places):
        return itemgetter(slice(places[0], places[-1] + 1))
    return itemgetter(*places)
