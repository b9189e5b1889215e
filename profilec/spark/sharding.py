"""`shard`: a set, split into several images.

In: a set, and how many shards. Out: a folder of images, and the list of them that `sharded_set` reads.

Profiles are laid out by entry group, the attribute that gives access to their first entry, and within a group by the
values that it asks for; then they are cut into runs of about the same size. So most groups are in one shard, and one
that is cut has other constants in each: a shard, which is compiled for itself, has only those that it needs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profilec.compilation import Compilation
from profilec.grammar.statements import ProfileStatement
from profilec.planner.statistics import Statistics
from profilec.planner.workers import read_condition
from profilec.profileset import ProfileSet
from profilec.runtime.image import Image
from profilec.runtime.matchers.groups import group_of
from profilec.spark.images import digest_of, opened, replacing, written
from profilec.spark.sharded_set import MANIFEST, VERSION, ShardedSet, fingerprint_of

_BYTES_A_TEST = 8
"""That an entry takes for each of its tests, beside the text of the profile."""


def shard(profiles: Any, n: int, directory: str | os.PathLike[str], *, statistics: Statistics | None = None) -> Path:
    """Splits a set into `n` images of about the same size, for sets that are larger than the memory of an executor.

    The folder that they are written to is what `match` and `register` take in place of a set; both also take
    `shards=n`, and split the set that they are given. The answers are those of the whole set, in its order. A task goes
    through its rows shard after shard: images are mapped, so that of each only the pages that are used are in memory,
    those of the machine's page cache, which all workers share; of what matching makes of an image besides, a worker
    keeps that of a few hundred MiB. No row is sent to another executor, and all executors need all the files.

    Args:
        profiles: a `ProfileSet`, or the path of an image or of .prof files.
        n: the number of shards; there are no more than profiles.
        directory: where they are written to. What is there of before stays, for queries that use it.
        statistics: as of `profilec.compile`, for the plans of the shards.

    Returns:
        The folder.

    Raises:
        ValueError: `n` is less than 1.
        TypeError: it is no whole number, or `profiles` are none, or split already.
        ProfileError, ImageError, OSError: the profiles cannot be compiled, loaded or written.
    """
    if not isinstance(n, int) or isinstance(n, bool):
        raise TypeError(f"a number of shards is a whole number, not {n!r:.60}")
    if n < 1:
        raise ValueError(f"a set has one shard at least, not {n}")
    whole = opened(profiles)
    if isinstance(whole, ShardedSet):
        raise TypeError(f"{whole.manifest.parent} is a set that was split already: split the whole one again")
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    shards: list[dict[str, Any]] = []
    runs = runs_of(whole, n)
    for run in runs:
        image = written(part_of(whole, run, statistics), folder)
        shards.append({"image": image.name, "profiles": len(run), "bytes": image.stat().st_size})
    ordinals = np.concatenate(runs).astype(np.int32)
    places = np.empty_like(ordinals)
    places[ordinals] = np.arange(len(ordinals), dtype=np.int32)
    with replacing(folder, ".npy") as part:
        with part.open("wb") as stream:
            np.save(stream, np.stack((ordinals, places)))
        maps = folder / f"profilec-{digest_of(part)}.npy"
        os.replace(part, maps)
    facts = {
        "profilec_shards": VERSION,
        "profiles": len(whole),
        "fingerprint": fingerprint_of([*(shard["image"] for shard in shards), maps.name]),
        "ordinals": maps.name,
        "shards": shards,
    }
    with replacing(folder, ".json") as part:
        part.write_text(json.dumps(facts, indent=1) + "\n")
        os.replace(part, folder / MANIFEST)
    for file in (maps, folder / MANIFEST):
        file.chmod(0o644)
    return folder


def runs_of(profiles: ProfileSet, n: int) -> list[NDArray[np.int64]]:
    """The ordinals of each shard, ascending: of `n`, or of as many as there are profiles, but of one at least."""
    order, weights = _laid_out(profiles)
    n = max(1, min(n, len(order)))
    ends = np.cumsum(weights[order])
    numbers = np.arange(1, n)
    cuts = np.searchsorted(ends, ends[-1:] * numbers / n) + 1 if n > 1 else numbers
    cuts = np.maximum.accumulate(cuts - numbers) + numbers  # no shard is without profiles
    cuts = np.minimum(cuts, len(order) - n + numbers)
    return [np.sort(run) for run in np.split(order, cuts)]


def _laid_out(profiles: ProfileSet) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ordinals by group and by what is asked for in it; and what each profile weighs in an image, in bytes."""
    image: Image = profiles._image
    n_entries, n_profiles = image.n_entries, image.n_profiles
    entry = np.repeat(np.arange(n_entries), np.diff(image.entry_profile_off))
    first = np.full(n_profiles, n_entries)
    np.minimum.at(first, image.entry_profiles, entry)
    access = np.asarray(image.entry_access, np.int64)
    asked = access.copy()
    is_of_slot = (access >= 0) & (access < image.n_tests)
    asked[is_of_slot] = image.test_low[image.test_off[access[is_of_slot]]]
    group = np.append(group_of(image), -1)[first]  # impossible profiles have no entry
    order = np.lexsort((np.append(asked, -1)[first], group))
    n_tests = np.bincount(image.entry_profiles, np.diff(image.entry_off)[entry], n_profiles).astype(np.int64)
    texts = sum(np.diff(strings.columns()[0]) for strings in (profiles._table.ids, profiles._table.wheres))
    return order, texts + _BYTES_A_TEST * n_tests + 1


def part_of(profiles: ProfileSet, ordinals: Iterable[int], statistics: Statistics | None) -> ProfileSet:
    """Some of the profiles, compiled for themselves; all that is known of a profile stays with it.

    Raises:
        ValueError: the text of a profile cannot be compiled any more.
    """
    whole = profiles._whole()
    options, table = whole.parts.options, whole.parts.table
    compiled = Compilation(profiles.schema, options, whole.units, [])
    for ordinal in map(int, ordinals):
        id_, where = table.ids[ordinal], table.wheres[ordinal]
        form, found = read_condition(id_, where, profiles.schema, options.limits, options.rules)
        if form is None:
            raise ValueError(f"profile {id_!r} cannot be compiled for its shard: {found[0]}")
        statement = ProfileStatement(
            id_,
            where,
            form,
            dict(table.properties.get(ordinal, {})),
            table.examples.get(ordinal, ()),
            *table.places[ordinal],
            0,
            table.comments.get(ordinal),
        )
        compiled.take(statement, is_normal=True)
    if compiled.diagnostics:
        raise ValueError(f"a profile cannot be compiled for its shard: {compiled.diagnostics[0]}")
    return ProfileSet(compiled.finish(statistics, is_part=True), compiled.units)
