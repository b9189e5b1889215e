"""The language reference is true: each of its blocks is run, and none is left out."""

from pathlib import Path

import pytest

from profilec.grammar.lexer import RESERVED
from profilec.values.functions import CAST_TYPES, FUNCTIONS
from profilec.values.types import TYPE_NAMES
from tests.docs.prof_blocks import DOCS, Block, assert_proves_itself, blocks_in, fences, parameters

TEXT = (DOCS / "language.md").read_text("utf-8")


@pytest.mark.parametrize("block", parameters("language.md"))
def test_blocks_prove_themselves(block: Block, tmp_path: Path) -> None:
    assert_proves_itself(block, tmp_path)


def test_no_block_goes_unexecuted() -> None:
    """A block is a `prof` one, or the `text` that belongs to the `prof` before it."""
    blocks = list(blocks_in(TEXT))
    assert all(block.said is not None or "ACCEPTS" in block.text or "REJECTS" in block.text for block in blocks)
    found = fences(TEXT)
    assert found.count("prof") == len(blocks)
    assert found.count("text") == sum(block.said is not None for block in blocks)
    assert set(found) == {"prof", "text"}


@pytest.mark.parametrize(
    "word", [*sorted(RESERVED), *TYPE_NAMES, *CAST_TYPES, *(name for name, f in FUNCTIONS.items() if f.public)]
)
def test_every_word_is_in_the_reference(word: str) -> None:
    assert f"`{word}" in TEXT or f" {word} " in TEXT
