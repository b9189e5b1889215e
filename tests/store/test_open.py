"""What is told of a set that was opened."""

from __future__ import annotations

from pathlib import Path

import profilec


def test_joins_are_explained_as_they_are_matched(tmp_path: Path) -> None:
    with profilec.open(tmp_path / "store") as profiles:
        profiles.insert("a", "EXISTS d (d.y = y)")
    with profilec.open(tmp_path / "store") as profiles:
        profiles.documents.add({"y": 1})
        assert profiles.match({"y": 1}) == ["a"]
        assert profiles.why({"y": 1}, "a").truth is True
        assert "EXISTS d (d.y = y)" in profiles.explain("a")


def test_pages_that_were_never_written(tmp_path: Path) -> None:
    """LMDB may take pages behind the file's end, and free them in the same transaction: the store is whole."""
    import lmdb

    from profilec.living.records import sealed
    from profilec.runtime.imagefile.tokens import dumps
    from profilec.store.verify import verify_store

    with profilec.open(tmp_path / "store") as profiles:
        profiles.insert("a", "x = 1")
    with lmdb.open(str(tmp_path / "store"), map_size=1 << 30, max_dbs=8) as environment:
        documents = environment.open_db(b"documents")
        with environment.begin(write=True) as transaction:
            transaction.put(b"a", b"x" * 100_000, db=documents)
            transaction.delete(b"a", db=documents)
            transaction.put((1).to_bytes(8, "big"), sealed(dumps(("begin", None)).encode()), db=documents)
    assert verify_store(tmp_path / "store").faults == ()
    with profilec.open(tmp_path / "store") as profiles:
        assert profiles.match({"x": 1}) == ["a"]
