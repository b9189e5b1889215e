"""Traps that the design names for the compiler and the matchers: each as the smallest input that fell into it."""

from __future__ import annotations

import random
import re
import time

import pytest
from asking import refused, truth

import profilec

UNKNOWN = None


class TestRankSpace:
    def test_each_kind_has_its_own_gaps(self) -> None:
        assert truth("a < 1 OR a >= 1", {"a": 5}) is True
        assert truth("a < 1 OR a >= 1", {"a": "x"}) is UNKNOWN
        assert truth("a < 'm' OR a >= 'm'", {"a": 5}) is UNKNOWN
        assert truth("a = 1 OR a != 1", {"a": "x"}) is UNKNOWN

    def test_absence_is_a_value_to_derived_attributes(self) -> None:
        assert truth("COALESCE(price, 0) < 5", {}) is True
        assert truth("COALESCE(price, 0) < 5", {"price": 7}) is False
        assert truth("(price < 5) IS NOT TRUE", {}) is True
        assert truth("price / 0 IS NULL", {}) is True
        assert truth("(LOWER(a) = 'x') IS UNKNOWN", {"a": 5}) is True

    @pytest.mark.parametrize("value", [[], [1], {}, {"x": 1}])
    def test_an_array_or_record_satisfies_only_is_not_null(self, value: object) -> None:
        assert truth("a IS NOT NULL", {"a": value}) is True
        assert truth("a = 1 OR a != 1 OR a < 'x' OR a >= 'x' OR a LIKE '%' OR a", {"a": value}) is UNKNOWN

    def test_a_negated_pattern_is_a_string_that_does_not_match(self) -> None:
        for pattern in ("LIKE 'a%'", "LIKE '%a'", "LIKE '%a%'", "LIKE 'a_c'", "ILIKE '%a%'", "MATCHES 'a'"):
            negated = f"NOT {pattern}"
            assert truth(f"x {negated}", {"x": "zzz"}) is True, pattern
            for value in (5, True, None, ["zzz"]):
                assert truth(f"x {negated}", {"x": value}) is UNKNOWN, (pattern, value)

    def test_a_prefix_is_a_range_of_strings(self) -> None:
        last = "\U0010ffff"
        assert truth("x LIKE 'ab%'", {"x": "ab"}) is True
        assert truth("x LIKE 'ab%'", {"x": "ab" + last * 3}) is True
        assert truth("x LIKE 'ab%'", {"x": "ac"}) is False
        assert truth(f"x LIKE 'a{last}%'", {"x": f"a{last}b"}) is True
        assert truth(f"x LIKE 'a{last}%'", {"x": "b"}) is False
        assert truth(f"x LIKE '{last}%'", {"x": last * 2}) is True
        assert truth("x LIKE '\ud7ff%'", {"x": "\ue000"}) is False
        assert truth("x NOT LIKE 'ab%'", {"x": "aa"}) is True

    def test_a_suffix_is_one_too(self) -> None:
        assert truth("x LIKE '%abab'", {"x": "aabab"}) is True
        assert truth("x LIKE '%ab' AND x LIKE 'ab%'", {"x": "ab"}) is True
        assert truth("x LIKE 'ab%ab'", {"x": "ab"}) is False
        assert truth("x LIKE 'aba%aba'", {"x": "ababa"}) is False

    def test_any_is_never_merged_or_split(self) -> None:
        assert truth("ANY(x) >= 3 AND ANY(x) <= 12", {"x": [1, 20]}) is True
        assert truth("ANY(x) BETWEEN 3 AND 12", {"x": [1, 20]}) is False
        assert truth("ALL(x) < 3 OR ALL(x) > 12", {"x": [1, 20]}) is False
        assert truth("ALL(x) NOT BETWEEN 3 AND 12", {"x": [1, 20]}) is True

    def test_a_contradiction_is_false_only_where_there_is_a_value(self) -> None:
        # Folded to FALSE before its NOT is pushed down, this would hold for a missing attribute.
        assert truth("NOT (a < 1 AND a > 2)", {}) is UNKNOWN
        assert truth("NOT (a < 1 AND a > 2)", {"a": 5}) is True
        assert truth("(a < 1 AND a > 2) IS UNKNOWN", {}) is True
        assert truth("(a = 1 OR a != 1) IS NOT TRUE", {}) is True
        assert truth("NOT (a = 1 OR a != 1)", {}) is UNKNOWN
        assert truth("(a = 'x' AND a = 'y') IS FALSE", {"a": 5}) is False

    def test_negations_stop_at_records(self) -> None:
        items = [{"sku": "x"}, {"sku": "y"}]
        assert truth("NOT ANY items AS i (NOT i.sku = 'x')", {"items": items}) is False
        assert truth("NOT ALL items AS i (i.sku = 'x' OR i.qty > 1)", {"items": items}) is UNKNOWN
        assert truth("(ANY items AS i (i.qty > 1)) IS UNKNOWN", {"items": items}) is True


class TestPatterns:
    def test_many_patterns_are_decided_as_each_alone(self) -> None:
        draw = random.Random(7)
        pieces = ["ab", "ba", "abc", "xyz", "k1", "é", "日本", "a", "0"]
        likes = ["%".join(draw.choice(pieces) for _ in range(draw.randint(1, 3))) for _ in range(200)]
        likes = [draw.choice(("{}%", "%{}", "%{}%", "{}", "_{}%")).format(like) for like in likes]
        regexes = [draw.choice(("{}+", "^{}", "{}$", "[{}]{{2}}", "{}.*{}")) for _ in range(100)]
        regexes = [regex.replace("{}", draw.choice(pieces)) for regex in regexes]
        texts = ["".join(draw.choice(pieces) for _ in range(draw.randint(0, 6))) for _ in range(60)]
        wheres = {f"like {place} {like}": f"x LIKE '{like}'" for place, like in enumerate(likes)}
        wheres |= {f"regex {place} {regex}": f"x MATCHES '{regex}'" for place, regex in enumerate(regexes)}
        expected = [
            [f"like {p} {like}" for p, like in enumerate(likes) if re.fullmatch(_translated(like), text, re.DOTALL)]
            + [f"regex {p} {regex}" for p, regex in enumerate(regexes) if re.search(regex, text)]
            for text in texts
        ]
        for matcher in ("scan", "bitmap"):
            profiles = profilec.compile(wheres, options={"matcher": matcher})
            assert [list(ids) for ids in profiles.match_batch([{"x": text} for text in texts])] == expected
            assert [profiles.match({"x": text}) for text in texts[:10]] == expected[:10]

    def test_an_exhausted_set_of_regexes_is_not_no_match(self) -> None:
        # Each alone is small; together their automata outgrow any memory limit.
        regexes = {str(n): f"(?:[a-z]{{1,40}}{n}[a-z]{{1,40}}){{1,5}}z.*y{n}" for n in range(300)}
        profiles = profilec.compile({id_: f"x MATCHES '{regex}'" for id_, regex in regexes.items()})
        text = "abc7defz abc123defz abc299defz " + "q" * 300 + " y7 y123 y299"
        assert [id_ for id_, regex in regexes.items() if re.search(regex, text)] == ["7", "123", "299"]
        assert profiles.match({"x": text}) == ["7", "123", "299"]

    def test_a_pattern_per_document(self) -> None:
        profiles = profilec.compile({"p": "a LIKE b", "q": "a NOT LIKE b ESCAPE '!'"})
        assert [
            list(ids) for ids in profiles.match_batch([{"a": "x", "b": b} for b in ("x", "_", "y", "!", 5, None)])
        ] == [
            ["p"],
            ["p"],
            ["q"],
            [],
            [],
            [],
        ]


def _translated(like: str) -> str:
    return "".join(".*" if c == "%" else "." if c == "_" else re.escape(c) for c in like)


class TestTheParser:
    @pytest.mark.parametrize("where", ["OR = 1", "AND = 1", "IN = 1", "LIKE = 1", "a = OR", "NOT = 0"])
    def test_a_keyword_is_no_attribute_where_it_cannot_stand(self, where: str) -> None:
        assert refused(where) != ()

    def test_the_kelvin_sign_is_no_k(self) -> None:
        assert refused("a LI\u212aE 'x'") != ()
        assert truth("\u212a = 1", {"\u212a": 1}) is True
        assert truth("\u212a = 1", {"k": 1}) is UNKNOWN

    def test_texts_of_one_shape_keep_what_tells_them_apart(self) -> None:
        """Profiles alike up to their literals share one parse; what depends on the literals must not be shared."""
        wheres = {
            "prefix": "a LIKE 'x%'",
            "suffix": "a LIKE '%x'",
            "neither": "a LIKE 'x'",
            "range": "n BETWEEN 1 AND 5",
            "empty": "n BETWEEN 5 AND 1",
            "two": "n IN (1, 2)",
            "three": "n IN (1, 2, 3)",
            "kinds": "n IN (1, '2')",
            "null": "n IN (1, NULL)",
            "first": "`a 1` = 1",
            "second": "`a 2` = 1",
            "minus": "n = -1",
            "comment": "n = 1 -- 2",
            "string": "a = '--'",
            "number": "a = 1",
        }
        profiles = profilec.compile(wheres)
        for id_, where in wheres.items():
            alone = profilec.compile({id_: where})
            for document in (
                {"a": "x1", "n": 1},
                {"a": "1x", "n": -1},
                {"a": "x", "n": 3},
                {"a 1": 1},
                {"a 2": 1},
                {"a": "--"},
            ):
                assert (id_ in profiles.match(document)) == bool(alone.match(document)), (id_, document)

    def test_a_bad_literal_of_a_good_shape_is_refused(self) -> None:
        with pytest.raises(profilec.ProfileError) as caught:
            profilec.compile(
                {"good": "d = DATE '2024-02-29'", "bad": "d = DATE '2023-02-29'", "fine": "d = DATE '2024-03-01'"}
            )
        assert [(found.code, found.profile) for found in caught.value.diagnostics] == [("PC207", "bad")]

    @pytest.mark.parametrize(
        "fault",
        [
            "PROFILE bad WHERE a = 'unclosed",
            'PROFILE bad WHERE a = "unclosed',
            "PROFILE bad WHERE `a = 1",
            "PROFILE bad WHERE (a = 1",
            "PROFILE bad WHERE a = 1 /* never closed",
            "PROFILE bad WHERE a = = 1;",
            "PROFILE bad WHERE a = 1",
            "PROFILE bad a = 1;",
            "SCHEMA (a NUMBER",
            'PROFILE bad WHERE a = 1 ACCEPTS {"a": ;',
            'PROFILE bad WHERE a = 1 ACCEPTS {"a": "unclosed};',
            "what is this;",
            ");",
        ],
    )
    def test_a_fault_loses_no_good_profile(self, fault: str) -> None:
        text = (
            f"PROFILE one WHERE a = 1;\n\n{fault}\n\nPROFILE two WHERE a = 'it''s; fine';\nPROFILE three WHERE a = 3;\n"
        )
        profiles = profilec.compile(text, on_error="skip")
        assert profiles.ids == ["one", "two", "three"]
        errors = [found for found in profiles.diagnostics if found.severity == "error"]
        assert errors
        assert min(found.line or 0 for found in errors) == 3

    def test_every_error_of_a_file_is_reported(self) -> None:
        text = "PROFILE a WHERE x = ;\nPROFILE b WHERE x IN ();\nPROFILE c WHERE y = 1;\nPROFILE c WHERE FOO(x) = 1;\n"
        with pytest.raises(profilec.ProfileError) as caught:
            profilec.compile(text)
        assert [found.line for found in caught.value.diagnostics if found.severity == "error"] >= [1, 2, 4]


class TestSize:
    def test_an_or_of_conjunctions_and_an_and_of_ors_compile_at_once(self) -> None:
        wide = " OR ".join(f"(a{n} = {n} AND b{n} = {n})" for n in range(400))
        deep = " AND ".join("(" + " OR ".join(f"x{n} = {m}" for m in range(10)) + ")" for n in range(40))
        started = time.process_time()
        profiles = profilec.compile({"wide": wide, "deep": deep})
        assert time.process_time() - started < 10
        assert profiles.match({"a399": 399, "b399": 399}) == ["wide"]
        assert profiles.match({f"x{n}": n % 10 for n in range(40)}) == ["deep"]
        assert profiles.match({f"x{n}": n % 10 for n in range(39)}) == []

    def test_a_hundred_thousand_terms(self) -> None:
        profiles = profilec.compile({"p": " OR ".join(f"(a = {n} AND b = {n % 7})" for n in range(50_000))})
        assert profiles.match({"a": 49_999, "b": 49_999 % 7}) == ["p"]
        assert profiles.match({"a": 49_999, "b": 9}) == []

    def test_ten_thousand_parentheses_are_an_error_not_a_crash(self) -> None:
        assert refused("(" * 10_000 + "a = 1" + ")" * 10_000) == ("PC301",)
        assert refused("NOT " * 10_000 + "a = 1") == ("PC301",)
        assert refused("-" + "-(" * 0 + "(" * 300 + "1" + ")" * 300 + " = a") == ("PC301",)

    def test_limits_are_options(self) -> None:
        nested = "(" * 300 + "a = 1" + ")" * 300
        assert profilec.compile({"p": nested}, options={"max_depth": 400}).match({"a": 1}) == ["p"]
        with pytest.raises(profilec.ProfileError) as caught:
            profilec.compile({"p": "a IN (1, 2, 3) OR b = 1"}, options={"max_terms": 3})
        assert [found.code for found in caught.value.diagnostics] == ["PC302"]
        with pytest.raises(profilec.ProfileError) as caught:
            profilec.compile({"p": "a = 'long enough'"}, options={"max_size": 10})
        assert [found.code for found in caught.value.diagnostics] == ["PC303"]


class TestEntries:
    def test_what_has_no_access_predicate_is_asked_of_every_document(self) -> None:
        wheres = {
            "true": "TRUE",
            "absent": "a IS NULL",
            "default": "COALESCE(a, 0) < 5",
            "or": "b = 1 OR a IS NULL",
            "not true": "(a > 5) IS NOT TRUE",
            "forall": "FORALL d (d.x > 3)",
            "unseen": "NOT EXISTS d (d.x = x)",
            "selective": "b = 1",
        }
        for matcher in ("scan", "bitmap"):
            profiles = profilec.compile(wheres, options={"matcher": matcher})
            assert profiles.match({}) == [id_ for id_ in wheres if id_ != "selective"]
            assert [list(ids) for ids in profiles.match_batch([{"a": 9}, {"b": 1}])] == [
                ["true", "forall", "unseen"],
                list(wheres),
            ]

    def test_equal_profiles_are_all_named(self) -> None:
        profiles = profilec.compile(
            {"a": "x = 1 AND y = 2", "b": "y = 2 AND 1 = x", "c": "x = 1 AND y = 2", "d": "x = 2"}
        )
        assert profiles.match({"x": 1, "y": 2}) == ["a", "b", "c"]

    def test_a_profile_of_several_entries_is_named_once(self) -> None:
        profiles = profilec.compile({"p": "a = 1 OR b = 2 OR (c = 3 AND (d = 4 OR e = 5))"})
        assert profiles.match({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}) == ["p"]


class TestJoins:
    def test_a_term_whose_new_attribute_is_absent_is_still_decided(self) -> None:
        assert truth("FORALL d (d.price > price)", {}) is True
        assert truth("FORALL d (d.price > price)", {}, {"price": 1}) is False
        assert truth("NOT EXISTS d (d.price > price)", {}, {"price": 1}) is True
        assert truth("FORALL d WHERE (d.user = user) (d.price > price)", {}, {"user": "ann"}) is True

    def test_a_negated_join_can_save_a_profile_that_the_constants_leave_open(self) -> None:
        where = "(a = 1 OR NOT EXISTS d (d.x = x)) AND (b = 2 OR NOT FORALL d (d.x = x))"
        assert truth(where, {"x": 1}, {"x": 2}) is True
        assert truth(where, {"x": 2}, {"x": 2}) is UNKNOWN
        assert truth(where, {"a": 0, "x": 2}, {"x": 2}) is False
        assert truth(where, {"a": 1, "b": 2, "x": 2}, {"x": 2}) is True

    def test_the_existence_constraint_of_forall(self) -> None:
        # No document has the attribute: EXISTS fails, FORALL fails too, but not over an empty store.
        assert truth("FORALL d (d.y > 0)", {}, {"x": 1}) is False
        assert truth("FORALL d (d.y > 0)", {}) is True
        assert truth("FORALL d (d.y > 0 OR d.x = 1)", {}, {"x": 1}) is True
        assert truth("FORALL d (d.y IS NULL)", {}, {"x": 1}) is True

    def test_constant_and_join_predicates_together(self) -> None:
        # Seed 000, 4.3.2, examples 6 and 7: what the new document's constants say of the earlier one.
        for price, stored, expected in [(10, 10, True), (10, 9, False), (9, 9, False)]:
            assert truth("price = 10 AND EXISTS d (d.price = price)", {"price": price}, {"price": stored}) is expected
        assert truth("price < 10 AND EXISTS d (d.price = price)", {"price": 9}, {"price": 9}) is True

    def test_documents_that_go_count_no_more(self) -> None:
        profiles = profilec.compile({"low": "FORALL d (d.x > x)", "seen": "EXISTS d (d.x = x)"})
        profiles.documents.extend([{"x": 5}, {"x": 1}])
        assert profiles.match({"x": 1}) == ["seen"]
        profiles.documents.delete([1])
        assert profiles.match({"x": 1}) == ["low"]
        profiles.documents.add({"x": 1})
        assert profiles.match({"x": 1}) == ["seen"]
