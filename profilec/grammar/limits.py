"""Limits on what one profile may be, so that no text can exhaust memory or the stack."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What one profile may be at most; an option of `compile` for each.

    max_depth: nesting of the condition, and of its brackets.
    max_terms: predicates, and values of IN lists, together.
    max_size: characters of the profile's text.
    """

    max_depth: int = 200
    max_terms: int = 1_000_000
    max_size: int = 64 * 2**20


DEFAULT_LIMITS = Limits()
