"""Every way of asking profilec, compared with the truths that a judge gave.

A case is some profiles as text, some documents, and the truth of each profile for each document.
Each profile is compiled three times, as it is, under NOT, and under IS UNKNOWN: matching is
two-valued, so only the three together show that a truth is right.
"""

from __future__ import annotations

import pickle
import random
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from structures import Document
from tables import arrow_table, pandas_frame

import profilec
from profilec.grammar.parse import parse_condition
from profilec.planner.reference import evaluate
from profilec.planner.rules import RULE_NAMES

MATCHERS = ("scan", "bitmap", "betree", "betree:list", "betree:matrix")
CAPACITIES = (None, 1, 2, 5)
Answer = bool | None
WORDS = {True: "TRUE", False: "FALSE", None: "UNKNOWN"}
FORMS = ("TRUE", "FALSE", "UNKNOWN")


@dataclass(frozen=True)
class Case:
    """`truths[d][p]` is the truth of profile p for document d. `schema` is the inside of a SCHEMA statement."""

    profiles: Sequence[str]
    documents: Sequence[Document]
    truths: Sequence[Sequence[Answer]]
    earlier: Sequence[Document] = ()
    schema: str | None = None
    rules: tuple[str, ...] | str = "all"
    tabular: bool = False
    style: int = 0
    matchers: tuple[str, ...] = MATCHERS
    forms: tuple[str, ...] = FORMS


@dataclass
class DisagreementError(AssertionError):
    """One truth that profilec got wrong."""

    asked: str
    profile: int
    document: int
    got: str
    case: Case = field(repr=False)

    def __str__(self) -> str:
        case = self.case
        return "\n".join(
            (
                f"{self.asked}: {self.got}, not {WORDS[case.truths[self.document][self.profile]]}",
                f"  profile   {case.profiles[self.profile]}",
                f"  document  {case.documents[self.document]}",
                *(f"  earlier   {document}" for document in case.earlier),
                *([f"  schema    {case.schema}"] if case.schema else []),
                f"  rules     {case.rules}",
            )
        )


def half_of_rules(number: int) -> tuple[str, ...]:
    """A half of the normalization rules, drawn from a number."""
    names = sorted(RULE_NAMES)
    return tuple(sorted(random.Random(number).sample(names, len(names) // 2)))


def check(case: Case, *, explained: bool = False) -> None:
    """Asks every engine.

    Raises:
        DisagreementError: the first wrong answer.
    """
    _check_reference(case)
    for matcher in case.matchers:
        _check_matcher(case, matcher, explained)


def _check_reference(case: Case) -> None:
    nodes = [parse_condition(text).node for text in case.profiles]
    schema = profilec.compile("", schema=case.schema).schema if case.schema else None
    for d, document in enumerate(case.documents):
        for p, node in enumerate(nodes):
            truth = evaluate(node, document, case.earlier, schema)
            if truth is not case.truths[d][p]:
                raise DisagreementError("reference", p, d, WORDS[truth], case)


def three_forms(profiles: Sequence[str], wanted: Sequence[str] = FORMS) -> dict[str, str]:
    """Each profile asked for TRUE, for FALSE and for UNKNOWN. A newline ends a comment that ends the text."""
    asked = {"TRUE": "{}", "FALSE": "NOT (\n{}\n)", "UNKNOWN": "(\n{}\n) IS UNKNOWN"}
    return {
        f"{place} {form}": asked[form].replace("{}", text) for place, text in enumerate(profiles) for form in wanted
    }


def _check_matcher(case: Case, matcher: str, explained: bool) -> None:
    options: dict[str, Any] = {"matcher": matcher, "rules": case.rules}
    max_cap = CAPACITIES[case.style // 5 % len(CAPACITIES)]
    if matcher.startswith("betree") and max_cap is not None:
        options["max_cap"] = max_cap
        matcher = f"{matcher} of {max_cap}"
    profiles = profilec.compile(three_forms(case.profiles, case.forms), schema=case.schema, options=options)
    if case.style % 7 == 5:
        profiles, matcher = saved_and_loaded(profiles), f"{matcher}, saved and loaded"
    elif case.style % 7 == 6:
        profiles, matcher = pickle.loads(pickle.dumps(profiles)), f"{matcher}, pickled"
    as_table = case.tabular and case.documents and case.style % 2
    if case.earlier:
        profiles.documents.extend(arrow_table(case.earlier, case.style) if as_table else list(case.earlier))
    _compare(case, f"{matcher}, one by one", map(profiles.match, case.documents))
    _compare(case, f"{matcher}, batch of dicts", profiles.match_batch(list(case.documents)))
    _compare(case, f"{matcher}, threads", profiles.match_batch(list(case.documents), threads=3))
    _compare_counts(case, matcher, profiles)
    if case.tabular and case.documents:
        _compare(case, f"{matcher}, batch of Arrow", profiles.match_batch(arrow_table(case.documents, case.style)))
        _compare(case, f"{matcher}, batch of pandas", profiles.match_batch(pandas_frame(case.documents, case.style)))
    if explained:
        for d, document in enumerate(case.documents[:2]):
            for p in range(len(case.profiles)):
                truth = profiles.why(document, f"{p} TRUE").truth
                if truth is not case.truths[d][p]:
                    raise DisagreementError("why", p, d, WORDS[truth], case)


def saved_and_loaded(profiles: profilec.ProfileSet) -> profilec.ProfileSet:
    """The set from a file that is gone by the time it is asked: the mapping stays."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "set.image"
        profiles.save(path)
        return profilec.load(path)


def _compare_counts(case: Case, asked: str, profiles: profilec.ProfileSet) -> None:
    for d, document in enumerate(case.documents):
        n = sum(WORDS[truth] in case.forms for truth in case.truths[d])
        if profiles.count(document) != n or profiles.any(document) is not (n > 0):
            raise DisagreementError(f"{asked}, count and any", 0, d, f"{profiles.count(document)} of {n}", case)


def _compare(case: Case, asked: str, answers: Iterable[Sequence[str]]) -> None:
    """Compares the ids that each document matched with the ids it should match."""
    n_documents = 0
    for d, ids in enumerate(answers):
        n_documents += 1
        expected = [f"{p} {WORDS[truth]}" for p, truth in enumerate(case.truths[d]) if WORDS[truth] in case.forms]
        if ids == expected:
            continue
        if sorted(ids) == sorted(expected):
            raise AssertionError(f"{asked}: ids are out of order: {ids}")
        wrong = next(id_ for id_ in (*ids, *expected) if (id_ in ids) is not (id_ in expected))
        p = int(wrong.split()[0])
        got = [id_ for id_ in ids if id_.split()[0] == str(p)]
        raise DisagreementError(f"{asked}, rules {case.rules}", p, d, f"matches {got}", case)
    if n_documents != len(case.documents):
        raise AssertionError(f"{asked}: {n_documents} answers for {len(case.documents)} documents")


def type_text(type_: Any) -> str:
    """A type of `pools.TYPES` as SCHEMA says it."""
    if isinstance(type_, list):
        return f"ARRAY<{type_text(type_[0])}>"
    if isinstance(type_, Mapping):
        return f"RECORD({schema_text(type_)})"
    return str(type_)


def schema_text(types: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {type_text(type_)}" for name, type_ in types.items())


def smaller_documents(document: Any) -> Iterator[Any]:
    """The document with one key or one element less, at any depth."""
    match document:
        case Mapping():
            for name, value in document.items():
                yield {other: document[other] for other in document if other != name}
                for smaller in smaller_documents(value):
                    yield {**document, name: smaller}
        case list():
            for place, value in enumerate(document):
                yield document[:place] + document[place + 1 :]
                for smaller in smaller_documents(value):
                    yield [*document[:place], smaller, *document[place + 1 :]]
