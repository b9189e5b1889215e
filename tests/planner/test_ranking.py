"""BE-Tree's ranking function: the attributes it chooses, what a tree's nodes are worth, and what is taken apart."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import profilec
from profilec import observed as observing
from profilec.planner.lower.betree import SeenTree, is_below, judged
from profilec.planner.lower.betree.entries import entry_ids, possible, predicates_of
from profilec.planner.lower.betree.recycle import Judged, recycled
from profilec.planner.lower.rearrange import rearranged
from profilec.planner.options import Options
from profilec.runtime.sampled import encode_sample

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import begen
import texts

OPTIMISTIC = {"ranking": "optimistic"}
Documents = list[dict[str, Any]]


def judge(profiles: profilec.ProfileSet, documents: Documents) -> Judged:
    """The nodes of a set's tree, ranked."""
    image = profiles._whole().whole().image
    assert image.tree is not None
    return judged(image, SeenTree(image.tree, encode_sample(image, documents)), profiles._parts.options.ranking)


def partitions(profiles: profilec.ProfileSet) -> dict[str, int]:
    """The attributes of the root's partitions, and how many entries are under each; "" is the root's own leaf."""
    names = names_of(profiles)
    sizes: Counter[str] = Counter()
    for path in paths(profiles):
        sizes[names[path[0]] if path else ""] += 1
    return dict(sizes)


def names_of(profiles: profilec.ProfileSet) -> list[str]:
    """The attributes by slot."""
    return [slot.name.strip("`") for slot in profiles._image.slots]


def paths(profiles: profilec.ProfileSet) -> list[tuple[Any, ...]]:
    """The buckets that lead to each entry."""
    nodes = judge(profiles, []).placed
    of_node: list[tuple[Any, ...]] = [()]
    for parent, *bucket in list(zip(nodes.parent, nodes.slot, nodes.low, nodes.high, strict=True))[1:]:
        of_node.append((*of_node[parent], *map(int, bucket)))
    return [of_node[node] for node in nodes.node_of]


def attributes(profiles: profilec.ProfileSet) -> list[tuple[int, ...]]:
    """The attributes on the path to each entry, by slot."""
    return [path[::3] for path in paths(profiles)]


def candidates(profiles: profilec.ProfileSet, asked: Documents) -> float:
    """Entries looked at a document."""
    executor: Any = profiles._whole().executor(10_000)
    counts = [executor._matcher.count_candidates(*executor.encode(document)) for document in asked]
    return sum(counts) / len(counts)


# The seed's running example (section 6), as far as it goes: S1 and S4, then S7 to S9 ask for a; S3, S5 and S6 for d;
# S1, S4 and S9 are not enclosed by a half of a's domain, and ask for b.
RUNNING = {
    "S1": "a <= 9 AND b = 1",
    "S2": "c = 1",
    "S3": "d = 1",
    "S4": "a >= 2 AND b = 2",
    "S5": "d = 2",
    "S6": "d = 3",
    "S7": "a IN (1, 3)",
    "S8": "a = 9",
    "S9": "a BETWEEN 6 AND 9 AND b = 3",
}


def test_the_running_example() -> None:
    profiles = profilec.compile(RUNNING, options={**OPTIMISTIC, "max_cap": 2})
    assert partitions(profiles) == {"a": 5, "d": 3, "": 1}
    names = names_of(profiles)
    ids = (profiles.ids[profile] for profile in profiles._image.entry_profiles)
    under = {id_: [names[slot] for slot in path] for id_, path in zip(ids, attributes(profiles), strict=True)}
    assert under["S1"] == under["S4"] == under["S9"] == ["a", "b"]
    assert under["S7"] == under["S8"] == ["a"]
    assert under["S3"] == under["S5"] == under["S6"] == ["d"]
    assert under["S2"] == []


# One partition, on k, of which the only bucket holds A0 to A2; B0 to B2 are left in the root's leaf.
SUBSUMED = {f"A{n}": f"k IS NOT NULL AND v = {n}" for n in range(3)} | {f"B{n}": f"w = {n}" for n in range(3)}
COVERED = {id_: text.replace("k IS NOT NULL", "k > 5") for id_, text in SUBSUMED.items()}
SEEN = [{"k": 1, "v": 0}, {"k": 9}, {"w": 0}, {"k": 9, "v": 1}]


@pytest.mark.parametrize(
    ("conditions", "weights", "expected"),
    [
        # The leaf: 3 predicates on k are subsumed. In vain are 2 predicates on v for the first document, 3 for the
        # second, which matches nothing there, 0 for the third, which does not come, and 2 for the last: 7/4.
        # The root's leaf: 3, 3, 2 and 3 predicates on w, 11/4.
        (SUBSUMED, {}, [-11 / 4, 3 - 7 / 4, 3 - 7 / 4 - 1 / 4]),
        (SUBSUMED, {"beta": 0.5}, [-11 / 4, 1.5 - 7 / 4, 1.5 - 7 / 4 - 1 / 4]),
        (SUBSUMED, {"gamma": 0.0}, [0.0, 3.0, 3.0]),
        (SUBSUMED, {"alpha_s": 0.5, "alpha_c": 0.0}, [-11 / 4, 1.5 - 7 / 4, 1.5 - 7 / 4 - 1 / 4]),
        # Covered, the predicates on k are evaluated, after those on v. The first document satisfies A0's on v, and not
        # that on k: 2 + 1 + 1 in vain, and nothing matches.
        (COVERED, {}, [-11 / 4, 3 - 9 / 4, 3 - 9 / 4 - 2 / 4]),
        (COVERED, {"alpha_c": 0.5, "alpha_s": 0.0}, [-11 / 4, 1.5 - 9 / 4, 1.5 - 9 / 4 - 2 / 4]),
    ],
)
def test_ranks_by_hand(conditions: Mapping[str, str], weights: Mapping[str, float], expected: list[float]) -> None:
    options = {**OPTIMISTIC, "max_cap": 3, "ranking_weights": weights}
    profiles = profilec.compile(conditions, options=options)
    assert partitions(profiles) == {"k": 3, "": 3}
    ranks = judge(profiles, SEEN).ranks
    in_root, leaf, bucket = expected
    assert ranks.leaf.tolist() == pytest.approx([in_root, leaf])
    assert ranks.bucket.tolist() == pytest.approx([in_root + bucket, bucket])
    assert ranks.partition.tolist() == pytest.approx([0.0, bucket])


def test_a_window_ends_with_the_latest_document() -> None:
    """It is a hundred documents long, since a tenth of the entries is less."""
    profiles = profilec.compile(SUBSUMED, options={**OPTIMISTIC, "max_cap": 3})
    bad, good = {"k": 9}, {"v": 1}
    assert judge(profiles, [bad] * 50 + [good] * 100).ranks.leaf_loss[1] == 0
    assert judge(profiles, [good] * 50 + [bad] * 50 + [good] * 50).ranks.leaf_loss[1] == pytest.approx(3 / 2)
    assert judge(profiles, []).ranks.leaf[1] == 3


def test_what_is_below_the_threshold() -> None:
    for threshold, expected in ((-1, False), (0, False), (0.9, False), (1.1, True)):
        options = {**OPTIMISTIC, "max_cap": 3, "ranking_threshold": threshold}
        found = judge(profilec.compile(SUBSUMED, options=options), SEEN)
        assert is_below(found, threshold) is expected  # 1.0 is the least; the root is never taken apart


WIDE_AND_NARROW = {f"p{n}": f"wide != {n}" + (f" AND narrow = {n}" if n < 10 else "") for n in range(12)}


@pytest.mark.parametrize(("ranking", "expected"), [("optimistic", {"wide": 12}), ("histogram", {"narrow": 10, "": 2})])
def test_popular_or_selective(ranking: str, expected: dict[str, int]) -> None:
    """12 ask for `wide` and 10 for `narrow`, of which a bucket holds 12 and about one."""
    profiles = profilec.compile(WIDE_AND_NARROW, options={"ranking": ranking, "max_cap": 4})
    assert partitions(profiles) == expected


def test_a_histogram_knows_how_often_documents_have_an_attribute() -> None:
    """Of `rare` a bucket holds all entries; but no document has it."""
    conditions = {f"p{n}": f"rare != {n} AND often IN ({n}, {n + 20})" for n in range(20)}
    options = {"ranking": "histogram", "max_cap": 4}
    assert partitions(profilec.compile(conditions, options=options)) == {"often": 20}
    statistics = [{"often": n % 40} for n in range(100)]
    assert partitions(profilec.compile(conditions, options=options, statistics=statistics)) == {"rare": 20}


def test_by_cost_is_what_it_is_without() -> None:
    conditions = dict(zip(map(str, range(2_000)), written(begen.Parameters(2_000, 50)), strict=True))
    trees = [
        profilec.compile(conditions, options={**options, **by}, statistics=statistics)._parts.image.tree
        for options in ({}, {"max_cap": 5})
        for statistics in (None, [{"a1": 3, "a2": 4}])
        for by in ({}, {"ranking": "cost"})
    ]
    for one, other in zip(trees[::2], trees[1::2], strict=True):
        assert one is not None
        assert other is not None
        assert (one.data.tobytes(), one.words.tobytes()) == (other.data.tobytes(), other.words.tobytes())


def written(parameters: begen.Parameters) -> list[str]:
    return texts.conditions(begen.profiles(parameters)).to_pylist()


def test_what_is_not_taken_apart_stays() -> None:
    parameters = begen.Parameters(3_000, n_attributes=40, document_size=12, profile_size=4)
    conditions = {f"p{n}": text for n, text in enumerate(written(parameters))}
    documents = begen.documents(parameters, 200).dicts()
    profiles = profilec.compile(conditions, options={**OPTIMISTIC, "max_cap": 20})
    before = attributes(profiles)
    profiles.replan(documents)
    assert attributes(profiles) == before
    profiles = profilec.compile(conditions, options={**OPTIMISTIC, "max_cap": 20, "ranking_weights": {"beta": 0.2}})
    image = rearranged(profiles._image, documents).image
    predicates, intervals = predicates_of(image)
    seen = SeenTree(profiles._image.tree, encode_sample(image, documents))
    own, (ids_, _) = possible(predicates), entry_ids(image)
    anew = recycled(image, predicates, intervals, own, ids_, profiles._parts.options.ranking, seen).anew
    profiles.replan(documents)
    after = attributes(profiles)
    assert 50 < anew.sum() < 1_500
    assert sum(after[entry][:1] != before[entry][:1] for entry in np.flatnonzero(anew)) > anew.sum() / 2
    stay = np.flatnonzero(~anew)
    assert all(after[entry][:1] == before[entry][:1] for entry in stay if before[entry])
    # Below, a partition may be given up that too few are left in, and a leaf be cut that others came to.
    assert sum(after[entry] == before[entry] for entry in stay) > 0.9 * len(stay)


FORMS = ("{} = {}", "{} >= {}", "{} != {}", "{} IN ({}, 7)", "{0} IS NULL OR {0} = {1}", "{} BETWEEN 2 AND {}")


@pytest.mark.parametrize("ranking", ["optimistic", "histogram"])
@pytest.mark.parametrize("seed", range(3))
def test_answers_are_the_same(ranking: str, seed: int, tmp_path: Path) -> None:
    rng = random.Random(f"{ranking} {seed}")

    def condition() -> str:
        names = rng.sample("abcdef", rng.randint(1, 4))
        parts = [f"({rng.choice(FORMS).format(name, rng.randint(0, 9))})" for name in names]
        return rng.choice((" AND ", " AND ", " OR ")).join(parts)

    conditions = {f"p{n}": condition() for n in range(400)}

    def documents(low: int) -> Documents:
        return [{name: rng.randint(low, 9) for name in "abcdef" if rng.random() < 0.6} for _ in range(80)]

    options: dict[str, Any] = {
        "ranking": ranking,
        "max_cap": rng.choice((1, 4)),
        "ranking_threshold": rng.choice((0, 9)),
    }
    options["ranking_weights"] = {"beta": rng.random(), "alpha_c": rng.random()}
    profiles, plain = (
        profilec.compile(conditions, options=options),
        profilec.compile(conditions, options={"matcher": "scan"}),
    )
    for low in (0, 8, 0):
        asked = documents(low)
        for document in asked:
            assert profiles.match(document) == plain.match(document)
        profiles.replan(asked)
        profiles.save(tmp_path / "set.image")
        profiles = profilec.load(tmp_path / "set.image")
        assert profiles._parts.options == Options.read(options)
        for document in (*asked, *documents(4)):
            assert profiles.match(document) == plain.match(document)


UNIFORM = begen.Parameters(2_000, n_attributes=60, document_size=12, profile_size=4)
ZIPF = replace(UNIFORM, zipf=1.5, seed=2)


@pytest.mark.parametrize(
    ("weights", "most", "at_zipf", "at_the_end"), [({}, 1.05, 1.05, 1.02), ({"beta": 0.2}, 1.25, 0.9, 1.25)]
)
def test_documents_drift_from_uniform_to_zipf_and_back(
    weights: Mapping[str, float], most: float, at_zipf: float, at_the_end: float
) -> None:
    """Candidates after planning again, as so many times those of a set that is compiled for the same documents.

    With all weights 1, hardly a node loses more than it gains, and the tree is that of the profiles. Where gain counts
    less, the partitions of attributes that all of Zipf's documents have are taken apart, and there are fewer candidates
    than in a tree that knows nothing of its losses. The way back ends about where it began.
    """
    profiles_of = {"u": UNIFORM, "z": ZIPF}
    conditions = {f"{name}{n}": text for name, own in profiles_of.items() for n, text in enumerate(written(own))}
    pools = [begen.documents(own, 400).dicts() for own in profiles_of.values()]
    options = {**OPTIMISTIC, "max_cap": 20, "ranking_weights": weights}
    plain = profilec.compile(conditions, options={"matcher": "scan"})
    profiles, counts, ratios = profilec.compile(conditions, options=options), [], {}
    for share in (0, 0.25, 0.5, 0.75, 1, 0.75, 0.5, 0.25, 0):
        rng = random.Random(int(100 * share))
        asked = [rng.choice(pools[rng.random() < share]) for _ in range(300)]
        profiles.replan(asked)
        counts.append(candidates(profiles, asked))
        ratios[share] = counts[-1] / candidates(profilec.compile(conditions, options=options, statistics=asked), asked)
        assert ratios[share] < most, (share, ratios)
        for document in asked[:20]:
            assert profiles.match(document) == plain.match(document)
    assert ratios[1] < at_zipf, ratios
    assert counts[-1] < at_the_end * counts[0], counts


def test_nodes_below_the_threshold_are_a_reason_to_plan_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observing, "STRIDE", 1)
    monkeypatch.setattr(observing, "BETWEEN", 20)
    conditions = {f"p{n}": f"popular >= 0 AND rare = {n}" for n in range(100)}
    conditions |= {f"q{n}": f"other = {n}" for n in range(100)}
    documents = [{"popular": 9, "rare": 100 + n} for n in range(30)]  # one look at the plan: another would find reasons
    for gamma, expected in ((0.0, {"popular": 100, "": 100}), (1.0, {"rare": 100, "": 100})):
        options = {**OPTIMISTIC, "replan": 1_000, "max_cap": 100, "ranking_weights": {"gamma": gamma}}
        profiles = profilec.compile(conditions, options=options)
        plan = profiles.plan
        assert partitions(profiles) == {"popular": 100, "": 100}
        for document in documents:
            assert profiles.match(document) == []
        deadline = time.monotonic() + 60
        while gamma and profiles.plan is plan and time.monotonic() < deadline:
            time.sleep(0.01)
        for thread in [thread for thread in threading.enumerate() if thread.name == "profilec replan"]:
            thread.join(60)
        assert partitions(profiles) == expected
        assert (profiles.plan is plan) is (gamma == 0)
        assert profiles.match({"popular": 9, "rare": 7}) == ["p7"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ranking": "popular"}, "no ranking 'popular'. There are: cost, optimistic, histogram"),
        ({"ranking": "optimistc"}, "no ranking 'optimistc'; did you mean 'optimistic'?"),
        ({"ranking": None}, "no ranking None. There are: "),
        ({**OPTIMISTIC, "matcher": "scan"}, "ranking is of the matcher betree: leave it out, or choose that matcher"),
        ({**OPTIMISTIC, "index": {"x": "hash"}}, "ranking is of the matcher betree: leave it out, or "),
        ({"ranking_threshold": 1}, "ranking_threshold is of the ranking optimistic or histogram: leave it out, or "),
        ({"ranking": "cost", "ranking_weights": {}}, "ranking_weights is of the ranking optimistic or histogram: "),
        ({**OPTIMISTIC, "ranking_weights": 1}, "ranking_weights takes a mapping of weight to number, not 1"),
        ({**OPTIMISTIC, "ranking_weights": {"delta": 1}}, "no weight 'delta'"),
        ({**OPTIMISTIC, "ranking_weights": {"beta": 1.5}}, "the weight beta takes a number from 0 to 1, not 1.5"),
        ({**OPTIMISTIC, "ranking_weights": {"beta": True}}, "the weight beta takes a number from 0 to 1, not True"),
        ({**OPTIMISTIC, "ranking_weights": {"beta": "1"}}, "the weight beta takes a number from 0 to 1, not '1'"),
        ({**OPTIMISTIC, "ranking_threshold": float("nan")}, "ranking_threshold takes a number, not nan"),
        ({**OPTIMISTIC, "ranking_threshold": 10**400}, "ranking_threshold takes a number, not 1000"),
        ({**OPTIMISTIC, "ranking_threshold": "0"}, "ranking_threshold takes a number, not '0'"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as refused:
        Options.read(options)
    assert str(refused.value).startswith(message)


def test_a_ranking_makes_a_tree_of_a_set_of_any_size() -> None:
    profiles = profilec.compile({"p": "x = 1"}, options=OPTIMISTIC)
    assert profiles.plan.matcher == "betree"
    assert profiles.plan.reason == "the options name its ranking"
    assert profiles.match({"x": 1}) == ["p"]
    assert profilec.compile({"p": "x = 1"}, options={**OPTIMISTIC, "matcher": "betree:list"}).match({"x": 1}) == ["p"]
