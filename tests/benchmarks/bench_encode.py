"""Encoding alone, no matching, for 1,000 profiles of 4 predicates over 20 attributes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from figures import Row, seconds

TITLE = "Encoding: documents and columns to ranks"
N_PROFILES = 1_000
N_WHOLE, N_DECIMAL, N_TEXT = 8, 4, 8
CHUNK = 16_384


def rows(quick: bool) -> Iterator[Row]:
    from profilec.runtime.encode import Encoder

    n = 2_000 if quick else 200_000
    encoder = Encoder(_image())
    table = _table(n)
    yield from _of_documents(encoder, table.slice(0, min(n, 10_000)).to_pylist())
    columns = {name: table[name].combine_chunks() for name in table.column_names}
    integers, floats, texts = (
        [name for name in columns if name.startswith(letter)] for letter in ("whole", "decimal", "text")
    )
    points = {name: np.quantile(columns[name].to_numpy(), np.linspace(0, 1, 400)) for name in (*integers, *floats)}

    def searched(names: list[str]) -> Callable[[], None]:
        def run() -> None:
            for name in names:
                numbers = columns[name].to_numpy()
                constants = points[name].astype(numbers.dtype)
                for start in range(0, n, CHUNK):
                    np.searchsorted(constants, numbers[start : start + CHUNK])

        return run

    def looked_up() -> None:
        for name in texts:
            for start in range(0, n, CHUNK):
                pc.index_in(columns[name].slice(start, CHUNK), value_set=brands)

    def encoded_texts() -> None:
        for name in texts:
            for start in range(0, n, CHUNK):
                columns[name].slice(start, CHUNK).dictionary_encode()

    brands = pa.array([f"brand{number}" for number in range(200)])
    for what, names, target, baseline, against in (
        ("an integer of a column", integers, 30, searched(integers), "numpy.searchsorted"),
        ("a float of a column", floats, 30, searched(floats), "numpy.searchsorted"),
        ("a string of a column of 300 different ones", texts, 80, looked_up, "pyarrow.compute.index_in"),
        ("the same", texts, None, encoded_texts, "Arrow's dictionary_encode"),
    ):
        n_values = n * len(names)
        took = _per(_batches(encoder, table.select(names)), n_values, 1e9)
        yield Row(what, took, "ns", _per(baseline, n_values, 1e9), against, target)
    coded = pa.table({name: columns[name].dictionary_encode() for name in texts})
    yield Row("a string of a dictionary column", _per(_batches(encoder, coded), n * N_TEXT, 1e9), "ns")
    unique = pa.table({name: pa.array([f"brand{number}" for number in range(n)]) for name in texts[:1]})
    yield Row("a string of a column of all different ones", _per(_batches(encoder, unique), n, 1e9), "ns")
    whole = _per(_batches(encoder, table), n, 1e6)
    listed = _per(table.to_pylist, n, 1e6)
    yield Row("a row of 20 columns", whole, "us", listed, "Table.to_pylist")


def _of_documents(encoder: Any, documents: list[dict[str, Any]]) -> Iterator[Row]:
    documents = [dict(list(document.items())[:15]) for document in documents]
    places: dict[str, dict[Any, int]] = {}
    for document in documents:
        for key, value in document.items():
            known = places.setdefault(key, {})
            known.setdefault(value, len(known))

    def one_by_one() -> None:
        encode = encoder.encode_sparse
        for document in documents:
            encode(document)

    def dictionaries() -> None:
        """What hardly anybody would call encoding: each value of each key has a number, known beforehand."""
        for document in documents:
            found = []
            for key, value in document.items():
                known = places.get(key)
                if known is not None:
                    found.append((key, known[value]))

    baseline = _per(dictionaries, len(documents), 1e6)
    against = "a loop of dictionary look-ups"
    yield Row("a document of 15 attributes, alone", _per(one_by_one, len(documents), 1e6), "us", baseline, against, 15)
    in_batch = _per(_batches(encoder, documents), len(documents), 1e6)
    yield Row("a document of 15 attributes, in a list", in_batch, "us", baseline, against)


def _per(run: Callable[[], Any], n: int, unit: float) -> float:
    run()
    return seconds(run, 5) / n * unit


def _batches(encoder: Any, documents: Any) -> Callable[[], None]:
    n = len(documents)

    def run() -> None:
        for start in range(0, n, CHUNK):
            encoder.encode_batch(documents, start, min(start + CHUNK, n))

    return run


def _image() -> Any:
    from profilec.grammar.parse import parse_condition
    from profilec.planner.lower import ImageBuilder
    from profilec.planner.normalize import normalize

    rng = random.Random(11)
    builder = ImageBuilder()
    for _ in range(N_PROFILES):
        chosen = rng.sample(range(N_WHOLE + N_DECIMAL + N_TEXT), 4)
        condition = " AND ".join(_predicate(rng, number) for number in chosen)
        builder.add(normalize(parse_condition(condition).node))
    return builder.build().image


def _predicate(rng: random.Random, number: int) -> str:
    if number < N_WHOLE:
        low = rng.randrange(1_000)
        return f"whole{number} BETWEEN {low} AND {low + rng.randrange(1_000)}"
    if number < N_WHOLE + N_DECIMAL:
        return f"decimal{number} < {rng.randrange(1_000)}.{rng.randrange(10, 100)}"
    return f"text{number} = 'brand{rng.randrange(300)}'"


def _table(n: int) -> pa.Table:
    generator = np.random.default_rng(12)
    columns: dict[str, Any] = {}
    for number in range(N_WHOLE + N_DECIMAL + N_TEXT):
        if number < N_WHOLE:
            columns[f"whole{number}"] = generator.integers(0, 2_000, n)
        elif number < N_WHOLE + N_DECIMAL:
            columns[f"decimal{number}"] = generator.integers(0, 100_000, n) / 100
        else:
            brands = pa.array([f"brand{brand}" for brand in range(300)])
            columns[f"text{number}"] = brands.take(pa.array(generator.integers(0, 300, n)))
    return pa.table(columns)
