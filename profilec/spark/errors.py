"""Errors of profilec in Spark."""

from __future__ import annotations


class SparkMatchError(RuntimeError):
    """Profiles cannot be matched in Spark, or some row cannot; the message says why, and what to do."""


class RowError(ValueError):
    """A row of a batch that is no document: which, from 0, and why."""

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(reason)
        self.row = row
