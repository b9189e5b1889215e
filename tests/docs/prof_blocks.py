"""The `prof` blocks of the documents: how they are found, and what `profilec test` says of them.

A block proves itself in one of two ways. Followed by a `text` block, it is a file whose
diagnostics are that text. Otherwise it is a file without diagnostics, each of whose profiles
carries examples, all of which hold. Both are asked of `profilec test`, as a reader would.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

from profilec.cli.test import test as profilec_test

DOCS = Path(__file__).parents[2] / "docs"
FILE = "shop.prof"
"""The name under which each block is tested, so that diagnostics have a file to name."""

_BLOCK = re.compile(
    r"^```prof\n(?P<text>.*?)^```$"
    r"(?:\n\n?```text\n(?P<said>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
_FENCE = re.compile(r"^```(\w*)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A `prof` block; `said` is the `text` block after it, the diagnostics."""

    line: int
    text: str
    said: str | None


@dataclass(frozen=True)
class Outcome:
    """What `profilec test` said of a block: a result an example, and the diagnostics."""

    results: list[dict[str, Any]]
    said: str

    @property
    def failed(self) -> list[dict[str, Any]]:
        return [result for result in self.results if not result["passed"]]


def blocks_in(text: str) -> Iterator[Block]:
    for found in _BLOCK.finditer(text):
        yield Block(text.count("\n", 0, found.start()) + 1, found["text"], found["said"])


def fences(text: str) -> list[str]:
    """The language of each block, in order.

    >>> fences("```prof\\nPROFILE a WHERE b;\\n```\\n")
    ['prof']
    """
    return _FENCE.findall(text)[::2]


def parameters(document: str) -> list[Any]:
    """The blocks of a document, for `pytest.mark.parametrize`."""
    text = (DOCS / document).read_text("utf-8")
    return [pytest.param(block, id=f"{document}:{block.line}") for block in blocks_in(text)]


def outcome_of(block: Block, folder: Path) -> Outcome:
    """Runs `profilec test` over the block in an empty folder."""
    (folder / FILE).write_text(block.text, "utf-8")
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        contextlib.suppress(typer.Exit),
    ):
        profilec_test([FILE], format_="json", option=None)
    return Outcome(json.loads(out.getvalue() or "[]"), err.getvalue())


def assert_proves_itself(block: Block, folder: Path) -> None:
    """The block says what the document says it does."""
    from profilec import compile

    outcome = outcome_of(block, folder)
    if block.said is not None:
        assert outcome.said == block.said
        assert block.said, "a block of no diagnostics"
        return
    assert outcome.said == ""
    assert not outcome.failed
    profiles = compile(folder / FILE)
    assert profiles.ids, "a block of no profiles"
    assert not [id_ for id_ in profiles.ids if not profiles.examples(id_)], "profiles without examples"
