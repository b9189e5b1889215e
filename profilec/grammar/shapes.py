"""The shape cache: text that differs from earlier text in its literals only is bound, not parsed.

In: the text of a condition. Out: what makes the IR that the parser would make of it, or None: take
the slow way.

Profiles that forms and templates write share their shapes. One regular expression cuts a text into
its literals and what is between them; the latter, with the kinds of the literals, is the key. When
a key is seen for the second time the text is parsed and checked, and what was located in it becomes
a `Template`, which makes the same nodes from other literals.

    price < 30 AND brand IN ('a', 'b')      key      price < ? AND brand IN ?     0(
                                            slots    0: the right side of `<`, 1: the values of IN

Invariants:
- A literal that is no slot (in a function, a date, an interval, LAST, MATCHES, a LIKE with ESCAPE)
  is *pinned*: its text is part of the key.
- Replacing a slot's literal by another of its kind moves no other token: the expression for
  literals is the lexer's, and a slot is a whole token.
- What is wrong or doubtful in a text depends on key and pinned text alone (the schema is fixed), but
  for the bounds that an AND sets on one scalar: of these each lower one must be below each upper
  one, else None is returned. So a text that has a diagnostic always goes to the parser.
"""

from __future__ import annotations

import re
from operator import itemgetter
from typing import TypeAlias

from profilec.grammar import ir
from profilec.grammar.check import findings
from profilec.grammar.diagnostics import ProfileError
from profilec.grammar.limits import DEFAULT_LIMITS, Limits
from profilec.grammar.parse import parse_condition
from profilec.grammar.templates import END_OF_NUMBER, SIGNED, STRING, Bound, Predicates, Template, template
from profilec.values.types import Schema

# PERF: begins with a set of characters, so that the search leaps from one candidate to the next.
_LITERAL = re.compile(
    rf"""(['"(.0-9](?:
        (?<=')[^']*+(?:''[^']*+)*+'
      | (?<=")[^"]*+(?:""[^"]*+)*+"
      | (?<=[0-9])(?<![\w.@$].)[0-9]*+(?:\.[0-9]*+)?{END_OF_NUMBER}
      | (?<=\.)(?<![\w.@$].)[0-9]++{END_OF_NUMBER}
      | (?<=\()(?:{STRING}(?:\s*+,\s*+{STRING})++|{SIGNED}(?:\s*+,\s*+{SIGNED})++)\s*+\)
    ))""",
    re.VERBOSE | re.DOTALL,
)
_UNUSUAL = re.compile(r"`|--|/\*|[{}\[\];]")
_FIRST = itemgetter(0)
_KINDS = str.maketrans({**dict.fromkeys(".123456789", "0"), '"': "'"})

_LONGEST = 65_536
_MOST_SHAPES = 4_096
_MOST_VARIANTS = 256
_MOST_SEEN = 100_000
_ATTEMPTS = 3

_Key: TypeAlias = tuple[str, str]


class _Shape:
    """What is known of a key: which literals are pinned and, by their texts, how to bind the others."""

    __slots__ = ("pinned", "variants")

    def __init__(self, pinned: tuple[int, ...]) -> None:
        self.pinned = pinned
        self.variants: dict[tuple[str, ...], Template] = {}


_NEW = _Shape(())


class ShapeCache:
    """The shapes seen so far, of conditions under one schema and one set of limits. For use by one thread.

    >>> cache = ShapeCache()
    >>> [type(cache.read(f"price < {n}")).__name__ for n in (1, 2, 3)]
    ['NoneType', 'Compare', 'Bound']
    """

    def __init__(self, schema: Schema | None = None, limits: Limits = DEFAULT_LIMITS) -> None:
        self._schema = schema
        self._limits = limits
        # A text has no more terms than characters, so a shorter one cannot exceed these limits.
        self._longest = min(_LONGEST, limits.max_size, limits.max_terms)
        self._shapes: dict[_Key, _Shape | None] = {}
        self._seen: dict[int, int] = {}
        self._predicates = Predicates()

    def read(self, text: str) -> ir.Condition | Bound | None:
        """The condition that the text says; None where only the parser can tell, or has something to say."""
        if len(text) > self._longest:
            return None
        pieces = _LITERAL.split(text)
        literals = pieces[1::2]
        key = ("?".join(pieces[::2]), "".join(map(_FIRST, literals)).translate(_KINDS))
        shape = self._shapes.get(key, _NEW)
        if shape is None:
            return None
        pinned = tuple([literals[at] for at in shape.pinned]) if shape.pinned else ()
        known = shape.variants.get(pinned)
        if known is None:
            return self._learn(key, shape, pinned, text)
        try:
            return known.bind(literals)
        except (ValueError, OverflowError):  # a number that is too long, a list of another kind
            return None

    def _learn(self, key: _Key, shape: _Shape, pinned: tuple[str, ...], text: str) -> ir.Condition | None:
        """Parse a text whose shape comes for the second time, and keep its template."""
        # By hash: to take one key for another here makes a template too early, no more.
        place = hash((key, pinned))
        times = self._seen.get(place, 0)
        if len(self._seen) >= _MOST_SEEN:
            self._seen.clear()
        self._seen[place] = times + 1
        if not times:
            return None
        if times > _ATTEMPTS or _UNUSUAL.search(key[0]):
            self._keep(key, None)
            return None
        try:
            located = parse_condition(text, limits=self._limits)
        except ProfileError:
            return None
        if findings(located, text, self._schema):
            return None
        spans = [match.span() for match in _LITERAL.finditer(text)]
        made, pinned_at = template(located, text, spans, self._predicates)
        if made is None:
            self._keep(key, None)
        else:
            if shape is _NEW:
                shape = _Shape(pinned_at)
                self._keep(key, shape)
            elif len(shape.variants) >= _MOST_VARIANTS:
                shape.variants.clear()
            shape.variants[tuple([text[slice(*spans[at])] for at in pinned_at])] = made
            self._seen[place] = 1
        assert isinstance(located.node, ir.Condition)
        return located.node

    def _keep(self, key: _Key, shape: _Shape | None) -> None:
        if len(self._shapes) >= _MOST_SHAPES:
            del self._shapes[next(iter(self._shapes))]
        self._shapes[key] = shape
