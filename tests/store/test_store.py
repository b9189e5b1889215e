"""Stores: what one process or another changes is there, in all of them and after the next start."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest

import profilec
from profilec.living import merging
from profilec.living.living_set import LivingSet
from profilec.runtime.store.documents import DocumentStore
from profilec.store import verify
from profilec.store.documents import StoredDocuments
from profilec.store.store import Store


def test_what_is_changed_is_there_again(tmp_path: Path) -> None:
    with profilec.open(tmp_path / "store", schema="SCHEMA (x NUMBER, d DATE)") as profiles:
        profiles.insert_many('-- why\nPROFILE a WITH (n = 5) WHERE x = 1 ACCEPTS {"x": 1}; PROFILE b WHERE x = 1;')
        profiles.replace("a", "x = 2")
        profiles.insert("c", "EXISTS e (e.x = x)")
        profiles.delete("b")
        profiles.insert("b", "x = 2")
        profiles.documents.add({"x": 2, "d": date(2020, 1, 1), "y": Decimal("1.50")})
        answer = profiles.match({"x": 2})
    for merged in (False, True):
        with profilec.open(tmp_path / "store") as again:
            assert list(again.ids) == ["a", "c", "b"]
            assert again.match({"x": 2}) == answer == ["a", "c", "b"]
            (document,) = again.documents
            assert (document["x"], document["y"]) == (2, Decimal("1.50"))
            assert again.match({"x": 2, "d": date(2020, 1, 1)}) == answer
            assert again.schema is not None
            if not merged:
                again.compact()


def test_two_handles_see_each_other(tmp_path: Path) -> None:
    one, other = profilec.open(tmp_path / "store"), profilec.open(tmp_path / "store")
    one.insert("a", "x = 1")
    assert list(other.ids) == ["a"]
    assert len(other) == 1
    assert "a" in other
    other.replace("a", "x = 2")
    assert one["a"].where == "x = 2"
    assert one.match({"x": 2}) == ["a"]
    other.compact()
    other.insert("b", "x = 2")
    assert one.match_batch([{"x": 2}])[0] == ["a", "b"]
    other.documents.retain(max_documents=1)
    one.documents.extend([{"x": 1}, {"x": 2}])
    assert list(other.documents) == [{"x": 2}]
    with pytest.raises(profilec.ProfileError, match="taken"):
        one.insert("b", "x = 1")
    one.close()
    one.close()
    assert other.match({"x": 2}) == ["a", "b"]
    other.close()


def test_a_merge_that_finds_nothing_to_do_makes_no_commit(tmp_path: Path) -> None:
    """The next commit, by somebody else, has the number that its own would have had."""
    with profilec.open(tmp_path / "store") as one, profilec.open(tmp_path / "store") as other:
        one.insert("a", "x = 1")
        one.compact()
        one.compact()
        other.insert("b", "x = 1")
        assert one.match({"x": 1}) == ["a", "b"]


def test_who_matches_waits_for_a_thread_that_reads_what_others_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with profilec.open(tmp_path / "store") as profiles, profilec.open(tmp_path / "store") as other:
        assert profiles.match({"x": 1}) == []
        keeper = cast(Store, profiles.keeper)
        begun, goes_on, apply = threading.Event(), threading.Event(), keeper._apply

        def apply_late(*change: Any) -> None:
            begun.set()
            goes_on.wait(30)
            apply(*change)

        monkeypatch.setattr(keeper, "_apply", apply_late)
        other.insert("a", "x = 1")
        assert asked_by_two(lambda: profiles.match({"x": 1}), begun, goes_on) == [["a"], ["a"]]


def asked_by_two(ask: Callable[[], Any], begun: threading.Event, goes_on: threading.Event) -> list[Any]:
    """What two threads are told, of which the second asks while the first is held up."""
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(ask())) for _ in range(2)]
    threads[0].start()
    assert begun.wait(30)
    threads[1].start()
    threads[1].join(0.1)
    goes_on.set()
    for thread in threads:
        thread.join()
    return found


def test_who_looks_at_documents_waits_for_a_thread_that_reads_what_others_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with profilec.open(tmp_path / "store") as profiles, profilec.open(tmp_path / "store") as other:
        documents = cast(StoredDocuments, profiles.documents)
        begun, goes_on, do = threading.Event(), threading.Event(), documents._do

        def do_late(action: str, argument: Any) -> None:
            begun.set()
            goes_on.wait(30)
            do(action, argument)

        monkeypatch.setattr(documents, "_do", do_late)
        other.documents.add({"x": 1})
        assert asked_by_two(lambda: len(documents), begun, goes_on) == [1, 1]


def test_documents_that_come_while_a_join_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another handle adds one when this one holds its documents for a join: it is not waited for, or seen."""
    with profilec.open(tmp_path / "store") as profiles, profilec.open(tmp_path / "store") as other:
        profiles.insert_many({"a": "EXISTS d (d.x = x)", "b": "EXISTS d (d.x > x AND d.y < y)"})
        profiles.documents.add({"x": 1})
        reading = profiles.documents.reading

        @contextmanager
        def reading_while_one_comes() -> Iterator[DocumentStore]:
            with reading() as store:
                other.documents.add({"x": 2})
                yield store

        monkeypatch.setattr(profiles.documents, "reading", reading_while_one_comes)
        found: list[list[str]] = []

        def match() -> None:
            found.extend([profiles.match({"x": 2}), *profiles.match_batch([{"x": 1}, {"x": 3}])])

        thread = threading.Thread(target=match, daemon=True)
        thread.start()
        thread.join(30)
        assert found == [[], ["a"], []]


def test_many_profiles_are_a_segment_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("profilec.living.aside.LARGE", 10)
    with profilec.open(tmp_path / "store") as profiles, profilec.open(tmp_path / "store") as other:
        profiles.insert("a", "x = 1")
        profiles.insert_many({f"b{number}": f"x = {number % 3}" for number in range(12)})
        other.delete("b4")
        with pytest.raises(profilec.ProfileError, match="the id 'b3' is taken"):
            profiles.insert_many({f"b{number}": "x = 1" for number in range(3, 30)})
        other.insert("c", "x = 1")
        wanted = ["a", "b1", "b7", "b10", "c"]
        assert profiles.match({"x": 1}) == other.match({"x": 1}) == wanted
    with profilec.open(tmp_path / "store") as again:
        assert again.match({"x": 1}) == wanted
        again.compact()
        assert len(list((tmp_path / "store" / "segments").iterdir())) == 1
        assert again.match({"x": 1}) == wanted


def test_a_deleted_id_comes_again_among_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was deleted since the last merge stays in the log, which does not end the profile that comes after it."""
    monkeypatch.setattr("profilec.living.aside.LARGE", 20)
    with profilec.open(tmp_path / "store") as profiles, profilec.open(tmp_path / "store") as other:
        profiles.insert_many({f"p{number}": "x = 1" for number in range(19)})
        profiles.compact()
        profiles.delete("p3")
        profiles.insert("q", "x = 1")
        profiles.delete_many(["p4", "q"])
        many = ["p3", "q", *(f"r{number}" for number in range(30))]
        wanted = [f"p{number}" for number in range(19) if number not in (3, 4)] + many
        profiles.insert_many(dict.fromkeys(many, "x = 1"))
        assert profiles.match({"x": 1}) == other.match({"x": 1}) == wanted
    assert verify.verify_store(tmp_path / "store").faults == ()
    with profilec.open(tmp_path / "store") as again:
        assert again.match({"x": 1}) == list(again.ids) == wanted


def test_a_set_that_is_read_again_while_it_is_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a change that failed or was interrupted: a merge that began before does not bring profiles twice."""
    made, n_made = merging._made, 0

    def made_meanwhile(living: LivingSet, *args: Any) -> Any:
        nonlocal n_made
        n_made += 1
        if n_made == 1:
            living.keeper.lost_track()
            assert len(profiles) == 20
        return made(living, *args)

    with profilec.open(tmp_path / "store") as profiles:
        profiles.insert_many({f"p{number}": "x = 1" for number in range(19)})
        profiles.compact()
        profiles.insert("q", "x = 1")
        wanted = profiles.match({"x": 1})
        monkeypatch.setattr(merging, "_made", made_meanwhile)
        profiles.compact()
        assert n_made == 2
        assert profiles.match({"x": 1}) == list(profiles.ids) == wanted
    with profilec.open(tmp_path / "store") as again:
        assert again.match({"x": 1}) == list(again.ids) == wanted


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    profiles = profilec.open(tmp_path / "store")
    profiles.close()
    for ask in (lambda: profiles.match({}), lambda: profiles.insert("a", "x = 1"), profiles.compact):
        with pytest.raises(profilec.StoreError, match="was closed: open it again"):
            ask()


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(profilec.StoreError, match=r"is no store, and not empty: it holds 'notes\.txt'"):
        profilec.open(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    with pytest.raises(profilec.StoreError, match=r"notes\.txt"):
        profilec.open(tmp_path / "notes.txt")
    with pytest.raises(ValueError, match="sync takes 'commit', 'batch', 'off'"):
        profilec.open(tmp_path / "store", sync="always")
    profilec.open(tmp_path / "store", schema={"x": "NUMBER"}).close()
    with pytest.raises(ValueError, match="another schema"):
        profilec.open(tmp_path / "store", schema={"x": "STRING"})
    with profilec.open(tmp_path / "store"), pytest.raises(ValueError, match="sync='commit'"):
        profilec.open(tmp_path / "store", sync="off")


def test_a_store_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    with profilec.open(tmp_path / "store") as profiles:
        for number in range(50):
            profiles.insert(f"p{number}", f"x = {number}")
    data = tmp_path / "store" / "data.mdb"
    for size in (100, 5_000, data.stat().st_size // 2):
        copy = tmp_path / f"cut{size}"
        shutil.copytree(tmp_path / "store", copy)
        os.truncate(copy / "data.mdb", size)
        with pytest.raises(profilec.StoreError, match=r"damaged.*profilec store salvage"):
            profilec.open(copy)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_forked_process_opens_the_store_again(tmp_path: Path) -> None:
    profiles = profilec.open(tmp_path / "store")
    profiles.insert("a", "x = 1")
    child = os.fork()
    if not child:
        status = 1
        try:
            profiles.insert("b", "x = 1")
        except profilec.StoreError as error:
            status = 0 if "forked" in str(error) else 2
            with profilec.open(tmp_path / "store") as own:
                own.insert("c", "x = 1")
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert profiles.match({"x": 1}) == ["a", "c"]
    profiles.close()
