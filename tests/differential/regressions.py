"""Failures of the differential test, kept as files and tried again in every run.

A file is one case: the profiles, one document or a few, the truths that the judges gave, and how
profilec was asked when it failed. JSON has no dates, decimals or NaN: these are written as
`{"$date": "2024-01-31"}`, `{"$timestamp": …}`, `{"$decimal": "0.10"}` and `{"$double": "nan"}`.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from engines import Case
from structures import Change

FOLDER = Path(__file__).parent.parent / "regressions"
_READ = {
    "$date": datetime.date.fromisoformat,
    "$timestamp": datetime.datetime.fromisoformat,
    "$decimal": Decimal,
    "$double": float,
}
_TRUTHS = {True: True, False: False, None: "unknown"}


def to_json(value: Any) -> Any:
    match value:
        case Mapping():
            return {name: to_json(item) for name, item in value.items()}
        case list() | tuple():
            return [to_json(item) for item in value]
        case float() if not math.isfinite(value):
            return {"$double": str(value)}
        case Decimal():
            return {"$decimal": str(value)}
        case datetime.datetime():
            return {"$timestamp": value.isoformat(" ")}
        case datetime.date():
            return {"$date": value.isoformat()}
    return value


def from_json(value: Any) -> Any:
    if isinstance(value, list):
        return [from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and (name := next(iter(value))) in _READ:
        return _READ[name](value[name])
    return {name: from_json(item) for name, item in value.items()}


def save(case: Case, found: str, folder: Path = FOLDER) -> Path:
    """Writes the case; `found` says how it was found and what went wrong."""
    content = {
        "found": found,
        "profiles": list(case.profiles),
        "schema": case.schema,
        "documents": to_json(case.documents),
        "earlier": to_json(case.earlier),
        "truths": [[_TRUTHS[truth] for truth in row] for row in case.truths],
        "rules": list(case.rules) if isinstance(case.rules, tuple) else case.rules,
        "tabular": case.tabular,
        "style": case.style,
        "changes": [
            {"before": change.before, "deleted": list(change.deleted), "added": to_json(change.added)}
            for change in case.changes
        ],
        "processed": case.processed,
        "refused": to_json(case.refused),
    }
    text = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
    path = folder / f"differential_{hashlib.sha256(text.encode()).hexdigest()[:12]}.json"
    path.write_text(text, encoding="utf-8")
    return path


def load(path: Path) -> Case:
    content = json.loads(path.read_text(encoding="utf-8"))
    rules = content["rules"]
    return Case(
        content["profiles"],
        from_json(content["documents"]),
        [[None if truth == "unknown" else truth for truth in row] for row in content["truths"]],
        from_json(content["earlier"]),
        content["schema"],
        tuple(rules) if isinstance(rules, list) else rules,
        content["tabular"],
        content["style"],
        changes=[
            Change(change["before"], tuple(change["deleted"]), tuple(from_json(change["added"])))
            for change in content.get("changes", ())
        ],
        processed=content.get("processed", 0),
        refused=tuple(from_json(content.get("refused", []))),
    )
