"""A set through a file: whole, lazily, byte for byte, whatever happens to the file meanwhile."""

from __future__ import annotations

import itertools
import json
import os
import pickle
import random
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import profilec
from profilec import profile_table
from profilec.runtime.imagefile.container import ImageFile, NewSection
from profilec.runtime.imagefile.container import write as write_sections

ROOT = Path(__file__).parents[1]
SOURCE = """
SCHEMA (x NUMBER, y STRING, sold DATE, at TIMESTAMP, tags ARRAY<STRING>, items ARRAY<RECORD(sku STRING, qty NUMBER)>);
-- the first
PROFILE a WITH (owner = 'ann', since = DATE '2024-01-01', share = 0.10, none = NULL) WHERE x = 1;
PROFILE b WHERE y LIKE '%q%' AND x > 3 OR NOT EXISTS d WITHIN INTERVAL '1 month' OF at (d.x = x);
PROFILE 'c d' WHERE sold >= DATE '2024-01-01' OR ANY(tags) MATCHES '^[a-z]+$'
  ACCEPTS {"sold": "2024-01-01"} GIVEN [{"x": 1}] REJECTS {"sold": "2023-01-01"}, {"x": 1e999};
PROFILE 'ä;' WHERE ANY items AS i (i.sku = 'q' AND i.qty > 3) AND x / 3 < 12345678901234567890.5;
PROFILE z WHERE x = 9007199254740993 OR y IN ('', 'β', '😀') OR LOWER(y) ILIKE 'Q_%';
PROFILE warned WHERE y = 5;
"""
DOCUMENTS = [
    {"x": x, "y": y, "sold": sold, "tags": tags, "items": [{"sku": "q", "qty": x}]}
    for x, y, sold, tags in itertools.product(
        (1, 4, 9007199254740993, Decimal("0.5"), None), ("", "q", "qx", "β"), ("2024-02-02", None), (["a"], ["A"], [])
    )
]


@pytest.fixture
def compiled() -> profilec.ProfileSet:
    return profilec.compile(SOURCE)


def loaded(profiles: profilec.ProfileSet, path: Path) -> profilec.ProfileSet:
    profiles.save(path)
    return profilec.load(path)


def pickled(profiles: profilec.ProfileSet, path: Path) -> profilec.ProfileSet:
    return pickle.loads(pickle.dumps(profiles))


def loaded_and_pickled(profiles: profilec.ProfileSet, path: Path) -> profilec.ProfileSet:
    again = loaded(profiles, path)
    data = pickle.dumps(again)
    path.unlink()  # the pickle has the bytes, and not the path
    return pickle.loads(data)


@pytest.mark.parametrize("way", [loaded, pickled, loaded_and_pickled])
def test_a_set_comes_back_whole(
    compiled: profilec.ProfileSet, way: Callable[..., profilec.ProfileSet], tmp_path: Path
) -> None:
    again = way(compiled, tmp_path / "a.prfi")
    assert type(again) is type(compiled)
    assert again.ids == compiled.ids == list(again) == ["a", "b", "c d", "ä;", "z", "warned"]
    assert len(again) == 6
    assert again.schema == compiled.schema
    assert again.diagnostics == compiled.diagnostics
    assert [found.code for found in again.diagnostics] == ["PC603"]
    assert again.plan == compiled.plan
    assert str(again) == str(compiled)
    for id_ in compiled.ids:
        assert id_ in again
        assert again[id_] == compiled[id_]
        assert repr(again[id_].properties) == repr(compiled[id_].properties)
        assert again.examples(id_) == compiled.examples(id_)
        assert again.place(id_) == compiled.place(id_)
        assert again.ordinal(id_) == compiled.ordinal(id_)
        assert again.explain(id_, form="dnf", format="json") == compiled.explain(id_, form="dnf", format="json")
        assert str(again.why(DOCUMENTS[5], id_)) == str(compiled.why(DOCUMENTS[5], id_))
    assert again.explain() == compiled.explain()
    expected = [compiled.match(document) for document in DOCUMENTS]
    assert [again.match(document) for document in DOCUMENTS] == expected
    assert list(again.match_batch(DOCUMENTS, threads=2)) == expected
    assert again.match_batch(DOCUMENTS).to_arrow() == compiled.match_batch(DOCUMENTS).to_arrow()
    assert [again.process(document) for document in DOCUMENTS] == [compiled.process(each) for each in DOCUMENTS]


def test_what_is_not_there_is_told_alike(compiled: profilec.ProfileSet, tmp_path: Path) -> None:
    for profiles in (compiled, loaded(compiled, tmp_path / "a")):
        assert "warne" not in profiles
        assert 5 not in profiles
        with pytest.raises(KeyError, match="did you mean `warned`"):
            profiles["warne"]
        for id_ in ("", "A", "zz", "\U0010ffff", "\ud800", "\0"):
            assert id_ not in profiles


def test_documents_are_not_saved(compiled: profilec.ProfileSet, tmp_path: Path) -> None:
    compiled.documents.add({"x": 1})
    assert len(loaded(compiled, tmp_path / "a").documents) == 0
    assert len(pickle.loads(pickle.dumps(compiled)).documents) == 1


def test_ids_are_found_in_any_order(tmp_path: Path) -> None:
    ids = [f"{n * 7919 % 1000}" for n in range(1000)] + ["a" * 500, "ä", "\ufffd", "😀"]
    random.Random(1).shuffle(ids)
    profiles = loaded(profilec.compile({id_: f"x = {n}" for n, id_ in enumerate(ids)}), tmp_path / "a")
    assert profiles.ids == ids
    assert [profiles.ordinal(id_) for id_ in ids] == list(range(len(ids)))
    assert profiles.match({"x": 500}) == [ids[500]]
    profilec.verify(tmp_path / "a")


@pytest.mark.parametrize("few", [256, 10_000])
def test_many_ids_are_found_as_each_is(tmp_path: Path, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile_table, "_FEW", few)  # with kernels, and without
    ids = [f"{n * 7919 % 1000}" for n in range(1000)] + ["a" * 500, "ä", "\ufffd", "😀"]
    profiles = loaded(profilec.compile(dict.fromkeys(ids, "x = 1")), tmp_path / "a")
    profiles.match_batch([{"x": 1}])
    table = profiles._compiled.parts.table
    wanted = [*ids[::3], "none", "", "\ud800", "a" * 501, "a" * 499, "äx", ids[0]]
    each = [table.ordinal(id_) for id_ in wanted]
    assert table.ordinals(wanted).tolist() == [-1 if ordinal is None else ordinal for ordinal in each]
    assert table.ordinals([]).tolist() == []
    assert table.ordinals([""]).tolist() == [-1]


def test_profiles_that_failed_are_kept_as_diagnostics(tmp_path: Path) -> None:
    profiles = profilec.compile("PROFILE a WHERE x <;\nPROFILE b WHERE x = 1;", on_error="skip")
    again = loaded(profiles, tmp_path / "a")
    assert again.ids == ["b"]
    assert again.diagnostics == profiles.diagnostics
    assert again.diagnostics[0].render() == profiles.diagnostics[0].render()


def test_options_go_with_the_image(tmp_path: Path) -> None:
    options = {"matcher": "scan", "rules": ["fold_constants"], "max_depth": 7}
    profiles = profilec.compile({"a": "x = 1 + 1 AND x < 5 AND x < 6"}, options=options)
    again = loaded(profiles, tmp_path / "a")
    assert again.plan.matcher == "scan"
    assert again._parts.options == profiles._parts.options
    assert again.explain("a") == profiles.explain("a")


def test_the_same_profiles_give_the_same_bytes(tmp_path: Path) -> None:
    """In one process, in others with other seeds of hashing, compiled or loaded."""
    (tmp_path / "a.prof").write_text(SOURCE)
    first = profilec.compile(tmp_path / "a.prof")
    first.save(tmp_path / "1")
    profilec.compile(tmp_path / "a.prof").save(tmp_path / "2")
    again = profilec.load(tmp_path / "1")
    again.match({"x": 1})
    again.why({"x": 1}, "a")
    again.save(tmp_path / "3")
    pickle.loads(pickle.dumps(again)).save(tmp_path / "4")
    script = "import sys, profilec, pathlib; profilec.compile(pathlib.Path(sys.argv[1])).save(sys.argv[2])"
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", script, str(tmp_path / "a.prof"), str(tmp_path / f"seed{seed}")]
        subprocess.run(command, check=True, env=environment)
    images = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.suffix != ".prof"}
    assert len(images) == 6
    assert len(set(images.values())) == 1, {name: len(data) for name, data in images.items()}


def test_saving_over_what_is_loaded_leaves_it_working(compiled: profilec.ProfileSet, tmp_path: Path) -> None:
    path = tmp_path / "a"
    old = loaded(compiled, path)
    new = loaded(profilec.compile({"new": "x = 1"}), path)
    assert new.ids == ["new"]
    assert [old.match(document) for document in DOCUMENTS] == [compiled.match(document) for document in DOCUMENTS]
    old.save(path)  # onto the file that another has mapped
    assert new.match({"x": 1}) == ["new"]
    assert profilec.load(path).ids == compiled.ids


def test_a_loaded_set_works_after_a_fork(compiled: profilec.ProfileSet, tmp_path: Path) -> None:
    profiles = loaded(compiled, tmp_path / "a")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            found = json.dumps([profiles.match(document) for document in DOCUMENTS])
            os.write(writing, found.encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        found = json.loads(pipe.read())
    os.waitpid(child, 0)
    assert found == [compiled.match(document) for document in DOCUMENTS]


def _match_all(path: str) -> list[list[str]]:
    profiles = profilec.load(path)
    return [profiles.match(document) for document in DOCUMENTS]


def test_processes_map_the_same_file(compiled: profilec.ProfileSet, tmp_path: Path) -> None:
    path = str(tmp_path / "a")
    compiled.save(path)
    script = (
        "import sys, importlib.util\n"
        f"spec = importlib.util.spec_from_file_location('save_load', {__file__!r})\n"
        "module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module)\n"
        "import json; print(json.dumps(module._match_all(sys.argv[1])))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = [
        subprocess.Popen([sys.executable, "-c", script, path], stdout=subprocess.PIPE, env=environment, text=True)
        for _ in range(2)
    ]
    expected = [compiled.match(document) for document in DOCUMENTS]
    assert [json.loads(process.communicate()[0]) for process in running] == [expected] * 2


def test_loading_reads_no_profile(tmp_path: Path) -> None:
    path = tmp_path / "a"
    n_profiles = 20_000
    profilec.compile({f"p{n}": f"x{n % 5} = {n} AND y = 'text {n}'" for n in range(n_profiles)}).save(path)
    profilec.load(path)  # whatever is imported, is by now
    tracemalloc.start()
    try:
        profiles = profilec.load(path)
        _, most = tracemalloc.get_traced_memory()
        assert profiles["p777"].where == "x2 = 777 AND y = 'text 777'"
        _, most_with_one = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 10 * n_profiles
    assert most_with_one < 10 * n_profiles


def test_sizes(tmp_path: Path) -> None:
    """What is not the profiles' own text takes no more than 60 bytes a profile."""
    conditions = {f"p{n}": f"x{n % 5} = {n} AND y = 'text {n}'" for n in range(1_000)}
    profilec.compile(conditions).save(tmp_path / "a")
    report = profilec.verify(tmp_path / "a")
    names = ("ids.off", "ids.data", "ids.order", "wheres.off", "wheres.data")
    sizes = {section.name: section.n_bytes for section in report.sections}
    places = sum(size for name, size in sizes.items() if name.startswith("places."))
    text = sum(len(where) for where in conditions.values())
    assert sum(sizes[name] for name in names) + places <= text + 60 * len(conditions)
    assert {section.name for section in report.sections if section.matching} > {"entry_tests", "slots.data"}
    assert not [section.name for section in report.sections if section.matching and section.name[:3] in ("ids", "whe")]


def test_a_property_that_no_image_keeps_is_refused_by_name(tmp_path: Path) -> None:
    profiles = profilec.compile([profilec.Profile("a", "x = 1", {"odd": object()})])
    with pytest.raises(TypeError, match="the properties of profile 'a': an image keeps no object"):
        profiles.save(tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_an_image_is_no_text(compiled: profilec.ProfileSet, tmp_path: Path) -> None:
    compiled.save(tmp_path / "a.prof")
    for source in (tmp_path / "a.prof", [tmp_path / "a.prof"]):
        with pytest.raises(ValueError, match=r"a\.prof is an image, compiled already; profilec\.load reads it"):
            profilec.compile(source)
    (tmp_path / "b.prfi").write_text("PROFILE a WHERE TRUE;")
    with pytest.raises(profilec.ImageError, match="it is no image; make one with `profilec compile`"):
        profilec.load(tmp_path / "b.prfi")
    with pytest.raises(FileNotFoundError):
        profilec.load(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        profilec.load(tmp_path)


def rewritten(path: Path, name: str, array: np.ndarray) -> None:
    """The image with another array for one section, and all checksums right."""
    file = ImageFile.open(path)
    sections = [
        NewSection(
            section.name,
            array if section.name == name else file.array(section.name, section.dtype, None),
            section.matching,
        )
        for section in file.sections.values()
    ]
    write_sections(path, sections)


CONTRADICTIONS = {
    "ids.order": (np.array([0, 0, 1, 2, 3, 4], np.int32), "ids.order is no permutation"),
    "ids.order ": (np.array([1, 0, 2, 3, 4, 5], np.int32), "is out of order, or there twice"),
    "ids.order  ": (np.full(6, 2**31 - 1, np.int32), "ids.order is no permutation"),
    "places.file": (np.full(6, 9, np.int32), "numbers files that there are not"),
    "comments.profile": (np.array([77], np.int32), "comments are of profiles that there are not"),
    "entry_tests": (np.full(99, 2**31 - 1, np.int32), "entry_tests"),
    "entry_profiles": (None, "entry_profiles"),
    "wheres.data": (None, "wheres: it is not UTF-8"),
    "examples.data": (None, "examples"),
    "properties.data": (None, "properties"),
    "diagnostics.data": (None, "diagnostics"),
    "patterns.data": (None, "patterns"),
    "constants.texts.data": (None, "constants.texts: it is not UTF-8"),
    "constants.count": (None, "constants of slot 0 lie"),
    "residual_code": (None, "residual_code"),
    "test_low": (None, "."),
    "bit_source": (None, "bit_source"),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_verify_finds_what_no_checksum_tells(compiled: profilec.ProfileSet, tmp_path: Path, name: str) -> None:
    path = tmp_path / "a"
    compiled.save(path)
    array, reason = CONTRADICTIONS[name]
    name = name.strip()
    file = ImageFile.open(path)
    section = file.sections[name]
    if array is None or array.shape != section.shape:
        array = np.frombuffer(b"\xff\xff\xff\x7f" * (section.length // 4 + 1), np.uint8)[: section.length]
        array = array.view(section.dtype).reshape(section.shape)
    rewritten(path, name, array)
    with pytest.raises(profilec.ImageError, match=reason):
        profilec.verify(path)


def test_another_version_of_the_set_itself_is_refused(compiled: profilec.ProfileSet, tmp_path: Path) -> None:
    compiled.save(tmp_path / "a")
    text = b'["files",["tuple",0],"options",["dict",0],"plan","new",0,["dict",1],["dict",3]]'
    rewritten(tmp_path / "a", "set", np.frombuffer(text, np.uint8))
    with pytest.raises(profilec.ImageError, match=r"that of another profilec .*; compile the profiles again"):
        profilec.load(tmp_path / "a")


def test_garbled_images_do_no_harm(compiled: profilec.ProfileSet, tmp_path: Path) -> None:
    """Bytes of bodies at random, checksums made right: refused, or a set that answers or refuses; never a crash."""
    path = tmp_path / "a"
    compiled.save(path)
    file = ImageFile.open(path)
    rng = np.random.default_rng(7)
    arrays = {name: file.array(name, section.dtype, None) for name, section in file.sections.items()}
    for _ in range(150):
        name = rng.choice([name for name, array in arrays.items() if array.size])
        body = arrays[name].copy().reshape(-1).view(np.uint8)
        body[rng.integers(0, len(body), 3)] = rng.integers(0, 256, 3)
        rewritten(path, name, body.view(arrays[name].dtype).reshape(arrays[name].shape))
        try:
            profilec.verify(path)
        except profilec.ImageError as error:
            assert str(error).startswith(str(path))  # noqa: PT017
        rewritten(path, name, arrays[name])


def test_a_small_set_is_saved_without_a_tree(tmp_path: Path) -> None:
    """It would take kernels, and these a minute where they are not compiled yet."""
    path = tmp_path / "small.prfi"
    profilec.compile({"p": "a = 1"}).save(path)
    profiles = profilec.load(path)
    assert profiles._parts.image.tree is None
    assert list(profiles.match_batch([{"a": 1}, {"a": 2}] * 600)) == [["p"], []] * 600
    assert profiles._parts.image.tree is not None
