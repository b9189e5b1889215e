"""What is told of a set that was opened."""

from __future__ import annotations

from pathlib import Path

import pytest

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


def test_options_are_for_good(tmp_path: Path) -> None:
    profilec.open(tmp_path / "store", options={"memory": "1 MB"}).close()
    for given in (None, {}, {"memory": 1_000_000}):
        profilec.open(tmp_path / "store", options=given).close()
    for other in ({"memory": "2 MB"}, {"memory": "1 MB", "matcher": "access"}):
        with pytest.raises(ValueError, match="was made with other options; open it without any"):
            profilec.open(tmp_path / "store", options=other)


def test_what_is_no_store_says_what_it_is(tmp_path: Path) -> None:
    profilec.compile({"a": "x = 1"}).save(tmp_path / "image")
    with pytest.raises(profilec.StoreError, match=r"is a file, and a store is a folder; profilec\.load reads an image"):
        profilec.open(tmp_path / "image")
    profilec.open(tmp_path / "store").close()
    for read in (profilec.load, profilec.verify):
        with pytest.raises(profilec.ImageError, match=r"it is a store, and an image is a file; profilec\.open"):
            read(tmp_path / "store")
    with pytest.raises(ValueError, match=r"is a store; profilec\.open opens it"):
        profilec.compile(tmp_path / "store")


def test_a_closed_set_says_so(tmp_path: Path) -> None:
    profiles = profilec.open(tmp_path / "store")
    profiles.insert("a", "x = 1")
    profiles.close()
    for use in (lambda: profiles.match({}), lambda: profiles.insert("b", "x = 2"), lambda: len(profiles)):
        with pytest.raises(profilec.StoreError, match="was closed: open it again"):
            use()
    assert "1 profile;" in repr(profiles)
