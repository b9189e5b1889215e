"""The page of diagnostics is true and complete: each code has its section, and its example triggers it.

`prof` blocks are run here; the `console` and `python` blocks are among those that
`tests/house/test_documents.py` runs, so that what they show is what is printed.
"""

import re
from pathlib import Path

import pytest

from profilec.grammar.diagnostics import CODES
from tests.docs.prof_blocks import DOCS, Block, assert_proves_itself, blocks_in, fences, parameters

TEXT = (DOCS / "diagnostics.md").read_text("utf-8")
_SECTION = re.compile(r"^### (PC\d{3}): (.*)\n((?:(?!##).*\n)*)", re.MULTILINE)
SECTIONS = {found[1]: (found[2], found[3]) for found in _SECTION.finditer(TEXT)}


@pytest.mark.parametrize("block", parameters("diagnostics.md"))
def test_blocks_prove_themselves(block: Block, tmp_path: Path) -> None:
    assert_proves_itself(block, tmp_path)


def test_every_block_shows_diagnostics() -> None:
    assert all(block.said is not None for block in blocks_in(TEXT))
    assert set(fences(TEXT)) == {"prof", "text", "console", "python"}


def test_sections_are_the_codes_in_their_order() -> None:
    assert list(SECTIONS) == list(CODES)


@pytest.mark.parametrize("code", CODES)
def test_each_code_is_explained_and_triggered(code: str) -> None:
    title, body = SECTIONS[code]
    assert title == CODES[code]
    assert "*What to do:* " in body
    severity = "warning" if code.startswith("PC6") else "error"
    # At the start of a diagnostic, after its place: not in the words around the example.
    assert re.search(rf"^[\w./]+(?::\d+)*: {severity} {code}\b", body, re.MULTILINE)
