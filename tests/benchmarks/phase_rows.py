"""Rows about the two phases, constants and joins: their order as planned and as forced; evaluations counted.

In: sizes. Out: rows; or the reason why there are none, as long as `compile` has no option `phase_order`.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from baselines.columns import holds
from baselines.counted import Counted, Indexed, leaves, nested_loop
from figures import Row, Skipped
from join_loads import OPTIONS, Sizes, agree, documents_of, matching, microseconds
from joins import Columns, Term, earlier_documents, new_documents
from phases import ENDS, Joined

import profilec

FORCED = ("constant_first", "join_first")
N_COUNTED = 3
"""New documents whose evaluations are counted."""


def phase_orders(sizes: Sizes) -> Iterator[Row | Skipped]:
    """The order that is planned, against the better of those that are forced, where few constants match and where few
    terms hold."""
    reason = _refusal()
    if reason is not None:
        yield Skipped("phase order", f"compile refuses the option: {reason}")
        return
    for end in ENDS:
        yield from phase_order(end, {"planned": {}} | {order: {"phase_order": order} for order in FORCED}, sizes)


def phase_order(end: str, orders: Mapping[str, Mapping[str, Any]], sizes: Sizes) -> Iterator[Row]:
    """One end. `orders`: the options of "planned", and of those that it is compared with."""
    made = ENDS[end](sizes.n_profiles, 0.5)
    earlier, new, documents = documents_of(sizes.n_earlier_of_phases, sizes.n_new)
    sets = {}
    for order, options in orders.items():
        sets[order] = profilec.compile(_conditions(made), options={**OPTIONS, **options})
        sets[order].documents.extend(earlier.table())
    for number in range(min(sizes.n_checked, len(new))):
        expected = _ids(made, earlier, new.document(number), documents[number])
        for order, profiles in sets.items():
            agree(f"{end}, {order}, document {number}", profiles.match(documents[number]), expected)
    us = microseconds({order: matching(profiles, documents) for order, profiles in sets.items()}, sizes)
    planned = us.pop("planned")
    better = min(us, key=lambda order: us[order])
    name, limit = f"phase order, {end}, {len(made):,} profiles", sizes.asked(1 / 1.2)
    yield Row(f"{name}: planned", planned, "us", us[better], better, times=limit)
    for order, took in us.items():
        yield Row(f"{name}: {order}", took, "us")


def _refusal() -> str | None:
    try:
        for order in FORCED:
            profilec.compile({"p": "x = 1 AND EXISTS d (d.x = x)"}, options={"phase_order": order})
    except ValueError as error:
        return str(error).partition(". ")[0]
    return None


def _conditions(profiles: Sequence[Joined]) -> dict[str, str]:
    return {f"p{number}": profile.condition() for number, profile in enumerate(profiles)}


def _ids(
    profiles: Sequence[Joined], earlier: Columns, arrays: Mapping[str, Any], document: Mapping[str, Any]
) -> list[str]:
    """What the baselines find, each term decided at most once."""
    truths: dict[Term | None, bool] = {None: True}
    ids = []
    for number, profile in enumerate(profiles):
        if not all(constant.holds(document) for constant in profile.constants):
            continue
        if profile.term not in truths:
            truths[profile.term] = holds(profile.term, earlier, arrays)
        if truths[profile.term]:
            ids.append(f"p{number}")
    return ids


def counted(sizes: Sizes) -> Iterator[Row]:
    """The table of Tatbul 2001, 4.3.1: predicate evaluations a document, counted, and what its formulas allow.

    N profiles, D earlier documents, c conjuncts a profile; j join predicates, j' of them after the constants; k
    attributes whose constants are searched, k' after the joins.
    """
    for end, make in ENDS.items():
        for n_profiles in sizes.counted:
            for n_earlier in sizes.counted:
                profiles = make(n_profiles, 1.0)
                earlier = earlier_documents(n_earlier).table().to_pylist()
                documents = new_documents(N_COUNTED, n_earlier).table().to_pylist()
                name = f"{end}, N={n_profiles:,} D={n_earlier:,}"
                yield from _counted_rows(name, profiles, earlier, documents)


def _counted_rows(name: str, profiles: Sequence[Joined], earlier: list[Any], documents: list[Any]) -> Iterator[Row]:
    ours = profilec.compile(_conditions(profiles), options=OPTIONS)
    ours.documents.extend(earlier)
    indexed = Indexed(profiles, earlier)
    none = [nested_loop(profiles, earlier, document) for document in documents]
    join_first = [indexed.join_first(document) for document in documents]
    constant_first = [indexed.constant_first(document) for document in documents]
    for number, document in enumerate(documents):
        for way in (none, join_first, constant_first):
            agree(f"{name}, document {number}", ours.match(document), [f"p{match}" for match in way[number].matches])

    # As many steps as a search among n has at most: log2(n + 1), rounded up.
    log_n, log_d = len(profiles).bit_length(), len(earlier).bit_length()
    c = statistics.mean(len(profile.constants) + len(leaves(profile.term)) for profile in profiles)
    j, few_k = _mean(join_first, "n_joins"), _mean(join_first, "n_attributes")
    k, few_j = _mean(constant_first, "n_attributes"), _mean(constant_first, "n_joins")
    n_all, j_k, k_j = len(profiles) * len(earlier) * c, j * log_d + few_k * log_n, k * log_n + few_j * log_d
    for which, results, bound, formula in (
        ("no index", none, n_all, f"N D c, c={c:.1f}"),
        ("join first", join_first, j_k, f"j log D + k' log N, j={j:.1f} k'={few_k:.1f}"),
        ("constant first", constant_first, k_j, f"k log N + j' log D, k={k:.1f} j'={few_j:.1f}"),
    ):
        yield Row(f"{name}: {which}", _mean(results, "n_evaluations"), "eval", bound, f"{bound:,.0f} = {formula}")


def _mean(results: Sequence[Counted], field: str) -> float:
    return statistics.mean(getattr(result, field) for result in results)
