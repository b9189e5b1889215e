"""How long it takes until something can begin: the import, and verbs on a file of one profile; and the kernels."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from figures import Row, seconds

TITLE = "Startup: a new process each time, best of 5"
_ROOT = Path(__file__).parents[2]


def rows(quick: bool) -> Iterator[Row]:
    repeat = 1 if quick else 5
    empty = _milliseconds(["-c", "pass"], repeat)
    imported = _milliseconds(["-c", "import profilec"], repeat)
    yield Row("import profilec, the interpreter's own start taken off", imported - empty, "ms", target=100)
    with tempfile.TemporaryDirectory() as folder:
        profiles = Path(folder) / "one.prof"
        profiles.write_text("PROFILE one WHERE price < 10;\n")
        for arguments, target in (
            (["--version"], 300),
            (["--help"], 300),
            (["fmt", "--check", str(profiles)], None),
            (["check", str(profiles)], None),
            (["explain", str(profiles)], None),
        ):
            took = _milliseconds(["-m", "profilec", *arguments], repeat)
            shown = " ".join(argument for argument in arguments if argument != str(profiles))
            yield Row(f"profilec {shown}", took, "ms", empty, "python -c pass", target)
        yield from _matching(Path(folder), repeat)
        yield from _warming(Path(folder), quick)


def _matching(folder: Path, repeat: int) -> Iterator[Row]:
    """The whole command, on sets that need no kernel and on one that does, when these are compiled already."""
    documents = folder / "documents.ndjson"
    documents.write_text("".join(f'{{"price": {n}, "brand": "b{n}"}}\n' for n in range(10)))
    numba = _milliseconds(["-c", "import numba"], repeat)
    for n_profiles, target in ((3, 1_000), (100, 1_000), (1_000, None)):
        profiles = folder / f"{n_profiles}.prof"
        profiles.write_text("".join(f"PROFILE p{n} WHERE price < {n} AND brand = 'b{n}';\n" for n in range(n_profiles)))
        command = ["-m", "profilec", "match", str(profiles), str(documents)]
        subprocess.run([sys.executable, *command], check=True, capture_output=True)  # compiles what is missing
        took = _milliseconds(command, repeat)
        yield Row(f"profilec match, {n_profiles:,} profiles", took, "ms", numba, "python -c 'import numba'", target)


def _warming(folder: Path, quick: bool) -> Iterator[Row]:
    """Of a copy of the package, which finds no kernel compiled; that takes minutes, and is left out of a quick run."""
    if quick:
        return
    shutil.copytree(_ROOT / "profilec", folder / "profilec", ignore=shutil.ignore_patterns("__pycache__"))
    alone = {"PYTHONPATH": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"} | alone
    command = [sys.executable, "-m", "profilec", "warmup"]
    for name in ("the first time", "again"):
        took = seconds(lambda: subprocess.run(command, check=True, capture_output=True, cwd=folder, env=environment))
        yield Row(f"profilec warmup, {name}", took, "s")


def _milliseconds(arguments: list[str], repeat: int) -> float:
    command = [sys.executable, *arguments]
    return 1_000 * seconds(lambda: subprocess.run(command, check=True, capture_output=True), repeat)
