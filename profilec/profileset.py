"""ProfileSet: the object that users hold; `compile`, which makes it; and `load`, which finds it in a file.

In: whatever `planner.sources` reads, or an image file. Out: a set that answers which of its profiles a document
matches. The set keeps each profile's text and place, so that `why` and `explain` can speak of
the source; matching uses the image alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from profilec.compilation import Compilation, How, collector_paused
from profilec.compiled_set import CompiledSet, compile_segment
from profilec.grammar.diagnostics import Diagnostic, ProfileError
from profilec.grammar.limits import Limits
from profilec.grammar.statements import Example, ProfileStatement
from profilec.observed import Observed
from profilec.planner.calibration import default_units, read_calibration
from profilec.planner.costs import Units
from profilec.planner.explain import explain_profile
from profilec.planner.operators import counted
from profilec.planner.options import Options
from profilec.planner.plan import Plan, attributes_of
from profilec.planner.sources import Source
from profilec.planner.statistics import Statistics
from profilec.planner.workers import WorkerPool
from profilec.profile_table import Place, ProfileTable
from profilec.runtime.batch import MatchBatch, expect_documents, n_threads_of
from profilec.runtime.columns import columns_of, n_rows_of, rows_at
from profilec.runtime.image import Image, Int32
from profilec.runtime.imagefile.container import ImageFile, is_image, to_bytes, write
from profilec.runtime.store.documents import DocumentStore
from profilec.saved_set import SetParts, read_set, set_sections
from profilec.values.locks import new_lock
from profilec.values.types import Schema
from profilec.why import Explanation, explain_truth

if TYPE_CHECKING:  # what a set needs that changes is loaded with its first change
    from profilec.living.living_set import Keeper, LivingSet, Prepared
    from profilec.store.store import Store


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
        OSError: a file cannot be read, or a folder holds no `.prof` file.
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
        if isinstance(path, Path):
            _expect_text(path)
    chosen = Options.read(options)
    known_documents = None if statistics is None else _read_statistics(statistics)
    diagnostics: list[Diagnostic] = []
    opened = Source(source, diagnostics.append)
    known = opened.schema(_read_schema(schema, diagnostics))
    compiled = Compilation(known, chosen, read_calibration(calibration), diagnostics)
    with collector_paused(), WorkerPool(known, chosen.limits, chosen.rules) as pool:
        for statement in opened.statements(known, chosen.limits, pool.normal_forms):
            compiled.take(statement, is_normal=opened.is_parsed or statement.reading in pool.latest)
            if progress is not None and len(compiled.ids) % _STRIDE == 0:
                progress(opened.n_done + statement.start, opened.n_characters)
    diagnostics[:] = opened.in_order(diagnostics)
    if on_error == "raise" and any(found.severity == "error" for found in diagnostics):
        raise ProfileError(diagnostics)
    return ProfileSet(compiled.finish(known_documents), compiled.units)


_STRIDE = 5_000
"""Profiles between two calls of `progress`."""
_MOST_TO_GUESS_FROM = 100_000
"""Ids up to which one that is not there is compared with all of them."""


class ProfileSet:
    """A compiled set of profiles. Made by `compile`, or from an image by `load`.

    `match` may be called from several threads. Quantified joins range over `documents`.
    """

    def __init__(self, parts: SetParts, units: Units | None = None) -> None:
        units = default_units() if units is None else units
        self._begin(CompiledSet(parts, units), DocumentStore(schema=parts.schema))

    def _begin(self, compiled: CompiledSet, documents: DocumentStore) -> None:
        self._compiled = compiled
        """The set until its first change. Whoever takes it before he finds that there is no living one has all."""
        self._living: LivingSet | None = None
        """The set since its first change."""
        self._beginning = new_lock()
        self.documents = documents
        """The earlier documents that quantified joins range over."""
        self._replanning = new_lock()
        self._observed = None if compiled.parts.options.replan is None else Observed(self._look_at_the_plan)
        """What replans this set by itself; None where nobody asked for that."""

    def __getstate__(self) -> dict[str, Any]:
        """The bytes of the image, whether or not it is in a file, and the documents."""
        return {"image": to_bytes(set_sections(self._whole().to_keep())), "documents": self.documents}

    def __setstate__(self, state: dict[str, Any]) -> None:
        parts = read_set(ImageFile(state["image"], "the pickled image"))
        self._begin(CompiledSet(parts, default_units()), state["documents"])

    def _whole(self) -> CompiledSet:
        """All profiles as one set, into which those of a living one are merged now."""
        compiled, living = self._compiled, self._living
        if living is None:
            return compiled
        from profilec.living.merging import merge

        segment = merge(living)
        return compiled if segment is None else segment.compiled  # the former is of no profiles

    @property
    def _parts(self) -> SetParts:
        return self._whole().parts

    @property
    def _image(self) -> Image:
        return self._parts.image

    @property
    def _table(self) -> ProfileTable:
        return self._parts.table

    @property
    def plan(self) -> Plan:
        """What was chosen, and why; of a set that changed, for its largest segment."""
        compiled, living = self._compiled, self._living
        segments = () if living is None else living.state.segments
        return max(segments, key=len).compiled.parts.plan if segments else compiled.plan

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
            self._whole().plan_for(known)
        return self.plan

    def _look_at_the_plan(self) -> None:
        """Plans again, in a thread of its own, where that pays."""
        limit, observed = self._compiled.parts.options.replan, self._observed
        if self._living is not None:
            from profilec.living.merging import is_whole

            if not is_whole(self._living.state):
                return  # what was inserted is planned when it is merged
        if limit is None or observed is None or not self._replanning.acquire(blocking=False):
            return

        def look() -> None:
            try:
                self._whole().plan_for(observed.statistics(), limit)
            finally:
                self._replanning.release()

        Thread(target=look, name="profilec replan", daemon=True).start()

    @property
    def schema(self) -> Schema | None:
        """The attributes that SCHEMA declares; None where nothing does."""
        return next(iter(self._compiled.parts.schema), None)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What the compiler found: warnings, and with on_error="skip" the errors of the profiles left out."""
        return tuple(self._compiled.parts.diagnostics)

    @property
    def limits(self) -> Limits:
        """What one profile may be."""
        return self._compiled.parts.options.limits

    @property
    def keeper(self) -> Keeper | None:
        """Where changes are kept: of a set that was opened, its store; None where it has not changed yet."""
        return None if self._living is None else self._living.keeper

    @property
    def ids(self) -> Sequence[str]:
        """All ids, in the set's order: that of insertion. They equal a list of the same ids."""
        table, living = self._compiled.parts.table, self._now()
        return table.ids if living is None else living.ids()

    def __len__(self) -> int:
        table, living = self._compiled.parts.table, self._now()
        return len(table.ids) if living is None else len(living)

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def __contains__(self, id: object) -> bool:
        table, living = self._compiled.parts.table, self._now()
        if living is not None:
            return isinstance(id, str) and living.contains(id)
        return table.ordinal(id) is not None

    def __getitem__(self, id: str) -> Profile:
        """The profile of an id. Raises KeyError."""
        table = self._compiled.parts.table
        if self._living is not None:
            own = self._statement(id)
            return Profile(id, own.where, own.properties, own.comment)
        ordinal = self._ordinal(table, id)
        return Profile(id, table.wheres[ordinal], table.properties.get(ordinal, {}), table.comments.get(ordinal))

    def _statement(self, id: str) -> ProfileStatement:
        """The profile of an id of a living set. Raises KeyError."""
        living = self._now()
        found = living.find(id) if living is not None and isinstance(id, str) else None
        if found is None:
            raise self._unknown(id)
        return found

    def insert(self, id: str, where: str) -> tuple[Diagnostic, ...]:
        """Adds a profile, which goes last in the set's order. The next document is matched with it; who is matching
        one, or a batch, ends without it.

        Returns:
            The warnings about it.

        Raises:
            ProfileError: its condition has an error, or its id is taken. The set is as it was.
        """
        return self.insert_many({id: where})

    def insert_many(self, source: Any) -> tuple[Diagnostic, ...]:
        """Adds the profiles of whatever `compile` takes, all at once or, where one has an error, none."""
        return self._change(source, of_known=False)

    def replace(self, id: str, where: str) -> tuple[Diagnostic, ...]:
        """Gives the profile of an id another condition, in the same place of the set's order; as `insert`.

        Raises:
            KeyError: no such profile.
            ProfileError: the condition has an error. The set is as it was.
        """
        return self.replace_many({id: where})

    def replace_many(self, source: Any) -> tuple[Diagnostic, ...]:
        """Replaces profiles by those of whatever `compile` takes, all at once or, where one has an error, none."""
        return self._change(source, of_known=True)

    def put_many(self, source: Any) -> tuple[Diagnostic, ...]:
        """Inserts the profiles of whatever `compile` takes, and replaces those whose ids are there, all at once or,
        where one has an error, none."""
        return self._change(source, of_known=None)

    def delete(self, id: str) -> None:
        """Takes a profile out of the set; who is matching ends with it. Raises KeyError."""
        self.delete_many([id])

    def delete_many(self, ids: Iterable[str]) -> None:
        """Takes profiles out, all at once or, where an id is not there or comes twice, none. Raises KeyError;
        TypeError of a string, which would be the ids of its characters."""
        from profilec.living.merging import merge_aside

        if isinstance(ids, str):
            raise TypeError(f"delete_many takes ids, and a string is one: as in delete_many([{ids!r}])")
        living, ids = self._changing(), list(ids)
        with living.writing:
            with living.keeper.changing(living):
                for id in ids:
                    if not isinstance(id, str) or not living.contains(id):
                        raise self._unknown(id)
                if len(set(ids)) < len(ids):
                    twice = next(id for number, id in enumerate(ids) if id in ids[:number])
                    raise KeyError(f"the profile {twice!r} is to be deleted twice")
                living.keeper.keep_change(living.state.moment + 1, ids, ())
            living.change(ids, ())
        merge_aside(living)

    def compact(self) -> None:
        """Merges what was inserted with all else, without what was deleted, as if the set had been compiled so. That is
        done aside now and then anyhow; what is matched meanwhile sees the same profiles."""
        if self._living is not None:
            from profilec.living.merging import merge

            merge(self._living)

    def _settled(self) -> ProfileSet:
        """The set as it is now, which what is changed later does not change; its documents are the same."""
        if self._living is None:
            return self
        settled = ProfileSet.__new__(ProfileSet)
        settled._begin(self._whole(), self.documents)
        return settled

    def _change(self, source: Any, *, of_known: bool | None) -> tuple[Diagnostic, ...]:
        """Takes profiles whose ids are there, or are not; with None, either."""
        from profilec.living.aside import LARGE
        from profilec.living.merging import append, merge_aside
        from profilec.living.prepare import prepare

        living = self._changing()
        with collector_paused():
            prepared, diagnostics = prepare(source, self.schema, self._compiled.parts.options)
        if len(prepared) >= LARGE and of_known is False:
            append(living, prepared, partial(self._expect_fit, of_known=False))
            return diagnostics
        with living.writing, collector_paused():
            with living.keeper.changing(living):
                known = living.known_places(prepared)
                self._expect_fit(prepared, known, of_known=of_known)
                gone = [one.statement.id for one, place in zip(prepared, known, strict=True) if place is not None]
                come = list(zip(living.new_places(known), prepared, strict=True))
                living.keeper.keep_change(living.state.moment + 1, gone, come)
            living.change(gone, come)
        merge_aside(living)
        return diagnostics

    def _expect_fit(self, prepared: Sequence[Prepared], known: Sequence[int | None], *, of_known: bool | None) -> None:
        """Raises where ids are taken, or one of those to be replaced is not there: where they have places, or none."""
        from profilec.living.prepare import id_in_use

        if of_known is None:
            return
        unfit = [one for one, place in zip(prepared, known, strict=True) if (place is not None) != of_known]
        if unfit and of_known:
            raise self._unknown(unfit[0].statement.id)
        if unfit:
            raise ProfileError([id_in_use(one.statement) for one in unfit])

    def _keep_in(self, store: Store) -> None:
        from profilec.living.living_set import LivingSet

        self.documents = store.documents
        living = LivingSet((), self._how(), self.documents, store)
        store.catch_up(living)
        self._living = living

    def close(self) -> None:
        """Writes what a store keeps through to the disk, and lets go of it. Of a set in memory, nothing is to be
        done."""
        living = self._living
        if living is not None:
            with living.merging:  # which would go on without what it writes to
                living.keeper.close()

    def __enter__(self) -> ProfileSet:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _changing(self) -> LivingSet:
        """The living set, which begins with its first change."""
        if self._living is None:
            from profilec.living.living_set import LivingSet
            from profilec.living.segment import Segment

            compiled = self._compiled
            compiled.whole()
            with self._beginning:
                if self._living is None:
                    base = Segment(compiled, np.arange(len(compiled.ids)))
                    how = self._how()
                    self._living = LivingSet((base,) if len(base) else (), how, self.documents)
                    nothing = compile_segment([], how).parts
                    options, diagnostics = compiled.parts.options, compiled.parts.diagnostics
                    nothing = nothing._replace(options=options, diagnostics=diagnostics)
                    self._compiled = CompiledSet(nothing, compiled.units)  # last: see there
        return self._living

    def _how(self) -> How:
        compiled = self._compiled
        return How(self.schema, compiled.parts.options, compiled.units)

    def _now(self) -> LivingSet | None:
        """The living set, with what other processes changed by now; None of a set that never changed."""
        if self._living is not None:
            self._living.keeper.catch_up(self._living)
        return self._living

    def _unknown(self, id: object) -> KeyError:
        from profilec.grammar.diagnostics import did_you_mean

        hint = did_you_mean(id, self.ids) if isinstance(id, str) and len(self) <= _MOST_TO_GUESS_FROM else None
        return KeyError(f"no profile {id!r}" + (f"; {hint}" if hint else ""))

    def __repr__(self) -> str:
        living = self._living
        if living is None:
            return f"<ProfileSet: {self.plan}>"
        return f"<ProfileSet: {counted(len(living), 'profile')}; `explain` merges what changed, and tells the plan>"

    def save(self, path: str | os.PathLike[str] | BinaryIO) -> None:
        """Writes the set as an image, one file that `load` maps, or to a binary stream. The `documents` are not saved.

        What is there already is replaced at once: whoever has loaded it goes on with it, and where writing fails it
        stays. The same profiles, compiled with the same options, give the same bytes.

        Raises:
            OSError: the file cannot be written.
            TypeError: a property of a profile is a value that no image keeps.
        """
        write(path, set_sections(self._whole().to_keep()))

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
            if self._observed is not None:
                self._observed.saw(document)
            compiled = self._compiled
            if self._living is not None:
                return self._living.match(document)
            executor = compiled.final or compiled.executor()
            return compiled.parts.table.ids.take(executor.match(document, self.documents))
        whole = self._whole()
        return whole.parts.table.ids.take(self._overlapping(whole, document))

    def count(self, document: Mapping[str, Any], *, semantics: str = "point") -> int:
        """How many profiles the document matches; as `match`."""
        if _is_point(semantics):
            compiled = self._compiled
            if self._living is not None:
                return len(self._living.match(document))
            return compiled.executor().count(document, self.documents)
        return len(self._overlapping(self._whole(), document))

    def any(self, document: Mapping[str, Any], *, semantics: str = "point") -> bool:
        """Whether the document matches some profile; as `match`."""
        if _is_point(semantics):
            compiled = self._compiled
            if self._living is not None:
                return bool(self._living.match(document))
            return compiled.executor().any(document, self.documents)
        return len(self._overlapping(self._whole(), document)) > 0

    def _documents_at(self, documents: Any, places: list[int]) -> list[Any]:
        """Some of a batch; of a table, with the columns that profiles may ask for."""
        if n_rows_of(documents) is None:
            return [documents[place] for place in places]
        names = list(attributes_of(self._image))
        asked = {*names, *(name.partition(".")[0] for name in names)}
        return rows_at(columns_of(documents, asked), places)

    def _overlapping(self, whole: CompiledSet, document: Mapping[str, Any]) -> Int32:
        overlap = whole.executor().overlap
        overlap.require(whole.parts.table.ids)
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
        compiled = self._compiled
        if self._living is not None:
            if self._observed is not None:
                self._observed.saw_many(n_documents, partial(self._documents_at, documents))
            return MatchBatch(*self._living.match_batch(documents, n_threads))
        executor = compiled.executor(n_documents)
        offsets, indices = executor.match_batch(documents, self.documents, threads=n_threads)
        if self._observed is not None:
            self._observed.saw_many(n_documents, partial(self._documents_at, documents))
        return MatchBatch(offsets, indices, compiled.parts.table.ids)

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
        earlier = self.documents.snapshot() if self.plan.n_joins or self._living is not None else ()
        return explain_truth(profile, self.place(id), document, earlier, self.schema, self.limits)

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
            return self._whole().explain(self.documents, format, analyze)
        if analyze is not None:
            raise ValueError("analyze is asked of the set, and not of one profile")
        compiled = self._compiled
        image, options = compiled.image, compiled.parts.options
        if self._living is None:
            ordinal = self._ordinal(compiled.parts.table, id)
        else:
            image, ordinal = compile_segment([self._statement(id)], self._how()).parts.image, 0
        return explain_profile(image, ordinal, self[id], self.place(id), options, format, form)

    def examples(self, id: str) -> Sequence[Example]:
        """The ACCEPTS and REJECTS examples of a profile, in the order written. Raises KeyError."""
        table = self._compiled.parts.table
        if self._living is not None:
            return self._statement(id).examples
        return table.examples.get(self._ordinal(table, id), ())

    def place(self, id: str) -> Place:
        """Where a profile's condition stands: its file (None where it was given as text), line and column.

        Raises KeyError.
        """
        table = self._compiled.parts.table
        if self._living is not None:
            own = self._statement(id)
            return own.file, own.line, own.column
        return table.places[self._ordinal(table, id)]

    def ordinal(self, id: str) -> int:
        """The place of a profile in `ids`. Raises KeyError."""
        table = self._compiled.parts.table
        if self._living is not None:
            if id not in self:
                raise self._unknown(id)
            return self.ids.index(id)
        return self._ordinal(table, id)

    def _ordinal(self, table: ProfileTable, id: str) -> int:
        ordinal = table.ordinal(id)
        if ordinal is None:
            raise self._unknown(id)
        return ordinal


def open(
    path: str | os.PathLike[str], *, sync: str = "commit", schema: Any = None, options: Mapping[str, Any] | None = None
) -> ProfileSet:
    """A set that is kept in a store, a folder: what is changed is on disk, and seen by all processes that opened it.

    Args:
        path: the folder, which is made where it is not there.
        sync: "commit": a change is on disk when the call returns. "batch": it is written through now and then, so that
            a power cut may take the last changes and, where the file system orders writes as it likes, the store; a
            killed process takes none. "off": the system decides.
        schema, options: as of `compile`, of a store that is made; of one that is there, None or the same.

    Raises:
        StoreError: it is no store, or damaged, or cannot be written to; the message says what to do.
        ValueError: the store has another schema, or other options.
    """
    from profilec.store.store import open_store

    diagnostics: list[Diagnostic] = []
    given = _read_schema(schema, diagnostics)
    store = open_store(path, sync, given, Options.read(options) if options else None)
    compilation = Compilation(store.schema, store.options, default_units(), diagnostics)
    profiles = ProfileSet(compilation.finish(None))
    profiles._keep_in(store)
    return profiles


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


def _expect_text(path: Path) -> None:
    """Raises ValueError of what holds profiles that are compiled already."""
    if is_image(path):
        raise ValueError(f"{path} is an image, compiled already; profilec.load reads it")
    if (path / "data.mdb").is_file():
        raise ValueError(f"{path} is a store; profilec.open opens it")


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
