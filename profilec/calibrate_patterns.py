"""What `calibrate` measures of pattern indexes.

In: nothing. Out: runs, what was spent on a text and the ns that it took.

Sets of patterns that differ in kind and number are asked of texts of several lengths, by every index in turn, so that
whatever else the machine does meets all of them alike; each round has texts of its own, as documents have.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from profilec.planner import pattern_costs
from profilec.planner.costs import Sizes
from profilec.planner.lower.pattern_loads import pattern_load
from profilec.runtime.image import Pattern
from profilec.runtime.indexes.patterns_by_name import PATTERN_INDEXES, PatternIndex
from profilec.values.patterns import parse_like

ROUNDS = 7
N_TEXTS = 60
_SIZES = (5, 50, 500)
_LENGTHS = (20, 100, 1_000)
_N_WORDS = 2_000


class Run(NamedTuple):
    """What was spent, and the ns that it took."""

    sizes: Sizes
    ns: float


def pattern_runs() -> Iterator[Run]:
    """Every index with every kind of patterns."""
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randrange(3, 10))) for _ in range(_N_WORDS)]
    for make in _KINDS:
        for n_patterns in _SIZES:
            patterns = [make(rng.choice(words), rng.choice(words)) for _ in range(n_patterns)]
            indexes = {name: of(patterns) for name, of in PATTERN_INDEXES.items()}
            for length in _LENGTHS:
                texts = [_text(words, length, rng) for _ in range((ROUNDS + 1) * N_TEXTS)]
                yield from _asked(patterns, indexes, texts)


def _like(text: str) -> Pattern:
    return Pattern(0, parse_like(text), None)


def _regex(text: str) -> Pattern:
    return Pattern(0, None, text)


_KINDS: tuple[Callable[[str, str], Pattern], ...] = (
    lambda one, two: _like(f"%{one}%"),
    lambda one, two: _like(f"{one[:3]}%{two}%"),
    lambda one, two: _like(f"%{two[:3]}%{one}"),
    lambda one, two: _regex(f"^{one[:4]}[a-z ]*{two}"),
    lambda one, two: _regex(f"{one}[0-9]* {two[:2]}"),
    lambda one, two: _regex(f"(?i){one}[0-9]* {two[:2]}"),
    lambda one, two: _regex(f"[{one}][0-9]+[{two}]"),
)
"""Contains; beginnings; ends; regexes with a beginning, with a literal, one that is folded, with none."""


def _text(words: Sequence[str], length: int, rng: random.Random) -> str:
    return " ".join(rng.choices(words, k=length // 4 + 1))[:length]


def _asked(patterns: Sequence[Pattern], indexes: dict[str, PatternIndex], texts: Sequence[str]) -> Iterator[Run]:
    """The median of some rounds, after one that is not counted."""
    took: dict[str, list[float]] = {name: [] for name in indexes}
    n_matching = 0
    for first in range(0, len(texts), N_TEXTS):
        own = texts[first : first + N_TEXTS]
        for name, index in indexes.items():
            start = time.perf_counter_ns()
            matching = list(map(index.matches, own))
            took[name].append((time.perf_counter_ns() - start) / N_TEXTS)
        n_matching += sum(map(len, matching))
    load = pattern_load(patterns, texts[:: ROUNDS + 1])._replace(n_matching=n_matching / len(texts))
    for name, times in took.items():
        yield Run(pattern_costs.pattern_index(name, load), statistics.median(times[1:]))
