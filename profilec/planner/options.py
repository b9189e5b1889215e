"""The options of `compile`, read once and checked by name.

In: a mapping as users write it. Out: `Options`. An unknown option, index or matcher is an
error that names what there is.
"""

from __future__ import annotations

import difflib
import operator
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from profilec.grammar.limits import Limits
from profilec.planner.memory import read_memory
from profilec.planner.ranking import BY_COST, NOT_RANKED, RANKINGS, WEIGHTS, Ranking
from profilec.planner.rules import RULES

MATCHERS = ("access", "betree", "betree:list", "betree:matrix", "bitmap", "counting", "opindex", "scan")
WITH_INDEX = ("access", "bitmap")
"""The matchers that have an index on each attribute."""
NOT_MIXED = ("betree:list", "betree:matrix", "bitmap")
"""Those that find all entries or none, and not those of some attributes."""
INDEXES = (
    "cluster",
    "hash",
    "hybrid",
    "interval",
    "interval_tree",
    "lci",
    "lci:clipped",
    "lci:table",
    "lci:virtual",
    "operator_lists",
    "operator_lists:bs",
    "pbtree",
    "pbtree:stored",
    "sci",
    "sci:clipped",
    "sci:table",
    "sci:virtual",
    "segment_tree",
)
ON_DISK = "pbtree:stored"
"""The index on secondary storage."""
PATTERN_INDEXES = ("aho_corasick", "patterns", "regex_set", "suffix_trie", "trie")
"""Indexes of an attribute's patterns (LIKE, ILIKE, MATCHES), of which `patterns` is the default; the others are of its
ranks."""
PHASE_ORDERS = ("constant_first", "join_first")
_LIMITS = ("max_depth", "max_terms", "max_size")
_RANKING = ("ranking", "ranking_threshold", "ranking_weights")
NAMES = ("index", "matcher", "max_cap", "memory", "phase_order", "prefilter", *_RANKING, "replan", "rules", *_LIMITS)


@dataclass(frozen=True, slots=True)
class Options:
    """What is None or empty is the planner's choice; of `rules`, None is all. `matcher_of`: matchers of the entries
    that one attribute gives access to, `matcher` that of all others. `replan`: how many times more entries than need be
    may be looked at, as documents have become, before the set is planned again; None for never. `ranking`: how the tree
    chooses attributes, if not by cost. `memory`: the bytes that matching is given; None for as many as it likes."""

    matcher: str | None = None
    index: tuple[tuple[str, str], ...] = ()
    rules: frozenset[str] | None = None
    limits: Limits = field(default_factory=Limits)
    max_cap: int | None = None
    phase_order: str | None = None
    prefilter: bool | None = None
    replan: float | None = None
    matcher_of: tuple[tuple[str, str], ...] = ()
    ranking: Ranking = NOT_RANKED
    memory: int | None = None

    @classmethod
    def read(cls, given: Mapping[str, Any] | None) -> Options:
        """Checks what a user gave.

        Raises:
            ValueError: an unknown option, or a value that it cannot have.
            TypeError: what should be a mapping is none.
        """
        given = dict(_mapping("options are", "name to value", {} if given is None else given))
        for name in given:
            _known("option", name, NAMES)
        matcher, matcher_of = _matchers(given.get("matcher"))
        indexes = _mapping("index takes", "attribute to index", given.get("index", {}))
        known_indexes = (*INDEXES, *PATTERN_INDEXES)
        index = tuple((str(attribute), _known("index", name, known_indexes)) for attribute, name in indexes.items())
        of_ranks = of_kind(index, INDEXES)
        named = [name for name in (matcher, *dict(matcher_of).values()) if name is not None]
        if of_ranks and named and not set(named) & set(WITH_INDEX):
            known = " or ".join(WITH_INDEX)
            raise ValueError(f"the matcher {named[0]} uses no index: leave out `index`, or choose the matcher {known}")
        max_cap = _positive("max_cap", given["max_cap"]) if "max_cap" in given else None
        ranking = _ranking(given)
        if of_ranks or (named and not _has_tree(named)):
            of_tree = {"max_cap is the leaf capacity": max_cap is not None, "ranking is": ranking.by != BY_COST}
            for what in (what for what, is_given in of_tree.items() if is_given):
                raise ValueError(f"{what} of the matcher betree: leave it out, or choose that matcher")
        limits = {name: _positive(name, given[name]) for name in _LIMITS if name in given}
        phase_order = given.get("phase_order")
        if phase_order is not None:
            _known("phase order", phase_order, PHASE_ORDERS)
        prefilter = given.get("prefilter")
        if not isinstance(prefilter, bool | None):
            raise ValueError(f"prefilter takes True or False, not {_shown(prefilter)}")
        replan = given.get("replan")
        if replan is not None and not (isinstance(replan, int | float) and 1 < replan <= sys.float_info.max):
            raise ValueError(f"replan takes a number above 1, as 2 for twice as much as need be, not {_shown(replan)}")
        rules = _rules(given.get("rules"))
        memory = _memory(given["memory"]) if "memory" in given else None
        return cls(
            matcher,
            index,
            rules,
            Limits(**limits),
            max_cap,
            phase_order,
            prefilter,
            replan,
            matcher_of,
            ranking,
            memory,
        )

    @property
    def rank_index(self) -> dict[str, str]:
        """The attribute indexes that are forced, by attribute."""
        return of_kind(self.index, INDEXES)

    @property
    def group_matcher(self) -> dict[str, str]:
        """The matchers that are forced for the entries that one attribute gives access to, by attribute."""
        return dict(self.matcher_of)

    @property
    def pattern_index(self) -> dict[str, str]:
        """The pattern indexes that are forced, by attribute."""
        return of_kind(self.index, PATTERN_INDEXES)

    @property
    def leaves_matcher(self) -> bool:
        """Whether how to match is the planner's choice alone."""
        return self.matcher is None and not self.wants_tree and not self.rank_index and not self.matcher_of

    @property
    def wants_tree(self) -> bool:
        """Whether something is said of the tree, so that it is made."""
        return self.max_cap is not None or self.ranking.by != BY_COST

    def expect_used(self, attributes: Iterable[str]) -> None:
        """Raises ValueError where something is forced on an attribute that is none of those that profiles use."""
        used = tuple(dict.fromkeys(attributes))
        for option, attribute, name in [
            *(("index", *pair) for pair in self.index),
            *(("matcher", *pair) for pair in self.matcher_of),
        ]:
            if attribute not in used:
                close = difflib.get_close_matches(attribute, used, n=1)
                hint = f"; did you mean {close[0]!r}?" if close else ""
                raise ValueError(f"{option} forces {name!r} on {attribute!r}, an attribute that no profile uses{hint}")

    def used(self, attributes: Iterable[str]) -> Options:
        """These without what is forced on other attributes.

        >>> Options.read({"matcher": {"price": "access", "brand": "access"}}).used(["brand"]).group_matcher
        {'brand': 'access'}
        """
        known = frozenset(attributes)
        index = tuple(pair for pair in self.index if pair[0] in known)
        return replace(self, index=index, matcher_of=tuple(pair for pair in self.matcher_of if pair[0] in known))


def _has_tree(matchers: Iterable[str]) -> bool:
    return any(name.partition(":")[0] == "betree" for name in matchers)


def of_kind(index: Iterable[tuple[str, str]], names: Iterable[str]) -> dict[str, str]:
    """Those of the attributes whose index is one of these names.

    >>> of_kind([("price", "hash"), ("title", "hash"), ("title", "trie")], PATTERN_INDEXES)
    {'title': 'trie'}
    """
    names = frozenset(names)
    return {attribute: name for attribute, name in index if name in names}


OTHERS = "*"
"""The attribute that stands for all that are not named."""


def _matchers(given: Any) -> tuple[str | None, tuple[tuple[str, str], ...]]:
    """One for all entries, or a mapping of attribute to matcher, with OTHERS."""
    if not isinstance(given, Mapping):
        return None if given is None else _known("matcher", given, MATCHERS), ()
    of = {str(attribute): _known("matcher", name, MATCHERS) for attribute, name in given.items()}
    others = of.pop(OTHERS, None)
    for name in (*of.values(), others) if of else ():
        if name in NOT_MIXED:
            raise ValueError(f"the matcher {name} finds all entries or none: name it for all, not for an attribute")
    return others, tuple(of.items())


def _rules(given: Any) -> frozenset[str] | None:
    if given is None or (isinstance(given, str) and given == "all"):
        return None
    if isinstance(given, str) and given == "none":
        return frozenset()
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise ValueError(f"rules takes a list of names, 'all' or 'none', not {_shown(given)}")
    names = [rule.name for rule in RULES]
    return frozenset(_known("rule", name, names) for name in given)


def _ranking(given: Mapping[str, Any]) -> Ranking:
    by = RANKINGS.index(_known("ranking", given.get("ranking", "cost"), RANKINGS))
    for name in ("ranking_threshold", "ranking_weights"):
        if name in given and by == BY_COST:
            raise ValueError(f"{name} is of the ranking optimistic or histogram: leave it out, or choose one of these")
    weights = _mapping("ranking_weights takes", "weight to number", given.get("ranking_weights", {}))
    for name, weight in weights.items():
        _known("weight", name, WEIGHTS)
        if not (_is_number(weight) and 0 <= weight <= 1):
            raise ValueError(f"the weight {name} takes a number from 0 to 1, not {_shown(weight)}")
    threshold = given.get("ranking_threshold", 0.0)
    if not (_is_number(threshold) and abs(threshold) <= sys.float_info.max):
        raise ValueError(f"ranking_threshold takes a number, not {_shown(threshold)}")
    return Ranking(by, **{name: float(weight) for name, weight in weights.items()}, threshold=float(threshold))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_MOST = {"max_depth": 300, "max_cap": 2**31 - 1}
"""The passes recurse: deeper conditions than this would exhaust Python's stack. Entries are counted as int32."""
_MOST_OF_OTHERS = 2**63 - 1


def _positive(name: str, value: Any) -> int:
    most = _MOST.get(name, _MOST_OF_OTHERS)
    try:
        number = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = 0
    if not 1 <= number <= most:
        raise ValueError(f"{name} takes a whole number from 1 to {most:,}, not {_shown(value)}")
    return number


def _memory(value: Any) -> int:
    try:
        return read_memory(value)
    except ValueError:
        raise ValueError(f"memory takes bytes, as 256_000_000, '256 MB' or '1 GiB', not {_shown(value)}") from None


def _shown(value: Any) -> str:
    """A value that is refused, on one line of no more than a few words."""
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python prints
        return "one of thousands of digits"
    return f"{text:.60}{'…' if len(text) > 60 else ''}"


def _mapping(what: str, of: str, given: Any) -> Mapping[Any, Any]:
    if not isinstance(given, Mapping):
        raise TypeError(f"{what} a mapping of {of}, not {_shown(given)}")
    return given


def _known(what: str, name: Any, names: Iterable[str]) -> str:
    names = tuple(names)
    if not isinstance(name, str) or name not in names:
        close = difflib.get_close_matches(name, names, n=1) if isinstance(name, str) else []
        hint = f"; did you mean {close[0]!r}?" if close else "."
        raise ValueError(f"no {what} {_shown(name)}{hint} There are: {', '.join(names)}")
    return name
