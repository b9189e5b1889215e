"""What asking joins comes to for a document, with the pre-filter and without it.

In: an image, sampled documents or none. Out: a `JoinLoad`.

The sampled documents are taken for the earlier ones: what cannot match with these is what the pre-filter would pass
over, in a store that has grown as large.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from profilec.runtime.image import Image
from profilec.runtime.joins.table import rows_of


class JoinLoad(NamedTuple):
    """`ns`: what it takes to ask all rows of the join table, over as many earlier documents as assumed; `ns_left`: the
    rows that are left where the pre-filter passes over entries, None where no sample tells; `n_lines`: the expressions
    over the earlier documents that it counts."""

    ns: float = 0.0
    ns_left: float | None = None
    n_lines: int = 0


def join_load(image: Image, sample: Sequence[Any] | None) -> JoinLoad:
    """Of the image's join terms."""
    if not image.joins:
        return JoinLoad()
    ns = np.array([sum(best.ns for best, *_ in row.ways(None)) for row in rows_of(image.joins)])
    if not sample:
        return JoinLoad(float(ns.sum()))
    from profilec.runtime.joins.phase import JoinPhase
    from profilec.runtime.store.documents import DocumentStore

    store = DocumentStore(sample)
    phase = JoinPhase(image)
    is_left = np.ones(len(ns), np.bool_)
    is_left[phase.rows_of(np.flatnonzero(phase.literals.alone).astype(np.int32))] = False
    with store.reading():
        survivors = phase.survivors(store)
    assert survivors is not None
    assert phase.prefilter is not None
    is_left[survivors.rows] = True
    return JoinLoad(float(ns.sum()), float(ns[is_left].sum()), phase.prefilter.n_lines)
