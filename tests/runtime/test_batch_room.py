"""A batch makes room for its answers beforehand, whatever the entries it finds stand for."""

import pytest

import profilec
from profilec.runtime.matchers.betree import batch


@pytest.mark.parametrize("much", [0, 1 << 25])
def test_entries_of_many_profiles_find_room(much: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "MUCH", much)
    conditions = {f"p{n}": f"a = {n % 3}" for n in range(700)} | {f"q{n}": f"a < {n} AND b = 1" for n in range(80)}
    documents = [{"a": n % 5, "b": n % 2} for n in range(2_500)] + [{}]
    wanted = list(profilec.compile(conditions, options={"matcher": "scan"}).match_batch(documents))
    assert list(profilec.compile(conditions, options={"matcher": "betree"}).match_batch(documents)) == wanted
