"""Every case of the corpus through every engine, one by one, in batches, and all of a file in one set."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator

import duckdb
import pytest
from corpus_cases import FILES, FOLDER, TRUTHS, CorpusCase, by_profile, headings, read, rulings, set_aside
from engines import three_forms

import profilec
from profilec.grammar.parse import parse_condition
from profilec.planner.reference import evaluate

MATCHERS = ("scan", "bitmap")


def wrong(answers: Iterator[tuple[CorpusCase, str]]) -> list[str]:
    """What each case that was answered wrongly got."""
    return [
        f"{case.place}: {answer}, not {' or '.join(sorted(case.ours))}: {case.profile}"
        for case, answer in answers
        if answer not in case.ours
    ]


def referred(case: CorpusCase) -> str:
    try:
        node = parse_condition(case.profile).node
    except profilec.ProfileError:
        return "error"
    return TRUTHS[evaluate(node, case.document, case.earlier)]


def answer(ids: list[str], place: str = "0") -> str:
    """The truth that the ids of a profile's three forms say; they must say exactly one."""
    truths = [id_.split()[1].lower() for id_ in ids if id_.split()[0] == place]
    return truths[0] if len(truths) == 1 else f"all of {truths}"


def compiled(profiles: dict[str, str], matcher: str, case: CorpusCase) -> profilec.ProfileSet:
    profile_set = profilec.compile(profiles, options={"matcher": matcher})
    profile_set.documents.extend(list(case.earlier))
    return profile_set


def alone(cases: tuple[CorpusCase, ...]) -> Iterator[tuple[CorpusCase, str]]:
    """Each profile in a set of its own, by the matchers in turn: asked one by one, in a batch, and why.

    Matching is two-valued, so the truth shows in the profile, its NOT and its IS UNKNOWN together.
    """
    for place, (profile, group) in enumerate(by_profile(cases).items()):
        sets: dict[str, profilec.ProfileSet] = {}
        for case in group:
            key = json.dumps(case.earlier)
            try:
                if key not in sets:
                    sets[key] = compiled(three_forms([profile]), MATCHERS[place % 2], case)
            except profilec.ProfileError:
                yield case, "error"
                continue
            answers = {
                answer(sets[key].match(case.document)),
                answer(list(sets[key].match_batch([case.document])[0])),
                TRUTHS[sets[key].why(case.document, "0 TRUE").truth],
            }
            yield case, " and ".join(answers)


def in_one_set(cases: tuple[CorpusCase, ...], matcher: str) -> Iterator[tuple[CorpusCase, str]]:
    """All profiles of the file in one set, all its documents in one batch (for each store of earlier ones)."""
    profiles = [profile for profile in by_profile(cases) if compiles(profile)]
    ordinal = {profile: str(place) for place, profile in enumerate(profiles)}
    by_store: dict[str, list[CorpusCase]] = defaultdict(list)
    for case in cases:
        if case.profile in ordinal:
            by_store[json.dumps(case.earlier)].append(case)
        else:
            yield case, "error"
    profile_set = profilec.compile(three_forms(profiles), options={"matcher": matcher})
    for group in by_store.values():
        profile_set.documents.delete(range(len(profile_set.documents)))
        profile_set.documents.extend(list(group[0].earlier))
        documents = {json.dumps(case.document): case.document for case in group}
        batch = profile_set.match_batch(list(documents.values()))
        matched = {name: list(ids) for name, ids in zip(documents, batch, strict=True)}
        assert [profile_set.match(document) for document in documents.values()] == list(matched.values())
        for case in group:
            yield case, answer(matched[json.dumps(case.document)], ordinal[case.profile])


def compiles(profile: str) -> bool:
    try:
        parse_condition(profile)
    except profilec.ProfileError:
        return False
    return True


@pytest.mark.parametrize("name", FILES)
def test_the_reference(name: str) -> None:
    assert wrong((case, referred(case)) for case in read(name)) == []


@pytest.mark.parametrize("name", FILES)
def test_each_profile_alone(name: str) -> None:
    assert wrong(alone(read(name))) == []


@pytest.mark.parametrize("matcher", MATCHERS)
@pytest.mark.parametrize("name", FILES)
def test_all_profiles_in_one_set(name: str, matcher: str) -> None:
    assert wrong(in_one_set(read(name), matcher)) == []


def test_what_is_set_aside_needs_to_be() -> None:
    cases = {case.place: case for name in FILES for case in read(name)}
    places = [place for place, _, _ in set_aside()]
    assert len(places) == len(set(places))
    passing = [place for place in places if referred(cases[place]) in cases[place].theirs]
    assert passing == [], "set aside for nothing"
    assert {heading for _, heading, _ in set_aside()} == headings()
    assert {place for place, case in cases.items() if not case.theirs} == set(rulings())


@pytest.mark.parametrize("matcher", MATCHERS)
def test_retail_documents_against_duckdb(matcher: str) -> None:
    """Profiles that people would write over real sales, each with the SQL that says the same."""
    path = FOLDER / "retail_documents.jsonl"
    documents = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    wheres = {
        "meat": "department = 'MEAT'",
        "cheap meat": "department = 'MEAT' AND sales_value < 3",
        "discounted": "retail_disc > 0 AND coupon_disc = 0",
        "half price": "retail_disc >= sales_value",
        "no size": "package_size IS NULL",
        "a size": "package_size IS NOT NULL AND package_size NOT LIKE '% OZ'",
        "ounces": "package_size LIKE '%OZ'",
        "frozen": "product_category LIKE 'FRZN%' AND NOT product_type LIKE '%DINNER%'",
        "private label": "brand = 'Private' AND (week BETWEEN 10 AND 20 OR week IN (1, 52))",
        "many": "quantity > 1 AND sales_value / quantity < 1",
        "neither": "NOT (department IN ('GROCERY', 'DRUG GM', NULL))",
        "not maker": "manufacturer_id IS NULL OR manufacturer_id NOT IN (69, 103, 1208)",
        "cheese": "(product_type LIKE '%CHEESE%' AND sales_value > 2.5) IS NOT TRUE",
    }
    profiles = profilec.compile(wheres, options={"matcher": matcher})
    connection = duckdb.connect()
    relation = connection.read_json(str(path))  # noqa: F841  (named in the SQL)
    selected = ", ".join(f"({where}) IS TRUE" for where in wheres.values())
    expected = [
        [id_ for id_, matched in zip(wheres, row, strict=True) if matched]
        for row in connection.execute(f"SELECT {selected} FROM relation").fetchall()
    ]
    assert [list(ids) for ids in profiles.match_batch(documents)] == expected
    assert [profiles.match(document) for document in documents[:200]] == expected[:200]
    assert all(any(id_ in ids for ids in expected) for id_ in wheres if id_ != "neither")
