"""Which files of profiles a verb's arguments name.

In: files, folders (all `.prof` files in them, at any depth, by name) and `-` for standard
input. Out: paths, in the order given, each once. An image is told from text by how it begins.

Invariant: a pipe is read once, and not before its bytes are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path, PosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from profilec.runtime.imagefile.container import ImageFile

STDIN = "-"
STDIN_PATH = Path("/dev/stdin")
"""Standard input as a path, so that all sources are read, and named in diagnostics, alike."""
SUFFIX = ".prof"


class SourceError(Exception):
    """An argument that names no profiles."""


class Piped(PosixPath):
    """What can be read only once, as a file that can be read again."""

    _content: bytes | None = None

    def read_bytes(self) -> bytes:
        if self._content is None:
            self._content = super().read_bytes()
        return self._content


@cache
def as_file(argument: str) -> Path:
    """The path that an argument names, which standard input and pipes can be read by more than once."""
    path = STDIN_PATH if argument == STDIN else Path(argument)
    return path if path.is_file() or path.is_dir() else Piped(path)


def find_files(arguments: Iterable[str]) -> list[Path]:
    """The files that arguments name.

    Raises:
        SourceError: an argument names nothing, or a folder without profiles.
    """
    found: dict[Path, None] = {}
    for argument in arguments:
        found.update(dict.fromkeys(_files(argument)))
    return list(found)


def holds_profiles(argument: str) -> bool:
    """Whether an argument is a `.prof` file, a folder with one in it, an image or a store."""
    path = Path(argument)
    if path.is_dir():
        return names_store(argument) or next(path.rglob(f"*{SUFFIX}"), None) is not None
    return path.suffix == SUFFIX or names_image(argument)


def names_store(argument: str) -> bool:
    """Whether an argument is the folder of a store."""
    path = Path(argument)
    return argument != STDIN and path.is_dir() and ((path / "data.mdb").is_file() or (path / "merge.lock").is_file())


def names_image(argument: str) -> bool:
    """Whether an argument is an image, whatever its suffix."""
    try:
        if argument == STDIN or not Path(argument).is_file():
            return False
    except OSError:
        return False
    from profilec.runtime.imagefile.container import is_image

    return is_image(argument)


def holds_image(argument: str) -> bool:
    """Whether an argument that is to be read as profiles is an image; what comes through a pipe is looked into, too."""
    path = as_file(argument)
    if not isinstance(path, Piped):
        return names_image(str(path))
    from profilec.runtime.imagefile.container import MAGIC

    try:
        return path.read_bytes().startswith(MAGIC)
    except OSError:
        return False


def open_image(argument: str) -> ImageFile:
    """The image that an argument names, mapped, or from a pipe.

    Raises:
        ImageError: it is none, or a damaged one.
        OSError: it cannot be read.
    """
    from profilec.runtime.imagefile.container import ImageFile

    path = as_file(argument)
    return ImageFile(path.read_bytes(), str(path)) if isinstance(path, Piped) else ImageFile.open(path)


def _files(argument: str) -> list[Path]:
    path = as_file(argument)
    if not path.is_dir():
        if argument != STDIN and not path.exists():
            raise SourceError(f"{path}: no such file or folder")
        return [path]
    files = sorted(file for file in path.rglob(f"*{SUFFIX}") if file.is_file())
    if not files:
        raise SourceError(f"{path}: no {SUFFIX} file in this folder")
    return files
