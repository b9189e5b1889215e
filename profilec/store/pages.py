"""The pages of LMDB's file, read without LMDB, which trusts them: what a damaged page names would end the process.

In: `data.mdb`. Out: the records of one commit; or what is wrong with its pages.

    page 0, 1   meta    the last two commits, each in the page of its number's parity
    others      tree    header of 16 bytes; branch and leaf: places of nodes u16 …, free room, nodes to the page's end
                        overflow: a value that is too long for a leaf, in pages that follow one another

A meta names two trees: of the pages that are free, and of the databases, whose records are trees again.

Invariant: what `faults` finds nothing wrong with, LMDB reads and writes without leaving its file: every page that a
commit reaches is reached once, is of the sort it must be, and has nodes that fill it; no free page is reached; keys
ascend; the counts of each tree are right. What is in values is for checksums to tell.

Source: the layout is that of LMDB 0.9 (`mdb.c`, "Page header", "Node", "Meta page content"), data version 1.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

NAMES = (b"documents", b"log", b"meta", b"segments")
"""The databases of a store, in the order of their tree."""
_HEADER = 16
_MAGIC = 0xBEEFC0DE
_PAGE_HEAD = struct.Struct("<QHHHH")
_NODE = struct.Struct("<HHHH")
_TREE = struct.Struct("<IHHQQQQQ")
_META_HEAD = struct.Struct("<IIQQ")
_META_TAIL = struct.Struct("<QQ")
_NO_PAGE = 2**64 - 1
_INTEGER_KEY = 8
_BRANCH, _LEAF, _OVERFLOW, _META = 1, 2, 4, 8
_BIG, _TREE_INSIDE = 1, 2
_MOST_DEPTH = 32
_MOST_BEHIND = 1 << 20
"""Pages that a commit may have taken and not written; LMDB maps as many."""
_ATTEMPTS = 5


class PageError(ValueError):
    """A page that is not as LMDB writes it; the message says which, and what is wrong."""


class Tree(NamedTuple):
    """What names a tree: its sort, how many pages and records it has, and its root."""

    page_size: int
    flags: int
    depth: int
    n_branches: int
    n_leaves: int
    n_overflow: int
    n_entries: int
    root: int


class Meta(NamedTuple):
    """A commit: its number, the tree of free pages, that of databases, and the last page."""

    commit: int
    free: Tree
    main: Tree
    last_page: int


class Pages:
    """The file's pages at one commit: the last one, unless another is named. What others write meanwhile is not seen,
    while a transaction of LMDB holds that commit."""

    def __init__(self, path: Path, commit: int | None = None) -> None:
        """Reads the metas.

        Raises:
            PageError: they are not as LMDB writes them.
            OSError: the file cannot be read.
        """
        self._descriptor = os.open(path, os.O_RDONLY)
        try:
            self.size, metas = _metas(self._descriptor)
            found = [meta for meta in metas if commit is None or meta.commit == commit]
            if not found:
                raise PageError(f"the metas name the commits {metas[0].commit} and {metas[1].commit}, not {commit}")
            self.meta = max(found, key=lambda meta: meta.commit)
            self.other = min(metas, key=lambda meta: meta.commit)
        except BaseException:
            os.close(self._descriptor)
            raise

    def __enter__(self) -> Pages:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the file."""
        os.close(self._descriptor)

    def records(self, name: bytes, meta: Meta | None = None) -> Iterator[tuple[bytes, bytes]]:
        """The records of a database, in the order of keys.

        Raises:
            PageError: a page is not as it should be.
        """
        meta = meta or self.meta
        for key, value, flags in _Walk(self, meta).nodes(meta.main):
            if key == name and flags == _TREE_INSIDE and len(value) == _TREE.size:
                walk = _Walk(self, meta)
                yield from ((key, value) for key, value, _ in walk.nodes(Tree(*_TREE.unpack(value))))
                return
        raise PageError(f"there is no database {name.decode()!r}")

    def expect_sound(self) -> None:
        """Looks at every page that the commit reaches, but not into values.

        Raises:
            PageError: one is not as it should be.
        """
        walk = _Walk(self, self.meta)
        found = []
        for key, value, flags in walk.nodes(self.meta.main):
            if flags != _TREE_INSIDE or len(value) != _TREE.size:
                raise PageError(f"the record {key!r} of the databases is none")
            found.append(key)
            tree = Tree(*_TREE.unpack(value))
            if tree.flags:
                raise PageError(f"the database {key!r} is of a sort that stores have not")
            for _, _, inside in walk.nodes(tree, with_values=False):
                if inside & ~_BIG:
                    raise PageError(f"a record of the database {key!r} is no value")
        # A store that is being made gets them one by one.
        is_new = self.meta.commit < len(NAMES) and set(found) <= set(NAMES)
        if found != list(NAMES) and not is_new:
            raise PageError(f"the databases are {', '.join(map(repr, found))}")
        self._expect_free(walk)

    def _expect_free(self, walk: _Walk) -> None:
        before = 0
        for key, value, _ in walk.nodes(self.meta.free, integer_keys=True):
            freed_by = int.from_bytes(key, "little")
            if len(key) != 8 or not before < freed_by <= self.meta.commit:
                raise PageError("the list of free pages is of a commit that there was not")
            before = freed_by
            n, *pages = struct.unpack(f"<{len(value) // 8}Q", value[: len(value) // 8 * 8])
            if n > len(pages):
                raise PageError("the list of free pages is cut off")
            last = self.meta.last_page + 1
            for page in pages[:n]:
                if page >= last:
                    raise PageError("the list of free pages is not in order")
                walk.reach(page)
                last = page
        walk.expect_free_behind(os.fstat(self._descriptor).st_size // self.size)

    def read(self, page: int, n: int = 1) -> bytes:
        """Pages that follow one another."""
        data = os.pread(self._descriptor, n * self.size, page * self.size)
        if len(data) < n * self.size:
            raise self._short(page)
        return data

    def expect(self, page: int) -> None:
        """Refuses a page that the file does not have. Pages that were never written may well be behind its end."""
        if (page + 1) * self.size > os.fstat(self._descriptor).st_size:
            raise self._short(page)

    def _short(self, page: int) -> PageError:
        n_bytes = os.fstat(self._descriptor).st_size
        return PageError(f"it is cut off: it has {n_bytes:,} bytes, and page {page} is behind them")


class _Walk:
    """Trees, page by page: each page is reached once."""

    def __init__(self, pages: Pages, meta: Meta) -> None:
        self._pages = pages
        self._meta = meta
        self._reached: set[int] = set()

    def reach(self, page: int, n: int = 1) -> None:
        """Pages that are in use here, and nowhere else."""
        if page < 2 or n < 1 or page + n - 1 > self._meta.last_page:
            raise PageError(f"page {page} is named, and there is none")
        for one in range(page, page + n):
            if one in self._reached:
                raise PageError(f"page {one} is named twice")
            self._reached.add(one)

    def expect_free_behind(self, end: int) -> None:
        """Refuses pages behind the file's end that are in use: there may be some that never were."""
        behind = range(end, self._meta.last_page + 1)
        if len(behind) > len(self._reached) or any(page not in self._reached for page in behind):
            raise PageError(f"its last page is {self._meta.last_page}, and it has {end:,}")

    def nodes(
        self, tree: Tree, *, with_values: bool = True, integer_keys: bool = False
    ) -> Iterator[tuple[bytes, bytes, int]]:
        """Key, value and flags of every record; without values, those in overflow pages are empty."""
        counts = [0, 0, 0, 0]
        if tree.root == _NO_PAGE:
            if tree.depth or tree.n_entries:
                raise PageError("a tree without a root has records")
            return
        if not 0 < tree.depth <= _MOST_DEPTH:
            raise PageError(f"a tree has the depth {tree.depth}")
        before: bytes | None = None
        # Pages to come, last first, with how deep they lie, and the bounds of their keys.
        pending: list[tuple[int, int, bytes | None, bytes | None]] = [(tree.root, 1, None, None)]
        while pending:
            number, depth, low, high = pending.pop()
            self.reach(number)
            page = self._pages.read(number)
            is_leaf = depth == tree.depth
            nodes = _nodes_of(page, number, is_leaf)
            if not is_leaf:
                counts[0] += 1
                keys = [low, *(key for key, *_ in nodes[1:])]
                # LMDB ends the process at a branch of one, but while it balances the tree of free pages.
                is_thin = len(nodes) < (1 if integer_keys else 2)
                if is_thin or any(not _ascend(a, b, integer_keys) for a, b in pairwise(keys)):
                    raise PageError(f"page {number} is no branch")
                below = zip(nodes, keys, [*keys[1:], high], strict=True)
                pending += [(child, depth + 1, lower, upper) for (_, child, _, _), lower, upper in reversed([*below])]
                continue
            counts[1] += 1
            counts[3] += len(nodes)
            for key, size, flags, at in nodes:
                within = (low is None or key == low or _ascend(low, key, integer_keys)) and (
                    high is None or _ascend(key, high, integer_keys)
                )
                if not within or not key or (before is not None and not _ascend(before, key, integer_keys)):
                    raise PageError(f"page {number} has keys that are not in order")
                before = key
                if not flags & _BIG:
                    yield key, page[at : at + size], flags
                    continue
                first = int.from_bytes(page[at : at + 8], "little")
                n = self._overflow(first, size)
                counts[2] += n
                yield key, self._pages.read(first, n)[_HEADER : _HEADER + size] if with_values else b"", flags
        if tuple(counts) != (tree.n_branches, tree.n_leaves, tree.n_overflow, tree.n_entries):
            raise PageError("a tree has not as many pages or records as it says")

    def _overflow(self, number: int, size: int) -> int:
        """How many pages a long value has; more than it needs, where it was longer."""
        self.reach(number)
        _expect_header(head := self._pages.read(number), number, _OVERFLOW)
        n = int.from_bytes(head[12:16], "little")
        if n * self._pages.size < _HEADER + size:
            raise PageError(f"page {number} does not begin a value of {size:,} bytes")
        if n > 1:
            self.reach(number + 1, n - 1)
            self._pages.expect(number + n - 1)
        return n


def _ascend(first: bytes | None, second: bytes | None, integers: bool) -> bool:
    if first is None or second is None:
        return True
    if integers:
        return int.from_bytes(first, "little") < int.from_bytes(second, "little")
    return first < second


def _nodes_of(page: bytes, number: int, is_leaf: bool) -> list[tuple[bytes, int, int, int]]:
    """Of a leaf: key, bytes of the value, flags, and where the value, or the number of its page, stands. Of a branch:
    key, page, 0 and 0."""
    lower, upper = _expect_header(page, number, _LEAF if is_leaf else _BRANCH)
    end = len(page)
    if not _HEADER <= lower <= upper <= end or lower % 2:
        raise PageError(f"page {number} has no room for its nodes")
    found = []
    room = 0
    for at in struct.unpack_from(f"<{(lower - _HEADER) // 2}H", page, _HEADER):
        if not upper <= at <= end - _NODE.size:
            raise PageError(f"page {number} has a node outside")
        low, high, flags, key_size = _NODE.unpack_from(page, at)
        behind = at + _NODE.size + key_size
        key = page[at + _NODE.size : behind]
        if is_leaf:
            size = low | high << 16
            if flags & ~(_BIG | _TREE_INSIDE):
                raise PageError(f"page {number} has a node of no sort")
            found.append((key, size, flags, behind))
            taken = _NODE.size + key_size + (8 if flags & _BIG else size)
        else:
            found.append((key, low | high << 16 | flags << 32, 0, 0))
            taken = _NODE.size + key_size
        if at + taken > end:
            raise PageError(f"page {number} has a node outside")
        room += taken + taken % 2
    if room != end - upper:
        raise PageError(f"page {number} has nodes that do not fill it")
    return found


def _expect_header(page: bytes, number: int, sort: int) -> tuple[int, int]:
    own_number, _, flags, lower, upper = _PAGE_HEAD.unpack_from(page)
    if own_number != number or flags != sort:
        raise PageError(f"page {number} is not what it is named as")
    return lower, upper


def _metas(descriptor: int) -> tuple[int, tuple[Meta, Meta]]:
    """The size of a page, and both metas."""
    for attempt in range(_ATTEMPTS):
        try:
            return _metas_once(descriptor)
        except PageError:  # may be that somebody commits between one and the other
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError


def _metas_once(descriptor: int) -> tuple[int, tuple[Meta, Meta]]:
    head = os.pread(descriptor, 1 << 16, 0)
    if len(head) < 2 * 4_096:
        raise PageError(f"it is cut off: it has {len(head):,} bytes")
    size = int.from_bytes(head[_HEADER + _META_HEAD.size : _HEADER + _META_HEAD.size + 4], "little")
    if size < 512 or size & (size - 1) or 2 * size > len(head):
        raise PageError("its first page says nothing of LMDB")
    first, second = (_meta(head[page * size : (page + 1) * size], page) for page in (0, 1))
    if {first.free.page_size, second.free.page_size} != {size}:
        raise PageError("its first two pages do not agree on the size of a page")
    if abs(first.commit - second.commit) != 1 and (first.commit, second.commit) != (0, 0):
        raise PageError(f"its first two pages are of the commits {first.commit} and {second.commit}")
    n_pages = os.fstat(descriptor).st_size // size
    for meta in (first, second):
        if meta.last_page > 2 * n_pages + _MOST_BEHIND:
            raise PageError(f"its last page is {meta.last_page}, and it has {n_pages:,}")
    return size, (first, second)


def _meta(page: bytes, number: int) -> Meta:
    own_number, _, flags, _, _ = _PAGE_HEAD.unpack_from(page)
    magic, version, address, _ = _META_HEAD.unpack_from(page, _HEADER)
    at = _HEADER + _META_HEAD.size
    free, main = (Tree(*_TREE.unpack_from(page, at + tree * _TREE.size)) for tree in (0, 1))
    last_page, commit = _META_TAIL.unpack_from(page, at + 2 * _TREE.size)
    is_one = (own_number, flags, magic, version, address) == (number, _META, _MAGIC, 1, 0)
    if not is_one or free.flags != _INTEGER_KEY or main.flags or (commit and commit % 2 != number):
        raise PageError(f"page {number} does not say of a commit what LMDB says")
    return Meta(commit, free, main, last_page)
