"""The documents that a set matches, as far as a plan wants to know of them.

In: documents, one after the other. Out: statistics of the last ones; and now and then the moment to look whether the
plan is still a good one.

One document in STRIDE is kept, at random, and of these the last KEPT, so that what documents were like long ago does
not count.

PERF: a document that is passed over costs an addition and a comparison.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from profilec.planner.statistics import Statistics
from profilec.runtime.store.copies import copied
from profilec.values.kinds import DocumentError
from profilec.values.locks import new_lock

STRIDE = 16
KEPT = 1_000
BETWEEN = 250
"""Documents kept between two looks at the plan."""


class Observed:
    """Safe to use from several threads; of documents that come at the same time, some may not be counted.

    >>> observed = Observed()
    >>> for number in range(1_000):
    ...     observed.saw({"n": number})
    >>> 30 < observed.statistics().n_documents < 120
    True
    """

    def __init__(self, when_due: Callable[[], object] | None = None) -> None:
        """`when_due`: called when it is time to look at the plan."""
        self._when_due = when_due
        self._kept: deque[Any] = deque(maxlen=KEPT)
        self._lock = new_lock()
        self._random = random.Random(1)
        self._n = 0
        self._next = 1
        self._n_kept = 0

    def saw(self, document: Mapping[str, Any]) -> None:
        """Takes note of a document."""
        self._n += 1
        if self._n >= self._next:
            self._next = self._n + self._gap()
            self._keep(document)

    def saw_many(self, n: int, at: Callable[[list[int]], Iterable[Mapping[str, Any]]]) -> None:
        """Takes note of n documents, of which `at` gives those of some places; it is asked only where some are kept."""
        places = []
        with self._lock:
            first = self._n
            self._n += n
            while self._next <= self._n:
                place = max(self._next - first, 1)
                places.append(place - 1)
                self._next = first + place + self._gap()
        for document in at(places) if places else ():
            self._keep(document)

    def statistics(self) -> Statistics:
        """Of the last documents kept."""
        with self._lock:
            kept = list(self._kept)
        return Statistics.of(kept, KEPT)

    def _gap(self) -> int:
        return self._random.randint(1, 2 * STRIDE - 1)

    def _keep(self, document: Mapping[str, Any]) -> None:
        try:
            copy = copied(document)
            Statistics.of([copy])
        except DocumentError:  # an attribute that no profile asks for may hold anything
            return
        with self._lock:
            self._kept.append(copy)
            self._n_kept += 1
            is_due = self._n_kept % BETWEEN == 0
        if is_due and self._when_due is not None:
            self._when_due()
