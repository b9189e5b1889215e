"""A large segment is compiled in a process of its own.

In: profiles, which go to the child as chunks of records in a file. Out: an image in a file, which is mapped here.

PERF: the compiler sorts all constants of an attribute at once, during which no other thread of Python runs: whoever
matches meanwhile would stand still. The child takes another core, and its memory is gone when it ends.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from profilec.compilation import CompiledSegment, compile_segment
from profilec.grammar.statements import ProfileStatement
from profilec.living.records import Change, bytes_of, change_of, statement_of, stored_of
from profilec.planner.costs import Units
from profilec.planner.options import Options
from profilec.runtime.imagefile.container import ImageFile, write
from profilec.runtime.imagefile.tokens import dumps, loads
from profilec.saved_set import options_of, options_text, read_set, set_sections
from profilec.values.types import Schema

LARGE = 20_000
"""Profiles from which on it is worth the second that a process takes to begin."""
_CHUNK = 1_000
_LENGTH = 8


def compile_of(
    statements: Iterable[ProfileStatement], n: int, schema: Schema | None, options: Options, units: Units
) -> CompiledSegment:
    """A segment of so many profiles, compiled here or aside."""
    how = compile_segment if n < LARGE else compile_aside
    return how(statements, schema, options, units)


def compile_aside(
    statements: Iterable[ProfileStatement], schema: Schema | None, options: Options, units: Units
) -> CompiledSegment:
    """As `compile_segment`.

    Raises:
        RuntimeError: the child failed; the message has the last it said.
        OSError: there is no room for its files.
    """
    with tempfile.TemporaryDirectory(prefix="profilec-merge-") as name:
        given, image = Path(name) / "profiles", Path(name) / "image"
        with given.open("wb") as file:
            head = dumps((schema, options_text(options), dict(units)))
            _put(file, head.encode("utf-8", "surrogatepass"))
            rows = (stored_of(0, statement) for statement in statements)
            while chunk := tuple(islice(rows, _CHUNK)):
                _put(file, bytes_of(Change((), chunk)))
        root = str(Path(__file__).parents[2])
        path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        done = subprocess.run(
            [sys.executable, "-m", "profilec.living.aside", str(given), str(image)],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            check=False,
        )
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            raise RuntimeError(f"the process that compiles a segment ended with {done.returncode}: {said}")
        return CompiledSegment(read_set(ImageFile.open(image)))


def _put(file: BinaryIO, data: bytes) -> None:
    file.write(len(data).to_bytes(_LENGTH, "little"))
    file.write(data)


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while length := file.read(_LENGTH):
            yield file.read(int.from_bytes(length, "little"))


def main(given: str, image: str) -> None:
    """What the child does."""
    pieces = _pieces(Path(given))
    schema, options, units = loads(next(pieces).decode("utf-8", "surrogatepass"))
    statements = (statement_of(stored) for piece in pieces for stored in change_of(piece).come)
    compiled = compile_segment(statements, schema, options_of(options), units)
    write(image, set_sections(compiled.parts))


if __name__ == "__main__":
    main(*sys.argv[1:])
