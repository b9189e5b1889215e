"""Normalization: negation normal form, then the rules to a fixpoint.

In: any condition. Out: one that is TRUE for the same documents, in normal form. Always:

- And and Or over signed leaves (`wants`); TRUE and FALSE only as a whole, NULL never;
- a comparison carries no Not but for IS NOT TRUE; IN has constant options only;
- bodies and WHEREs of quantifiers are normal themselves; bodies of ANY and ALL are as they were.

And with all rules on:

- AND and OR stand in one another in turn, and no operand twice;
- a comparison has its constant on the right, an IN has at least two options, distinct and ascending;
- what one AND or OR asks of one scalar about constants is one range, list or the like.

Invariant: the same condition gives the same node, whatever was normalized before, and the result
is its own normal form. Nothing here consults cost, and nothing multiplies out: leaves get more only
where IS UNKNOWN asks one condition twice, and its nests share what they repeat (as a tree such a
nest doubles with every level; whoever walks the result as a tree has to count first).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from profilec.grammar import ir
from profilec.planner.plain import is_plain, is_plain_here, tidied
from profilec.planner.rules import RULE_NAMES, RULES, Rule
from profilec.planner.scalar_conditions import forget, only_scalar
from profilec.planner.wants import Want, join, push, signed, split

PUSH_NEGATIONS = "push_negations"
"""The name that a trace gives to negation normal form, which is no rule: it can't be switched off."""


def normalize(
    condition: ir.Condition, *, rules: frozenset[str] | None = None, trace: list[str] | None = None
) -> ir.Condition:
    """The normal form of a condition. `rules` names those to use, None all; to `trace` goes each rule that fires.

    >>> a, one, two = ir.attribute("a"), ir.constant(1), ir.constant(2)
    >>> fired = []
    >>> normalize(ir.Not(ir.Or((ir.Compare("<", a, one), ir.Compare("<", a, two)))), trace=fired).operator, fired
    ('>=', ['push_negations', 'merge_ranges'])

    Raises:
        ValueError: a name in `rules` that no rule has.
    """
    chosen = _choose(rules)
    if is_plain(condition):
        return condition
    if rules is None and trace is None:
        tidy = tidied(condition)
        if tidy is not None:
            return tidy
    pushed = push(condition, Want.TRUE, {})
    if pushed is not condition:
        if trace is not None:
            trace.append(PUSH_NEGATIONS)
        if is_plain(pushed):
            return pushed
    try:
        return _Rewriting(chosen, trace).rewrite(pushed)
    finally:
        forget()


class _Chosen(NamedTuple):
    """The rules that are switched on, in order: those of leaves, of connectives, and two by name (if they are on)."""

    of_leaves: list[Rule]
    of_connectives: list[Rule]
    flatten: list[Rule]
    merge: list[Rule]


@lru_cache(maxsize=64)
def _choose(names: frozenset[str] | None) -> _Chosen:
    if names is not None and not names <= RULE_NAMES:
        unknown, known = ", ".join(sorted(names - RULE_NAMES)), ", ".join(sorted(RULE_NAMES))
        raise ValueError(f"no such rule: {unknown}; there are {known}")
    rules = [rule for rule in RULES if names is None or rule.name in names]
    return _Chosen(
        of_leaves=[rule for rule in rules if rule.of_leaves],
        of_connectives=[rule for rule in rules if not rule.of_leaves],
        flatten=[rule for rule in rules if rule.name == "flatten_operands"],
        merge=[rule for rule in rules if rule.name == "merge_ranges"],
    )


class _Rewriting:
    """One run of the rules over one condition in negation normal form. `done` maps each node met to its result."""

    __slots__ = ("chosen", "done", "trace")

    def __init__(self, chosen: _Chosen, trace: list[str] | None) -> None:
        self.chosen = chosen
        self.trace = trace
        self.done: dict[ir.Condition, ir.Condition] = {}

    def rewrite(self, node: ir.Condition) -> ir.Condition:
        """The node's fixpoint: its children's first, then its own."""
        if is_plain_here(node):
            return node
        found = self.done.get(node)
        if found is not None:
            return found
        given = node
        node = self._open(node)
        while not is_plain_here(node):
            below = self._rewrite_below(node)
            if below is not node and is_plain_here(below):
                node = below
                break
            is_connective = type(below) is ir.And or type(below) is ir.Or
            node = self._apply_first(self.chosen.of_connectives if is_connective else self.chosen.of_leaves, below)
            if node is below:
                break
        self.done[given] = self.done[node] = node
        return node

    def _open(self, node: ir.Condition) -> ir.Condition:
        """The node as its operands are to be met.

        PERF: of a nest of n levels, AND in AND or all about one scalar, each level would be
        rewritten after the one below, and all of it n times; so it is rewritten from the top.
        """
        if type(node) is ir.And or type(node) is ir.Or:
            node = self._apply_first(self.chosen.flatten, node)
        if (type(node) is ir.And or type(node) is ir.Or) and only_scalar(node) is not None:
            node = self._apply_first(self.chosen.merge, node)
        return node

    def _apply_first(self, rules: list[Rule], node: ir.Condition) -> ir.Condition:
        """What the first rule makes of the node that has something to do."""
        for rule in rules:
            rewritten = rule.apply(node)
            if rewritten is not node:
                if self.trace is not None:
                    self.trace.append(rule.name)
                return rewritten
        return node

    def _rewrite_below(self, node: ir.Condition) -> ir.Condition:
        if type(node) is ir.And or type(node) is ir.Or:
            operands: list[ir.Condition] = []
            for operand in node.operands:
                operands.append(self.rewrite(operand))  # noqa: PERF401 (a comprehension costs a frame)
            return node if tuple(operands) == node.operands else join(type(node), operands)
        leaf, want = split(node)
        match leaf:
            case ir.Exists(body, scope) | ir.ForAll(body, scope):
                if scope.where is not None:
                    where = self.rewrite(scope.where)
                    scope = ir.Scope(None if where is ir.TRUE else where, scope.within, scope.within_of, scope.last)
                return signed(type(leaf)(self.rewrite(body), scope), want)
        return node
