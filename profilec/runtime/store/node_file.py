"""A file that is written once and then mapped: nodes of structures on secondary storage, and arrays.

In: what fills it. Out: node stores (`nodes`) by name, and arrays that are views of the file. It is an environment of
LMDB in one file: a database for each store of nodes, and one for the arrays.

It is either temporary, and has no name any more once it is open: the system frees it with the last process that maps
it, however that ends. Or it is kept beside another file that it was made of, under a name that says so:

    7.image                          the other file
    7.nodes-<made of>-<checksum>     of what it was made, as its maker says; the CRC-32 of all its bytes
    making-<random>                  one that is being written

A file whose checksum is another is removed, and made again: nothing is in it that is not in the other file.

Invariant: a file that has its name is whole, and never changed. So nobody locks it, and who was forked maps it too.
"""

from __future__ import annotations

import ctypes
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakValueDictionary
from zlib import crc32

import numpy as np

from profilec.runtime.image import Int32, read_only
from profilec.runtime.store.nodes import LmdbNodes
from profilec.values.locks import new_lock

if TYPE_CHECKING:
    import lmdb

_MAP_SIZE = 1 << 38
"""Address space, not disk."""
_ARRAYS = b"arrays"
_STORE = b"nodes of "
_PART = 1 << 22


class Disk(NamedTuple):
    """`beside`: the file that the image is mapped from, where what an index puts on secondary storage is to be kept
    beside it; None where it is temporary. `memory`: the bytes that the set is given, None for no limit."""

    beside: Path | None = None
    memory: int | None = None


NO_DISK = Disk()


class NodeFile:
    """An open file. Safe to use from several threads."""

    __slots__ = ("__weakref__", "_arrays", "_env", "_reading", "_stores")

    def __init__(self, path: Path) -> None:
        """Raises OSError: it is not there."""
        import lmdb

        try:
            with lmdb.open(str(path), subdir=False, readonly=True, lock=False) as env, env.begin() as transaction:
                names = [bytes(key) for key, _ in transaction.cursor()]
            self._env = lmdb.open(str(path), subdir=False, readonly=True, lock=False, max_dbs=len(names))
        except lmdb.Error:
            path.stat()
            raise
        databases = {name: self._env.open_db(name, create=False) for name in names}
        self._arrays = databases.pop(_ARRAYS)
        self._stores = {name[len(_STORE) :].decode(): database for name, database in databases.items()}
        # LAYOUT: what it gave is mapped as long as it is open.
        self._reading = self._env.begin(buffers=True)

    @contextmanager
    def nodes(self, name: str) -> Iterator[LmdbNodes]:
        """The nodes of a store, to be read."""
        with self._env.begin() as transaction:
            yield LmdbNodes(transaction, self._stores[name])

    def array(self, name: str) -> Int32:
        """An array, not to be written to; mapped, but for a short one. Raises KeyError."""
        data = self._reading.get(name.encode(), db=self._arrays)
        if data is None:
            raise KeyError(name)
        if not len(data):
            return read_only(np.zeros(0, np.int32))
        array = np.frombuffer(data, np.int32)
        return np.asarray(_Mapped(self, array)) if array.flags.aligned else read_only(array.copy())


class _Mapped:
    """What an array is a view of: whoever has the array has the file, too."""

    __slots__ = ("__array_interface__", "_file")

    def __init__(self, file: NodeFile, array: Int32) -> None:
        self.__array_interface__ = array.__array_interface__
        self._file = file


class Filling:
    """A file that is being written."""

    def __init__(self, env: lmdb.Environment) -> None:
        self._env = env
        self._arrays = env.open_db(_ARRAYS)

    @contextmanager
    def nodes(self, name: str) -> Iterator[LmdbNodes]:
        """A store of nodes that is empty yet."""
        database = self._env.open_db(_STORE + name.encode())
        with self._env.begin(write=True) as transaction:
            yield LmdbNodes(transaction, database)

    def put(self, name: str, array: Int32) -> None:
        """Keeps an array of one dimension."""
        with self._env.begin(write=True) as transaction:
            transaction.put(name.encode(), np.ascontiguousarray(array, np.int32).data.cast("B"), db=self._arrays)


def temporary(fill: Callable[[Filling], None], n_stores: int) -> NodeFile:
    """A file that nobody else can open, in the folder for temporary files. It has up to `n_stores` stores of nodes.

    Raises:
        OSError: it cannot be written.
    """
    descriptor, name = tempfile.mkstemp(prefix="profilec-nodes-")
    os.close(descriptor)
    path = Path(name)
    try:
        _fill(path, fill, n_stores, "make room there, or set TMPDIR to a folder that has some")
        return NodeFile(path)
    finally:
        path.unlink()


def beside(other: Path, made_of: str, fill: Callable[[Filling], None], n_stores: int) -> NodeFile:
    """The file that is beside another one; it is made where it is not there, or not whole. `made_of`: a word that is
    the same where what fills it is.

    Raises:
        OSError: it cannot be written.
    """
    import lmdb

    making = other.with_name(f"making-{secrets.token_hex(8)}")
    try:
        for path in other.parent.glob(f"{other.stem}.nodes-{made_of}-*"):
            with suppress(FileNotFoundError):
                if path.name.endswith(f"-{_checksum(path):08x}"):
                    return _opened(path)
                path.unlink()
        _fill(making, fill, n_stores, "make room there")
        checksum, file = _checksum(making), _opened(making)
        making.rename(other.with_name(f"{other.stem}.nodes-{made_of}-{checksum:08x}"))
        return file
    except (FileNotFoundError, lmdb.Error):
        # Removed by who tidies up, or about to be closed here: rare enough to have one of its own.
        return temporary(fill, n_stores)
    finally:
        making.unlink(missing_ok=True)


def _opened(path: Path) -> NodeFile:
    """An open file. LMDB refuses to open one twice in a process: those who have it share it."""
    with _opening:
        status = path.stat()
        identity = status.st_dev, status.st_ino
        found = _open.get(identity)
        if found is None:
            found = _open[identity] = NodeFile(path)
        return found


_open: WeakValueDictionary[tuple[int, int], NodeFile] = WeakValueDictionary()
_opening = new_lock()


def _fill(path: Path, fill: Callable[[Filling], None], n_stores: int, hint: str) -> None:
    import lmdb

    try:
        # PERF: what a power cut leaves of it has another checksum, and so nothing is written through.
        env = lmdb.open(
            str(path), subdir=False, map_size=_MAP_SIZE, max_dbs=n_stores + 1, lock=False, sync=False, meminit=True
        )
        try:
            fill(Filling(env))
        finally:
            env.close()
    except lmdb.Error as error:
        raise OSError(f"the nodes of an index cannot be written to {path.parent} ({error}): {hint}") from error
    _give_back()


def _give_back() -> None:
    """PERF: what filling a file took is given back to the system, where the C library keeps it otherwise (glibc)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _checksum(path: Path) -> int:
    found = 0
    with path.open("rb") as file:
        while part := file.read(_PART):
            found = crc32(part, found)
    return found
