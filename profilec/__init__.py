"""profilec: stored WHERE clauses, compiled; which of them does this record match?

>>> import profilec
>>> profiles = profilec.compile({"cheap": "price < 10", "acme": "brand = 'Acme'"})
>>> profiles.match({"price": 9.5, "brand": "Acme"})
['cheap', 'acme']

Names are loaded when they are first used, so that `import profilec` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from profilec.grammar.diagnostics import Diagnostic, ProfileError
    from profilec.planner.calibration import CalibrationError
    from profilec.planner.normal_forms import NormalFormTooLarge
    from profilec.planner.statistics import Statistics, StatisticsError
    from profilec.profileset import Profile, ProfileSet, compile, load, open
    from profilec.runtime.batch import MatchBatch
    from profilec.runtime.imagefile.container import ImageError
    from profilec.saved_set import ImageReport, verify
    from profilec.store.environment import StoreError
    from profilec.values.kinds import DocumentError
    from profilec.values.sets import Between, OneOf
    from profilec.values.types import Schema
    from profilec.warm import warmup
    from profilec.why import Explanation

_HOME = {
    "Between": "profilec.values.sets",
    "CalibrationError": "profilec.planner.calibration",
    "Diagnostic": "profilec.grammar.diagnostics",
    "DocumentError": "profilec.values.kinds",
    "Explanation": "profilec.why",
    "ImageError": "profilec.runtime.imagefile.container",
    "ImageReport": "profilec.saved_set",
    "MatchBatch": "profilec.runtime.batch",
    "NormalFormTooLarge": "profilec.planner.normal_forms",
    "OneOf": "profilec.values.sets",
    "Profile": "profilec.profileset",
    "ProfileError": "profilec.grammar.diagnostics",
    "ProfileSet": "profilec.profileset",
    "Schema": "profilec.values.types",
    "Statistics": "profilec.planner.statistics",
    "StatisticsError": "profilec.planner.statistics",
    "StoreError": "profilec.store.environment",
    "compile": "profilec.profileset",
    "load": "profilec.profileset",
    "open": "profilec.profileset",
    "verify": "profilec.saved_set",
    "warmup": "profilec.warm",
}

__all__ = [
    "Between",
    "CalibrationError",
    "Diagnostic",
    "DocumentError",
    "Explanation",
    "ImageError",
    "ImageReport",
    "MatchBatch",
    "NormalFormTooLarge",
    "OneOf",
    "Profile",
    "ProfileError",
    "ProfileSet",
    "Schema",
    "Statistics",
    "StatisticsError",
    "StoreError",
    "compile",
    "load",
    "open",
    "verify",
    "warmup",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'profilec' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
