"""The pattern indexes, each against pattern by pattern, and how one is chosen."""

from __future__ import annotations

import json
import pickle
import random
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import profilec
from profilec.planner import options
from profilec.planner.options import Options
from profilec.runtime.image import Pattern
from profilec.runtime.indexes import suffix_trie
from profilec.runtime.indexes.filed_patterns import Key
from profilec.runtime.indexes.literal_trie import LiteralTrie
from profilec.runtime.indexes.patterns_by_name import DEFAULT, PATTERN_INDEXES
from profilec.runtime.indexes.regex_set import RegexSetIndex, regex_of_like
from profilec.runtime.indexes.suffix_trie import SuffixSearch
from profilec.runtime.like import like_holds
from profilec.runtime.literals import required_prefixes
from profilec.runtime.patterns import PatternSet
from profilec.runtime.regex import RegexSet, regex_holds
from profilec.values.folding import fold
from profilec.values.patterns import fold_pattern, like_matches, parse_like

MAKERS = {**PATTERN_INDEXES, "default": DEFAULT}
every_index = pytest.mark.parametrize("name", sorted(MAKERS))
every_name = pytest.mark.parametrize("name", sorted(PATTERN_INDEXES))

CHARACTERS = "abAé.\n\ud800\ufffd\0İ{"
LIKES = st.text(alphabet="ab%_", max_size=5) | st.text(alphabet=CHARACTERS + "%%%___!", max_size=9)
REGEXES = st.sampled_from(
    [
        *(
            "^ab",
            "^a.*b",
            "^(ab|é)b",
            "^a?b",
            "^?ab",
            "^*a",
            "^a|b",
            r"\Aab+",
            "(?i)^AB",
            "(?m)^a",
            "(?s)^a.b",
            "^(?i)Éa",
        ),
        *(
            "(?i)^İ",
            "^{2}a",
            "(^|b)a",
            "^a{2}",
            "^$",
            "^",
            "^[ab]b",
            "^[^a]",
            "^(?:a|)b",
            r"^\.",
            "^(?i:a)b",
            "(?im)^b",
        ),
        *("ab", "ab$", "a.*b", "b$", "(?i)AB", "[ab]{2}", "", "a|b", "(ab|é)+", r"\bab\b", "é.", "(?s).", "\ufffd"),
        *("a+b+", "..é", "x*", r"\.a", ".{3,}", "(?s).{200,}", "\ud800", "^\ufffda", "^\ud800", r"\x00", "^a\n"),
    ]
)
TEXTS = st.text(alphabet="ab", max_size=5) | st.text(alphabet=CHARACTERS, max_size=12)


def read(text: str) -> Pattern:
    """A LIKE; `!` escapes where it can."""
    try:
        return Pattern(0, parse_like(text, "!"), None)
    except ValueError:
        return Pattern(0, parse_like(text), None)


PATTERNS = LIKES.map(read) | REGEXES.map(lambda regex: Pattern(0, None, regex))


def one_by_one(patterns: list[Pattern], text: str) -> list[int]:
    return [
        number
        for number, pattern in enumerate(patterns)
        if (like_holds(pattern.like, text) if pattern.like else regex_holds(pattern.regex or "", text))
    ]


def expect_one_by_one(name: str, patterns: list[Pattern], texts: list[str]) -> None:
    index = MAKERS[name](patterns)
    expected = [one_by_one(patterns, text) for text in texts]
    assert [sorted(index.matches(text)) for text in texts] == expected
    found: list[list[int]] = [[] for _ in texts]
    for place, number in zip(*index.matches_each(texts), strict=True):
        found[place].append(number)
    assert list(map(sorted, found)) == expected


@every_index
@settings(max_examples=200, deadline=None)
@given(patterns=st.lists(PATTERNS, max_size=12), texts=st.lists(TEXTS, max_size=6))
def test_is_pattern_by_pattern(name: str, patterns: list[Pattern], texts: list[str]) -> None:
    expect_one_by_one(name, patterns, texts)


@every_index
@settings(max_examples=50, deadline=None)
@given(
    patterns=st.lists(LIKES, max_size=8), texts=st.lists(TEXTS | st.text(alphabet="aAßsSİi̇kK", max_size=6), max_size=6)
)
def test_of_folded_texts_as_well(name: str, patterns: list[str], texts: list[str]) -> None:
    """ILIKE: text and pattern come folded."""
    likes = [fold_pattern(parse_like(pattern)) for pattern in [*patterns, "K%", "%ß", "%İ%", "ss_%"]]
    expect_one_by_one(name, [Pattern(0, like, None) for like in likes], list(map(fold, texts)))


SHAPES = {
    "prefix": lambda literal: [f"{literal}%"],
    "suffix": lambda literal: [f"%{literal}"],
    "contains": lambda literal: [f"%{literal}%"],
    "whole": lambda literal: [literal],
    "general": lambda literal: [f"{literal[:1]}%{literal[1:]}", f"%{literal}_", f"_{literal}%", f"{literal}_%"],
    "all": lambda literal: [f"{literal}%", f"%{literal}", f"%{literal}%", literal, f"{literal[:2]}%{literal[-1:]}"],
}


@every_index
@pytest.mark.parametrize("shape", SHAPES)
def test_thousands_of_one_shape(name: str, shape: str) -> None:
    rng = random.Random(shape)
    literals = ["".join(rng.choices("abcdé", k=rng.randint(1, 6))) for _ in range(1_500)]
    patterns = [Pattern(0, parse_like(like), None) for literal in literals for like in SHAPES[shape](literal)]
    texts = ["", *("".join(rng.choices("abcdé\n", k=rng.randint(1, 14))) for _ in range(6)), *literals[:3]]
    expect_one_by_one(name, patterns, texts)


@every_index
def test_thousands_of_regexes(name: str) -> None:
    rng = random.Random(3)
    words = ["".join(rng.choices("abcde", k=rng.randint(2, 5))) for _ in range(250)]
    forms = ("^{}", "{}$", "{}", "^{}[0-9]+", "(?i)^{}", "(?i){}x?", "^({}|é)", "[{}]{{3}}")
    patterns = [Pattern(0, None, form.format(word)) for word in words for form in forms]
    expect_one_by_one(name, patterns, ["", words[0], words[1].upper() + "7", f"é{words[2]}\n{words[3]}"])


@every_index
def test_long_literals_are_cut_and_decide_nothing(name: str) -> None:
    long = "ab" * 40
    likes = [
        f"{long}%",
        f"%{long}",
        f"%{long}%",
        long,
        f"{long[:-1]}c%",
        f"%c{long[1:]}",
        f"%{long}c%",
        "_" * 40 + "b%",
    ]
    patterns = [Pattern(0, parse_like(like), None) for like in likes]
    patterns += [Pattern(0, None, regex) for regex in (f"^{long}", f"{long}$", f"^{long}c")]
    expect_one_by_one(
        name, patterns, [long, long[:-1] + "c", "c" + long[1:], f"x{long}", f"{long}x", long[:48], f"{long}c"]
    )


@every_index
def test_literals_within_one_another_in_a_long_text(name: str) -> None:
    patterns = [
        Pattern(0, parse_like(like % ("a" * n)), None) for n in range(1, 120) for like in ("%%%s%%", "%s%%", "%%%s")
    ]
    patterns += [Pattern(0, None, "(a+)+$"), Pattern(0, parse_like("%b%"), None)]
    index = MAKERS[name](patterns)
    started = time.process_time()
    assert sorted(index.matches("a" * 60_000)) == list(range(len(patterns) - 1))
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    ("name", "like", "decides"),
    [
        ("trie", "ab%", True),
        ("trie", "ab", False),
        ("trie", "ab_%", False),
        ("suffix_trie", "%ab", True),
        ("suffix_trie", "%ab%", True),
        ("suffix_trie", "_ab%", False),
        ("suffix_trie", "ab", False),
        ("aho_corasick", "%ab%", True),
        ("aho_corasick", "%ab", False),
    ],
)
def test_what_needs_no_trial(name: str, like: str, *, decides: bool) -> None:
    """A pattern that its literal decides is not tried; another is, and only where the literal is."""
    index = PATTERN_INDEXES[name]([Pattern(0, parse_like(like), None)])
    tried: list[str] = []
    index._decide = [lambda text, data: tried.append(text) or True]  # type: ignore[attr-defined]
    index.matches("xyz")
    assert tried == []
    assert index.matches("ab") == [0]
    assert tried == ([] if decides else ["ab"])


@pytest.mark.parametrize("name", ["aho_corasick", "suffix_trie", "trie"])
def test_what_has_no_literal_is_left_to_the_default(name: str) -> None:
    likes = ["ab%", "%", "__", ""]
    index = PATTERN_INDEXES[name]([Pattern(0, parse_like(like), None) for like in likes])
    assert isinstance(index._rest, PatternSet)  # type: ignore[attr-defined]
    assert [sorted(index.matches(text)) for text in ("", "ab", "abc")] == [[1, 3], [0, 1, 2], [0, 1]]


@given(st.sets(st.text(alphabet="abé", min_size=1, max_size=5), max_size=30), st.text(alphabet="abé", max_size=8))
def test_a_walk_meets_what_stands_there(literals: set[str], text: str) -> None:
    given_ = sorted(literals, key=hash)
    trie = LiteralTrie(given_)
    for position in range(len(text) + 1):
        found = [given_[number] for number in trie.standing_at(text, position)]
        assert found == sorted((one for one in given_ if text.startswith(one, position)), key=len)


@settings(deadline=None)
@given(
    st.lists(st.builds(Key, st.text(alphabet="abé\U0001f600", min_size=1, max_size=5), st.booleans()), unique=True),
    st.text(alphabet="abé\U0001f600", max_size=60),
)
def test_suffixes_are_looked_up_by_a_kernel_as_by_walks(keys: list[Key], text: str) -> None:
    search = SuffixSearch(keys)
    expected = {n for n, key in enumerate(keys) if (text.endswith if key.at_end else text.__contains__)(key.literal)}
    kept, suffix_trie._ROOM = suffix_trie._ROOM, 6
    try:
        assert search.found_by_kernel(text) == search.found_by_walks(text) == expected
    finally:
        suffix_trie._ROOM = kept


@given(REGEXES, TEXTS)
def test_a_match_begins_with_a_required_prefix(regex: str, text: str) -> None:
    required = required_prefixes(regex)
    if required is not None and text.isprintable() and regex_holds(regex, text):
        assert (fold(text) if required.folded else text).startswith(required.literals)


@pytest.mark.parametrize("regex", ["^?ab", "^*ab", "^ab|b", "(?m)^ab", "ab", "(^|x)ab", "^a*", "^{0}ab", "^(a|)"])
def test_no_prefix_is_promised(regex: str) -> None:
    assert required_prefixes(regex) is None


@settings(max_examples=200)
@given(LIKES.map(read), st.text(alphabet="abAé.\n\0İ{%_", max_size=8))
def test_a_like_as_a_regex(pattern: Pattern, text: str) -> None:
    assert pattern.like is not None
    regex = regex_of_like(pattern.like)
    if not re.search("[\ud800-\udfff]", regex):
        assert regex_holds(regex, text) is like_matches(pattern.like, text)


def test_an_exhausted_set_is_decided_pattern_by_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    index = RegexSetIndex([Pattern(0, parse_like("a%"), None), Pattern(0, None, "[0-9]"), Pattern(0, None, "c$")])
    assert sorted(index.matches("a7")) == [0, 1]
    monkeypatch.setattr(RegexSet, "matches", lambda self, data: None)
    assert sorted(index.matches("a7")) == [0, 1]


def test_sets_too_large_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    import profilec.runtime.regex as regex_module

    made = regex_module._options

    def small(**arguments: bool) -> object:
        read = made(**arguments)
        read.max_mem = 30_000
        return read

    monkeypatch.setattr(regex_module, "_options", small)
    patterns = [Pattern(0, parse_like("%" + "_" * n + "7"), None) for n in range(10, 32)]
    patterns += [Pattern(0, parse_like("%" + "_" * n + "7"), None) for n in (33, 900)]
    expect_one_by_one("regex_set", patterns, ["q" * 20 + "7", "q" * 950 + "7", "q"])


def test_the_planner_knows_all_names() -> None:
    assert set(options.PATTERN_INDEXES) == set(PATTERN_INDEXES)
    assert list(options.PATTERN_INDEXES) == sorted(options.PATTERN_INDEXES)
    assert not set(options.PATTERN_INDEXES) & set(options.INDEXES)
    assert DEFAULT is PatternSet


CONDITIONS = {
    "contains": "title LIKE '%lamp%'",
    "general": "title LIKE 'desk%l_mp' AND price < 10",
    "folded": "title ILIKE '%LAMP'",
    "folded general": "title ILIKE 'D%p%3'",
    "regex": "title MATCHES '^desk [a-z]+'",
    "not": "title NOT LIKE '%desk%' AND title > 'a'",
    "ranks": "title = 'x' OR title LIKE 'de%'",
    "null": "title IS NULL",
}
DOCUMENTS = [
    {"title": title, "price": 3} for title in ("desk lamp", "Desk LAMP 3", "lamp", "x", "", "desk\nlamp", None, 7)
]


@every_name
@pytest.mark.parametrize("matcher", [None, *options.MATCHERS])
def test_it_is_taken_with_every_matcher(name: str, matcher: str | None) -> None:
    plain = profilec.compile(CONDITIONS, options={"matcher": matcher} if matcher else {})
    forced = profilec.compile(
        CONDITIONS, options={"index": {"title": name}} | ({"matcher": matcher} if matcher else {})
    )
    assert (forced.plan.matcher, forced.plan.reason) == (plain.plan.matcher, plain.plan.reason)
    assert forced.plan.pattern_index == {"title": name}
    assert forced.plan.rank_index == plain.plan.rank_index == dict(plain.plan.index)
    assert [forced.match(document) for document in DOCUMENTS] == [plain.match(document) for document in DOCUMENTS]
    assert list(forced.match_batch(DOCUMENTS)) == list(plain.match_batch(DOCUMENTS))


@every_name
def test_it_is_asked(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """By the set as it is, saved and loaded, and pickled; of the attribute and of its folded form."""
    made: list[int] = []
    make = PATTERN_INDEXES[name]
    monkeypatch.setitem(PATTERN_INDEXES, name, lambda patterns: made.append(len(patterns)) or make(patterns))
    compiled = profilec.compile(CONDITIONS, options={"index": {"title": name}})
    compiled.save(tmp_path / "set.image")
    for profiles in (compiled, profilec.load(tmp_path / "set.image"), pickle.loads(pickle.dumps(compiled))):
        made.clear()
        assert profiles.plan == compiled.plan
        assert profiles.match(DOCUMENTS[0]) == ["contains", "general", "folded", "regex", "ranks"]
        assert sorted(made) == [1, 4]


@pytest.mark.parametrize("attribute", ["LOWER(title)", "`a b`", "a b", "c.d"])
def test_what_an_index_is_named_for(attribute: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    monkeypatch.setitem(PATTERN_INDEXES, "trie", lambda patterns: made.append(len(patterns)) or PatternSet(patterns))
    conditions = [
        f"{text} {predicate}"
        for text in ("LOWER(title)", "`a b`", "c.d")
        for predicate in ("LIKE '%x%'", "ILIKE '%x%'")
    ]
    profiles = profilec.compile(
        {str(n): one for n, one in enumerate(conditions)}, options={"index": {attribute: "trie"}}
    )
    assert len(profiles.match({"title": "x", "a b": "x", "c": {"d": "x"}})) == 6
    assert made == [1, 1]


def test_options() -> None:
    read = Options.read({"matcher": "opindex", "index": {"title": "trie"}})
    assert (read.pattern_index, read.rank_index) == ({"title": "trie"}, {})
    read = Options.read({"max_cap": 3, "index": {"title": "trie"}})
    assert not read.leaves_matcher
    assert Options.read({"index": {"title": "trie"}}).leaves_matcher
    with pytest.raises(ValueError, match="the matcher opindex uses no index"):
        Options.read({"matcher": "opindex", "index": {"title": "trie", "price": "hash"}})
    with pytest.raises(
        ValueError, match=r"did you mean 'suffix_trie'.* segment_tree, aho_corasick, patterns, regex_set, "
    ):
        Options.read({"index": {"title": "sufix_trie"}})
    with pytest.raises(ValueError, match=r"forces 'trie' on 'titel'.*did you mean 'title'"):
        profilec.compile(CONDITIONS, options={"index": {"titel": "trie"}})


@every_name
def test_the_plan_tells_of_it(name: str) -> None:
    profiles = profilec.compile(CONDITIONS, options={"index": {"title": name, "price": "hash"}})
    assert profiles.plan.matcher in options.WITH_INDEX
    facts = json.loads(profiles.explain(format="json"))
    (encode,) = [operator for operator in facts["operators"] if operator["operator"] == "encode"]
    assert encode["detail"].endswith(f", patterns of title by {name}")
    assert f"patterns of title by {name}" in profiles.explain(analyze=DOCUMENTS)
    for format_ in ("html", "dot", "mermaid"):
        assert name in profiles.explain(format=format_)
    assert profiles.why(DOCUMENTS[0], "contains").truth is True


def test_a_sample_is_no_obstacle() -> None:
    given_ = {"options": {"index": {"title": "suffix_trie"}}, "statistics": DOCUMENTS}
    assert profilec.compile(CONDITIONS, **given_).match(DOCUMENTS[2]) == ["contains", "folded", "not"]
