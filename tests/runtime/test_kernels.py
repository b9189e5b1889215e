"""How kernels are made and kept: beside the sources, elsewhere, or not at all; never the wrong code, never an error."""

import errno
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import profilec
from profilec.runtime import kernels, machine_code
from profilec.runtime.machine_code import KernelCache, directory_of, directory_of_kernels

ROOT = Path(__file__).parents[2]
FEW_PROFILES = """
import profilec
conditions = {f"p{n}": f"a = {n % 7} AND b BETWEEN {n} AND {n + 5} AND s LIKE '%x{n}%'" for n in range(70)}
conditions |= {f"q{n}": f"(a = {n} OR b > {n}) AND (c < {n} OR d IS NULL)" for n in range(60)}
documents = [{"a": n % 7, "b": n / 2, "c": 1, "s": f"x{n}"} for n in range(20)]
wanted = [profilec.compile(conditions, options={"matcher": "scan"}).match(document) for document in documents]
for matcher in ("betree:list", "betree:matrix"):
    profiles = profilec.compile(conditions, options={"matcher": matcher})
    assert [profiles.match(document) for document in documents] == wanted
    assert list(profiles.match_batch(documents)) == wanted
"""
ONE_KERNEL = """
import numpy as np
from profilec.runtime.encode_kernels import count_sparse
nothing = np.zeros((0, 2), np.int64)
count_sparse(np.ones((3, 2), np.int32), nothing, nothing[0:0, 0].copy(), found := np.empty(3, np.int64))
assert found.tolist() == [0, 3, 6]
"""


def forget() -> None:
    """As in a new process."""
    machine_code.writable.cache_clear()
    machine_code._first_writable.cache_clear()
    machine_code._say_not_kept.cache_clear()
    machine_code._say_compiling.cache_clear()
    for told in (machine_code.not_kept, machine_code.kept_in, machine_code.read_from):
        told.clear()
    kernels.cache_directories.cache_clear()


@pytest.fixture(autouse=True)
def _nothing_said() -> Iterator[None]:
    forget()
    yield
    forget()


def total(numbers: Any) -> Any:
    found = numbers[0]
    for i in range(1, len(numbers)):
        found += numbers[i]
    return found


def made(*directories: Path) -> Any:
    """`total` as another process would make it."""
    compiled = numba.njit(total)
    compiled._cache = KernelCache(total, directories)
    return compiled


def blocked(tmp_path: Path) -> Path:
    """A directory that not even root can make: its parent is a file."""
    (tmp_path / "file").touch()
    return tmp_path / "file" / "kernels-1"


def n_hits(kernel: Any) -> int:
    return sum(kernel.stats.cache_hits.values())


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", code]
    settings = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    folder = settings["PYTHONPATH"]  # what is imported from the current folder goes before all
    return subprocess.run(command, env=settings, cwd=folder, capture_output=True, text=True, check=False)


def test_the_second_process_finds_what_the_first_compiled(tmp_path: Path) -> None:
    numbers = np.arange(5)
    first, second = made(tmp_path / "k"), made(tmp_path / "k")
    assert first(numbers) == second(numbers) == 10
    assert (n_hits(first), n_hits(second)) == (0, 1)


def test_signatures_have_files_of_their_own(tmp_path: Path) -> None:
    frozen = np.arange(5)
    frozen.flags.writeable = False
    kinds = [np.arange(5), frozen, np.arange(5.0), np.arange(5, dtype=np.uint8), np.arange(10)[::2]]
    first, second = made(tmp_path / "k"), made(tmp_path / "k")
    answers = [first(numbers) for numbers in kinds]
    assert len(list((tmp_path / "k").iterdir())) == len(kinds)
    assert [second(numbers) for numbers in kinds] == answers == [10, 10, 10.0, 10, 20]
    assert n_hits(second) == len(kinds)


@pytest.mark.parametrize("damage", [lambda code: code[:-1], lambda code: b"", lambda code: code[:-1] + b"\0"])
def test_damaged_code_is_compiled_again(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    made(tmp_path / "k")(np.arange(5))
    (file,) = (tmp_path / "k").iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage(whole) if damage(whole) != whole else whole[:-1] + b"\1")
    again = made(tmp_path / "k")
    assert again(np.arange(5)) == 10
    assert n_hits(again) == 0
    last = made(tmp_path / "k")
    assert last(np.arange(5)) == 10
    assert n_hits(last) == 1


def test_a_directory_that_may_only_be_read_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full, other = tmp_path / "full", tmp_path / "other"
    made(full)(np.arange(5))
    forget()
    monkeypatch.setattr(machine_code, "_can_write", lambda directory: directory != full and _make(directory))
    kernel = made(full, other)
    assert kernel(np.arange(5)) == 10
    assert n_hits(kernel) == 1
    assert directory_of((full, other)) == full
    assert not other.exists()

    assert kernel(np.arange(5.0)) == 10  # what is not there goes elsewhere
    assert len(list(full.iterdir())) == len(list(other.iterdir())) == 1


def _make(directory: Path) -> bool:
    directory.mkdir(exist_ok=True)
    return True


def test_code_that_is_elsewhere_is_copied_to_the_directory_that_was_asked_for(tmp_path: Path) -> None:
    """Else nothing would be where NUMBA_CACHE_DIR says, after a warm-up with a cache that was full."""
    made(tmp_path / "usual")(np.arange(5))
    kernel = made(tmp_path / "asked", tmp_path / "usual")
    assert kernel(np.arange(5)) == 10
    assert n_hits(kernel) == 1
    assert [path.read_bytes() for path in (tmp_path / "asked").iterdir()] == [
        path.read_bytes() for path in (tmp_path / "usual").iterdir()
    ]


def test_what_cannot_be_kept_in_the_first_directory_is_kept_in_the_next_and_that_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    directories = blocked(tmp_path), tmp_path / "home" / "kernels-1"
    kernel = made(*directories)
    assert kernel(np.arange(5)) == kernel(np.arange(5.0)) == 10
    assert [message.split(", since")[0] for message in caplog.messages] == [
        f"compiled kernels are kept in {directories[1]}"
    ]
    forget()
    assert made(*directories)(np.arange(5, dtype=np.uint8)) == 10
    assert len(caplog.messages) == 1  # nor by the next process
    assert len(list(directories[1].iterdir())) == 3


def test_where_nothing_can_be_written_to_kernels_work_and_that_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kernel = made(blocked(tmp_path))
    assert kernel(np.arange(5)) == kernel(np.arange(5.0)) == 10
    assert ["not kept" in message for message in caplog.messages] == [True]
    assert directory_of((blocked(tmp_path),)) is None


def test_a_full_disk_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(machine_code.os, "replace", full)
    kernel = made(tmp_path / "k")
    assert kernel(np.arange(5)) == kernel(np.arange(5.0)) == 10
    assert ["No space left" in message for message in caplog.messages] == [True]
    assert not list((tmp_path / "k").iterdir())


def test_a_directory_that_another_process_removed_is_made_again(tmp_path: Path) -> None:
    kernel = made(tmp_path / "k")
    kernel(np.arange(5))
    shutil.rmtree(tmp_path / "k")
    assert kernel(np.arange(5.0)) == 10
    assert len(list((tmp_path / "k").iterdir())) == 1


def test_processes_that_compile_at_once(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "profilec", tmp_path / "profilec", ignore=shutil.ignore_patterns("__pycache__"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": "", "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-B", "-c", ONE_KERNEL]
    processes = [subprocess.Popen(command, env=environment, cwd=tmp_path) for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    (directory,) = (tmp_path / "profilec" / "__pycache__").iterdir()
    assert [file.name.partition("-")[0] for file in directory.iterdir()] == [
        "profilec.runtime.encode_kernels.count_sparse"
    ]


def test_an_install_that_cannot_be_written_to(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "profilec", tmp_path / "profilec", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "profilec" / "__pycache__").touch()
    home = {"PYTHONPATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "NUMBA_CACHE_DIR": ""}
    done = run(ONE_KERNEL, **home)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("compiled kernels are kept in") == 1
    assert len(list((tmp_path / "cache" / "profilec").glob("kernels-*/*.code"))) == 1
    assert run(ONE_KERNEL, **home).stderr == ""

    no_home = {**home, "XDG_CACHE_HOME": "", "HOME": str(tmp_path / "profilec" / "__pycache__")}
    done = run(ONE_KERNEL, **no_home)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("not kept") == 1


def test_where_the_code_of_this_process_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full, other = tmp_path / "full", tmp_path / "other"
    assert directory_of_kernels() is None
    made(full)(np.arange(5))
    assert directory_of_kernels() == full
    forget()
    monkeypatch.setattr(machine_code, "_can_write", lambda directory: directory != full and _make(directory))
    kernel = made(full, other)
    kernel(np.arange(5))
    assert directory_of_kernels() == full  # where it was read
    kernel(np.arange(5.0))
    assert directory_of_kernels() == other  # what was compiled now
    forget()
    monkeypatch.setattr(machine_code, "_can_write", lambda directory: False)
    kernel = made(full, other)
    kernel(np.arange(5))
    assert directory_of_kernels() == full
    kernel(np.arange(5, dtype=np.uint8))
    assert directory_of_kernels() is None  # though the first has some
    assert machine_code.not_kept == [f"{__name__}.total"]


def test_that_kernels_are_compiled_is_said_once_and_only_then(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "profilec")
    for _ in range(2):
        kernel = made(tmp_path / "k")
        assert kernel(np.arange(5)) == kernel(np.arange(5.0)) == 10
        assert [message.partition(" for")[0] for message in caplog.messages] == ["compiling kernels"]


def test_the_command_says_it(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "profilec", tmp_path / "profilec", ignore=shutil.ignore_patterns("__pycache__"))
    code = f"from profilec.cli import terminal\nterminal.say_what_is_logged()\n{ONE_KERNEL}"
    where = {"PYTHONPATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": ""}
    said = "compiling kernels for this machine, which is done once and takes up to a minute or two\n"
    assert [run(code, **where).stderr for _ in range(2)] == [said, ""]


def test_where_code_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def parents() -> list[Path]:
        kernels.cache_directories.cache_clear()
        return [directory.parent for directory in kernels.cache_directories()]

    beside = ROOT / "profilec" / "__pycache__"
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert parents() == [beside, tmp_path / "profilec"]
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "given"))
    assert parents() == [tmp_path / "given" / "profilec", beside, tmp_path / "profilec"]
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    for ignored in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        assert parents() == [beside, tmp_path / ".cache" / "profilec"]

    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)
    assert parents() == [beside]


def test_code_out_of_use_is_removed(tmp_path: Path) -> None:
    now = time.time()
    for name, age in (("kernels-own", 90), ("kernels-old", 90), ("kernels-other", 10)):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (now - age * 86_400,) * 2)
    kernels._remove_unused(tmp_path, "kernels-own")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kernels-other", "kernels-own"]
    assert (tmp_path / "kernels-own").stat().st_mtime > now - 60  # in use, then, for whoever cleans up next


def test_code_of_other_sources_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel holds the code of what it calls: when that changes, so must the directory."""
    before = kernels._digest()
    shutil.copytree(ROOT / "profilec", tmp_path / "profilec", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(kernels, "_PACKAGE", tmp_path / "profilec")
    assert kernels._digest() == before
    with (tmp_path / "profilec" / "runtime" / "matchers" / "betree" / "leaf.py").open("a") as file:
        file.write("# changed\n")
    assert kernels._digest() != before


def test_every_file_with_kernels_is_part_of_the_digest() -> None:
    package = ROOT / "profilec"
    digested = {file for pattern in kernels._SOURCES for file in package.glob(pattern)}
    marks = ("@kernel\n", "@inlined\n", "@allocating_kernel\n", "@kernel_of_many\n")
    for file in package.rglob("*.py"):
        if any(mark in file.read_text() for mark in marks):
            assert file in digested, file


def test_kernels_run_without_numbas_compiler() -> None:
    """NUMBA_DISABLE_JIT is how a debugger or a coverage tool sees into them."""
    done = run(FEW_PROFILES, NUMBA_DISABLE_JIT="1")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("word", [0, 1, 2, 0b1011000, 1 << 63, 2**64 - 1])
def test_intrinsics_count_bits(word: int) -> None:
    @numba.njit
    def counts(word: Any) -> Any:
        return kernels.trailing_zeros(word), kernels.population(word)

    zeros = (word & -word).bit_length() - 1 if word else 64
    assert counts(np.uint64(word)) == (zeros, word.bit_count())


@pytest.mark.parametrize("form", ["text", "image"])
def test_a_small_set_is_matched_before_the_compiler_would_have_been_loaded(tmp_path: Path, form: str) -> None:
    profiles = tmp_path / "a.prof"
    profiles.write_text("PROFILE one WHERE a < 10 AND (s LIKE 'x%' OR b = 1);\n")
    if form == "image":
        profilec.compile(profiles).save(profiles := tmp_path / "a.prfi")
    (tmp_path / "a.ndjson").write_text('{"a": 9, "b": 1}\n' * 3)
    verb = ["match", str(profiles), str(tmp_path / "a.ndjson")]
    command = [sys.executable, "-X", "importtime", "-m", "profilec", *verb]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.count("one") == 3
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "numpy" in loaded
    assert not loaded & {"numba", "llvmlite", "pyarrow", "pandas", "rich", "sqlglot", "networkx"}
