"""Profiles of constant predicates and of quantified joins, for which one order of the two phases is better.

In: how many, and a share of them that is to hold a join. Out: `Joined` profiles over the documents of `joins`. There
are two ends: few profiles survive their constants, so that hardly a term need be decided; or few survive their
terms, of which there are few, so that hardly a constant need be looked up (Tatbul 2001, 4.3.1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from joins import HIGHEST, NUMBERS, Compared, Term, distinct_terms


class Constant(NamedTuple):
    """`attribute op value`."""

    attribute: str
    op: str
    value: str | int

    def __str__(self) -> str:
        value = f"'{self.value}'" if isinstance(self.value, str) else str(self.value)
        return f"{self.attribute} {self.op} {value}"

    def holds(self, document: Mapping[str, Any]) -> bool:
        """Whether a document, as profilec is given it, satisfies the predicate; NULL does not."""
        value = document.get(self.attribute)
        if value is None:
            return False
        match self.op:
            case "=":
                return bool(value == self.value)
            case "<":
                return bool(value < self.value)
        return bool(value > self.value)


@dataclass(frozen=True, slots=True)
class Joined:
    """A profile: a conjunction of constant predicates, on different attributes, and a quantified join or none."""

    constants: tuple[Constant, ...]
    term: Term | None

    def condition(self) -> str:
        """The profile in its language."""
        parts = [str(constant) for constant in self.constants]
        return " AND ".join([*parts, *([] if self.term is None else [self.term.condition()])])


def few_constants_match(n: int, share: float = 0.5, seed: int = 4) -> list[Joined]:
    """Of 200 profiles one survives its constants at best; there are many terms, and many of them hold."""
    rng = np.random.default_rng(seed)
    terms = [term for term in distinct_terms(1_403) if term.quantifier == "EXISTS"]
    profiles = []
    for number in range(n):
        constants = (
            Constant("brand", "=", f"brand {rng.integers(200)}"),
            Constant(str(rng.choice(NUMBERS)), "<", int(rng.integers(HIGHEST // 3, HIGHEST))),
        )
        profiles.append(Joined(constants, terms[rng.integers(len(terms))] if number < share * n else None))
    return profiles


def few_terms_hold(n: int, share: float = 0.5, seed: int = 5) -> list[Joined]:
    """Most profiles survive their constants; there are fifteen terms, and seldom does one hold."""
    rng = np.random.default_rng(seed)
    scopes = (("user", "brand"), ("user", "category"), ("user", "brand", "category"))
    terms = [Term("EXISTS", scope, Compared(old, ">", HIGHEST * 9 // 10)) for scope, old in product(scopes, NUMBERS)]
    profiles = []
    for number in range(n):
        few, many = rng.choice(NUMBERS, 2, replace=False).tolist()
        constants = (
            Constant(few, "<", int(rng.integers(HIGHEST * 5 // 4, HIGHEST * 3 // 2))),
            Constant(many, ">", int(rng.integers(HIGHEST // 5))),
        )
        profiles.append(Joined(constants, terms[rng.integers(len(terms))] if number < share * n else None))
    return profiles


ENDS: dict[str, Callable[[int, float], list[Joined]]] = {
    "few constants match": few_constants_match,
    "few terms hold": few_terms_hold,
}
