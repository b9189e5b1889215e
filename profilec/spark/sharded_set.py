"""A set in several images, its shards, which answers as one.

In: the folder that `sharding` wrote. Out: the matches of documents, in the order of the whole set.

    shards.json            the images in order, their profiles and bytes, the map's name, a fingerprint
    profilec-….image       a shard, a set of its own; ordinals ascend in it
    profilec-….npy         int32, 2 x profiles: of each place, shard after shard, the ordinal in the whole set;
                           and of each ordinal its place

Every image is mapped, which costs no memory; what a process makes of an image for matching costs about as much as the
image. So a batch is matched with one shard after another, and `MOST_BYTES` of them stay open. The next batch goes the
other way round, which begins with those that are. Where not all of them stay, opening them again would take longer than
matching a batch does: so `blocks` makes one of several.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np
import pyarrow as pa

from profilec.grammar.diagnostics import did_you_mean
from profilec.profileset import ProfileSet
from profilec.runtime.batch import MatchBatch
from profilec.runtime.image import Image
from profilec.runtime.imagefile.columns import Strings
from profilec.runtime.imagefile.container import ImageFile
from profilec.runtime.imagefile.sections import read_image
from profilec.runtime.store.documents import DocumentStore
from profilec.saved_set import read_set
from profilec.spark.errors import SparkMatchError
from profilec.values.types import Schema
from profilec.why import Explanation

MANIFEST = "shards.json"
VERSION = 1
MOST_BYTES = 256 << 20
"""Of the images that a process keeps open; one of them is, whatever its size."""
_BLOCK_ROWS, _BLOCK_BYTES = 100_000, 64 << 20
_MOST_TO_GUESS_FROM = 100_000


class ShardedSet:
    """Answers as the `ProfileSet` that was split. `documents`: those that quantified joins range over."""

    def __init__(self, manifest: str | os.PathLike[str]) -> None:
        """Maps the images that a manifest names, in its folder.

        Raises:
            SparkMatchError: it is none, a file is missing or unreadable, or they do not go together.
        """
        self.manifest = Path(manifest)
        facts = _read_manifest(self.manifest)
        self.fingerprint: str = facts["fingerprint"]
        folder = self.manifest.parent
        names = [shard["image"] for shard in facts["shards"]]
        self.files = [folder / name for name in (*names, facts["ordinals"])]
        try:
            self._images = [ImageFile.open(folder / name) for name in names]
            self._ids = [Strings.read(image, "ids") for image in self._images]
            maps = np.load(self.files[-1], mmap_mode="r")
        except (OSError, ValueError) as error:  # ImageError is a ValueError
            raise SparkMatchError(
                f"{self.manifest}: a shard cannot be read here: {error}; all files of the folder must stay, where "
                f"every executor sees them, while queries use them: split the set again"
            ) from None
        if maps.dtype != np.int32 or maps.shape != (2, sum(map(len, self._ids))):
            raise SparkMatchError(f"{self.manifest}: its images and {facts['ordinals']} do not go together")
        self._ordinals, self._places = maps
        self._starts = np.cumsum([0, *map(len, self._ids)])
        self._open: OrderedDict[int, ProfileSet] = OrderedDict()
        self._is_forward = True
        self.ids: Sequence[str] = _Ids(self)
        self.documents = DocumentStore(schema=() if self.schema is None else (self.schema,))

    @property
    def n_shards(self) -> int:
        return len(self._images)

    @property
    def first(self) -> ProfileSet:
        """The first shard."""
        return self._shard(0)

    @cached_property
    def schema(self) -> Schema | None:
        """As of `ProfileSet`; all shards have it."""
        return next(iter(read_set(self._images[0]).schema), None)

    @cached_property
    def n_joins(self) -> int:
        """The joins of all shards."""
        return sum(len(image.joins) for image in self.images())

    @cached_property
    def matchers(self) -> str:
        """Those of all shards."""
        return ", ".join(dict.fromkeys(read_set(image).plan.matchers for image in self._images))

    def images(self) -> list[Image]:
        """Those of the shards, of which nothing is decoded yet."""
        return [read_image(image) for image in self._images]

    def __len__(self) -> int:
        return len(self._ordinals)

    def match_batch(self, documents: Any) -> MatchBatch:
        """As of `ProfileSet`."""
        numbers = range(self.n_shards)
        found = [self._matched(number, documents) for number in (numbers if self._is_forward else reversed(numbers))]
        self._is_forward = not self._is_forward
        n_rows = len(found[0][0]) - 1
        rows = np.concatenate([np.repeat(np.arange(n_rows), np.diff(offsets)) for offsets, _ in found])
        ordinals = np.concatenate([ordinals for _, ordinals in found])
        order = np.lexsort((ordinals, rows))
        offsets = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n_rows))))
        return MatchBatch(offsets.astype(np.int64), ordinals[order], self.ids)

    def _matched(self, number: int, documents: Any) -> tuple[Any, Any]:
        """The matches of a shard: offsets, and ordinals in the whole set."""
        batch = self._shard(number).match_batch(documents)
        return batch.offsets, self._ordinals[self._starts[number] + batch.indices]

    def _shard(self, number: int) -> ProfileSet:
        known = self._open.get(number)
        if known is None:
            self._make_room(len(self._images[number].data))
            known = self._open[number] = ProfileSet(read_set(self._images[number]))
            known.documents = self.documents
        self._open.move_to_end(number)
        return known

    def _make_room(self, n_bytes: int) -> None:
        is_full = False
        while self._open and n_bytes + sum(len(self._images[number].data) for number in self._open) > MOST_BYTES:
            self._open.popitem(last=False)
            is_full = True
        if is_full:
            gc.collect()  # what was made for matching refers to itself

    def blocks(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches; where not all shards stay open, several as one."""
        if sum(len(image.data) for image in self._images) <= MOST_BYTES:
            yield from batches
            return
        block: list[pa.RecordBatch] = []
        for batch in batches:
            block.append(batch)
            n_rows, n_bytes = sum(one.num_rows for one in block), sum(one.nbytes for one in block)
            if n_rows >= _BLOCK_ROWS or n_bytes >= _BLOCK_BYTES:
                yield pa.concat_batches(block)
                block = []
        if block:
            yield pa.concat_batches(block)

    def ordinal(self, id: str) -> int:
        """As of `ProfileSet`. Raises KeyError."""
        for number in range(self.n_shards):
            ordinal = read_set(self._images[number]).table.ordinal(id)
            if ordinal is not None:
                return int(self._ordinals[self._starts[number] + ordinal])
        hint = did_you_mean(id, self.ids) if isinstance(id, str) and len(self) <= _MOST_TO_GUESS_FROM else None
        raise KeyError(f"no profile {id!r}" + (f"; {hint}" if hint else ""))

    def why(self, document: Mapping[str, Any], id: str) -> Explanation:
        """As of `ProfileSet`. Raises KeyError."""
        number, _ = self._place(self.ordinal(id))
        return self._shard(number).why(document, id)

    def _place(self, ordinal: int) -> tuple[int, int]:
        """The shard of a profile, and its ordinal there."""
        place = int(self._places[ordinal])
        number = int(np.searchsorted(self._starts, place, "right")) - 1
        return number, place - int(self._starts[number])

    def id_at(self, ordinal: int) -> str:
        """The id of a profile."""
        number, place = self._place(ordinal)
        return self._ids[number][place]


class _Ids(Sequence[str]):
    """All ids, in the order of the whole set."""

    def __init__(self, of: ShardedSet) -> None:
        self._of = of

    def __len__(self) -> int:
        return len(self._of)

    @overload
    def __getitem__(self, ordinal: int) -> str: ...
    @overload
    def __getitem__(self, ordinal: slice) -> Sequence[str]: ...
    def __getitem__(self, ordinal: int | slice) -> str | Sequence[str]:
        if isinstance(ordinal, slice):
            return [self._of.id_at(one) for one in range(len(self))[ordinal]]
        return self._of.id_at(range(len(self))[ordinal])


def is_sharded(path: str | os.PathLike[str]) -> bool:
    """Whether a path is that of a folder of shards."""
    return (Path(path) / MANIFEST).is_file()


def fingerprint_of(names: Iterable[str]) -> str:
    """Of files that are named by what is in them."""
    return hashlib.blake2b("\n".join(names).encode(), digest_size=16).hexdigest()


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        facts = json.loads(path.read_bytes())
        version = facts["profilec_shards"]
        names = [*(shard["image"] for shard in facts["shards"]), facts["ordinals"]]
        is_whole = version != VERSION or (len(names) > 1 and facts["fingerprint"] == fingerprint_of(names))
    except OSError as error:
        raise SparkMatchError(f"{path} cannot be read here: {error.strerror}; split the set again") from None
    except (ValueError, TypeError, KeyError):
        is_whole, version = False, VERSION
    if not is_whole:
        raise SparkMatchError(f"{path} is no list of shards, or was changed: split the set again")
    if version != VERSION:
        raise SparkMatchError(f"{path} is of another version of profilec: split the set again")
    return dict(facts)
