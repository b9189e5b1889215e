"""A process that changes a store, and says what it is about to do and what it has done, until it is killed.

    python store_child.py PATH SEED AIM COPIES

Each line is JSON: ["try", operation] before, ["done", seconds] after. An operation is what `models.Model.do` takes;
every other one is of the action AIM. Copies are made in the folder COPIES.
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path
from typing import Any

CONDITIONS = (
    "a = {n}", "a > {n} AND b = 'x{n}'", "b IN ('x{n}', 'y')", "a BETWEEN {n} AND 60 OR b = 'y'", "b LIKE 'x{n}%'",
    "b LIKE '%{n}%'", "EXISTS d (d.a = a AND a > {n})", "a IS NULL AND b != 'x{n}'",
)  # fmt: skip
ACTIONS = ("insert", "replace", "delete", "document", "forget", "compact", "compact aside", "compact verb", "backup",
           "backup verb")  # fmt: skip
"""What there is to do. `aside`: the merge compiles in a process of its own, as large ones do; `verb`: that of
`profilec store`, which opens the store for itself."""
_OFTEN = ("insert", "insert", "insert", "replace", "delete", "compact", "document", "forget", "backup")


def operation(draw: random.Random, action: str, ids: list[str], n_documents: int, next_id: int) -> list[Any]:
    """One of an action, or an insertion where that makes no sense for a set of these ids."""

    def conditions(names: list[str]) -> dict[str, str]:
        return {name: draw.choice(CONDITIONS).format(n=draw.randrange(50)) for name in names}

    match action.split():
        case ["replace"] if ids:
            return [action, conditions(draw.sample(ids, min(len(ids), draw.randrange(1, 4))))]
        case ["delete"] if len(ids) > 3:
            return [action, draw.sample(ids, draw.randrange(1, 4))]
        case ["compact", *_] if ids:
            return [action, None]
        case ["document"]:
            return [action, [{"a": draw.randrange(60), "b": "y"} for _ in range(draw.randrange(1, 4))]]
        case ["forget"] if n_documents:
            return [action, [0]]
        case ["backup", *_]:
            return [action, f"copy{draw.randrange(1 << 32)}"]
    return ["insert", conditions([f"p{next_id + number}" for number in range(draw.randrange(1, 6))])]


def any_operation(draw: random.Random, profiles: Any, next_id: int) -> list[Any]:
    """One that a store might see any day."""
    return operation(draw, draw.choice(_OFTEN), list(profiles.ids), len(profiles.documents), next_id)


def do(profiles: Any, path: str, copies: str, action: str, argument: Any) -> None:
    """Does an operation."""
    from profilec.cli.app import app
    from profilec.living import aside
    from profilec.store.backup import backup_store

    match action.split():
        case ["insert"]:
            profiles.insert_many(argument)
        case ["replace"]:
            profiles.replace_many(argument)
        case ["delete"]:
            profiles.delete_many(argument)
        case ["document"]:
            profiles.documents.extend(argument)
        case ["forget"]:
            profiles.documents.delete(argument)
        case ["compact"]:
            profiles.compact()
        case ["compact", "aside"]:
            large, aside.LARGE = aside.LARGE, 1
            try:
                profiles.compact()
            finally:
                aside.LARGE = large
        case ["backup"]:
            backup_store(profiles.keeper, Path(copies, argument), link=argument.endswith("7"))
        case ["compact", "verb"]:
            app(["store", "compact", path], standalone_mode=False)
        case ["backup", "verb"]:
            app(["store", "backup", path, str(Path(copies, argument))], standalone_mode=False)


def main(path: str, seed: int, aim: str, copies: str) -> None:
    import profilec
    from profilec.living import living_set, merging

    living_set.MOST_IN_DELTA = merging.MOST_IN_DELTA = 30
    draw = random.Random(seed)
    profiles = profilec.open(path)
    next_id = 1 + max([int(id[1:]) for id in profiles.ids], default=0)
    print(json.dumps(["ready"]), flush=True)
    while True:
        for aimed in (False, True):
            ids, n_documents = list(profiles.ids), len(profiles.documents)
            wanted = aim if aimed else draw.choice(_OFTEN)
            if len(ids) > 60 and wanted == "insert" != aim:
                wanted = "delete"
            action, argument = operation(draw, wanted, ids, n_documents, next_id)
            print(json.dumps(["try", [action, argument]]), flush=True)
            start = time.perf_counter()
            do(profiles, path, copies, action, argument)
            print(json.dumps(["done", time.perf_counter() - start]), flush=True)
            if action == "insert":
                next_id += len(argument)
        if draw.random() < 0.2:
            profiles.match({"a": draw.randrange(60), "b": "y"})


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
