"""The folder tree: the root's links, the list of packages, and that no module has two names."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "profilec"
LINKS = ("grammar", "planner", "runtime")


@pytest.mark.parametrize("name", LINKS)
def test_root_link_shows_the_stage(name: str) -> None:
    link = ROOT / name
    assert link.is_symlink()
    assert link.readlink() == Path("profilec") / name


def test_packages_are_listed_and_nothing_else() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        listed = tomllib.load(file)["tool"]["setuptools"]["packages"]
    found = {".".join(path.parent.relative_to(ROOT).parts) for path in PACKAGE.rglob("*.py")}
    assert listed == sorted(listed)
    assert set(listed) == found


def test_every_package_has_an_init() -> None:
    without = {path.parent for path in PACKAGE.rglob("*.py")} - {path.parent for path in PACKAGE.rglob("__init__.py")}
    assert not without


@pytest.mark.parametrize("name", LINKS)
def test_nothing_imports_through_a_link(name: str) -> None:
    files = [path for folder in ("profilec", "tests", "examples") for path in (ROOT / folder).rglob("*.py")]
    through = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in files
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if name in _imported(node)
    ]
    assert not through


def test_no_module_loads_under_two_names() -> None:
    """All of the package is imported where the links are importable, too; each file is then one module."""
    program = """
import pkgutil, sys, collections, os
import profilec
for module in pkgutil.walk_packages(profilec.__path__, "profilec."):
    if module.name.rpartition(".")[2] != "__main__" and not module.name.startswith("profilec.spark"):
        __import__(module.name)
names = collections.defaultdict(list)
for name, module in list(sys.modules.items()):
    file = getattr(module, "__file__", None)
    if file and os.path.realpath(file).startswith(sys.argv[1]):
        names[os.path.realpath(file)].append(name)
twice = {file: found for file, found in names.items() if len(found) > 1}
assert not twice, twice
assert len(names) > 40, names
"""
    subprocess.run([sys.executable, "-c", program, str(PACKAGE)], cwd=ROOT, check=True)


def _imported(node: ast.AST) -> set[str]:
    """The first parts of the names that a statement imports."""
    if isinstance(node, ast.Import):
        return {alias.name.partition(".")[0] for alias in node.names}
    if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
        return {node.module.partition(".")[0]}
    return set()
