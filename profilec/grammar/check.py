"""Checks on a condition that reads well: names and types against SCHEMA, and what can never be TRUE.

In: a located condition, and the schema where there is one. Out: diagnostics; errors for what
contradicts the schema, warnings (PC6xx) for what means something, but hardly what was meant.

Invariant: a check never changes the condition. Without a schema only literals and the results of
functions have a known kind, so nothing is said about an attribute's.
"""

from __future__ import annotations

from profilec.grammar import ir
from profilec.grammar.diagnostics import Diagnostic, Source, did_you_mean
from profilec.grammar.infer import Typing, interval_of, is_constant
from profilec.grammar.lexer import string_value
from profilec.grammar.located import Located
from profilec.grammar.ranges import empty_range
from profilec.grammar.refusals import TextError, shorten
from profilec.grammar.spell import spell_name
from profilec.grammar.variables import Uses, doubtful
from profilec.values.dates import print_interval
from profilec.values.functions import FUNCTIONS
from profilec.values.kinds import NANOS_PER_DAY, Interval, Kind
from profilec.values.types import Schema

_MOMENTS = frozenset({Kind.DATE, Kind.TIMESTAMP})
_STRINGS_ONLY = "LIKE and MATCHES ask strings"


def check(located: Located, text: str, schema: Schema | None = None, *, file: str | None = None) -> list[Diagnostic]:
    """What is wrong or doubtful in a condition that was read from `text`.

    >>> from profilec.grammar.parse import parse_condition
    >>> text = "a = NULL OR b = c = d"
    >>> [diagnostic.code for diagnostic in check(parse_condition(text), text)]
    ['PC604', 'PC601']
    """
    source = Source(text, file)
    return [
        source.diagnostic(finding.code, finding.start, finding.end, finding.message, hint=finding.hint)
        for finding in findings(located, text, schema)
    ]


def findings(located: Located, text: str, schema: Schema | None = None) -> list[TextError]:
    """What `check` finds, by offsets, in the order of their places."""
    checker = _Checker(text)
    checker.walk(located, Typing(schema))
    # The two comparisons of BETWEEN stand at one place: what is said of both is said once.
    once = {(finding.code, finding.start, finding.end): finding for finding in reversed(checker.found)}
    return sorted(once.values(), key=lambda finding: finding.start)


class _Checker:
    """One walk over a condition. `walk` goes through conditions without recursion, `_scalar` down values."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[TextError] = []
        self._uses = Uses()

    def walk(self, located: Located, typing: Typing) -> None:
        """Go through all conditions, each with what is known there and the type of the node above it.

        PERF: every condition of a new shape is checked, so the frequent nodes are told by type.
        """
        waiting: list[tuple[Located, Typing, type[ir.Node] | None]] = [(located, typing, None)]
        while waiting:
            at, known, above = waiting.pop()
            node = at.node
            kind = type(node)
            if kind is ir.Compare:
                self._compare(at, known)
            elif kind is ir.And or kind is ir.Or or kind is ir.Not or kind is ir.IsTruth:
                if kind is ir.And:
                    self._conjunction(at, is_nested=above is ir.And)
                waiting += [(part, known, kind) for part in at.parts]
            elif kind is ir.In:
                self._in(at, known, negated=above is ir.Not)
            elif kind is ir.Like or kind is ir.Matches:
                self._text_test(at, known)
            elif isinstance(node, ir.IsNull):
                self._scalar(at.parts[0], known)
                if is_constant(node.operand):
                    self._constant(at)
            elif isinstance(node, ir.Some | ir.Every):
                self._array(at, known)
                waiting.append((at.parts[1], known.inside(node.array), kind))
            elif kind is ir.Exists or kind is ir.ForAll:
                self._uses.quantified.append(at)
                self._within(at.parts[1], known)
                known = Typing(known.schema, known.elements, None if at.variable is None else at.variable.text)
                waiting += [(part, known, kind) for part in (at.parts[0], *at.parts[1].parts)]
        if self._uses.quantified:
            self.found += doubtful(self._uses, self.text, typing)

    # -- values

    def _scalar(self, at: Located, known: Typing) -> Kind | None:
        """Look at a value and all below it; its kind, where it is known."""
        node = at.node
        if isinstance(node, ir.Attribute):
            self._uses.see(at, node, self.text)
            if known.schema is None:
                return None
            if known.is_unknown(node):
                self._unknown(at, node, known)
        elif isinstance(node, ir.Call):
            self._call(at, node, [self._scalar(part, known) for part in at.parts])
        elif isinstance(node, ir.Cast):
            self._scalar(at.parts[0], known)
        return known.kind_of(node)  # type: ignore[arg-type]

    def _call(self, at: Located, node: ir.Call, kinds: list[Kind | None]) -> None:
        if node.function in ("+", "-"):
            self._sum(at, node, kinds)
            return
        parameters = FUNCTIONS[node.function].parameters
        for place, (part, kind) in enumerate(zip(at.parts, kinds, strict=True)):
            wanted = parameters[min(place, len(parameters) - 1)]
            if wanted is not None and kind is not None and kind is not wanted:
                self._argument(part, node.function, wanted, kind)

    def _argument(self, part: Located, function: str, wanted: Kind, kind: Kind) -> None:
        name = "a minus" if function == "NEGATE" else f"`{function}`" if len(function) == 1 else function
        message = f"{name} takes a {_name(wanted)}; `{self._quote(part)}` is {_a(kind)}"
        self._mismatch("PC608", part, message)

    def _sum(self, at: Located, node: ir.Call, kinds: list[Kind | None]) -> None:
        interval = any(interval_of(argument) for argument in node.arguments)
        for part, kind, argument in zip(at.parts, kinds, node.arguments, strict=True):
            if interval_of(argument) is not None or kind is None:
                continue
            if interval and kind not in _MOMENTS:
                self._mismatch("PC608", part, f"an interval goes with a date or timestamp, not with {_a(kind)}")
                return
            if not interval and kind is not Kind.NUMBER:
                message = f"`{node.function}` takes numbers; `{self._quote(part)}` is {_a(kind)}"
                hint = "for the span between two, write `a > b + INTERVAL '3 days'`" if kind in _MOMENTS else None
                self._mismatch("PC608", part, message, hint)
                return

    def _unknown(self, at: Located, node: ir.Attribute, known: Typing) -> None:
        name = ".".join(node.parts)
        names = known.names(node.scope)
        whose = "SCHEMA has no" if node.scope < ir.ELEMENT else "these elements have no"
        hint = did_you_mean(name, names)
        if len(node.parts) == 1 and name in names:
            hint = f"in back-quotes this is one name; the path is written {name}"
        elif node.scope == ir.NEW and known.earlier is not None and ".".join(node.parts[1:]) in names:
            rest = self._quote(at)[len(node.parts[0]) :]
            hint = f"did you mean `{shorten(known.earlier + rest)}`? {known.earlier} is the earlier document here"
        self.found.append(TextError("PC214", *at.span, f"{whose} attribute {shorten(name)}", hint))

    # -- predicates

    def _compare(self, at: Located, known: Typing) -> None:
        node, (left, right) = at.node, at.parts
        assert isinstance(node, ir.Compare)
        kinds = (self._scalar(left, known), self._scalar(right, known))
        if None in kinds and Kind.NULL not in kinds and Kind.OPAQUE not in kinds:
            return
        if right.span == left.span and kinds[0] not in (None, Kind.BOOLEAN):  # a bare attribute
            message = f"`{self._quote(left)}` is {self._described(left, known)}, so it is never TRUE by itself"
            self._warn("PC614", left, message, f"compare it: `{self._quote(left)} = …`")
            return
        if Kind.NULL in kinds:
            operand = self._quote(left if kinds[1] is Kind.NULL else right)
            test = "IS NOT NULL" if node.operator == "!=" else "IS NULL"
            self._warn("PC604", at, "a comparison with NULL is never TRUE", f"write `{operand} {test}`")
            return
        if not self._kinds_meet(at, left, right, known, kinds) and is_constant(node.left) and is_constant(node.right):
            self._constant(at)

    def _kinds_meet(
        self, at: Located, left: Located, right: Located, known: Typing, kinds: tuple[Kind | None, Kind | None]
    ) -> bool:
        """Warn where two operands never compare; whether there was something to say."""
        for part, kind in zip((left, right), kinds, strict=True):
            if kind is Kind.OPAQUE:
                name = self._quote(part)
                message = f"`{name}` is {self._described(part, known)}, which compares with nothing"
                self._warn("PC611", part, message, f"ask its elements: `ANY({name}) = …`")
                return True
        if None in kinds or kinds[0] is kinds[1]:
            return False
        if set(kinds) == _MOMENTS:
            hint = "write CAST(… AS DATE) or CAST(… AS TIMESTAMP) on one side"
            self._warn("PC609", at, "a date never compares with a timestamp", hint)
            return True
        first, second = (f"`{self._quote(part)}` is {self._described(part, known)}" for part in (left, right))
        message = f"{first} and {second}; they never compare"
        quoted_number = Kind.NUMBER in kinds and any(_looks_like_number(part.node) for part in (left, right))
        meant = "a number is written without quotes" if quoted_number else self._quoted_name([left, right])
        self._warn("PC603", at, message, meant)
        return True

    def _in(self, at: Located, known: Typing, *, negated: bool) -> None:
        item, *options = at.parts
        kind = self._scalar(item, known)
        kinds = [self._scalar(option, known) for option in options]
        if kind is Kind.NULL:
            self._warn("PC604", at, "NULL is in no list", None)
            return
        if negated and Kind.NULL in kinds:
            at_null = options[kinds.index(Kind.NULL)]
            self._warn("PC605", at_null, "NOT IN is never TRUE when a NULL is among the values", "leave the NULL out")
            return
        if all(other is Kind.NULL for other in kinds):
            self._warn("PC604", at, "a comparison with NULL is never TRUE", f"write `{self._quote(item)} IS NULL`")
            return
        found = {other for other in kinds if other is not None and other is not Kind.NULL}
        if negated and len(found) > 1:
            second = next(place for place, other in enumerate(kinds) if other is not kinds[0] and other is not None)
            message = "NOT IN is never TRUE when the values are of several kinds"
            self._warn("PC606", options[second], message, "write one NOT IN for each kind, joined with OR")
            return
        for option, other in zip(options, kinds, strict=True):
            if other is not Kind.NULL and self._kinds_meet(option, item, option, known, (kind, other)):
                return
        if all(map(is_constant, (part.node for part in at.parts))):  # type: ignore[arg-type]
            self._constant(at)

    def _text_test(self, at: Located, known: Typing) -> None:
        """LIKE and MATCHES: both sides are strings."""
        for part in at.parts:
            kind = self._scalar(part, known)
            if kind is Kind.NULL:
                self._warn("PC604", at, "a comparison with NULL is never TRUE", None)
                return
            if kind not in (None, Kind.STRING):
                name = self._quote(part)
                hint = (
                    f"write `CAST({name} AS STRING)`"
                    if kind is not Kind.OPAQUE
                    else f"ask its elements: `ANY({name}) …`"
                )
                message = f"`{self._quote(part)}` is {self._described(part, known)}; {_STRINGS_ONLY}"
                self._mismatch("PC603", part, message, hint)
                return
        if all(is_constant(part.node) for part in at.parts):  # type: ignore[arg-type]
            self._constant(at)

    def _conjunction(self, at: Located, *, is_nested: bool) -> None:
        self._chain(at)
        contradiction = None if is_nested else empty_range(at)
        if contradiction is not None:
            first, second = contradiction
            span = (min(first.start, second.start), max(first.end, second.end))
            message = "no value lies between these bounds"
            hint = "BETWEEN takes the smaller bound first" if first.parts[0] is second.parts[0] else None
            self.found.append(TextError("PC607", *span, message, hint))

    def _chain(self, at: Located) -> None:
        """`a = b = c`: the links share the operand in the middle."""
        for link, following in zip(at.parts, at.parts[1:], strict=False):
            first, second = link.node, following.node
            if not (isinstance(first, ir.Compare) and isinstance(second, ir.Compare)):
                continue
            if following.parts[0] is link.parts[1] and first.operator == second.operator == "=":
                span = (link.start, following.end)
                operands = [self._quote(part) for part in (*link.parts, following.parts[1])]
                message = (
                    f"a chain of equalities means `{operands[0]} = {operands[1]} AND {operands[1]} = {operands[2]}`"
                )
                self.found.append(TextError("PC601", *span, message, "to ask for a truth value, write `(…) IS TRUE`"))
                return

    # -- arrays and quantifiers

    def _array(self, at: Located, known: Typing) -> None:
        array, body = at.parts
        node = at.node
        assert isinstance(node, ir.Some | ir.Every)
        self._scalar(array, known)
        type_ = known.type_of(node.array)
        name = self._quote(array)
        word = "ANY" if isinstance(node, ir.Some) else "ALL"
        if at.variable is not None:
            self._uses.quantified.append(at)
        comparison = body.node
        # CONTAINS has no text of its own for the element: it stands where the array does.
        contains = isinstance(comparison, ir.Compare) and body.parts[0].span == array.span
        if type_ is not None and type_.name != "ARRAY":
            if contains and type_.name == "STRING":
                self._warn("PC613", at, f"`{name}` is a string; CONTAINS asks arrays", f"write `{name} LIKE '%…%'`")
                return
            message = f"{'CONTAINS' if contains else word} asks an array; `{name}` is {type_}"
            self.found.append(TextError("PC215", *array.span, message))
        elif (
            word == "ANY" and at.variable is None and isinstance(comparison, ir.Compare) and comparison.operator == "!="
        ):
            equal = self._quote(body).replace("<>", "=").replace("!=", "=").replace("≠", "=")
            message = "this holds as soon as one element differs"
            self._warn("PC612", at, message, f"for 'no element is', write `NOT {equal}`")

    def _within(self, scope: Located, known: Typing) -> None:
        node = scope.node
        assert isinstance(node, ir.Scope)
        if node.within is None or node.within_of is None:
            return
        if _goes_forward(node.within):
            message = "WITHIN looks back by this interval, which is negative, so no earlier document is in range"
            self._warn("PC616", scope, message, _turned(node.within))
            return
        if known.schema is None:
            return
        attribute = ir.Attribute(ir.OLD, node.within_of)
        if known.is_unknown(attribute):
            self._unknown(scope, attribute, known)
            return
        kind = known.kind_of(attribute)
        if kind not in _MOMENTS:
            type_ = known.type_of(attribute)
            message = f"WITHIN asks a date or timestamp; {'.'.join(node.within_of)} is {type_}"
            self.found.append(TextError("PC215", *scope.span, message))
        elif kind is Kind.DATE and node.within.nanos:
            name = ".".join(node.within_of)
            message = f"{name} is DATE, and a date minus hours is a timestamp, so no earlier document is in range"
            self._warn("PC616", scope, message, f"write whole days, or declare {name} as TIMESTAMP")

    # -- what they share

    def _warn(self, code: str, at: Located, message: str, hint: str | None = None) -> None:
        self.found.append(TextError(code, *at.span, message, hint))

    def _constant(self, at: Located) -> None:
        self._warn("PC602", at, "this does not depend on the record", self._quoted_name(at.parts))

    def _quoted_name(self, operands: list[Located]) -> str | None:
        """Of literals only: the string that was most likely meant as an attribute's name."""
        if not all(isinstance(part.node, ir.Constant) for part in operands):
            return None
        strings = [part for part in operands if isinstance(part.node, ir.Constant) and isinstance(part.node.value, str)]
        found = next((part for part in strings if self.text[part.start] == '"'), strings[0] if strings else None)
        name = string_value(self.text[found.start : found.end]) if found is not None else ""
        if found is None or not name or "\n" in name:
            return None
        return f"{self._quote(found)} is a string; the attribute is written {spell_name((name,))}"

    def _mismatch(self, code: str, at: Located, message: str, hint: str | None = None) -> None:
        """A wrong kind: an error where SCHEMA declares it, else a warning."""
        code = "PC215" if isinstance(at.node, ir.Attribute) else code
        self.found.append(TextError(code, *at.span, message, hint))

    def _quote(self, located: Located) -> str:
        start, end = located.span
        return shorten(self.text[start:end])

    def _described(self, located: Located, known: Typing) -> str:
        node = located.node
        type_ = known.type_of(node) if isinstance(node, ir.Attribute) else None
        return str(type_) if type_ is not None else _a(known.kind_of(node) or Kind.NULL)  # type: ignore[arg-type]


def _goes_forward(interval: Interval) -> bool:
    """Whether an interval is negative, however long its months are."""
    days = interval.months * (31 if interval.months > 0 else 28) + interval.days
    return days * NANOS_PER_DAY + interval.nanos < 0


def _turned(interval: Interval) -> str | None:
    turned = Interval(-interval.months, -interval.days, -interval.nanos)
    if min(turned.months, turned.days, turned.nanos) < 0:
        return None
    return f"write `INTERVAL '{print_interval(turned)}'`"


def _looks_like_number(node: ir.Node) -> bool:
    return isinstance(node, ir.Constant) and isinstance(node.value, str) and node.value.replace(".", "", 1).isdecimal()


def _name(kind: Kind) -> str:
    return kind.name.lower() if kind is not Kind.OPAQUE else "array or record"


def _a(kind: Kind) -> str:
    name = _name(kind)
    return "NULL" if kind is Kind.NULL else f"an {name}" if name[0] == "a" else f"a {name}"
