"""Programs: every instruction, under three-valued logic."""

import datetime

import pytest

from profilec.runtime.program import JoinTerm, Step, attributes_read, run, run_traced
from profilec.values.kinds import Date, DocumentError, Interval
from profilec.values.patterns import parse_like
from profilec.values.types import Type

DOCUMENT = {"a": 1, "b": 2.5, "s": "Ab", "t": [1, None, 3], "r": [{"x": 1}, {"x": "y"}, 7, None], "day": "2024-05-06"}
T, F, U = ("literal", True), ("literal", False), ("literal", None)


def at(name, scope=0, type_=None):
    return ("attribute", scope, tuple(name.split(".")) if name else (), type_)


def const(value):
    return ("constant", value)


@pytest.mark.parametrize(
    ("program", "result"),
    [
        ((at("a"),), 1),
        ((at("missing"),), None),
        ((at("day", type_=Type("DATE")),), Date(19849)),
        ((const("x"),), "x"),
        ((at("a"), at("b"), ("call", "+", 2)), 3.5),
        ((const(None), at("a"), ("call", "COALESCE", 2)), 1),
        ((at("a"), ("cast", "STRING")), "1"),
        ((at("a"), at("b"), ("compare", "<")), True),
        ((at("a"), at("s"), ("compare", "!=")), None),
        ((at("b"), at("a"), ("order",)), 1),
        ((at("b"), at("s"), ("order",)), None),
        ((at("a"), const(1), const(None), ("in", 2)), True),
        ((at("a"), const(2), const(None), ("in", 2)), None),
        ((at("a"), const(2), const("a"), ("in", 2)), None),
        ((at("a"), const(2), const(3), ("in", 2)), False),
        ((at("s"), const("A%"), ("like", None, False)), True),
        ((at("s"), const("a%"), ("like", None, False)), False),
        ((at("s"), const("aB"), ("like", None, True)), True),
        ((at("s"), const("a!b"), ("like", "!", False)), None),
        ((at("a"), const("1"), ("like", None, False)), None),
        ((at("s"), const(None), ("like", None, False)), None),
        ((at("s"), ("like_constant", parse_like("_b"), False)), True),
        ((at("s"), ("like_constant", parse_like("a%"), True)), True),
        ((at("a"), ("like_constant", parse_like("%"), False)), None),
        ((at("s"), ("matches", "^A")), True),
        ((at("s"), ("matches", "^b")), False),
        ((at("missing"), ("matches", "")), None),
        ((at("missing"), ("is_null",)), True),
        ((at("t"), ("is_null",)), False),
        ((U, ("is_truth", None)), True),
        ((U, ("is_truth", False)), False),
        ((U, ("not",)), None),
        ((T, ("not",)), False),
        ((T, U, F, ("and", 3)), False),
        ((T, U, ("and", 2)), None),
        ((F, U, T, ("or", 3)), True),
        ((F, U, ("or", 2)), None),
        ((at("t"), ("some", (at("", 2), const(3), ("compare", "=")))), True),
        ((at("t"), ("some", (at("", 2), const(4), ("compare", "=")))), None),
        ((at("t"), ("every", (at("", 2), const(0), ("compare", ">")))), None),
        ((at("t"), ("every", (at("", 2), const(1), ("compare", ">")))), False),
        ((const([]), ("some", (T,))), False),
        ((const([]), ("every", (F,))), True),
        ((at("a"), ("some", (T,))), None),
        ((at("missing"), ("every", (T,))), None),
        ((at("r"), ("some", (at("x", 2), at("a"), ("compare", "=")))), True),
        ((at("r"), ("every", (at("x", 2), ("is_null",), ("not",)))), False),
        ((at("r.x"), ("some", (at("", 2), const("y"), ("compare", "=")))), True),
        ((const([[1], [2]]), ("some", (at("", 2), ("some", (at("", 3), const(2), ("compare", "=")))))), True),
    ],
)
def test_result(program, result):
    answer = run(program, DOCUMENT)
    assert answer == result
    assert type(answer) is type(result)


def test_elements_are_read_as_their_schema_says():
    days = (at("days"), ("some", (at("", 2, Type("DATE")), const(Date(1)), ("compare", "="))))
    assert run(days, {"days": ["1970-01-02"]}) is True
    assert run(days, {"days": [datetime.date(1970, 1, 2)]}) is True


def test_joins_see_the_store_and_the_old_document():
    older = JoinTerm("exists", (at("a"), at("a", 1), ("compare", ">")))
    assert run((("exists", older),), DOCUMENT, store=[{"a": 5}, {"a": 0}]) is True
    assert run((("exists", older),), DOCUMENT) is False


def test_a_value_of_no_kind_is_an_error_that_names_the_attribute():
    with pytest.raises(DocumentError, match="attribute 'x'"):
        run((at("x"),), {"x": b"bytes"})
    with pytest.raises(DocumentError, match="bytes"):
        run((at("x"), ("some", (T,))), {"x": [b"bytes"]})


def test_trace_has_a_step_for_each_predicate_and_connective():
    program = (at("a"), const(1), ("compare", "="), at("missing"), ("is_null",), ("not",), ("and", 2))
    spans = (None, None, (0, 5), None, (10, 17), (6, 17), (0, 17))
    truth, steps = run_traced(program, spans, DOCUMENT)
    assert truth is False
    assert steps == [
        Step(0, 5, (1, 1), True),
        Step(10, 17, (None,), True),
        Step(6, 17, (True,), False),
        Step(0, 17, (True, False), False),
    ]


def test_trace_of_scalars_and_spanless_parts_is_left_out():
    program = (at("a"), at("b"), const(9), ("in", 2), at("t"), ("every", (T,)), ("or", 2))
    truth, steps = run_traced(program, ((0, 1), (2, 3), (4, 5), (0, 5), (6, 7), (6, 9), None), DOCUMENT)
    assert truth is True
    assert steps == [Step(0, 5, (1, 2.5, 9), False), Step(6, 9, ([1, None, 3],), True)]


def test_attributes_read_are_those_of_the_new_document():
    body = (at("a.b"), at("c", 1), ("compare", "="), at("t"), ("some", (at("x", 2), at("d"), ("compare", "="))))
    term = JoinTerm("exists", body, (at("e"), ("is_null",)), Interval(0, 1, 0), ("f", "g"))
    found = attributes_read((at("z"), ("exists", term)))
    assert set(found) == {("z",), ("f", "g"), ("e",), ("a", "b"), ("t",), ("d",)}
