"""The parser: every operator and literal to its IR, with the text that each node came from."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from profilec.grammar import ir
from profilec.grammar.diagnostics import ProfileError
from profilec.grammar.limits import Limits
from profilec.grammar.located import Located
from profilec.grammar.parse import parse_condition
from profilec.grammar.tables import GRAMMAR, STORED, analyse, tables
from profilec.values.kinds import Interval
from tests.grammar.golden_blocks import TESTDATA, blocks_of, cases, compare


def below(located: Located) -> Iterator[Located]:
    yield located
    for part in located.parts:
        yield from below(part)


def outline(text: str) -> str:
    """One node a line, below the one it belongs to: what it is, and the text it came from."""
    lines: list[str] = []

    def show(located: Located, depth: int) -> None:
        node = located.node
        plain = [value for value in map(node.__getattribute__, node.fields) if not holds_nodes(value)]
        fields = " ".join(value.__name__ if isinstance(value, type) else repr(value) for value in plain)
        lines.append(f"{'  ' * depth}{type(node).__name__} {fields} «{text[located.start : located.end]}»")
        for part in located.parts:
            show(part, depth + 1)

    show(parse_condition(text), 0)
    return "\n".join(line.replace("  «", " «") for line in lines)


def holds_nodes(value: object) -> bool:
    return isinstance(value, ir.Node) or (isinstance(value, tuple) and any(isinstance(v, ir.Node) for v in value))


@pytest.mark.parametrize(("file", "number"), [*cases("grammar", "conditions")])
def test_conditions(file: Path, number: int, rewrite_golden: bool) -> None:
    compare(file, number, rewrite_golden, lambda text: outline(text.rstrip("\n")))


def test_parts_are_parallel_to_children() -> None:
    for block in blocks_of(TESTDATA / "grammar" / "conditions.txt"):
        text = block.partition("\n----\n")[0]
        for located in below(parse_condition(text)):
            assert [part.node for part in located.parts] == ir.children(located.node)
            assert 0 <= located.start < located.end <= len(text) or isinstance(located.node, ir.Scope)


A, B, C = ir.attribute("a"), ir.attribute("b"), ir.attribute("c")
ONE, TWO = ir.constant(1), ir.constant(2)


@pytest.mark.parametrize(
    ("texts", "node"),
    [
        (["a = 1", "a == 1", "(a) = (1)", "((a = 1))", "a=1"], ir.Compare("=", A, ONE)),
        (["a = 1", "a = 1.0", "a = 10E-1", "a -- b\n= /* = */ 1"], ir.Compare("=", A, ONE)),
        (["a != 1", "a <> 1", "a ≠ 1"], ir.Compare("!=", A, ONE)),
        (["a <= 1", "a ≤ 1"], ir.Compare("<=", A, ONE)),
        (["a BETWEEN 1 AND 2", "a between (1) and 2"], ir.And((ir.Compare(">=", A, ONE), ir.Compare("<=", A, TWO)))),
        (["a NOT BETWEEN 1 AND 2"], ir.Not(ir.And((ir.Compare(">=", A, ONE), ir.Compare("<=", A, TWO))))),
        (["1 <= a < 2"], ir.And((ir.Compare("<=", ONE, A), ir.Compare("<", A, TWO)))),
        (["a = b = c"], ir.And((ir.Compare("=", A, B), ir.Compare("=", B, C)))),
        (["a IN (1, 2)", "a ∈ (1,2)"], ir.In(A, (ONE, TWO))),
        (["a NOT IN (1, 2)", "a ∉ (1, 2)", "NOT a IN (1, 2)", "¬ a ∈ (1, 2)"], ir.Not(ir.In(A, (ONE, TWO)))),
        (["a LIKE 'x%'"], ir.Like(A, ir.constant("x%"), None, False)),
        (["a ILIKE b"], ir.Like(A, B, None, True)),
        (["a NOT LIKE 'x!%' ESCAPE '!'"], ir.Not(ir.Like(A, ir.constant("x!%"), "!", False))),
        (["a MATCHES 'x+'", "a RLIKE 'x+'", "a REGEXP 'x+'", "a ~ 'x+'"], ir.Matches(A, "x+")),
        (["a IS NULL"], ir.IsNull(A)),
        (["a IS NOT NULL", "NOT a IS NULL"], ir.Not(ir.IsNull(A))),
        (["a", "a = TRUE"], ir.Compare("=", A, ir.constant(True))),
        (["a IS TRUE", "(a) IS TRUE"], ir.IsTruth(ir.Compare("=", A, ir.constant(True)), True)),
        (["a IS UNKNOWN", "(a = TRUE) IS NULL"], ir.IsTruth(ir.Compare("=", A, ir.constant(True)), None)),
        (["(a = 1) IS NOT FALSE"], ir.Not(ir.IsTruth(ir.Compare("=", A, ONE), False))),
        (["TRUE"], ir.TRUE),
        (["FALSE", "(false)"], ir.FALSE),
        (["NULL"], ir.UNKNOWN),
        (["a AND b OR NOT c", "(a AND b) OR (NOT c)", "a ∧ b ∨ ¬ c"], None),
        (["a = -1", "a = - 1", "a = -(1)", "a = - - -1"], ir.Compare("=", A, ir.constant(-1))),
        (["-a = 1"], ir.Compare("=", ir.Call("NEGATE", (A,)), ONE)),
        (["+a = +1", "0 + a = 1"], ir.Compare("=", ir.Call("+", (ir.constant(0), A)), ONE)),
        (["a + b * 2 = 1", "a + (b * 2) = 1"], ir.Compare("=", ir.Call("+", (A, ir.Call("*", (B, TWO)))), ONE)),
        (["a - b - c = 1", "(a - b) - c = 1"], ir.Compare("=", ir.Call("-", (ir.Call("-", (A, B)), C)), ONE)),
        (["a = 5 % 2 / 1"], ir.Compare("=", A, ir.Call("/", (ir.Call("%", (ir.constant(5), TWO)), ONE)))),
        (["lower(a) = 'x'", "LOWER ( a ) = \"x\""], ir.Compare("=", ir.Call("LOWER", (A,)), ir.constant("x"))),
        (["CAST(a AS integer) = 1"], ir.Compare("=", ir.Cast(A, "INTEGER"), ONE)),
        (["a MATCHES NULL", "a LIKE 'x' ESCAPE NULL", "a = NULL"], ir.Compare("=", A, ir.NULL)),
        (["`a.b` = 1"], ir.Compare("=", ir.Attribute(ir.NEW, ("a.b",)), ONE)),
        (["a.b = 1", "a.`b` = 1"], ir.Compare("=", ir.Attribute(ir.NEW, ("a", "b")), ONE)),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)  # fmt: skip
def test_the_same_condition_in_several_texts(texts: list[str], node: ir.Condition | None) -> None:
    expected = node or parse_condition(texts[0]).node
    for text in texts:
        assert parse_condition(text).node is expected, text


ELEMENT = ir.Attribute(ir.ELEMENT, ())
TAGS = ir.attribute("tags")
X = ir.constant("x")


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("ANY(tags) = 'x'", ir.Some(TAGS, ir.Compare("=", ELEMENT, X))),
        ("'x' = ANY(tags)", ir.Some(TAGS, ir.Compare("=", X, ELEMENT))),
        ("ALL(tags) LIKE 'x'", ir.Every(TAGS, ir.Like(ELEMENT, X, None, False))),
        ("ANY(tags) NOT IN ('x')", ir.Some(TAGS, ir.Not(ir.In(ELEMENT, (X,))))),
        ("NOT ANY(tags) IN ('x')", ir.Not(ir.Some(TAGS, ir.In(ELEMENT, (X,))))),
        ("ANY(tags) IS NOT NULL", ir.Some(TAGS, ir.Not(ir.IsNull(ELEMENT)))),
        ("ANY(tags) IS TRUE", ir.Some(TAGS, ir.IsTruth(ir.Compare("=", ELEMENT, ir.constant(True)), True))),
        ("(ANY(tags) = 'x') IS TRUE", ir.IsTruth(ir.Some(TAGS, ir.Compare("=", ELEMENT, X)), True)),
        ("ANY(tags)", ir.Some(TAGS, ir.Compare("=", ELEMENT, ir.constant(True)))),
        ("tags CONTAINS 'x'", ir.Some(TAGS, ir.Compare("=", ELEMENT, X))),
        ("tags NOT CONTAINS 'x'", ir.Not(ir.Some(TAGS, ir.Compare("=", ELEMENT, X)))),
        ("LOWER(ANY(tags)) = 'x'", ir.Some(TAGS, ir.Compare("=", ir.Call("LOWER", (ELEMENT,)), X))),
        (
            "1 <= ANY(tags) <= 2",
            ir.Some(TAGS, ir.And((ir.Compare("<=", ONE, ELEMENT), ir.Compare("<=", ELEMENT, TWO)))),
        ),
        (
            "ANY(tags) BETWEEN 1 AND 2",
            ir.Some(TAGS, ir.And((ir.Compare(">=", ELEMENT, ONE), ir.Compare("<=", ELEMENT, TWO)))),
        ),
        (
            "ANY(tags) = 1 AND ALL(tags) = 1",
            ir.And((ir.Some(TAGS, ir.Compare("=", ELEMENT, ONE)), ir.Every(TAGS, ir.Compare("=", ELEMENT, ONE)))),
        ),
        (
            "ALL tags AS t (t.a = tags AND t = 1)",
            ir.Every(
                TAGS,
                ir.And(
                    (
                        ir.Compare("=", ir.Attribute(ir.ELEMENT, ("a",)), TAGS),
                        ir.Compare("=", ir.attribute("t"), ONE),
                    )
                ),
            ),
        ),
        (
            "ANY a AS i (ALL i.b AS j (i.x = j.x AND ANY(j.y) = 1))",
            ir.Some(
                A,
                ir.Every(
                    ir.Attribute(ir.ELEMENT, ("b",)),
                    ir.And(
                        (
                            ir.Compare("=", ir.Attribute(ir.ELEMENT, ("x",)), ir.Attribute(ir.ELEMENT + 1, ("x",))),
                            ir.Some(
                                ir.Attribute(ir.ELEMENT + 1, ("y",)),
                                ir.Compare("=", ir.Attribute(ir.ELEMENT + 2, ()), ONE),
                            ),
                        )
                    ),
                ),
            ),
        ),
    ],
)
def test_arrays(text: str, node: ir.Condition) -> None:
    assert parse_condition(text).node is node


OLD_X = ir.Attribute(ir.OLD, ("x",))


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("EXISTS d (d.x = a)", ir.Exists(ir.Compare("=", OLD_X, A), ir.WHOLE_STORE)),
        ("∀ d (`d`.x = d)", ir.ForAll(ir.Compare("=", ir.attribute("d.x"), ir.attribute("d")), ir.WHOLE_STORE)),
        (
            "FORALL d LAST 10 WHERE (d.x = 1) WITHIN INTERVAL '1 day' OF d.x (d.x = a)",
            ir.ForAll(ir.Compare("=", OLD_X, A), ir.Scope(ir.Compare("=", OLD_X, ONE), Interval(0, 1, 0), ("x",), 10)),
        ),
        (
            "EXISTS d (ANY d.x AS i (i.a = d.x AND i.a = a)) IS TRUE",
            ir.IsTruth(
                ir.Exists(
                    ir.Some(
                        OLD_X,
                        ir.And(
                            (
                                ir.Compare("=", ir.Attribute(ir.ELEMENT, ("a",)), OLD_X),
                                ir.Compare("=", ir.Attribute(ir.ELEMENT, ("a",)), A),
                            )
                        ),
                    ),
                    ir.WHOLE_STORE,
                ),
                True,
            ),
        ),
    ],
)
def test_quantifiers(text: str, node: ir.Condition) -> None:
    assert parse_condition(text).node is node


def test_a_variable_ends_with_its_body() -> None:
    node = parse_condition("EXISTS d (d.x) AND d.x AND ANY d AS i (i.x) AND i.x").node
    assert isinstance(node, ir.And)
    assert node.operands[1] is node.operands[1] is ir.Compare("=", ir.attribute("d.x"), ir.constant(True))
    assert node.operands[3] is ir.Compare("=", ir.attribute("i.x"), ir.constant(True))


def test_a_failed_parse_leaves_no_variable_behind() -> None:
    with pytest.raises(ProfileError):
        parse_condition("EXISTS d (ANY d.a AS i (i.x = ")
    assert parse_condition("d.x = i.x").node is ir.Compare("=", ir.attribute("d.x"), ir.attribute("i.x"))


def test_the_stored_tables_are_those_of_the_grammar() -> None:
    made = analyse(GRAMMAR.read_text(encoding="utf-8"))
    assert made == tables(), f"run python -m profilec.grammar.tables: {STORED} is of another grammar"


def test_tables_of_another_grammar_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from profilec.grammar import tables as module

    stored = tmp_path / "tables.json"
    stored.write_text('{"grammar": "another", "rules": [], "states": []}')
    monkeypatch.setattr(module, "STORED", stored)
    module.tables.cache_clear()
    try:
        assert module.tables().states
    finally:
        module.tables.cache_clear()


def codes(text: str, limits: Limits) -> list[str]:
    try:
        parse_condition(text, limits=limits)
    except ProfileError as error:
        return [diagnostic.code for diagnostic in error.diagnostics]
    return []


@pytest.mark.parametrize(
    "text",
    ["(" * 21 + "a" + ")" * 21, "NOT " * 21 + "a", " + ".join("a" * 22) + " = 1", "-" + " -" * 21 + "a = 1",
     "NOT (" * 20 + "a = 1" + ")" * 20],
    ids=["brackets", "NOT", "sum", "minus", "both"],
)  # fmt: skip
def test_depth_has_a_limit(text: str) -> None:
    assert codes(text, Limits(max_depth=20)) == ["PC301"]
    assert codes(text, Limits(max_depth=40)) == []


def test_ten_thousand_brackets_are_refused() -> None:
    assert codes("(" * 10_000 + "a" + ")" * 10_000, Limits()) == ["PC301"]
    assert codes("NOT " * 10_000 + "a", Limits()) == ["PC301"]


def test_terms_have_a_limit() -> None:
    assert codes("a OR b OR c = 1", Limits(max_terms=3)) == []
    assert codes("a OR b OR c = 1 OR d", Limits(max_terms=3)) == ["PC302"]
    assert codes("a IN (1, 2, 3, 4)", Limits(max_terms=3)) == ["PC302"]


def test_size_has_a_limit() -> None:
    assert codes("a = 'xxxx'", Limits(max_size=10)) == []
    assert codes("a = 'xxxxx'", Limits(max_size=10)) == ["PC303"]


def test_long_numbers() -> None:
    assert parse_condition(f"a = {'1' * 1000}").node.right.value == int("1" * 1000)  # type: ignore[attr-defined]
    assert codes(f"a = {'1' * 5000}", Limits()) == ["PC304"]


def test_an_or_of_a_hundred_thousand_terms() -> None:
    located = parse_condition(" OR ".join(f"a = {n % 97}" for n in range(100_000)))
    assert isinstance(located.node, ir.Or)
    assert len(located.node.operands) == len(located.parts) == 100_000


def test_parsing_from_several_threads() -> None:
    wrong: list[str] = []

    def parse(name: str) -> None:
        for n in range(200):
            node = parse_condition(f"EXISTS {name} ({name}.x = {n}) AND d.x = {name}.x").node
            if node is not ir.And(
                (
                    ir.Exists(ir.Compare("=", OLD_X, ir.constant(n)), ir.WHOLE_STORE),
                    ir.Compare("=", ir.attribute("d.x"), ir.attribute(f"{name}.x")),
                )
            ):
                wrong.append(name)

    threads = [threading.Thread(target=parse, args=(name,)) for name in "defg"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
