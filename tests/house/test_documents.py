"""The documents are true: each command that they show is run, and its output compared.

A `console` block holds commands after `$ ` and what they print; a line of `…` stands for any
lines. A `python` block with `>>>` is a doctest. A block after `<!-- file: PATH -->` is that file.
Links to files of the repository lead somewhere.
"""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])
_BLOCK = re.compile(r"(?:<!-- file: (?P<file>\S+) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S)
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
_ELLIPSIS = "…"


def _blocks(language: str) -> list[Any]:
    """The blocks of a language; of "file", those that show a file."""
    return [
        pytest.param(path, block, id=f"{path.relative_to(ROOT)}:{block.string.count(chr(10), 0, block.start()) + 1}")
        for path in DOCUMENTS
        for block in _BLOCK.finditer(path.read_text("utf-8"))
        if ("file" if block["file"] is not None else block["language"]) == language
    ]


@pytest.mark.usefixtures("compiled_kernels")
@pytest.mark.parametrize(("path", "block"), _blocks("console"))
def test_commands_print_what_is_shown(path: Path, block: re.Match[str]) -> None:
    path_ = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path_, "COLUMNS": "100"}
    for command, shown in _commands(block["text"]):
        if ".venv" in command:
            continue  # the setup commands: .ci/run runs them, from a clean tree
        done = subprocess.run(
            ["bash", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300
        )
        printed = [line.rstrip() for line in (done.stdout + done.stderr).splitlines()]
        assert _agrees(printed, shown), f"$ {command}\n" + "\n".join(printed)


@pytest.mark.parametrize(("path", "block"), _blocks("python"))
def test_python_blocks(path: Path, block: re.Match[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(ROOT)
    if "SparkSession" in block["text"]:  # a session of its own
        _run_alone(block["text"], tmp_path)
        return
    if ">>>" not in block["text"]:
        exec(compile(block["text"], str(path), "exec"), {"__name__": "example"})
        return
    test = doctest.DocTestParser().get_doctest(block["text"], {}, str(path), str(path), 0)
    failures: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=failures.append)
    assert not failures, "".join(failures)


def _run_alone(program: str, folder: Path) -> None:
    file = folder / "program"
    file.write_text(program)
    command = [sys.executable, *(["-m", "doctest"] if ">>>" in program else []), file]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize(("path", "block"), _blocks("file"))
def test_files_shown_are_the_files(path: Path, block: re.Match[str]) -> None:
    assert block["text"] == (ROOT / block["file"]).read_text("utf-8")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    targets = [target for target in _LINK.findall(path.read_text("utf-8")) if "://" not in target]
    assert not [target for target in targets if not (path.parent / target).exists()]


def test_ci_runs_the_setup_commands_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    commands = [line.removeprefix("$ ") for line in readme.splitlines() if line.startswith("$ ") and ".venv" in line]
    assert len(commands) == 2
    assert not [command for command in commands if command not in script]


def _commands(text: str) -> list[tuple[str, list[str]]]:
    """Each command of a console block, with the lines that it prints."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.startswith("> ") and not found[-1][1]:
            found[-1] = (f"{found[-1][0]}\n{line[2:]}", [])
        else:
            found[-1][1].append(line.rstrip())
    return found


def _agrees(printed: list[str], shown: list[str]) -> bool:
    pattern = "".join(r"(?:.*\n)*" if line == _ELLIPSIS else re.escape(line) + r"\n" for line in shown)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)) is not None
