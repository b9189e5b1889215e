"""What an index of patterns costs: one formula for each, as those of `costs`.

In: a `PatternLoad`, what a slot's patterns are expected to come to. Out: sizes for one text.

    a search          looks for literals; it reads the text, and for literals of the folded text that once more. What a
                      character costs grows with their number, since fewer of them are in the processor's cache: a step
                      for each doubling. `trie` reads the beginning alone, and no more of a longer text
    few literals      the default looks for one by one, in one call and one reading each
    a set of RE2      one call, one reading. Where its regexes stay half found, ever more of them are on the way the
                      longer the text is, and each combination is a state to be made: with the square of the length
    a trial           one call, one reading, of a LIKE or of a regex
    a match           is told

What a set, a trial and a match cost is the same with every index. What an index cannot file is asked of the default.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from profilec.planner.costs import Sizes

if TYPE_CHECKING:
    from profilec.planner.lower.pattern_loads import Filing, PatternLoad, Tried


def pattern_index(name: str, load: PatternLoad) -> Sizes:
    """What the index spends on one text."""
    filing, n_characters = load.filings[name], load.n_characters
    sizes = Counter(_filed(name, filing, n_characters))
    if filing.rest is not None:
        sizes.update(_filed("patterns", filing.rest, n_characters))
    return {**sizes, "pattern_match": load.n_matching}


def unseen(name: str, load: PatternLoad) -> Sizes:
    """What a text may cost beside, which has all literals and is none of those that were looked at: one of one more."""
    filing = load.filings[name]
    sizes = Counter(_trials(filing.possible, load.n_characters))
    if filing.rest is not None:
        sizes.update(_trials(filing.rest.possible, load.n_characters))
    return {unit: size / (load.n_texts + 1) for unit, size in sizes.items()}


def _trials(tried: Tried, n_characters: float) -> Sizes:
    return {
        "pattern_like": tried.likes,
        "pattern_like_char": tried.likes * n_characters,
        "pattern_regex": tried.regexes,
        "pattern_regex_char": tried.regexes * n_characters,
    }


def _filed(name: str, filing: Filing, n_characters: float) -> Sizes:
    sizes = _trials(filing.tried, n_characters) | {
        "pattern_set": filing.n_sets,
        "pattern_set_char": filing.n_sets * n_characters,
        "pattern_set_state": filing.n_wide_sets * n_characters**2,
        f"{name}_text": 1.0,
    }
    if name not in ("regex_set", "trie"):
        sizes[f"{name}_char"] = n_characters * sum(math.log2(n + 1) for n in filing.n_keys)
    if name == "patterns":
        sizes["patterns_search"] = float(len(filing.n_keys))
        sizes["patterns_literal"] = filing.n_literals
        sizes["patterns_literal_char"] = filing.n_literals * n_characters
    return sizes
