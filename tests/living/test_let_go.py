"""Letting go of many objects: what nobody else has is emptied, and what somebody has is left to him."""

from __future__ import annotations

import threading

from profilec.living.let_go import let_go


def test_what_nobody_else_has_is_emptied() -> None:
    emptied: list[str] = []

    class Told(list[int]):
        def __del__(self) -> None:
            emptied.append(f"list of {len(self)}")

    class ToldDict(dict[int, int]):
        def __del__(self) -> None:
            emptied.append(f"dict of {len(self)}")

    owned = [Told(range(12_000)), ToldDict.fromkeys(range(12_000)), []]
    let_go(owned)
    assert not owned
    assert sorted(emptied) == ["dict of 0", "list of 0"]


def test_what_somebody_has_is_his() -> None:
    kept, kept_dict = list(range(6_000)), dict.fromkeys(range(6_000))
    let_go([kept, kept_dict])
    assert (len(kept), len(kept_dict)) == (6_000, 6_000)


def test_who_reads_for_a_moment_is_waited_for() -> None:
    last: list[int] = []

    class Told(list[int]):
        def __del__(self) -> None:
            last.append(len(self))

    holder = [Told(range(6_000))]
    owned = [holder[0]]
    timer = threading.Timer(0.02, holder.clear)
    timer.start()
    let_go(owned)
    timer.join()
    assert last == [0]
