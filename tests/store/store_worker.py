"""A process that has a store open and does what it is told, one thing after the other.

Each line of standard input is JSON: an action and its argument, as of `answer`; each line of standard output what came
of it. ["open", path] comes first, and after ["close", null] again.
"""

from __future__ import annotations

import json
import sys
from typing import Any

SMALL = 6
"""Profiles of a delta from which on it is merged."""


def answer(profiles: Any, action: str, argument: Any) -> Any:
    """Asks a set, or changes it."""
    match action:
        case "insert":
            profiles.insert_many(argument)
        case "put":
            profiles.put_many(argument)
        case "delete":
            profiles.delete_many(argument)
        case "compact":
            profiles.compact()
        case "add":
            profiles.documents.extend(argument)
        case "forget":
            profiles.documents.delete(argument)
        case "retain":
            profiles.documents.retain(max_documents=argument)
        case "process":
            return profiles.process(argument)
        case "match":
            return [profiles.match(one) for one in argument]
        case "match_batch":
            return list(profiles.match_batch(argument))
        case "ids":
            return [list(profiles.ids), len(profiles)]
        case "documents":
            return [list(profiles.documents), len(profiles.documents)]
    return None


def main() -> None:
    """See the module."""
    import profilec
    from profilec.living import living_set, merging

    living_set.MOST_IN_DELTA = merging.MOST_IN_DELTA = SMALL
    profiles: Any = None
    for line in sys.stdin:
        action, argument = json.loads(line)
        if action == "open":
            profiles, answered = profilec.open(argument), None
        elif action == "close":
            answered = profiles.close()
        else:
            answered = answer(profiles, action, argument)
        print(json.dumps(answered), flush=True)


if __name__ == "__main__":
    main()
