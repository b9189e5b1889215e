"""The lexer: what each piece of text is, and the words that are keywords only where nothing else can stand."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from profilec.grammar.diagnostics import ProfileError
from profilec.grammar.lexer import RESERVED, is_plain_name, name_parts, string_value, tokens
from profilec.grammar.parse import parse_condition
from profilec.grammar.refusals import TextError
from tests.grammar.golden_blocks import cases, compare


def listed(text: str) -> str:
    """Each token as TYPE‹text›, or as TYPE where the text says no more."""
    found = tokens(text, comments=True)
    return " ".join(t.type if t.type == t.text else f"{t.type}‹{t.text}›" for t in found)


@pytest.mark.parametrize(("file", "number"), [*cases("grammar", "tokens")])
def test_tokens(file: Path, number: int, rewrite_golden: bool) -> None:
    compare(file, number, rewrite_golden, listed)


def types(text: str) -> list[str]:
    return [token.type for token in tokens(text, condition=True)]


def test_tokens_are_the_text() -> None:
    text = '-- c\nPROFILE a WITH (x = \'y\') WHERE `b c`.d ≠ 5. /* c */ AND e ∉ (1E2) ACCEPTS {"a": [1, "}"]};\n'
    found = list(tokens(text, comments=True))
    assert all(text[token.start : token.end] == token.text for token in found)
    assert all(before.end <= after.start for before, after in itertools.pairwise(found))
    gaps = [text[before.end : after.start] for before, after in itertools.pairwise(found)]
    assert not "".join(gaps).strip()
    assert [token.text for token in found if token.type == "COMMENT"] == ["-- c", "/* c */"]
    assert [token.type for token in tokens(text)] == [token.type for token in found if token.type != "COMMENT"]


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_a_reserved_word_names_an_attribute_between_back_quotes_only(word: str) -> None:
    for spelled in (word, word.lower()):
        with pytest.raises(ProfileError) as error:
            parse_condition(f"{spelled} = 1 AND b") if word not in ("NULL", "TRUE", "FALSE") else parse_condition(
                f"EXISTS {spelled} (d.x)"
            )
        assert error.value.diagnostics[0].code == "PC108"
        assert parse_condition(f"`{spelled}` = 1 AND b").parts[0].parts[0].node.parts == (spelled,)  # type: ignore[attr-defined]


WORDS = """
    date timestamp interval matches rlike regexp contains escape as where with within of last given accepts rejects
    profile schema unknown lower upper length trim abs round coalesce substr number string integer boolean array
    record select case end when from group order limit
""".split()  # noqa: SIM905


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize(
    "text",
    ["{} = 1", "a = {}", "{} AND {}", "{} IN ({}, 1)", "NOT {} IS NULL", "EXISTS d (d.{} = {})", "{} MATCHES 'x'"],
)
def test_every_other_word_names_an_attribute(word: str, text: str) -> None:
    plain = parse_condition(text.replace("{}", word))
    quoted = parse_condition(text.replace("{}", f"`{word}`"))
    assert plain.node is quoted.node


@pytest.mark.parametrize("word", ["LI\u212aE", "\u0130N", "l\u0131ke", "i\u017f"])
def test_only_ascii_letters_make_a_keyword(word: str) -> None:
    assert types(f"a {word}")[1] == "NAME"


def test_a_name_goes_on_with_letters_digits_and_signs() -> None:
    for name in ("a1", "_x", "@id", "$ref", "größe", "цена", "価格", "a@b$c", "x_1.y_2"):
        assert types(f"{name} = 1") == ["NAME", "COMPARE", "NUMBER"]


@pytest.mark.parametrize("text", ["5", "5.", ".5", "0.5", "5E2", "5e-2", ".5E+3", "5.E2", "0" * 1000])
def test_numbers(text: str) -> None:
    assert [(token.type, token.text) for token in tokens(text, condition=True)] == [("NUMBER", text)]


@pytest.mark.parametrize("text", ["5L", "1_000", "0x10", "1e", "1e5x", "1.2.3", "5a", "٣"])
def test_what_is_no_number(text: str) -> None:
    with pytest.raises(TextError) as error:
        list(tokens(text, condition=True))
    assert error.value.code == "PC102"


def test_strings_take_either_quote_and_double_it() -> None:
    assert string_value("'a\nb'") == "a\nb"
    assert string_value("'\\n'") == "\\n"
    assert string_value('"\'"') == "'"
    assert types('\'it\'\'s\' = "say ""x"""') == ["STRING", "COMPARE", "STRING"]


def test_names_in_back_quotes() -> None:
    assert name_parts("`a.b`.c.`d e`") == ("a.b", "c", "d e")
    assert not is_plain_name("a.b")
    assert not is_plain_name("1a")
    assert not is_plain_name("²")
    assert is_plain_name("Null_")


@pytest.mark.parametrize("text", ["a = 'x\ud800'", "`\udc80` = 1", "\udcff"])
def test_half_a_character_is_refused(text: str) -> None:
    with pytest.raises(TextError) as error:
        list(tokens(text, condition=True))
    assert error.value.code == "PC107"


def test_half_a_character_in_a_comment_is_refused_where_comments_are_wanted() -> None:
    assert len(list(tokens("a -- \udcff", condition=True))) == 1
    with pytest.raises(TextError):
        list(tokens("a -- \udcff", condition=True, comments=True))


def test_a_long_text_is_lexed_in_linear_space_of_its_tokens() -> None:
    stream = tokens("a" + " = 1 AND a" * 100_000, condition=True)
    assert [next(stream).type for _ in range(4)] == ["NAME", "COMPARE", "NUMBER", "AND"]
