"""How long it takes until something can begin: the import, and verbs on a file of one profile."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from figures import Row, seconds

TITLE = "Startup: a new process each time, best of 5"


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


def _milliseconds(arguments: list[str], repeat: int) -> float:
    command = [sys.executable, *arguments]
    return 1_000 * seconds(lambda: subprocess.run(command, check=True, capture_output=True), repeat)
