"""The cases that a plausible but wrong implementation gets wrong, each by its name.

`truth` asks through the public API: match, match_batch and why, with each matcher, with
all rewrite rules and with none.
"""

from __future__ import annotations

import datetime
import math
import re
from decimal import Decimal
from typing import Any

import pytest
from truths import OPTIONS, Options, Truths, codes, named, truths_by

import profilec

UNKNOWN = None
DAY = datetime.date(2024, 3, 10)
NOON = datetime.datetime(2024, 3, 10, 12)


@pytest.fixture(params=OPTIONS, ids=named)
def options(request: pytest.FixtureRequest) -> Options:
    """Options of `compile`: a matcher, and all rewrite rules or none."""
    given: Options = request.param
    return given


@pytest.fixture
def truth(options: Options) -> Truths:
    """The truth of a condition by these options."""
    return truths_by(options)


# What is absent


@pytest.mark.parametrize("document", [{}, {"a": None}, {"a": math.nan}, {"a": Decimal("NaN")}], ids=str)
def test_a_missing_attribute_null_and_nan_are_the_same(truth: Truths, document: dict[str, Any]) -> None:
    assert truth("a = 1", document) is UNKNOWN
    assert truth("a != 1", document) is UNKNOWN
    assert truth("a NOT IN (1, 2)", document) is UNKNOWN
    assert truth("a NOT LIKE 'x%'", document) is UNKNOWN
    assert truth("a = a", document) is UNKNOWN
    assert truth("a IS NULL", document) is True
    assert truth("a IS NOT NULL", document) is False


def test_not_of_unknown_is_unknown(truth: Truths) -> None:
    assert truth("NOT a = 1", {}) is UNKNOWN
    assert truth("NOT (a < 1 OR b = 2)", {"a": 3}) is UNKNOWN
    assert truth("NOT (a < 1 AND b = 2)", {"a": 3}) is True


def test_unknown_or_true_is_true_and_unknown_and_false_is_false(truth: Truths) -> None:
    assert truth("a = 1 OR b = 2", {"b": 2}) is True
    assert truth("a = 1 OR b = 2", {"b": 3}) is UNKNOWN
    assert truth("a = 1 AND b = 2", {"b": 3}) is False
    assert truth("a = 1 AND b = 2", {"b": 2}) is UNKNOWN


def test_a_tautology_is_not_true_of_what_is_absent_or_of_another_kind(truth: Truths) -> None:
    for document in ({}, {"a": "x"}, {"a": True}, {"a": [1]}):
        assert truth("a < 1 OR a >= 1", document) is UNKNOWN
        assert truth("a = 1 OR a != 1", document) is UNKNOWN
        assert truth("a = 1 OR NOT a = 1", document) is UNKNOWN


def test_a_contradiction_is_unknown_where_the_attribute_is_absent(truth: Truths) -> None:
    """`a < 1 AND a > 2` folds to FALSE only where nothing but TRUE matters: its NOT is not TRUE."""
    assert truth("a < 1 AND a > 2", {}) is UNKNOWN
    assert truth("NOT (a < 1 AND a > 2)", {}) is UNKNOWN
    assert truth("NOT (a < 1 AND a > 2)", {"a": 1}) is True
    assert truth("(a < 1 AND a > 2) IS UNKNOWN", {"a": "x"}) is True


def test_what_is_defined_on_absence_is_decided_for_every_document(truth: Truths) -> None:
    assert truth("COALESCE(price, 0) < 5", {}) is True
    assert truth("COALESCE(price, 0) < 5", {"price": 7}) is False
    assert truth("COALESCE(price, 0) < 5", {"price": "x"}) is UNKNOWN
    assert truth("price + 1 IS NULL", {}) is True
    assert truth("LOWER(brand) IS NULL", {"brand": 5}) is True


# IS TRUE, IS FALSE, IS UNKNOWN


@pytest.mark.parametrize(("value", "answer"), [(1, True), (2, False), (None, UNKNOWN), ("x", UNKNOWN)])
def test_is_true_is_false_and_is_unknown_are_never_unknown(truth: Truths, value: Any, answer: bool | None) -> None:
    document = {"a": value}
    for name, asked in {"TRUE": True, "FALSE": False, "UNKNOWN": UNKNOWN, "NULL": UNKNOWN}.items():
        assert truth(f"(a = 1) IS {name}", document) is (answer is asked)
        assert truth(f"(a = 1) IS NOT {name}", document) is (answer is not asked)


def test_is_true_over_connectives_goes_to_the_leaves_and_keeps_its_meaning(truth: Truths) -> None:
    for document in ({}, {"a": 1}, {"a": 2}, {"b": 1}, {"b": 2}, {"a": 1, "b": 2}, {"a": 2, "b": 2}, {"a": 1, "b": 1}):
        a, b = (None if key not in document else document[key] == 1 for key in "ab")
        both = False if a is False or b is False else (None if a is None or b is None else True)
        either = True if a or b else (None if a is None or b is None else False)
        for name, asked in {"TRUE": True, "FALSE": False, "UNKNOWN": UNKNOWN}.items():
            assert truth(f"(a = 1 AND b = 1) IS {name}", document) is (both is asked)
            assert truth(f"(a = 1 OR b = 1) IS NOT {name}", document) is (either is not asked)
            assert truth(f"(NOT (a = 1 OR b = 1)) IS {name}", document) is (
                (None if either is None else not either) is asked
            )


def test_a_bare_boolean_attribute(truth: Truths) -> None:
    assert truth("flag", {"flag": True}) is True
    assert truth("flag", {"flag": False}) is False
    for value in (None, 1, 0, "TRUE", [True]):
        assert truth("flag", {"flag": value}) is UNKNOWN
        assert truth("flag IS NOT TRUE", {"flag": value}) is True
        assert truth("flag IS FALSE", {"flag": value}) is False
    assert truth("flag IS TRUE", {"flag": True}) is True
    assert truth("NOT flag", {"flag": False}) is True


# Kinds


def test_values_of_different_kinds_compare_unknown(truth: Truths) -> None:
    by_constant = {
        "1": 1,
        "'1'": "1",
        "TRUE": True,
        "DATE '2024-03-10'": DAY,
        "TIMESTAMP '2024-03-10 12:00:00'": NOON,
    }
    for constant, own in by_constant.items():
        for operator in ("=", "!=", "<", ">="):
            for value in by_constant.values():
                same_kind = type(value) is type(own)
                assert (truth(f"a {operator} {constant}", {"a": value}) is UNKNOWN) is not same_kind
        assert truth(f"a = {constant}", {"a": own}) is True


def test_nothing_is_coerced(truth: Truths) -> None:
    assert truth("a = 1", {"a": "1"}) is UNKNOWN
    assert truth("a = 1", {"a": True}) is UNKNOWN
    assert truth("a LIKE '1%'", {"a": 12}) is UNKNOWN
    assert truth("a NOT LIKE '1%'", {"a": 12}) is UNKNOWN
    assert truth("a + 1 = 2", {"a": "1"}) is UNKNOWN
    assert truth("a = DATE '2024-03-10'", {"a": "2024-03-10"}) is UNKNOWN


def test_an_array_or_record_satisfies_only_is_not_null(truth: Truths) -> None:
    for value in ([], [1], {}, {"x": 1}):
        assert truth("a IS NOT NULL", {"a": value}) is True
        assert truth("a IS NULL", {"a": value}) is False
        assert truth("a = 1", {"a": value}) is UNKNOWN
        assert truth("a != 1", {"a": value}) is UNKNOWN
        assert truth("a NOT IN ('x')", {"a": value}) is UNKNOWN
        assert truth("a NOT LIKE '%'", {"a": value}) is UNKNOWN


# IN, BETWEEN


def test_not_in_with_null_is_never_true(truth: Truths) -> None:
    assert truth("x NOT IN (1, NULL)", {"x": 1}) is False
    assert truth("x NOT IN (1, NULL)", {"x": 2}) is UNKNOWN
    assert truth("x IN (1, NULL)", {"x": 1}) is True
    assert truth("x IN (1, NULL)", {"x": 2}) is UNKNOWN
    assert truth("x IN (1, NULL)", {}) is UNKNOWN


def test_not_in_with_values_of_mixed_kinds_is_never_true(truth: Truths) -> None:
    for value in (2, "b", True):
        assert truth("x NOT IN (1, 'a')", {"x": value}) is UNKNOWN
    assert truth("x NOT IN (1, 'a')", {"x": "a"}) is False
    assert truth("x IN (1, 'a')", {"x": "a"}) is True


def test_between_is_two_comparisons(truth: Truths) -> None:
    assert truth("3 NOT BETWEEN 5 AND NULL", {}) is True
    assert truth("3 BETWEEN 1 AND NULL", {}) is UNKNOWN
    assert truth("x NOT BETWEEN 5 AND y", {"x": 3}) is True
    assert truth("x NOT BETWEEN 5 AND y", {"x": 6}) is UNKNOWN
    assert truth("x BETWEEN 1 AND 'z'", {"x": 0}) is False
    assert truth("x BETWEEN 1 AND 'z'", {"x": 2}) is UNKNOWN
    assert truth("x BETWEEN 5 AND 1", {"x": 3}) is False


# Numbers


def test_numbers_compare_exactly_beyond_2_to_the_53(truth: Truths) -> None:
    assert truth("a = 9007199254740993", {"a": 9007199254740992}) is False
    assert truth("a = 9007199254740993", {"a": 9007199254740993}) is True
    assert truth("a < 9007199254740993", {"a": 9007199254740992.0}) is True
    assert truth("a = 9007199254740992", {"a": 9007199254740992.0}) is True
    assert truth("a = 1e400", {"a": 10**400}) is True
    assert truth("a < 1e400", {"a": 1.7976931348623157e308}) is True
    assert truth("a > 1e400", {"a": math.inf}) is True


def test_a_float_stands_for_the_shortest_decimal_that_reads_back_to_it(truth: Truths) -> None:
    assert truth("price = 0.1", {"price": 0.1}) is True
    assert truth("price = 0.1", {"price": Decimal("0.1")}) is True
    assert truth("price = 0.1", {"price": Decimal("0.1000000000000000055511151231257827")}) is False
    assert truth("price = 1", {"price": 1.0}) is True
    assert truth("price = 1.0", {"price": 1}) is True
    assert truth("price = 0", {"price": -0.0}) is True
    assert truth("price = 1e23", {"price": 1e23}) is False  # the integer that this float is: 99999999999999991611392
    assert truth("price = 99999999999999991611392", {"price": 1e23}) is True


def test_arithmetic_is_exact_until_a_float_takes_part(truth: Truths) -> None:
    assert truth("0.1 + 0.2 = 0.3", {}) is True
    assert truth("a + 0.2 = 0.3", {"a": Decimal("0.1")}) is True
    assert truth("a + 0.2 = 0.3", {"a": 0.1}) is False
    assert truth("a * a = 81129638414606699710187514626049", {"a": 9007199254740993}) is True


def test_division_by_zero_is_null(truth: Truths) -> None:
    for operator in ("/", "%"):
        assert truth(f"a {operator} 0 IS NULL", {"a": 1}) is True
        assert truth(f"a {operator} b = 1", {"a": 1, "b": 0}) is UNKNOWN
        assert truth(f"NOT a {operator} b = 1", {"a": 1, "b": 0.0}) is UNKNOWN
        assert truth(f"COALESCE(a {operator} b, 7) = 7", {"a": 1, "b": 0}) is True


def test_remainder_takes_the_sign_of_the_dividend(truth: Truths) -> None:
    assert truth("a % 3 = -1", {"a": -7}) is True
    assert truth("a % -3 = 1", {"a": 7}) is True
    assert truth("a % 3 = -1", {"a": -7.0}) is True
    assert truth("-7 % 3 = -1", {}) is True


def test_slash_on_integers_is_no_integer_division(truth: Truths) -> None:
    assert truth("a / 2 = 3.5", {"a": 7}) is True


# Strings


def test_strings_compare_by_code_point(truth: Truths) -> None:
    assert truth("a < 'a'", {"a": "Z"}) is True
    assert truth("a > 'z'", {"a": "é"}) is True
    assert truth("a > '\uffff'", {"a": "😀"}) is True  # UTF-16 would order them the other way
    assert truth("a = 'é'", {"a": "e\u0301"}) is False
    assert truth("a = 'x'", {"a": "x "}) is False
    assert truth("a > ''", {"a": "\0"}) is True


def test_like_sees_case_and_underscore_is_one_code_point(truth: Truths) -> None:
    assert truth("a LIKE 'A%'", {"a": "abc"}) is False
    assert truth("a LIKE '_'", {"a": "😀"}) is True
    assert truth("a LIKE '__'", {"a": "😀"}) is False
    assert truth("a LIKE '__'", {"a": "e\u0301"}) is True
    assert truth("a LIKE '_'", {"a": "\n"}) is True
    assert truth("a LIKE 'a%b'", {"a": "a\nb"}) is True
    assert truth("a LIKE ''", {"a": ""}) is True
    assert truth("a LIKE 'abc'", {"a": "abc\n"}) is False


def test_like_has_no_escape_unless_escape_names_one(truth: Truths) -> None:
    assert truth(r"a LIKE '50\%'", {"a": "50\\x"}) is True
    assert truth(r"a LIKE '50\%'", {"a": "50%"}) is False
    assert truth(r"a LIKE '50\%' ESCAPE '\'", {"a": "50%"}) is True
    assert truth("a LIKE '50!%%' ESCAPE '!'", {"a": "50% off"}) is True


def test_prefix_suffix_and_contains_of_like(truth: Truths) -> None:
    for text in ("abc", "abcx", "xabc", "xabcx", "ab", "", "ABC", "abab", "abcabc", "ab\U0010ffff"):
        assert truth("a LIKE 'abc%'", {"a": text}) is text.startswith("abc")
        assert truth("a LIKE '%abc'", {"a": text}) is text.endswith("abc")
        assert truth("a LIKE '%abc%'", {"a": text}) is ("abc" in text)
        assert truth("a NOT LIKE '%abc%'", {"a": text}) is ("abc" not in text)
        assert truth("a LIKE 'ab%ab'", {"a": text}) is (len(text) > 3 and text[:2] == text[-2:] == "ab")
    assert truth("a LIKE '\U0010ffff%'", {"a": "\U0010ffff\U0010ffffx"}) is True


def test_ilike_folds_one_to_one(truth: Truths) -> None:
    assert truth("a ILIKE 'straße'", {"a": "STRAßE"}) is True
    assert truth("a ILIKE 'straße'", {"a": "strasse"}) is False
    assert truth("a ILIKE 'STRASSE'", {"a": "straße"}) is False
    assert truth("a ILIKE '%ς'", {"a": "ΣΑΣ"}) is True
    assert truth("a ILIKE 'k'", {"a": "\u212a"}) is True  # the Kelvin sign
    assert truth("a ILIKE '_'", {"a": "\u0130"}) is True  # full folding would make it two
    assert truth("a NOT ILIKE 'x%'", {"a": 5}) is UNKNOWN


def test_a_negated_pattern_asks_for_a_string(truth: Truths) -> None:
    for pattern in ("NOT LIKE '%b%'", "NOT MATCHES 'b'", "NOT LIKE 'b%'", "NOT LIKE '%b'", "NOT ILIKE '%B%'"):
        assert truth(f"a {pattern}", {"a": "c"}) is True
        assert truth(f"a {pattern}", {"a": "b"}) is False
        for value in (None, 5, True, DAY, ["c"]):
            assert truth(f"a {pattern}", {"a": value}) is UNKNOWN


def test_matches_is_an_unanchored_search(truth: Truths) -> None:
    for word in ("MATCHES", "RLIKE", "REGEXP", "~"):
        assert truth(f"a {word} 'b+c'", {"a": "abbcd"}) is True
    assert truth("a MATCHES '^b'", {"a": "ab"}) is False
    assert truth("a MATCHES ''", {"a": ""}) is True
    assert truth("a MATCHES '(?i)É'", {"a": "é"}) is True
    assert truth("a MATCHES '^.$'", {"a": "😀"}) is True


def test_many_regexes_of_one_attribute_answer_as_each_alone(options: Options) -> None:
    wheres = {f"p{n}": f"a MATCHES 'x{n}(y|z)+[0-9]{{2}}$'" for n in range(60)}
    wheres |= {f"n{n}": f"a NOT MATCHES '^x{n}'" for n in range(60)}
    together = profilec.compile(wheres, options=options)
    texts = ["x7y12", "x7", "ax59zz00", "x5yz99", "", "x1y1", "x11y11"]
    for text in texts:
        expected = [f"p{n}" for n in range(60) if re.search(rf"x{n}(y|z)+[0-9]{{2}}$", text)]
        expected += [f"n{n}" for n in range(60) if not text.startswith(f"x{n}")]
        assert together.match({"a": text}) == expected


# Arrays


def test_any_is_a_three_valued_or_and_all_an_and(truth: Truths) -> None:
    cases: list[tuple[Any, bool | None, bool | None]] = [
        ([], False, True),
        (["x"], True, True),
        (["y"], False, False),
        (["x", "y"], True, False),
        (["x", None], True, UNKNOWN),
        (["y", None], UNKNOWN, False),
        ([1], UNKNOWN, UNKNOWN),
        (["y", 1], UNKNOWN, False),
        ([["x"]], UNKNOWN, UNKNOWN),
        (None, UNKNOWN, UNKNOWN),
        ("x", UNKNOWN, UNKNOWN),
    ]
    for tags, some, every in cases:
        assert truth("ANY(tags) = 'x'", {"tags": tags}) is some, tags
        assert truth("ALL(tags) = 'x'", {"tags": tags}) is every, tags
    assert truth("ANY(tags) = 'x'", {}) is UNKNOWN
    assert truth("ALL(tags) = 'x'", {}) is UNKNOWN


def test_predicates_over_any_are_not_merged(truth: Truths) -> None:
    """One element may be large and another small: no element is between."""
    document = {"x": [2, 13]}
    assert truth("ANY(x) >= 3 AND ANY(x) <= 12", document) is True
    assert truth("ANY(x) BETWEEN 3 AND 12", document) is False
    assert truth("ANY(x) < 3 AND ANY(x) > 12", document) is True
    assert truth("ANY(x) = 2 AND ANY(x) = 13", document) is True
    assert truth("ANY(x) = 2 AND ANY(x) != 2", document) is True


def test_not_of_any_is_all_not(truth: Truths) -> None:
    assert truth("NOT ANY(tags) = 'x'", {"tags": ["x", "y"]}) is False
    assert truth("ANY(tags) != 'x'", {"tags": ["x", "y"]}) is True
    assert truth("NOT ANY(tags) = 'x'", {"tags": []}) is True
    assert truth("NOT ANY(tags) = 'x'", {"tags": ["y", None]}) is UNKNOWN
    assert truth("NOT ALL(tags) = 'x'", {"tags": ["y", None]}) is True
    assert truth("NOT tags CONTAINS 'x'", {"tags": ["y"]}) is True


def test_an_array_of_records_is_asked_element_by_element(truth: Truths) -> None:
    where = "ANY items AS i (i.sku = 'x' AND i.qty > 3)"
    assert truth(where, {"items": [{"sku": "x", "qty": 1}, {"sku": "y", "qty": 9}]}) is False
    assert truth(where, {"items": [{"sku": "x", "qty": 4}]}) is True
    assert truth(where, {"items": [{"sku": "x"}]}) is UNKNOWN
    assert truth(where, {"items": []}) is False
    assert truth(where, {}) is UNKNOWN
    every = "ALL items AS i (i.sku = 'x')"
    assert truth(every, {"items": []}) is True
    assert truth(every, {"items": [{"sku": "x"}, {}]}) is UNKNOWN
    assert truth(f"NOT {where}", {"items": [{"sku": "x", "qty": None}, {"sku": "x", "qty": 4}]}) is False
    assert truth("ANY items AS i (i.qty > least)", {"items": [{"qty": 2}], "least": 1}) is True


# Names


def test_a_dotted_name_is_first_a_key_and_then_a_path(truth: Truths) -> None:
    assert truth("a.b = 1", {"a": {"b": 1}}) is True
    assert truth("a.b = 1", {"a.b": 1}) is True
    assert truth("a.b = 1", {"a.b": 1, "a": {"b": 2}}) is True
    assert truth("a.b = 2", {"a.b": None, "a": {"b": 2}}) is True  # NULL is absent
    assert truth("a.b IS NULL", {"a": 5}) is True
    assert truth("a.b.c = 1", {"a": {"b": {"c": 1}}}) is True


def test_a_back_quoted_name_is_one_flat_key(truth: Truths) -> None:
    assert truth("`a.b` = 1", {"a": {"b": 1}}) is UNKNOWN
    assert truth("`a.b` = 1", {"a.b": 1}) is True
    assert truth("`a 1` = 1 AND `a 2` = 2", {"a 1": 1, "a 2": 2}) is True


def test_names_keep_their_case_and_keywords_do_not(truth: Truths) -> None:
    assert truth("Price = 1", {"price": 1}) is UNKNOWN
    assert truth("price iN (1) aNd nOt Price Is nOt nUlL", {"price": 1}) is True


# Dates and timestamps


def test_a_timestamp_without_a_zone_is_utc(truth: Truths) -> None:
    zoned = NOON.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
    assert truth("t = TIMESTAMP '2024-03-10 12:00:00'", {"t": NOON}) is True
    assert truth("t = TIMESTAMP '2024-03-10 12:00:00Z'", {"t": NOON}) is True
    assert truth("t = TIMESTAMP '2024-03-10 10:00:00'", {"t": zoned}) is True
    assert truth("t = TIMESTAMP '2024-03-10T12:00:00+02:00'", {"t": NOON.replace(hour=10)}) is True


def test_a_schema_reads_iso_strings_as_what_it_says(truth: Truths) -> None:
    schema = "t TIMESTAMP, day DATE, name STRING"
    assert truth("t = TIMESTAMP '2024-03-10 10:00:00'", {"t": "2024-03-10T12:00:00+02:00"}, schema=schema) is True
    assert truth("t = TIMESTAMP '2024-03-10 12:00:00'", {"t": "2024-03-10T12:00:00"}, schema=schema) is True
    assert truth("day < DATE '2024-03-11'", {"day": "2024-03-10"}, schema=schema) is True
    assert truth("day < DATE '2024-03-11'", {"day": "tomorrow"}, schema=schema) is UNKNOWN
    assert truth("name = '2024-03-10'", {"name": "2024-03-10"}, schema=schema) is True


# Quantified joins


def test_over_an_empty_range_exists_is_false_and_forall_is_true(truth: Truths) -> None:
    assert truth("EXISTS d (d.a = 1)", {}) is False
    assert truth("FORALL d (d.a = 1)", {}) is True
    assert truth("FORALL d (d.a = a)", {}) is True  # a is absent, and there is nothing to spoil it
    assert truth("EXISTS d (TRUE)", {}) is False
    assert truth("FORALL d (FALSE)", {}) is True
    earlier = [{"k": 1, "a": 5}]
    assert truth("FORALL d WHERE (d.k = 2) (d.a > 9)", {}, earlier) is True
    assert truth("EXISTS d WHERE (d.k = 2) (d.a = 5)", {}, earlier) is False
    assert truth("FORALL d WHERE (d.k = k) (d.a > 9)", {}, earlier) is True  # k is absent: nothing is in range


def test_a_quantifier_is_never_unknown(truth: Truths) -> None:
    earlier = [{"a": 1}, {}]
    assert truth("EXISTS d (d.a = 2)", {}, earlier) is False
    assert truth("EXISTS d (d.a = 1)", {}, earlier) is True
    assert truth("FORALL d (d.a = 1)", {}, earlier) is False  # an UNKNOWN spoils it
    assert truth("EXISTS d (d.a = b)", {}, earlier) is False
    assert truth("(EXISTS d (d.a = b)) IS UNKNOWN", {}, earlier) is False


def test_not_over_a_quantifier_does_not_go_into_its_body(truth: Truths) -> None:
    """NOT EXISTS d (p) holds where p is UNKNOWN of all; FORALL d (NOT p) does not."""
    earlier = [{}]
    assert truth("NOT EXISTS d (d.a = 1)", {}, earlier) is True
    assert truth("FORALL d (NOT d.a = 1)", {}, earlier) is False
    assert truth("NOT FORALL d (d.a = 1)", {}, earlier) is True
    assert truth("EXISTS d (NOT d.a = 1)", {}, earlier) is False
    assert truth("NOT (EXISTS d (d.a = 1) OR b = 2)", {"b": 1}, earlier) is True


def test_never_seen_before_is_not_exists(truth: Truths) -> None:
    never, differs = "NOT EXISTS d (d.isbn = isbn)", "FORALL d (d.isbn != isbn)"
    earlier = [{"isbn": "1"}, {"title": "no isbn"}]
    assert truth(never, {"isbn": "2"}, earlier) is True
    assert truth(differs, {"isbn": "2"}, earlier) is False
    assert truth(never, {"isbn": "1"}, earlier) is False
    assert truth(never, {}, earlier) is True
    assert truth(differs, {}, earlier) is False


def test_last_takes_the_stores_last_documents_only(truth: Truths) -> None:
    """Over 10, 3 the last one is below 5, though the store's largest is not."""
    where = "price = 5 AND FORALL d LAST 1 (d.price < price)"
    assert truth(where, {"price": 5}, [{"price": 10}, {"price": 3}]) is True
    assert truth(where, {"price": 5}, [{"price": 3}, {"price": 10}]) is False
    assert truth("price = 5 AND FORALL d (d.price < price)", {"price": 5}, [{"price": 10}, {"price": 3}]) is False
    assert truth(where, {"price": 5}, []) is True
    assert truth(where, {"price": 4}, []) is False
    assert truth("EXISTS d LAST 9 (d.price = 10)", {}, [{"price": 10}, {"price": 3}]) is True


def test_last_counts_before_where_selects(truth: Truths) -> None:
    earlier = [{"k": 1, "a": 1}, {"k": 2, "a": 2}]
    assert truth("EXISTS d WHERE (d.k = 1) LAST 1 (d.a = 1)", {}, earlier) is False
    assert truth("FORALL d WHERE (d.k = 1) LAST 1 (d.a = 7)", {}, earlier) is True


def test_within_keeps_what_lies_in_the_closed_interval_before(truth: Truths) -> None:
    def at(day: int, hour: int = 0) -> datetime.datetime:
        return datetime.datetime(2024, 3, day, hour)

    where = "EXISTS d WITHIN INTERVAL '7 days' OF sold_at (d.user = user)"
    new = {"user": "u", "sold_at": at(20)}
    assert truth(where, new, [{"user": "u", "sold_at": at(13)}]) is True
    assert truth(where, new, [{"user": "u", "sold_at": at(12, 23)}]) is False
    assert truth(where, new, [{"user": "u", "sold_at": at(20)}]) is True
    assert truth(where, new, [{"user": "u", "sold_at": at(20, 1)}]) is False  # later than the new one
    assert truth(where, new, [{"user": "u"}]) is False
    assert truth(where, {"user": "u"}, [{"user": "u", "sold_at": at(13)}]) is False
    every = "FORALL d WITHIN INTERVAL '7 days' OF sold_at (d.user = user)"
    assert truth(every, new, [{"user": "x", "sold_at": at(1)}, {"user": "x"}]) is True
    assert truth(every, {"user": "u"}, [{"user": "x", "sold_at": at(13)}]) is True


def test_an_equality_of_a_forall_body_selects_nothing(truth: Truths) -> None:
    """`d.k = k` in the body of a FORALL must hold of every document; in its WHERE it selects them."""
    earlier = [{"k": 1, "a": 1}, {"k": 2, "a": 1}]
    assert truth("FORALL d (d.k = k AND d.a < a)", {"k": 1, "a": 5}, earlier) is False
    assert truth("FORALL d WHERE (d.k = k) (d.a < a)", {"k": 1, "a": 5}, earlier) is True
    assert truth("EXISTS d (d.k = k AND d.a < a)", {"k": 2, "a": 5}, earlier) is True
    assert truth("EXISTS d (d.k = k AND d.a < a)", {"k": 3, "a": 5}, earlier) is False


def test_one_document_must_satisfy_all_of_an_exists_body(truth: Truths) -> None:
    earlier = [{"a": 1, "b": 2}, {"a": 2, "b": 1}]
    assert truth("EXISTS d (d.a = 1 AND d.b = 1)", {}, earlier) is False
    assert truth("EXISTS d (d.a = 1) AND EXISTS d (d.b = 1)", {}, earlier) is True
    assert truth("FORALL d (d.a = 1 OR d.b = 1)", {}, earlier) is True
    assert truth("FORALL d (d.a = 1) OR FORALL d (d.b = 1)", {}, earlier) is False


def test_quantifiers_under_or_and_not(truth: Truths) -> None:
    earlier = [{"a": 1}]
    assert truth("b = 1 OR EXISTS d (d.a = 1)", {}, earlier) is True
    assert truth("b = 1 OR EXISTS d (d.a = 2)", {}, earlier) is UNKNOWN
    assert truth("b = 1 OR NOT EXISTS d (d.a = 2)", {"b": 2}, earlier) is True
    assert truth("(b = 1 AND FORALL d (d.a = 1)) IS FALSE", {"b": 2}, earlier) is True


def test_any_inside_exists(truth: Truths) -> None:
    earlier = [{"tags": ["x", "y"]}, {"tags": []}, {}]
    assert truth("EXISTS d (ANY(d.tags) = tag)", {"tag": "y"}, earlier) is True
    assert truth("EXISTS d (ANY(d.tags) = tag)", {"tag": "z"}, earlier) is False
    assert truth("FORALL d (ALL(d.tags) != tag)", {"tag": "z"}, earlier) is False  # the third has no tags
    assert truth("FORALL d (ALL(d.tags) != tag)", {"tag": "z"}, earlier[:2]) is True


def test_a_document_joins_the_store_after_it_is_matched(options: Options) -> None:
    profiles = profilec.compile({"new": "NOT EXISTS d (d.a = a)", "seen": "EXISTS d (d.a = a)"}, options=options)
    assert [profiles.process({"a": a}) for a in (1, 1, 2)] == [["new"], ["seen"], ["new"]]
    assert len(profiles.documents) == 3
    profiles.documents.delete([0, 1])
    assert profiles.match({"a": 1}) == ["new"]


# Sets of profiles


def test_ids_come_back_in_the_order_of_insertion(options: Options) -> None:
    """Not by name, by index, nor by the number of their entries."""
    wheres = {
        "z": "a = 1 OR b = 1",
        "m": "a IS NOT NULL",
        "a": "a = 1",
        "k": "b IS NULL OR a = 1",
        "b": "TRUE",
        "y": "a = 1",
    }
    profiles = profilec.compile(wheres, options=options)
    assert profiles.ids == list(wheres)
    assert profiles.match({"a": 1, "b": 1}) == list(wheres)
    assert profiles.match_batch([{"a": 1, "b": 1}])[0] == list(wheres)


def test_equal_profiles_are_each_reported_once(options: Options) -> None:
    """A document that satisfies several entries of a profile gives its id once."""
    wheres = {"p": "a = 1 OR b = 1 OR a < 5", "q": "b = 1 OR a < 5 OR a = 1", "r": "a = 1 OR b = 1 OR a < 5"}
    assert profilec.compile(wheres, options=options).match({"a": 1, "b": 1}) == ["p", "q", "r"]


def test_what_is_true_of_an_empty_document_is_codes(options: Options) -> None:
    wheres = {
        "absent": "a IS NULL",
        "always": "TRUE",
        "never": "FALSE",
        "every": "FORALL d (d.a = 1)",
        "neither": "(a = 1) IS NOT TRUE AND NOT EXISTS d (TRUE)",
        "either": "a = 1 OR b IS NULL",
    }
    profiles = profilec.compile(wheres, options=options)
    assert profiles.match({}) == ["absent", "always", "every", "neither", "either"]
    assert profilec.compile({}, options=options).match({"a": 1}) == []


def test_conditions_of_one_shape_differ_in_their_literals_only(options: Options) -> None:
    """What a cache of shapes may not confuse: pattern forms, empty ranges, kinds, signs, quoted names."""
    wheres = {
        "prefix": "a LIKE 'x%'",
        "suffix": "a LIKE '%x'",
        "exact": "a LIKE 'x'",
        "empty": "n BETWEEN 5 AND 1",
        "range": "n BETWEEN 1 AND 5",
        "number": "n = 1",
        "string": "n = '1'",
        "minus": "n = -1",
        "difference": "n -1 = 0",
        "first": "`a 1` = 1",
        "second": "`a 2` = 1",
        "one": "n IN (1)",
        "two": "n IN (2, 1)",
        "null": "n IN (2, NULL)",
    }
    profiles = profilec.compile(wheres, options=options)
    assert profiles.match({"a": "xy"}) == ["prefix"]
    assert profiles.match({"a": "yx"}) == ["suffix"]
    assert profiles.match({"a": "x"}) == ["prefix", "suffix", "exact"]
    assert profiles.match({"n": 1}) == ["range", "number", "difference", "one", "two"]
    assert profiles.match({"n": "1"}) == ["string"]
    assert profiles.match({"n": -1}) == ["minus"]
    assert profiles.match({"a 1": 1}) == ["first"]
    assert profiles.match({"a 2": 1}) == ["second"]


def test_a_bad_date_in_a_known_shape_is_still_an_error() -> None:
    text = "PROFILE a WHERE t = DATE '2024-02-29'; PROFILE b WHERE t = DATE '2023-02-29';"
    assert codes(text) == ["PC207"]


def test_the_kelvin_sign_spells_no_keyword() -> None:
    assert codes("a LI\u212aE 'x'") == ["PC101"]


def test_a_reserved_word_is_no_attribute_where_its_keyword_cannot_stand() -> None:
    assert codes("OR = 1") == ["PC108"]
    assert codes("a = 1 AND LIKE = 1") == ["PC108"]


def test_a_faulty_profile_costs_no_other(options: Options) -> None:
    """One in fifty is broken, each in another way that swallows what follows if one lets it."""
    faults = ["a = 'open", "a = `open", "(a = 1", "a = 1 /* open", "a IN (1, ", "a = 1)", "a ==", 'a = "open']
    text, good = [], []
    for n in range(400):
        fault = faults[n // 50] if n % 50 == 25 else None
        text.append(f"PROFILE p{n} WHERE {fault or f'a = {n}'};")
        if fault is None:
            good.append(f"p{n}")
    profiles = profilec.compile("\n".join(text), on_error="skip", options=options)
    assert profiles.ids == good
    errors = {diagnostic.line for diagnostic in profiles.diagnostics if diagnostic.severity == "error"}
    assert errors == {n + 1 for n in range(400) if n % 50 == 25}
    assert profiles.match({"a": 26}) == ["p26"]
    with pytest.raises(profilec.ProfileError) as raised:
        profilec.compile("\n".join(text))
    assert len({diagnostic.line for diagnostic in raised.value.diagnostics}) == len(faults)


def test_neither_an_or_of_400_ands_nor_an_and_of_40_ors_explodes(options: Options) -> None:
    many_ands = " OR ".join(f"(a{n} = {n} AND b{n} = {n} AND c = {n})" for n in range(400))
    many_ors = " AND ".join("(" + " OR ".join(f"o{n} = {m}" for m in range(10)) + f" OR p{n} = 1)" for n in range(40))
    profiles = profilec.compile({"or": many_ands, "and": many_ors}, options=options)
    assert profiles.match({"a399": 399, "b399": 399, "c": 399}) == ["or"]
    assert profiles.match({"a399": 399, "b399": 399, "c": 398}) == []
    full = {f"o{n}": n % 10 for n in range(40)}
    assert profiles.match(full) == ["and"]
    assert profiles.match(full | {"o39": 10}) == []
    assert profiles.match(full | {"o39": 10, "p39": 1}) == ["and"]
