"""The first judge: a small three-valued interpreter of the generator's own structures.

It shares no line with profilec. Where profilec keeps exact decimals, it keeps fractions; where
profilec translates LIKE and searches with RE2, it asks Python's `re`; it has no plan, no ranks
and no normal form. It is slow and short, to be read next to the language reference.

A value is None (NULL), bool, str, `Fraction` (an exact number), `float` (a double), `date`,
`datetime` (UTC, no zone), or a list or dict (an array, a record). A truth is True, False or None.

`Judge` is a class so that `test_judges.py` can plant a bug by overriding one method.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from history import spans
from structures import (
    Alike,
    Arithmetic,
    Bare,
    Between,
    CastTo,
    Column,
    Comparison,
    Condition,
    Conjunction,
    Contains,
    Disjunction,
    Document,
    Elements,
    Function,
    Given,
    Is,
    It,
    Minus,
    Negation,
    Null,
    OneOf,
    Quantified,
    Records,
    Regex,
    Scalar,
    Shift,
    Truth,
    World,
)

Value: TypeAlias = Any
Answer: TypeAlias = bool | None
Types: TypeAlias = Mapping[str, Any]
"""A schema: name -> "DATE", "TIMESTAMP" (other scalar types change nothing), [type] an array, {name: type} a record."""


class Scope:
    """What the names of a condition stand for: the new document, the variables' records, ANY's element."""

    def __init__(self, new: Document, variables: Mapping[str, Any], element: Value = None) -> None:
        self.new = new
        self.variables = variables
        self.element = element

    def bind(self, variable: str, record: Any) -> Scope:
        return Scope(self.new, {**self.variables, variable: record}, self.element)

    def over(self, element: Value) -> Scope:
        return Scope(self.new, self.variables, element)


class Judge:
    def __init__(self, earlier: Sequence[Document] = (), types: Types | None = None) -> None:
        self.types = types
        self.earlier = [self.read(document, types) for document in earlier]

    def truth(self, condition: Condition, document: Document) -> Answer:
        """The truth of a condition for a new document."""
        return self.decide(condition, Scope(self.read(document, self.types), {}))

    # Documents.

    def read(self, value: Any, type_: Any) -> Value:
        """A document's value, and ISO strings as the dates that the schema says they are."""
        if isinstance(type_, list):
            return [self.read(item, type_[0]) for item in value] if isinstance(value, list) else value
        if isinstance(type_, Mapping):
            if not isinstance(value, Mapping):
                return value
            return {name: self.read(item, self.type_of(type_, name)) for name, item in value.items()}
        if isinstance(value, str) and type_ in ("DATE", "TIMESTAMP"):
            moment = self.cast(value, type_)
            return value if moment is None else moment
        return value

    def type_of(self, types: Types, name: str) -> Any:
        """The type of a key: declared under that very name, else along the path that a dotted name is."""
        if name in types or "." not in name:
            return types.get(name)
        first, rest = name.split(".", 1)
        inner = types.get(first)
        if isinstance(inner, list):
            return [self.type_of(inner[0], rest)] if isinstance(inner[0], Mapping) else None
        return self.type_of(inner, rest) if isinstance(inner, Mapping) else None

    def plain(self, value: Any) -> Value:
        """A value as the judge computes with it."""
        if isinstance(value, bool) or value is None:
            return value
        if isinstance(value, float):
            return None if math.isnan(value) else value
        if isinstance(value, Decimal):
            return None if value.is_nan() else Fraction(value)
        if isinstance(value, int):
            return Fraction(value)
        return value

    def find(self, record: Any, parts: tuple[str, ...]) -> Value:
        """First a key of that very name; if it holds nothing, the path, through an array's records."""
        if not isinstance(record, Mapping):
            return None
        flat = self.plain(record.get(".".join(parts)))
        if flat is not None:
            return flat
        return self.follow(record, parts)

    def follow(self, value: Any, parts: tuple[str, ...]) -> Value:
        for index, part in enumerate(parts):
            if isinstance(value, list):
                return [self.descend(item, parts[index:]) for item in value]
            if not isinstance(value, Mapping):
                return None
            value = value.get(part)
        return self.plain(value)

    def descend(self, value: Any, parts: tuple[str, ...]) -> Value:
        for part in parts:
            if not isinstance(value, Mapping):
                return None
            value = value.get(part)
        return value

    # Scalars.

    def value(self, node: Scalar, scope: Scope) -> Value:
        match node:
            case Column(parts, variable, _):
                return self.find(scope.new if variable is None else scope.variables[variable], parts)
            case It():
                return scope.element
            case Given(value):
                return self.plain(value)
            case Arithmetic(operator, left, right):
                return self.arithmetic(operator, self.value(left, scope), self.value(right, scope))
            case Minus(operand):
                number = self.value(operand, scope)
                return -number if self.is_number(number) else None
            case Shift(operand, operator, months, days, seconds):
                sign = 1 if operator == "+" else -1
                return self.shift(self.value(operand, scope), sign * months, sign * days, sign * seconds)
            case Function(name, arguments):
                return self.call(name, [self.value(argument, scope) for argument in arguments])
            case CastTo(operand, type_):
                return self.cast(self.value(operand, scope), type_)
        raise TypeError(node)

    def is_number(self, value: Value) -> bool:
        return isinstance(value, Fraction | float)

    def arithmetic(self, operator: str, left: Value, right: Value) -> Value:
        if not self.is_number(left) or not self.is_number(right):
            return None
        if operator in "/%" and right == 0:
            return None
        if operator == "/" or isinstance(left, float) or isinstance(right, float):
            return self.doubles(operator, self.double(left), self.double(right))
        match operator:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
        return left - right * math.trunc(left / right)

    def doubles(self, operator: str, left: float, right: float) -> float | None:
        match operator:
            case "+":
                result = left + right
            case "-":
                result = left - right
            case "*":
                result = left * right
            case "/":
                result = left / right
            case "%":
                if math.isinf(left):
                    return None
                result = math.fmod(left, right)
        return None if math.isnan(result) else result

    def double(self, number: Fraction | float) -> float:
        try:
            return float(number)
        except OverflowError:
            return math.inf if number > 0 else -math.inf

    def shift(self, moment: Value, months: int, days: int, seconds: int) -> Value:
        if not isinstance(moment, datetime.date):
            return None
        year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
        day = moment.day
        while True:  # the 31st of a shorter month is its last day
            try:
                moment = moment.replace(year=year, month=month + 1, day=day)
                break
            except ValueError:
                day -= 1
        if seconds and not isinstance(moment, datetime.datetime):
            moment = datetime.datetime.combine(moment, datetime.time())
        return moment + datetime.timedelta(days=days, seconds=seconds)

    def call(self, name: str, arguments: list[Value]) -> Value:
        if name == "COALESCE":
            return next((argument for argument in arguments if argument is not None), None)
        first = arguments[0]
        if name in ("LOWER", "UPPER", "LENGTH", "TRIM", "SUBSTR"):
            if not isinstance(first, str):
                return None
            match name:
                case "LOWER":
                    return "".join(map(self.lower, first))
                case "UPPER":
                    return "".join(c.upper() if len(c.upper()) == 1 else c for c in first)
                case "LENGTH":
                    return Fraction(len(first))
                case "TRIM":
                    return re.fullmatch(" *(.*?) *", first, re.DOTALL)[1]
            return self.substring(first, *arguments[1:])
        if not self.is_number(first):
            return None
        if name == "ABS":
            return abs(first)
        return self.round(first, *arguments[1:])

    def lower(self, character: str) -> str:
        return character.lower() if len(character.lower()) == 1 else character

    def fold(self, text: str) -> str:
        """Characters that differ in case only become one; a character stays one."""
        return "".join(c.casefold() if len(c.casefold()) == 1 else self.lower(c) for c in text)

    def substring(self, text: str, start: Value, length: Value = Fraction(10**9)) -> Value:
        if not self.is_number(start) or not self.is_number(length) or length < 0:
            return None
        if start != int(start) or length != int(length):
            return None
        return "".join(c for place, c in enumerate(text, 1) if start <= place < start + length)

    def round(self, number: Fraction | float, digits: Value = Fraction(0)) -> Value:
        if not self.is_number(digits) or digits != int(digits):
            return None
        exact = self.stands_for(number)
        if isinstance(exact, float):
            return number
        scale = Fraction(10) ** int(digits)
        rounded = math.floor(abs(exact) * scale + Fraction(1, 2)) / scale
        rounded = rounded if exact >= 0 else -rounded
        return self.double(rounded) if isinstance(number, float) else rounded

    def cast(self, value: Value, type_: str) -> Value:
        match type_:
            case "NUMBER":
                return self.to_number(value)
            case "INTEGER":
                number = self.to_number(value)
                exact = None if number is None else self.stands_for(number)
                return Fraction(math.trunc(exact)) if isinstance(exact, Fraction) else None
            case "STRING":
                return self.to_string(value)
            case "BOOLEAN":
                if isinstance(value, str):
                    return {"true": True, "false": False}.get(value.strip(" ").lower())
                if self.is_number(value):
                    return value != 0
                return value if isinstance(value, bool) else None
        return self.to_moment(value, type_)

    def to_number(self, value: Value) -> Value:
        if isinstance(value, bool):
            return Fraction(int(value))
        if isinstance(value, str):
            text = value.strip(" ")
            if re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text):
                return Fraction(Decimal(text))
            return None
        return value if self.is_number(value) else None

    def to_string(self, value: Value) -> Value:
        if isinstance(value, bool):
            return "true" if value else "false"
        if self.is_number(value):
            exact = self.stands_for(value)
            if isinstance(exact, float):
                return "Infinity" if exact > 0 else "-Infinity"
            if exact.denominator == 1:
                return str(exact.numerator)
            return str((Decimal(exact.numerator) / Decimal(exact.denominator)).normalize())
        if isinstance(value, datetime.datetime):
            text = value.isoformat(" ")
            return text.rstrip("0") if "." in text else text
        if isinstance(value, datetime.date):
            return value.isoformat()
        return value if isinstance(value, str) else None

    def to_moment(self, value: Value, type_: str) -> Value:
        if isinstance(value, str):
            text = value.strip(" ")
            if type_ == "DATE" and not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
                return None
            try:
                moment = datetime.datetime.fromisoformat(text)
            except ValueError:
                return None
            if moment.tzinfo is not None:
                moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
            return moment.date() if type_ == "DATE" else moment
        if isinstance(value, datetime.datetime):
            return value.date() if type_ == "DATE" else value
        if isinstance(value, datetime.date):
            return value if type_ == "DATE" else datetime.datetime.combine(value, datetime.time())
        return None

    # Conditions.

    def decide(self, node: Condition, scope: Scope) -> Answer:
        match node:
            case Truth(value):
                return value
            case Bare(column):
                return self.compare("=", self.value(column, scope), True)
            case Comparison(operands, operators):
                values = [self.value(operand, scope) for operand in operands]
                pairs = zip(values, operators, values[1:], strict=False)
                return self.all([self.compare(operator, left, right) for left, operator, right in pairs])
            case Between(operand, low, high, negated):
                return self.flip(negated, self.between(*(self.value(part, scope) for part in (operand, low, high))))
            case OneOf(operand, options, negated):
                value = self.value(operand, scope)
                return self.flip(negated, self.one_of(value, [self.value(option, scope) for option in options]))
            case Alike(operand, pattern, escape, ignore_case, negated):
                text, like = self.value(operand, scope), self.value(pattern, scope)
                return self.flip(negated, self.alike(text, like, escape, ignore_case))
            case Regex(operand, pattern, negated):
                return self.flip(negated, self.matches(self.value(operand, scope), pattern))
            case Null(operand, negated):
                return (self.value(operand, scope) is None) is not negated
            case Is(operand, truth, negated):
                return (self.decide(operand, scope) is truth) is not negated
            case Negation(operand):
                return self.negate(self.decide(operand, scope))
            case Conjunction(operands):
                return self.all([self.decide(operand, scope) for operand in operands])
            case Disjunction(operands):
                return self.any([self.decide(operand, scope) for operand in operands])
        return self.decide_over_many(node, scope)

    def decide_over_many(self, node: Condition, scope: Scope) -> Answer:
        match node:
            case Elements(quantifier, array, body):
                elements = self.value(array, scope)
                if not isinstance(elements, list):
                    return self.no_array(quantifier)
                truths = [self.decide(body, scope.over(self.plain(element))) for element in elements]
                return self.any(truths) if quantifier == "ANY" else self.all(truths)
            case Contains(array, item, negated):
                equal = Comparison((It(), item), ("=",))
                return self.flip(negated, self.decide(Elements("ANY", array, equal), scope))
            case Records(quantifier, array, variable, body):
                elements = self.value(array, scope)
                if not isinstance(elements, list):
                    return self.no_array(quantifier)
                truths = [self.decide(body, scope.bind(variable, element)) for element in elements]
                return self.any(truths) if quantifier == "ANY" else self.all(truths)
            case Quantified(quantifier, variable, body):
                truths = [self.decide(body, scope.bind(variable, record)) for record in self.range_of(node, scope)]
                return self.exists(truths) if quantifier == "EXISTS" else self.for_all(truths)
        raise TypeError(node)

    def range_of(self, node: Quantified, scope: Scope) -> list[Document]:
        """The earlier documents that a quantifier ranges over: LAST, then WITHIN, then WHERE."""
        records = list(self.earlier)
        if node.last is not None:
            records = self.last(records, node.last)
        if node.within is not None:
            days, parts = node.within
            now = self.find(scope.new, parts)
            records = [record for record in records if self.is_within(self.find(record, parts), now, days)]
        if node.where is not None:
            records = [record for record in records if self.decide(node.where, scope.bind(node.variable, record))]
        return records

    def last(self, records: list[Document], count: int) -> list[Document]:
        return records[max(len(records) - count, 0) :]

    def is_within(self, then: Value, now: Value, days: int) -> bool:
        return self.between(then, self.shift(now, 0, -days, 0), now) is True

    def exists(self, truths: list[Answer]) -> Answer:
        return any(truth is True for truth in truths)

    def for_all(self, truths: list[Answer]) -> Answer:
        return all(truth is True for truth in truths)

    def no_array(self, quantifier: str) -> Answer:
        return None

    # Predicates over values.

    def kind(self, value: Value) -> str | None:
        """The kind of a value that has an order; None for NULL, arrays and records."""
        if isinstance(value, bool):
            return "boolean"
        if self.is_number(value):
            return "number"
        if isinstance(value, str):
            return "string"
        if isinstance(value, datetime.datetime):
            return "timestamp"
        return "date" if isinstance(value, datetime.date) else None

    def stands_for(self, number: Fraction | float) -> Fraction | float:
        """The number that orders a double: itself where it is an integer, else its shortest decimal."""
        if not isinstance(number, float) or math.isinf(number):
            return number
        return Fraction(int(number)) if number == int(number) else Fraction(repr(number))

    def compare(self, operator: str, left: Value, right: Value) -> Answer:
        kind = self.kind(left)
        if kind is None or kind != self.kind(right):
            return None
        if kind == "number":
            left, right = self.stands_for(left), self.stands_for(right)
        match operator:
            case "=":
                return left == right
            case "!=":
                return left != right
            case "<":
                return left < right
            case "<=":
                return left <= right
            case ">":
                return left > right
        return left >= right

    def between(self, value: Value, low: Value, high: Value) -> Answer:
        return self.all([self.compare(">=", value, low), self.compare("<=", value, high)])

    def one_of(self, value: Value, options: list[Value]) -> Answer:
        return self.any([self.compare("=", value, option) for option in options])

    def alike(self, text: Value, pattern: Value, escape: str | None, ignore_case: bool) -> Answer:
        if not isinstance(text, str) or not isinstance(pattern, str):
            return None
        translated = self.like_regex(pattern, escape, ignore_case)
        if translated is None:
            return None
        return re.fullmatch(translated, self.fold(text) if ignore_case else text, re.DOTALL) is not None

    def like_regex(self, pattern: str, escape: str | None, ignore_case: bool) -> str | None:
        """The pattern in `re`'s language; None where its escape escapes nothing."""
        translated = ""
        characters = iter(pattern)
        for character in characters:
            if character == escape:
                escaped = next(characters, None)
                if escaped not in ("%", "_", escape):
                    return None
                translated += re.escape(escaped)
            elif character == "%":
                translated += ".*"
            elif character == "_":
                translated += "."
            else:
                translated += re.escape(self.fold(character) if ignore_case else character)
        return translated

    def matches(self, text: Value, pattern: str) -> Answer:
        if not isinstance(text, str):
            return None
        # In RE2 `$` is the very end; in `re` a newline may follow it.
        return re.search(pattern.replace("$", r"\Z"), text, re.ASCII) is not None

    # Three-valued logic.

    def flip(self, negated: bool, truth: Answer) -> Answer:
        return self.negate(truth) if negated else truth

    def negate(self, truth: Answer) -> Answer:
        return None if truth is None else not truth

    def all(self, truths: list[Answer]) -> Answer:
        if any(truth is False for truth in truths):
            return False
        return None if any(truth is None for truth in truths) else True

    def any(self, truths: list[Answer]) -> Answer:
        if any(truth is True for truth in truths):
            return True
        return None if any(truth is None for truth in truths) else False


def judged(world: World, types: Types | None, judge_type: type[Judge] = Judge) -> list[list[Answer]]:
    """The truth of each condition (inner) for each new document (outer)."""
    return [
        [judge.truth(condition, document) for condition in world.conditions]
        for span in spans(world)
        for judge in [judge_type(span.store, types)]
        for document in span.documents
    ]
