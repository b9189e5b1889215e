"""The reference interpreter: what a condition means, in the plainest way.

In: a condition, the document, the earlier documents. Out: TRUE, FALSE or UNKNOWN.

Every rewrite, index and matcher is measured against this file, so it does nothing clever: it
reads the IR as it stands and asks `values` for every value. It shares nothing with `normalize`
or the runtime but `values`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import re2

from profilec.grammar import ir
from profilec.values import functions
from profilec.values.compare import compare, truth_and, truth_not, truth_or
from profilec.values.folding import fold
from profilec.values.kinds import Truth, Value
from profilec.values.paths import elements_of, lookup
from profilec.values.patterns import fold_pattern, like_matches, parse_like
from profilec.values.types import Schema, Type, read_as

Document = Mapping[str, Any]

_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a condition is asked: the documents and elements that its attributes belong to."""

    new: Document
    store: Sequence[Document]
    schema: Schema | None
    old: Document | None = None
    elements: tuple[Value, ...] = ()
    element_types: tuple[Type | None, ...] = ()


def evaluate(
    condition: ir.Condition, document: Document, documents: Sequence[Document] = (), schema: Schema | None = None
) -> Truth:
    """The truth of a condition for a document; `documents` are the earlier ones, oldest first.

    >>> price = ir.attribute("price")
    >>> cheap = ir.Compare("<", price, ir.constant(5))
    >>> evaluate(cheap, {"price": 3}), evaluate(cheap, {"price": "3"}), evaluate(cheap, {})
    (True, None, None)
    >>> evaluate(ir.Exists(ir.Compare("=", ir.attribute("price", ir.OLD), price), ir.WHOLE_STORE), {"price": 3}, [{}])
    False

    Raises:
        DocumentError: a value that the condition asks for is of no kind.
    """
    return _truth(condition, _Place(document, documents, schema))


def _truth(condition: ir.Condition, place: _Place) -> Truth:
    match condition:
        case ir.Literal(truth):
            return truth
        case ir.Not(operand):
            return truth_not(_truth(operand, place))
        case ir.And(operands):
            return truth_and([_truth(operand, place) for operand in operands])
        case ir.Or(operands):
            return truth_or([_truth(operand, place) for operand in operands])
        case ir.IsTruth(operand, truth):
            return _truth(operand, place) is truth
        case ir.Compare(operator, left, right):
            return compare(operator, _value(left, place), _value(right, place))
        case ir.In(item, options):
            value = _value(item, place)
            return truth_or([compare("=", value, _value(option, place)) for option in options])
        case ir.IsNull(operand):
            return _value(operand, place) is None
        case ir.Like():
            return _like(condition, place)
        case ir.Matches(text, pattern):
            return _matches(_value(text, place), pattern)
        case ir.Some(array, body):
            truths = _truths_of_elements(array, body, place)
            return None if truths is None else truth_or(truths)
        case ir.Every(array, body):
            truths = _truths_of_elements(array, body, place)
            return None if truths is None else truth_and(truths)
        case ir.Exists(body, scope):
            return any(_truth(body, replace(place, old=old)) is True for old in _in_scope(scope, place))
        case ir.ForAll(body, scope):
            return all(_truth(body, replace(place, old=old)) is True for old in _in_scope(scope, place))
    raise TypeError(f"no condition: {condition!r}")


def _like(condition: ir.Like, place: _Place) -> Truth:
    text, pattern = _value(condition.text, place), _value(condition.pattern, place)
    if not isinstance(text, str) or not isinstance(pattern, str):
        return None
    try:
        elements = parse_like(pattern, condition.escape)
    except ValueError:
        return None
    return like_matches(fold_pattern(elements), fold(text)) if condition.ignore_case else like_matches(elements, text)


def _matches(text: Value, pattern: str) -> Truth:
    if not isinstance(text, str):
        return None
    return re2.search(pattern, _SURROGATES.sub("\ufffd", text)) is not None


def _truths_of_elements(array: ir.Attribute, body: ir.Condition, place: _Place) -> list[Truth] | None:
    elements = elements_of(_value(array, place))
    if elements is None:
        return None
    array_type = _type_of(array, place)
    types = (*place.element_types, array_type.element if array_type is not None else None)
    return [
        _truth(body, replace(place, elements=(*place.elements, element), element_types=types)) for element in elements
    ]


def _in_scope(scope: ir.Scope, place: _Place) -> list[Document]:
    """LAST, then WITHIN, then WHERE."""
    documents = list(place.store)
    if scope.last is not None:
        documents = documents[max(len(documents) - scope.last, 0) :]
    if scope.within is not None and scope.within_of is not None:
        time = ir.Attribute(ir.NEW, scope.within_of)
        latest = _value(time, place)
        earliest = functions.call("-", [latest, scope.within])  # type: ignore[list-item]
        time_of_old = ir.Attribute(ir.OLD, scope.within_of)
        documents = [
            old
            for old in documents
            if compare("<=", earliest, _value(time_of_old, replace(place, old=old)))
            and compare("<=", _value(time_of_old, replace(place, old=old)), latest)
        ]
    if scope.where is not None:
        documents = [old for old in documents if _truth(scope.where, replace(place, old=old)) is True]
    return documents


def _value(scalar: ir.Scalar, place: _Place) -> Value:
    match scalar:
        case ir.Constant(_, value):
            return value  # type: ignore[return-value]  # an Interval is an argument of + and - only
        case ir.Attribute():
            return _attribute(scalar, place)
        case ir.Call(function, arguments):
            return functions.call(function, [_value(argument, place) for argument in arguments])
        case ir.Cast(argument, to):
            return functions.cast(_value(argument, place), to)
    raise TypeError(f"no scalar: {scalar!r}")


def _attribute(attribute: ir.Attribute, place: _Place) -> Value:
    holder: Any
    if attribute.scope == ir.NEW:
        holder = place.new
    elif attribute.scope == ir.OLD:
        holder = place.old
    else:
        holder = place.elements[attribute.scope - ir.ELEMENT]
    if not attribute.parts:
        found: Value = holder
    else:
        found = lookup(holder, attribute.parts) if isinstance(holder, Mapping) else None
    return read_as(found, _type_of(attribute, place))


def _type_of(attribute: ir.Attribute, place: _Place) -> Type | None:
    """The type that the schema declares for the attribute, also for one of an element."""
    if place.schema is None:
        return None
    if attribute.scope < ir.ELEMENT:
        return place.schema.type_of(attribute.parts)
    element_type = place.element_types[attribute.scope - ir.ELEMENT]
    if element_type is None or not attribute.parts:
        return element_type
    return Schema(element_type.fields).type_of(attribute.parts)
