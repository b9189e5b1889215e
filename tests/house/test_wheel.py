"""The wheel holds the package once, with its data, and nothing of the repository beside it."""

import importlib.util
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names of the files in a wheel built from this tree."""
    if importlib.util.find_spec("pip") is None or importlib.util.find_spec("setuptools") is None:
        pytest.skip("building needs pip and setuptools in this environment")
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in ("profilec", "pyproject.toml", "README.md", "LICENSE"):
        (source / name).symlink_to(ROOT / name)
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    subprocess.run([*build, "--wheel-dir", str(folder), str(source)], check=True)
    (wheel,) = folder.glob("profilec-*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


def test_holds_every_module_and_data_file(names: set[str]) -> None:
    files = [path for path in (ROOT / "profilec").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert {str(path.relative_to(ROOT)) for path in files} <= names


def test_holds_nothing_else(names: set[str]) -> None:
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"profilec"}
    assert not [name for name in names if "__pycache__" in name]


def test_carries_the_licence(names: set[str]) -> None:
    assert any(name.endswith("licenses/LICENSE") for name in names)
