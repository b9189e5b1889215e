"""`counting`: the counting algorithm of SIFT (Yan and Garcia-Molina, TODS 19(2), 1994), over ranks.

In: sparse documents. Out: the entries all of whose rank tests hold. Each slot has a directory from ranks to the tests
that hold there; each test found counts down the entries that have it, and an entry that gets to zero is found. An
entry without tests that assert (`rank_tests`) is found unless it is refuted.

The paper's index maps a word to the profiles that have it. A rank is such a word, but a test may hold at many of them:
n ranges over n ranks would be n * n postings. Decided here: a test is filed at the canonical nodes of its intervals
(`canonical_nodes`), and a rank looks at the nodes that it lies under. Tests are stored at nodes, entries at tests,
each once however many nodes there are, for the planner makes equal tests one:

    node_off      2 a rank
    node_tests    tests by node: O(tests * log ranks)
    of_test_off   1 a test
    of_test       places of entries by test: each entry as often as it has tests

PERF: counters are placed by the first test of their entries, for entries that share it mostly share others.

Cost for a document: log2(ranks) nodes for each attribute, and one step for each test of an entry that holds. No test
that fails is looked at, and nothing is reset (`counters`).

Invariant: a test is found at one node at most for a rank, so an entry is counted down once for each of its tests.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import Int32
from profilec.runtime.indexes.posting_lists import offsets
from profilec.runtime.kernels import kernel
from profilec.runtime.matchers.betree.match import set_bit, take_bits
from profilec.runtime.matchers.canonical_nodes import canonical_nodes
from profilec.runtime.matchers.counters import (
    Scratch,
    count,
    is_untouched,
    next_document,
    refute,
)
from profilec.runtime.matchers.rank_tests import RankTests


class Directory(NamedTuple):
    """Slot s has the nodes from `first_node[s]` on (-1: it has none), and `n_ranks[s]` of ranks.

    The entry at place p, `entry[p]`, is found when `needed[p]` of its tests were; those at `unasserted` need none.
    """

    first_node: Int32
    n_ranks: Int32
    node_off: Int32
    node_tests: Int32
    of_test_off: Int32
    of_test: Int32
    refutes: NDArray[np.bool_]
    entry: Int32
    needed: Int32
    unasserted: Int32

    @classmethod
    def of(cls, tests: RankTests) -> Directory:
        """Files all tests."""
        n_tests, n_ranks = len(tests.slot), tests.n_ranks
        is_used = np.zeros(tests.n_slots, np.bool_)
        is_used[tests.slot] = True
        n_nodes = np.where(is_used, 2 * n_ranks.astype(np.int64), 0)
        first_node = np.cumsum(n_nodes) - n_nodes
        off, low, high = tests.of_present()
        test = np.repeat(np.arange(n_tests, dtype=np.int32), np.diff(off))
        intervals, nodes = canonical_nodes(n_ranks[tests.slot[test]], low, high)
        test = test[intervals]
        nodes += first_node[tests.slot[test]]
        refutes = tests.refutes
        entry = _placed(tests)
        place_of = np.empty_like(entry)
        place_of[entry] = np.arange(len(entry), dtype=np.int32)
        places = place_of[tests.owners]
        needed = np.bincount(places[~refutes[tests.tests]], minlength=len(entry)).astype(np.int32)
        return cls(
            np.where(is_used, first_node, -1).astype(np.int32),
            n_ranks.copy(),
            offsets(nodes, int(n_nodes.sum())),
            test[np.argsort(nodes, kind="stable")],
            offsets(tests.tests, n_tests),
            places[np.lexsort((places, tests.tests))],
            refutes,
            entry,
            needed,
            np.flatnonzero(needed == 0).astype(np.int32),
        )


def _placed(tests: RankTests) -> Int32:
    """The entries in the order of their first tests; those without one first."""
    leading = np.full(len(tests.entries), -1, np.int32)
    filled = tests.off[1:] > tests.off[:-1]
    leading[filled] = tests.tests[tests.off[:-1][filled]]
    return np.argsort(leading, kind="stable").astype(np.int32)


class CountingFinder:
    """See the module."""

    __slots__ = ("_given", "directory", "n_entries")

    def __init__(self, tests: RankTests) -> None:
        self.directory = Directory.of(tests)
        self._given = tuple(self.directory)
        self.n_entries = len(tests.entries)

    def scratch(self) -> Scratch:
        """What one thread writes."""
        return Scratch.of(self.n_entries)

    def find(
        self,
        scratch: Scratch,
        doc_off: NDArray[np.int64],
        slots: Int32,
        ranks: Int32,
        first: int,
        off: NDArray[np.int64],
        out: Int32,
    ) -> int:
        """See `SparseFinder`."""
        return int(count_documents(doc_off, slots, ranks, first, self._given, tuple(scratch), off, out))


@kernel
def count_documents(
    doc_off: Any, slots: Any, ranks: Any, first: int, given: Any, scratch: Any, off: Any, out: Any
) -> int:
    """The entries of documents from `first` on, as many documents as `out` has room for; the number of the next."""
    directory = Directory(*given)
    state, bits, summary = scratch
    n = 0
    for document in range(first, len(doc_off) - 1):
        if n + len(directory.entry) + 2 > len(out):
            return document
        base = next_document(state)
        for i in range(doc_off[document], doc_off[document + 1]):
            slot = slots[i]
            if slot >= len(directory.first_node):  # a pseudo-slot
                continue
            first_node = directory.first_node[slot]
            if first_node < 0:
                continue
            node = directory.n_ranks[slot] + ranks[i]
            while node > 0:
                for k in range(directory.node_off[first_node + node], directory.node_off[first_node + node + 1]):
                    test = directory.node_tests[k]
                    refutes = directory.refutes[test]
                    for j in range(directory.of_test_off[test], directory.of_test_off[test + 1]):
                        place = directory.of_test[j]
                        if refutes:
                            refute(state, base, directory.needed, place, directory.entry[place], bits)
                        elif count(state, base, directory.needed, place):
                            set_bit(bits, summary, directory.entry[place])
                node >>= 1
        for i in range(len(directory.unasserted)):
            place = directory.unasserted[i]
            if is_untouched(state, base, place):
                set_bit(bits, summary, directory.entry[place])
        n = take_bits(bits, summary, out, n)
        off[document + 1] = n
    return len(doc_off) - 1
