"""The plan of a profile set: the matcher that runs it, and what was known when it was chosen.

In: an image and the options. Out: a `Plan`. (The cost-based search over index types takes this
module's place in the pipeline; until then the matcher is one of three, and the tree weighs its own form by cost.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from profilec.planner.options import Options

if TYPE_CHECKING:
    from profilec.runtime.image import Image


@dataclass(frozen=True, slots=True)
class Plan:
    """`phase_order`: the one forced, or None for the cheaper one of each document.

    `postings`: how many (entry, elementary interval) pairs the interval index holds, or would hold."""

    matcher: str
    reason: str
    n_profiles: int
    n_attributes: int
    n_entries: int
    n_joins: int
    postings: int
    phase_order: str | None = None

    def __str__(self) -> str:
        return (
            f"{counted(self.n_profiles, 'profile')}: {counted(self.n_attributes, 'attribute')}, "
            f"{counted(self.n_entries, 'entry', 'entries')}, {counted(self.n_joins, 'join term')}; "
            f"matcher {self.matcher}: {self.reason}"
        )


def counted(number: int, singular: str, plural: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "entry", "entries"), counted(2_000, "profile")
    ('1 entry', '2,000 profiles')
    """
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def plan_of(image: Image, options: Options) -> Plan:
    """Chooses the matcher: the tree, unless the options say otherwise.

    Raises:
        ValueError: an index is forced on what no profile asks for.
    """
    if options.index:
        options.expect_used(_attributes(image))
    if options.matcher is not None:
        matcher, reason = options.matcher, "as the options say"
    elif options.index:
        matcher, reason = "bitmap", "the options name an index, which no other matcher uses"
    else:
        matcher, reason = "betree", "it is the fastest for most sets"
    return Plan(
        matcher=matcher,
        reason=reason,
        n_profiles=image.n_profiles,
        n_attributes=len(image.slots),
        n_entries=len(image.entry_residual),
        n_joins=len(image.joins),
        postings=_postings(image),
        phase_order=options.phase_order,
    )


def _attributes(image: Image) -> Iterator[str]:
    """The attributes and expressions that profiles use, as one writes them, and without back-quotes."""
    programs = [slot.program for slot in image.slots]
    programs += image.terms
    programs += [program for join in image.joins for program in (join.body, join.where or ())]
    names = (slot.name for slot in image.slots)
    return chain(names, _read(programs), (".".join(join.within_of) for join in image.joins if join.within_of))


def _read(programs: Iterable[tuple[tuple[Any, ...], ...]]) -> Iterator[str]:
    """The new document's attributes that programs read."""
    for program in programs:
        for operation, *arguments in program:
            if operation == "attribute" and arguments[0] == 0:
                yield ".".join(arguments[1])
            elif operation in ("some", "every"):
                yield from _read(arguments)


def _postings(image: Image) -> int:
    """Tatbul 2001, 4.1.5: an interval index holds a profile once per elementary interval that satisfies it."""
    covered = np.zeros(len(image.test_slot) + len(image.bit_kind), np.int64)
    lengths = np.concatenate(([0], np.cumsum(image.test_high.astype(np.int64) - image.test_low + 1)))
    covered[: len(image.test_slot)] = lengths[image.test_off[1:]] - lengths[image.test_off[:-1]]
    return int(covered[image.entry_tests].sum())
