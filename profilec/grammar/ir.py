"""The IR: a condition as frozen, interned nodes.

In: what `parse` builds. Out: what `planner` rewrites and lowers. There are two sorts, `Scalar`
(has a value) and `Condition` (has a truth). Source spans are not here; `parse.Located` keeps
them beside the nodes.

Invariant: two nodes are equal exactly when they are the same object (hash-consing), so
equality and hashing are O(1) and a condition that repeats is stored once.

    a BETWEEN 1 AND 5      And((Compare(">=", a, 1), Compare("<=", a, 5)))
    flag                   Compare("=", flag, TRUE)
    a NOT IN (1, 2)        Not(In(a, (1, 2)))
    ANY(tags) = 'x'        Some(tags, Compare("=", element, 'x'))    element: Attribute(ELEMENT, ())
    ANY items AS i (i.q>3) Some(items, Compare(">", Attribute(ELEMENT, ("q",)), 3))
    EXISTS d (d.x = x)     Exists(Compare("=", Attribute(OLD, ("x",)), Attribute(NEW, ("x",))))
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import get_annotations
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import ref

from profilec.values.kinds import Interval, Truth, Value
from profilec.values.locks import new_reentrant_lock
from profilec.values.numbers import normal

NEW = 0
"""Scope of an attribute of the document being matched."""
OLD = 1
"""Scope of an attribute of the earlier document that a quantifier ranges over."""
ELEMENT = 2
"""Scope of the element of the outermost ANY/ALL; ELEMENT + 1 is that of the one inside it, and so on."""


_changing_pools = new_reentrant_lock()
"""Held where a place in a pool is looked at and then changed. A node may die, and be forgotten, while it is held."""


class _Entry(ref["Node"]):
    """A node's place in the pool of its class: it dies with the node, and its key then leaves the pool."""

    __slots__ = ("fields",)
    fields: tuple[Any, ...]


class _Interned(type):
    """Makes `Class(*fields)` return the one node with these fields.

    PERF: parsing text of a known shape is little else than these calls. Hence a dict of weak
    references per class; a WeakValueDictionary does the same three times slower.
    """

    _pool: dict[tuple[Any, ...], _Entry]
    _add: Callable[[tuple[Any, ...]], Any]

    def __call__(cls, *fields: Any) -> Any:
        entry = cls._pool.get(fields)
        if entry is not None:
            node = entry()
            if node is not None:
                return node
        return cls._add(fields)


def _adder(cls: type[Node], pool: dict[tuple[Any, ...], _Entry]) -> Callable[[tuple[Any, ...]], Any]:
    """What makes a new node of a class and puts it into the class's pool."""
    n_fields, changing = len(cls.fields), _changing_pools  # the module's names may be gone when the last nodes die
    fill = _filler([cls.__dict__[name].__set__ for name in cls.fields])
    new = object.__new__

    def forget(entry: _Entry) -> None:
        with changing:
            if pool.get(entry.fields) is entry:  # else a new node with these fields has taken the place
                del pool[entry.fields]

    def add(fields: tuple[Any, ...]) -> Any:
        if len(fields) != n_fields:
            raise TypeError(f"{cls.__name__} takes {', '.join(cls.fields)}")
        node = new(cls)
        fill(node, *fields)
        entry = _Entry(node, forget)
        entry.fields = fields
        # Another thread may have come in since the look-up: setdefault lets one of the two nodes win.
        winner = pool.setdefault(fields, entry)
        if winner is not entry:
            with changing:
                winner = pool.setdefault(fields, entry)
                won = winner()
                if won is not None:
                    return won
                pool[fields] = entry
        return node

    return add


def _filler(writers: list[Callable[[Any, Any], None]]) -> Callable[..., None]:
    """What writes all fields of a new node. PERF: twice as fast as a loop over the writers."""
    if len(writers) == 1:
        return writers[0]
    if len(writers) == 2:
        return _two(*writers)
    if len(writers) == 3:
        return _three(*writers)

    def fill(node: Node, *values: Any) -> None:
        for write, value in zip(writers, values, strict=True):
            write(node, value)

    return fill


def _two(first: Callable[[Any, Any], None], second: Callable[[Any, Any], None]) -> Callable[..., None]:
    def fill(node: Node, value_1: Any, value_2: Any) -> None:
        first(node, value_1)
        second(node, value_2)

    return fill


def _three(
    first: Callable[[Any, Any], None], second: Callable[[Any, Any], None], third: Callable[[Any, Any], None]
) -> Callable[..., None]:
    def fill(node: Node, value_1: Any, value_2: Any, value_3: Any) -> None:
        first(node, value_1)
        second(node, value_2)
        third(node, value_3)

    return fill


class Node(metaclass=_Interned):
    """A node of the IR. Its fields are given by position, in the order of their annotations; they never change."""

    __slots__ = ("__weakref__",)
    fields: ClassVar[tuple[str, ...]] = ()

    if TYPE_CHECKING:

        def __init__(self, *fields: Any) -> None: ...

    def __init_subclass__(cls) -> None:
        # Not the order of __slots__, which linters like to sort.
        cls.fields = tuple(get_annotations(cls))
        cls._pool = {}
        cls._add = _adder(cls, cls._pool)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, name) for name in self.fields)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(repr(getattr(self, name)) for name in self.fields)})"


class Scalar(Node):
    """A node that has a value."""

    __slots__ = ()


class Condition(Node):
    """A node that has a truth: TRUE, FALSE or UNKNOWN."""

    __slots__ = ()


class Attribute(Scalar):
    """An attribute: `scope` is NEW, OLD or ELEMENT + depth; `parts` its name cut at the dots.

    Empty parts are the element itself (ELEMENT scopes only).
    """

    __slots__ = __match_args__ = ("scope", "parts")
    scope: int
    parts: tuple[str, ...]


class Constant(Scalar):
    """A literal. `type_` keeps 1 and TRUE apart; build with `constant(value)`."""

    __slots__ = __match_args__ = ("type_", "value")
    type_: type
    value: Value | Interval


class Call(Scalar):
    """A scalar function or operator of `values.functions.FUNCTIONS` on its arguments."""

    __slots__ = __match_args__ = ("function", "arguments")
    function: str
    arguments: tuple[Scalar, ...]


class Cast(Scalar):
    """CAST(argument AS to), `to` one of `values.functions.CAST_TYPES`."""

    __slots__ = __match_args__ = ("argument", "to")
    argument: Scalar
    to: str


class Literal(Condition):
    """TRUE, FALSE or NULL (UNKNOWN) as a condition."""

    __slots__ = __match_args__ = ("truth",)
    truth: Truth


class Compare(Condition):
    """`left operator right`, operator one of `= != < <= > >=`."""

    __slots__ = __match_args__ = ("operator", "left", "right")
    operator: str
    left: Scalar
    right: Scalar


class In(Condition):
    """`item IN (options)`; options in the order written, never empty."""

    __slots__ = __match_args__ = ("item", "options")
    item: Scalar
    options: tuple[Scalar, ...]


class Like(Condition):
    """`text LIKE pattern [ESCAPE escape]`; ILIKE where `ignore_case`."""

    __slots__ = __match_args__ = ("text", "pattern", "escape", "ignore_case")
    text: Scalar
    pattern: Scalar
    escape: str | None
    ignore_case: bool


class Matches(Condition):
    """`text MATCHES 'pattern'`: RE2 syntax, searched for anywhere in the text."""

    __slots__ = __match_args__ = ("text", "pattern")
    text: Scalar
    pattern: str


class IsNull(Condition):
    """`operand IS NULL`; never UNKNOWN."""

    __slots__ = __match_args__ = ("operand",)
    operand: Scalar


class IsTruth(Condition):
    """`(operand) IS TRUE | FALSE | UNKNOWN`; never UNKNOWN."""

    __slots__ = __match_args__ = ("operand", "truth")
    operand: Condition
    truth: Truth


class Not(Condition):
    __slots__ = __match_args__ = ("operand",)
    operand: Condition


class And(Condition):
    """All operands; at least two, in the order written."""

    __slots__ = __match_args__ = ("operands",)
    operands: tuple[Condition, ...]


class Or(Condition):
    """Some operand; at least two, in the order written."""

    __slots__ = __match_args__ = ("operands",)
    operands: tuple[Condition, ...]


class Some(Condition):
    """ANY: the three-valued OR of `body` over the elements of `array`; UNKNOWN where there is no array."""

    __slots__ = __match_args__ = ("array", "body")
    array: Attribute
    body: Condition


class Every(Condition):
    """ALL: the three-valued AND of `body` over the elements of `array`; UNKNOWN where there is no array."""

    __slots__ = __match_args__ = ("array", "body")
    array: Attribute
    body: Condition


class Scope(Node):
    """The earlier documents that a quantifier ranges over: LAST, then WITHIN, then WHERE.

    `where`: a condition on the pair, or None. `within` and `within_of`: the interval and the
    parts of the attribute whose times it is compared with, or None. `last`: a count, or None.
    """

    __slots__ = __match_args__ = ("where", "within", "within_of", "last")
    where: Condition | None
    within: Interval | None
    within_of: tuple[str, ...] | None
    last: int | None


class Exists(Condition):
    """EXISTS d (body): TRUE where `body` is TRUE for some earlier document in scope, else FALSE."""

    __slots__ = __match_args__ = ("body", "scope")
    body: Condition
    scope: Scope


class ForAll(Condition):
    """FORALL d (body): TRUE where `body` is TRUE for every earlier document in scope, else FALSE."""

    __slots__ = __match_args__ = ("body", "scope")
    body: Condition
    scope: Scope


TRUE = Literal(True)
FALSE = Literal(False)
UNKNOWN = Literal(None)
NULL = Constant(type(None), None)
WHOLE_STORE = Scope(None, None, None, None)


def constant(value: Value | Interval) -> Constant:
    """The node of a literal value; equal numbers are one node.

    >>> constant(1) is constant(True), repr(constant(2.5))
    (False, "Constant(<class 'decimal.Decimal'>, Decimal('2.5'))")
    """
    if isinstance(value, float):
        from profilec.values.numbers import exact

        value = exact(value)
    if not isinstance(value, bool) and value.__class__.__name__ == "Decimal":
        value = normal(value)  # type: ignore[arg-type]
    return Constant(type(value), value)


def attribute(name: str, scope: int = NEW) -> Attribute:
    """The attribute of a dotted name."""
    return Attribute(scope, tuple(name.split(".")))


def and_(operands: list[Condition] | tuple[Condition, ...]) -> Condition:
    """The conjunction of any number of operands; none is TRUE."""
    if len(operands) < 2:
        return operands[0] if operands else TRUE
    return And(tuple(operands))


def or_(operands: list[Condition] | tuple[Condition, ...]) -> Condition:
    """The disjunction of any number of operands; none is FALSE."""
    if len(operands) < 2:
        return operands[0] if operands else FALSE
    return Or(tuple(operands))


def children(node: Node) -> list[Node]:
    """The nodes directly below, scalars and conditions, in the order written."""
    found: list[Node] = []
    for name in node.fields:
        value = getattr(node, name)
        if isinstance(value, Node):
            found.append(value)
        elif type(value) is tuple:
            found.extend(item for item in value if isinstance(item, Node))
    return found
