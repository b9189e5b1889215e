"""The matches of a batch: for each document, the profiles it matches, as one CSR array.

offsets   0     2  2        5        document 0 matches 2 profiles, document 1 none, document 2 three
indices   4  9        0  4  7        ordinals of profiles, ascending within a document
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from profilec.runtime.arrow_values import arrow_of
from profilec.runtime.columns import n_rows_of
from profilec.runtime.image import Int32
from profilec.runtime.imagefile.columns import Strings


@dataclass(frozen=True, slots=True, eq=False)
class MatchBatch:
    """`offsets`: int64, one more than documents; `indices`: int32, into `ids`.

    >>> batch = MatchBatch(np.array([0, 2, 2]), np.array([0, 2], np.int32), ("a", "b", "c"))
    >>> len(batch), batch[0], batch[-1], batch[:1]
    (2, ['a', 'c'], [], [['a', 'c']])
    """

    offsets: NDArray[np.int64]
    indices: Int32
    ids: Sequence[str]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, document: int) -> list[str]: ...
    @overload
    def __getitem__(self, document: slice) -> list[list[str]]: ...
    def __getitem__(self, document: int | slice) -> list[str] | list[list[str]]:
        """The ids of the profiles that the document matches, in the order of the set; of a slice, those of each.

        Raises:
            IndexError: there is no such document.
            TypeError: it is neither a whole number nor a slice.
        """
        n_documents = len(self)
        if isinstance(document, slice):
            return [self[number] for number in range(*document.indices(n_documents))]
        try:
            number = operator.index(document)
        except TypeError:
            raise TypeError(f"a batch takes the number of a document or a slice, not {document!r:.60}") from None
        if not -n_documents <= number < n_documents:
            raise IndexError(f"no document {number} in a batch of {n_documents:,}")
        number %= n_documents
        return self._named(self.indices[self.offsets[number] : self.offsets[number + 1]])

    def __iter__(self) -> Iterator[list[str]]:
        for start, end in pairwise(self.offsets.tolist()):
            yield self._named(self.indices[start:end])

    def to_arrow(self) -> Any:
        """A `pyarrow.Table` of one column, `profiles`: list<string>, a row for each document."""
        import pyarrow as pa

        if isinstance(self.ids, Strings):
            ids = self.ids.to_arrow(self.indices)
        else:  # only those that are used become strings: the set may have millions
            used, places = np.unique(self.indices, return_inverse=True)
            ids = Strings(self._named(used)).to_arrow(places)
        fits = int(self.offsets[-1]) < 2**31
        offset_type, list_array = (np.int32, pa.ListArray) if fits else (np.int64, pa.LargeListArray)
        lists = list_array.from_arrays(arrow_of(self.offsets.astype(offset_type, copy=False)), ids)
        return pa.table({"profiles": lists})

    def _named(self, indices: Int32) -> list[str]:
        if hasattr(self.ids, "take"):
            taken: list[str] = self.ids.take(indices)
            return taken
        return [self.ids[index] for index in indices.tolist()]


_ONE = (Mapping, str, bytes, bytearray)
"""What can be iterated over, but not by documents."""


def expect_documents(documents: Any) -> None:
    """Raises TypeError for what cannot be a batch of documents at all."""
    if n_rows_of(documents) is not None:
        return
    is_arrow = type(documents).__module__.partition(".")[0] == "pyarrow"  # an array or a reader: no documents
    if isinstance(documents, Iterable) and not is_arrow and not isinstance(documents, _ONE):
        return
    hint = ""
    if isinstance(documents, Mapping):
        hint = "; a mapping is one document, as `match` takes it"
    elif hasattr(documents, "read_all"):
        hint = "; its read_all() is a Table"
    raise TypeError(
        f"documents are a list of mappings, a pyarrow Table or RecordBatch, or a pandas DataFrame, "
        f"not {type(documents).__name__}{hint}"
    )


def n_threads_of(threads: Any) -> int:
    """The number of threads that `match_batch(threads=…)` means.

    Raises:
        TypeError: it is no whole number.
        ValueError: it is less than 1.
    """
    if threads is None:
        return 1
    try:
        number = None if isinstance(threads, bool) else operator.index(threads)
    except TypeError:
        number = None
    message = f"threads takes None, for one, or a whole number from 1, not {threads!r:.60}"
    if number is None:
        raise TypeError(message)
    if number < 1:
        raise ValueError(message)
    return number
