"""A BE-Tree while its subscriptions change from one distribution to the other and back (BE-Tree, 7.3, Figure 13).

In: nothing. Out: matching times of the tree that was changed, and of one that is built anew of the same subscriptions.

Two workloads of a match probability of 0.1%, uniform and Zipf. First the tree has all of one; then, step by step, some
of its subscriptions are deleted and as many of the other inserted, each individually, until it has only these; then
back. At each step a fixed event workload runs, half of it of the uniform bases and half of Zipf's, after which leaves
of a rank below zero are recycled (5) and it is timed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import cycle

import begen
import numpy as np
from baselines.be_tree import BETree
from baselines.rank_tests import RankTests
from baselines.value_tests import value_tests
from conjunctions import concatenated
from measure import interleaved
from seeds.chart import Axis, Chart
from seeds.contests import CLOCK, QUICK, WHOLE, n_documents

from profilec.planner.lower.betree.costs import max_cap
from profilec.runtime.image import Int32

_PROBABILITY = 0.001


def adapting(half: str, quick: bool) -> Chart:
    """Half a: from uniform to Zipf and back; half b: from Zipf to uniform and back."""
    n, n_steps = (300, 2) if quick else (20_000, 5)
    uniform = begen.Parameters(n, match_probability=_PROBABILITY)
    zipf = replace(uniform, zipf=1.0, seed=2)
    both = (uniform, zipf) if half == "a" else (zipf, uniform)
    tests = value_tests(concatenated([begen.profiles(own) for own in both]))
    documents = _documents(both, n_documents(quick) // 2)
    tree = BETree(tests, max_cap(_PROBABILITY))
    rng = np.random.default_rng(1)
    first, second = (start + rng.permutation(n).astype(np.int32) for start in (0, n))
    there = first
    tree.insert(there)
    points = [_measured(tree, tests, there, documents, quick)]
    for leaving, coming in ((first, second), (second, first)):
        for step in range(n_steps):
            of_step = slice(n * step // n_steps, n * (step + 1) // n_steps)
            tree.delete(leaving[of_step])
            tree.insert(coming[of_step])
            there = np.concatenate((leaving[of_step.stop :], coming[: of_step.stop]))
            points.append(_measured(tree, tests, there, documents, quick))
    xs = [100 * number / n_steps for number in range(len(points))]
    series = {
        "BE": [(x, adapted) for x, (adapted, _) in zip(xs, points, strict=True)],
        "BE, built anew": [(x, anew) for x, (_, anew) in zip(xs, points, strict=True)],
    }
    way = "uniform to Zipf to uniform" if half == "a" else "Zipf to uniform to Zipf"
    axis = Axis("subscriptions replaced (%)")
    return Chart(f"sadoghi2011_fig13{half}", f"Dynamic workload, {way}", axis, Axis("matching time (us)"), series)


def _documents(both: tuple[begen.Parameters, begen.Parameters], n_each: int) -> list[tuple[Int32, Int32]]:
    """Slots and values, of one workload and the other in turn."""
    found = []
    for own in both:
        generated = begen.documents(own, n_each)
        parts = np.split(generated.slots, generated.off[1:-1]), np.split(generated.values, generated.off[1:-1])
        found.append(list(zip(*parts, strict=True)))
    return [document for pair in zip(*found, strict=True) for document in pair]


def _measured(
    tree: BETree, tests: RankTests, there: Int32, documents: list[tuple[Int32, Int32]], quick: bool
) -> tuple[float, float]:
    """Microseconds a document, of the tree and of one of the same entries.

    Raises:
        AssertionError: they do not find the same.
    """
    for document in documents:
        tree.candidates_of(*document)
    tree.recycle()
    anew = BETree(tests, max_cap(_PROBABILITY))
    anew.insert(np.sort(there))
    for document in documents:
        assert np.array_equal(tree.candidates_of(*document), anew.candidates_of(*document))

    def run_of(own: BETree) -> Callable[[int], None]:
        turns = cycle(documents)

        def run(n: int) -> None:
            for _ in range(n):
                own.candidates_of(*next(turns))

        return run

    runs = {"tree": run_of(tree), "anew": run_of(anew)}
    took = interleaved(runs, whole={}, effort=QUICK if quick else WHOLE, clock=CLOCK)
    return took["tree"] * 1e6, took["anew"] * 1e6
