"""Inference: the kind of a scalar, as far as literals, functions and the schema tell.

In: a scalar of the IR. Out: its `Kind`, or None where it may be any. A declared type is what a
document should hold, so a kind inferred from it is a promise, not a proof.
"""

from __future__ import annotations

from dataclasses import dataclass

from profilec.grammar import ir
from profilec.values.functions import CAST_KINDS, FUNCTIONS
from profilec.values.kinds import Interval, Kind, kind_of
from profilec.values.types import Schema, Type

_MOMENTS = (Kind.DATE, Kind.TIMESTAMP)


@dataclass(frozen=True, slots=True)
class Typing:
    """What is known about names: the schema, the types of the elements of the arrays around, and in a quantifier the
    variable of the earlier document."""

    schema: Schema | None
    elements: tuple[Type | None, ...] = ()
    earlier: str | None = None

    def inside(self, array: ir.Attribute) -> Typing:
        """What is known in the body of an ANY or ALL over `array`."""
        type_ = self.type_of(array)
        return Typing(self.schema, (*self.elements, None if type_ is None else type_.element), self.earlier)

    def type_of(self, attribute: ir.Attribute) -> Type | None:
        """The declared type; None where none is, or where the name is unknown."""
        if self.schema is None:
            return None
        if attribute.scope < ir.ELEMENT:
            return _declared(self.schema, attribute.parts)
        depth = attribute.scope - ir.ELEMENT
        element = self.elements[depth] if depth < len(self.elements) else None
        if element is None or not attribute.parts:
            return element
        return Schema(element.fields).type_of(attribute.parts)

    def is_unknown(self, attribute: ir.Attribute) -> bool:
        """Whether there is a schema that should declare the attribute, and does not."""
        if self.schema is None or self.type_of(attribute) is not None:
            return False
        depth = attribute.scope - ir.ELEMENT
        return depth < 0 or (depth < len(self.elements) and self.elements[depth] is not None)

    def names(self, scope: int) -> list[str]:
        """The names that are declared in a scope, paths included."""
        if scope >= ir.ELEMENT:
            element = self.elements[scope - ir.ELEMENT]
            return [] if element is None else _paths(element)
        return [] if self.schema is None else _paths(Type("RECORD", fields=self.schema.fields))

    def kind_of(self, scalar: ir.Scalar) -> Kind | None:
        """The kind of every value that the scalar can have, NULL aside.

        >>> Typing(None).kind_of(ir.Call("LOWER", (ir.attribute("a"),)))
        <Kind.STRING: 2>
        """
        if isinstance(scalar, ir.Constant):
            return None if scalar.type_ is Interval else kind_of(scalar.value)  # type: ignore[arg-type]
        if isinstance(scalar, ir.Attribute):
            type_ = self.type_of(scalar)
            return None if type_ is None else type_.kind
        if isinstance(scalar, ir.Cast):
            return CAST_KINDS[scalar.to]
        return self._result(scalar.function, scalar.arguments) if isinstance(scalar, ir.Call) else None

    def _result(self, function: str, arguments: tuple[ir.Scalar, ...]) -> Kind | None:
        if FUNCTIONS[function].result is not None:
            return FUNCTIONS[function].result
        kinds = [self.kind_of(argument) for argument in arguments]
        if function == "COALESCE":
            found = {kind for kind in kinds if kind is not Kind.NULL}
            return found.pop() if len(found) == 1 else None
        interval = next((value for argument in arguments if (value := interval_of(argument))), None)
        if interval is not None:  # a DATE with a time added is a TIMESTAMP
            moment = next((kind for kind in kinds if kind in _MOMENTS), None)
            return Kind.TIMESTAMP if moment is not None and interval.nanos else moment
        return Kind.NUMBER if kinds == [Kind.NUMBER, Kind.NUMBER] else None


_KNOWN: tuple[Schema | None, dict[tuple[str, ...], Type | None]] = (None, {})


def _declared(schema: Schema, parts: tuple[str, ...]) -> Type | None:
    """`schema.type_of`, remembered for the schema used last: a set's profiles ask for the same names over and over."""
    global _KNOWN  # noqa: PLW0603
    known_schema, types = _KNOWN
    if known_schema is not schema:
        types = {}
        _KNOWN = (schema, types)
    if parts not in types:
        types[parts] = schema.type_of(parts)
    return types[parts]


def interval_of(scalar: ir.Scalar) -> Interval | None:
    """The value of an INTERVAL literal."""
    return scalar.value if isinstance(scalar, ir.Constant) and isinstance(scalar.value, Interval) else None


def is_constant(scalar: ir.Scalar) -> bool:
    """Whether no attribute is in it."""
    match scalar:
        case ir.Constant():
            return True
        case ir.Cast(argument, _):
            return is_constant(argument)
        case ir.Call(_, arguments):
            return all(map(is_constant, arguments))
    return False


def _paths(type_: Type, before: str = "") -> list[str]:
    found = []
    for field in type_.fields:
        name = before + field.name
        found.append(name)
        inner = field.type.element if field.type.element is not None else field.type
        found.extend(_paths(inner, name + "."))
    return found
