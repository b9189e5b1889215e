"""A uniform sample of a stream of documents, in one pass.

In: how many documents come. Out: which of them enter the sample, and in whose place.

Algorithm L (Kim-Hung Li, Reservoir-Sampling Algorithms of Time Complexity O(n(1 + log(N/n))), 1994): how many
documents to pass over is drawn, so that those passed over cost nothing, and need not even be read from a table.
Two samples are merged by drawing, as often as there is room, from either with the probability that the next document
of all those seen is one of its own.

Invariant: each document seen is in the sample with the same probability. The same documents give the same sample.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from typing import Any

_SEED = 20_010_901


class Reservoir:
    """At most `capacity` of the items offered.

    >>> reservoir = Reservoir(2)
    >>> reservoir.extend("abcdef")
    >>> len(reservoir.items), reservoir.n_seen
    (2, 6)
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.n_seen = 0
        self.items: list[Any] = []
        self._random = random.Random(_SEED)
        self._weight = 1.0
        self._next = 0
        """The number of the next item that enters."""

    def places(self, n: int) -> Iterator[tuple[int, int]]:
        """Of the next n items those that enter, counted from 0, each with its place in `items`; to be used up."""
        start, end = self.n_seen, self.n_seen + n
        self.n_seen = end
        while self._next < end:
            number = self._next
            place = number if number < self.capacity else self._random.randrange(self.capacity)
            if number + 1 < self.capacity:
                self._next = number + 1
            else:
                self._weight *= math.exp(math.log(_positive(self._random)) / self.capacity)
                self._skip(number)
            yield number - start, place

    def extend(self, items: Sequence[Any]) -> None:
        """Offers these items."""
        for number, place in self.places(len(items)):
            self.put(place, items[number])

    def put(self, place: int, item: Any) -> None:
        """Lets an item enter at the place that `places` told."""
        if place == len(self.items):
            self.items.append(item)
        else:
            self.items[place] = item

    def halve(self) -> None:
        """Keeps a random half of what there is, and no more than that from now on."""
        self.capacity = max(1, len(self.items) // 2)
        self.items = self._random.sample(self.items, min(self.capacity, len(self.items)))
        self.restart()

    def merged(self, other: Reservoir) -> Reservoir:
        """A uniform sample of what both have seen; neither changes."""
        merged = Reservoir(min(self.capacity, other.capacity))
        rng = merged._random
        sides = [(self.n_seen, rng.sample(self.items, len(self.items)))]
        sides.append((other.n_seen, rng.sample(other.items, len(other.items))))
        while len(merged.items) < merged.capacity and any(n for n, _ in sides):
            from_first = rng.randrange(sides[0][0] + sides[1][0]) < sides[0][0]
            n, items = sides[not from_first]
            if not items:  # fewer were kept than are asked for: what is there is all that can be uniform
                break
            merged.items.append(items.pop())
            sides[not from_first] = (n - 1, items)
        merged.n_seen = self.n_seen + other.n_seen
        merged.restart()
        return merged

    def restart(self) -> None:
        """Goes on behind `n_seen` as if all of them had come here."""
        if self.n_seen < self.capacity:
            self._next = self.n_seen
            return
        # The weight of a reservoir that has seen n: the capacity-th smallest of n uniform numbers, near capacity / n.
        self._weight = self._random.betavariate(self.capacity, self.n_seen - self.capacity + 1)
        self._skip(self.n_seen - 1)

    def _skip(self, number: int) -> None:
        """Draws how many items are passed over behind this one: each enters with the probability `weight`."""
        if self._weight >= 1.0:
            self._next = number + 1
            return
        gap = math.log(_positive(self._random)) / math.log1p(-self._weight)
        self._next = number + 1 + int(min(gap, 2.0**62))


def _positive(rng: random.Random) -> float:
    """A number in (0, 1]."""
    return 1.0 - rng.random()
