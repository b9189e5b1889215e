"""Every way of asking profilec, compared with the truths that a judge gave.

A case is some profiles as text, some documents, and the truth of each profile for each document.
Each profile is compiled three times, as it is, under NOT, and under IS UNKNOWN: matching is
two-valued, so only the three together show that a truth is right.
"""

from __future__ import annotations

import pickle
import random
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from history import Span, positions, spans
from structures import Change, Document
from tables import arrow_table, pandas_frame

import profilec
from profilec.grammar.parse import parse_condition
from profilec.planner.costs import MIXED
from profilec.planner.options import INDEXES, PATTERN_INDEXES, WITH_INDEX
from profilec.planner.ranking import RANKINGS
from profilec.planner.reference import evaluate
from profilec.planner.rules import RULE_NAMES
from profilec.runtime.execute import Executor
from profilec.runtime.image import Image
from profilec.runtime.matchers.groups import NO_GROUP, group_of
from profilec.runtime.matchers.scan import ScanMatcher

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

from baselines.gryphon_equality import are_equalities
from baselines.matchers import MATCHERS as BASELINES
from baselines.rank_tests import rank_tests

MATCHERS = (
    "scan", "living", "bitmap", "betree", "betree:list", "betree:matrix", "access", "counting", "opindex", "mixed",
    "stored",
)  # fmt: skip
CAPACITIES = (None, 1, 2, 5)
Answer = bool | None
WORDS = {True: "TRUE", False: "FALSE", None: "UNKNOWN"}
FORMS = ("TRUE", "FALSE", "UNKNOWN")
MANY = 100
"""Earlier documents over which not every way of asking is tried."""


@dataclass(frozen=True)
class Case:
    """`truths[d][p]` is the truth of profile p for document d. `schema` is the inside of a SCHEMA statement.

    `earlier`, `changes` and `processed`: the store (see `history.py`). `refused`: what it must not keep.
    """

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
    changes: Sequence[Change] = ()
    processed: int = 0
    refused: Sequence[Document] = ()


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
        store = [span.store for span in spans(case) if span.first <= self.document][-1]
        return "\n".join(
            (
                f"{self.asked}: {self.got}, not {WORDS[case.truths[self.document][self.profile]]}",
                f"  profile   {case.profiles[self.profile]}",
                f"  document  {case.documents[self.document]}",
                *(f"  earlier   {document}" for document in store[:10]),
                *([f"  earlier   … {len(store)} in all"] if len(store) > 10 else []),
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
        image = _check_matcher(case, matcher, explained)
    _check_baseline(case, image)


def _check_reference(case: Case) -> None:
    nodes = [parse_condition(text).node for text in case.profiles]
    schema = profilec.compile("", schema=case.schema).schema if case.schema else None
    for span in spans(case):
        if len(span.store) > MANY:
            continue  # it is never made faster
        for d, document in enumerate(span.documents, span.first):
            for p, node in enumerate(nodes):
                truth = evaluate(node, document, span.store, schema)
                if truth is not case.truths[d][p]:
                    raise DisagreementError("reference", p, d, WORDS[truth], case)


def three_forms(profiles: Sequence[str], wanted: Sequence[str] = FORMS) -> dict[str, str]:
    """Each profile asked for TRUE, for FALSE and for UNKNOWN. A newline ends a comment that ends the text."""
    asked = {"TRUE": "{}", "FALSE": "NOT (\n{}\n)", "UNKNOWN": "(\n{}\n) IS UNKNOWN"}
    return {
        f"{place} {form}": asked[form].replace("{}", text) for place, text in enumerate(profiles) for form in wanted
    }


def options_of(matcher: str) -> dict[str, Any]:
    """What `compile` is given for one of `MATCHERS`."""
    if matcher == "stored":  # all indexes on secondary storage
        return {"matcher": "access", "memory": 1}
    return {"matcher": matcher}


def _check_matcher(case: Case, matcher: str, explained: bool) -> Image:
    """Asks one matcher; the image that it was asked of."""
    if matcher == "living":
        return _check_living(case, explained)
    options: dict[str, Any] = {"rules": case.rules, **options_of(matcher)}
    if matcher == "mixed":
        options["matcher"] = {"*": MIXED[case.style % len(MIXED)]}
    if case.style % 3:
        options["phase_order"] = ("constant_first", "join_first")[case.style % 3 - 1]
    max_cap = CAPACITIES[case.style // 5 % len(CAPACITIES)]
    if matcher.startswith("betree") and max_cap is not None:
        options["max_cap"] = max_cap
        matcher = f"{matcher} of {max_cap}"
    ranking = RANKINGS[case.style // 3 % len(RANKINGS)]
    if matcher.startswith("betree") and ranking != "cost":
        options |= {"ranking": ranking, "ranking_threshold": (-1, 0, 3)[case.style // 9 % 3]}
        matcher = f"{matcher}, ranked {ranking}"
    profiles = profilec.compile(three_forms(case.profiles, case.forms), schema=case.schema, options=options)
    if matcher == "mixed":
        options["matcher"] |= _group_matchers(profiles, case.style)
        profiles = profilec.compile(three_forms(case.profiles, case.forms), schema=case.schema, options=options)
        matcher = f"mixed, {options['matcher']}"
    forced = {} if matcher == "stored" else _rank_index(profiles, case.style)
    forced |= _pattern_index(profiles, case.style)
    if forced:
        options["index"] = forced
        profiles = profilec.compile(three_forms(case.profiles, case.forms), schema=case.schema, options=options)
        matcher = f"{matcher}, indexes {forced}"
    if case.style % 5 == 4:
        profiles.replan(list(case.documents))
        matcher = f"{matcher}, planned again"
    image = profiles._parts.image
    if case.style % 7 == 5:
        profiles, matcher = saved_and_loaded(profiles), f"{matcher}, saved and loaded"
    elif case.style % 7 == 6:
        profiles, matcher = pickle.loads(pickle.dumps(profiles)), f"{matcher}, pickled"
    _check_spans(case, profiles, matcher, explained)
    return image


def _check_living(case: Case, explained: bool) -> Image:
    """Asks a set that came to be by insertions, replacements and deletions, and was merged or not meanwhile."""
    draw = random.Random(case.style)
    wanted = three_forms(case.profiles, case.forms)
    names = list(wanted)
    n_compiled = draw.randrange(len(names) + 1)

    def first(name: str) -> str:
        """The condition that a profile begins with: its own or another one."""
        return wanted[name] if draw.random() < 0.5 else wanted[draw.choice(names)]

    begun = {name: first(name) for name in names[:n_compiled]}
    profiles = profilec.compile(begun, schema=case.schema, options={"rules": case.rules})
    for number, name in enumerate(names[n_compiled:]):
        begun[name] = first(name)
        for _ in range(draw.randrange(3)):  # a condition that came twice has a known shape
            profiles.insert("before", begun[name])
            profiles.delete("before")
        profiles.insert(name, begun[name])
        if draw.random() < 0.3:
            profiles.insert(f"gone {number}", wanted[draw.choice(names)])
        if draw.random() < 0.1:
            profiles.match(case.documents[0]) if case.documents else profiles.compact()
    gone = [name for name in profiles.ids if name.startswith("gone")]
    for name in gone[::2]:
        profiles.delete(name)
    others = [name for name in names if begun[name] != wanted[name]]
    draw.shuffle(others)
    for name in others[::2]:
        profiles.replace(name, wanted[name])
    if draw.random() < 0.3:
        profiles.compact()
    profiles.replace_many({name: wanted[name] for name in others[1::2]})
    profiles.delete_many(gone[1::2])
    assert list(profiles.ids) == names
    _check_spans(case, profiles, "living", explained)
    profiles.compact()
    assert list(profiles.ids) == names
    return profiles._parts.image


def _check_spans(case: Case, profiles: profilec.ProfileSet, matcher: str, explained: bool) -> None:
    """Asks of each state of the store."""
    _extend(profiles, case.earlier, case)
    _expect_refusal(profiles, case)
    for span in spans(case):
        for change in span.changes:
            profiles.documents.delete(positions(change, len(profiles.documents)))
            _extend(profiles, change.added, case)
        if span.changes and case.style % 7 == 4:
            profiles = pickle.loads(pickle.dumps(profiles))
        _check_span(case, span, profiles, matcher, explained)


def _check_baseline(case: Case, image: Image) -> None:
    """One of the baselines that benchmarks compare with has the candidates that the scan has, by ranks alone.

    Of the two forms of `gryphon` an image of equalities is given to the one that is for them.
    """
    names = sorted(set(BASELINES) - {"gryphon_equality"})
    name = names[case.style % len(names)]
    if name == "gryphon" and are_equalities(rank_tests(image)):
        name = "gryphon_equality"
    baseline, scan, encode = BASELINES[name](image), ScanMatcher(image), Executor(image, "scan").encode
    for document in case.documents:
        slots, ranks, n_slots = encode(document)
        slots, ranks = slots[:n_slots], ranks[:n_slots]
        dense = np.zeros(len(image.slots), np.int32)
        own = slots < len(dense)  # without pseudo-slots
        dense[slots[own]] = ranks[own]
        found, expected = baseline.candidates(dense).tolist(), scan.candidates(dense).tolist()
        if found != expected:
            raise AssertionError(f"baseline {name}: {found}, not {expected}, for {document}")


def _group_matchers(profiles: profilec.ProfileSet, style: int) -> dict[str, str]:
    """A matcher for the entries of each attribute or expression that gives access to some."""
    image = profiles._image
    names = {image.slots[slot].name: None for slot in group_of(image).tolist() if slot != NO_GROUP}
    return {name: MIXED[(style // 5 + place) % len(MIXED)] for place, name in enumerate(names)}


def _rank_index(profiles: profilec.ProfileSet, style: int) -> dict[str, str]:
    """Where the matcher has indexes, one for each attribute or expression: the first as drawn, then the others."""
    if not {profiles.plan.matcher, *dict(profiles.plan.groups).values()} & set(WITH_INDEX):
        return {}
    names = [slot.name for slot in profiles._image.slots]
    return {name: INDEXES[(style + place) % len(INDEXES)] for place, name in enumerate(names)}


def _pattern_index(profiles: profilec.ProfileSet, style: int) -> dict[str, str]:
    """In some worlds an index for the patterns of each attribute or expression: the first as drawn, then the others."""
    image = profiles._image
    names = {image.slots[pattern.slot].name: None for pattern in image.patterns}
    if style % 11 >= 2 * len(PATTERN_INDEXES):
        return {}
    return {name: PATTERN_INDEXES[(style + place) % len(PATTERN_INDEXES)] for place, name in enumerate(names)}


def _extend(profiles: profilec.ProfileSet, documents: Sequence[Document], case: Case) -> None:
    """Adds to the store: one document by itself, some as a list, an Arrow table or a pandas frame."""
    if len(documents) == 1:
        profiles.documents.add(documents[0])
    elif documents:
        as_columns = (None, arrow_table, pandas_frame)[case.style % 3] if case.tabular else None
        profiles.documents.extend(as_columns(documents, case.style) if as_columns else list(documents))


def _expect_refusal(profiles: profilec.ProfileSet, case: Case) -> None:
    """The store keeps none of these, nor any that comes with one; all later answers are without them."""
    for document in case.refused:
        for documents in ([document], [*case.earlier[:1], document, {}]):
            try:
                _extend(profiles, documents, case)
            except profilec.DocumentError:
                continue
            raise AssertionError(f"kept against SCHEMA: {document}")


def _check_span(case: Case, span: Span, profiles: profilec.ProfileSet, matcher: str, explained: bool) -> None:
    """Asks of one state of the store."""
    documents = list(span.documents)
    if not span.is_processed:
        _compare(case, span, f"{matcher}, one by one", map(profiles.match, documents))
        _compare(case, span, f"{matcher}, batch of dicts", profiles.match_batch(documents))
    if not span.is_processed and len(span.store) <= MANY:
        _compare(case, span, f"{matcher}, threads", profiles.match_batch(documents, threads=3))
        _compare_counts(case, span, matcher, profiles)
        if case.tabular:
            arrow, frame = arrow_table(documents, case.style), pandas_frame(documents, case.style)
            _compare(case, span, f"{matcher}, batch of Arrow", profiles.match_batch(arrow))
            _compare(case, span, f"{matcher}, batch of pandas", profiles.match_batch(frame))
    if explained:
        for d, document in enumerate(documents[:2], span.first):
            for p in range(len(case.profiles)):
                truth = profiles.why(document, f"{p} TRUE").truth
                if truth is not case.truths[d][p]:
                    raise DisagreementError("why", p, d, WORDS[truth], case)
    if span.is_processed:
        _compare(case, span, f"{matcher}, process", map(profiles.process, documents))


def saved_and_loaded(profiles: profilec.ProfileSet) -> profilec.ProfileSet:
    """The set from a file that is gone by the time it is asked: the mapping stays."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "set.image"
        profiles.save(path)
        return profilec.load(path)


def _compare_counts(case: Case, span: Span, asked: str, profiles: profilec.ProfileSet) -> None:
    for d, document in enumerate(span.documents, span.first):
        n = sum(WORDS[truth] in case.forms for truth in case.truths[d])
        if profiles.count(document) != n or profiles.any(document) is not (n > 0):
            raise DisagreementError(f"{asked}, count and any", 0, d, f"{profiles.count(document)} of {n}", case)


def _compare(case: Case, span: Span, asked: str, answers: Iterable[Sequence[str]]) -> None:
    """Compares the ids that each document of the span matched with the ids it should match."""
    n_documents = 0
    for d, ids in enumerate(answers, span.first):
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
    if n_documents != len(span.documents):
        raise AssertionError(f"{asked}: {n_documents} answers for {len(span.documents)} documents")


def type_text(type_: Any) -> str:
    """A type of `pools.TYPES` as SCHEMA says it."""
    if isinstance(type_, list):
        return f"ARRAY<{type_text(type_[0])}>"
    if isinstance(type_, Mapping):
        return f"RECORD({schema_text(type_)})"
    return str(type_)


def schema_text(types: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {type_text(type_)}" for name, type_ in types.items())
