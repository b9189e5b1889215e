"""ProfileSet: the object that users hold, and `compile`, which makes it.

In: whatever `planner.sources` reads. Out: a set that answers which of its profiles a document
matches. The set keeps each profile's text and place, so that `why` and `explain` can speak of
the source; matching uses the image alone.
"""

from __future__ import annotations

import gc
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from profilec.grammar.diagnostics import Diagnostic, ProfileError
from profilec.grammar.statements import Example, ProfileStatement
from profilec.planner.explain import explain_profile, explain_set
from profilec.planner.lower import ImageBuilder, TooComplexError
from profilec.planner.normalize import normalize
from profilec.planner.options import Options
from profilec.planner.plan import Plan, plan_of
from profilec.planner.sources import Source
from profilec.planner.workers import WorkerPool
from profilec.runtime.batch import MatchBatch
from profilec.runtime.execute import Executor
from profilec.runtime.store.documents import DocumentStore
from profilec.values.types import Schema
from profilec.why import Explanation, explain_truth


@dataclass(frozen=True, slots=True)
class Profile:
    """An id and a condition, with optional properties and a comment.

    >>> Profile("cheap", "price < 10").id
    'cheap'
    """

    id: str
    where: str
    properties: Mapping[str, Any] = field(default_factory=dict)
    comment: str | None = None


def compile(
    source: Any,
    *,
    schema: Any = None,
    statistics: Any = None,
    calibration: Any = None,
    options: Mapping[str, Any] | None = None,
    on_error: str = "raise",
    progress: Callable[[int, int], object] | None = None,
) -> ProfileSet:
    """Compiles profiles into a set that can be matched.

    Args:
        source: a `pathlib.Path` of a `.prof` file or of a folder of them, or a list of Paths; `.prof`
            text; a mapping of id to WHERE text; an Arrow table with the columns id and condition; an
            iterable of `Profile`.
        schema: the documents' attributes: text as in a SCHEMA statement, a mapping of name to type,
            a pyarrow schema, or a `Schema`. SCHEMA statements of the source add to it.
        options: see the README; a choice that the planner would make otherwise can be forced here.
        statistics, calibration: for the cost-based planner that is to come; nothing reads them yet.
        on_error: "raise", or "skip" to compile the good profiles and keep the diagnostics of the others.
        progress: called now and then with the characters of the texts compiled so far, and in all.

    Raises:
        ProfileError: some profile has an error; `.diagnostics` has all of them, warnings included.
        ValueError, TypeError: the arguments make no sense.

    >>> profiles = compile("PROFILE cheap WHERE price < 10;")
    >>> profiles.match({"price": 9.5})
    ['cheap']
    """
    if on_error not in ("raise", "skip"):
        raise ValueError(f"on_error takes 'raise' or 'skip', not {on_error!r}")
    chosen = Options.read(options)
    diagnostics: list[Diagnostic] = []
    opened = Source(source, diagnostics.append)
    known = opened.schema(_read_schema(schema, diagnostics))
    compiled = _Compilation(known, chosen, diagnostics)
    with _collector_paused(), WorkerPool(known, chosen.limits, chosen.rules) as pool:
        for statement in opened.statements(known, chosen.limits, pool.normal_forms):
            compiled.take(statement, is_normal=statement.condition in pool.latest)
            if progress is not None and len(compiled.ids) % _STRIDE == 0:
                progress(opened.n_done + statement.start, opened.n_characters)
    diagnostics[:] = opened.in_order(diagnostics)
    if on_error == "raise" and any(found.severity == "error" for found in diagnostics):
        raise ProfileError(diagnostics)
    return compiled.finish()


_STRIDE = 5_000
"""Profiles between two calls of `progress`."""


@contextmanager
def _collector_paused() -> Iterator[None]:
    """PERF: the compiler makes no cycles but millions of objects, which the collector would walk again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Places:
    """Where each profile stands, as columns: a million of them cost no million objects."""

    def __init__(self) -> None:
        self.files: list[str | None] = []
        self.file = array("i")
        self.line = array("i")
        self.column = array("i")
        self._file_of: dict[str | None, int] = {}

    def add(self, file: str | None, line: int, column: int) -> None:
        number = self._file_of.setdefault(file, len(self.files))
        if number == len(self.files):
            self.files.append(file)
        self.file.append(number)
        self.line.append(line)
        self.column.append(column)

    def __getitem__(self, ordinal: int) -> tuple[str | None, int, int]:
        return self.files[self.file[ordinal]], self.line[ordinal], self.column[ordinal]


class _Compilation:
    """A set in the making."""

    def __init__(self, schema: Schema | None, options: Options, diagnostics: list[Diagnostic]) -> None:
        self.schema = schema
        self.options = options
        self.diagnostics = diagnostics
        self.ids: dict[str, int] = {}
        self.wheres: list[str] = []
        self.places = _Places()
        self.properties: dict[int, Mapping[str, Any]] = {}
        self.comments: dict[int, str] = {}
        self.examples: dict[int, tuple[Example, ...]] = {}
        self.builder = ImageBuilder(schema, options.limits.max_terms)

    def take(self, statement: ProfileStatement, *, is_normal: bool) -> None:
        """Adds a profile, unless its id is taken or it is too complex; both are reported."""
        ordinal = len(self.ids)
        first = self.ids.setdefault(statement.id, ordinal)
        if first != ordinal:
            self._report(statement, "PC216", f"the id {statement.id!r} is taken", self._taken_by(first))
            return
        try:
            form = statement.condition
            self.builder.add(form if is_normal else normalize(form, rules=self.options.rules))
        except TooComplexError as error:
            del self.ids[statement.id]
            self._report(statement, "PC302", str(error), "raise the option max_terms, or say it without IS UNKNOWN")
            return
        self.wheres.append(statement.where)
        self.places.add(statement.file, statement.line, statement.column)
        if statement.properties:
            self.properties[ordinal] = statement.properties
        if statement.comment is not None:
            self.comments[ordinal] = statement.comment
        if statement.examples:
            self.examples[ordinal] = statement.examples

    def finish(self) -> ProfileSet:
        return ProfileSet(self)

    def _taken_by(self, ordinal: int) -> str:
        file, line, _ = self.places[ordinal]
        where = f"at {file}:{line}" if file is not None else f"number {ordinal + 1} of the set, in line {line}"
        return f"the first profile of that id is {where}; ids are unique in a set"

    def _report(self, statement: ProfileStatement, code: str, message: str, hint: str) -> None:
        self.diagnostics.append(
            Diagnostic(
                code,
                "error",
                message,
                statement.file,
                statement.line,
                statement.column,
                hint=hint,
                profile=statement.id,
                source_line=statement.where.partition("\n")[0],
                source_column=statement.column,
            )
        )


class ProfileSet:
    """A compiled set of profiles. Made by `compile`.

    `match` may be called from several threads. Quantified joins range over `documents`.
    """

    def __init__(self, compiled: _Compilation) -> None:
        self._ids: list[str] = list(compiled.ids)
        self._ordinal_of = compiled.ids
        self._wheres = compiled.wheres
        self._places = compiled.places
        self._properties = compiled.properties
        self._comments = compiled.comments
        self._examples = compiled.examples
        self._options = compiled.options
        self.schema: Schema | None = compiled.schema
        """The attributes that SCHEMA declares; None where nothing does."""
        self.diagnostics: tuple[Diagnostic, ...] = tuple(compiled.diagnostics)
        """What the compiler found: warnings, and with on_error="skip" the errors of the profiles left out."""
        self.documents = DocumentStore()
        """The earlier documents that quantified joins range over."""
        self._image = compiled.builder.build()
        self.plan: Plan = plan_of(self._image, compiled.options)
        """What was chosen, and why."""
        self._executor = Executor(self._image, self.plan.matcher)

    def __getstate__(self) -> dict[str, Any]:
        """All but the executor, which is made again from the image."""
        return {name: value for name, value in self.__dict__.items() if name != "_executor"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._executor = Executor(self._image, self.plan.matcher)

    @property
    def ids(self) -> list[str]:
        """All ids, in the set's order: that of insertion."""
        return list(self._ids)

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __contains__(self, id: object) -> bool:
        return id in self._ordinal_of

    def __getitem__(self, id: str) -> Profile:
        """The profile of an id. Raises KeyError."""
        ordinal = self._ordinal(id)
        return Profile(id, self._wheres[ordinal], self._properties.get(ordinal, {}), self._comments.get(ordinal))

    def __repr__(self) -> str:
        return f"<ProfileSet: {self.plan}>"

    def match(self, document: Mapping[str, Any]) -> list[str]:
        """The ids of the profiles that the document matches, in the set's order.

        Raises:
            DocumentError: the document is no mapping, or an attribute that a profile asks for holds a
                value that is no number, string, boolean, date, timestamp, array or record.
        """
        ids = self._ids
        return [ids[ordinal] for ordinal in self._executor.match(document, self.documents).tolist()]

    def count(self, document: Mapping[str, Any]) -> int:
        """How many profiles the document matches."""
        return len(self._executor.match(document, self.documents))

    def any(self, document: Mapping[str, Any]) -> bool:
        """Whether the document matches some profile."""
        return self.count(document) > 0

    def match_batch(self, documents: Any, *, threads: int | None = None) -> MatchBatch:
        """The matches of many documents at once.

        Args:
            documents: a list of mappings, a pyarrow Table or RecordBatch, or a pandas DataFrame.
            threads: how many threads share the work; None for one.

        Returns:
            A `MatchBatch`: `batch[i]` is the list of ids of document i, in the set's order.
        """
        offsets, indices = self._executor.match_batch(documents, self.documents, threads=threads)
        return MatchBatch(offsets, indices, self._ids)

    def process(self, document: Mapping[str, Any]) -> list[str]:
        """Matches the document, then adds it to `documents`."""
        matched = self.match(document)
        self.documents.add(document)
        return matched

    def why(self, document: Mapping[str, Any], id: str) -> Explanation:
        """The truth of a profile's condition for a document, predicate by predicate. Raises KeyError."""
        profile = self[id]
        place = self._places[self._ordinal(id)]
        return explain_truth(profile, place, document, self.documents, self.schema, self._options.limits)

    def explain(
        self,
        id: str | None = None,
        *,
        format: str = "text",
        form: str | None = None,
    ) -> str:
        """How the set, or the profile of an id, is matched: normal form, entries and access predicates.

        Args:
            id: a profile; None for the whole set.
            format: "text" or "json".
            form: "cnf" or "dnf" to show that normal form of the condition as well.

        Raises:
            KeyError: no such profile.
            NormalFormTooLarge: the CNF or DNF would be too large.
        """
        if id is None:
            if form is not None:
                raise ValueError("form is asked of one profile: give its id")
            return explain_set(self._image, self.plan, self._ids, self._places.__getitem__, format)
        ordinal = self._ordinal(id)
        return explain_profile(
            self._image, ordinal, Profile(id, self._wheres[ordinal]), self._places[ordinal], self._options, format, form
        )

    def examples(self, id: str) -> Sequence[Example]:
        """The ACCEPTS and REJECTS examples of a profile, in the order written. Raises KeyError."""
        return self._examples.get(self._ordinal(id), ())

    def _ordinal(self, id: str) -> int:
        try:
            return self._ordinal_of[id]
        except KeyError:
            from profilec.grammar.diagnostics import did_you_mean

            hint = did_you_mean(id, self._ids) if len(self._ids) <= 100_000 else None
            raise KeyError(f"no profile {id!r}" + (f"; {hint}" if hint else "")) from None


def _read_schema(given: Any, diagnostics: list[Diagnostic]) -> Schema | None:
    from profilec.planner.schema import schema_from

    return schema_from(given, diagnostics.append)
