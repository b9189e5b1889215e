"""Which files of profiles a verb's arguments name.

In: files, folders (all `.prof` files in them, at any depth, by name) and `-` for standard
input. Out: paths, in the order given, each once. An image is told from text by how it begins.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

STDIN = "-"
STDIN_PATH = Path("/dev/stdin")
"""Standard input as a path, so that all sources are read, and named in diagnostics, alike."""
SUFFIX = ".prof"


class SourceError(Exception):
    """An argument that names no profiles."""


def find_files(arguments: Iterable[str]) -> list[Path]:
    """The files that arguments name.

    Raises:
        SourceError: an argument names nothing, or a folder without profiles.
    """
    found: dict[Path, None] = {}
    for argument in arguments:
        found.update(dict.fromkeys([STDIN_PATH] if argument == STDIN else _files(Path(argument))))
    return list(found)


def holds_profiles(argument: str) -> bool:
    """Whether an argument is a `.prof` file, a folder with one in it, or an image."""
    path = Path(argument)
    if path.is_dir():
        return next(path.rglob(f"*{SUFFIX}"), None) is not None
    return path.suffix == SUFFIX or names_image(argument)


def names_image(argument: str) -> bool:
    """Whether an argument is an image, whatever its suffix."""
    try:
        if argument == STDIN or not Path(argument).is_file():
            return False
    except OSError:
        return False
    from profilec.runtime.imagefile.container import is_image

    return is_image(argument)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        if not path.exists():
            raise SourceError(f"{path}: no such file or folder")
        return [path]
    files = sorted(file for file in path.rglob(f"*{SUFFIX}") if file.is_file())
    if not files:
        raise SourceError(f"{path}: no {SUFFIX} file in this folder")
    return files
