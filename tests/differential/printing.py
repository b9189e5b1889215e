"""Structures as profile text, in one of the many spellings that mean the same.

The spelling (synonyms, case of keywords, quotes, redundant parentheses, comments) is drawn from a
`random.Random`, so that a world prints the same text each time it is tried.
"""

from __future__ import annotations

import datetime
import random
from decimal import Decimal

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
    Elements,
    Function,
    Given,
    Is,
    It,
    Minus,
    Negation,
    Null,
    OneOf,
    Plain,
    Quantified,
    Records,
    Regex,
    Scalar,
    Shift,
    Truth,
)

_OPERATORS = {
    "=": ("=", "=="),
    "!=": ("!=", "<>", "≠"),
    "<": ("<",),
    "<=": ("<=", "≤"),
    ">": (">",),
    ">=": (">=", "≥"),
}
# How tightly a condition holds together: OR, AND, NOT, a predicate.
_OR, _AND, _NOT, _PREDICATE = range(4)
# The same for scalars: sums, products, all else.
_SUM, _PRODUCT, _ATOM = range(3)


class Printer:
    """Prints one condition. `element` is what `It()` prints as, in the innermost ANY(…)."""

    def __init__(self, spelling: random.Random) -> None:
        self._spelling = spelling
        self._element = ""

    def condition(self, node: Condition, level: int = _OR) -> str:
        text, own = self._condition(node)
        if own < level or self._spelling.random() < 0.05:
            return f"({text})"
        return text

    def _condition(self, node: Condition) -> tuple[str, int]:
        match node:
            case Truth(value):
                return self._word({True: "TRUE", False: "FALSE", None: "NULL"}[value]), _PREDICATE
            case Bare(column):
                return self._scalar(column), _PREDICATE
            case Comparison(operands, operators):
                parts = [self._scalar(operands[0])]
                for operator, operand in zip(operators, operands[1:], strict=True):
                    parts += [self._spelling.choice(_OPERATORS[operator]), self._scalar(operand)]
                return " ".join(parts), _PREDICATE
            case Between(operand, low, high, negated):
                negation = self._not(negated)
                return (
                    f"{self._scalar(operand)} {negation}{self._word('BETWEEN')} {self._scalar(low)} "
                    f"{self._word('AND')} {self._scalar(high)}",
                    _PREDICATE,
                )
            case OneOf(operand, options, negated):
                listed = ", ".join(map(self._scalar, options))
                if self._spelling.random() < 0.1:
                    return f"{self._scalar(operand)} {'∉' if negated else '∈'} ({listed})", _PREDICATE
                return f"{self._scalar(operand)} {self._not(negated)}{self._word('IN')} ({listed})", _PREDICATE
            case Alike(operand, pattern, escape, ignore_case, negated):
                word = self._word("ILIKE" if ignore_case else "LIKE")
                text = f"{self._scalar(operand)} {self._not(negated)}{word} {self._scalar(pattern)}"
                if escape is not None:
                    text += f" {self._word('ESCAPE')} {self._string(escape)}"
                return text, _PREDICATE
            case Regex(operand, pattern, negated):
                word = self._spelling.choice(("MATCHES", "RLIKE", "REGEXP", "~"))
                return f"{self._scalar(operand)} {self._not(negated)}{self._word(word)} {self._string(pattern)}", (
                    _PREDICATE
                )
            case Null(operand, negated):
                return f"{self._scalar(operand)} {self._word('IS')} {self._not(negated)}{self._word('NULL')}", (
                    _PREDICATE
                )
            case Is():
                return self._is(node), _PREDICATE
            case Negation(operand):
                sign = "¬" if self._spelling.random() < 0.1 else self._word("NOT") + " "
                return sign + self.condition(operand, _NOT), _NOT
            case Conjunction(operands):
                return self._joined(operands, ("AND", "∧"), _NOT), _AND
            case Disjunction(operands):
                return self._joined(operands, ("OR", "∨"), _AND), _OR
        return self._over_many(node), _PREDICATE

    def _over_many(self, node: Condition) -> str:
        match node:
            case Elements(quantifier, array, body):
                outer, self._element = self._element, f"{self._word(quantifier)}({self._scalar(array)})"
                text, _ = self._condition(body)
                self._element = outer
                return text
            case Contains(array, item, negated):
                return f"{self._scalar(array)} {self._not(negated)}{self._word('CONTAINS')} {self._scalar(item)}"
            case Records(quantifier, array, variable, body):
                return (
                    f"{self._word(quantifier)} {self._scalar(array)} {self._word('AS')} {variable} "
                    f"({self.condition(body)})"
                )
            case Quantified(quantifier, variable, body, where, within, last):
                sign = {"EXISTS": "∃", "FORALL": "∀"}[quantifier]
                text = sign if self._spelling.random() < 0.1 else self._word(quantifier)
                text += f" {variable}"
                if where is not None:
                    text += f" {self._word('WHERE')} ({self.condition(where)})"
                if within is not None:
                    days, parts = within
                    text += f" {self._word('WITHIN')} {self._word('INTERVAL')} '{days} days' {self._word('OF')} "
                    text += ".".join(parts)
                if last is not None:
                    text += f" {self._word('LAST')} {last}"
                return f"{text} ({self.condition(body)})"
        raise TypeError(node)

    def _is(self, node: Is) -> str:
        word = {True: "TRUE", False: "FALSE", None: "UNKNOWN"}[node.truth]
        # `(b) IS NULL` asks of an attribute whether it has a value, not whether `b` is UNKNOWN.
        if node.truth is None and not isinstance(node.operand, Bare) and self._spelling.random() < 0.3:
            word = "NULL"
        text = self.condition(node.operand)
        if not isinstance(node.operand, Bare) or self._spelling.random() < 0.5:
            text = f"({text})"
        return f"{text} {self._word('IS')} {self._not(node.negated)}{self._word(word)}"

    def _joined(self, operands: tuple[Condition, ...], words: tuple[str, str], level: int) -> str:
        parts = [self.condition(operand, level) for operand in operands]
        text = parts[0]
        for part in parts[1:]:
            word = words[1] if self._spelling.random() < 0.1 else self._word(words[0])
            gap = self._spelling.choices((" ", "\n  ", " /* ; ' */ ", ' -- ( " ;\n '), (90, 6, 2, 2))[0]
            text += f"{gap}{word} {part}"
        return text

    def _scalar(self, node: Scalar, level: int = _SUM) -> str:
        text, own = self._scalar_and_level(node)
        if own < level or (own < _ATOM and self._spelling.random() < 0.1):
            return f"({text})"
        return text

    def _scalar_and_level(self, node: Scalar) -> tuple[str, int]:
        match node:
            case Column(parts, variable, quoted):
                name = f"`{parts[0]}`" if quoted else ".".join(parts)
                return (f"{variable}.{name}" if variable is not None else name), _ATOM
            case It():
                return self._element, _ATOM
            case Given(value):
                return self._literal(value), _ATOM
            case Arithmetic(operator, left, right):
                own = _SUM if operator in "+-" else _PRODUCT
                # The right side holds together more tightly: a - (b - c).
                return f"{self._scalar(left, own)} {operator} {self._scalar(right, own + 1)}", own
            case Minus(operand):
                text = self._scalar(operand, _ATOM)
                return (f"-({text})" if text.startswith("-") else f"-{text}"), _ATOM
            case Shift(operand, operator, months, days, seconds):
                amounts = ((months, "months"), (days, "days"), (seconds, "seconds"))
                span = " ".join(f"{amount} {unit}" for amount, unit in amounts if amount) or "0 days"
                return f"{self._scalar(operand)} {operator} {self._word('INTERVAL')} '{span}'", _SUM
            case Function(name, arguments):
                return f"{self._word(name)}({', '.join(map(self._scalar, arguments))})", _ATOM
            case CastTo(operand, type_):
                return f"{self._word('CAST')}({self._scalar(operand)} {self._word('AS')} {self._word(type_)})", _ATOM
        raise TypeError(node)

    def _literal(self, value: Plain) -> str:
        match value:
            case None | True | False:
                return self._word({True: "TRUE", False: "FALSE", None: "NULL"}[value])
            case str():
                return self._string(value)
            case datetime.datetime():
                return f"{self._word('TIMESTAMP')} '{value.isoformat(' ')}'"
            case datetime.date():
                return f"{self._word('DATE')} '{value.isoformat()}'"
            case int():
                return str(value) + self._spelling.choices(("", ".0", "."), (90, 5, 5))[0]
            case Decimal():
                return str(value)
        raise TypeError(value)

    def _string(self, text: str) -> str:
        quote = self._spelling.choice("''\"")
        return quote + text.replace(quote, quote * 2) + quote

    def _not(self, negated: bool) -> str:
        return self._word("NOT") + " " if negated else ""

    def _word(self, word: str) -> str:
        return word.lower() if self._spelling.random() < 0.2 else word


def profile_text(condition: Condition, style: int = 0) -> str:
    """The condition as the text of a WHERE clause; `style` chooses the spelling."""
    return Printer(random.Random(style)).condition(condition)
