"""What OpIndex is extended to (OpIndex, 6): profiles in CNF and DNF (Figure 13), and prefixes (Figure 14).

Whole documents are matched, encoding included, by the product with its matcher `opindex`, as the paper measures OpIndex
alone; its default matcher, `betree`, is beside it. How they differ from the paper's: a clause of a CNF over several
attributes is no list of its own but an access predicate for each disjunct, with a residual that decides the candidates
(6.1 keeps a bit for each clause), and a prefix is an interval of ranks, found by `<=` and `>=` (6.2 keeps a trie).

Scale, and what the paper leaves open: 1 to 20 million subscriptions are 5,000 to 100,000, over 2,000 attributes; up to
5 clauses. For prefixes, 50,000 subscriptions over 1,000 numeric attributes and 100 strings, whose values are types of
products in place of Wikipedia's words; documents have 10 attributes of each sort.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

import opindex
from images import forms_of
from loads import baseline_of
from measure import interleaved
from seeds.chart import Axis, Chart
from seeds.clauses import clauses
from seeds.contests import CLOCK, QUICK, WHOLE
from seeds.titles import types

from profilec.grammar import ir
from profilec.planner.lower import ImageBuilder, with_tree
from profilec.planner.normalize import normalize
from profilec.runtime.execute import Executor

_N_DOCUMENTS = 100
_N_COMPARED = 10
_UNTIL_KNOWN = 12
"""Times that documents are encoded before they are timed: the encoder learns their shapes."""
_MATCH = Axis("event matching (us)", is_log=True)
_MATCHERS = {"OpIndex": "opindex", "betree": "betree"}


def by_clauses(parameter: str, quick: bool) -> Chart:
    """Figure 13a, by subscriptions (`N`), and 13b, by the most clauses of a subscription (`clauses`)."""
    series: dict[str, list[tuple[float | str, float]]] = {}
    if parameter == "N":
        sizes = (200, 400) if quick else (5_000, 25_000, 50_000, 75_000, 100_000)
        points, axis = [(n, n, 5) for n in sizes], Axis("number of subscriptions")
    else:
        n = 200 if quick else 25_000
        points = [(most, n, most) for most in ((1, 3) if quick else (1, 3, 5, 7, 9))]
        axis = Axis("maximum number of clauses")
    for x, n, most in points:
        own = opindex.Parameters(n_profiles=n, d=200 if quick else 2_000)
        for is_cnf in (False, True):
            profiles = clauses(own, most, is_cnf=is_cnf)
            documents = opindex.documents(own, _N_DOCUMENTS)
            scan = baseline_of(profiles)
            expected = [scan.match(codes).tolist() for codes in documents.dense()[:_N_COMPARED]]
            took = _timed(forms_of(profiles), documents.dicts(), expected, quick)
            for name, value in took.items():
                series.setdefault(f"{name}, {'CNF' if is_cnf else 'DNF'}", []).append((x, value))
    half = "a" if parameter == "N" else "b"
    return Chart(f"zhang2014_fig13{half}", f"CNF and DNF by {axis.label}", axis, _MATCH, series)


def by_prefixes(parameter: str, quick: bool) -> Chart:
    """Figure 14a, by the share of prefix operators (`share`), and 14b, by the length of prefixes (`length`)."""
    series: dict[str, list[tuple[float | str, float]]] = {}
    n = 200 if quick else 50_000
    if parameter == "share":
        shares = (0.0, 1.0) if quick else (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
        points, axis = [(share, share, 4) for share in shares], Axis("share of the operator prefix")
    else:
        lengths = (2, 4) if quick else (2, 4, 6, 8, 10)
        points, axis = [(length, 0.5, length) for length in lengths], Axis("prefix length (characters)")
    for x, share, length in points:
        rng = random.Random(1)
        texts = types()
        rows = [_predicates(rng, texts, share, length) for _ in range(n)]
        documents = [_document(rng, texts) for _ in range(_N_DOCUMENTS)]
        expected = [
            [number for number, row in enumerate(rows) if all(_holds(predicate, document) for predicate in row)]
            for document in documents[:_N_COMPARED]
        ]
        for name, value in _timed(map(_form, rows), documents, expected, quick).items():
            series.setdefault(name, []).append((x, value))
    half = "a" if parameter == "share" else "b"
    return Chart(f"zhang2014_fig14{half}", f"The prefix operator by {axis.label}", axis, _MATCH, series)


_N_NUMBERS, _N_STRINGS, _LARGEST = 1_000, 100, 50


def _predicates(rng: random.Random, texts: list[str], share: float, length: int) -> list[tuple[str, int | str]]:
    """One to four, each on an attribute of its own: a number that it is equal to, or a prefix."""
    found: dict[str, int | str] = {}
    for _ in range(rng.randint(1, 4)):
        if rng.random() < share:
            found[f"s{rng.randrange(_N_STRINGS)}"] = rng.choice(texts)[:length]
        else:
            found[f"n{rng.randrange(_N_NUMBERS)}"] = rng.randint(1, _LARGEST)
    return list(found.items())


def _document(rng: random.Random, texts: list[str]) -> dict[str, int | str]:
    numbers = {f"n{number}": rng.randint(1, _LARGEST) for number in rng.sample(range(_N_NUMBERS), 10)}
    return {**numbers, **{f"s{number}": rng.choice(texts) for number in rng.sample(range(_N_STRINGS), 10)}}


def _holds(predicate: tuple[str, int | str], document: dict[str, int | str]) -> bool:
    attribute, operand = predicate
    value = document.get(attribute)
    return value.startswith(operand) if isinstance(value, str) and isinstance(operand, str) else value == operand


def _form(row: list[tuple[str, int | str]]) -> ir.Condition:
    parts: list[ir.Condition] = []
    for name, operand in row:
        attribute = ir.attribute(name)
        if isinstance(operand, str):
            parts.append(ir.Like(attribute, ir.constant(f"{operand}%"), None, False))
        else:
            parts.append(ir.Compare("=", attribute, ir.constant(operand)))
    return normalize(ir.And(tuple(parts)) if len(parts) > 1 else parts[0])


def _timed(
    forms: Iterator[ir.Condition], documents: list[dict[str, Any]], expected: list[list[int]], quick: bool
) -> dict[str, float]:
    """Microseconds a document of each matcher.

    Raises:
        AssertionError: one does not match what is expected of the first documents.
    """
    builder = ImageBuilder()
    for form in forms:
        builder.add(form)
    image = with_tree(builder.build().image)
    executors = {name: Executor(image, matcher) for name, matcher in _MATCHERS.items()}
    for name, executor in executors.items():
        assert [executor.match(document).tolist() for document in documents[:_N_COMPARED]] == expected, name
        for _ in range(1 if quick else _UNTIL_KNOWN):
            for document in documents:
                executor.encode(document)

    def run_of(executor: Executor) -> Callable[[int], None]:
        turns = cycle(documents)

        def run(n: int) -> None:
            for _ in range(n):
                executor.match(next(turns))

        return run

    runs = {name: run_of(executor) for name, executor in executors.items()}
    took = interleaved(runs, whole={}, effort=QUICK if quick else WHOLE, clock=CLOCK)
    return {name: value * 1e6 for name, value in took.items()}
