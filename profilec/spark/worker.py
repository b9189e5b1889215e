"""What runs in Spark's Python workers: images, opened once for each process.

In: a `Shipped`, and batches of rows. Out: their matches. An image is mapped, so that all workers of a machine share its
pages; what a worker makes of it stays until another image serves the same place, or `MOST_OPEN` others were opened.

Kernels are compiled once for each machine: the first worker that matches compiles them, and the others wait for it.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import pickle
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from profilec.compilation import FEW_DOCUMENTS, executor_of
from profilec.profileset import ProfileSet, load
from profilec.runtime.arrow_values import is_string
from profilec.runtime.batch import MatchBatch
from profilec.runtime.columns import rows_at
from profilec.runtime.execute import Executor
from profilec.runtime.image import Int32
from profilec.runtime.imagefile.container import ImageError
from profilec.runtime.joins.phase import GivenTruths
from profilec.spark.any_values import is_variant, json_documents, variant_documents
from profilec.spark.binding import Binding, Missing
from profilec.spark.errors import SparkMatchError
from profilec.spark.images import Shipped
from profilec.spark.schemas import check_schema
from profilec.spark.session import expect_same_version
from profilec.spark.sharded_set import ShardedSet
from profilec.spark.type_names import type_name

MOST_OPEN = 8


class OpenSet:
    """A set in a worker, and how the schemas of its batches were bound."""

    def __init__(self, profiles: ProfileSet | ShardedSet, signature: tuple[int, ...]) -> None:
        self.profiles = profiles
        self.signature = signature
        """Of the file that it is from: another file at the path has another one."""
        self.join_plans: dict[Any, Any] = {}
        """How its joins are asked, by the schemas of both sides: `join_tasks`."""
        self._bindings: dict[tuple[pa.Schema, tuple[str, ...], Missing], Binding] = {}
        self._executors: dict[str | None, Executor] = {}
        self._n_joined = 0

    @property
    def whole(self) -> ProfileSet:
        """The set, which is in one image, as those are whose joins Spark asks."""
        assert isinstance(self.profiles, ProfileSet)
        return self.profiles

    @property
    def _matchers(self) -> str:
        return self.profiles.matchers if isinstance(self.profiles, ShardedSet) else self.profiles.plan.matchers

    def binding(self, schema: pa.Schema, json: Collection[str], missing: Missing) -> Binding:
        """`missing`: see `sql_function.register`."""
        asked = schema, tuple(json), missing
        binding = self._bindings.get(asked)
        if binding is None:
            binding = self._bindings[asked] = check_schema(self.profiles, schema, json, missing)
        return binding

    def match(self, documents: Any) -> MatchBatch:
        """The matches of a batch.

        Raises:
            DocumentError: a row, or a column, holds what no document does.
        """
        with _one_process_compiles(self._matchers):
            matched = self.profiles.match_batch(documents)
        _give_back()
        return matched

    def blocks(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches of rows as they are matched best."""
        return self.profiles.blocks(batches) if isinstance(self.profiles, ShardedSet) else iter(batches)

    def match_joined(self, documents: Any, given: GivenTruths) -> tuple[NDArray[np.int64], Int32]:
        """As `Executor.match_batch`; joins whose truths are not given ask the set's documents."""
        with _one_process_compiles(self._matchers):
            return self._joined(len(documents)).match_batch(documents, self.whole.documents, given=given)

    def rows_asked(self, documents: Any) -> NDArray[np.bool_]:
        """As `Executor.rows_asked`."""
        with _one_process_compiles(self._matchers):
            return self._joined(len(documents)).rows_asked(documents)

    def _joined(self, n_documents: int) -> Executor:
        """What matches where truths of joins are given, without a pre-filter; of a small set, as in `ProfileSet`, the
        first documents by a scan."""
        self._n_joined += n_documents
        whole = self.whole._whole()
        matcher = "scan" if whole.is_small and self._n_joined <= FEW_DOCUMENTS else None
        executor = self._executors.get(matcher)
        if executor is None:
            parts, plan = whole.whole(), replace(whole.plan, prefilter=False)
            executor = self._executors[matcher] = executor_of(parts._replace(plan=plan), matcher)
        return executor

    def rows(self, documents: pa.RecordBatch) -> list[dict[str, Any]]:
        """A batch as documents of Python's own."""
        return rows_at(documents, range(documents.num_rows))


_open: OrderedDict[str, OpenSet] = OrderedDict()


def open_set(shipped: Shipped) -> OpenSet:
    """The set of an image.

    Raises:
        SparkMatchError: this worker has another profilec than the driver, or the image is not there or unreadable.
    """
    expect_same_version(shipped.version)
    path = _local(shipped.image, shipped.is_added)
    signature = _signature(path)
    key = f"{shipped.place}\n{shipped.documents}"
    known = _open.get(key)
    if known is None or known.signature != signature:
        profiles = _loaded(path)
        if shipped.documents:
            with open(_local(shipped.documents, shipped.is_added), "rb") as file:
                profiles.documents = pickle.load(file)  # the driver's own, as all that it sends
        known = _open[key] = OpenSet(profiles, signature)
    _open.move_to_end(key)
    while len(_open) > MOST_OPEN:
        _open.popitem(last=False)
    return known


def _local(name: str, is_added: bool) -> str:
    if not is_added:
        return name
    from pyspark import SparkFiles

    return str(SparkFiles.get(name))


def _signature(path: str) -> tuple[int, ...]:
    try:
        status = os.stat(path)
    except OSError as error:
        raise SparkMatchError(
            f"the image {path} cannot be read here: {error.strerror}; it must stay, where every executor sees it, "
            f"while queries use it: save it again, or register the set anew (ship_by='file' sends it to the executors)"
        ) from None
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size


def _loaded(path: str) -> ProfileSet | ShardedSet:
    with open(path, "rb") as file:
        is_list_of_shards = file.read(1) == b"{"
    if is_list_of_shards:
        return ShardedSet(path)
    try:
        return load(path)
    except ImageError as error:
        raise SparkMatchError(str(error)) from None


def documents_of(opened: OpenSet, given: pa.Array | pa.RecordBatch, json: Collection[str], missing: Missing) -> Any:
    """What a batch of rows is for `OpenSet.match`: a record batch, or one column whose rows are the documents.

    Raises:
        RowError: a row is no document.
        SparkMatchError: the columns are not such as the set can be matched with.
    """
    if isinstance(given, pa.RecordBatch):
        binding = opened.binding(given.schema, json, missing)
        return binding.documents(given.columns, given.schema.names, given.num_rows)
    kind = given.type
    if is_variant(kind):
        return variant_documents(given)
    if pa.types.is_struct(kind):
        schema = pa.schema([kind.field(number) for number in range(kind.num_fields)])
        return opened.binding(schema, json, missing).documents(given.flatten(), schema.names, len(given))
    if is_string(kind):
        return json_documents(given)
    raise SparkMatchError(
        f"a document is a struct, a VARIANT or JSON text, and not {type_name(kind)}: write struct(a) for the column a, "
        f"struct(*) for all, or columns by name, as in (price => a)"
    )


def _give_back() -> None:
    """Returns memory that was freed to the machine, on which many workers run: a fifth of what a worker has."""
    pa.default_memory_pool().release_unused()
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


@cache
def _malloc_trim() -> Callable[[int], int] | None:
    """That of glibc."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError):
        return None


_compiled = False


@contextlib.contextmanager
def _one_process_compiles(matchers: str) -> Iterator[None]:
    """Holds the other processes of this machine back, where this one may be the first that matches so."""
    global _compiled  # noqa: PLW0603
    if _compiled:
        yield
        return
    _keep_kernels_somewhere()
    from profilec.runtime.kernels import cache_directory

    directory = cache_directory()
    done = None if directory is None else directory / f"matched-{''.join(filter(str.isalnum, matchers))[:80]}"
    if done is None or done.exists():
        yield
    else:
        try:
            lock = (done.parent / "lock").open("w")
        except OSError:  # who may not write has what is there already
            yield
        else:
            with lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield
                done.touch()
    _compiled = True


def _keep_kernels_somewhere() -> None:
    """Names a folder for kernels where the executor's user can write neither beside the sources nor at home."""
    from profilec.runtime.kernels import cache_directories, cache_directory

    if os.environ.get("NUMBA_CACHE_DIR") or cache_directory() is not None:
        return
    folder = Path(tempfile.gettempdir()) / f"profilec-kernels-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.stat()
    except OSError:
        return
    if status.st_uid == os.getuid() and not status.st_mode & 0o022:  # code is run from there
        os.environ["NUMBA_CACHE_DIR"] = str(folder)
        cache_directories.cache_clear()
