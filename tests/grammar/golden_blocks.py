"""Golden files: blocks of input, `----`, expected text, parted by blank lines; a block without `----` is a remark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

TESTDATA = Path(__file__).parent.parent / "testdata"
DIVIDER = "\n----\n"


def blocks_of(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").strip("\n").split("\n\n")


def cases(folder: str, stem: str) -> Iterator[Any]:
    """The file and number of each block, for `pytest.mark.parametrize`."""
    file = TESTDATA / folder / f"{stem}.txt"
    for number, block in enumerate(blocks_of(file)):
        if DIVIDER in block + "\n":
            yield pytest.param(file, number, id=block.partition("\n")[0])


def compare(file: Path, number: int, rewrite: bool, result_of: Callable[[str], str]) -> None:
    """Compare a block with what the code gives, or write that into it."""
    blocks = blocks_of(file)
    text, _, expected = (blocks[number] + "\n").partition(DIVIDER)
    result = result_of(text)
    if rewrite:
        blocks[number] = f"{text}{DIVIDER}{result}"
        file.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
    else:
        assert result == expected.rstrip("\n")
