"""The builder: one method for each rule of `profilec.lark`, called as the parser reduces it.

In: tokens, and what the methods returned for the parts. Out: `Located` conditions. There are no
parse trees: each reduction makes its node of the IR at once.

Invariants:
- What is wrong is recorded in `faults` and something harmless takes its place, so that one run
  finds all that is wrong with a condition.
- A predicate with an ANY(…) keeps the array in `array` until it is complete; then the whole
  predicate becomes the body of Some or Every.
- The operands of AND and OR and the links of a chain are gathered in a list that becomes one node
  when the last has been read: linear in their number.

The file is long because Lark wants its callbacks on one object; those of statements are in `declare`.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

from profilec.grammar import ir
from profilec.grammar.diagnostics import did_you_mean
from profilec.grammar.foreign import function_hint, type_hint
from profilec.grammar.lexer import Token, name_parts, string_value
from profilec.grammar.literals import regex_fault, temporal_value
from profilec.grammar.located import Located, Many, complete, extend, gather
from profilec.grammar.refusals import TextError, shorten
from profilec.values.functions import CAST_TYPES, FUNCTIONS, Function
from profilec.values.kinds import Interval, Truth
from profilec.values.numbers import negate, parse_number
from profilec.values.patterns import parse_like

_OPERATORS = {
    "=": "=", "==": "=", "!=": "!=", "<>": "!=", "≠": "!=",
    "<": "<", "<=": "<=", "≤": "<=", ">": ">", ">=": ">=", "≥": ">=",
}  # fmt: skip
_TRUE = ir.constant(True)
_WORDS = {"TRUE": _TRUE, "FALSE": ir.constant(False), "NULL": ir.NULL}
_LITERALS: dict[ir.Node, ir.Literal] = {_TRUE: ir.TRUE, _WORDS["FALSE"]: ir.FALSE, ir.NULL: ir.UNKNOWN}
_TRUTHS: dict[str, Truth] = {"TRUE": True, "FALSE": False, "UNKNOWN": None, "NULL": None}
_MANY: dict[str, Many] = {"ANY": ir.Some, "ALL": ir.Every}
_CALLABLE = sorted(name for name, function in FUNCTIONS.items() if function.public and name.isalpha())
_INTERVAL_HINT = "move it to the other side, as in `sold_at > ordered_at + INTERVAL '3 days'`"
_MAX_LAST = 2**62


class _Head(NamedTuple):
    """`ANY items AS i` or `EXISTS d`, as far as the body."""

    word: Token
    variable: Token
    array: Located | None


class _Scope(NamedTuple):
    """One of WHERE (…), WITHIN … OF …, LAST …."""

    word: Token
    end: int
    value: Any


class Builder:
    """The parser's callbacks. One instance serves one parse at a time; `begin` makes it ready for the next."""

    def __init__(self) -> None:
        self.begin("")

    def begin(self, text: str) -> None:
        self.text = text
        self.faults: list[TextError] = []
        self.terms = 0
        self._variables: list[tuple[str, int]] = []

    # -- values

    def attribute(self, children: list[Any]) -> Located:
        token: Token = children[0]
        scope, parts = self._resolve(token.text)
        return Located(ir.Attribute(scope, parts), token.start, token.end, [])

    def number(self, children: list[Any]) -> Located:
        token: Token = children[0]
        node = ir.NULL
        try:
            node = ir.constant(parse_number(token.text))
        except ValueError as error:
            self.fault("PC304", (token.start, token.end), str(error))
        return Located(node, token.start, token.end, [])

    def string(self, children: list[Any]) -> Located:
        token: Token = children[0]
        return Located(ir.Constant(str, string_value(token.text)), token.start, token.end, [])

    def word(self, children: list[Any]) -> Located:
        token: Token = children[0]
        return Located(_WORDS[token.type], token.start, token.end, [])

    def temporal(self, children: list[Any]) -> Located:
        word, literal = children
        node = ir.NULL
        try:
            node = ir.constant(temporal_value(word.type, string_value(literal.text)))
        except ValueError as error:
            self.fault("PC207", (literal.start, literal.end), str(error))
        return Located(node, word.start, literal.end, [])

    def signed(self, children: list[Any]) -> Located:
        sign, operand = children
        located = self._value(operand)
        node, end = located.node, located.span[1]
        if isinstance(node, ir.Constant) and node.type_ in (int, Decimal):
            number: Any = node.value
            return Located(node if sign.type == "PLUS" else ir.constant(negate(number)), sign.start, end, [])
        if sign.type == "PLUS":  # of what is no number, `+` gives NULL, as `0 +` does
            zero = Located(ir.constant(0), sign.start, sign.end, [])
            return self._joined(ir.Call("+", (zero.node, node)), sign.start, end, [zero, located])
        return self._joined(ir.Call("NEGATE", (node,)), sign.start, end, [located])

    def brackets(self, children: list[Any]) -> Located:
        opening, operand, closing = children
        located: Located = self._condition(operand) if operand.is_condition else operand
        located.brackets = (opening.start, closing.end)
        return located

    def arithmetic(self, children: list[Any]) -> Located:
        left, operator, right = children
        start, end = left.span[0], right.span[1]
        # An interval may be added to a moment or taken from it; every other use is refused by `_value`.
        if not (operator.type == "PLUS" and _is_interval(left) and not _is_interval(right)):
            left = self._value(left)
        if not (operator.type in ("PLUS", "MINUS") and _is_interval(right)):
            right = self._value(right)
        return self._joined(ir.Call(operator.text, (left.node, right.node)), start, end, [left, right])

    def call(self, children: list[Any]) -> Located:
        name, _, values, closing = children
        arguments = [self._value(value) for value in values or ()]
        function = FUNCTIONS.get(name.text.upper()) if name.text.isascii() else None
        place = (name.start, name.end)
        if function is None or not function.public:
            hint = function_hint(name.text) or did_you_mean(name.text, _CALLABLE)
            self.fault("PC204", place, f"there is no function {name.text}", hint or f"there are {', '.join(_CALLABLE)}")
        elif not function.min_arguments <= len(arguments) <= function.max_arguments:
            self.fault("PC205", place, f"{function.name} takes {_arity(function)}, not {len(arguments)}")
        else:
            node = ir.Call(function.name, tuple([argument.node for argument in arguments]))
            return self._joined(node, name.start, closing.end, arguments)
        return Located(ir.NULL, name.start, closing.end, [])

    def cast(self, children: list[Any]) -> Located:
        word, _, operand, _, name, closing = children
        located, to = self._value(operand), name.text.upper()
        if to not in CAST_TYPES:
            hint = type_hint(name.text, CAST_TYPES)
            self.fault("PC206", (name.start, name.end), f"CAST knows no type {name.text}", hint)
            return Located(ir.NULL, word.start, closing.end, [])
        return self._joined(ir.Cast(located.node, to), word.start, closing.end, [located])

    def element(self, children: list[Any]) -> Located:
        word, _, array, closing = children
        if array.array is not None or not isinstance(array.node, ir.Attribute):
            message = f"{word.type} takes the name of an attribute that holds an array"
            self.fault("PC221", array.span, message, f"write `LOWER({word.type}(tags)) = 'x'`, not the other way round")
            return Located(ir.NULL, word.start, closing.end, [])
        located = Located(ir.Attribute(self._next_element(), ()), word.start, closing.end, [])
        located.array = (_MANY[word.type], array)
        return located

    # -- predicates

    def compare(self, children: list[Any]) -> Located:
        left, operator, right = children
        symbol = _OPERATORS[operator.text]
        right = self._compared(right)
        self.terms += 1
        if left.brackets is not None or (left.pending is not ir.Compare and type(left.node) is not ir.Compare):
            left = self._compared(left)
            node = ir.Compare(symbol, left.node, right.node)
            return self._joined(node, left.span[0], right.span[1], [left, right])
        # One more link of a chain: its left operand is the right one of the link before.
        middle = (left.parts[-1] if left.pending else left).parts[1]
        link = Located(ir.Compare(symbol, middle.node, right.node), middle.span[0], right.span[1], [middle, right])
        if left.pending:
            extend(left, link)
        else:
            array, left.array = left.array, None
            left = gather(ir.Compare, left, link)
            left.array = array
        self._take_array(left, right)
        return left  # type: ignore[no-any-return]

    def between(self, children: list[Any]) -> Located:
        item, negated, _, low, _, high = children
        item, low, high = self._compared(item), self._compared(low), self._compared(high)
        start, end = item.span[0], high.span[1]
        self.terms += 2
        least = Located(ir.Compare(">=", item.node, low.node), start, end, [item, low])
        most = Located(ir.Compare("<=", item.node, high.node), start, end, [item, high])
        located = Located(ir.And((least.node, most.node)), start, end, [least, most])
        for operand in (item, low, high):
            self._take_array(located, operand)
        return _negated(located, negated)

    def in_(self, children: list[Any]) -> Located:
        item, (word, *_), values, closing = self._value(children[0]), children[1:], children[-2], children[-1]
        start, end = item.span[0], closing.end
        if not values:
            self.fault("PC115", (word.start, end), "IN needs at least one value between its brackets")
            return Located(ir.UNKNOWN, start, end, [])
        options = [self._compared(value) for value in values]
        self.terms += len(options)
        node = ir.In(item.node, tuple([option.node for option in options]))
        return _negated(self._joined(node, start, end, [item, *options]), None if word.type == "IN" else word)

    def like(self, children: list[Any]) -> Located:
        text, negated, word, pattern, _, escape = children
        text, pattern = self._value(text), self._value(pattern)
        start, end = text.span[0], (escape or pattern).span[1]
        self.terms += 1
        if escape is not None and escape.node is ir.NULL:
            return _negated(self._never(text, escape), negated)
        character = None if escape is None else self._escape(escape)
        if isinstance(pattern.node, ir.Constant) and pattern.node is not ir.NULL:
            self._check_like(pattern, pattern.node.value, character, word)
        node = ir.Like(text.node, pattern.node, character, word.type == "ILIKE")
        return _negated(self._joined(node, start, end, [text, pattern]), negated)

    def matches(self, children: list[Any]) -> Located:
        text, negated, word, pattern = children
        text = self._value(text)
        self.terms += 1
        expression = ""
        if pattern.node is ir.NULL:
            return _negated(self._never(text, pattern), negated)
        if isinstance(pattern.node, ir.Constant) and isinstance(pattern.node.value, str):
            expression = pattern.node.value
            self._check_regex(pattern, expression)
        else:
            hint = "LIKE can take its pattern from an attribute"
            self.fault("PC209", pattern.span, f"{word.text.upper()} takes a pattern between quotes only", hint)
        node = ir.Matches(text.node, expression)
        return _negated(self._joined(node, text.span[0], pattern.span[1], [text]), negated)

    def _never(self, text: Located, null: Located) -> Located:
        """A pattern or an escape that is NULL: UNKNOWN, as a comparison with NULL is."""
        node = ir.Compare("=", text.node, ir.NULL)
        return self._joined(node, text.span[0], null.span[1], [text, null])

    def contains(self, children: list[Any]) -> Located:
        array, negated, _, operand = children
        value = self._compared(operand)
        start, end = array.span[0], value.span[1]
        self.terms += 1
        if array.array is not None or not isinstance(array.node, ir.Attribute):
            hint = "for a part of a string write `LIKE '%…%'`"
            self.fault("PC221", array.span, "CONTAINS asks an attribute that holds an array", hint)
            return Located(ir.UNKNOWN, start, end, [])
        if value.array is not None:
            self.fault("PC212", value.span, "ANY and ALL cannot stand on the right of CONTAINS")
        element = Located(ir.Attribute(self._next_element(), ()), array.span[0], array.span[1], [])
        body = Located(ir.Compare("=", element.node, value.node), start, end, [element, value])
        return _negated(Located(ir.Some(array.node, body.node), start, end, [array, body]), negated)

    def is_(self, children: list[Any]) -> Located:
        operand, _, negated, word = children
        end = word.end
        if operand.is_condition and operand.brackets is None:
            test, asked = f"IS {'NOT ' if negated else ''}{word.type}", self._quote(operand)
            self.fault("PC114", (operand.start, end), f"{test} cannot follow `{asked}`", f"write `({asked}) {test}`")
        if word.type == "NULL" and not operand.is_condition:
            operand = self._value(operand)
            self.terms += 1
            node: ir.Condition = ir.IsNull(operand.node)
        else:
            operand = self._truth(operand)
            node = ir.IsTruth(operand.node, _TRUTHS[word.type])
        return _negated(self._joined(node, operand.span[0], end, [operand]), negated)

    # -- conditions

    def and_(self, children: list[Any]) -> Located:
        left, _, right = children
        return self._gathered(ir.And, left, right)

    def or_(self, children: list[Any]) -> Located:
        left, _, right = children
        return self._gathered(ir.Or, left, right)

    def not_(self, children: list[Any]) -> Located:
        word, operand = children
        located = self._condition(operand)
        return Located(ir.Not(located.node), word.start, located.span[1], [located])

    def condition(self, children: list[Any]) -> Located:
        return self._condition(children[0])

    # -- lists: the first item makes the list, each further one is appended (after a comma: `listed`)

    def values(self, children: list[Any]) -> list[Any]:
        return children

    scopes = values

    def listed(self, children: list[Any]) -> list[Any]:
        items: list[Any] = children[0]
        items.append(children[-1])
        return items

    appended = listed

    # -- quantifiers

    def element_head(self, children: list[Any]) -> _Head:
        word, name, _, variable = children
        scope, parts = self._resolve(name.text)
        array = Located(ir.Attribute(scope, parts), name.start, name.end, [])
        self._declare(variable, self._next_element())
        return _Head(word, variable, array)

    def elements(self, children: list[Any]) -> Located:
        head, _, body, closing = children
        self._variables.pop()
        body = self._condition(body)
        node = _MANY[head.word.type](head.array.node, body.node)
        return _quantified(node, head, closing.end, [head.array, body])

    def quantifier_head(self, children: list[Any]) -> _Head:
        word, variable = children
        if self._variables:
            inside = "a quantifier" if any(scope == ir.OLD for _, scope in self._variables) else "ANY or ALL"
            self.fault("PC213", (word.start, variable.end), f"{word.type} cannot stand inside {inside}")
        self._declare(variable, ir.OLD)
        return _Head(word, variable, None)

    def quantified(self, children: list[Any]) -> Located:
        head, scopes, _, body, closing = children
        self._variables.pop()
        body = self._condition(body)
        parts = [body, self._scope(head, scopes or [])]
        kind = ir.Exists if head.word.type == "EXISTS" else ir.ForAll
        return _quantified(kind(body.node, parts[1].node), head, closing.end, parts)

    def where(self, children: list[Any]) -> _Scope:
        word, _, condition, closing = children
        return _Scope(word, closing.end, self._condition(condition))

    def within(self, children: list[Any]) -> _Scope:
        word, interval, literal, _, name = children
        span = self.temporal([interval, literal]).node
        _, parts = self._resolve(name.text)
        return _Scope(word, name.end, (span, parts))

    def last(self, children: list[Any]) -> _Scope:
        word, number = children
        count = None
        digits = number.text.lstrip("0")
        if not digits.isdecimal():
            self.fault("PC222", (number.start, number.end), "LAST takes a number of documents: 1 or more")
        elif len(digits) >= 20 or int(digits) > _MAX_LAST:
            message = f"LAST takes a number of documents up to {_MAX_LAST:,}"
            hint = "leave LAST out, and all earlier documents are asked"
            self.fault("PC222", (number.start, number.end), message, hint)
        else:
            count = int(digits)
        return _Scope(word, number.end, count)

    def _scope(self, head: _Head, scopes: list[_Scope]) -> Located:
        given: dict[str, _Scope] = {}
        for scope in scopes:
            if given.setdefault(scope.word.type, scope) is not scope:
                self.fault("PC219", (scope.word.start, scope.end), f"{scope.word.type} is given twice")
        where: Located | None = given["WHERE"].value if "WHERE" in given else None
        within = parts = None
        if "WITHIN" in given:
            span, parts = given["WITHIN"].value
            within = span.value
        last = given["LAST"].value if "LAST" in given else None
        node = ir.Scope(where.node if where else None, within, parts, last)
        start, end = (scopes[0].word.start, scopes[-1].end) if scopes else (head.word.end, head.word.end)
        return Located(node, start, end, [where] if where else [])

    # -- what they share

    def fault(self, code: str, place: tuple[int, int], message: str, hint: str | None = None) -> None:
        self.faults.append(TextError(code, *place, message, hint))

    def _quote(self, located: Located) -> str:
        start, end = located.span
        return shorten(self.text[start:end])

    def _resolve(self, text: str) -> tuple[int, tuple[str, ...]]:
        """The scope and parts of a name: a variable's where it begins with one, else the document's."""
        parts = name_parts(text)
        if self._variables and len(parts) > 1 and text[0] != "`":
            for variable, scope in reversed(self._variables):
                if variable == parts[0]:
                    return scope, parts[1:]
        return ir.NEW, parts

    def _next_element(self) -> int:
        return ir.ELEMENT + sum(scope >= ir.ELEMENT for _, scope in self._variables)

    def _declare(self, variable: Token, scope: int) -> None:
        name = variable.text
        place = (variable.start, variable.end)
        if "." in name or "`" in name:
            self.fault("PC220", place, "a variable is one plain name")
        elif any(name == other for other, _ in self._variables):
            self.fault("PC220", place, f"the variable {name} is already in use here", "give it another name")
        self._variables.append((name, scope))

    def _gathered(self, kind: type[ir.And] | type[ir.Or], left: Located, right: Located) -> Located:
        if type(right.node) is ir.Constant:
            right = self._alternative(left.parts[-1] if left.pending is kind else left, right)
        right = self._condition(right)
        if left.pending is kind:
            extend(left, right)
            return left
        return gather(kind, self._condition(left), right)

    def _alternative(self, before: Located, constant: Located) -> Located:
        """`brand = 'x' OR 'y'`: a constant that is no condition, after one that compares with another."""
        test = before.parts[0] if type(before.node) is ir.Not and before.parts[0].start == before.start else before
        if constant.node in _LITERALS or type(test.node) not in (ir.Compare, ir.Like) or test.pending is not None:
            return constant
        text = self._quote(constant)
        whole = shorten(self.text[before.start : test.parts[1].span[0]] + text, 60)
        self.fault("PC201", constant.span, f"`{text}` is a value, not a condition", f"repeat the test: `{whole}`")
        return Located(ir.UNKNOWN, *constant.span, [])

    def _condition(self, operand: Located) -> Located:
        """The operand as a complete condition."""
        located = self._truth(operand)
        if located.array is None:
            return located
        many, array = located.array
        located.array = None
        whole = Located(many(array.node, located.node), located.start, located.end, [array, located])
        whole.brackets = located.brackets
        return whole

    def _truth(self, operand: Located) -> Located:
        """The operand as a condition that may yet become the body of an ANY(…)."""
        if operand.pending is not None:
            complete(operand)
            return operand
        node = operand.node
        if isinstance(node, ir.Condition):
            return operand
        self.terms += 1
        if isinstance(node, ir.Attribute):
            truth = Located(_TRUE, operand.start, operand.end, [])
            located = self._joined(ir.Compare("=", node, _TRUE), operand.start, operand.end, [operand, truth])
            located.brackets, operand.brackets = operand.brackets, None
            return located
        literal = _LITERALS.get(node)
        if literal is None:
            text = self._quote(operand)
            self.fault("PC201", operand.span, f"`{text}` is a value, not a condition", f"compare it: `{text} = …`")
        return Located(literal or ir.UNKNOWN, *operand.span, [])

    def _value(self, operand: Located) -> Located:
        """The operand as a value that is no interval."""
        if type(operand.node) is ir.Attribute:  # PERF: most are
            return operand
        if operand.is_condition:
            text = self._quote(operand)
            self.fault("PC202", operand.span, f"`{text}` is a condition, not a value")
        elif _is_interval(operand):
            hint = "an interval is added to a date or timestamp, or taken from one"
            self.fault("PC208", operand.span, "an interval cannot stand here", hint)
        else:
            return operand
        return Located(ir.NULL, *operand.span, [])

    def _compared(self, operand: Located) -> Located:
        """The operand of a comparison."""
        if type(operand.node) is ir.Attribute:  # PERF: most are
            return operand
        if operand.is_condition:
            hint = "to ask whether both hold or neither, write `(a AND b) OR (NOT a AND NOT b)`"
            self.fault("PC203", operand.span, f"`{self._quote(operand)}` is a condition; only values compare", hint)
        elif _is_interval(operand):
            self.fault("PC208", operand.span, "nothing compares with an interval", _INTERVAL_HINT)
        else:
            return operand
        return Located(ir.NULL, *operand.span, [])

    def _joined(self, node: ir.Node, start: int, end: int, parts: list[Located]) -> Located:
        """The node over its parts; the array of an ANY(…) among them goes up to it."""
        located = Located(node, start, end, parts)
        for part in parts:
            if part.array is not None:
                self._take_array(located, part)
        return located

    def _take_array(self, located: Located, part: Located) -> None:
        if part.array is None or part.array is located.array:
            return
        if located.array is not None:
            hint = "give the elements of one a name: `ANY items AS i (…)`"
            self.fault("PC212", part.span, "one predicate can hold one ANY or ALL only", hint)
        located.array, part.array = part.array, None

    def _escape(self, escape: Located) -> str | None:
        node = escape.node
        if isinstance(node, ir.Constant) and isinstance(node.value, str) and len(node.value) == 1:
            return node.value
        self.fault("PC211", escape.span, "ESCAPE takes one character between quotes", "as in `ESCAPE '!'`")
        return None

    def _check_like(self, pattern: Located, value: Any, escape: str | None, word: Token) -> None:
        if not isinstance(value, str):
            self.fault("PC209", pattern.span, f"{word.type} takes a pattern between quotes", "as in `LIKE 'abc%'`")
            return
        try:
            parse_like(value, escape)
        except ValueError as error:
            self.fault("PC211", pattern.span, str(error), "it must be followed by `%`, `_` or itself")

    def _check_regex(self, pattern: Located, expression: str) -> None:
        found = regex_fault(expression)
        if found is None:
            return
        reason, first, last = found
        # The offset in the text: past the quote, and a doubled quote for each one before.
        quote = self.text[pattern.start]
        first, last = (pattern.start + 1 + at + expression.count(quote, 0, at) for at in (first, last))
        hint = "patterns are RE2's: no look-around and no back-references"
        self.fault("PC210", (first, last), f"RE2 refuses this pattern: {reason}", hint)


def _is_interval(located: Located) -> bool:
    return isinstance(located.node, ir.Constant) and located.node.type_ is Interval


def _negated(located: Located, word: Token | None) -> Located:
    """NOT of a predicate that was written as NOT IN, NOT LIKE, …: inside the body, where there is an ANY(…)."""
    if word is None:
        return located
    outer = Located(ir.Not(located.node), located.start, located.end, [located])
    outer.array, located.array = located.array, None
    return outer


def _quantified(node: ir.Node, head: _Head, end: int, parts: list[Located]) -> Located:
    located = Located(node, head.word.start, end, parts)
    located.variable = head.variable
    located.brackets = (located.start, end)  # its own brackets tell where it ends
    return located


def _arity(function: Function) -> str:
    least, most = function.min_arguments, function.max_arguments
    if most > 10:
        return f"{least} argument or more"
    if least == most:
        return f"{least} argument{'s' if least > 1 else ''}"
    return f"{least} to {most} arguments"
