"""Images on their way to Spark's workers.

In: a set, the file of an image, a folder of shards, or `.prof` files. Out: a `Shipped`, which is small, and goes with
each task. Where all workers see the driver's files, that is a path; else the file is sent to each executor once
(`addFile`; a broadcast would be memory of each worker's own).

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
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from profilec.profileset import ProfileSet, compile, load
from profilec.runtime.imagefile.container import is_image
from profilec.spark.errors import SparkMatchError
from profilec.spark.session import is_local, own_version
from profilec.spark.sharded_set import MANIFEST, ShardedSet, is_sharded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHIP = ("auto", "path", "file")
ONLY = ""
"""The name of a set that serves a function alone."""


class Shipped(NamedTuple):
    """An image, as a worker finds it. `place`: what it serves, where it is dropped for another that does. `image` and
    `documents`: paths, or names of files that were added; "" for no documents. Of a set that is split, `image` is the
    list of its shards, which are beside it. `version`: the driver's profilec."""

    place: str
    image: str
    documents: str
    is_added: bool
    version: str


def opened(profiles: Any) -> ProfileSet | ShardedSet:
    """The set that a user means: a `ProfileSet`, or the path of an image, a folder of shards, a .prof file or a folder
    of these.

    Raises:
        FileNotFoundError: nothing is at the path.
        ProfileError, ImageError: it cannot be compiled, or loaded.
        TypeError: it is neither.
    """
    if isinstance(profiles, ProfileSet):
        return profiles._settled()
    if isinstance(profiles, ShardedSet):
        return profiles
    if not isinstance(profiles, str | os.PathLike):
        raise TypeError(
            f"profiles are a ProfileSet, or the path of an image or of .prof files, not {type(profiles).__name__}"
        )
    path = Path(profiles)
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file; profilec.compile makes a set of text, which is taken too")
    if is_sharded(path):
        return ShardedSet(path / MANIFEST)
    return load(path) if is_image(path) else compile(path)


def ship(
    spark: SparkSession,
    profiles: Any,
    place: str,
    how: str = "auto",
    directory: str | None = None,
    shards: int | None = None,
) -> tuple[ProfileSet | ShardedSet, Shipped]:
    """The set, and how workers find it.

    Args:
        how: "path": workers see the driver's files (or `directory`); "file": the image is sent to them; "auto": the
            first where the master is local.
        directory: where a set is written to; None for a temporary folder of this process.
        shards: how many images a set is split into; None for one, or for those that it is in.

    Raises:
        as `opened` and `shard`, and ValueError where `how` is none of these.
    """
    if how not in SHIP:
        raise ValueError(f"ship_by takes {', '.join(map(repr, SHIP))}, not {how!r}")
    whole = opened(profiles)
    by_path = how == "path" or (how == "auto" and (is_local(spark) or directory is not None))
    if by_path and shards is None and isinstance(profiles, str | os.PathLike) and is_image(profiles):
        return whole, Shipped(place, os.path.abspath(profiles), "", False, own_version())
    folder = _own_folder() if directory is None else Path(directory)
    split = whole
    if shards is not None:
        from profilec.spark.sharding import shard

        split = ShardedSet(shard(whole, shards, _folder_in(folder)) / MANIFEST)
    image, beside = _image_of(split, folder, by_path)
    documents = _documents_of(whole, folder)
    if by_path:
        return whole, Shipped(place, str(image), str(documents or ""), False, own_version())
    _add(spark, [file for file in (*beside, image, documents) if file is not None])
    return whole, Shipped(place, image.name, "" if documents is None else documents.name, True, own_version())


def _image_of(profiles: ProfileSet | ShardedSet, folder: Path, by_path: bool) -> tuple[Path, list[Path]]:
    """The file of a set, and those that must be beside it. One that is sent is named by what is in it."""
    if not isinstance(profiles, ShardedSet):
        return written(profiles, folder), []
    if by_path:
        return profiles.manifest.absolute(), []
    folder.mkdir(parents=True, exist_ok=True)
    manifest = folder / f"profilec-{profiles.fingerprint}.shards"
    with replacing(folder, ".shards") as part:
        shutil.copyfile(profiles.manifest, part)
        os.replace(part, manifest)
    return manifest, [_linked(file, folder) for file in profiles.files]


def _linked(file: Path, folder: Path) -> Path:
    """The file under the same name in a folder, where it stays when its own folder goes."""
    target = folder / file.name
    if not target.exists():
        with replacing(folder, file.suffix) as part:
            part.unlink()
            try:
                os.link(file, part)
            except OSError:
                shutil.copyfile(file, part)
            os.replace(part, target)
    return target


def _add(spark: SparkSession, files: Iterable[Path]) -> None:
    """Sends files to all executors. What has the name of a file that was sent has the same content, and may lie
    elsewhere, which Spark would refuse."""
    context = spark.sparkContext
    known = {uri.rpartition("/")[2] for uri in context.listFiles}
    for file in files:
        if file.name not in known:
            context.addFile(str(file))


def _folder_in(folder: Path) -> Path:
    """A new folder for the shards of a set."""
    folder.mkdir(parents=True, exist_ok=True)
    own = Path(tempfile.mkdtemp(prefix="profilec-shards-", dir=folder))
    own.chmod(0o755)  # executors may be other users'
    return own


@contextmanager
def replacing(folder: Path, suffix: str) -> Iterator[Path]:
    """A file that is to be renamed when it is whole; where it is not, it goes."""
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".profilec-", suffix=f"{suffix}.part", delete=False) as file:
        part = Path(file.name)
    try:
        yield part
    finally:
        part.unlink(missing_ok=True)


def written(profiles: ProfileSet, folder: Path) -> Path:
    """The file of the set's image, which is named by what is in it."""
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder, ".image") as part:
        profiles.save(part)
        image = folder / f"profilec-{digest_of(part)}.image"
        if not image.exists():  # another file would be opened anew by workers that have this one
            os.replace(part, image)
    image.chmod(0o644)
    return image


def _documents_of(profiles: ProfileSet | ShardedSet, folder: Path) -> Path | None:
    """The file of the set's earlier documents; None where no profile asks for any, or there are none."""
    n_joins = profiles.n_joins if isinstance(profiles, ShardedSet) else profiles.plan.n_joins
    if not n_joins or not len(profiles.documents):
        return None
    content = pickle.dumps(profiles.documents)
    file = folder / f"profilec-{hashlib.blake2b(content, digest_size=16).hexdigest()}.documents"
    part = file.with_suffix(f".{os.getpid()}.part")
    part.write_bytes(content)
    os.replace(part, file)
    return file


def digest_of(path: Path) -> str:
    """Of what is in a file."""
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
