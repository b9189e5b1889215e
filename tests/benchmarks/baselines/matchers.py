"""The baselines that match conjunctions, by their names.

In: an image. Out: what finds the entries all of whose rank tests hold, as `profilec.runtime.matchers.scan` does.
"""

from __future__ import annotations

from collections.abc import Callable

from baselines.be_tree import be, be_b
from baselines.gryphon import GryphonMatcher
from baselines.gryphon_equality import GryphonEqualityMatcher
from baselines.k_index import KIndex
from baselines.lazy import LazyMatcher
from baselines.naive import NaiveMatcher
from baselines.propagation import PropagationMatcher
from baselines.rank_tests import ConjunctionMatcher

from profilec.runtime.image import Image

MATCHERS: dict[str, Callable[[Image], ConjunctionMatcher]] = {
    "be_tree": be,
    "be_tree_together": be_b,
    "gryphon": GryphonMatcher,
    "gryphon_equality": GryphonEqualityMatcher,
    "k_index": KIndex,
    "lazy": LazyMatcher,
    "naive": NaiveMatcher,
    "propagation": PropagationMatcher,
}
"""`gryphon_equality` refuses an image of other tests than equalities, `k_index` one of too many values: ValueError."""
