"""Room on the stack for sqlglot, which recurses a score of frames deep for each bracket."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from profilec.grammar.limits import DEFAULT_LIMITS

_FRAMES_PER_LEVEL = 40


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Allows the frames that a text or a condition of the greatest allowed depth needs."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, DEFAULT_LIMITS.max_depth * _FRAMES_PER_LEVEL + 1_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
