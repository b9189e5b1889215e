"""Public product titles as profiles: each title is a conjunction over its 3-grams (BE-Tree, 7.1).

'string' is the 3-grams str tri rin ing, and these are ['st' = 'r', 'tr' = 'i', 'ri' = 'n', 'in' = 'g']: the attribute
is two letters, so that there are 26 * 26 of them, and the value is the third of 26.

Left open by the paper and decided here: only letters count, in one case, and a title is one string of them. Of 3-grams
that begin with the same two letters the first is taken, since an expression has an attribute once.
"""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path

import numpy as np
from conjunctions import Conjunctions, Op, offsets_of, with_masks
from documents import Documents, documents_of

_FILE = Path(__file__).parents[2] / "testdata" / "titles" / "products.tsv.gz"
_LETTERS = 26
N_ATTRIBUTES = _LETTERS * _LETTERS


@cache
def products() -> list[tuple[str, str, str]]:
    """Category, type and size of each title."""
    with gzip.open(_FILE, "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    return [(category, type_, size) for category, type_, size in lines]


def titles() -> list[str]:
    """All titles, in random order, always the same."""
    return _shuffled([" ".join(parts) for parts in products()])


def types() -> list[str]:
    """All types, which are shorter, in random order."""
    return _shuffled(sorted({type_ for _, type_, _ in products()}))


def _shuffled(texts: list[str]) -> list[str]:
    return [texts[place] for place in np.random.default_rng(1).permutation(len(texts))]


def expression(text: str) -> list[tuple[int, int]]:
    """The equalities of a text: attribute, and value from 1 on; ascending.

    >>> expression("an ant")
    [(13, 1), (338, 14)]
    """
    letters = [ord(letter) - ord("a") for letter in text.lower() if "a" <= letter <= "z"]
    found: dict[int, int] = {}
    for first, second, third in zip(letters, letters[1:], letters[2:], strict=False):
        found.setdefault(first * _LETTERS + second, third + 1)
    return sorted(found.items())


def profiles_of(texts: list[str]) -> Conjunctions:
    """A profile for each text; each has at least three letters."""
    rows = [expression(text) for text in texts]
    off = offsets_of(np.array([len(row) for row in rows], np.int64))
    slots, values = np.array([pair for row in rows for pair in row], np.int32).T.copy()
    op = np.full(len(slots), Op.EQUAL, np.uint8)
    no_lists = np.zeros(1, np.int64), np.zeros(0, np.int32)
    return with_masks(N_ATTRIBUTES, _LETTERS, off, op, slots, values, values.copy(), *no_lists)


def documents_of_texts(texts: list[str]) -> Documents:
    """A document for each text."""
    return documents_of([expression(text) for text in texts], N_ATTRIBUTES)
