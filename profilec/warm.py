"""`warmup`: compiles all kernels ahead of the first document, for images of containers.

In: nothing. Out: machine code in the cache that `runtime.kernels` finds it in. A small set is compiled, matched, saved
and loaded by every compiled way there is, so that each kernel meets the very types that it will be called with.
"""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from profilec.profileset import compile, load
from profilec.runtime import machine_code
from profilec.runtime.kernels import cache_directory
from profilec.saved_set import verify
from profilec.values.sets import Between


class Warmth(NamedTuple):
    """Where machine code is kept (None: it could not be), the seconds it took, and the kernels compiled.

    `n_compiled` is 0 where all were there already.
    """

    directory: Path | None
    seconds: float
    n_compiled: int


def warmup() -> Warmth:
    """Compiles what would otherwise be compiled with the first large set, and the first documents.

    Where all is there already, this takes a second or two. Set NUMBA_CACHE_DIR to keep machine code elsewhere.
    """
    import pyarrow as pa

    start, n_before = time.perf_counter(), len(machine_code.compiled)
    conjunctions = {f"p{n}": f"a = {n % 7} AND b BETWEEN {n} AND {n + 5} AND c IN (1, {n})" for n in range(300)}
    others = {f"q{n}": f"(a = {n} OR b > {n}) AND (c < {n} OR s LIKE '%x{n}%' OR d IS NULL)" for n in range(100)}
    documents: list[dict[str, Any]] = [{"a": 3, "b": 7.5, "c": 1, "s": "x1"}, {}, {"s": "y"}]
    for matcher in ("betree", "betree:matrix"):
        profiles = compile({**conjunctions, **others}, options={"matcher": matcher})
        with TemporaryDirectory() as folder:
            profiles.save(Path(folder) / "set.image")
            verify(Path(folder) / "set.image")
            loaded = load(Path(folder) / "set.image")
            loaded.match(documents[0])
            assert "p5" in loaded
            for either in (profiles, loaded):
                for _ in range(100):  # until the document is one of a known shape
                    either.match(documents[0])
                either.count(documents[0])
                either.match_batch(documents, threads=2)
                either.match_batch([{"s": "y" * 10_000}])
                either.match_batch(pa.Table.from_pylist(documents))
                whole = {
                    "a": pa.array([1, 2]),
                    "c": pa.array([1, 2], pa.uint64()),
                    "b": pa.array([1.5, None]),
                    "s": pa.array(["x", "x"]).dictionary_encode(),
                }
                either.match_batch(pa.table(whole))
            loaded.insert_many({"new": "a = 1"})
        compile(conjunctions, options={"matcher": matcher}).match({"a": Between(1, 3), "b": 9}, semantics="overlap")
    for matcher in ("access", "counting", "opindex"):
        profiles = compile({**conjunctions, **others}, options={"matcher": matcher})
        profiles.match(documents[0])
        profiles.match_batch(documents, threads=2)
        profiles.match_batch(pa.Table.from_pylist(documents))
    compile(others, options={"index": {"s": "suffix_trie"}}).match_batch(documents * 10)
    compile(conjunctions, options={"max_cap": 50}).match_batch(documents * 300)  # enough for pairs to be sorted by leaf
    compile(conjunctions, options={"ranking": "optimistic"}).replan(documents)
    living = compile(conjunctions)
    living.insert_many({f"new {id}": where for id, where in {**conjunctions, **others}.items()})
    living.match(documents[0])
    living.match_batch(documents)
    living.delete_many([f"new {id}" for id in conjunctions])
    n_compiled = len(machine_code.compiled) - n_before
    directory = None if machine_code.not_kept else machine_code.directory_of_kernels() or cache_directory()
    return Warmth(directory, time.perf_counter() - start, n_compiled)
