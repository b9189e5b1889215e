"""A store to damage, and what it holds."""

from __future__ import annotations

from pathlib import Path

import profilec

DOCUMENTS = [{"a": a, "b": b} for a in (0, 1, 5, 9, 30, None) for b in ("x", "yy", None)]


def fill(path: Path) -> dict[str, str]:
    """A store with two segments, dead profiles in them, and a log; its profiles."""
    held = {f"p{number}": f"a = {number} OR b = '{'y' * (number % 4)}'" for number in range(40)}
    with profilec.open(path, sync="off", schema="a NUMBER, b STRING") as profiles:
        profiles.insert_many(held)
        profiles.compact()
        for number in range(30, 36):
            held[f"q{number}"] = f"a < {number} AND b != 'x'"
            profiles.insert(f"q{number}", held[f"q{number}"])
        for id in ("p3", "p5", "q31"):
            profiles.delete(id)
            del held[id]
        held["p7"] = "a > 4 AND a < 10"
        profiles.replace("p7", held["p7"])
        held |= {"wide": f"b IN ({', '.join(repr(f'{number:060}') for number in range(300))}) OR a = 30"}
        profiles.insert("wide", held["wide"])
    return held


def wanted(held: dict[str, str]) -> list[list[str]]:
    """What the documents match."""
    return list(profilec.compile(held, schema="a NUMBER, b STRING").match_batch(DOCUMENTS))
