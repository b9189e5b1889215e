"""The matches of a batch: for each document, the profiles it matches, as one CSR array.

offsets   0     2  2        5        document 0 matches 2 profiles, document 1 none, document 2 three
indices   4  9        0  4  7        ordinals of profiles, ascending within a document
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.image import Int32
from profilec.runtime.imagefile.columns import Strings


@dataclass(frozen=True, slots=True, eq=False)
class MatchBatch:
    """`offsets`: int64, one more than documents; `indices`: int32, into `ids`.

    >>> batch = MatchBatch(np.array([0, 2, 2]), np.array([0, 2], np.int32), ("a", "b", "c"))
    >>> len(batch), batch[0], batch[-1], list(batch)
    (2, ['a', 'c'], [], [['a', 'c'], []])
    """

    offsets: NDArray[np.int64]
    indices: Int32
    ids: Sequence[str]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, document: int) -> list[str]:
        """The ids of the profiles that the document matches, in the order of the set."""
        n_documents = len(self)
        if not -n_documents <= document < n_documents:
            raise IndexError(f"no document {document} in a batch of {n_documents:,}")
        document %= n_documents
        return self._named(self.indices[self.offsets[document] : self.offsets[document + 1]])

    def __iter__(self) -> Iterator[list[str]]:
        for start, end in pairwise(self.offsets.tolist()):
            yield self._named(self.indices[start:end])

    def to_arrow(self) -> Any:
        """A `pyarrow.Table` of one column, `profiles`: list<string>, a row for each document."""
        import pyarrow as pa

        # Only the ids that are used become strings: the set may have millions.
        used, places = np.unique(self.indices, return_inverse=True)
        ids = pa.DictionaryArray.from_arrays(pa.array(places), pa.array(self._named(used), pa.string()))
        fits = int(self.offsets[-1]) < 2**31
        offset_type, list_array = (pa.int32(), pa.ListArray) if fits else (pa.int64(), pa.LargeListArray)
        lists = list_array.from_arrays(pa.array(self.offsets, offset_type), ids.dictionary_decode())
        return pa.table({"profiles": lists})

    def _named(self, indices: Int32) -> list[str]:
        if isinstance(self.ids, Strings):
            return self.ids.take(indices)
        return [self.ids[index] for index in indices.tolist()]
