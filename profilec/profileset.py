"""ProfileSet: the object that users hold; `compile`, which makes it; and `load`, which finds it in a file.

In: whatever `planner.sources` reads, or an image file. Out: a set that answers which of its profiles a document
matches. The set keeps each profile's text and place, so that `why` and `explain` can speak of
the source; matching uses the image alone.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from profilec.grammar.diagnostics import Diagnostic, ProfileError
from profilec.grammar.statements import Example, ProfileStatement
from profilec.observed import Observed
from profilec.planner.calibration import default_units, read_calibration
from profilec.planner.costs import Units
from profilec.planner.explain import explain_profile, explain_set
from profilec.planner.lower import ImageBuilder, TooComplexError, is_outranked, with_tree
from profilec.planner.lower.rearrange import rearranged
from profilec.planner.lower.workload import found_by
from profilec.planner.normalize import normalize
from profilec.planner.options import Options
from profilec.planner.plan import Plan, attributes_of, plan_of
from profilec.planner.ranking import BY_COST
from profilec.planner.sources import Source
from profilec.planner.statistics import Statistics
from profilec.planner.workers import WorkerPool
from profilec.profile_table import Place, PlacesInMaking, ProfileTable
from profilec.runtime.batch import MatchBatch, expect_documents, n_threads_of
from profilec.runtime.columns import columns_of, n_rows_of, rows_at
from profilec.runtime.execute import Executor
from profilec.runtime.image import Int32
from profilec.runtime.imagefile.columns import Strings
from profilec.runtime.imagefile.container import ImageFile, is_image, to_bytes, write
from profilec.runtime.matchers.groups import entries_of
from profilec.runtime.sampled import Sampled
from profilec.runtime.store.documents import DocumentStore
from profilec.saved_set import SetParts, read_set, set_sections
from profilec.values.locks import new_lock
from profilec.values.types import Schema
from profilec.why import Explanation, explain_truth

if TYPE_CHECKING:
    from profilec.runtime.analyze import Seen


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
        statistics: what is known of the documents to come, from which the planner learns how selective each
            predicate is: `Statistics`, the `pathlib.Path` of a file of them, or documents as `match_batch` takes them.
            Without, what profiles ask for must do.
        calibration: what `profilec calibrate` measured: the `pathlib.Path` of its file, or a mapping of unit cost to
            nanoseconds. Without, the defaults.
        on_error: "raise", or "skip" to compile the good profiles and keep the diagnostics of the others.
        progress: called now and then with the characters of the texts compiled so far, and in all.

    Raises:
        ProfileError: some profile has an error; `.diagnostics` has all of them, warnings included.
        DocumentError: a document of `statistics` is none.
        StatisticsError: a file of statistics has none.
        ValueError, TypeError: the arguments make no sense.

    >>> profiles = compile("PROFILE cheap WHERE price < 10;")
    >>> profiles.match({"price": 9.5})
    ['cheap']
    """
    if on_error not in ("raise", "skip"):
        raise ValueError(f"on_error takes 'raise' or 'skip', not {on_error!r}")
    for path in source if isinstance(source, list | tuple) else (source,):
        if isinstance(path, Path) and is_image(path):
            raise ValueError(f"{path} is an image, compiled already; profilec.load reads it")
    chosen = Options.read(options)
    known_documents = None if statistics is None else _read_statistics(statistics)
    diagnostics: list[Diagnostic] = []
    opened = Source(source, diagnostics.append)
    known = opened.schema(_read_schema(schema, diagnostics))
    compiled = Compilation(known, chosen, read_calibration(calibration), diagnostics)
    with collector_paused(), WorkerPool(known, chosen.limits, chosen.rules) as pool:
        for statement in opened.statements(known, chosen.limits, pool.normal_forms):
            compiled.take(statement, is_normal=opened.is_parsed or statement.condition in pool.latest)
            if progress is not None and len(compiled.ids) % _STRIDE == 0:
                progress(opened.n_done + statement.start, opened.n_characters)
    diagnostics[:] = opened.in_order(diagnostics)
    if on_error == "raise" and any(found.severity == "error" for found in diagnostics):
        raise ProfileError(diagnostics)
    return compiled.finish(known_documents)


_STRIDE = 5_000
"""Profiles between two calls of `progress`."""
_MOST_TO_GUESS_FROM = 100_000
"""Ids up to which one that is not there is compared with all of them."""


@contextmanager
def collector_paused() -> Iterator[None]:
    """PERF: the compiler makes no cycles but millions of objects, which the collector would walk again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class Compilation:
    """A set in the making."""

    def __init__(self, schema: Schema | None, options: Options, units: Units, diagnostics: list[Diagnostic]) -> None:
        self.schema = schema
        self.options = options
        self.units = units
        self.diagnostics = diagnostics
        self.ids: dict[str, int] = {}
        self.wheres: list[str] = []
        self.places = PlacesInMaking()
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

    def finish(self, statistics: Statistics | None, *, is_part: bool = False) -> ProfileSet:
        """The set. `is_part`: of a larger set, some of whose attributes it may not have; options that force something
        on these are left out."""
        table = ProfileTable(
            Strings(list(self.ids)),
            Strings(self.wheres),
            self.places.columns(),
            self.ids,
            self.properties,
            self.comments,
            self.examples,
        )
        built = self.builder.build(None if statistics is None else statistics.sample)
        schema = () if self.schema is None else (self.schema,)
        options = self.options.used(attributes_of(built.image)) if is_part else self.options
        plan = plan_of(built, options, self.units)
        parts = SetParts(table, built.image, plan, options, schema, tuple(self.diagnostics))
        is_small = options.leaves_matcher and built.image.n_entries <= FEW_ENTRIES
        if is_small and built.presence is None:
            return ProfileSet(parts, self.units)
        return ProfileSet(_with_tree(parts, built.presence), self.units)

    def _taken_by(self, ordinal: int) -> str:
        file, line = self.places.line_of(ordinal)
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


FEW_ENTRIES = 200
FEW_DOCUMENTS = 1_000
"""A set of no more entries, whose matcher nobody named, matches its first documents by a plain scan: compiled code
takes longer to load than that. After so many documents it is loaded, and a tree that is not there is made."""


def _with_tree(
    parts: SetParts, presence: NDArray[np.float64] | None = None, sampled: Sampled | None = None
) -> SetParts:
    """The parts with a tree in the image, where the plan wants one that is not there, or, with `sampled`, that is there
    already. `presence`: see `bulk_load`; `sampled`: see `with_tree`."""
    plan, image, options = parts.plan, parts.image, parts.options
    matcher, _, leaves = plan.matcher.partition(":")
    own = entries_of(image, plan.matcher, dict(plan.groups)).get("betree") if plan.groups else None
    if (image.tree is not None and sampled is None) or (matcher != "betree" and own is None):
        return parts
    image = with_tree(image, options.max_cap, leaves or "any", presence, options.ranking, sampled, own)
    return parts._replace(image=image)


def executor_of(parts: SetParts, matcher: str | None = None) -> Executor:
    """What runs the plan; by one matcher for all entries where one is named."""
    plan = parts.plan
    return Executor(
        parts.image,
        matcher or plan.matcher,
        plan.phase_order,
        prefilter=plan.prefilter,
        groups=None if matcher else dict(plan.groups),
        index_of=plan.rank_index,
        frequency=plan.frequency or None,
        pattern_index=plan.pattern_index,
    )


class ProfileSet:
    """A compiled set of profiles. Made by `compile`, or from an image by `load`.

    `match` may be called from several threads. Quantified joins range over `documents`.
    """

    def __init__(self, parts: SetParts, units: Units | None = None) -> None:
        self._hold(parts, DocumentStore(schema=parts.schema), units)

    def _hold(self, parts: SetParts, documents: DocumentStore, units: Units | None = None) -> None:
        self._parts = parts
        self._units = default_units() if units is None else units
        self._table = parts.table
        self._image = parts.image
        self.plan: Plan = parts.plan
        """What was chosen, and why."""
        self.documents = documents
        """The earlier documents that quantified joins range over."""
        self._is_small = parts.options.leaves_matcher and parts.image.n_entries <= FEW_ENTRIES
        self._first: Executor | None = None
        """What matches the first documents of a small set."""
        self._final: Executor | None = None
        self._preparing = new_lock()
        self._replanning = new_lock()
        self._n_asked = 0
        self._observed = None if parts.options.replan is None else Observed(self._look_at_the_plan)
        """What replans this set by itself; None where nobody asked for that."""

    def __getstate__(self) -> dict[str, Any]:
        """The bytes of the image, whether or not it is in a file, and the documents."""
        return {"image": to_bytes(set_sections(self._to_keep())), "documents": self.documents}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._hold(read_set(ImageFile(state["image"], "the pickled image")), state["documents"])

    def _executor(self, n_documents: int = 1) -> Executor:
        """What matches the next documents. Made when the first comes, so that a set is loaded without it."""
        if self._final is not None:
            return self._final
        self._n_asked += n_documents
        begins = self._is_small and self._n_asked <= FEW_DOCUMENTS
        if not begins:
            self._whole()
        with self._preparing:
            if begins:
                self._first = self._first or executor_of(self._parts, "scan")
                return self._first
            self._final = self._final or executor_of(self._parts)
            return self._final

    def replan(self, statistics: Any = None) -> Plan:
        """Plans the set again for documents like those of `statistics`, and returns the new plan. What is matched
        meanwhile is matched by the old one; no answer changes.

        Args:
            statistics: as of `compile`. None for the last documents matched, where the option `replan` keeps some.

        Raises:
            ValueError: no documents are given, and none were kept.
        """
        if statistics is None:
            known = None if self._observed is None else self._observed.statistics()
            if known is None or not known.n_documents:
                raise ValueError(
                    "replan takes statistics, or documents like those to come; the set keeps some of those that it "
                    "matches where it was compiled with the option replan"
                )
        else:
            known = _read_statistics(statistics)
        with self._replanning:
            self._plan_for(known)
        return self.plan

    def _plan_for(self, known: Statistics, limit: float = 0.0) -> None:
        """Plans again, unless no more than `limit` times as much is looked at as would be then, and no node of a tree
        whose attributes are ranked is below its threshold."""
        parts = self._parts
        built = rearranged(parts.image, known.sample)
        now, then = (found_by(image, built.expected) + 1 for image in (parts.image, built.image))
        ranking, image, sampled = parts.options.ranking, built.image, None
        if ranking.by != BY_COST and not parts.plan.groups:  # a tree of all entries
            image, sampled = replace(image, tree=parts.image.tree, join_tree=parts.image.join_tree), built.sampled
        is_outdated = now > limit * then  # counted from 1: one entry more or less is nothing
        if not (is_outdated or (sampled is not None and is_outranked(image, ranking, sampled))):
            return
        plan = plan_of(built, parts.options, self._units)
        parts = _with_tree(parts._replace(image=image, plan=plan), built.presence, sampled)
        executor = executor_of(parts)
        with self._preparing:
            self._parts, self._image, self.plan, self._final = parts, parts.image, plan, executor

    def _look_at_the_plan(self) -> None:
        """Plans again, in a thread of its own, where that pays."""
        limit, observed = self._parts.options.replan, self._observed
        if limit is None or observed is None or not self._replanning.acquire(blocking=False):
            return

        def look() -> None:
            try:
                self._plan_for(observed.statistics(), limit)
            finally:
                self._replanning.release()

        Thread(target=look, name="profilec replan", daemon=True).start()

    def _to_keep(self) -> SetParts:
        """The parts as they are saved: a small set makes its tree again sooner than kernels are compiled."""
        return self._parts if self._is_small else self._whole()

    def _whole(self) -> SetParts:
        """The parts with all that the plan wants in the image."""
        with self._preparing:
            whole = _with_tree(self._parts)
            if whole is not self._parts:
                self._parts, self._image = whole, whole.image
            return whole

    @property
    def schema(self) -> Schema | None:
        """The attributes that SCHEMA declares; None where nothing does."""
        return next(iter(self._parts.schema), None)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What the compiler found: warnings, and with on_error="skip" the errors of the profiles left out."""
        return tuple(self._parts.diagnostics)

    @property
    def ids(self) -> Sequence[str]:
        """All ids, in the set's order: that of insertion. They equal a list of the same ids."""
        return self._table.ids

    def __len__(self) -> int:
        return len(self._table.ids)

    def __iter__(self) -> Iterator[str]:
        return iter(self._table.ids)

    def __contains__(self, id: object) -> bool:
        return self._table.ordinal(id) is not None

    def __getitem__(self, id: str) -> Profile:
        """The profile of an id. Raises KeyError."""
        ordinal = self.ordinal(id)
        table = self._table
        return Profile(id, table.wheres[ordinal], table.properties.get(ordinal, {}), table.comments.get(ordinal))

    def __repr__(self) -> str:
        return f"<ProfileSet: {self.plan}>"

    def save(self, path: str | os.PathLike[str] | BinaryIO) -> None:
        """Writes the set as an image, one file that `load` maps, or to a binary stream. The `documents` are not saved.

        What is there already is replaced at once: whoever has loaded it goes on with it, and where writing fails it
        stays. The same profiles, compiled with the same options, give the same bytes.

        Raises:
            OSError: the file cannot be written.
            TypeError: a property of a profile is a value that no image keeps.
        """
        write(path, set_sections(self._to_keep()))

    def match(self, document: Mapping[str, Any], *, semantics: str = "point") -> list[str]:
        """The ids of the profiles that the document matches, in the set's order.

        Args:
            document: attribute to value.
            semantics: "point", or "overlap" for documents of which values may be sets, `Between` and `OneOf`: a
                profile matches where each of its predicates accepts some value of the attribute's set.

        Raises:
            DocumentError: the document is no mapping, or an attribute that a profile asks for holds a
                value that is no number, string, boolean, date, timestamp, array or record.
            ValueError: `semantics` is neither; or it is "overlap", and some profiles, which are named, are no
                conjunctions of conditions on single attributes.
        """
        if semantics == "point" or _is_point(semantics):  # PERF: one document costs little more than a call does
            executor = self._final or self._executor()
            if self._observed is not None:
                self._observed.saw(document)
            return self._table.ids.take(executor.match(document, self.documents))
        return self._table.ids.take(self._overlapping(document))

    def count(self, document: Mapping[str, Any], *, semantics: str = "point") -> int:
        """How many profiles the document matches; as `match`."""
        if _is_point(semantics):
            return self._executor().count(document, self.documents)
        return len(self._overlapping(document))

    def any(self, document: Mapping[str, Any], *, semantics: str = "point") -> bool:
        """Whether the document matches some profile; as `match`."""
        if _is_point(semantics):
            return self._executor().any(document, self.documents)
        return len(self._overlapping(document)) > 0

    def _documents_at(self, documents: Any, places: list[int]) -> list[Any]:
        """Some of a batch; of a table, with the columns that profiles may ask for."""
        if n_rows_of(documents) is None:
            return [documents[place] for place in places]
        names = list(attributes_of(self._image))
        asked = {*names, *(name.partition(".")[0] for name in names)}
        return rows_at(columns_of(documents, asked), places)

    def _overlapping(self, document: Mapping[str, Any]) -> Int32:
        overlap = self._executor().overlap
        overlap.require(self.ids)
        return overlap.match(document)

    def match_batch(self, documents: Any, *, threads: int | None = None) -> MatchBatch:
        """The matches of many documents at once.

        Args:
            documents: a list of mappings, a pyarrow Table or RecordBatch, or a pandas DataFrame.
            threads: how many threads share the work; None for one.

        Returns:
            A `MatchBatch`: `batch[i]` is the list of ids of document i, in the set's order.

        Raises:
            DocumentError: as `match`; it names the document or the column.
            TypeError, ValueError: `documents` or `threads` is nothing of that sort.
        """
        expect_documents(documents)
        n_threads = n_threads_of(threads)
        if n_rows_of(documents) is None and not isinstance(documents, list | tuple):
            documents = list(documents)
        n_documents = len(documents)
        offsets, indices = self._executor(n_documents).match_batch(documents, self.documents, threads=n_threads)
        if self._observed is not None:
            self._observed.saw_many(n_documents, partial(self._documents_at, documents))
        return MatchBatch(offsets, indices, self._table.ids)

    def process(self, document: Mapping[str, Any]) -> list[str]:
        """Matches the document, then adds it to `documents`.

        Raises:
            DocumentError: as `match`; or `documents` refuses it (`documents.retain`), and it is not added.
        """
        matched = self.match(document)
        self.documents.add(document)
        return matched

    def why(self, document: Mapping[str, Any], id: str) -> Explanation:
        """The truth of a profile's condition for a document, predicate by predicate. Raises KeyError."""
        profile = self[id]
        earlier = self.documents.snapshot() if self.plan.n_joins else ()
        return explain_truth(profile, self.place(id), document, earlier, self.schema, self._parts.options.limits)

    def explain(
        self,
        id: str | None = None,
        *,
        format: str = "text",
        form: str | None = None,
        analyze: Any = None,
    ) -> str:
        """How the set, or the profile of an id, is matched: normal form, entries and access predicates.

        Args:
            id: a profile; None for the whole set.
            format: "text" or "json"; of the set also "dot", "mermaid" or "html".
            form: "cnf" or "dnf" to show that normal form of the condition as well.
            analyze: documents that the set is run with, to tell what was seen beside what was expected.

        Raises:
            KeyError: no such profile.
            NormalFormTooLarge: the CNF or DNF would be too large.
        """
        if id is None:
            if form is not None:
                raise ValueError("form is asked of one profile: give its id")
            seen = None if analyze is None else self._run(analyze)
            filtered = self._executor(0).filtered(self.documents) if self.plan.n_joins else None
            places, store = self._table.places.__getitem__, self.documents
            with store.reading():
                return explain_set(self._image, self.plan, self._table.ids, places, format, filtered, store, seen)
        if analyze is not None:
            raise ValueError("analyze is asked of the set, and not of one profile")
        return explain_profile(
            self._image, self.ordinal(id), self[id], self.place(id), self._parts.options, format, form
        )

    def _run(self, documents: Any) -> Seen:
        """What the operators of the plan, and not of what begins for it, give and take for documents."""
        from profilec.runtime.analyze import analyze

        expect_documents(documents)
        n_rows = n_rows_of(documents)
        rows = list(documents) if n_rows is None else rows_at(documents, range(n_rows))
        return analyze(self._executor(FEW_DOCUMENTS + 1), rows, self.documents)

    def examples(self, id: str) -> Sequence[Example]:
        """The ACCEPTS and REJECTS examples of a profile, in the order written. Raises KeyError."""
        return self._table.examples.get(self.ordinal(id), ())

    def place(self, id: str) -> Place:
        """Where a profile's condition stands: its file (None where it was given as text), line and column.

        Raises KeyError.
        """
        return self._table.places[self.ordinal(id)]

    def ordinal(self, id: str) -> int:
        """The place of a profile in `ids`. Raises KeyError."""
        ordinal = self._table.ordinal(id)
        if ordinal is None:
            from profilec.grammar.diagnostics import did_you_mean

            hint = did_you_mean(id, self.ids) if isinstance(id, str) and len(self) <= _MOST_TO_GUESS_FROM else None
            raise KeyError(f"no profile {id!r}" + (f"; {hint}" if hint else ""))
        return ordinal


def load(path: str | os.PathLike[str]) -> ProfileSet:
    """The set of an image that `ProfileSet.save` or `profilec compile` wrote.

    The file is mapped: only its header and table of sections are read, and the rest as it is used, by all processes
    that load it from the same pages of memory. What the sections hold is trusted; `verify` checks it. The set's
    `documents` are empty.

    Raises:
        ImageError: it is no image, or damaged, cut off, or of another format; the message says what to do.
        OSError: it cannot be read.
    """
    return ProfileSet(read_set(ImageFile.open(path)))


def _read_statistics(given: Any) -> Statistics:
    if isinstance(given, Statistics):
        return given
    if isinstance(given, Path):
        return Statistics.load(given)
    expect_documents(given)
    n_rows = n_rows_of(given)
    if n_rows is None:
        return Statistics.of(given)
    statistics = Statistics()
    statistics.extend(n_rows, partial(rows_at, given))
    return statistics


def _is_point(semantics: str) -> bool:
    if semantics not in ("point", "overlap"):
        raise ValueError(f"semantics takes 'point' or 'overlap', not {semantics!r}")
    return semantics == "point"


def _read_schema(given: Any, diagnostics: list[Diagnostic]) -> Schema | None:
    from profilec.planner.schema import schema_from

    return schema_from(given, diagnostics.append)
