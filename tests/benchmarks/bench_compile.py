"""A file of profiles, text to a set that answers: time and peak memory, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from figures import Row
from workloads import novel, templated

TITLE = "Compiling: a file of profiles, to the first answer"

_CHILD = """
import json, resource, sys, time
from pathlib import Path
from typing import Any
import profilec
start = time.perf_counter()
profiles = profilec.compile(Path(sys.argv[1]))
profiles.match({"price": 1, "brand": "brand1", "a1": 1})
took = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps([took, peak, len(profiles), profiles.plan.matcher]))
"""

# The baseline is what any compiler of these texts pays at least: reading and tokenizing each condition.
_BASELINE = """
import json, re, sys, time
start = time.perf_counter()
token = re.compile(r"'[^']*'|[0-9.]+|[A-Za-z_]+|[<>=!]+|.")
for line in open(sys.argv[1]):
    token.findall(line)
print(json.dumps(time.perf_counter() - start))
"""


def rows(quick: bool) -> Iterator[Row]:
    n = 10_000 if quick else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        for name, statements, target in (
            (f"{n:,} templated profiles", templated(n), 90),
            (f"{n:,} profiles of novel shapes", novel(n), 900),
        ):
            file = Path(folder) / "profiles.prof"
            with file.open("w") as out:
                out.writelines(statements)
            took, peak, compiled, _ = _run(_CHILD, file)
            assert compiled == n
            yield Row(name, took, "s", _run(_BASELINE, file), "splitting the text into tokens with re", target)
            yield Row(f"{name}: peak memory", peak / 2**30, "GiB", file.stat().st_size / 2**30, "the text", 6)


def _run(script: str, file: Path) -> Any:
    done = subprocess.run([sys.executable, "-c", script, str(file)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)
