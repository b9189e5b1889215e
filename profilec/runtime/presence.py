"""What a sample of documents tells the planner: how often each of a document's slots holds something.

In: documents, as a batch has them. Out: per slot, pseudo-slots included, a share of the documents.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.columns import n_rows_of
from profilec.runtime.encode_elements import encoder_of
from profilec.runtime.image import Image


def presence(image: Image, documents: Any) -> NDArray[np.float64] | None:
    """The share of documents whose rank is not 0 in each slot; None where there are no documents.

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
    counts = np.zeros(len(image.n_ranks), np.int64)
    size = encoder.chunk_size(rows, 1)
    for start in range(0, rows, size):
        batch = encoder.encode_batch(documents, start, min(rows, start + size))
        counts += np.bincount(batch.doc_slots, minlength=len(counts))
    return counts / rows if rows else None
