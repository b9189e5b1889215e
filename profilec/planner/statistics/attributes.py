"""What a sample of documents says of one attribute.

In: the attribute's values in the documents of a sample, and how many documents there are in all. Out: how often it is
there, of which kinds, how many values it has, the most common ones, an equi-depth histogram, the lengths of strings.

The number of distinct values of all documents is estimated by Duj1 (Haas, Naughton, Seshadri, Stokes, Sampling-Based
Estimation of the Number of Distinct Values of an Attribute, VLDB 1995): n d / (n - f + f n / N), where n of N values
were seen, d of them distinct, and f only once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from profilec.planner.statistics.plain_json import plain
from profilec.values.compare import order_key
from profilec.values.kinds import Kind, Value, kind_of

N_COMMON = 20
"""Most common values that are told."""
N_BUCKETS = 32
_MOST_CHARACTERS = 200
"""Longer strings are told by their beginnings."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """Values from `low` to `high`, both among them, and their share of all documents."""

    low: Any
    high: Any
    share: float


@dataclass(frozen=True, slots=True)
class AttributeStatistics:
    """`presence`: the share of documents in which the attribute is there and not NULL; `nulls`: in which it is there
    and NULL. `kinds`: of each kind of value the share of documents. `n_distinct`: of all documents, estimated.
    `common`: values that were seen twice at least, with their shares, the most common first. `histogram`: by kind, the
    values that are left when these are taken out, in buckets of about the same share. `lengths`: of strings the least,
    the mean and the greatest.
    """

    name: str
    presence: float
    nulls: float
    kinds: dict[str, float]
    n_distinct: int
    common: tuple[tuple[Any, float], ...]
    histogram: dict[str, tuple[Bucket, ...]]
    lengths: tuple[int, float, int] | None

    def as_json(self) -> dict[str, Any]:
        """What `json` writes."""
        facts: dict[str, Any] = {
            "presence": _rounded(self.presence),
            "nulls": _rounded(self.nulls),
            "kinds": {kind: _rounded(share) for kind, share in self.kinds.items()},
            "distinct": self.n_distinct,
        }
        if self.common:
            facts["most_common"] = [{"value": plain(value), "share": _rounded(share)} for value, share in self.common]
        if self.histogram:
            facts["histogram"] = {
                kind: [[plain(bucket.low), plain(bucket.high), _rounded(bucket.share)] for bucket in buckets]
                for kind, buckets in self.histogram.items()
            }
        if self.lengths is not None:
            shortest, mean, longest = self.lengths
            facts["string_length"] = {"min": shortest, "mean": _rounded(mean), "max": longest}
        return facts


def attribute_names(documents: Iterable[Mapping[str, Any]]) -> list[str]:
    """All attributes of documents, those in records by their paths, sorted."""
    names: set[str] = set()
    for document in documents:
        _gather(document, "", names)
    return sorted(names)


def _gather(record: Mapping[str, Any], prefix: str, names: set[str]) -> None:
    for name, value in record.items():
        if isinstance(value, Mapping):
            _gather(value, f"{prefix}{name}.", names)
        else:
            names.add(prefix + name)


def summarize(name: str, values: list[Value], n_nulls: int, n_sampled: int, n_documents: int) -> AttributeStatistics:
    """The statistics of an attribute that has these `values`, none of them NULL, in `n_sampled` of `n_documents`."""
    by_kind: dict[Kind, Counter[Any]] = {}
    of_key: dict[Any, Any] = {}
    for value in values:
        kind = kind_of(value)
        key = repr(value) if kind is Kind.OPAQUE else order_key(value)
        by_kind.setdefault(kind, Counter())[key] += 1
        of_key.setdefault((kind, key), value)
    scale = n_documents / max(n_sampled, 1)
    n_distinct = sum(_distinct(counter, scale) for counter in by_kind.values())
    counts = [(count, kind, key) for kind, counter in by_kind.items() for key, count in counter.most_common(N_COMMON)]
    counts.sort(key=lambda one: (-one[0], one[1]))
    common = [one for one in counts if one[0] > 1 and one[1] is not Kind.OPAQUE][:N_COMMON]
    taken = {(kind, key) for _, kind, key in common}
    histogram = {
        kind.name.lower(): _histogram(
            [key for key in counter if (kind, key) not in taken], kind, counter, of_key, n_sampled
        )
        for kind, counter in sorted(by_kind.items())
        if kind is not Kind.OPAQUE
    }
    strings = [value for value in values if isinstance(value, str)]
    lengths = None
    if strings:
        sizes = [len(text) for text in strings]
        lengths = (min(sizes), sum(sizes) / len(sizes), max(sizes))
    return AttributeStatistics(
        name,
        len(values) / n_sampled,
        n_nulls / n_sampled,
        {
            _KIND_NAMES.get(kind, kind.name.lower()): counter.total() / n_sampled
            for kind, counter in sorted(by_kind.items())
        },
        n_distinct,
        tuple((_shortened(of_key[kind, key]), count / n_sampled) for count, kind, key in common),
        {kind: buckets for kind, buckets in histogram.items() if buckets},
        lengths,
    )


_KIND_NAMES = {Kind.OPAQUE: "array or record"}


def _distinct(counter: Counter[Any], scale: float) -> int:
    """Duj1; see the module."""
    n, d = counter.total(), len(counter)
    once = sum(1 for count in counter.values() if count == 1)
    total = max(n * scale, n)
    if n == once:  # no value came twice: they may all be distinct
        return round(total)
    return round(min(n * d / (n - once + once * n / total), total))


def _histogram(
    keys: list[Any], kind: Kind, counter: Counter[Any], of_key: Mapping[Any, Any], n_sampled: int
) -> tuple[Bucket, ...]:
    """Equi-depth: the k-th bucket ends where k N_BUCKETS-ths of what there is are in it and those before it."""
    keys.sort()
    depth = sum(counter[key] for key in keys) / N_BUCKETS
    buckets: list[Bucket] = []
    first, seen, before = None, 0, 0
    for number, key in enumerate(keys):
        first = key if first is None else first
        seen += counter[key]
        if before + seen >= (len(buckets) + 1) * depth or number == len(keys) - 1:
            low, high = _shortened(of_key[kind, first]), _shortened(of_key[kind, key])
            buckets.append(Bucket(low, high, seen / n_sampled))
            before += seen
            first, seen = None, 0
    return tuple(buckets)


def _shortened(value: Any) -> Any:
    return value[:_MOST_CHARACTERS] if isinstance(value, str) else value


def _rounded(number: float) -> float:
    """To six digits, which are more than a sample knows."""
    return float(f"{number:.6g}")
