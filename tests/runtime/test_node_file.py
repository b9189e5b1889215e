"""Files of nodes and arrays: temporary ones leave nothing behind, others are found again, or made again."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lmdb
import numpy as np
import pytest

from profilec.runtime.store import node_file
from profilec.runtime.store.node_file import Filling, NodeFile, beside, temporary

SMALL, LARGE = np.arange(7, dtype=np.int32), np.arange(300_000, dtype=np.int32)


def fill(filling: Filling) -> None:
    filling.put("small", SMALL)
    filling.put("large", LARGE)
    filling.put("none", LARGE[:0])
    for name in ("", "x"):
        with filling.nodes(name) as nodes:
            for _ in range(1_000):
                number = nodes.new()
                nodes.put(number, name.encode() + number.to_bytes(8, "big"))


def expect_filled(file: NodeFile) -> None:
    assert file.array("small").tolist() == SMALL.tolist()
    assert (file.array("large") == LARGE).all()
    assert file.array("none").tolist() == []
    for array in map(file.array, ("small", "large", "none")):
        assert array.flags.aligned
        assert not array.flags.writeable
    with file.nodes("x") as nodes:
        assert nodes.get(1_000) == b"x" + (1_000).to_bytes(8, "big")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The one for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(node_file.tempfile, "tempdir", str(folder))
    return folder


def test_a_temporary_file_has_no_name(folder: Path) -> None:
    file = temporary(fill, 2)
    assert not list(folder.iterdir())
    expect_filled(file)
    with pytest.raises(KeyError):
        file.array("other")


def test_an_array_keeps_the_file(folder: Path) -> None:
    arrays = [temporary(fill, 2).array("large") for _ in range(20)]
    gc.collect()
    assert all((array == LARGE).all() for array in arrays)


def test_an_array_is_mapped_and_not_read() -> None:
    file = temporary(lambda filling: filling.put("a", np.zeros(50_000_000, np.int32)), 0)
    before = own_memory()
    array = file.array("a")
    assert int(array[::1024].sum()) == 0
    assert own_memory() - before < 20_000_000


def own_memory() -> int:
    """Bytes that are no file's."""
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith("Anonymous:"):
            return 1024 * int(line.split()[1])
    raise AssertionError


if not Path("/proc/self/smaps_rollup").exists():
    test_an_array_is_mapped_and_not_read = pytest.mark.skip("Linux tells how much memory is mapped")(
        test_an_array_is_mapped_and_not_read
    )


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_what_fails_leaves_nothing(folder: Path, tmp_path: Path, error: type[BaseException]) -> None:
    def fails(filling: Filling) -> None:
        fill(filling)
        raise error

    other = tmp_path / "7.image"
    with pytest.raises(error):
        temporary(fails, 2)
    with pytest.raises(error):
        beside(other, "abc", fails, 2)
    assert [path.name for path in tmp_path.iterdir()] == ["temporary"]
    assert not list(folder.iterdir())


def test_a_full_disk_is_an_error_that_says_what_to_do(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_file, "_MAP_SIZE", 1 << 17)
    with pytest.raises(OSError, match=r"cannot be written to .*temporary .*set TMPDIR"):
        temporary(fill, 2)
    assert not list(folder.iterdir())


def test_the_file_beside_another_is_found_again(tmp_path: Path) -> None:
    other, n_filled = tmp_path / "7.image", []

    def counted(filling: Filling) -> None:
        n_filled.append(1)
        fill(filling)

    for _ in range(3):
        expect_filled(beside(other, "abc", counted, 2))
    (made,) = tmp_path.iterdir()
    assert made.name.startswith("7.nodes-abc-")
    assert len(n_filled) == 1
    beside(other, "abd", counted, 2)
    beside(tmp_path / "8.image", "abc", counted, 2)
    assert len(n_filled) == 3
    assert made.exists()


@pytest.mark.parametrize("at", [0, 20, 5_000, -1])
def test_a_damaged_one_is_made_again(tmp_path: Path, at: int) -> None:
    beside(tmp_path / "7.image", "abc", fill, 2)
    (made,) = tmp_path.iterdir()
    data = bytearray(made.read_bytes())
    data[at] ^= 1
    made.write_bytes(data)
    expect_filled(beside(tmp_path / "7.image", "abc", fill, 2))
    assert list(tmp_path.iterdir()) == [made]
    made.write_bytes(made.read_bytes()[:9_000])
    expect_filled(beside(tmp_path / "7.image", "abc", fill, 2))
    assert list(tmp_path.iterdir()) == [made]


def test_one_that_is_tidied_away_while_it_is_made(tmp_path: Path, folder: Path) -> None:
    def tidied(filling: Filling) -> None:
        fill(filling)
        for path in tmp_path.glob("making-*"):
            path.unlink()

    expect_filled(beside(tmp_path / "7.image", "abc", tidied, 2))
    assert [path.name for path in tmp_path.iterdir()] == ["temporary"]


def test_threads(folder: Path) -> None:
    file = temporary(fill, 2)

    def read(seed: int) -> bool:
        for number in range(seed, 1_000, 7):
            with file.nodes("") as nodes:
                assert nodes.get(number + 1) == (number + 1).to_bytes(8, "big")
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(read, range(7)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing to fork")
def test_a_child_that_was_forked(tmp_path: Path) -> None:
    program = (
        "import os, sys; from tests.runtime.test_node_file import *\n"
        "file = temporary(fill, 2)\n"
        "pid = os.fork()\n"
        "expect_filled(file)\n"
        "if not pid: del file; os._exit(0)\n"
        "assert os.waitpid(pid, 0)[1] == 0\n"
        "expect_filled(file)\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", program], cwd=root, env=environment, check=True)
    assert not list(tmp_path.iterdir())


def test_a_process_that_is_killed_leaves_nothing(tmp_path: Path) -> None:
    program = (
        "import os, signal; from tests.runtime.test_node_file import *\n"
        "file = temporary(fill, 2)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    root = Path(__file__).parents[2]
    assert subprocess.run([sys.executable, "-c", program], cwd=root, env=environment, check=False).returncode == -9
    assert not list(tmp_path.iterdir())


def test_nobody_writes_to_it(folder: Path) -> None:
    with pytest.raises(lmdb.ReadonlyError), temporary(fill, 2).nodes("x") as nodes:
        nodes.put(nodes.new(), b"")
