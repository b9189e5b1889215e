"""How the tree's attributes and nodes are ranked: BE-Tree's cost-based ranking function (BE-Tree, 5).

In: nothing. Out: `Ranking`, which options hold, images keep and kernels read.

    Rank = beta * Gain - gamma * Loss
    Gain = alpha_s * subsumed predicates + alpha_c * covered ones; of an attribute, the expressions that ask for it
    Loss = predicate evaluations that a document is expected to spend on expressions that it then does not match
"""

from __future__ import annotations

from typing import NamedTuple

RANKINGS = ("cost", "optimistic", "histogram")
BY_COST, OPTIMISTIC, HISTOGRAM = range(3)
WEIGHTS = ("beta", "gamma", "alpha_s", "alpha_c")


class Ranking(NamedTuple):
    """`by`: BY_COST, no ranking at all; OPTIMISTIC, the loss of an attribute is 0 until it is seen; HISTOGRAM, until
    then it is the average bucket size of a histogram. The weights are from 0 to 1. A node that ranks below `threshold`
    (theta) is taken apart when the tree is made again."""

    by: int = BY_COST
    beta: float = 1.0
    gamma: float = 1.0
    alpha_s: float = 1.0
    alpha_c: float = 1.0
    threshold: float = 0.0


NOT_RANKED = Ranking()
