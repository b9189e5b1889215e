"""A process that changes a store, and says what it is about to do and what it has done, until it is killed.

    python store_child.py PATH SEED

Each line is JSON: ["try", operation] before, ["done"] after. An operation is what `store_model.Model.do` takes.
"""

from __future__ import annotations

import json
import random
import sys
import time
from typing import Any

CONDITIONS = (
    "a = {n}", "a > {n} AND b = 'x{n}'", "b IN ('x{n}', 'y')", "a BETWEEN {n} AND 60 OR b = 'y'", "b LIKE 'x{n}%'",
    "b LIKE '%{n}%'", "EXISTS d (d.a = a AND a > {n})", "a IS NULL AND b != 'x{n}'",
)  # fmt: skip


def operation(draw: random.Random, ids: list[str], n_documents: int, next_id: int) -> list[Any]:
    """One that makes sense for a set of these ids."""

    def conditions(names: list[str]) -> dict[str, str]:
        return {name: draw.choice(CONDITIONS).format(n=draw.randrange(50)) for name in names}

    match draw.choice(("insert", "insert", "insert", "replace", "delete", "compact", "document", "forget")):
        case "replace" if ids:
            return ["replace", conditions(draw.sample(ids, min(len(ids), draw.randrange(1, 4))))]
        case "delete" if len(ids) > 20:
            return ["delete", draw.sample(ids, draw.randrange(1, 4))]
        case "compact" if draw.random() < 0.5:
            return ["compact", None]
        case "document":
            return ["document", [{"a": draw.randrange(60), "b": "y"} for _ in range(draw.randrange(1, 4))]]
        case "forget" if n_documents > 5:
            return ["forget", [0]]
    return ["insert", conditions([f"p{next_id + number}" for number in range(draw.randrange(1, 6))])]


def do(profiles: Any, action: str, argument: Any) -> None:
    """Does an operation."""
    match action:
        case "insert":
            profiles.insert_many(argument)
        case "replace":
            profiles.replace_many(argument)
        case "delete":
            profiles.delete_many(argument)
        case "compact":
            profiles.compact()
        case "document":
            profiles.documents.extend(argument)
        case "forget":
            profiles.documents.delete(argument)


def main(path: str, seed: int) -> None:
    import profilec
    from profilec.living import living_set, merging

    living_set.MOST_IN_DELTA = merging.MOST_IN_DELTA = 30
    draw = random.Random(seed)
    profiles = profilec.open(path)
    next_id = 1 + max([int(id[1:]) for id in profiles.ids], default=0)
    print(json.dumps(["ready"]), flush=True)
    while True:
        action, argument = operation(draw, list(profiles.ids), len(profiles.documents), next_id)
        print(json.dumps(["try", [action, argument]]), flush=True)
        do(profiles, action, argument)
        print(json.dumps(["done"]), flush=True)
        if action == "insert":
            next_id += len(argument)
        if draw.random() < 0.1:
            profiles.match({"a": draw.randrange(60), "b": "y"})
            time.sleep(0.001)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
