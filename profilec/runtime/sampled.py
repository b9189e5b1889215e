"""A sample of documents in rank space.

In: documents, as a batch has them. Out: each one's slots, pseudo-slots included, and its ranks there, as CSR; and some
of the texts that patterns are asked of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.columns import n_rows_of
from profilec.runtime.encode import SparseBatch
from profilec.runtime.encode_elements import encoder_of
from profilec.runtime.image import Image, Int32
from profilec.runtime.program import run

MOST_TEXTS = 500
"""Documents whose texts are kept, evenly spread."""


class Sampled(NamedTuple):
    """Document d has the ranks `ranks[off[d]:off[d + 1]]` in `slots[…]`, and rank 0 in the others. `texts`: by slot
    that has patterns, some documents' values that are strings."""

    off: NDArray[np.int64]
    slots: Int32
    ranks: Int32
    texts: Mapping[int, Sequence[str]] = {}

    @property
    def n(self) -> int:
        """How many documents."""
        return len(self.off) - 1

    def presence(self, n_slots: int) -> NDArray[np.float64]:
        """The share of documents whose rank is not 0, per slot."""
        return np.bincount(self.slots[self.ranks > 0], minlength=n_slots) / max(self.n, 1)


def encode_sample(image: Image, documents: Any) -> Sampled:
    """The documents for an image, of which entries are not looked at.

    Args:
        documents: dicts, a pyarrow Table or RecordBatch, a pandas DataFrame.

    Raises:
        DocumentError: one is no document, or a column that profiles use has a type that no document's value can have.
    """
    encoder = encoder_of(image)
    rows = n_rows_of(documents)
    if rows is None:
        documents = list(documents)
        rows = len(documents)
    size = encoder.chunk_size(rows, 1)
    batches = [encoder.encode_batch(documents, start, min(rows, start + size)) for start in range(0, rows, size)]
    lengths = [np.diff(batch.doc_off) for batch in batches]
    off = np.concatenate(([0], *lengths)).astype(np.int64)
    np.cumsum(off, out=off)
    none = np.zeros(0, np.int32)
    return Sampled(
        off,
        np.concatenate((none, *(batch.doc_slots for batch in batches))),
        np.concatenate((none, *(batch.doc_ranks for batch in batches))),
        _texts(image, batches, max(1, -(-rows // MOST_TEXTS))),
    )


def _texts(image: Image, batches: Sequence[SparseBatch], step: int) -> dict[int, list[str]]:
    """Of one document in so many."""
    slots = sorted({pattern.slot for pattern in image.patterns})
    if not slots:
        return {}
    documents = (batch.document(number) for batch in batches for number in range(len(batch)))
    chosen = list(islice(documents, step // 2, None, step))
    values = {slot: [run(image.slots[slot].program, document) for document in chosen] for slot in slots}
    return {slot: [value for value in of if type(value) is str] for slot, of in values.items()}
