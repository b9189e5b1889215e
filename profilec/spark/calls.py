"""What the functions of SQL do in workers: arrays of arguments in, an array of answers out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from profilec.runtime.arrow_values import arrow_of, is_string
from profilec.runtime.batch import MatchBatch
from profilec.spark.binding import Missing
from profilec.spark.errors import RowError, SparkMatchError
from profilec.spark.images import ONLY, Shipped
from profilec.spark.type_names import type_name
from profilec.spark.worker import OpenSet, documents_of, open_set
from profilec.values.kinds import DocumentError

T = TypeVar("T")


class SetCall:
    """A function of SQL: an optional name of a set, one document, and `AFTER` arguments more. One of these is made for
    each task, which keeps to the images that it opened."""

    AFTER: tuple[str, ...] = ()
    """The names of these."""

    def __init__(
        self, name: str, sets: Mapping[str, Shipped], json: Collection[str], missing: Missing, returns: str
    ) -> None:
        self.__name__ = name
        self._sets = dict(sets)
        self._json, self._missing, self._returns = tuple(json), missing, returns
        self._opened: dict[str, OpenSet] = {}
        self._n_before = 0

    def __call__(self, /, *columns: pa.Array, **named: pa.Array) -> pa.Array:
        try:
            return self._answered(columns, named)
        except SparkMatchError as error:  # Spark shows where it was raised, which tells those who write SQL nothing
            raise error.with_traceback(None) from None

    def expect_arguments(self, n_columns: int, n_named: int) -> None:
        """So many arguments by place, and by name, are a document and what goes with it. On the driver this is known
        of calls from Python; SQL tells a function in Python of its arguments in workers alone.

        Raises:
            SparkMatchError: they are not; the message says how to write it.
        """
        n_own = n_columns - len(self.AFTER) + bool(n_named)
        if n_own == 1 and self._has_names:
            raise SparkMatchError(self._unknown(ONLY))
        if n_own != 1 + self._has_names:
            raise SparkMatchError(self._usage(n_columns + n_named))

    def _answered(self, columns: Sequence[pa.Array], named: Mapping[str, pa.Array]) -> pa.Array:
        self.expect_arguments(len(columns), len(named))
        given = list(columns)
        after = [given.pop() for _ in self.AFTER]
        names = given.pop(0) if self._has_names else None
        if names is not None and not is_string(names.type):
            raise SparkMatchError(f"{self.__name__}: the name of a set is a STRING, and not {type_name(names.type)}")
        document = pa.RecordBatch.from_arrays(list(named.values()), names=list(named)) if named else given[0]
        answers, places = [], []
        set_of_row = None if names is None else names.fill_null(ONLY).to_pylist()
        asked = list(dict.fromkeys([ONLY] if set_of_row is None else set_of_row))
        for name in asked:
            rows = np.arange(len(document))
            own, own_after = document, after
            if set_of_row is not None and len(asked) > 1:
                rows = np.flatnonzero([own_name == name for own_name in set_of_row])
                own, own_after = document.take(arrow_of(rows)), [array.take(arrow_of(rows)) for array in after]
            answer = partial(self.answers, after=own_after)
            answers.append(self.asked(name, own, answer, rows))
            places.append(rows)
        self.passed(len(document))
        if len(answers) == 1:
            return answers[0]
        if not answers:
            return pa.array([], self.type)
        return pa.concat_arrays(answers).take(arrow_of(np.argsort(np.concatenate(places), kind="stable")))

    @property
    def type(self) -> pa.DataType:
        """Of the answers."""
        return pa.string()

    def answers(self, opened: OpenSet, documents: Any, after: list[pa.Array]) -> pa.Array:
        """One for each document."""
        raise NotImplementedError

    def asked(
        self, name: str, document: Any, answer: Callable[[OpenSet, Any], T], rows: NDArray[np.int64] | None = None
    ) -> T:
        """What `answer` gives for a set and a batch of documents, the rows `rows` of those that came together.

        Raises:
            SparkMatchError: a row is no document; the message names it.
        """
        opened = self.set_of(name)
        return self.told(
            len(document), lambda: answer(opened, documents_of(opened, document, self._json, self._missing)), rows
        )

    def told(self, n_rows: int, answer: Callable[[], T], rows: NDArray[np.int64] | None = None) -> T:
        """What `answer` gives for a batch of rows; what is wrong with one is told with its place. As `asked`."""
        try:
            return answer()
        except RowError as error:
            row = error.row if rows is None else int(rows[error.row])
            at = f"row {self._n_before + row:,}"
            raise SparkMatchError(f"{self.__name__}, {_partition()}, {at} (from 0): {error}") from None
        except DocumentError as error:
            at = f"rows {self._n_before:,} to {self._n_before + n_rows - 1:,}"
            raise SparkMatchError(f"{self.__name__}, {_partition()}, {at} (from 0): {error}") from None

    def blocks(self, name: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches of rows, as a set matches them best."""
        yield from self.set_of(name).blocks(batches)

    def passed(self, n_rows: int) -> None:
        """Counts the rows of a batch that was answered."""
        self._n_before += n_rows

    def set_of(self, name: str) -> OpenSet:
        """The set of a name, opened. Raises SparkMatchError where there is none, or it cannot be."""
        if name not in self._opened:
            if name not in self._sets:
                raise SparkMatchError(self._unknown(name))
            self._opened[name] = open_set(self._sets[name])
        return self._opened[name]

    @property
    def _has_names(self) -> bool:
        """Whether the sets have names, one of which is the first argument."""
        return ONLY not in self._sets

    def _unknown(self, name: str) -> str:
        asked = f"there is no set {name!r}" if name else "no set is named"
        known = ", ".join(map(repr, self._sets))
        return f"{self.__name__}: {asked}; there are {known}: {self._call('struct(*)')}"

    def _usage(self, n_given: int) -> str:
        takes = ["the name of a set"] * self._has_names + ["one document", *(f"an {one}" for one in self.AFTER)]
        more = "" if self._has_names or n_given <= len(takes) else "; its one set needs no name"
        by_name = "" if self.AFTER else f", or columns by name, {self._call('a => a, b => b')}"
        return (
            f"{self.__name__} takes {' and '.join(takes)}, and was given {n_given} argument{'s' * (n_given != 1)}: "
            f"write {self._call('struct(*)')}, of some columns {self._call('struct(a, b)')}{by_name}{more}"
        )

    def _call(self, document: str) -> str:
        """How a document is given in SQL."""
        arguments = ["'set'"] * self._has_names + [document, *self.AFTER]
        return f"{self.__name__}({', '.join(arguments)})"


class MatchCall(SetCall):
    """The profiles that each document matches."""

    @property
    def type(self) -> pa.DataType:
        return pa.list_(pa.string() if self._returns == "ids" else pa.int64())

    def answers(self, opened: OpenSet, documents: Any, after: list[pa.Array]) -> pa.Array:
        return lists_of(opened.match(documents), self._returns)


class TestCall(SetCall):
    """Whether each document matches the profile of an id; NULL where the id is."""

    __test__ = False
    AFTER = ("id",)

    @property
    def type(self) -> pa.DataType:
        return pa.bool_()

    def answers(self, opened: OpenSet, documents: Any, after: list[pa.Array]) -> pa.Array:
        ordinals = np.array([-1 if id_ is None else _ordinal(opened, row, id_) for row, id_ in _each(after[0])])
        matched = opened.match(documents)
        row_of = np.repeat(np.arange(len(ordinals)), np.diff(matched.offsets))
        holds = np.zeros(len(ordinals), np.bool_)
        holds[row_of[matched.indices == ordinals[row_of]]] = True
        return pa.array(holds, mask=ordinals < 0)


class WhyCall(SetCall):
    """The truth of a profile's condition for each document, predicate by predicate; NULL where the id is."""

    AFTER = ("id",)

    def answers(self, opened: OpenSet, documents: Any, after: list[pa.Array]) -> pa.Array:
        rows = documents if isinstance(documents, list) else opened.rows(documents)
        ids = [id_ for row, id_ in _each(after[0]) if id_ is None or _ordinal(opened, row, id_) >= 0]
        why = opened.profiles.why
        return pa.array(
            [None if id_ is None else str(why(row, id_)) for row, id_ in zip(rows, ids, strict=True)], self.type
        )


def lists_of(batch: MatchBatch, returns: str) -> pa.Array:
    """The matches of each document as a list of ids, or of ordinals."""
    if returns == "ids":
        return batch.to_arrow().column(0).combine_chunks()
    return pa.ListArray.from_arrays(arrow_of(batch.offsets.astype(np.int32)), arrow_of(batch.indices.astype(np.int64)))


def _each(ids: pa.Array) -> Any:
    return enumerate(ids.to_pylist())


def _ordinal(opened: OpenSet, row: int, id_: Any) -> int:
    try:
        return opened.profiles.ordinal(id_)
    except KeyError as error:
        raise RowError(row, str(error.args[0])) from None


def _partition() -> str:
    from pyspark import TaskContext

    context = TaskContext.get()
    return "no partition" if context is None else f"partition {context.partitionId()}"
