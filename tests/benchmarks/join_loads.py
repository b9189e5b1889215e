"""What the benchmarks of joins share: their sizes, sets over a store whose answers are checked, and runs to be timed.

`Sizes()` has the sizes that the targets are about; `QUICK_SIZES` are a hundredth of each, and say nothing of targets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from typing import Any

from baselines.columns import holds
from joins import Columns, Term, earlier_documents, new_documents
from measure import FULL, QUICK, Effort, Run, interleaved

import profilec

OPTIONS = {"matcher": "betree"}
"""Without it, a small set would match its first documents, and only these, by another matcher."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of everything; `is_stated` where it is what the targets are about."""

    effort: Effort = FULL
    n_earlier: int = 1_000_000
    n_few_earlier: int = 10_000
    n_new: int = 1_000
    n_terms: int = 1_000
    n_constants: int = 10_000
    n_appended_at_once: int = 10_000
    n_profiles: int = 20_000
    n_earlier_of_phases: int = 100_000
    counted: tuple[int, ...] = (100, 1_000)
    n_checked: int = 30
    is_stated: bool = True

    def asked(self, of: float) -> float | None:
        """What is asked of a figure, where these are the sizes to ask it of."""
        return of if self.is_stated else None


QUICK_SIZES = Sizes(
    QUICK,
    n_earlier=10_000,
    n_few_earlier=100,
    n_new=10,
    n_terms=10,
    n_constants=100,
    n_appended_at_once=100,
    n_profiles=200,
    n_earlier_of_phases=1_000,
    counted=(30, 100),
    n_checked=3,
    is_stated=False,
)


@cache
def documents_of(n_earlier: int, n_new: int) -> tuple[Columns, Columns, list[dict[str, Any]]]:
    """Earlier documents, new ones, and these as `match` is given them."""
    new = new_documents(n_new, n_earlier)
    return earlier_documents(n_earlier), new, new.table().to_pylist()


def set_over(n_earlier: int, terms: Sequence[Term], sizes: Sizes, n_checked_terms: int | None = None) -> Any:
    """A set of a profile p0, p1, … for each term, over a store, that is right about some new documents.

    Raises:
        AssertionError: it is not. `n_checked_terms`: that many are looked at, the first; by default all.
    """
    earlier, new, documents = documents_of(n_earlier, sizes.n_new)
    profiles = profilec.compile(conditions_of(terms), options=OPTIONS)
    profiles.documents.extend(earlier.table())
    checked = terms[:n_checked_terms]
    for number in range(min(sizes.n_checked, len(new))):
        found = [id_ for id_ in profiles.match(documents[number]) if int(id_[1:]) < len(checked)]
        expected = ids_of(checked, earlier, new.document(number))
        agree(f"{terms[0].condition()} …, document {number} over {n_earlier:,}", found, expected)
    return profiles


def conditions_of(terms: Sequence[Term]) -> dict[str, str]:
    """Profiles of one term each."""
    return {f"p{number}": term.condition() for number, term in enumerate(terms)}


def ids_of(terms: Sequence[Term], earlier: Columns, document: Mapping[str, Any]) -> list[str]:
    """Those of `conditions_of` that the baseline finds."""
    return [f"p{number}" for number, term in enumerate(terms) if holds(term, earlier, document)]


def agree(what: str, found: object, expected: object) -> None:
    """Raises AssertionError where an answer is not that of the baseline."""
    if found != expected:
        raise AssertionError(f"{what}: {found}, and the baseline says {expected}")


def matching(profiles: Any, documents: Sequence[Mapping[str, Any]]) -> Run:
    """Matches documents one after the other, going on where it stopped."""
    turns = cycle(documents)

    def run(n: int) -> None:
        for _ in range(n):
            profiles.match(next(turns))

    return run


def repeating(once: Callable[[], object]) -> Run:
    """A run in which a whole batch counts as one."""

    def run(n: int) -> None:
        for _ in range(n):
            once()

    return run


def microseconds(runs: Mapping[str, Run], sizes: Sizes) -> dict[str, float]:
    """What each takes, in turns."""
    return {name: took * 1e6 for name, took in interleaved(dict(runs), whole={}, effort=sizes.effort).items()}
