"""The kinds of a condition's attributes: as the schema says, else as the condition uses them.

In: a condition. Out: `Kinds`. SQL gives a column one type, and converts what is compared with
it; ours compares values of different kinds as UNKNOWN. So a condition that takes one attribute
for two kinds, or against its type, is refused: some dialect would answer it.

What is compared with each other is of one kind: a union-find over attributes, whose classes
take the kind of any constant or function among them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from profilec.grammar import ir
from profilec.grammar.diagnostics import did_you_mean
from profilec.grammar.sql.refusal import Refusal, a_kind
from profilec.values.functions import CAST_KINDS, FUNCTIONS
from profilec.values.kinds import Interval, Kind, kind_of
from profilec.values.types import Schema, Type

_TIMES = (Kind.DATE, Kind.TIMESTAMP)


class Key(NamedTuple):
    """An attribute, and for an element's the arrays around it: the element of another array is another."""

    attribute: ir.Attribute
    arrays: tuple[ir.Attribute, ...]


@dataclass(slots=True)
class Kinds:
    """What is known of each attribute. `parent` is the union-find's forest, `known` the kind of a root."""

    schema: Schema | None
    parent: dict[Key, Key] = field(default_factory=dict)
    known: dict[Key, Kind] = field(default_factory=dict)

    def of(self, scalar: ir.Scalar, arrays: tuple[ir.Attribute, ...]) -> Kind | None:
        """The kind of a scalar's values; None where nothing tells, Kind.NULL for NULL itself."""
        match scalar:
            case ir.Constant(_, value):
                if isinstance(value, Interval):
                    raise Refusal("an interval by itself", code="PC503")
                return kind_of(value)
            case ir.Attribute():
                return self.known.get(self.root(_key(scalar, arrays)))
            case ir.Cast(_, to):
                return CAST_KINDS[to]
            case ir.Call("COALESCE", arguments):
                kinds = [self.of(argument, arrays) for argument in arguments]
                return next((kind for kind in kinds if kind not in (None, Kind.NULL)), None)
            case ir.Call("+" | "-", arguments) if (shift := shift_of(arguments)) is not None:
                time, span = shift
                kind = self.of(time, arrays)
                return Kind.TIMESTAMP if kind in _TIMES and span.nanos else kind
            case ir.Call(function, _):
                return FUNCTIONS[function].result or Kind.NUMBER
        raise TypeError(f"no scalar: {scalar!r}")

    def root(self, key: Key) -> Key:
        """The class of an attribute; enters it, with its type, when it is first asked for."""
        if key not in self.parent:
            self.parent[key] = key
            type_ = self.type_of(key)
            if type_ is not None:
                self.known[key] = type_.kind
        while self.parent[key] is not key:
            self.parent[key] = key = self.parent[self.parent[key]]
        return key

    def type_of(self, key: Key) -> Type | None:
        """The declared type. Raises Refusal for an attribute that the schema does not have."""
        if self.schema is None:
            return None
        attribute, arrays = key
        name = ".".join(attribute.parts)
        if attribute.scope < ir.ELEMENT:
            type_ = self.schema.type_of(attribute.parts)
            names = [declared.name for declared in self.schema.fields]
        else:
            depth = attribute.scope - ir.ELEMENT
            array = self.type_of(Key(arrays[depth], arrays[:depth]))
            element = array.element if array is not None else None
            if not attribute.parts:
                return element
            names = [declared.name for declared in element.fields] if element is not None else []
            type_ = Schema(element.fields).type_of(attribute.parts) if element is not None else None
        if type_ is None:
            raise Refusal(f"the schema has no attribute `{name}`", did_you_mean(name, names), code="PC214")
        return type_

    def unite(self, scalars: Iterable[ir.Scalar], arrays: tuple[ir.Attribute, ...], kind: Kind | None = None) -> None:
        """Says that these are of one kind, and of which if that is known."""
        root: Key | None = None
        scalars = list(scalars)
        for scalar in scalars:
            own = self.of(scalar, arrays)
            if own not in (None, Kind.NULL):
                kind = _agreed(kind, own, scalars)
            for key in _keys(scalar, arrays):
                other = self.root(key)
                if root is not None and root is not other:
                    self.parent[other] = root
                root = root or other
        if root is not None and kind is not None:
            self.known[root] = kind


def infer_kinds(condition: ir.Condition, schema: Schema | None) -> Kinds:
    """The kinds of a condition's attributes.

    Raises:
        Refusal: an attribute is taken for two kinds.
    """
    kinds = Kinds(schema)
    # A later predicate may tell a kind that an earlier one needs: once round more for each that was told.
    before = -1
    while before < len(kinds.known):
        before = len(kinds.known)
        _of_condition(condition, kinds, ())
    return kinds


def shift_of(arguments: tuple[ir.Scalar, ...]) -> tuple[ir.Scalar, Interval] | None:
    """What is moved by which interval, where one of two operands is an interval."""
    match arguments:
        case (time, ir.Constant(_, Interval() as span)) | (ir.Constant(_, Interval() as span), time):
            return time, span
    return None


def _of_condition(node: ir.Condition, kinds: Kinds, arrays: tuple[ir.Attribute, ...]) -> None:
    match node:
        case ir.Compare(_, ir.Constant(), ir.Constant()) | ir.Literal():
            return
        case ir.Compare(_, left, right):
            _of_scalars((left, right), kinds, arrays)
            kinds.unite((left, right), arrays)
        case ir.In(item, options):
            _of_scalars((item, *options), kinds, arrays)
            kinds.unite((item, *options), arrays)
        case ir.Like(text, pattern, _, _):
            _of_scalars((text, pattern), kinds, arrays)
            kinds.unite((text, pattern), arrays, Kind.STRING)
        case ir.Matches(text, _):
            _of_scalars((text,), kinds, arrays)
            kinds.unite((text,), arrays, Kind.STRING)
        case ir.IsNull(operand):
            _of_scalars((operand,), kinds, arrays)
        case ir.Some(array, body) | ir.Every(array, body):
            kinds.unite((array,), arrays, Kind.OPAQUE)
            _of_condition(body, kinds, (*arrays, array))
        case ir.And(operands) | ir.Or(operands):
            for operand in operands:
                _of_condition(operand, kinds, arrays)
        case ir.Not(operand) | ir.IsTruth(operand, _):
            _of_condition(operand, kinds, arrays)
        case ir.Exists() | ir.ForAll():
            raise Refusal(
                "a quantifier over earlier documents has no place in a WHERE clause of one table", code="PC503"
            )


def _of_scalars(scalars: tuple[ir.Scalar, ...], kinds: Kinds, arrays: tuple[ir.Attribute, ...]) -> None:
    for scalar in scalars:
        match scalar:
            case ir.Call("COALESCE", arguments):
                _of_scalars(arguments, kinds, arrays)
                kinds.unite(arguments, arrays)
            case ir.Call("+" | "-", arguments) if (shift := shift_of(arguments)) is not None:
                time, span = shift
                _of_scalars((time,), kinds, arrays)
                kind = kinds.of(time, arrays)
                if kind is None and span.nanos:
                    kinds.unite((time,), arrays, Kind.TIMESTAMP)
                elif kind not in (None, Kind.NULL, *_TIMES):
                    raise Refusal(f"an interval added to {a_kind(kind)}", code="PC503")
            case ir.Call(function, arguments):
                parameters = FUNCTIONS[function].parameters
                _of_scalars(arguments, kinds, arrays)
                for argument, parameter in zip(arguments, parameters, strict=False):
                    kinds.unite((argument,), arrays, parameter or Kind.NUMBER)
            case ir.Cast(argument, _):
                _of_scalars((argument,), kinds, arrays)


def _keys(scalar: ir.Scalar, arrays: tuple[ir.Attribute, ...]) -> list[Key]:
    """The attributes whose kind is the scalar's."""
    match scalar:
        case ir.Attribute():
            return [_key(scalar, arrays)]
        case ir.Call("COALESCE", arguments):
            return [key for argument in arguments for key in _keys(argument, arrays)]
        case ir.Call("+" | "-", arguments) if (shift := shift_of(arguments)) is not None:
            time, span = shift
            return [] if span.nanos else _keys(time, arrays)
    return []


def _key(attribute: ir.Attribute, arrays: tuple[ir.Attribute, ...]) -> Key:
    return Key(attribute, arrays if attribute.scope >= ir.ELEMENT else ())


def _agreed(first: Kind | None, second: Kind | None, scalars: list[ir.Scalar]) -> Kind | None:
    if first is None or second is None or first is second:
        return second if first is None else first
    named = [".".join(scalar.parts) for scalar in scalars if isinstance(scalar, ir.Attribute) and scalar.parts]
    what = f"`{named[0]}` is taken for" if named else "a comparison of"
    raise Refusal(f"{what} {a_kind(first)} and {a_kind(second)}: UNKNOWN here, and converted in SQL", code="PC503")
