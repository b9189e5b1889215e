"""Golden files of SQL: blocks of options and input, `----`, what comes of it.

# why this case is there
like_case=sensitive
a LIKE 'x%'
----
a LIKE 'x%'
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

TESTDATA = Path(__file__).parents[2] / "testdata" / "sql"
_DIVIDER = "----"
_OPTIONS = ("like_case=", "schema=")


@dataclass(frozen=True)
class Block:
    """One case of a file: its comments and options as they stand, its input, and what is expected."""

    file: Path
    number: int
    head: tuple[str, ...]
    text: str
    expected: str

    def option(self, name: str) -> str | None:
        return next((line.partition("=")[2] for line in self.head if line.startswith(name + "=")), None)

    @property
    def name(self) -> str:
        return f"{self.file.stem}: {self.text.splitlines()[0][:60]}"


def blocks_of(file: Path) -> list[Block]:
    return [
        _block(file, number, text)
        for number, text in enumerate(file.read_text(encoding="utf-8").strip("\n").split("\n\n"))
    ]


def _block(file: Path, number: int, text: str) -> Block:
    above, _, expected = text.partition(f"\n{_DIVIDER}")
    lines = above.splitlines()
    n_head = next(at for at, line in enumerate(lines) if not line.startswith(("#", *_OPTIONS)))
    return Block(file, number, tuple(lines[:n_head]), "\n".join(lines[n_head:]), expected.strip("\n"))


def rewrite(block: Block, result: str) -> None:
    """Writes what the code gives into the block's file."""
    blocks = [(other, other.expected) for other in blocks_of(block.file)]
    blocks[block.number] = (block, result)
    texts = ["\n".join([*one.head, one.text, _DIVIDER, expected]).rstrip("\n") for one, expected in blocks]
    block.file.write_text("\n\n".join(texts) + "\n", encoding="utf-8")
