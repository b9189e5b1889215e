"""Who may import whom. The layers themselves are import-linter's (pyproject.toml); the rest is here."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_import_linter_contracts() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    if not linter.exists():
        pytest.skip("import-linter is not installed; it comes with the extra `test`")
    run = subprocess.run([linter], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


def test_only_lowering_sees_the_runtime_and_of_it_only_what_it_lowers_to() -> None:
    allowed = (
        "profilec.runtime.analyze",
        "profilec.runtime.apart",
        "profilec.runtime.atoms",
        "profilec.runtime.element_terms",
        "profilec.runtime.image",
        "profilec.runtime.imagefile.columns",
        "profilec.runtime.imagefile.tokens",
        "profilec.runtime.indexes.aho_corasick",
        "profilec.runtime.indexes.filed_patterns",
        "profilec.runtime.indexes.patterns_by_name",
        "profilec.runtime.indexes.regex_set",
        "profilec.runtime.indexes.suffix_trie",
        "profilec.runtime.indexes.trie",
        "profilec.runtime.patterns",
        "profilec.runtime.program",
        "profilec.runtime.regex_sets",
        "profilec.runtime.sampled",
        "profilec.runtime.joins.costs",
        "profilec.runtime.joins.literals",
        "profilec.runtime.joins.phase",
        "profilec.runtime.joins.table",
        "profilec.runtime.kernels",
        "profilec.runtime.matchers.betree.tree",
        "profilec.runtime.matchers.groups",
        "profilec.runtime.store.documents",
    )
    for path in (ROOT / "profilec" / "planner").rglob("*.py"):
        for module, type_checking in _imports(path):
            if module.startswith("profilec.runtime"):
                lowers = "lower" in path.relative_to(ROOT / "profilec" / "planner").parts
                assert type_checking or lowers, f"{path} imports {module}"
                assert module in allowed, f"{path} imports {module}"


def test_matching_loads_no_compiler() -> None:
    compiler = ("profilec.grammar", "profilec.planner", "profilec.profileset")
    _run_without(
        ("lark", "sqlglot", "networkx", "rich", "typer", "lmdb", *compiler),
        "import pkgutil, profilec.runtime\n"
        "for module in pkgutil.walk_packages(profilec.runtime.__path__, 'profilec.runtime.'):\n"
        "    __import__(module.name)\n",
    )


def test_importing_the_package_loads_nothing_heavy() -> None:
    columns = ("numpy", "pyarrow", "pandas", "pyroaring")
    _run_without(
        ("lark", "sqlglot", "networkx", "re2", "rich", "typer", "numba", "lmdb", *columns),
        "import profilec",
    )


@pytest.mark.parametrize("verb", ["check", "fmt", "explain"])
def test_verbs_that_only_read_start_light(verb: str, tmp_path: Path) -> None:
    profiles = tmp_path / "a.prof"
    profiles.write_text("PROFILE p WHERE price < 10;\n")
    _run_without(
        ("pyarrow", "pandas", "numba", "llvmlite", "pyspark", "sqlglot", "rich"),
        "import sys\n"
        f"sys.argv = ['profilec', {verb!r}, {str(profiles)!r}]\n"
        "from profilec.cli.app import main\n"
        "try:\n"
        "    main()\n"
        "except SystemExit as end:\n"
        "    assert end.code == 0, end.code\n",
    )


def _imports(path: Path) -> list[tuple[str, bool]]:
    """Modules that a file imports, and whether only for type checking."""
    tree = ast.parse(path.read_text("utf-8"))
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.extend((alias.name, id(node) in for_types) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append((node.module, id(node) in for_types))
    return found


def _run_without(modules: tuple[str, ...], program: str) -> None:
    """Runs a program in a new interpreter and checks that it loaded none of the modules."""
    check = f"\nimport sys\nloaded = [name for name in {modules!r} if name in sys.modules]\nassert not loaded, loaded\n"
    run = subprocess.run([sys.executable, "-c", program + check], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
