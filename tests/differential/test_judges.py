"""The judges are judged: a bug planted in either is caught by what it is compared with.

Each mutant of the interpreter overrides one method with a mistake that people make; over a fixed
sample of worlds it must disagree with `planner.reference`, and the judge itself must not. Each
mutant of the SQL printer must disagree with the interpreter.
"""

from __future__ import annotations

import datetime
import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import judge
import pytest
from engines import Case, DisagreementError, check, schema_text
from generator import make_world
from history import spans
from join_worlds import make_join_world
from judge import Answer, Judge, Scope, Types, Value
from pools import TYPES
from printing import profile_text
from sql_judge import SqlJudge, SqlPrinter
from structures import (
    Alike,
    Bare,
    Change,
    Column,
    Comparison,
    Condition,
    Conjunction,
    Document,
    Elements,
    Is,
    Negation,
    Null,
    OneOf,
    Quantified,
    Shift,
    World,
    walk,
)

import profilec
from profilec.grammar.parse import parse_condition
from profilec.planner.reference import evaluate
from profilec.runtime.store.documents import DocumentStore

FOCUSES = (None, "calls", None, "text", "calls")
N_WORLDS = 320
N_JOIN_WORLDS = 50
SMALL_STORES = (0, 1, 2, 3, 5, 8)
SQL = SqlJudge()
Truths = list[list[Answer]]


@cache
def sample() -> tuple[World, ...]:
    focuses = [FOCUSES[number % len(FOCUSES)] for number in range(N_WORLDS)]
    joins = [make_join_world(random.Random(number).randint, SMALL_STORES) for number in range(N_JOIN_WORLDS)]
    return (*(make_world(random.Random(number).randint, focus) for number, focus in enumerate(focuses)), *joins)


def judged(world: World, judge_type: type[Judge] = Judge) -> Truths:
    return judge.judged(world, TYPES if world.schema else None, judge_type)


@cache
def referred(place: int) -> Truths:
    """What the reference says of a world of the sample."""
    world = sample()[place]
    schema = profilec.compile("", schema=schema_text(TYPES)).schema if world.schema else None
    nodes = [parse_condition(profile_text(condition, world.style)).node for condition in world.conditions]
    return [
        [evaluate(node, document, span.store, schema) for node in nodes]
        for span in spans(world)
        for document in span.documents
    ]


def from_sql(world: World, printer: type[SqlPrinter] = SqlPrinter) -> Truths:
    return SQL.judged(world, printer)


# Logic.


class NotUnknownIsTrue(Judge):
    def negate(self, truth: Answer) -> Answer:
        return not truth


class AndForgetsUnknown(Judge):
    def all(self, truths: list[Answer]) -> Answer:
        return all(truth is not False for truth in truths)


class AndIsUnknownBeforeFalse(Judge):
    def all(self, truths: list[Answer]) -> Answer:
        return None if None in truths else all(truths)


class OrForgetsUnknown(Judge):
    def any(self, truths: list[Answer]) -> Answer:
        return any(truths)


class OrIsUnknownBeforeTrue(Judge):
    def any(self, truths: list[Answer]) -> Answer:
        return None if None in truths else any(truths)


class IsTrueOfUnknownIsUnknown(Judge):
    def decide(self, node: Condition, scope: Scope) -> Answer:
        if isinstance(node, Is) and node.truth is not None and self.decide(node.operand, scope) is None:
            return None
        return super().decide(node, scope)


class IsUnknownIsNotTrue(Judge):
    def decide(self, node: Condition, scope: Scope) -> Answer:
        if isinstance(node, Is) and node.truth is None:
            return (self.decide(node.operand, scope) is not True) is not node.negated
        return super().decide(node, scope)


class BareAttributeIsAnythingNotEmpty(Judge):
    def decide(self, node: Condition, scope: Scope) -> Answer:
        if isinstance(node, Bare):
            value = self.value(node.column, scope)
            return None if value is None else bool(value)
        return super().decide(node, scope)


# NULL and kinds.


class NullEqualsNull(Judge):
    def compare(self, operator: str, left: Value, right: Value) -> Answer:
        if left is None and right is None:
            return operator in ("=", "<=", ">=")
        return super().compare(operator, left, right)


class OtherKindsDiffer(Judge):
    def compare(self, operator: str, left: Value, right: Value) -> Answer:
        if operator == "!=" and None not in (self.kind(left), self.kind(right)) and self.kind(left) != self.kind(right):
            return True
        return super().compare(operator, left, right)


class TrueIsOne(Judge):
    def kind(self, value: Value) -> str | None:
        return "number" if isinstance(value, bool) else super().kind(value)


class DateIsItsMidnight(Judge):
    def compare(self, operator: str, left: Value, right: Value) -> Answer:
        if isinstance(left, datetime.date) and isinstance(right, datetime.date):
            left, right = self.cast(left, "TIMESTAMP"), self.cast(right, "TIMESTAMP")
        return super().compare(operator, left, right)


class NumbersReadAsTextCompare(Judge):
    def compare(self, operator: str, left: Value, right: Value) -> Answer:
        if self.is_number(left) and isinstance(right, str):
            right = self.to_number(right)
        return super().compare(operator, left, right)


class InForgetsNull(Judge):
    def one_of(self, value: Value, options: list[Value]) -> Answer:
        return super().one_of(value, [option for option in options if option is not None] or options)


class InForgetsOtherKinds(Judge):
    def one_of(self, value: Value, options: list[Value]) -> Answer:
        same = [option for option in options if self.kind(option) == self.kind(value)]
        return super().one_of(value, same or options)


class NanIsAValue(Judge):
    def plain(self, value: Any) -> Value:
        return math.inf if isinstance(value, float) and math.isnan(value) else super().plain(value)


class ArrayIsNull(Judge):
    def decide(self, node: Condition, scope: Scope) -> Answer:
        if isinstance(node, Null) and isinstance(self.value(node.operand, scope), list | Mapping):
            return not node.negated
        return super().decide(node, scope)


# Numbers.


class NumbersAreDoubles(Judge):
    def stands_for(self, number: Fraction | float) -> Fraction | float:
        return self.double(number)


class DoublesAreTheirBits(Judge):
    def stands_for(self, number: Fraction | float) -> Fraction | float:
        return Fraction(number) if isinstance(number, float) and math.isfinite(number) else number


class BigDoublesAreTheirText(Judge):
    def stands_for(self, number: Fraction | float) -> Fraction | float:
        return Fraction(repr(number)) if isinstance(number, float) and math.isfinite(number) else number


class DoubleArithmeticIsExact(Judge):
    def arithmetic(self, operator: str, left: Value, right: Value) -> Value:
        if operator in "+-*" and self.is_number(left) and self.is_number(right):
            left, right = self.stands_for(left), self.stands_for(right)
        return super().arithmetic(operator, left, right)


class DivisionCuts(Judge):
    def arithmetic(self, operator: str, left: Value, right: Value) -> Value:
        result = super().arithmetic(operator, left, right)
        whole = all(isinstance(side, Fraction) and side.denominator == 1 for side in (left, right))
        return Fraction(math.trunc(result)) if operator == "/" and whole and result is not None else result


class RemainderHasTheDivisorsSign(Judge):
    def arithmetic(self, operator: str, left: Value, right: Value) -> Value:
        if operator == "%" and isinstance(left, Fraction) and isinstance(right, Fraction) and right:
            return left % right
        return super().arithmetic(operator, left, right)


class DivisionByZeroIsZero(Judge):
    def arithmetic(self, operator: str, left: Value, right: Value) -> Value:
        if operator in "/%" and self.is_number(left) and right == 0 and not isinstance(right, bool):
            return Fraction(0)
        return super().arithmetic(operator, left, right)


class RoundsToEven(Judge):
    def round(self, number: Fraction | float, digits: Value = Fraction(0)) -> Value:
        exact = self.stands_for(number)
        if isinstance(exact, float) or not self.is_number(digits):
            return super().round(number, digits)
        rounded = Fraction(round(exact, int(digits)))
        return float(rounded) if isinstance(number, float) else rounded


# Strings.


class UnderscoreIsOptional(Judge):
    def like_regex(self, pattern: str, escape: str | None, ignore_case: bool) -> str | None:
        translated = super().like_regex(pattern, escape, ignore_case)
        return translated and re.sub(r"(?<!\\)\.(?!\*)", ".?", translated)


class LikeStopsAtNewline(Judge):
    def like_regex(self, pattern: str, escape: str | None, ignore_case: bool) -> str | None:
        translated = super().like_regex(pattern, escape, ignore_case)
        return translated and f"(?-s:{translated})"


class LikeIsASearch(Judge):
    def like_regex(self, pattern: str, escape: str | None, ignore_case: bool) -> str | None:
        translated = super().like_regex(pattern, escape, ignore_case)
        return None if translated is None else f".*{translated}.*"


class LikeIgnoresCase(Judge):
    def alike(self, text: Value, pattern: Value, escape: str | None, ignore_case: bool) -> Answer:
        return super().alike(text, pattern, escape, True)


class LikeHasABackslash(Judge):
    def alike(self, text: Value, pattern: Value, escape: str | None, ignore_case: bool) -> Answer:
        return super().alike(text, pattern, escape or "\\", ignore_case)


class EscapeIsForgotten(Judge):
    def decide(self, node: Condition, scope: Scope) -> Answer:
        if isinstance(node, Alike) and node.escape is not None:
            node = Alike(node.operand, node.pattern, None, node.ignore_case, node.negated)
        return super().decide(node, scope)


class SharpSIsDoubleS(Judge):
    def fold(self, text: str) -> str:
        return text.casefold()


class CaseIsAscii(Judge):
    def fold(self, text: str) -> str:
        return "".join(c.lower() if c.isascii() else c for c in text)


class CaseIsLower(Judge):
    def fold(self, text: str) -> str:
        return "".join(map(self.lower, text))


class LowerMayGrow(Judge):
    def lower(self, character: str) -> str:
        return character.lower()


class RegexMatchesTheWhole(Judge):
    def matches(self, text: Value, pattern: str) -> Answer:
        return super().matches(text, f"^(?:{pattern.removeprefix('(?i)')})$")


class DollarAllowsANewline(Judge):
    def matches(self, text: Value, pattern: str) -> Answer:
        return None if not isinstance(text, str) else re.search(pattern, text, re.ASCII) is not None


class SubstrCountsFromTheEnd(Judge):
    def substring(self, text: str, start: Value, length: Value = Fraction(10**9)) -> Value:
        if self.is_number(start) and start < 0:
            start = Fraction(max(len(text) + int(start) + 1, 1))
        return super().substring(text, start, length)


class SubstrStartsAtOne(Judge):
    def substring(self, text: str, start: Value, length: Value = Fraction(10**9)) -> Value:
        return super().substring(text, max(start, Fraction(1)) if self.is_number(start) else start, length)


class TextIsComparedInUtf16(Judge):
    def compare(self, operator: str, left: Value, right: Value) -> Answer:
        if isinstance(left, str) and isinstance(right, str):
            left, right = (side.encode("utf-16-be").decode("latin-1") for side in (left, right))
        return super().compare(operator, left, right)


class TrailingSpacesAreNothing(Judge):
    def compare(self, operator: str, left: Value, right: Value) -> Answer:
        if isinstance(left, str) and isinstance(right, str):
            left, right = left.rstrip(" "), right.rstrip(" ")
        return super().compare(operator, left, right)


class CoalesceLooksAtTwoOnly(Judge):
    def call(self, name: str, arguments: list[Value]) -> Value:
        return arguments[0] if name == "COALESCE" else super().call(name, arguments)


# Dates.


class BetweenIsHalfOpen(Judge):
    def between(self, value: Value, low: Value, high: Value) -> Answer:
        return self.all([self.compare(">=", value, low), self.compare("<", value, high)])


class MonthRollsOver(Judge):
    def shift(self, moment: Value, months: int, days: int, seconds: int) -> Value:
        if isinstance(moment, datetime.date) and months:
            first = super().shift(moment.replace(day=1), months, 0, 0)
            return super().shift(first, 0, moment.day - 1 + days, seconds)
        return super().shift(moment, months, days, seconds)


class DaysBeforeMonths(Judge):
    def value(self, node: Any, scope: Scope) -> Value:
        if isinstance(node, Shift):
            sign = 1 if node.operator == "+" else -1
            moved = self.shift(self.value(node.operand, scope), 0, sign * node.days, 0)
            return self.shift(moved, sign * node.months, 0, sign * node.seconds)
        return super().value(node, scope)


class SchemaReadsNoDates(Judge):
    def read(self, value: Any, type_: Any) -> Value:
        return value


class DatesAreReadEverywhere(Judge):
    def plain(self, value: Any) -> Value:
        moment = self.to_moment(value, "DATE") if isinstance(value, str) else None
        return super().plain(value) if moment is None else moment


# Names, arrays, quantifiers.


class PathBeforeFlatKey(Judge):
    def find(self, record: Any, parts: tuple[str, ...]) -> Value:
        found = self.follow(record, parts)
        return super().find(record, parts) if found is None else found


class FlatNullHidesThePath(Judge):
    def find(self, record: Any, parts: tuple[str, ...]) -> Value:
        if isinstance(record, Mapping) and ".".join(parts) in record:
            return self.plain(record[".".join(parts)])
        return super().find(record, parts)


class QuotedNameIsAPath(Judge):
    def value(self, node: Any, scope: Scope) -> Value:
        if isinstance(node, Column) and node.quoted:
            node = Column(tuple(node.parts[0].split(".")), node.variable)
        return super().value(node, scope)


class PathStopsAtAnArray(Judge):
    def follow(self, value: Any, parts: tuple[str, ...]) -> Value:
        found = super().follow(value, parts)
        return None if isinstance(found, list) and len(parts) > 1 else found


class NoArrayIsEmpty(Judge):
    def no_array(self, quantifier: str) -> Answer:
        return quantifier == "ALL"


class EmptyArrayIsUnknown(Judge):
    def decide_over_many(self, node: Condition, scope: Scope) -> Answer:
        if isinstance(node, Elements) and self.value(node.array, scope) == []:
            return None
        return super().decide_over_many(node, scope)


class AnyNotInIsNotAnyIn(Judge):
    def decide_over_many(self, node: Condition, scope: Scope) -> Answer:
        if isinstance(node, Elements) and isinstance(node.body, OneOf) and node.body.negated:
            positive = Elements(node.quantifier, node.array, OneOf(node.body.operand, node.body.options, False))
            return self.negate(self.decide(positive, scope))
        return super().decide_over_many(node, scope)


class ForAllForgivesUnknown(Judge):
    def for_all(self, truths: list[Answer]) -> Answer:
        return False not in truths


class ForAllIsThreeValued(Judge):
    def for_all(self, truths: list[Answer]) -> Answer:
        return self.all(truths)


class ExistsIsThreeValued(Judge):
    def exists(self, truths: list[Answer]) -> Answer:
        return self.any(truths)


class ForAllOfNothingIsFalse(Judge):
    def for_all(self, truths: list[Answer]) -> Answer:
        return bool(truths) and super().for_all(truths)


class LastTakesTheFirst(Judge):
    def last(self, records: list[Document], count: int) -> list[Document]:
        return records[:count]


class WhereComesBeforeLast(Judge):
    def range_of(self, node: Quantified, scope: Scope) -> list[Document]:
        all_of_them = Quantified(node.quantifier, node.variable, node.body, node.where, node.within, None)
        records = super().range_of(all_of_them, scope)
        return records if node.last is None else self.last(records, node.last)


class WithinLooksAhead(Judge):
    def is_within(self, then: Value, now: Value, days: int) -> bool:
        return self.compare(">=", then, self.shift(now, 0, -days, 0)) is True


class LastTakesOneMore(Judge):
    def last(self, records: list[Document], count: int) -> list[Document]:
        return super().last(records, count + 1)


class LastTakesOneLess(Judge):
    def last(self, records: list[Document], count: int) -> list[Document]:
        return super().last(records, count - 1)


class LastIsForgotten(Judge):
    def last(self, records: list[Document], count: int) -> list[Document]:
        return records


class WithinIsOpenAtItsStart(Judge):
    def is_within(self, then: Value, now: Value, days: int) -> bool:
        return super().is_within(then, now, days) and then != self.shift(now, 0, -days, 0)


class WithinIsOpenAtItsEnd(Judge):
    def is_within(self, then: Value, now: Value, days: int) -> bool:
        return super().is_within(then, now, days) and then != now


class WithinIsOneDayLonger(Judge):
    def is_within(self, then: Value, now: Value, days: int) -> bool:
        return super().is_within(then, now, days + 1)


class WhereIsForgotten(Judge):
    def range_of(self, node: Quantified, scope: Scope) -> list[Document]:
        return super().range_of(replace(node, where=None), scope)


class WhereForgivesUnknown(Judge):
    def range_of(self, node: Quantified, scope: Scope) -> list[Document]:
        records = super().range_of(replace(node, where=None), scope)
        return [
            record
            for record in records
            if node.where is None or self.decide(node.where, scope.bind(node.variable, record)) is not False
        ]


class WhereOfForAllIsAConjunct(Judge):
    def decide_over_many(self, node: Condition, scope: Scope) -> Answer:
        if isinstance(node, Quantified) and node.where is not None:
            node = replace(node, where=None, body=Conjunction((node.where, node.body)))
        return super().decide_over_many(node, scope)


class KeysPartitionForAll(Judge):
    def range_of(self, node: Quantified, scope: Scope) -> list[Document]:
        records = super().range_of(node, scope)
        if node.quantifier == "EXISTS" or not isinstance(node.body, Conjunction):
            return records
        keys = [part for part in node.body.operands if isinstance(part, Comparison) and part.operators == ("=",)]
        return [
            record
            for record in records
            if all(self.decide(key, scope.bind(node.variable, record)) is True for key in keys)
        ]


class NotExistsIsForAllNot(Judge):
    def decide(self, node: Condition, scope: Scope) -> Answer:
        match node:
            case Negation(Quantified("EXISTS", _, body) as exists):
                node = replace(exists, quantifier="FORALL", body=Negation(body))
        return super().decide(node, scope)


class NotForAllIsExistsNot(Judge):
    def decide(self, node: Condition, scope: Scope) -> Answer:
        match node:
            case Negation(Quantified("FORALL", _, body) as for_all):
                node = replace(for_all, quantifier="EXISTS", body=Negation(body))
        return super().decide(node, scope)


class TermWithoutItsNewAttributeIsFalse(Judge):
    """As the procedure of Tatbul 2001, 4.2, which takes the entries whose attribute the new document has."""

    def decide_over_many(self, node: Condition, scope: Scope) -> Answer:
        if isinstance(node, Quantified):
            new = [part for part in walk(node.body) if isinstance(part, Column) and part.variable is None]
            if any(self.value(column, scope) is None for column in new):
                return False
        return super().decide_over_many(node, scope)


class OneDocumentForAllConjuncts(Judge):
    """Takes EXISTS d (p AND q) for EXISTS d (p) AND EXISTS d (q)."""

    def decide_over_many(self, node: Condition, scope: Scope) -> Answer:
        match node:
            case Quantified("EXISTS", _, Conjunction(operands)):
                return self.all([self.decide(replace(node, body=operand), scope) for operand in operands])
        return super().decide_over_many(node, scope)


class TheNewDocumentIsInTheStore(Judge):
    def range_of(self, node: Quantified, scope: Scope) -> list[Document]:
        self.earlier.append(scope.new)
        records = super().range_of(node, scope)
        self.earlier.pop()
        return records


class TheNewestIsNotInTheStoreYet(Judge):
    def __init__(self, earlier: Sequence[Document] = (), types: Types | None = None) -> None:
        super().__init__(earlier[:-1], types)


class WithoutATimeIsWithin(Judge):
    def is_within(self, then: Value, now: Value, days: int) -> bool:
        return then is None or super().is_within(then, now, days)


MUTANTS = sorted(
    (
        found
        for found in globals().values()
        if isinstance(found, type) and issubclass(found, Judge) and found is not Judge
    ),
    key=lambda mutant: mutant.__name__,
)


def test_the_reference_agrees_with_the_interpreter() -> None:
    for place, world in enumerate(sample()):
        assert judged(world) == referred(place), f"world {place}"


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_bug_planted_in_the_interpreter_is_caught(mutant: type[Judge]) -> None:
    assert any(judged(world, mutant) != referred(place) for place, world in enumerate(sample()))


# SQL.


class PrintsOrWithoutParentheses(SqlPrinter):
    def joined(self, word: str, conditions: Sequence[str]) -> str:
        return f" {word} ".join(conditions)


class PrintsNoNot(SqlPrinter):
    def no(self, negated: bool) -> str:
        return ""


class PrintsForAllWithNot(SqlPrinter):
    def violates(self, body: Condition) -> str:
        return f"(NOT {self.condition(body)})"


class PrintsIsUnknownAsIsNotTrue(SqlPrinter):
    def condition(self, node: Condition) -> str:
        if isinstance(node, Is) and node.truth is None:
            return f"({self.condition(node.operand)} IS {self.no(not node.negated)}TRUE)"
        return super().condition(node)


class PrintsNoEscape(SqlPrinter):
    def condition(self, node: Condition) -> str:
        if isinstance(node, Alike):
            node = Alike(node.operand, node.pattern, None, node.ignore_case, node.negated)
        return super().condition(node)


class PrintsNullAsZero(SqlPrinter):
    def literal(self, value: Any) -> str:
        return "0" if value is None and self.engine == "sqlite" else super().literal(value)


class PrintsTheWrongDocument(SqlPrinter):
    def scalar(self, node: Any) -> str:
        if isinstance(node, Column) and node.variable:
            node = Column(node.parts)
        return super().scalar(node)


class PrintsLastAsOneMore(SqlPrinter):
    def __init__(self, engine: str, n_earlier: int) -> None:
        super().__init__(engine, n_earlier - 1)


class PrintsNoWhere(SqlPrinter):
    def quantified(self, node: Quantified) -> str:
        return super().quantified(replace(node, where=None))


class PrintsWithinAsOneDayMore(SqlPrinter):
    def quantified(self, node: Quantified) -> str:
        return super().quantified(
            node if node.within is None else replace(node, within=(node.within[0] + 1, *node.within[1:]))
        )


SQL_MUTANTS = SqlPrinter.__subclasses__()


def test_sql_agrees_with_the_interpreter() -> None:
    assert all(judged(world) == from_sql(world) for world in sample() if world.sql)


@pytest.mark.parametrize("mutant", SQL_MUTANTS)
def test_a_bug_planted_in_the_sql_is_caught(mutant: type[SqlPrinter]) -> None:
    assert any(judged(world) != from_sql(world, mutant) for world in sample() if world.sql)


# The comparison itself.


def wrong_about(asked: str, case: Case) -> bool:
    try:
        check(case, explained=True)
    except DisagreementError as failure:
        return failure.asked.startswith(asked)
    return False


def test_a_wrong_truth_is_noticed_for_each_profile_and_document() -> None:
    truths: list[list[Answer]] = [[True, False], [False, None]]
    case = Case(["price = 1", "brand = 'a'"], [{"price": 1, "brand": "b"}, {"price": 2}], truths, tabular=True)
    check(case, explained=True)
    for place, document in ((0, 0), (0, 1), (1, 0), (1, 1)):
        for wrong in {True, False, None} - {truths[document][place]}:
            changed = [list(row) for row in truths]
            changed[document][place] = wrong
            assert wrong_about("reference", Case(case.profiles, case.documents, changed, tabular=True))


@pytest.mark.parametrize(
    ("asked", "broken"),
    [
        ("scan, one by one", "match"),
        ("scan, batch of dicts", "match_batch"),
    ],
)
def test_a_set_that_answers_wrongly_is_noticed(asked: str, broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = getattr(profilec.ProfileSet, broken)

    def forgets(self: Any, documents: Any) -> Any:
        found = honest(self, documents)
        return found[1:] if broken == "match" else [list(found[place])[1:] for place in range(len(found))]

    monkeypatch.setattr(profilec.ProfileSet, broken, forgets)
    assert wrong_about(asked, Case(["price = 1"], [{"price": 1}], [[True]]))


@pytest.mark.parametrize(
    ("asked", "broken"),
    [
        ("scan, one by one", "delete"),
        ("scan, one by one", "add"),
        ("scan, one by one", "extend"),
        ("scan, process", "process"),
    ],
)
def test_a_store_that_keeps_wrongly_is_noticed(asked: str, broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def process(self: Any, document: Document) -> Any:
        self.documents.add(document)
        return self.match(document)

    if broken == "process":
        monkeypatch.setattr(profilec.ProfileSet, "process", process)
    else:
        monkeypatch.setattr(DocumentStore, broken, lambda self, given: None)
    ones, twos = {"a": 1}, {"a": 2}
    changes = (Change(1, deleted=(-1,)), Change(2, added=(ones,)), Change(3, deleted=(0, 1), added=(twos, twos)))
    case = Case(["EXISTS d (d.a = a)"], [ones] * 4 + [twos, ones, ones], [], [twos, ones], changes=changes, processed=2)
    truths: list[list[Answer]] = [[True], [False], [True], [False], [True], [False], [True]]
    assert wrong_about(asked, replace(case, truths=truths))
    monkeypatch.undo()
    check(replace(case, truths=truths), explained=True)


@pytest.mark.parametrize("broken", ["expect_declared", "expect_all_declared"])
def test_a_store_that_does_not_look_at_the_schema_is_noticed(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(["price = 1"], [{}], [[None]], [{}], "price INTEGER", refused=[{"price": "1"}])
    check(case)
    monkeypatch.setattr(f"profilec.runtime.store.documents.{broken}", lambda *given: None)
    with pytest.raises(AssertionError, match="kept against SCHEMA"):
        check(case)
