"""Whether the pattern indexes chosen by cost are good ones: against each that can be forced, on seven sets of patterns.

In each round every index is asked of some texts that it has not seen, one index after the other, another one first each
time; medians are compared.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from figures import Row
from plans import parsed
from workloads import lines, patterns

from profilec.planner.calibration import default_units
from profilec.planner.lower import ImageBuilder
from profilec.planner.options import Options
from profilec.planner.plan import plan_of
from profilec.runtime.indexes.patterns_by_name import PATTERN_INDEXES, PatternIndex, pattern_index_of
from profilec.runtime.program import run

TITLE = "Pattern indexes chosen by cost, against all that can be forced"
ROUNDS = 9
N_SAMPLED = 400
N_TEXTS = 100
_N_WORDS = 2_000


class _Set(NamedTuple):
    """`conditions` on the attribute `line`, and what makes so many documents' values."""

    name: str
    conditions: list[str]
    texts: Callable[[int], list[str]]


def rows(quick: bool) -> Iterator[Row]:
    import profilec.runtime.kernels  # noqa: F401  (as it is loaded where there are many documents)

    for one in _sets(50 if quick else 2_000):
        yield from _against_all(one, 1 if quick else ROUNDS, 5 if quick else N_TEXTS)


def _sets(n: int) -> Iterator[_Set]:
    rng = random.Random(11)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randrange(4, 10))) for _ in range(_N_WORDS)]

    def texts(length: int) -> Callable[[int], list[str]]:
        def made(m: int) -> list[str]:
            return [" ".join(rng.choices([*words, "7", "42"], k=length // 4))[:length] for _ in range(m)]

        return made

    def of(pattern: str, n_patterns: int) -> list[str]:
        drawn = ({"one": rng.choice(words), "two": rng.choice(words)} for _ in range(n_patterns))
        return [f"line {pattern.format(**own, beginning=own['one'][:4])}" for own in drawn]

    yield _Set("patterns only", list(patterns(n).values()), lines)
    yield _Set("prefixes", of("LIKE '{beginning}%{two}%'", n), texts(100))
    yield _Set("prefixes, regexes", of("MATCHES '^{beginning}[a-z]* .*{two}'", n), texts(100))
    yield _Set("regexes without literals", of("MATCHES '[{one}][0-9]+[{two}]'", n // 4), texts(100))
    yield _Set("few patterns", of("LIKE '%{one}%{two}%'", 5), texts(100))
    yield _Set("many patterns, long texts", of("LIKE '%{one}%{two}%'", n), texts(1_000))
    yield _Set("regexes, long texts", of("MATCHES '{one} [0-9]*{two}'", n // 10), texts(1_000))


def _against_all(one: _Set, rounds: int, n_texts: int) -> Iterator[Row]:
    builder = ImageBuilder()
    for form in parsed(one.conditions):
        builder.add(form)
    built = builder.build([{"line": text} for text in one.texts(N_SAMPLED)])
    plan = plan_of(built, Options(), default_units())
    image = built.image
    slots = sorted({pattern.slot for pattern in image.patterns})
    patterns_of = {slot: [own for own in image.patterns if own.slot == slot] for slot in slots}
    makes = {slot: pattern_index_of(image.slots[slot], plan.pattern_index) for slot in slots}
    chosen = {slot: next(name for name, own in PATTERN_INDEXES.items() if own is make) for slot, make in makes.items()}
    indexes = {(name, slot): make(patterns_of[slot]) for name, make in PATTERN_INDEXES.items() for slot in slots}
    turns = list(indexes)
    for kind, asks in (("one by one", _one_by_one), ("in a batch", _in_a_batch)):
        took: dict[tuple[str, int], list[float]] = {turn: [] for turn in turns}
        for _ in range(1 + rounds):
            turns.append(turns.pop(0))
            documents = [{"line": text} for text in one.texts(n_texts)]
            texts = {slot: [run(image.slots[slot].program, document) for document in documents] for slot in slots}
            answers: dict[int, Any] = {}
            for name, slot in turns:
                start = time.perf_counter()
                answer = asks(indexes[name, slot], texts[slot])
                took[name, slot].append((time.perf_counter() - start) / n_texts * 1e6)
                assert answers.setdefault(slot, answer) == answer, f"{one.name}: the indexes disagree"
        medians = {turn: statistics.median(times[1:]) for turn, times in took.items()}
        of_all = {name: sum(medians[name, slot] for slot in slots) for name in PATTERN_INDEXES}
        planned = sum(medians[name, slot] for slot, name in chosen.items())
        best, worst = min(of_all, key=of_all.__getitem__), max(of_all, key=of_all.__getitem__)
        named = ", ".join(dict.fromkeys(chosen.values()))
        yield Row(f"{one.name}, {kind}: {named}", planned, "us", of_all[best], f"the best, {best}", times=0.8)
        yield Row(f"{one.name}, {kind}: the worst, {worst}", of_all[worst], "us")


def _one_by_one(index: PatternIndex, texts: Sequence[str]) -> list[tuple[int, int]]:
    return sorted((place, number) for place, text in enumerate(texts) for number in index.matches(text))


def _in_a_batch(index: PatternIndex, texts: Sequence[str]) -> list[tuple[int, int]]:
    return sorted(zip(*index.matches_each(texts), strict=True))
