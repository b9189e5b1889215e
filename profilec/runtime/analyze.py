"""A plan run: what each of its operators gives and takes.

In: an executor, documents. Out: for one document, on average, rows and nanoseconds of each operator.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from profilec.runtime.execute import Executor
    from profilec.runtime.program import Document
    from profilec.runtime.store.documents import DocumentStore


class Seen(NamedTuple):
    """`operators`: by name ("encode", that of a matcher, "check", "joins", "match") the mean rows and ns of one
    document; what follows the matchers is timed together, and rows of joins are None: nobody counts them;
    `indexes`: the same of the index of each attribute, by the slot's name, where a matcher has some."""

    n_documents: int
    operators: Mapping[str, tuple[float | None, float]]
    indexes: Mapping[str, tuple[float, float]]


_WARM_UP = 50


def analyze(executor: Executor, documents: Sequence[Document], store: DocumentStore) -> Seen:
    """Matches the documents, one after the other, and measures. What the first ones compile, load or learn is left out.

    Raises:
        DocumentError: as `Executor.match`.
    """
    matchers = executor.matchers
    rows = dict.fromkeys(("encode", "match", *matchers), 0)
    ns = dict.fromkeys(rows, 0)
    clock = time.perf_counter_ns
    for document in documents[:_WARM_UP]:
        executor.match(document, store)
    for document in documents:
        start = clock()
        slots, ranks, n_slots = executor.encode(document)
        last = clock()
        rows["encode"] += n_slots
        ns["encode"] += last - start
        for name, matcher in matchers.items():
            profiles, entries = matcher.match(slots, ranks, n_slots)
            found = clock()
            rows[name] += len(profiles) + len(entries)
            ns[name] += found - last
            last = found
        matched = executor.match(document, store)
        ns["match"] += clock() - last
        rows["match"] += len(matched)
    n = max(len(documents), 1)
    seen: dict[str, tuple[float | None, float]] = {name: (rows[name] / n, ns[name] / n) for name in rows}
    rest = ns["match"] - ns["encode"] - sum(ns[name] for name in matchers)
    seen["check"] = rows["match"] / n, max(rest, 0) / n
    if executor.image.joins:  # how many of them asked joins, nobody counts
        seen["joins"] = None, max(rest, 0) / n
    return Seen(len(documents), seen, _probed(executor, documents))


def _probed(executor: Executor, documents: Sequence[Document]) -> dict[str, tuple[float, float]]:
    """What each index gives and takes, asked alone."""
    probes: dict[int, Callable[[int], int]] = {}
    for matcher in executor.matchers.values():
        find = getattr(getattr(matcher, "finder", None), "probes", None)
        if find is not None:
            probes |= find()
    rows, ns = dict.fromkeys(probes, 0), dict.fromkeys(probes, 0)
    for document in documents:
        slots, ranks, n = executor.encode(document)
        for slot, rank in zip(slots[:n].tolist(), ranks[:n].tolist(), strict=True):
            if slot in probes:
                start = time.perf_counter_ns()
                rows[slot] += probes[slot](rank)
                ns[slot] += time.perf_counter_ns() - start
    n_documents = max(len(documents), 1)
    names = executor.image.slots
    return {names[slot].name: (rows[slot] / n_documents, ns[slot] / n_documents) for slot in probes}
