"""The plan: the cheapest is found, its operators are a graph, what is forced is taken, the drawings are whole."""

from __future__ import annotations

import json
import random
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from io import BytesIO
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import networkx as nx
import numpy as np
import pytest

import profilec
from profilec.grammar.parse import parse_condition
from profilec.planner import costs, drawing
from profilec.planner.calibration import default_units
from profilec.planner.costs import MATCHERS, MIXED, cost
from profilec.planner.least_squares import unit_costs
from profilec.planner.lower import ImageBuilder
from profilec.planner.lower import workload as workload_module
from profilec.planner.lower.workload import IndexLoad, SlotLoad, Workload, together
from profilec.planner.normalize import normalize
from profilec.planner.options import INDEXES, Options
from profilec.planner.plan import Operator, Plan
from profilec.planner.search import WORTH_MAKING, WORTH_MIXING, search

LOAD = IndexLoad(1_000, 1_000, 2_001, 1.0)
NOTHING = Workload(0, 0, 0.0, 0, 0, 2.0, 0.001, *(0.0,) * 12, ())


def group(name: str, seed: float = 0.0) -> Workload:
    """What an attribute gives access to."""
    rng = random.Random(f"{name} {seed}")
    slot = SlotLoad(name, 1.0, 1_000, LOAD, 500, 2.5, LOAD._replace(n_intervals=500, n_points=500))
    found = 1.0 + 100 * seed * rng.random()
    sizes = {"n_entries": rng.randrange(1, 1_000), "n_tests": 1_000, "n_intervals": 1_000.0, "held": 4 * found}
    sizes |= {"by_rank": found, "left": found / 3, "few": found / 5, "n_decided": found / 10}
    sizes |= {"found": found, "looked_at": 2 * found, "partitioned": found / 2, "rows": found * rng.random()}
    return NOTHING._replace(**sizes, slots=(slot,))


def workload(seed: float, n_groups: int = 2) -> Workload:
    return together([group(name, seed) for name in ["price", "brand", "shop", "city"][:n_groups]], NOTHING)


def profiles(n: int = 500) -> dict[str, str]:
    return {f"p{i}": f"brand = 'b{i % 40}' AND price < {i}" for i in range(n)}


def documents(n: int = 300) -> list[dict[str, Any]]:
    rng = random.Random(1)
    return [{"brand": f"b{rng.randrange(60)}", "price": rng.randrange(600)} for _ in range(n)]


@pytest.mark.parametrize("seed", range(30))
def test_the_search_finds_the_cheapest_plan(seed: int) -> None:
    """Against all matchers and all choices of indexes, whatever the units are."""
    rng = random.Random(seed)
    units = {name: rng.random() * 1_000 for name in default_units()} | {"mix_matcher": 1e9}
    load = workload(1.0)
    found = search(load, Options(), units)
    index_of = {name: priced[0].name for name, priced in found.indexes.get(found.matcher, {}).items()}
    assert not found.groups
    assert found.ns == pytest.approx(cost(costs.matcher(found.matcher, load, index_of), units))
    of = {name: set[float]() for name in MATCHERS}
    for name in MATCHERS:
        for one in INDEXES if name in ("access", "bitmap") else ("interval",):
            for other in INDEXES if name in ("access", "bitmap") else ("interval",):
                of[name].add(cost(costs.matcher(name, load, {"price": one, "brand": other}), units))
    least, tree = min(min(each) for each in of.values()), min(of["betree"])
    assert found.ns == pytest.approx(least if least < WORTH_MAKING * tree else tree)
    assert {priced.name for priced in found.rejected} >= set(MATCHERS) - {found.matcher}
    assert list(found.rejected) == sorted(found.rejected, key=lambda priced: priced.ns)


@pytest.mark.parametrize("seed", range(30))
def test_the_search_mixes_matchers_where_that_is_cheaper(seed: int) -> None:
    """Against every choice of a matcher for each of four groups."""
    rng = random.Random(seed)
    units = {name: rng.random() * 100 ** rng.randrange(3) for name in default_units()}
    load = workload(float(seed % 5), 4)
    found = search(load, Options(), units)
    by_access = search(load, Options(matcher="access"), units)
    index_of = {name: priced[0].name for name, priced in by_access.indexes["access"].items()}

    def of(names: tuple[str, ...]) -> float:
        total = cost(costs.another(len(set(names))), units)
        for name in set(names):
            own = [one for one, chosen in zip(load.groups, names, strict=True) if chosen == name]
            total += cost(costs.matcher(name, together(own, load), index_of), units)
        return total

    least = min(map(of, product(MIXED, repeat=4)))
    bitmap = next((one.ns for one in found.rejected if one.name == "bitmap"), found.ns)
    best_alone = min(bitmap, *(of((name,) * 4) for name in MIXED))
    chosen = tuple(found.groups.get(one.attribute, found.matcher) for one in load.groups)
    tree = of(("betree",) * 4)
    stays = best_alone >= WORTH_MAKING * tree
    limit = WORTH_MAKING * tree if stays else WORTH_MIXING * best_alone
    if found.groups:
        assert of(chosen) == pytest.approx(found.ns) == pytest.approx(least)
        assert least < limit
    else:
        assert found.ns == pytest.approx(tree if stays else best_alone)
        assert least >= limit * (1 - 1e-9)


def test_the_cost_model_knows_the_limits_of_the_runtime() -> None:
    from profilec.runtime import execute
    from profilec.runtime.matchers import access

    assert (workload_module.KEPT, workload_module.OF_A_RANK) == (access._KEPT, access._OF_A_RANK)
    assert workload_module.BYTES_OF_KEPT == access._BYTES_OF_KEPT
    assert workload_module.FEW == execute._FEW


@pytest.mark.parametrize("name", MATCHERS)
def test_what_is_forced_is_taken(name: str) -> None:
    compiled = profilec.compile(profiles(), options={"matcher": name})
    assert compiled.plan.matcher == name
    assert compiled.plan.reason == "as the options say"
    (operator,) = [operator for operator in compiled.plan.operators if operator.name == name]
    assert {rejected for rejected, _ in operator.rejected} == set(MATCHERS) - {name}
    assert compiled.match({"brand": "b3", "price": 40}) == profilec.compile(profiles()).match(
        {"brand": "b3", "price": 40}
    )


@pytest.mark.parametrize("others", [None, *MIXED])
def test_matchers_of_groups_that_are_forced_are_taken(others: str | None) -> None:
    """The answer is that of a scan, for one document and many, counted or listed, saved and loaded."""
    conditions = profiles() | {f"or{i}": f"brand = 'b{i}' OR price > {590 + i}" for i in range(9)}
    conditions |= {"x": "NOT (brand = 'b3')", "like": "brand LIKE '%3' AND price < 300", "all": "TRUE"}
    matcher = {"price": "counting", "brand": "access"} | ({"*": others} if others else {})
    compiled = profilec.compile(conditions, options={"matcher": matcher}, statistics=documents())
    groups = dict(compiled.plan.groups) | {"*": compiled.plan.matcher}
    assert groups.get("price", groups["*"]) == "counting"
    assert groups.get("brand", groups["*"]) == "access"
    assert groups.get("", groups["*"]) == (others or groups.get("", groups["*"]))
    plain = profilec.compile(conditions, options={"matcher": "scan"})
    stream = BytesIO()
    compiled.save(stream)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "set.prfi"
        path.write_bytes(stream.getvalue())
        profilec.verify(path)
        for one in (compiled, profilec.load(path)):
            asked = documents(80)
            assert [one.match(document) for document in asked] == [plain.match(document) for document in asked]
            assert [one.count(document) for document in asked] == [plain.count(document) for document in asked]
            assert list(one.match_batch(asked)) == [plain.match(document) for document in asked]
            one.replan(asked)
            assert list(one.match_batch(asked)) == [plain.match(document) for document in asked]
    seen = json.loads(compiled.explain(format="json", analyze=documents(20)))["operators"]
    assert all("rows_seen" in operator for operator in seen)


def test_opindex_is_told_how_often_attributes_come() -> None:
    """`common` is asked for less often than `rare`, but comes with every document: it is no pivot."""
    conditions = {f"p{i}": f"rare = {i} AND common = {i % 7}" for i in range(50)} | {"r": "rare = 1", "s": "rare = 2"}
    known = [{"common": i % 7} | ({"rare": i} if i % 10 == 0 else {}) for i in range(200)]
    pivots = {}
    for name, statistics in (("known", known), ("unknown", None)):
        compiled = profilec.compile(conditions, statistics=statistics, options={"matcher": "opindex"})
        names = [slot.name for slot in compiled._image.slots]
        assert dict(zip(names, compiled.plan.frequency, strict=False)) == (
            {"rare": 0.1, "common": 1.0} if statistics else {}
        )
        (finder,) = [matcher.finder for matcher in compiled._whole().executor(10_000).matchers.values()]
        pivots[name] = {names[slot] for slot in np.flatnonzero(finder.lists.partition >= 0)}
        assert compiled.match({"rare": 1, "common": 1}) == ["p1", "r"]
    assert pivots == {"known": {"rare"}, "unknown": {"rare", "common"}}


def test_the_prefilter_is_there_where_it_spares_more_than_it_takes() -> None:
    conditions = {f"p{i}": f"brand = 'b{i}' AND EXISTS d (d.brand = brand AND d.a{i} > a{i})" for i in range(8)}
    without_brand = [{"price": i} for i in range(50)]
    with_all = [{"brand": f"b{i % 8}"} | {f"a{place}": i for place in range(8)} for i in range(50)]
    chosen, units = {}, {"prefilter_document": 5_000.0, "prefilter_line": 2_000.0}
    for name, known in (("unknown", None), ("spares", without_brand), ("spares nothing", with_all)):
        plan = profilec.compile(conditions, statistics=known, calibration=units).plan
        (joins,) = [operator for operator in plan.operators if operator.name == "joins"]
        assert joins.detail.endswith(", pre-filter") is plan.prefilter
        assert [name for name, _ in joins.rejected] == (
            [] if known is None else [("no " if plan.prefilter else "") + "pre-filter"]
        )
        assert all(ns >= joins.ns for _, ns in joins.rejected)
        chosen[name] = plan.prefilter
    assert chosen == {"unknown": True, "spares": True, "spares nothing": False}
    for forced in (True, False):
        compiled = profilec.compile(conditions, statistics=with_all, options={"prefilter": forced})
        assert compiled.plan.prefilter is forced
        assert (json.loads(compiled.explain(format="json"))["prefilter"] is not None) == forced
        matched = [compiled.process(document) for document in reversed(with_all)]
        assert matched == [[]] * 8 + [[f"p{i % 8}"] for i in reversed(range(42))]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"matcher": {"price": "bitmap"}}, "the matcher bitmap finds all entries or none: name it for all"),
        ({"matcher": {"price": "access", "*": "betree:list"}}, "the matcher betree:list finds all entries or none"),
        (
            {"matcher": {"prise": "access"}},
            "matcher forces 'access' on 'prise', an attribute that no profile uses; did",
        ),
        ({"matcher": {"price": "acces"}}, "no matcher 'acces'; did you mean 'access'?"),
        ({"matcher": {"price": "scan"}, "index": {"price": "hash"}}, "the matcher scan uses no index"),
    ],
)
def test_groups_that_cannot_be(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        profilec.compile(profiles(), options=options)


@pytest.mark.parametrize("name", INDEXES)
def test_an_index_that_is_forced_is_taken(name: str) -> None:
    compiled = profilec.compile(profiles(), options={"index": {"price": name}})
    assert compiled.plan.matcher in ("access", "bitmap")
    assert dict(compiled.plan.index)["price"] == name
    assert any(operator.name == f"{name} of price" for operator in compiled.plan.operators)


def test_operators_are_a_graph() -> None:
    for options in ({}, {"matcher": "access"}, {"matcher": "bitmap"}):
        plan = profilec.compile(profiles() | {"j": "EXISTS d (d.a = a)"}, options=options).plan
        plan.verify()
        assert nx.is_directed_acyclic_graph(plan.graph)
        assert [place for place in plan.graph if not plan.graph.out_degree(place)] == [0]
        assert {"match", "joins", "encode"} <= {data["name"] for _, data in plan.graph.nodes(data=True)}
        assert plan.ns == pytest.approx(sum(operator.ns for operator in plan.operators))


@pytest.mark.parametrize(
    ("operators", "message"),
    [
        ([Operator("match", "", 1, 1, (1,))], "reads one that there is not"),
        ([Operator("match", "", 1, 1, (1,)), Operator("a", "", 1, 1, (0,))], "reads itself"),
        ([Operator("match", "", 1, 1), Operator("a", "", 1, 1)], "nobody reads operator 1, a"),
        ([Operator("match", "", -1, 1)], "has -1 rows"),
        ([Operator("match", "", 1, float("nan"))], "at nan ns"),
    ],
)
def test_what_is_no_plan(operators: list[Operator], message: str) -> None:
    plan = Plan("scan", "", 1, 1, 1, 0, operators=tuple(operators))
    with pytest.raises(ValueError, match=message):
        plan.verify()


@pytest.mark.parametrize("conditions", [{}, {"p": "TRUE"}, {"p": "FALSE"}, {"p": "0 = 0", "q": "EXISTS d (d.a = 1)"}])
def test_sets_without_tests_have_a_plan(conditions: dict[str, str]) -> None:
    for known in (None, documents(20)):
        compiled = profilec.compile(conditions, statistics=known)
        compiled.plan.verify()
        assert "Plan for" in compiled.explain()
        assert compiled.match({}) == [id for id in conditions if id == "p" and "FALSE" not in conditions[id]]


def test_the_same_plan_each_time() -> None:
    texts = set()
    for _ in range(3):
        compiled = profilec.compile(profiles(), statistics=documents())
        texts.add(compiled.explain() + compiled.explain(format="json"))
    assert len(texts) == 1


def test_rows_are_estimated_from_documents() -> None:
    """Of attributes that depend on one another: each brand has its own prices."""
    conditions = {f"p{i}": f"brand = 'b{i % 50}' AND price = {i % 50}" for i in range(1_000)}
    asked = [{"brand": f"b{i % 50}", "price": i % 50} for i in range(1_000)]
    informed = profilec.compile(conditions, statistics=asked)
    expected = informed.plan.operators[0].rows
    seen = np.mean([informed.count(document) for document in asked])
    assert expected == pytest.approx(seen, rel=0.1)
    assert profilec.compile(conditions).plan.operators[0].rows < seen / 10
    assert "1,000 sampled documents" in informed.explain()


def test_entries_with_one_access_test_are_looked_at_together() -> None:
    def found_and_dense(n_values: int) -> tuple[float, float]:
        builder = ImageBuilder()
        for n in range(1_000):
            builder.add(normalize(parse_condition(f"s = 'v{n % n_values}' AND a BETWEEN 0 AND {9_000 + n}").node))
        built = builder.build([{"s": f"v{n % n_values}", "a": 5_000} for n in range(200)])
        load = workload_module.workload_of(built.image, built.expected, built.sampled)
        return load.found, load.dense

    found, dense = found_and_dense(10)
    assert found == dense > 0
    found, dense = found_and_dense(200)
    assert found > dense == 0


def test_a_right_estimate_of_rows_is_called_right() -> None:
    """Of equal profiles, which are one entry; and of how many ask joins nothing is said."""
    known: list[dict[str, Any]] = [{"a": 1}] * 20
    conditions = {f"p{i}": "a = 1" for i in range(300)} | {"j": "a = 1 AND EXISTS d (d.b = a)"}
    compiled = profilec.compile(conditions, statistics=known, options={"matcher": "betree"})
    operators = json.loads(compiled.explain(format="json", analyze=known))["operators"]
    of = {operator["operator"]: operator for operator in operators}
    assert of["betree"]["rows"] == pytest.approx(300, rel=0.05)
    assert of["betree"]["rows_seen"] == 300
    assert "rows_seen" not in of["joins"]
    assert of["joins"]["ns_seen"] >= 0
    (line,) = [line for line in compiled.explain(analyze=known).splitlines() if "─ betree" in line]
    assert "right" in line


def test_drawings() -> None:
    compiled = profilec.compile(profiles(), options={"matcher": "bitmap"})
    facts = json.loads(compiled.explain(format="json"))
    operators = facts["operators"]
    dot = compiled.explain(format="dot")
    n_edges = sum(len(operator["inputs"]) for operator in operators)
    assert dot.count("->") == n_edges
    assert dot.count("label=") == len(operators)
    mermaid = compiled.explain(format="mermaid")
    assert mermaid.startswith("flowchart BT")
    assert mermaid.count("-->") == n_edges
    text = compiled.explain()
    assert all(operator["operator"] in text for operator in operators)
    with pytest.raises(ValueError, match="'html'"):
        compiled.explain(format="pdf")
    with pytest.raises(ValueError, match="for a profile"):
        compiled.explain("p0", format="dot")


def test_a_page_is_whole() -> None:
    compiled = profilec.compile(
        profiles() | {"<b>&": "title LIKE '%</script>%' OR x IS NULL"}, options={"matcher": "access"}
    )
    page = compiled.explain(format="html", analyze=documents())
    tree = ET.fromstring(
        page.replace("<!doctype html>", "")
        .replace('<meta charset="utf-8">', "")
        .replace('<meta name="viewport" content="width=device-width">', "")
        .replace(" class=n>", ">")
    )
    assert tree.tag == "html"
    operators = json.loads(compiled.explain(format="json"))["operators"]
    assert len(tree.findall(".//rect")) == len(operators)
    assert "<b>&" not in page
    assert not re.search(r"(?:src|href)=|<script|@import|url\(", page)


def test_names_reach_no_language_unescaped() -> None:
    hard = 'a"]; -> {}<br/>\\n\n'
    operators = [
        {"operator": hard, "detail": hard, "rows": 1.0, "ns": 1.0, "inputs": [1], "rejected": []},
        {"operator": "encode", "detail": "", "rows": 1.0, "ns": 1.0, "inputs": [], "rejected": []},
    ]
    dot = drawing.dot(operators)
    label = re.search(r'n0 \[label=("(?:[^"\\]|\\.)*")\]', dot)
    assert label is not None
    mermaid = drawing.mermaid(operators).splitlines()
    assert len(mermaid) == 4
    assert re.fullmatch(r'  n0\["[^"]*"\]', mermaid[1])


def test_what_was_seen_stands_beside() -> None:
    compiled = profilec.compile(profiles(), statistics=documents())
    facts = json.loads(compiled.explain(format="json", analyze=documents()))
    assert facts["analyzed"] == 300
    match = facts["operators"][0]
    assert match["rows_seen"] == pytest.approx(np.mean([compiled.count(document) for document in documents()]))
    assert all(operator["ns_seen"] >= 0 for operator in facts["operators"])
    assert "rows seen" in compiled.explain(analyze=documents())
    for matcher in ("access", "bitmap"):
        compiled = profilec.compile(profiles(), statistics=documents(), options={"matcher": matcher})
        facts = json.loads(compiled.explain(format="json", analyze=documents()))
        indexes = [operator for operator in facts["operators"] if " of " in operator["operator"]]
        assert indexes
        for operator in indexes:
            assert operator["rows_seen"] == pytest.approx(operator["rows"], rel=0.1)
    with pytest.raises(ValueError, match="of the set"):
        compiled.explain("p0", analyze=documents())


def test_changes_of_a_plan() -> None:
    before = json.loads(profilec.compile(profiles(), options={"matcher": "access"}).explain(format="json"))
    after = json.loads(profilec.compile(profiles(), options={"matcher": "scan"}).explain(format="json"))
    lines = drawing.changes(before, after)
    assert lines[0] == "matcher scan, and not access"
    assert any(line.startswith("- access") for line in lines)
    assert any(line.startswith("+ scan") for line in lines)
    assert drawing.changes(before, before) == ["no difference"]


def test_what_is_not_selective_comes_worst_first() -> None:
    conditions = profiles() | {
        "often": "price != 7",
        "null": "x IS NULL",
        "all": "TRUE",
        "join": "NOT EXISTS d (d.a = a)",
    }
    conditions["or"] = "price = 1 OR x IS NULL"
    found = json.loads(profilec.compile(conditions, statistics=documents()).explain(format="json"))["not_selective"]
    shares = [one["share"] for one in found]
    assert shares == sorted(shares, reverse=True)
    reasons = {one["profile"]: one["reason"] for one in found}
    assert reasons["all"] == "it holds for every document"
    assert reasons["join"] == "earlier documents decide it"
    assert "lack the attribute" in reasons["null"]
    assert "of the documents satisfy" in reasons["often"]
    assert all(one["hint"] for one in found)
    assert not {id for id in reasons if id.startswith("p")}


def test_units_are_found_by_least_squares() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        true = rng.random(4) * (rng.random(4) < 0.7)
        sizes = rng.random((12, 4)) * 10 ** rng.integers(0, 4, 4)
        measured = sizes @ true + 1e-9
        assert unit_costs(sizes, measured) @ sizes.T == pytest.approx(measured, rel=1e-5)
    assert (unit_costs(rng.random((9, 3)), rng.random(9)) >= 0).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"betree_rows": 1}, "did you mean 'betree_row'"),
        ({"betree_row": -1}, "in nanoseconds"),
        ({"betree_row": "1"}, "in nanoseconds"),
        ({"betree_row": float("nan")}, "in nanoseconds"),
    ],
)
def test_no_calibration(given: Any, message: str) -> None:
    with pytest.raises(profilec.CalibrationError, match=message):
        profilec.compile(profiles(), calibration=given)
    with pytest.raises(TypeError, match="calibration takes"):
        profilec.compile(profiles(), calibration=5)


def test_a_calibration_changes_the_plan_and_no_answer() -> None:
    slow = {name: 1e9 for name in default_units() if name.startswith("betree")}
    compiled = profilec.compile(profiles(), calibration=slow)
    assert compiled.plan.matcher != "betree"
    assert replace(compiled.plan, operators=()) != replace(profilec.compile(profiles()).plan, operators=())
    for document in documents(50):
        assert compiled.match(document) == profilec.compile(profiles(), options={"matcher": "scan"}).match(document)
