"""The document store and what joins keep of it, interrupted anywhere: nothing is half done when it is next used."""

from __future__ import annotations

import linecache
import random
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

import profilec
from profilec.runtime.store import documents as documents_module

CONDITIONS = {
    "keyed": "EXISTS d (d.u = u AND d.n > n)",
    "every": "FORALL d (d.n < n)",
    "ranged": "EXISTS d (d.n > n AND d.n < m)",
    "two": "EXISTS d (d.n > n AND d.m < m)",
    "lasting": "EXISTS d LAST 3 (d.n = n)",
    "implied": "n = 4 AND EXISTS d (d.n = n)",
}
EARLIER = [{"u": f"u{number % 3}", "n": number % 7, "m": number % 5} for number in range(12)]
ASKED = [{"u": "u1", "n": 4, "m": 3}, {"u": "u0", "n": 0, "m": 6}, {"u": "u9", "n": 9, "m": 0}]
CHANGES: dict[str, Callable[[Any], object]] = {
    "add": lambda documents: documents.add({"u": "u1", "n": 8, "m": 1}),
    "extend": lambda documents: documents.extend([{"u": "u1", "n": 8, "m": 1}, {"u": "u4", "n": -1, "m": 9}]),
    "delete": lambda documents: documents.delete([11]),
    "delete the first, and rewrite": lambda documents: documents.delete([0]),
    "retain": lambda documents: documents.retain(max_documents=11),
}


N_PLACES = 60


def interrupted(call: Callable[[], object], at: int | None) -> int:
    """Runs with an interrupt at a line of the store or of joins; the number of lines that were run."""
    n_lines = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal n_lines
        name = frame.f_code.co_filename
        if "/runtime/store/" not in name and "/runtime/joins/" not in name:
            return None
        # A lock is let go without a look at signals: of all that can raise, only a trace could come in between.
        if event == "line" and linecache.getline(name, frame.f_lineno).strip() != "with self._lock:":
            n_lines += 1
            if n_lines == at:
                raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(None)
    return n_lines


def places(n_lines: int) -> list[int]:
    """Lines to be interrupted at: the last ones, where it is decided whether a change is made, and others."""
    rng = random.Random(n_lines)
    return sorted({*range(max(1, n_lines - 12), n_lines + 1), *rng.choices(range(1, n_lines + 1), k=N_PLACES)})


def answers(earlier: list[dict[str, Any]]) -> list[list[str]]:
    profiles = profilec.compile(CONDITIONS)
    profiles.documents.extend(earlier)
    return [profiles.match(new) for new in ASKED]


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_made_or_not_made(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents_module, "_DEAD", 0 if "rewrite" in change else 65_536)
    changed = documents_module.DocumentStore(EARLIER)
    CHANGES[change](changed)
    before, after = list(EARLIER), list(changed)
    wanted = {len(before): answers(before), len(after): answers(after)}
    profiles = profilec.compile(CONDITIONS)
    for at in (None, *places(interrupted(lambda: CHANGES[change](documents_module.DocumentStore(EARLIER)), None))):
        profiles.documents = documents_module.DocumentStore(EARLIER)
        assert [profiles.match(new) for new in ASKED] == wanted[len(before)]
        interrupted(lambda: CHANGES[change](profiles.documents), at)
        left = list(profiles.documents)
        assert left in ((after,) if at is None else (before, after)), (at, left)
        assert [profiles.match(new) for new in ASKED] == wanted[len(left)], at


def test_a_match_is_right_after_one_that_was_interrupted() -> None:
    wanted = answers(EARLIER)

    def run(profiles: Any) -> list[list[str]]:
        profiles.documents.extend(EARLIER)
        return [profiles.match(new) for new in ASKED]

    for at in places(interrupted(lambda: run(profilec.compile(CONDITIONS)), None)):
        profiles = profilec.compile(CONDITIONS)
        interrupted(lambda profiles=profiles: run(profiles), at)  # type: ignore[misc]
        assert [profiles.match(new) for new in ASKED] == (wanted if len(profiles.documents) else answers([])), at
