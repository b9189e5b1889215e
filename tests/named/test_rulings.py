"""The rulings on odd input, one test a row of the design's table."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
from asking import refusal, refused, truth, warnings

import profilec

UNKNOWN = None


def test_chains_are_pairwise_and() -> None:
    assert truth("a = b = c", {"a": 1, "b": 1, "c": 1}) is True
    assert truth("a = b = c", {"a": 1, "b": 1, "c": 2}) is False
    assert truth("1 = 1 = TRUE", {}) is UNKNOWN  # not (1 = 1) = TRUE
    assert truth("10 <= a < b", {"a": 10, "b": 11}) is True
    assert truth("10 <= a < b", {"a": 10, "b": 10}) is False
    assert truth("1 < 2 < 1", {}) is False
    assert warnings("a = b = c") == ("PC601",)
    assert warnings("10 <= a < b") == ()


def test_a_range_of_any_asks_one_and_the_same_element() -> None:
    document = {"s": [5, 25]}
    assert truth("10 <= ANY(s) <= 20", document) is False
    assert truth("ANY(s) BETWEEN 10 AND 20", document) is False
    assert truth("ANY(s) >= 10 AND ANY(s) <= 20", document) is True
    assert truth("10 <= ANY(s) <= 20", {"s": [5, 15]}) is True
    assert truth("'x' = ANY(tags)", {"tags": ["x"]}) is True
    assert truth("ANY(items.sku) = 'x'", {"items": [{"sku": "y"}, {"sku": "x"}]}) is True
    assert truth("ANY(items.sku) IS NULL", {"items": [{"sku": "y"}, {}]}) is True


def test_any_differs_has_a_hint() -> None:
    assert truth("ANY(tags) != 'x'", {"tags": ["x", "y"]}) is True
    found = profilec.compile({"p": "ANY(tags) != 'x'"}).diagnostics
    assert [diagnostic.code for diagnostic in found] == ["PC612"]
    assert "NOT ANY(tags) = 'x'" in (found[0].hint or "")


def test_in_and_like_take_other_attributes() -> None:
    assert truth("a IN (b, 1)", {"a": 2, "b": 2}) is True
    assert truth("a IN (b, 1)", {"a": 1}) is True
    assert truth("a IN (b, 1)", {"a": 2}) is UNKNOWN
    assert truth("a NOT IN (b, 1)", {"a": 2, "b": 3}) is True
    assert truth("a LIKE b", {"a": "xyz", "b": "x%"}) is True
    assert truth("a NOT LIKE b", {"a": "xyz", "b": "y%"}) is True
    assert truth("a LIKE b ESCAPE '!'", {"a": "50%", "b": "50!%"}) is True
    assert truth("a LIKE b ESCAPE '!'", {"a": "50%", "b": "50!"}) is UNKNOWN  # an escape that escapes nothing
    assert truth("(a LIKE b ESCAPE '!') IS UNKNOWN", {"a": "50%", "b": "5!0%"}) is True


@pytest.mark.parametrize(
    ("where", "code", "named"),
    [
        ("a MATCHES b", "PC209", "MATCHES"),
        ("a || b = 'x'", "PC110", "||"),
        ("CASE WHEN a = 1 THEN b END = 2", "PC111", "CASE"),
        ("items[0] = 1", "PC112", "[0]"),
        ("t < NOW()", "PC204", "NOW"),
        ("a IN (SELECT b FROM t)", "PC113", "subqueries"),
        ("(a = 1) = (b = 2)", "PC203", "condition"),
        ("a = 1 IS TRUE", "PC114", "IS TRUE"),
    ],
)
def test_what_is_refused_by_name_with_a_hint(where: str, code: str, named: str) -> None:
    assert set(refused(where)) == {code}
    message, _, hint = refusal(where).partition(" | ")
    assert named in message
    assert hint != "None"


@pytest.mark.parametrize("where", ["5", "a + 1", "LOWER(a)", "'x'", "NOT 5", "TRUE AND 1", "-a", "DATE '2024-01-31'"])
def test_a_value_is_no_condition(where: str) -> None:
    assert refused(where) == ("PC201",)


def test_is_null_of_a_condition_is_is_unknown() -> None:
    assert truth("(a = 1) IS NULL", {}) is True
    assert truth("(a = 1) IS NULL", {"a": 2}) is False
    assert truth("(a = 1) IS NOT NULL", {"a": 2}) is True
    assert truth("(a) IS NULL", {"a": 2}) is False  # an attribute in brackets is still a value


def test_an_attribute_that_the_schema_does_not_have() -> None:
    assert refused("prise < 5", {"price": "NUMBER"}) == ("PC214",)
    assert "`price`" in refusal("prise < 5", {"price": "NUMBER"})
    assert refused("EXISTS d (d.prise = price)", {"price": "NUMBER"}) == ("PC214",)


@pytest.mark.parametrize(
    ("where", "code", "expected"),
    [
        ("1 < 2", "PC602", True),
        ('price < "10"', "PC603", UNKNOWN),
        ("TRUE = 1", "PC603", UNKNOWN),
        ("x = NULL", "PC604", UNKNOWN),
        ("a BETWEEN 5 AND 1", "PC607", False),
        ("LOWER(5) = 'x'", "PC608", UNKNOWN),
        ("x NOT IN (1, NULL)", "PC605", UNKNOWN),
        ("x NOT IN (1, 'a')", "PC606", UNKNOWN),
    ],
)
def test_what_can_never_be_right_is_a_warning(where: str, code: str, expected: bool | None) -> None:
    schema = {"price": "NUMBER"} if "price" in where else None
    assert code in warnings(where, schema)
    assert truth(where, {"price": 5, "x": 7, "a": 3}, schema=schema) is expected


def test_dates_against_timestamps() -> None:
    schema = {"day": "DATE", "t": "TIMESTAMP"}
    document = {"day": datetime.date(2024, 1, 31), "t": datetime.datetime(2024, 1, 31)}
    assert truth("day = t", document, schema=schema) is UNKNOWN
    assert "PC609" in warnings("day = t", schema)
    assert truth("CAST(day AS TIMESTAMP) = t", document, schema=schema) is True


def test_an_interval_is_no_value_to_compare() -> None:
    assert refused("sold_at - ordered_at > INTERVAL '3 days'") == ("PC208",)
    document = {"sold_at": datetime.datetime(2024, 1, 5), "ordered_at": datetime.datetime(2024, 1, 1)}
    assert truth("sold_at > ordered_at + INTERVAL '3 days'", document) is True


def test_a_variable_that_is_also_an_attribute() -> None:
    # In the body d.x is the earlier document's; a bare d and `d`.x are the new one's.
    assert truth("EXISTS d (d.x = 1)", {"d": {"x": 2}}, {"x": 1}) is True
    assert truth("EXISTS d (`d`.x = 2)", {"d": {"x": 2}}, {"x": 1}) is True
    assert truth("EXISTS d (d = 5)", {"d": 5}, {"x": 1}) is True
    assert "PC610" in warnings("EXISTS d (d.x = d)")
    assert "PC610" in warnings("EXISTS d (d.x = 1)", {"d": "NUMBER", "x": "NUMBER"})


def test_what_may_stand_in_what() -> None:
    assert refused("EXISTS d (EXISTS e (e.x = d.x))") == ("PC213",)
    assert refused("ANY items AS i (EXISTS d (d.x = i.x))") == ("PC213",)
    assert truth("EXISTS d (ANY(d.tags) = tag)", {"tag": "x"}, {"tags": ["y", "x"]}) is True
    assert refused("ANY(a) = ANY(b)") == ("PC212",)


def test_a_quoted_name_is_never_a_path() -> None:
    assert truth("`a.b` = 1", {"a": {"b": 1}}) is UNKNOWN
    assert truth("`a.b` = 1", {"a.b": 1}) is True
    assert truth("`a b`.c = 1", {"a b": {"c": 1}}) is True


RESERVED = ("AND", "OR", "NOT", "IN", "IS", "LIKE", "ILIKE", "BETWEEN", "ANY", "ALL", "EXISTS", "FORALL", "CAST")
LITERALS = ("NULL", "TRUE", "FALSE")
# fmt: off
FREE = (
    "date", "timestamp", "interval", "price", "profile", "schema", "with", "where", "within", "of", "last", "given",
    "accepts", "rejects", "matches", "rlike", "regexp", "contains", "escape", "as", "unknown", "case", "when", "then",
    "end", "select", "now", "lower", "length", "abs", "round", "coalesce", "trim", "substr",
)
# fmt: on


@pytest.mark.parametrize("word", RESERVED)
def test_a_reserved_word_needs_back_quotes(word: str) -> None:
    assert refused(f"{word} = 1") != ()
    assert truth(f"`{word}` = 1", {word: 1}) is True


@pytest.mark.parametrize("word", LITERALS)
def test_a_literal_is_no_attribute_unless_in_back_quotes(word: str) -> None:
    assert truth(f"{word} = 1", {word: 1}) is UNKNOWN
    assert truth(f"`{word}` = 1", {word: 1}) is True


@pytest.mark.parametrize("word", FREE)
def test_every_other_word_may_name_an_attribute(word: str) -> None:
    for name in (word, word.upper()):
        document = {name: 1}
        assert truth(f"{name} = 1", document) is True
        assert truth(f"1 = {name} AND {name} IN (1, 2) AND ({name} + {name} = 2)", document) is True
        assert truth(f"NOT {name} != 1 OR {name} BETWEEN {name} AND 2", document) is True
        assert truth(f"EXISTS d (d.{name} = {name})", document, document) is True


def test_ids() -> None:
    text = "PROFILE plain WHERE TRUE; PROFILE \"a b-c; d\" WHERE TRUE; PROFILE 'it''s' WHERE TRUE;"
    assert profilec.compile(text).ids == ["plain", "a b-c; d", "it's"]
    with pytest.raises(profilec.ProfileError) as caught:
        profilec.compile("PROFILE a WHERE x = 1;\nPROFILE b WHERE TRUE;\nPROFILE a WHERE x = 2;")
    (found,) = caught.value.diagnostics
    assert (found.code, found.line) == ("PC216", 3)
    assert "line 1" in f"{found.message} {found.hint}"


def test_control_characters_in_an_id_are_refused() -> None:
    with pytest.raises(profilec.ProfileError) as caught:
        profilec.compile({"a\nb": "TRUE"})
    assert [found.code for found in caught.value.diagnostics] == ["PC217"]


def test_schema_types() -> None:
    text = """
        SCHEMA (n NUMBER, i INTEGER, s STRING NOT NULL, b BOOLEAN, d DATE, t TIMESTAMP,
                tags ARRAY<STRING>, user RECORD(name STRING, address RECORD(city STRING)),
                items ARRAY<RECORD(sku STRING, qty NUMBER)>);
        PROFILE p WHERE user.address.city = 'Rome' AND ANY items AS i (i.qty > n) AND ANY(items.sku) = s;
    """
    profiles = profilec.compile(text)
    items = [{"sku": "x", "qty": 2}]
    assert profiles.match({"user": {"address": {"city": "Rome"}}, "items": items, "n": 1, "s": "x"}) == ["p"]
    assert [field.name for field in profiles.schema.fields][:3] == ["n", "i", "s"]
    with pytest.raises(profilec.ProfileError) as caught:
        profilec.compile("SCHEMA (n NUMER);")
    assert [found.code for found in caught.value.diagnostics] == ["PC206"]


@pytest.mark.parametrize("where", ["a = 1; PROFILE evil WHERE TRUE", "a = 1;", ";"])
def test_a_semicolon_in_one_condition_is_refused(where: str) -> None:
    assert "PC109" in refused(where)


@pytest.mark.parametrize("where", ["a = ';'", "a = 1 /* ; */", "a = 1 -- ;", "`a;b` = 1"])
def test_a_semicolon_in_a_string_or_comment_is_none(where: str) -> None:
    assert len(profilec.compile({"p": where})) == 1


def test_duplicate_keys_in_an_example_are_refused() -> None:
    with pytest.raises(profilec.ProfileError) as caught:
        profilec.compile('PROFILE p WHERE a = 1 ACCEPTS {"a": 2, "a": 1};')
    assert [found.code for found in caught.value.diagnostics] == ["PC119"]


def test_an_empty_file_is_valid(tmp_path: Path) -> None:
    path = tmp_path / "empty.prof"
    path.write_text("")
    assert len(profilec.compile(path)) == 0
    assert profilec.compile(path).match({"a": 1}) == []
    path.write_text("-- nothing yet\n")
    assert len(profilec.compile(path)) == 0


def test_a_byte_order_mark_and_crlf_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "windows.prof"
    path.write_bytes("\ufeffPROFILE a\r\n  WHERE x = 'é';\r\nPROFILE b WHERE x = 1;\r\n".encode())
    profiles = profilec.compile(path)
    assert profiles.ids == ["a", "b"]
    assert profiles.match({"x": "é"}) == ["a"]


def test_a_file_that_is_not_utf8_says_where(tmp_path: Path) -> None:
    path = tmp_path / "latin.prof"
    path.write_bytes(b"PROFILE a WHERE x = 1;\nPROFILE b WHERE x = '\xe9';\n")
    with pytest.raises(profilec.ProfileError) as caught:
        profilec.compile(path)
    found = caught.value.diagnostics[0]
    assert (found.code, found.line) == ("PC107", 2)


def test_text_that_names_a_file_is_refused_with_a_hint() -> None:
    with pytest.raises((profilec.ProfileError, ValueError)) as caught:
        profilec.compile("shop.prof")
    assert "Path" in str(caught.value)


def test_in_without_values_is_refused() -> None:
    assert refused("a IN ()") == ("PC115",)
