"""Machine code of kernels, kept in files between processes.

In: a compiled kernel. Out: the same, in the next process. A file holds one kernel for one signature and one sort of
processor; directories are looked through in order, and the first that can be written to gets what is missing there.

Invariant: what cannot be read is compiled, what cannot be written is not kept; neither is an error. Several processes
may compile the same at once: a file appears whole, and whoever writes it last changes nothing.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

_CHECKSUM = 16
compiled: list[str] = []
"""The kernels that this process compiled, since it did not find them."""
not_kept: list[str] = []
"""Those of them that could not be kept."""
read_from: list[Path] = []
kept_in: list[Path] = []
"""The directories of the kernels that were found, and of those that were compiled and kept; one a kernel."""
_log = logging.getLogger(__name__)


class KernelCache:
    """What a dispatcher of Numba's takes for its cache.

    Numba's own keeps an index file a kernel, which processes that compile at once overwrite for each other, gives up
    directories that it may not write to though all be there, and fails where a disk is full.
    """

    def __init__(self, function: Callable[..., Any], directories: Sequence[Path]) -> None:
        self._name = f"{function.__module__}.{function.__qualname__}"
        self._directories = tuple(directories)

    @property
    def cache_path(self) -> str | None:
        """For the dispatcher's statistics."""
        directory = directory_of(self._directories)
        return None if directory is None else str(directory)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The kernel compiled for a signature, or None."""
        target_context.refresh()
        name = self._file_name(signature, target_context.codegen())
        for place, directory in enumerate(self._directories):
            try:
                content = (directory / name).read_bytes()
            except OSError:
                continue
            if _checksum(content[_CHECKSUM:]) == content[:_CHECKSUM]:  # code that is damaged would not fail, but run
                nearer = _first_writable(self._directories[:place])
                read_from.append(nearer if nearer is not None and _keep(nearer / name, content) else directory)
                return cast(Any, CompileResult)._rebuild(target_context, *pickle.loads(memoryview(content)[_CHECKSUM:]))
        _say_compiling()
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keeps a kernel that was compiled, if it can."""
        compiled.append(self._name)
        directory = None if result.library.has_dynamic_globals else writable(self._directories)
        if directory is not None:
            content = cast(Any, dumps)(result._reduce())
            if _keep(directory / self._file_name(signature, result.codegen), _checksum(content) + content):
                kept_in.append(directory)
                return
        not_kept.append(self._name)

    def flush(self) -> None:
        """Nothing waits."""

    def _file_name(self, signature: Any, codegen: Any) -> str:
        key = repr((signature, codegen.magic_tuple()))
        return f"{self._name}-{hashlib.blake2b(key.encode(), digest_size=12).hexdigest()}.code"


def directory_of_kernels() -> Path | None:
    """Where the machine code is that this process compiled last, or else read most of.

    None where it needed none, and where some of what it compiled could not be kept.
    """
    if not_kept:
        return None
    return kept_in[-1] if kept_in else max(read_from, key=read_from.count, default=None)


def directory_of(directories: Sequence[Path]) -> Path | None:
    """Where machine code is: the first directory that has some; else where it is going to be, or None."""
    for directory in directories:
        try:
            if any(directory.glob("*.code")):
                return directory
        except OSError:
            continue
    return writable(directories)


@cache
def writable(directories: tuple[Path, ...]) -> Path | None:
    """The first directory that can be written to, made if need be. Says so where that is not the first of all."""
    known = [directory.is_dir() for directory in directories]
    directory = _first_writable(directories)
    if directory is None:
        _say_not_kept(" and ".join(map(str, directories)) + " cannot be written to")
    elif directory != directories[0] and not known[directories.index(directory)]:
        _log.warning("compiled kernels are kept in %s, since %s cannot be written to", directory, directories[0])
    return directory


@cache
def _first_writable(directories: tuple[Path, ...]) -> Path | None:
    return next(filter(_can_write, directories), None)


def _can_write(directory: Path) -> bool:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(directory, os.W_OK | os.X_OK)


@cache
def _say_not_kept(reason: str) -> None:
    _log.warning("compiled kernels are not kept, and the next process compiles them again: %s", reason)


@cache
def _say_compiling() -> None:
    """Who waits is to know what for: the command shows it, and a program that logs."""
    _log.info("compiling kernels for this machine, which is done once and takes up to a minute or two")


def _keep(path: Path, content: bytes) -> bool:
    """Whether it could be written."""
    try:
        _write(path, content)
    except OSError as error:
        _say_not_kept(f"{path.parent}: {error.strerror}")
        return False
    return True


def _write(path: Path, content: bytes) -> None:
    """A file that is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)  # it may have been removed meanwhile
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).chmod(0o644)  # who warms up a container's image is not who runs it
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_CHECKSUM).digest()
