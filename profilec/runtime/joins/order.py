"""Which phase goes first for a document: constants, or joins (Tatbul 2001, 4.3.1).

    constant_first    k log N + j' log D: the constant phase, then the join terms that its survivors still need
    join_first        j log D + k' log N: all join terms, then the constants of the entries whose joins hold

In: how many rows the join table has, how many documents the store, and what came of earlier documents. Out: the order
that is expected to cost less. j' (rows that survivors need, and how many survive) and k' (entries whose joins hold)
cannot be known before the document; they are what the order saw when it was last tried, and it is tried again
after four times as many documents, or when the store has grown fourfold.
"""

from __future__ import annotations

import math
from typing import NamedTuple

CONSTANT_FIRST, JOIN_FIRST = "constant_first", "join_first"
PHASE_ORDERS = (CONSTANT_FIRST, JOIN_FIRST)


class Costs(NamedTuple):
    """Unit costs in ns, for each document: `probe` of a row of the join table, and `step` more for each doubling of
    the store; `walk`, the constant phase, and `survivor` for each entry that survives it; `look_up`, to find the
    entries whose joins hold, and `held` for the constants of each of these; `literal` for each literal of a term."""

    probe: float
    step: float
    walk: float
    survivor: float
    look_up: float
    held: float
    literal: float


ALONE = Costs(probe=4_000, step=50, walk=8_000, survivor=1_000, look_up=30_000, held=400, literal=3)
IN_BATCH = Costs(probe=400, step=10, walk=400, survivor=150, look_up=50, held=150, literal=2)


class PhaseOrder:
    """Chooses for one image and one store. `forced`: an order of PHASE_ORDERS, or None."""

    def __init__(self, forced: str | None, unit: Costs, n_rows: int, n_literals: int, n_entries: int) -> None:
        self._forced = forced
        self._unit = unit
        self._n_rows = n_rows
        self._n_literals = n_literals
        self._n_asked = 0
        self._next_trial = 2
        self._size = 0
        self.survivors = n_entries / 100
        """Entries that survive the constant phase, and the rows that these need; entries whose joins hold."""
        self.rows_needed = min(float(n_rows), self.survivors)
        self.held = n_entries / 2

    def choose(self, n_documents: int, n_rows: int | None = None) -> str:
        """The order for the next document. `n_documents`: of the store; `n_rows`: those of the join table that are left
        to ask, None for all."""
        if self._forced is not None:
            return self._forced
        if n_documents > 4 * self._size:
            self._size, self._n_asked, self._next_trial = max(n_documents, 1), 0, 2
        self._n_asked += 1
        costs = self.costs(n_documents, n_rows)
        best = min(costs, key=costs.__getitem__)
        if self._n_asked == self._next_trial:
            self._next_trial *= 4
            return PHASE_ORDERS[1 - PHASE_ORDERS.index(best)]
        return best

    def costs(self, n_documents: int, n_rows: int | None = None) -> dict[str, float]:
        """What each order is expected to cost, in ns."""
        unit = self._unit
        probe = unit.probe + unit.step * math.log2(n_documents + 1)
        all_rows = (self._n_rows if n_rows is None else n_rows) * probe + self._n_literals * unit.literal
        return {
            CONSTANT_FIRST: unit.walk + self.survivors * unit.survivor + self.rows_needed * probe,
            JOIN_FIRST: all_rows + unit.look_up + self.held * unit.held,
        }

    def saw_survivors(self, n_entries: float, n_rows: float) -> None:
        """Of a document whose constants came first."""
        self.survivors = _moved(self.survivors, n_entries)
        self.rows_needed = _moved(self.rows_needed, n_rows)

    def saw_held(self, n_entries: float) -> None:
        """Of a document whose joins came first."""
        self.held = _moved(self.held, n_entries)


def _moved(mean: float, seen: float) -> float:
    return mean + (seen - mean) / 4
