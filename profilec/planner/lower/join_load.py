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


MOST_DOCUMENTS = 200
MOST_LINES = 16
"""Expressions over the earlier documents up to which it is looked what the pre-filter would do: each has to be told of
each document."""


def join_load(image: Image, sample: Sequence[Any] | None) -> JoinLoad:
    """Of the image's join terms."""
    if not image.joins:
        return JoinLoad()
    ns = np.array([sum(best.ns for best, *_ in row.ways(None)) for row in rows_of(image.joins)])
    if not sample:
        return JoinLoad(float(ns.sum()))
    from profilec.runtime.joins.phase import JoinPhase
    from profilec.runtime.store.documents import DocumentStore

    phase = JoinPhase(image)
    prefilter = phase.made_prefilter()
    if prefilter.n_lines > MOST_LINES:
        return JoinLoad(float(ns.sum()))
    store = DocumentStore(sample[:MOST_DOCUMENTS])
    is_left = np.ones(len(ns), np.bool_)
    is_left[phase.rows_of(np.flatnonzero(phase.literals.alone).astype(np.int32))] = False
    with store.reading():
        is_left[prefilter.survivors(store).rows] = True
    return JoinLoad(float(ns.sum()), float(ns[is_left].sum()), prefilter.n_lines)
