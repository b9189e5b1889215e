"""What a store should hold after some operations of `store_child`, and what one does hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import profilec
from profilec.store.verify import verify_store


class Model(NamedTuple):
    """The profiles in order, and the documents."""

    profiles: dict[str, str]
    documents: list[dict[str, Any]]

    def do(self, action: str, argument: Any) -> Model:
        """The model after an operation. What merges or copies changes nothing."""
        profiles, documents = dict(self.profiles), list(self.documents)
        match action:
            case "insert" | "replace":
                profiles.update(argument)
            case "delete":
                for id in argument:
                    del profiles[id]
            case "document":
                documents += argument
            case "forget":
                del documents[0]
        return Model(profiles, documents)

    def is_same(self, other: Model) -> bool:
        """Whether both hold the same, in the same order."""
        return list(self.profiles.items()) == list(other.profiles.items()) and self.documents == other.documents


EMPTY = Model({}, [])


def held(path: Path) -> Model:
    """What a store holds, once it is opened again: it is sound, and answers as a set does that is compiled of that."""
    assert verify_store(path).faults == ()
    with profilec.open(path) as profiles:
        found = {id: profiles[id].where for id in profiles.ids}
        documents = list(profiles.documents)
        again = profilec.compile(found)
        again.documents.extend(documents)
        asked = [{"a": a, "b": b} for a in (None, 3, 30, 59) for b in ("x3", "y", "x30")]
        assert list(profiles.match_batch(asked)) == list(again.match_batch(asked))
        assert [profiles.match(one) for one in asked[:4]] == [again.match(one) for one in asked[:4]]
    return Model(found, documents)


def held_by_copy(path: Path) -> Model | None:
    """What a folder holds that a backup may have left; None where it is refused, or empty: a whole copy or none."""
    if not any(path.iterdir()):
        return None
    try:
        profilec.open(path).close()
    except profilec.StoreError:
        return None
    return held(path)
