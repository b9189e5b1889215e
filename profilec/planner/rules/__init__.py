"""The rewrite rules, in the order in which they are tried.

In: a condition in negation normal form (`wants.push`), of which only TRUE matters. Out: one that
is TRUE for the same documents, in no case larger.

Each rule is a function of one node, named by a verb and its object, that returns the very node
where it has nothing to do. Leaf rules see signed leaves and quantifiers, connective rules see And
and Or whose operands are already normal. Rules never consult cost, and each can be switched off.

Invariant: a rule neither adds leaves nor undoes another rule, so the fixpoint is reached.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from profilec.grammar import ir
from profilec.planner.rules.absorb_terms import absorb_terms
from profilec.planner.rules.cancel_complements import cancel_complements
from profilec.planner.rules.factor_common import factor_common
from profilec.planner.rules.flatten_operands import flatten_operands
from profilec.planner.rules.fold_constants import fold_constants
from profilec.planner.rules.merge_ranges import merge_ranges
from profilec.planner.rules.orient_comparisons import orient_comparisons
from profilec.planner.rules.remove_duplicates import remove_duplicates
from profilec.planner.rules.sort_options import sort_options


@dataclass(frozen=True, slots=True)
class Rule:
    """A rewrite of one node; `of_leaves` says whether the node is a leaf or a connective."""

    name: str
    of_leaves: bool
    apply: Callable[[ir.Condition], ir.Condition]


RULES: tuple[Rule, ...] = (
    Rule("fold_constants", True, fold_constants),
    Rule("orient_comparisons", True, orient_comparisons),
    Rule("sort_options", True, sort_options),
    Rule("flatten_operands", False, flatten_operands),
    Rule("remove_duplicates", False, remove_duplicates),
    Rule("cancel_complements", False, cancel_complements),
    Rule("merge_ranges", False, merge_ranges),
    Rule("absorb_terms", False, absorb_terms),
    Rule("factor_common", False, factor_common),
)
"""All rules, in order."""

RULE_NAMES = frozenset(rule.name for rule in RULES)
