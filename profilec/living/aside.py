"""A large segment is made in a process of its own.

In: what is left of segments, and profiles that are in none. Out: an image in a file, which is mapped here.

    job         tokens: schema, options, unit costs, where the image is to be written, the open files of images
    left.npy    the ordinals of the profiles that are left of each image, one behind the other
    cuts.npy    where those of each image end
    order.npy   all profiles in the order of the new segment: places among those of the images, then those of `profiles`
    profiles    chunks of records

PERF: whoever matches meanwhile would stand still here while a million constants are sorted: no other thread of Python
runs then. The child takes another core, and its memory is gone when it ends. A profile of an image is not read again.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from profilec.compilation import How, collector_paused
from profilec.compiled_set import OpenFile, Part, part_of, unite_segments
from profilec.grammar.statements import ProfileStatement
from profilec.living.records import Change, bytes_of, change_of, statement_of, stored_of
from profilec.runtime.imagefile.container import ImageFile, write
from profilec.runtime.imagefile.tokens import dumps, loads
from profilec.saved_set import options_of, options_text, read_set, set_sections

LARGE = 20_000
"""Profiles from which on it is worth the second that a process takes to begin."""
_CHUNK = 1_000
_LENGTH = 8
Int64 = NDArray[np.int64]


def unite_aside(
    images: Sequence[tuple[OpenFile, Int64]],
    statements: Iterable[ProfileStatement],
    order: Int64,
    how: How,
    target: Path,
) -> None:
    """As `unite_segments` of images, of which the ordinals that are left are given, and of the source of some profiles;
    writes the image to a file.

    Raises:
        RuntimeError: the child failed; the message has the last it said.
        OSError: there is no room for its files.
    """
    with tempfile.TemporaryDirectory(prefix="profilec-merge-") as name:
        folder = Path(name)
        descriptors = tuple(file.descriptor for file, _ in images)
        facts = (how.schema, options_text(how.options), dict(how.units), str(target.resolve()), descriptors)
        (folder / "job").write_bytes(dumps(facts).encode("utf-8", "surrogatepass"))
        np.save(folder / "left.npy", np.concatenate([np.zeros(0, np.int64), *(left for _, left in images)]))
        np.save(folder / "cuts.npy", np.cumsum([len(left) for _, left in images], dtype=np.int64))
        np.save(folder / "order.npy", order)
        with (folder / "profiles").open("wb") as file, collector_paused():
            rows = (stored_of(0, statement) for statement in statements)
            while chunk := tuple(islice(rows, _CHUNK)):
                _put(file, bytes_of(Change((), chunk)))
        root = str(Path(__file__).parents[2])
        path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        done = subprocess.run(
            [sys.executable, "-m", "profilec.living.aside", name],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            check=False,
            pass_fds=descriptors,
        )
        if (folder / "error").exists():
            raise OSError(*loads((folder / "error").read_text()))
        if done.returncode:
            if done.returncode < 0:
                raise RuntimeError(
                    f"the process that makes a segment was ended by signal {-done.returncode}; is there memory for it?"
                )
            said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            raise RuntimeError(f"the process that makes a segment ended with {done.returncode}: {said}")


def _put(file: BinaryIO, data: bytes) -> None:
    file.write(len(data).to_bytes(_LENGTH, "little"))
    file.write(data)


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while length := file.read(_LENGTH):
            yield file.read(int.from_bytes(length, "little"))


def main(name: str) -> None:
    """What the child does."""
    folder = Path(name)
    job = (folder / "job").read_bytes().decode("utf-8", "surrogatepass")
    schema, options, units, target, descriptors = loads(job)
    how = How(schema, options_of(options), units)
    lefts = np.split(np.load(folder / "left.npy"), np.load(folder / "cuts.npy"))
    parts = []
    for descriptor, left in zip(descriptors, lefts, strict=False):
        whole = read_set(ImageFile.open(f"/dev/fd/{descriptor}"))
        parts.append(Part(whole.table, whole.image, left))
    statements = (statement_of(one) for piece in _pieces(folder / "profiles") for one in change_of(piece).come)
    parts.append(part_of(statements, how))
    united = unite_segments(parts, np.load(folder / "order.npy"), how)
    try:
        write(target, set_sections(united.parts))
    except OSError as error:
        (folder / "error").write_text(dumps((error.errno, error.strerror, error.filename)))


if __name__ == "__main__":
    main(*sys.argv[1:])
