"""The command line, run as its users run it: a process of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
"""With this tree's package first, whether or not one is installed."""


@dataclass(frozen=True)
class Run:
    """What a run of the command left."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


@pytest.fixture(autouse=True)
def _commands_find_kernels(compiled_kernels: None) -> None:
    pass


@pytest.fixture
def profilec(tmp_path: Path) -> Callable[..., Run]:
    """Runs `profilec` with arguments in an empty folder; `stdin` is text or bytes."""

    def run(*arguments: str, stdin: str | bytes = b"") -> Run:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        command = [sys.executable, "-m", "profilec", *arguments]
        done = subprocess.run(
            command, cwd=tmp_path, input=data, env=ENVIRONMENT, capture_output=True, check=False, timeout=120
        )
        return Run(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Writes a file into the folder that the command runs in."""

    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file
