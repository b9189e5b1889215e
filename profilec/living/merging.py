"""Merging: what segments and deltas are made one segment, and when.

In: a living set. Out: the same set in fewer segments, without what died.

A delta that is full is made a segment, together with the segments that are not much larger than what is merged so far:
so a profile is moved again only where it comes into a segment RATIO times as large, and there are few segments. Many
that died bring their segment in, too.

    sizes   1,000,000   200,000   40,000   delta 32,768     ->   1,000,000   272,768

What is left of the segments is united as it is (`planner/lower/unite.py`); only what is in no segment yet is compiled.
What dies meanwhile is dead in the new segment: its `died` is copied when the new state is swapped in.

Source: log-structured merging (O'Neil et al. 1996), by size.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from threading import Thread

import numpy as np

from profilec.compiled_set import CompiledSet, OpenFile, Part, part_of, unite_segments
from profilec.living import aside
from profilec.living.delta import Record
from profilec.living.let_go import let_go
from profilec.living.living_set import MOST_IN_DELTA, MOST_UNDECIDED, LivingSet, Prepared, State
from profilec.living.segment import Int64, Segment
from profilec.runtime.imagefile.container import write
from profilec.runtime.imagefile.tokens import NotKeptError
from profilec.saved_set import set_sections

_log = logging.getLogger("profilec")
RATIO = 3
"""How many times as large as what is merged so far a segment is that is left as it is."""
MOST_SEGMENTS = 8
DEAD_SHARE = 0.25
"""The share of a segment's profiles that died, from which on it is merged."""


def is_due(state: State) -> bool:
    """Whether something is to be merged."""
    delta = state.deltas[-1]
    return (
        len(delta) >= MOST_IN_DELTA
        or delta.n_undecided >= MOST_UNDECIDED
        or len(delta.all) >= 2 * MOST_IN_DELTA
        or len(state.segments) > MOST_SEGMENTS
        or any(segment.n_dead > DEAD_SHARE * len(segment.places) for segment in state.segments)
    )


def is_whole(state: State) -> bool:
    """Whether there is nothing to merge: one segment of which nothing died, or no profiles at all."""
    whole = len(state.segments) <= 1 and not any(one.n_dead or one.number is None for one in state.segments)
    return whole and not state.waiting and not any(delta.all for delta in state.deltas)


def merge_aside(living: LivingSet) -> None:
    """Merges what is due in a thread of its own, unless one does already."""
    if not is_due(living.state) or not living.merging.acquire(blocking=False):
        return

    def run() -> None:
        try:
            with living.keeper.merging() as is_mine:
                while is_mine and is_due(living.state):
                    _merge(living, everything=False)
        except Exception:  # the set goes on as it is, and the next change tries again
            _log.exception("profiles could not be merged; the set goes on with what it has")
        finally:
            living.merging.release()

    Thread(target=run, name="profilec merge", daemon=True).start()


def merge(living: LivingSet) -> Segment | None:
    """Makes everything one segment, and returns it; None where no profile is left."""
    with living.merging, living.keeper.merging(wait=True):
        while not _merge(living, everything=True):
            pass
        segments = living.state.segments
        return segments[0] if segments else None


def append(
    living: LivingSet,
    prepared: Sequence[Prepared],
    expect_fit: Callable[[Sequence[Prepared], Sequence[int | None]], None],
) -> None:
    """Inserts so many profiles that they are a segment from the beginning. `expect_fit` raises where an id is taken: it
    has a place."""
    with living.merging, living.keeper.merging(wait=True):
        number, compiled = _made(living, (), prepared, np.arange(len(prepared)))
        with living.writing:
            with living.keeper.changing(living):
                known = living.known_places(prepared)
                expect_fit(prepared, known)
                places = np.array(living.new_places(known), np.int64)
                segment = Segment(compiled, places, number=number)
                ids = [one.statement.id for one in prepared]
                living.keeper.keep_merge([*living.state.segments, segment], merged_until=0, appended=ids)
            living.append(segment)


def _merge(living: LivingSet, *, everything: bool) -> bool:
    """Merges all, or what is due. False: the set was read again from what is kept meanwhile, and is as it was."""
    with living.writing:
        with living.keeper.changing(living):
            pass  # what other processes changed until now is merged too
        if living.state.waiting:
            living.compile_waiting()
        before = living.state
        merged = before.segments if everything else _chosen(before)
        if everything and is_whole(before):
            return True
        living.state = before._replace(deltas=(*before.deltas, living.new_delta()))
    rows = _Rows(merged, before)
    number, compiled = 0, None
    if len(rows):
        number, compiled = _made(living, rows.left(), rows.records, rows.order)
        compiled.prepare_as([segment.compiled for segment in before.segments])
    with living.writing, living.keeper.changing(living):
        now = living.state
        if not (set(merged) <= set(now.segments) and set(before.deltas) <= set(now.deltas)):
            return False
        segments = [segment for segment in now.segments if segment not in merged]
        if compiled is not None:
            segments.append(Segment(compiled, rows.places, rows.died(), number))
        segments.sort(key=len, reverse=True)
        living.keeper.keep_merge(segments, before.moment)
        deltas = tuple([delta for delta in now.deltas if delta not in before.deltas])
        living.state = now._replace(segments=tuple(segments), deltas=deltas)
        living.retire(before.deltas)
    gone = [segment.compiled.parts for segment in merged]
    owned = [
        *chain.from_iterable(parts.table.objects() for parts in gone),
        *chain.from_iterable(delta.objects() for delta in before.deltas),
        rows.records,
    ]
    files = [parts.file for parts in gone if parts.file is not None]
    del now, before, merged, rows, gone
    for file in files:
        file.let_go()
    let_go(owned)
    return True


def _chosen(state: State) -> tuple[Segment, ...]:
    """The segments that are merged with the deltas."""
    n = sum(map(len, state.deltas))
    chosen = [
        segment
        for segment in state.segments
        if segment.number is None or segment.n_dead > DEAD_SHARE * len(segment.places)
    ]
    n += sum(map(len, chosen))
    for segment in sorted(state.segments, key=len):
        # With what is merged, MOST_SEGMENTS are left, so that nothing is due then.
        if segment not in chosen and (len(segment) <= RATIO * n or len(state.segments) - len(chosen) >= MOST_SEGMENTS):
            chosen.append(segment)
            n += len(segment)
    return tuple(chosen)


def _made(
    living: LivingSet, left: Sequence[tuple[Segment, Int64]], more: Sequence[Record | Prepared], order: Int64
) -> tuple[int, CompiledSet]:
    """The number and the segment of what is left of some, and of profiles that are in none, in an order."""
    with living.keeper.new_segment() as (number, target):
        if len(order) >= aside.LARGE:
            try:
                return number, _made_aside(living, left, more, order, target)
            except NotKeptError:  # a property that no file keeps, nor any store
                assert target is None
        parts = [Part(one.compiled.parts.table, one.compiled.image, own) for one, own in left]
        if more:
            parts.append(part_of((one.statement for one in more), living.how))
        compiled = unite_segments(parts, order, living.how)
        if target is None:
            return number, compiled
        write(target, set_sections(compiled.parts))
        return number, CompiledSet.read(target, living.how.units, is_kept=True)


def _made_aside(
    living: LivingSet,
    left: Sequence[tuple[Segment, Int64]],
    more: Sequence[Record | Prepared],
    order: Int64,
    target: Path | None,
) -> CompiledSet:
    with tempfile.TemporaryDirectory(prefix="profilec-segment-") as folder:
        inner = Path(folder)
        files = [one.compiled.file or _written(one, inner / str(at)) for at, (one, _) in enumerate(left)]
        images = [(file, own) for file, (_, own) in zip(files, left, strict=True)]
        file = inner / "segment" if target is None else target
        # PERF: one statement after the other, so that there are never many for Python's collector.
        aside.unite_aside(images, (one.statement for one in more), order, living.how, file)
        return CompiledSet.read(file, living.how.units, is_kept=target is not None)


def _written(segment: Segment, path: Path) -> OpenFile:
    """The image of a segment that is in no file."""
    write(path, set_sections(segment.compiled.parts))
    return OpenFile(path)


class _Rows:
    """The profiles of some segments and all deltas that are seen in a state, by place.

    PERF: as arrays, which numpy sorts while others run.
    """

    def __init__(self, segments: tuple[Segment, ...], state: State) -> None:
        self._segments = segments
        self._ordinals = [segment.alive(state.moment) for segment in segments]
        self.records = [one for delta in state.deltas for one in delta.all if one.is_seen(state.moment)]
        places = np.concatenate(self._of_all("places", [record.place for record in self.records]))
        self.order = np.argsort(places, kind="stable")
        """Places among what is left of the segments, one behind the other, and then of the records."""
        self.places = places[self.order]

    def __len__(self) -> int:
        return len(self.places)

    def left(self) -> list[tuple[Segment, Int64]]:
        """The segments, and the ordinals that are left of each."""
        return list(zip(self._segments, self._ordinals, strict=True))

    def died(self) -> Int64:
        """When each died, by now."""
        died: Int64 = np.concatenate(self._of_all("died", [record.died for record in self.records]))[self.order]
        return died

    def _of_all(self, name: str, of_records: list[int]) -> list[Int64]:
        return [*(getattr(one, name)[own] for one, own in self.left()), np.array(of_records, np.int64)]
