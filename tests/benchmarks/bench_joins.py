"""Quantified joins over a store of earlier documents, through the public API alone.

In: nothing. Out: rows. Before anything is timed, its answers are compared with those of what it is a ratio to. The
figures of one ratio are measured in turns within one run, on one thread.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from itertools import cycle
from typing import Any

from baselines.columns import holds
from baselines.set_based import SetBased, statements
from figures import Row, Skipped
from join_loads import (
    OPTIONS,
    QUICK_SIZES,
    Sizes,
    agree,
    conditions_of,
    documents_of,
    ids_of,
    matching,
    microseconds,
    repeating,
    set_over,
)
from joins import Columns, Compared, Term, distinct_terms, shapes, terms_of_one_shape
from phase_rows import counted, phase_orders

import profilec

TITLE = "Quantified joins over the document store"

APPENDED_TO = (
    Term("EXISTS", (), Compared("price", ">", "price")),
    Term("EXISTS", ("user", "country")),
    Term("FORALL", ("user",), Compared("amount", "<", "amount")),
    Term("EXISTS", ("brand",), Compared("price", ">=", "price")),
)
"""Terms over five of the ten attributes."""


def rows(quick: bool) -> Iterator[Row | Skipped]:
    sizes = QUICK_SIZES if quick else Sizes()
    for shape, terms in shapes().items():
        for term in terms:
            yield from one_term(f"{shape}, {term.quantifier}", term, sizes)
    yield from distinct(sizes)
    yield from one_shape(sizes)
    yield from appending(sizes)
    yield from phase_orders(sizes)
    yield from counted(sizes)


def one_term(name: str, term: Term, sizes: Sizes) -> Iterator[Row]:
    """A term alone: one document over a large store and over a small one; a batch, against DuckDB."""
    n_few, n_many = sizes.n_few_earlier, sizes.n_earlier
    few, many = set_over(n_few, [term], sizes), set_over(n_many, [term], sizes)
    earlier, new, documents = documents_of(n_many, sizes.n_new)
    us = microseconds(
        {"few": matching(few, documents_of(n_few, sizes.n_new)[2]), "many": matching(many, documents)}, sizes
    )
    against, limit = f"{n_few:,} documents", sizes.asked(1 / 2)
    yield Row(f"{name}: {n_many:,} documents", us["many"], "us", us["few"], against, times=limit)

    table, tables = new.table(), SetBased(earlier, new)
    batch = many.match_batch(table, threads=1)
    expected = [number for number in range(len(batch)) if batch[number]]
    runs = {"profilec": repeating(lambda: many.match_batch(table, threads=1))}
    for way, statement in statements(term).items():
        agree(f"{name}, DuckDB's {way}", sorted(tables.run(statement).tolist()), expected)
        runs[way] = repeating(lambda statement=statement: tables.run(statement))
    us = microseconds(runs, sizes)
    tables.close()
    ours = us.pop("profilec")
    fastest = min(us, key=lambda way: us[way])
    against, limit = f"DuckDB ({fastest})", sizes.asked(5)
    yield Row(f"{name}: a batch of {len(new):,}", ours / 1e3, "ms", us[fastest] / 1e3, against, times=limit)


def distinct(sizes: Sizes) -> Iterator[Row]:
    """Terms that differ in their attributes, against a scan for each."""
    terms = distinct_terms(sizes.n_terms)
    profiles = set_over(sizes.n_earlier, terms, sizes)
    earlier, new, documents = documents_of(sizes.n_earlier, sizes.n_new)
    turns = cycle(range(len(new)))

    def scan(n: int) -> None:
        for _ in range(n):
            document = new.document(next(turns))
            for term in terms:
                holds(term, earlier, document)

    us = microseconds({"profilec": matching(profiles, documents), "scan": scan}, sizes)
    name, limit = f"{len(terms):,} distinct terms", sizes.asked(100)
    yield Row(f"{name}: one document", us["profilec"], "us", us["scan"], "numpy, term by term", times=limit)
    yield _holding(name, profiles, documents[: sizes.n_checked])


def one_shape(sizes: Sizes) -> Iterator[Row]:
    """Terms that differ in a constant, against one of those that hold now and then."""
    terms = terms_of_one_shape(sizes.n_constants)
    many = set_over(sizes.n_earlier, terms, sizes, n_checked_terms=20)
    one = set_over(sizes.n_earlier, terms[5:6], sizes)
    documents = documents_of(sizes.n_earlier, sizes.n_new)[2]
    us = microseconds({"many": matching(many, documents), "one": matching(one, documents)}, sizes)
    name, limit = f"{len(terms):,} constants of one shape", sizes.asked(1 / 3)
    yield Row(f"{name}: one document", us["many"], "us", us["one"], "one constant", times=limit)
    yield _holding(name, many, documents[: sizes.n_checked])


def _holding(name: str, profiles: Any, documents: list[dict[str, Any]]) -> Row:
    return Row(f"{name}: of them hold", statistics.mean(len(profiles.match(document)) for document in documents), "")


def appending(sizes: Sizes) -> Iterator[Row]:
    """Batches appended to a store, one document matched after each: from nothing on, and to the many that are there."""
    n, n_batch, n_batches_then = sizes.n_earlier, sizes.n_appended_at_once, 10
    earlier, new, documents = documents_of(n + n_batches_then * n_batch, sizes.n_new)
    table = earlier.table()
    profiles = profilec.compile(conditions_of(APPENDED_TO), options=OPTIONS)
    profiles.match(documents[0])
    took: list[float] = []
    found: list[list[str]] = []
    for start in range(0, table.num_rows, n_batch):
        batch, document = table.slice(start, n_batch), documents[len(took) % len(documents)]
        begun = time.perf_counter()
        profiles.documents.extend(batch)
        ids = profiles.match(document)
        took.append(time.perf_counter() - begun)
        found.append(ids)
    for step in (0, 1, len(found) // 2, len(found) - 2, len(found) - 1):
        there = Columns({name: array[: (step + 1) * n_batch] for name, array in earlier.arrays.items()})
        expected = ids_of(APPENDED_TO, there, new.document(step % len(new)))
        agree(f"appending, after {step + 1} batches", found[step], expected)
    begun = time.perf_counter()
    table.slice(0, n_batch).to_pylist()
    listed = (time.perf_counter() - begun) / n_batch * 1e6
    name, limit = f"appending {n_batch:,} at once", sizes.asked(30)
    for which, some in ((f"up to {n:,}", took[:-n_batches_then]), (f"from {n:,} on", took[-n_batches_then:])):
        us = statistics.mean(some) / n_batch * 1e6
        yield Row(f"{name}, {which}: a document", us, "us", listed, "Table.to_pylist", target=limit)
    yield Row(f"{name}, the slowest: a document", max(took) / n_batch * 1e6, "us")
