"""Pages of LMDB, read without it: they hold what LMDB says."""

from __future__ import annotations

import random
from pathlib import Path

import lmdb
import pytest

from profilec.store.pages import NAMES, PageError, Pages


@pytest.mark.parametrize("seed", range(3))
def test_what_lmdb_writes_is_sound_and_read_alike(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    with lmdb.open(str(tmp_path), map_size=1 << 32, max_dbs=8, sync=False) as environment:
        databases = [environment.open_db(name) for name in NAMES]
        held = []
        for step in range(150):
            with environment.begin(write=True) as transaction:
                for _ in range(draw.choice((1, 1, 5, 300))):
                    database, key = draw.choice(databases), draw.randrange(2_000).to_bytes(8, "big")
                    if draw.random() < 0.25:
                        transaction.delete(key, db=database)
                    else:
                        n = draw.choice((5, 500, 2_100)) if draw.random() > 0.1 else draw.randrange(2_000, 40_000)
                        transaction.put(key, draw.randbytes(n), db=database)
                if draw.random() < 0.02:
                    transaction.drop(draw.choice(databases), delete=False)
            if draw.random() < 0.1:  # somebody reads, so that pages are not used again
                held.append(environment.begin())
            if len(held) > 3:
                held.pop(0).abort()
            if step % 10 == 0:
                with Pages(tmp_path / "data.mdb") as pages:
                    pages.expect_sound()
                    if step % 50 == 0:
                        for name, database in zip(NAMES, databases, strict=True):
                            with environment.begin() as transaction:
                                assert list(pages.records(name)) == list(transaction.cursor(db=database))
        for one in held:
            one.abort()
        (tmp_path / "copy").mkdir()
        environment.copy(str(tmp_path / "copy"), compact=True)
    with Pages(tmp_path / "copy" / "data.mdb") as pages:
        pages.expect_sound()


def test_no_file_of_lmdb(tmp_path: Path) -> None:
    path = tmp_path / "data.mdb"
    for data in (b"", b"x" * 4_096, b"x" * 20_000, bytes(20_000)):
        path.write_bytes(data)
        with pytest.raises(PageError, match=r"cut off|nothing of LMDB"):
            Pages(path)
