"""The LMDB environment of a store, and its errors as users read them.

In: the path of a folder. Out: transactions over its databases.

LMDB is a B+tree whose pages are never written over while somebody reads them: readers see the last commit and wait for
nobody, one writer at a time appends, and what was not committed is not there. A process may have an environment open
but once, so that those who open one again share it.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import lmdb

from profilec.living.records import unsealed
from profilec.runtime.imagefile.container import is_image
from profilec.store.pages import Meta, PageError, Pages
from profilec.values.locks import new_lock

DATA = "data.mdb"
SYNCS = ("commit", "batch", "off")
_MAP_SIZE = 1 << 38
"""Address space, not disk: a store may grow to 256 GiB."""
_BATCH = 1_000
"""Commits between two writes through to the disk, with sync="batch"."""


class StoreError(Exception):
    """A store that cannot be opened, read or changed; the message says why, and what to do."""


class Environment:
    """An open environment: `meta`, `segments`, `log` and `documents` are its databases."""

    def __init__(self, path: Path, sync: str) -> None:
        self.path = path
        self._sync = sync
        self._pid = os.getpid()
        self._n_commits = 0
        self._n_users = 0
        with told(path), _alone(path):
            _expect_store(path)
            self._env = lmdb.open(
                str(path), map_size=_MAP_SIZE, max_dbs=8, max_readers=1_024, sync=sync == "commit", metasync=True
            )
            try:
                self._env.reader_check()  # the places of processes that were killed are free again
                # Nobody writes meanwhile. LMDB has read nothing yet but the metas.
                with self._env.begin(write=True), Pages(path / DATA) as pages:
                    pages.expect_sound()
                    expect_last(pages)
                names = (b"meta", b"segments", b"log", b"documents")
                self.meta, self.segments, self.log, self.documents = [self._env.open_db(name) for name in names]
            except BaseException:
                self._env.close()
                raise

    @contextmanager
    def reading(self) -> Iterator[Any]:
        """A transaction that sees the last commit."""
        self._expect_open()
        with told(self.path), self._env.begin(buffers=True) as transaction:
            yield transaction

    @contextmanager
    def writing(self) -> Iterator[Any]:
        """The one transaction that writes, of all processes; it is committed at the end, or, with an error, never
        was."""
        self._expect_open()
        with told(self.path):
            with self._env.begin(write=True) as transaction:
                yield transaction
            self._n_commits += 1
            if self._sync == "batch" and self._n_commits % _BATCH == 0:
                self._env.sync(True)

    def last_commit(self) -> int:
        """The number of the last commit. PERF: half a microsecond."""
        if os.getpid() != self._pid:
            self._expect_open()
        try:
            with self._env.begin() as transaction:
                number: int = transaction.id()
                return number
        except lmdb.Error as error:
            self._expect_open()
            raise StoreError(f"{self.path}: {error}") from None

    def copy_to(self, path: Path) -> None:
        """A copy of the last commit, without what is free."""
        with told(path):
            self._env.copy(str(path), compact=True)

    def pages(self) -> dict[str, int]:
        """Of the file: the bytes in use, and all."""
        info, stat = self._env.info(), self._env.stat()
        return {"used": (info["last_pgno"] + 1) * stat["psize"], "file": (self.path / DATA).stat().st_size}

    def use(self) -> None:
        """One more who is going to close it."""
        self._n_users += 1

    def close(self) -> None:
        """Writes all through, and closes, when the last of those who use it has closed it."""
        with _opening:
            if os.getpid() != self._pid or not self._n_users:
                return
            with told(self.path):
                self._env.sync(True)
                self._n_users -= 1
                if not self._n_users:
                    _open.pop(_name(self.path), None)
                    self._env.close()

    def _expect_open(self) -> None:
        if os.getpid() != self._pid:
            raise StoreError(f"{self.path} was opened before this process was forked: open it again in here")
        if not self._n_users:
            raise StoreError(f"{self.path} was closed: open it again")


_open: WeakValueDictionary[str, Environment] = WeakValueDictionary()
_opening = new_lock()


def opened(path: Path, sync: str) -> Environment:
    """The environment of a folder, which is made where it is not there.

    Raises:
        StoreError: it is no store, or damaged, or cannot be written to.
        ValueError: `sync` is none of SYNCS.
    """
    if sync not in SYNCS:
        raise ValueError(f"sync takes {', '.join(map(repr, SYNCS))}, not {sync!r}")
    with _opening:
        name = _name(path)
        found = _open.get(name)
        if found is None:
            if path.is_file():
                other = "; profilec.load reads an image" if is_image(path) else ""
                raise StoreError(f"{path} is a file, and a store is a folder{other}")
            with told(path):
                (path / "segments").mkdir(parents=True, exist_ok=True)
            found = _open[name] = Environment(path, sync)
        elif found._sync != sync:
            raise ValueError(f"{path} is open in this process with sync={found._sync!r}, not {sync!r}")
        found.use()
        return found


def _name(path: Path) -> str:
    return f"{os.getpid()} {os.path.realpath(path)}"


def _let_go() -> None:
    """In a child: what the parent has open is not of use here, and would be in the way of opening it again."""
    for environment in list(_open.values()):
        environment._env.close()
    _open.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


@contextmanager
def seen(path: Path) -> Iterator[Pages]:
    """The pages of a store's last commit, over which nobody writes meanwhile; nothing is made or changed.

    Raises:
        StoreError: it is no store, or cannot be opened.
        PageError: what the file says of its last commit cannot be.
    """
    if not is_store(path):
        raise StoreError(f"{path} is no store: it has no {DATA}")
    with told(path, but=PageError), ExitStack() as stack:
        mine = _open.get(_name(path))
        if mine is None:
            Pages(path / DATA).close()  # what LMDB trusts
            env = lmdb.open(str(path), readonly=True, max_dbs=8, max_readers=1_024)
            stack.callback(env.close)
        for attempt in range(_ATTEMPTS):
            with ExitStack() as held:
                transaction = held.enter_context(env.begin() if mine is None else mine.reading())
                try:
                    pages = held.enter_context(Pages(path / DATA, transaction.id()))
                except PageError:  # two commits since it was begun
                    if attempt == _ATTEMPTS - 1:
                        raise
                    continue
                yield pages
                return


_ATTEMPTS = 5


def is_store(path: Path) -> bool:
    """Whether a folder is a store, be it damaged."""
    return (path / DATA).is_file() or _has_images(path)


def _has_images(path: Path) -> bool:
    return any((path / "segments").glob("*.image"))


@contextmanager
def told(path: Path, but: type[Exception] = StoreError) -> Iterator[None]:
    """Errors of LMDB and the system, as errors of the store."""
    try:
        yield
    except but:
        raise
    except PageError as error:
        raise StoreError(f"{path / DATA} is damaged: {error}; {RESCUE}") from None
    except (lmdb.CorruptedError, lmdb.PageNotFoundError, lmdb.InvalidError, lmdb.VersionMismatchError) as error:
        raise StoreError(f"{path} is damaged ({error}); {RESCUE}") from None
    except lmdb.MapFullError:
        raise StoreError(f"{path} is full: it has {_MAP_SIZE >> 30} GiB; `profilec store compact` frees some") from None
    except (lmdb.Error, OSError) as error:
        if getattr(error, "errno", None) == errno.ENOSPC or "No space" in str(error):
            raise StoreError(
                f"{path}: the disk is full; nothing of this change was kept: make room, and try again"
            ) from None
        if isinstance(error, PermissionError):
            raise StoreError(f"{path}: {error.strerror or error}; a store is opened for writing") from None
        raise StoreError(f"{path}: {error}") from None


RESCUE = "`profilec store verify` says where, and `profilec store salvage` writes down the profiles that can be read"


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Within, no other process opens the store: who makes one has made it, and nobody sees half of it."""
    folder = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _expect_store(path: Path) -> None:
    """Refuses what is no store, and a file of which LMDB would map what is not there."""
    data = path / DATA
    is_begun = data.exists() and not data.stat().st_size and not _has_images(path)
    if data.exists() and not is_begun:
        Pages(path / DATA).close()
        return
    others = [one.name for one in path.iterdir() if one.name not in ("segments", DATA, "lock.mdb", "merge.lock")]
    if others:
        raise StoreError(f"{path} is no store, and not empty: it holds {others[0]!r}; name another folder")
    if _has_images(path):
        raise StoreError(f"{path} is damaged: {DATA} is not there, and segments are; {RESCUE}")


def expect_last(pages: Pages) -> None:
    """Refuses a commit that is older than the one before: a meta with another number than it had.

    Raises:
        PageError: it is.
    """
    try:
        before = _age(pages, pages.other)
    except (PageError, ValueError):
        return  # of that nothing is left to be seen
    try:
        now = _age(pages, pages.meta)
    except ValueError:
        return  # will be told by whoever reads it
    if before > now:
        raise PageError("the last commit is older than the one before it")


def _age(pages: Pages, meta: Meta) -> list[int]:
    facts = json.loads(unsealed(dict(pages.records(b"meta", meta)).get(b"facts", b"")))
    return [facts[name] for name in ("moment", "merges", "segment", "place")]
