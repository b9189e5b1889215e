"""All patterns of a slot in one pass, against pattern by pattern."""

import time
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import profilec.runtime.atoms as atoms_module
from profilec.runtime.image import Pattern
from profilec.runtime.patterns import PatternSet
from profilec.runtime.regex import RegexSet, regex_holds
from profilec.values.patterns import like_matches, parse_like

SHORT = st.text(alphabet="ab%_", max_size=4)
WIDE = st.text(alphabet="abé.\ud800%%%__", max_size=7)
LIKES = (SHORT | WIDE).map(lambda text: Pattern(0, parse_like(text), None))
FEW = ["ab", "a.*b", "^a", "b$", "(?i)AB", "[ab]{2}", "", "a|b", "(ab|é)+", r"\bab\b", "é.", "(?s).", "^$", "\ufffd"]
MORE = ["a+b+", "(a|b)(a|b)", "..é", "x*", r"\.a"]
REGEXES = st.sampled_from([*FEW, *MORE]).map(lambda regex: Pattern(0, None, regex))
TEXTS = st.text(alphabet="ab", max_size=4) | st.text(alphabet="aAbBé.\ud800\ufffd", max_size=12)


def one_by_one(patterns, text):
    return [
        number
        for number, pattern in enumerate(patterns)
        if (like_matches(pattern.like, text) if pattern.like else regex_holds(pattern.regex, text))
    ]


def text_by_text(decided, texts):
    """What `matches_each` tells, as a sorted list for each text: a pair told twice is there twice."""
    found = [[] for _ in texts]
    for place, number in zip(*decided.matches_each(texts), strict=True):
        found[place].append(number)
    return list(map(sorted, found))


@settings(max_examples=200, deadline=None)
@given(st.lists(LIKES | REGEXES, max_size=12), st.lists(TEXTS, min_size=1, max_size=6))
def test_is_pattern_by_pattern(patterns, texts):
    decided = PatternSet(patterns)
    for text in texts:
        found = decided.matches(text)
        assert sorted(found) == one_by_one(patterns, text)
    assert text_by_text(decided, texts) == [one_by_one(patterns, text) for text in texts]


@settings(max_examples=100, deadline=None)
@given(st.lists(LIKES | REGEXES, max_size=12), st.lists(st.text(alphabet="aAb\u00e9.", max_size=9), max_size=20))
def test_texts_that_are_looked_at_together_are_kept_apart(patterns, texts):
    """With many atoms, and so few characters at once that a piece has some of the texts."""
    kept = atoms_module._CHUNK, atoms_module.FEW
    atoms_module._CHUNK, atoms_module.FEW = 8, 0
    try:
        assert text_by_text(PatternSet(patterns), texts) == [one_by_one(patterns, text) for text in texts]
    finally:
        atoms_module._CHUNK, atoms_module.FEW = kept


@given(st.lists(LIKES | REGEXES, min_size=1, max_size=8), st.text(alphabet="ab.é", min_size=20, max_size=120))
def test_chunks_lose_nothing_at_their_borders(patterns, text):
    """A long text is read in chunks that overlap, keys found leave the automaton; here both happen all the time."""
    kept = atoms_module._CHUNK, atoms_module._FLOOD
    atoms_module._CHUNK, atoms_module._FLOOD = 5, 0
    try:
        assert sorted(PatternSet(patterns).matches(text)) == one_by_one(patterns, text)
    finally:
        atoms_module._CHUNK, atoms_module._FLOOD = kept


def test_a_text_longer_than_a_chunk_and_shorter_than_a_key_is_read(monkeypatch):
    monkeypatch.setattr(atoms_module, "_CHUNK", 8)
    monkeypatch.setattr(atoms_module, "FEW", 0)
    patterns = [Pattern(0, parse_like("..é" + "x" * 20), None), Pattern(0, None, "ab")]
    assert PatternSet(patterns).matches("AAAAAabé") == [1]


def test_a_literal_is_found_wherever_the_chunks_are_cut():
    literal = "é" * 30 + "abc" * 6
    found_by = [Pattern(0, parse_like(f"%{literal}%"), None), Pattern(0, parse_like("%bca%"), None)]
    patterns = PatternSet(
        [*found_by, Pattern(0, None, f"{literal[-20:]}x+$"), Pattern(0, parse_like("%nowhere%"), None)]
    )
    for before in range(atoms_module._CHUNK - 90, atoms_module._CHUNK + 10):
        assert sorted(patterns.matches("x" * before + literal + "x" * 5_000)) == [0, 1, 2]


def test_nested_literals_in_a_long_run():
    patterns = [Pattern(0, parse_like("%" + "a" * length + "%"), None) for length in range(1, 501)]
    patterns += [Pattern(0, parse_like("%b%"), None), Pattern(0, None, "(a+)+$"), Pattern(0, None, "(a*)*b")]
    decided = PatternSet(patterns)
    tracemalloc.start()
    started = time.process_time()
    assert sorted(decided.matches("a" * 1_000_000)) == [*range(500), 501]
    assert time.process_time() - started < 20
    assert tracemalloc.get_traced_memory()[1] < 200_000_000
    tracemalloc.stop()


@settings(max_examples=150, deadline=None)
@given(
    st.lists(LIKES | REGEXES, max_size=12),
    st.lists(st.text(alphabet="aAb\u00e9.", max_size=12), max_size=20),
    st.sampled_from([0, 10**9]),
)
def test_many_texts_are_searched_by_a_kernel(patterns, texts, many_hits):
    kept = atoms_module.FEW, atoms_module._KERNEL_BYTES, atoms_module._MANY_HITS
    atoms_module.FEW, atoms_module._KERNEL_BYTES, atoms_module._MANY_HITS = 0, 0, many_hits
    try:
        assert text_by_text(PatternSet(patterns), texts) == [one_by_one(patterns, text) for text in texts]
    finally:
        atoms_module.FEW, atoms_module._KERNEL_BYTES, atoms_module._MANY_HITS = kept


@pytest.fixture
def only_the_kernel(monkeypatch):
    """Fails where the automaton is asked."""

    def refuse(*_):
        raise AssertionError("the automaton was asked")

    monkeypatch.setattr(atoms_module.Atoms, "_find_in_piece", refuse)
    monkeypatch.setattr(atoms_module.Atoms, "occurring", refuse)


@pytest.mark.usefixtures("only_the_kernel")
def test_atoms_of_any_length_are_found_at_any_place():
    atoms = ["$", "ab", "abc", "abcd", "bcde", "abcdefgh", "\u00e9", "\u00e9\u00e9", "x\U0001f600y", "q" * 300]
    patterns = [Pattern(0, parse_like(f"%{atom}%"), None) for atom in atoms]
    fill = ["", "a", "ab", "abc", "\u00e9", "-" * 600, "abcdefg"]
    texts = [before + atom + after for atom in atoms for before in fill for after in fill]
    texts += [atom[:-1] for atom in atoms] + [atom[1:] for atom in atoms] + [""]
    expected = [[number for number, atom in enumerate(atoms) if atom in text] for text in texts]
    assert text_by_text(PatternSet(patterns), texts) == expected


@pytest.mark.usefixtures("only_the_kernel")
def test_more_is_found_than_there_was_room_for():
    atoms = [f"<{number}>" for number in range(300)]
    text = "".join(atoms)
    patterns = PatternSet([Pattern(0, parse_like(f"%{atom}%"), None) for atom in atoms])
    assert text_by_text(patterns, [text, text[1:], "", text + text] * 9) == (
        [list(range(300)), list(range(1, 300)), [], list(range(300))] * 9
    )


def test_texts_full_of_what_atoms_share_go_to_the_automaton():
    patterns = [Pattern(0, parse_like("%" + "a" * length + "%"), None) for length in range(2, 1_500)]
    decided = PatternSet([*patterns, Pattern(0, parse_like("%b%"), None)])
    texts = ["a" * 3_000, "a" * 1_999 + "b"]
    started = time.process_time()
    assert text_by_text(decided, texts) == [list(range(1_498)), list(range(1_499))]
    assert decided._plain._found_by_kernel(texts, "".join(texts).encode()) is None
    assert time.process_time() - started < 20


def test_an_exhausted_set_is_decided_pattern_by_pattern(monkeypatch):
    patterns = [Pattern(0, None, regex) for regex in ("[ab][cd]", "[0-9]+", "x*")]
    decided = PatternSet(patterns)
    assert sorted(decided.matches("ac")) == [0, 2]
    monkeypatch.setattr(RegexSet, "matches", lambda self, data: None)
    assert sorted(decided.matches("ac")) == [0, 2]


@pytest.mark.parametrize("answer", [None, [], [0], [1]])
def test_an_answer_without_the_sentinel_is_no_answer(answer):
    """RE2 answers "no match" when its automaton does not fit into memory.

    That cannot be provoked here (RE2 tries a new set on a text and refuses it at once), so the set is a stub.
    """

    class Exhausted:
        def Match(self, data):  # noqa: N802
            return answer

    regexes = RegexSet(["a", "b"])
    assert regexes.matches(b"ab") is not None
    regexes._set = Exhausted()
    assert regexes.matches(b"ab") is None


def test_a_set_too_large_is_cut(monkeypatch):
    import profilec.runtime.regex as regex_module

    options = regex_module._options

    def small(**arguments):
        made = options(**arguments)
        made.max_mem = 30_000
        return made

    patterns = [Pattern(0, None, f"[a-z]{{{n}}}[0-9]") for n in range(20, 40)]
    text = "q" * 30 + "7"
    expected = one_by_one(patterns, text)
    monkeypatch.setattr(regex_module, "_options", small)
    with pytest.raises(ValueError, match="RE2 refuses the set"):
        RegexSet([pattern.regex for pattern in patterns])
    assert sorted(PatternSet(patterns).matches(text)) == expected


def test_a_few_contained_literals_are_looked_for_one_by_one():
    few = [Pattern(0, parse_like(f"%{text}%"), None) for text in ("ab", "\ud800x", "ab", "b.")]
    decided = PatternSet(few)
    for text in ("xab.", "b.", "\ud800x", "", "\ud800"):
        assert sorted(decided.matches(text)) == one_by_one(few, text)


COUNTING = [
    ".{30,}",
    "(.){30,}",
    "(.{30,})",
    ".{30}",
    "[^b]{1,300}$",
    "(?s).{40,}",
    "a{2,200}b",
    "(?:é|a){31,90}",
    ".{1,}",
]


@pytest.mark.parametrize("regex", COUNTING)
def test_regexes_that_count_far(regex):
    """They are tried alone, and only on texts that are long enough; `.` is any character but a line's end."""
    patterns = [Pattern(0, None, regex), Pattern(0, None, "[ab]$")]
    decided = PatternSet(patterns)
    for text in (
        "",
        "a" * 29,
        "a" * 30,
        "é" * 31,
        "a" * 20 + "\n" + "b" * 20,
        "\n" * 50,
        "\n" + "a" * 35 + "b",
        "\ud800" * 30,
    ):
        assert sorted(decided.matches(text)) == one_by_one(patterns, text)


def test_a_regex_that_counts_far_does_not_make_others_slow():
    """Together their states multiply: this took 100 ms."""
    sources = (".{200,}", ".{900,}", "[0-9]{1,3}[.][0-9]{1,3}", "[A-F0-9]{8}-[A-F0-9]{4}", "[^b]{1,256}$")
    decided = PatternSet([Pattern(0, None, source) for source in sources])
    texts = [f"{number} " * 60 for number in range(100, 140)]
    decided.matches(texts[0])
    started = time.process_time()
    for text in texts:
        decided.matches(text)
    assert time.process_time() - started < 0.05


def test_lone_surrogates_are_kept_apart_by_like_and_read_as_u_fffd_by_regexes():
    patterns = [
        Pattern(0, parse_like("%\ud800%"), None),
        Pattern(0, parse_like("%\ufffd%"), None),
        Pattern(0, None, "\ufffd"),
        Pattern(0, None, "\ud800"),
    ]
    assert sorted(PatternSet(patterns).matches("a\ud800b")) == [0, 2, 3]
    assert sorted(PatternSet(patterns).matches("a\ufffdb")) == [1, 2, 3]


def test_re2_writes_nothing_to_standard_error(capfd):
    with pytest.raises(ValueError, match="RE2 refuses"):
        PatternSet([Pattern(0, None, "abc(")]).matches("abc(")
    assert capfd.readouterr().err == ""
