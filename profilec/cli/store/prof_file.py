"""Profiles as the text of a `.prof` file.

In: profiles, one by one, and their schema. Out: statements; what no statement says is left out, and told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from profilec.grammar.examples import Example
    from profilec.grammar.limits import Limits
    from profilec.values.types import Schema


class Written(NamedTuple):
    """A profile to be written."""

    id: str
    where: str
    properties: Mapping[str, Any]
    examples: Sequence[Example]
    comment: str | None


class ProfText:
    """The text, piece by piece; `lost` says what is not in it, and `n_written` how many profiles are."""

    def __init__(self, profiles: Iterable[Written], schema: Schema | None, limits: Limits) -> None:
        self.lost: list[str] = []
        self.n_written = 0
        self._profiles = profiles
        self._schema = schema
        self._limits = limits

    def __iter__(self) -> Iterator[str]:
        from profilec.grammar.statement_text import schema_text

        schema = self._schema
        if schema is not None:
            try:
                yield schema_text(schema) + "\n"
            except ValueError as error:
                self.lost.append(f"the SCHEMA: {error}")
        for one in self._profiles:
            text = self._text(one)
            if text is not None:
                self.n_written += 1
                yield text if self.n_written == 1 else f"\n{text}"

    def _text(self, one: Written) -> str | None:
        from profilec.grammar.statement_text import profile_text

        known: dict[str, Any] = {"schema": self._schema, "limits": self._limits}
        try:
            return profile_text(one.id, one.where, one.properties, one.examples, one.comment, **known)
        except ValueError as error:
            reason = str(error)
        try:
            text = profile_text(one.id, one.where, **known)
        except ValueError:
            self.lost.append(f"profile {one.id!r}: {reason}")
            return None
        self.lost.append(f"profile {one.id!r}: only its condition could be written: {reason}")
        return text
