"""The options of `compile`, read once and checked by name.

In: a mapping as users write it. Out: `Options`. An unknown option, index or matcher is an
error that names what there is.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from profilec.grammar.limits import Limits
from profilec.planner.rules import RULES

MATCHERS = ("betree", "betree:list", "betree:matrix", "bitmap", "scan")
INDEXES = ("interval",)
_LIMITS = ("max_depth", "max_terms", "max_size")
_NAMES = ("index", "matcher", "max_cap", "rules", *_LIMITS)


@dataclass(frozen=True, slots=True)
class Options:
    """`matcher`, `index` and `max_cap` are None or empty where the planner chooses; `rules` is None for all."""

    matcher: str | None = None
    index: tuple[tuple[str, str], ...] = ()
    rules: frozenset[str] | None = None
    limits: Limits = field(default_factory=Limits)
    max_cap: int | None = None

    @classmethod
    def read(cls, given: Mapping[str, Any] | None) -> Options:
        """Checks what a user gave.

        Raises:
            ValueError: an unknown option, or a value that it cannot have.
            TypeError: what should be a mapping is none.
        """
        given = dict(_mapping("options are", "name to value", {} if given is None else given))
        for name in given:
            _known("option", name, _NAMES)
        matcher = given.get("matcher")
        if matcher is not None:
            _known("matcher", matcher, MATCHERS)
        indexes = _mapping("index takes", "attribute to index", given.get("index", {}))
        index = tuple((str(attribute), _known("index", name, INDEXES)) for attribute, name in indexes.items())
        if index and matcher not in (None, "bitmap"):
            raise ValueError(f"the matcher {matcher} uses no index: leave out `index`, or choose the matcher bitmap")
        max_cap = _positive("max_cap", given["max_cap"]) if "max_cap" in given else None
        if max_cap is not None and (index or (matcher or "betree").partition(":")[0] != "betree"):
            raise ValueError("max_cap is the leaf capacity of the matcher betree: leave it out, or choose that matcher")
        limits = {
            name: _positive(name, given[name]) for name in ("max_depth", "max_terms", "max_size") if name in given
        }
        return cls(matcher, index, _rules(given.get("rules")), Limits(**limits), max_cap)


def _rules(given: str | Iterable[str] | None) -> frozenset[str] | None:
    if given is None or given == "all":
        return None
    if given == "none":
        return frozenset()
    if isinstance(given, str):
        raise ValueError(f"rules takes a list of names, 'all' or 'none', not {given!r}")
    names = [rule.name for rule in RULES]
    return frozenset(_known("rule", name, names) for name in given)


_MOST = {"max_depth": 300}
"""The passes recurse: deeper conditions than this would exhaust Python's stack."""


def _positive(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} takes a whole number from 1, not {value!r}")
    if value > _MOST.get(name, value):
        raise ValueError(f"{name} takes at most {_MOST[name]}, not {value:,}")
    return value


def _mapping(what: str, of: str, given: Any) -> Mapping[Any, Any]:
    if not isinstance(given, Mapping):
        raise TypeError(f"{what} a mapping of {of}, not {given!r}")
    return given


def _known(what: str, name: Any, names: Iterable[str]) -> str:
    names = tuple(names)
    if name not in names:
        close = difflib.get_close_matches(str(name), names, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        raise ValueError(f"no {what} {name!r}{hint} There are: {', '.join(names)}")
    return str(name)
