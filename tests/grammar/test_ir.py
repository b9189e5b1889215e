"""The IR's nodes: one node for equal fields, as long as somebody holds it."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
from decimal import Decimal

import pytest

from profilec.grammar import ir

A = ir.attribute("a.b")


def test_equal_fields_are_one_node() -> None:
    assert ir.Compare("<", A, ir.constant(5)) is ir.Compare("<", ir.attribute("a.b"), ir.constant(Decimal("5.0")))
    assert ir.constant(1) is not ir.constant(True)
    assert ir.Attribute(ir.NEW, ("a.b",)) is not A
    assert ir.IsTruth(ir.TRUE, None) is not ir.IsTruth(ir.TRUE, False)


def test_fields_are_in_the_order_of_their_annotations() -> None:
    node = ir.Like(A, ir.constant("x%"), "!", True)
    assert (node.text, node.pattern.value, node.escape, node.ignore_case) == (A, "x%", "!", True)
    assert ir.Like.fields == ir.Like.__match_args__
    for kind in (*ir.Scalar.__subclasses__(), *ir.Condition.__subclasses__(), ir.Scope):
        assert kind.fields == kind.__match_args__
    with pytest.raises(TypeError, match="takes operator, left, right"):
        ir.Compare("<", A)


def test_nodes_are_frozen_and_stay_themselves_in_copies() -> None:
    node = ir.Not(ir.IsNull(A))
    with pytest.raises(AttributeError):
        node.operand = ir.TRUE
    assert copy.deepcopy(node) is node
    assert pickle.loads(pickle.dumps(node)) is node


def test_nodes_that_nobody_holds_leave_the_pool() -> None:
    gc.collect()
    before = len(ir.Compare._pool), len(ir.Constant._pool)
    nodes = [ir.Compare("=", A, ir.constant(10**30 + n)) for n in range(100)]
    assert len(ir.Compare._pool) == before[0] + 100
    del nodes
    gc.collect()
    assert (len(ir.Compare._pool), len(ir.Constant._pool)) == before
    again = ir.Compare("=", A, ir.constant(10**30))
    assert again is ir.Compare("=", A, ir.constant(10**30))


def test_threads_agree_on_the_node() -> None:
    found: list[list[ir.Condition]] = []

    def make() -> None:
        found.append([ir.Compare("=", A, ir.constant(10**40 + n)) for n in range(2_000)])

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(list(map(id, nodes)) == list(map(id, found[0])) for nodes in found)
