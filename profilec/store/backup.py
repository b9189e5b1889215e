"""A copy of a store, while others go on with it.

In: a store. Out: a folder that is a store, as of one commit.

Who copies holds the merge lock, so that no segment's file goes away that the commit names; changes may come meanwhile,
and are not in the copy. It is made under another name, and renamed when all of it is on disk.

Invariant: what a killed process, or a power cut, leaves of a copy is refused as a store, unless it is whole.
"""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path

from profilec.store.contents import contents_of
from profilec.store.environment import DATA, StoreError, told
from profilec.store.pages import Pages
from profilec.store.store import Store, segment_file


def backup_store(store: Store, destination: Path, *, link: bool = False) -> None:
    """Copies a store, as soon as nobody merges. With `link` the segments' files are those of the store, where the file
    system can: made at once, but what damages one damages both.

    Raises:
        StoreError: the destination is there, or cannot be written.
    """
    if os.path.lexists(destination):
        raise StoreError(f"{destination} is there already; name a folder that is to be made")
    made = destination.resolve().with_name(f".{destination.name[:100]}.{secrets.token_hex(8)}")
    with store.merging(wait=True):
        try:
            with told(destination):
                _copy(store, made, link=link)
                os.rename(made, destination)
                _write_through(destination.resolve().parent)
        finally:
            shutil.rmtree(made, ignore_errors=True)


def _copy(store: Store, made: Path, *, link: bool) -> None:
    unfinished = made / "unfinished"  # with this in it and without DATA, a folder is refused as a store
    unfinished.mkdir(parents=True)
    _write_through(made)
    (made / "segments").mkdir()
    store.environment.copy_to(unfinished)
    _write_through(unfinished / DATA)
    with Pages(unfinished / DATA) as pages:
        pages.expect_sound()
        numbers = contents_of(made, pages).segments
    for number in numbers:
        source, target = segment_file(store.path, number), segment_file(made, number)
        if link:
            try:
                os.link(source, target)
                continue
            except OSError:
                pass  # the file system has no links, or it is another one
        shutil.copyfile(source, target)
        _write_through(target)
    _write_through(made / "segments")
    os.rename(unfinished / DATA, made / DATA)
    _write_through(made)
    unfinished.rmdir()
    _write_through(made)


def _write_through(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
