"""The index of each slot's patterns, chosen by cost.

In: a `PatternLoad` of each slot, options, unit costs. Out: a `Choice` for each, and what of that a plan names.

The default is kept unless another costs less than WORTH_CHANGING of it, with what it would cost if one more text had
all its literals: indexes differ most in what they try, and that is known from some texts only. Without any the default
is kept. An index that options force is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from profilec.planner.costs import Units, cost
from profilec.planner.options import PATTERN_INDEXES, Options
from profilec.planner.pattern_costs import pattern_index, unseen
from profilec.planner.search import Priced

if TYPE_CHECKING:
    from profilec.planner.lower.pattern_loads import PatternLoad

DEFAULT = "patterns"
WORTH_CHANGING = 0.8


class Choice(NamedTuple):
    """A slot's pattern index. `names`: those of the slot, its own first; `taken`: the index, and what it costs for
    a document; `rejected`: the others, the cheapest first."""

    names: tuple[str, ...]
    taken: Priced
    rejected: tuple[Priced, ...]


def choose(loads: Iterable[PatternLoad], options: Options, units: Units) -> Iterator[Choice]:
    """For each slot the index that is forced, or that costs least."""
    for load in loads:
        price = {name: cost(pattern_index(name, load), units) * load.presence for name in PATTERN_INDEXES}
        forced = next((options.pattern_index[name] for name in load.names if name in options.pattern_index), None)
        at_worst = {name: ns + cost(unseen(name, load), units) * load.presence for name, ns in price.items()}
        cheapest = min(price, key=at_worst.__getitem__)
        is_worth_it = load.n_texts > 0 and at_worst[cheapest] < WORTH_CHANGING * price[DEFAULT]
        chosen = forced or (cheapest if is_worth_it else DEFAULT)
        others = sorted((Priced(name, ns) for name, ns in price.items() if name != chosen), key=lambda one: one.ns)
        yield Choice(load.names, Priced(chosen, price[chosen]), tuple(others))


def named(choices: Sequence[Choice], options: Options) -> dict[str, str]:
    """The pattern indexes that a plan has to name, by attribute or expression: those forced, then those that are not
    the default. Of a text and its folded form, one index counts for both where the other is not named."""
    forced = options.pattern_index
    free = [choice for choice in choices if forced.keys().isdisjoint(choice.names)]
    chosen = {choice.names[0]: choice.taken.name for choice in free if choice.taken.name != DEFAULT}
    kept = {choice.names[0]: DEFAULT for choice in free if not chosen.keys().isdisjoint(choice.names[1:])}
    return {**forced, **kept, **chosen}
