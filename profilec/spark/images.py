"""Images on their way to Spark's workers.

In: a set, the file of an image, or `.prof` files. Out: a `Shipped`, which is small, and goes with each task. Where all
workers see the driver's files, that is a path; else the file is sent to each executor once (`addFile`; a broadcast
would be memory of each worker's own).

A set is written to a file of the driver's that nobody changes. The image at a path that the user gave is followed: when
another is written in its place, tasks that start afterwards match by that one.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import pickle
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from profilec.profileset import ProfileSet, compile, load
from profilec.runtime.imagefile.container import is_image
from profilec.spark.errors import SparkMatchError
from profilec.spark.session import is_local, own_version

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHIP = ("auto", "path", "file")
ONLY = ""
"""The name of a set that serves a function alone."""


class Shipped(NamedTuple):
    """An image, as a worker finds it. `place`: what it serves, where it is dropped for another that does. `image` and
    `documents`: paths, or names of files that were added; "" for no documents. `version`: the driver's profilec."""

    place: str
    image: str
    documents: str
    is_added: bool
    version: str


def opened(profiles: Any) -> ProfileSet:
    """The set that a user means: a `ProfileSet`, or the path of an image, a .prof file or a folder of these.

    Raises:
        FileNotFoundError: nothing is at the path.
        ProfileError, ImageError: it cannot be compiled, or loaded.
        TypeError: it is neither.
    """
    if isinstance(profiles, ProfileSet):
        return profiles
    if not isinstance(profiles, str | os.PathLike):
        raise TypeError(
            f"profiles are a ProfileSet, or the path of an image or of .prof files, not {type(profiles).__name__}"
        )
    path = Path(profiles)
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file; profilec.compile makes a set of text, which is taken too")
    return load(path) if is_image(path) else compile(path)


def ship(
    spark: SparkSession, profiles: Any, place: str, how: str = "auto", directory: str | None = None
) -> tuple[ProfileSet, Shipped]:
    """The set, and how workers find it.

    Args:
        how: "path": workers see the driver's files (or `directory`); "file": the image is sent to them; "auto": the
            first where the master is local.
        directory: where a set is written to; None for a temporary folder of this process.

    Raises:
        as `opened`, and ValueError where `how` is none of these.
    """
    if how not in SHIP:
        raise ValueError(f"ship_by takes {', '.join(map(repr, SHIP))}, not {how!r}")
    opened_set = opened(profiles)
    by_path = how == "path" or (how == "auto" and (is_local(spark) or directory is not None))
    if by_path and not isinstance(profiles, ProfileSet) and is_image(profiles):
        return opened_set, Shipped(place, os.path.abspath(profiles), "", False, own_version())
    folder = _own_folder() if directory is None else Path(directory)
    image = _written(opened_set, folder)
    documents = _documents_of(opened_set, folder)
    if by_path:
        return opened_set, Shipped(place, str(image), str(documents or ""), False, own_version())
    for file in (image, documents):
        if file is not None:
            spark.sparkContext.addFile(str(file))
    return opened_set, Shipped(place, image.name, "" if documents is None else documents.name, True, own_version())


def _written(profiles: ProfileSet, folder: Path) -> Path:
    """The file of the set's image, which is named by what is in it."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".profilec-", suffix=".part", delete=False) as file:
        part = Path(file.name)
    try:
        profiles.save(part)
        image = folder / f"profilec-{_digest(part)}.image"
        os.replace(part, image)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    image.chmod(0o644)
    return image


def _documents_of(profiles: ProfileSet, folder: Path) -> Path | None:
    """The file of the set's earlier documents; None where no profile asks for any, or there are none."""
    if not profiles.plan.n_joins or not len(profiles.documents):
        return None
    content = pickle.dumps(profiles.documents)
    file = folder / f"profilec-{hashlib.blake2b(content, digest_size=16).hexdigest()}.documents"
    part = file.with_suffix(f".{os.getpid()}.part")
    part.write_bytes(content)
    os.replace(part, file)
    return file


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


@cache
def _own_folder() -> Path:
    """A folder of this process, which goes with it."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="profilec-"))
    except OSError as error:
        raise SparkMatchError(f"no temporary folder for images: {error}; name one with directory=") from None
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
