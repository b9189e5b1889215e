"""The index of an attribute's patterns: chosen by cost, forced, told of in the plan; the answer is always the same."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import profilec
from profilec.planner.calibration import default_units
from profilec.planner.costs import cost
from profilec.planner.lower.pattern_loads import PatternLoad, Tried, pattern_load
from profilec.planner.options import PATTERN_INDEXES, Options
from profilec.planner.pattern_choice import DEFAULT, WORTH_CHANGING, choose, named
from profilec.planner.pattern_costs import pattern_index, unseen
from profilec.runtime.image import Pattern
from profilec.runtime.indexes import patterns_by_name
from profilec.runtime.regex_sets import multiplies_states
from profilec.values.patterns import parse_like

every_name = pytest.mark.parametrize("name", PATTERN_INDEXES)

WORDS = [one + two + three for one in "bdfk" for two in "aeiou" for three in ("lm", "rt", "nd")]


def like(text: str) -> Pattern:
    return Pattern(0, parse_like(text), None)


def regex(text: str) -> Pattern:
    return Pattern(0, None, text)


PREFIXES = [like(f"{one}%{two}%") for one in WORDS for two in WORDS[::4]]
REGEXES = [regex(f"[{one}][0-9]+[{two}]") for one in WORDS for two in WORDS[::30]]
MIXED = [*PREFIXES[::9], *REGEXES[::9], like("%lamp%"), like("%dart"), regex("(?i)barter"), like("%"), like("")]


def texts(n: int = 300, first: str = "") -> list[str]:
    rng = random.Random(1)
    return [first + " ".join(rng.choices([*WORDS, "x", "7"], k=12)) for _ in range(n)]


def documents(n: int = 300, first: str = "") -> list[dict[str, Any]]:
    return [{"title": text, "price": number % 9} for number, text in enumerate(texts(n, first))]


def conditions(patterns: Sequence[Pattern]) -> dict[str, str]:
    found = {}
    for number, pattern in enumerate(patterns):
        if pattern.like is not None:
            written = "".join(one if isinstance(one, str) else one.value for one in pattern.like.elements)
            found[f"p{number}"] = f"title LIKE '{written}'"
        else:
            found[f"p{number}"] = f"title MATCHES '{pattern.regex}'"
    return found


def dear(*but: str) -> dict[str, float]:
    """Units by which every index costs more than these."""
    return {f"{name}_text": 1e9 for name in PATTERN_INDEXES if name not in but}


def load_of(patterns: Sequence[Pattern], of: Sequence[str], **more: Any) -> PatternLoad:
    return pattern_load(patterns, of)._replace(names=("title",), **more)


@pytest.mark.parametrize("seed", range(40))
def test_the_cheapest_is_taken_and_the_default_where_little_is_to_gain(seed: int) -> None:
    """By the formulas, whatever the units are."""
    rng = random.Random(seed)
    units = {name: rng.random() * 100 ** rng.randrange(3) for name in default_units()}
    patterns = rng.choice([PREFIXES, REGEXES, MIXED])
    load = load_of(patterns, texts(), presence=rng.random(), n_matching=3.0)
    (choice,) = choose([load], Options(), units)
    price = {name: load.presence * cost(pattern_index(name, load), units) for name in PATTERN_INDEXES}
    at_worst = {name: price[name] + load.presence * cost(unseen(name, load), units) for name in PATTERN_INDEXES}
    if min(at_worst.values()) < WORTH_CHANGING * price[DEFAULT]:
        assert at_worst[choice.taken.name] == min(at_worst.values())
    else:
        assert choice.taken.name == DEFAULT
    assert dict([choice.taken, *choice.rejected]) == pytest.approx(price)
    assert list(choice.rejected) == sorted(choice.rejected, key=lambda priced: priced.ns)


def test_every_unit_of_the_formulas_has_a_default() -> None:
    load = load_of(MIXED, texts())
    for name in PATTERN_INDEXES:
        assert set(pattern_index(name, load)) | set(unseen(name, load)) <= set(default_units())


def test_what_patterns_come_to() -> None:
    """Four texts, of which one has `abc`, at the beginning, and two end with `xyz`."""
    patterns = [like("abc%d_"), like("%abc%"), like("%xyz"), regex("(?i)ABC+"), regex("[0-9]")]
    load = pattern_load(patterns, ["abc 1", "xyz", "10 xyz", "none"])
    assert (load.n_patterns, load.n_texts, load.n_characters) == (5, 4, 4.5)
    default, trie, suffix_trie = (load.filings[name] for name in (DEFAULT, "trie", "suffix_trie"))
    assert (default.n_keys, default.n_literals, default.n_sets, default.n_unfiled) == ((), 3, 1, 0)
    assert default.tried == Tried(likes=0.25 + 0.5, regexes=0.25)
    assert (trie.n_keys, trie.n_unfiled, trie.tried) == ((1,), 4, Tried(likes=0.25))
    assert trie.rest is not None
    assert (trie.rest.n_literals, trie.rest.n_sets, trie.rest.tried) == (3, 1, Tried(likes=0.5, regexes=0.25))
    assert suffix_trie.tried == Tried(likes=0.25, regexes=0.25)
    assert (suffix_trie.n_unfiled, suffix_trie.n_keys) == (1, (2, 1))
    assert load.filings["regex_set"].n_sets == 1
    assert suffix_trie.possible == Tried(likes=1.0, regexes=1.0)


def test_of_many_patterns_some_are_looked_at() -> None:
    few, many = (load_of(PREFIXES * n, texts()).filings["trie"] for n in (1, 20))
    assert many.possible.likes == pytest.approx(20 * few.possible.likes)
    assert many.tried.likes == pytest.approx(20 * few.tried.likes, rel=0.3)


@pytest.mark.parametrize(
    ("source", "digits_are_rare", "expected"),
    [
        ("ab.*cd", True, True),
        (r"ab\.c*d", True, False),
        ("ab[^c]d", True, True),
        ("ab[a-z]*d", True, True),
        ("ab[a-z]{3}d", True, True),
        ("[a-z][.*+]d", True, False),
        (r"ab\d+d", True, False),
        (r"ab\d+d", False, True),
        (r"ab\s*d", False, False),
        ("(ab|c)+d", True, True),
        ("(ab|c)d?", True, False),
        (r"ab\W", True, True),
    ],
)
def test_regexes_that_may_stay_half_found(source: str, digits_are_rare: bool, expected: bool) -> None:
    assert multiplies_states(source, digits_are_rare=digits_are_rare) is expected


def test_sets_differ_in_their_index() -> None:
    """Beginnings are told by a trie; what it cannot file costs as much as with the default."""
    units = {"patterns_text": 100_000.0, "trie_text": 0.0, "regex_set_text": 1_000.0, "pattern_like": 0.0}
    sets = [profilec.compile(conditions(one), statistics=documents(), calibration=units) for one in (PREFIXES, REGEXES)]
    assert [one.plan.pattern_index for one in sets] == [{"title": "trie"}, {"title": "regex_set"}]


@every_name
@pytest.mark.parametrize("patterns", [PREFIXES, REGEXES, MIXED])
def test_without_documents_the_default_is_kept(name: str, patterns: Sequence[Pattern]) -> None:
    assert profilec.compile(conditions(patterns), calibration=dear(name)).plan.pattern_index == {}


@every_name
def test_answers_are_the_same_whatever_is_chosen(name: str, tmp_path: Path) -> None:
    """One by one and in a batch, saved and loaded, planned again."""
    asked = [*documents(60), {"title": None}, {}, {"title": ""}, {"title": "BARTER"}, {"title": 7}]
    of = conditions(PREFIXES if name == "trie" else MIXED) | {"price": "title ILIKE '%LAMP' OR price = 3"}
    plain = profilec.compile(of)
    expected = [plain.match(document) for document in asked]
    chosen = profilec.compile(of, statistics=documents(), calibration=dear(name))
    assert chosen.plan.pattern_index.get("title", DEFAULT) == name
    chosen.save(tmp_path / "set.image")
    loaded = profilec.load(tmp_path / "set.image")
    assert loaded.plan == chosen.plan
    for one in (chosen, loaded):
        assert [one.match(document) for document in asked] == expected
        assert list(one.match_batch(asked)) == expected
    chosen.replan(documents(50))
    assert chosen.plan.pattern_index.get("title", DEFAULT) == name
    assert [chosen.match(document) for document in asked] == expected


@every_name
def test_what_is_forced_is_taken(name: str) -> None:
    """The default, too, where another is cheaper."""
    of = conditions(PREFIXES)
    units = dear("trie" if name != "trie" else DEFAULT)
    forced = profilec.compile(of, options={"index": {"title": name}}, statistics=documents(), calibration=units)
    assert forced.plan.pattern_index == {"title": name}
    forced.replan(documents(50))
    assert forced.plan.pattern_index == {"title": name}


def test_documents_that_change_change_the_index() -> None:
    """Where all texts begin with what all patterns begin with, a trie tells nothing."""
    of = {f"p{number}": f"title LIKE 'ERROR%{one}%'" for number, one in enumerate(WORDS * 5)}
    units = {"patterns_text": 20_000.0, "pattern_like": 1_000.0}
    compiled = profilec.compile(of, statistics=documents(500), calibration=units)
    assert compiled.plan.pattern_index == {"title": "trie"}
    compiled.replan(documents(500, "ERROR "))
    assert compiled.plan.pattern_index.get("title") != "trie"


def test_the_plan_tells_what_was_chosen_and_rejected() -> None:
    compiled = profilec.compile(conditions(PREFIXES), statistics=documents(), calibration=dear("trie"))
    (encode,) = [one for one in json.loads(compiled.explain(format="json"))["operators"] if one["operator"] == "encode"]
    assert encode["detail"] == "1 attribute, patterns of title by trie"
    assert {other["operator"] for other in encode["rejected"]} == {*PATTERN_INDEXES} - {"trie"}
    assert "encode  1 attribute, patterns of title by trie" in compiled.explain()
    (operator,) = [one for one in compiled.plan.operators if one.name == "encode"]
    default = dict(operator.rejected)[DEFAULT]
    plain = profilec.compile(conditions(PREFIXES), options={"index": {"title": DEFAULT}}, statistics=documents())
    (other,) = [one for one in plain.plan.operators if one.name == "encode"]
    assert other.detail == "1 attribute, patterns of title by patterns"
    assert default >= 1e9 > other.ns > dict(other.rejected)["trie"] > 0


def test_a_text_and_its_folded_form_are_chosen_for_apart() -> None:
    """What is named for the text would count for its folded form; so the default is named there."""
    of = conditions(PREFIXES) | {"i": "title ILIKE '%LAMP%DART'", "j": "title ILIKE '_x%'"}
    units = dear("trie", DEFAULT) | {"patterns_text": 100_000.0, "trie_text": 0.0, "pattern_like": 0.0}
    compiled = profilec.compile(of, statistics=documents(), calibration=units)
    assert compiled.plan.pattern_index == {"title": "trie", "FOLD(title)": DEFAULT}
    image = compiled._image
    made = {slot.name: patterns_by_name.pattern_index_of(slot, compiled.plan.pattern_index) for slot in image.slots}
    assert made == {
        "title": patterns_by_name.PATTERN_INDEXES["trie"],
        "FOLD(title)": patterns_by_name.DEFAULT,
    }
    encode = next(operator for operator in compiled.plan.operators if operator.name == "encode")
    assert {"patterns of title", "trie of FOLD(title)"} <= dict(encode.rejected).keys()


def test_what_is_forced_on_a_text_counts_for_its_folded_form() -> None:
    loads = [load_of(PREFIXES, texts()), load_of(PREFIXES, texts())._replace(names=("FOLD(title)", "title"))]
    options = Options.read({"index": {"title": "aho_corasick"}})
    choices = list(choose(loads, options, default_units()))
    assert [choice.taken.name for choice in choices] == ["aho_corasick"] * 2
    assert named(choices, options) == {"title": "aho_corasick"}
