"""The options of `compile`: what each takes, and the one line that says so of anything else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import profilec
from profilec.planner.options import INDEXES, MATCHERS, NAMES, PATTERN_INDEXES, Options

ROOT = Path(__file__).parents[2]
WHOLE = ("max_cap", "max_depth", "max_terms", "max_size")


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize(
    "value", [0, -1, True, 1.0, "8", None, [8], 10**23, 10**5_000, np.float64(8), np.True_], ids=map(str, range(11))
)
def test_what_is_no_whole_number_of_a_fitting_size(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"^{name} takes a whole number from 1 to [\d,]+, not ") as refused:
        Options.read({name: value})
    assert len(str(refused.value)) < 150


@pytest.mark.parametrize("number", [np.int8(7), np.uint64(7), np.int64(7)])
def test_numbers_of_numpy_are_numbers(number: Any) -> None:
    chosen = Options.read(dict.fromkeys(WHOLE, number))
    assert [chosen.max_cap, chosen.limits.max_depth] == [7, 7]
    assert type(chosen.max_cap) is type(chosen.limits.max_terms) is int


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"index": 3}, "index takes a mapping of attribute to index, not 3"),
        ({"index": "price=interval"}, "index takes a mapping of attribute to index, not 'price=interval'"),
        ({"index": {"x": 3}}, "no index 3. There are: cluster, hash, hybrid, interval"),
        ({"index": {"x": ["interval"]}}, "no index ['interval']. There are: cluster, hash, hybrid, interval"),
        ({"matcher": 3}, "no matcher 3. There are: access, betree, "),
        ({"matcher": b"scan"}, "no matcher b'scan'. There are: access, betree, "),
        ({"rules": 5}, "rules takes a list of names, 'all' or 'none', not 5"),
        ({"rules": "some"}, "rules takes a list of names, 'all' or 'none', not 'some'"),
        ({"rules": [5]}, "no rule 5. There are: "),
        ({3: 4}, "no option 3. There are: index, "),
        (5, "options are a mapping of name to value, not 5"),
        ("max_cap=3", "options are a mapping of name to value, not 'max_cap=3'"),
    ],
    ids=str,
)
def test_what_is_of_another_type(option: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as refused:
        Options.read(option)
    assert str(refused.value).startswith(message)


def test_the_largest_numbers_work() -> None:
    conditions = {f"p{n}": f"x = {n} AND y > {n}" for n in range(450)}
    for options in ({"max_cap": 2**31 - 1}, {"max_terms": 2**63 - 1, "max_size": 2**63 - 1}):
        assert profilec.compile(conditions, options=options).match({"x": 7, "y": 8}) == ["p7"]


@pytest.mark.parametrize(
    ("attribute", "hint"),
    [("prize", "; did you mean 'price'?"), ("sold", ""), ("items.price", "; did you mean 'price'?")],
)
def test_an_index_on_an_attribute_that_no_profile_uses(attribute: str, hint: str) -> None:
    conditions = {"p": "price < 10 AND ANY items AS i (i.price > 3)"}
    with pytest.raises(ValueError, match="an attribute that no profile uses") as refused:
        profilec.compile(conditions, options={"index": {attribute: "interval"}})
    assert str(refused.value) == f"index forces 'interval' on {attribute!r}, an attribute that no profile uses{hint}"


@pytest.mark.parametrize(
    ("condition", "attribute"),
    [
        ("`unit price` < 3", "unit price"),
        ("`unit price` < 3", "`unit price`"),
        ("a.b < 3", "a.b"),
        ("a / b < 3", "a / b"),
        ("a / b < 3", "b"),
        ("a LIKE '%x%'", "a"),
        ("ANY items AS i (i.x > z)", "z"),
        ("EXISTS d WITHIN INTERVAL '1 day' OF at (d.k = k)", "at"),
        ("EXISTS d (d.k = k)", "k"),
    ],
)
def test_an_index_on_one_that_some_profile_uses(condition: str, attribute: str) -> None:
    profiles = profilec.compile({"p": condition}, options={"index": {attribute: "interval"}})
    assert profiles.plan.matcher in ("access", "bitmap")


def test_the_readme_names_every_option_and_matcher() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert [name for name in NAMES if f"`{name}`" not in readme] == []
    assert [name for name in MATCHERS if f'`"{name}"`' not in readme] == []
    named = {name.partition(":")[0] for name in (*INDEXES, *PATTERN_INDEXES)}
    assert [name for name in sorted(named) if f"`{name}`" not in readme] == []
