"""Arrays that grow at their end: what is appended costs its own size, on average."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Growing:
    """A one-dimensional array with room behind its `n` elements. `fill` is what room holds."""

    __slots__ = ("_room", "fill", "n")

    def __init__(self, dtype: Any, fill: int = 0) -> None:
        self._room: NDArray[Any] = np.full(16, fill, dtype)
        self.fill = fill
        self.n = 0

    @property
    def array(self) -> NDArray[Any]:
        """The elements; a view, good until the next change."""
        return self._room[: self.n]

    def __getitem__(self, place: Any) -> Any:
        return self._room[place]

    def __setitem__(self, place: Any, value: Any) -> None:
        self._room[place] = value

    def item(self, place: int) -> Any:
        """An element as Python has it. PERF: half the time of indexing, which makes an object of numpy's first."""
        return self._room.item(place)

    def append(self, value: Any) -> None:
        place = self.n
        self.resize(place + 1)
        self._room[place] = value

    def extend(self, values: Any) -> None:
        start = self.n
        self.resize(start + len(values))
        self._room[start : self.n] = values

    def resize(self, n: int) -> None:
        """Elements that are new hold `fill`."""
        if n > len(self._room):
            room = np.full(max(n, 2 * len(self._room)), self.fill, self._room.dtype)
            room[: self.n] = self._room[: self.n]
            self._room = room
        self.n = n
