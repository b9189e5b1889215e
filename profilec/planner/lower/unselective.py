"""The entries by which an index has little to gain, worst first, and why.

In: an image, and what is expected of its tests. Out: entries that are looked at for more than MOST_SHARE of the
documents, with that share.
"""

from __future__ import annotations

import numpy as np

from profilec.planner.lower.expected import Expected
from profilec.runtime.image import OP_JOIN, OP_JOIN_NOT, Image

MOST_SHARE = 0.25
MOST_KEPT = 1_000


def unselective(image: Image, expected: Expected) -> tuple[int, tuple[tuple[int, float], ...]]:
    """How many there are; and of the worst MOST_KEPT the entry and the share of documents for which it is looked at."""
    shares = np.ones(image.n_entries)
    has_access = image.entry_access >= 0
    shares[has_access] = np.minimum(expected.shares[image.entry_access[has_access]], 1.0)
    chosen = np.flatnonzero(~has_access | (shares > MOST_SHARE))
    worst = chosen[np.argsort(-shares[chosen], kind="stable")][:MOST_KEPT]
    return len(chosen), tuple((entry, round(float(shares[entry]), 4)) for entry in worst.tolist())


def reason(image: Image, entry: int, share: float) -> tuple[str, str]:
    """Why an entry is looked at so often, and what would help."""
    if image.entry_access[entry] >= 0:
        told = f"{share:.0%} of the documents satisfy the most selective of its predicates"
        return told, "add one that few documents satisfy: an equality, or a narrower range"
    if image.entry_off[entry] < image.entry_off[entry + 1]:
        told = "each of its predicates holds for documents that lack the attribute, or is a negated pattern"
        return told, "add one that must be TRUE: an equality, a range, a pattern"
    residual = int(image.entry_residual[entry])
    if residual < 0:
        return "it holds for every document", "add a condition"
    code = image.residual_code[image.residual_off[residual] : image.residual_off[residual + 1]]
    if np.isin(code[:, 0], (OP_JOIN, OP_JOIN_NOT)).any():
        return "earlier documents decide it", "add a condition on the new document alone"
    return "a branch of its OR gives no access", "add a condition that holds for all branches"
