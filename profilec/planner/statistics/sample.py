"""Statistics: a uniform sample of documents, and what it says.

In: documents, or the text that statistics were written as. Out: `Statistics`.

The sample itself is kept, since only documents tell how attributes depend on one another; what is told of each
attribute is computed from it. It is bounded in documents and in bytes: where it grows beyond MAX_BYTES, a random half
of it goes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from profilec.planner.statistics.attributes import AttributeStatistics, attribute_names, summarize
from profilec.planner.statistics.plain_json import plain, read_value
from profilec.planner.statistics.reservoir import Reservoir
from profilec.values.kinds import DocumentError, Value, from_document

CAPACITY = 10_000
MAX_BYTES = 16 << 20
"""Of the sample, as text."""
VERSION = 1
_MOST_DOCUMENTS = 2**63 - 1
_CHUNK = 4_096


class StatisticsError(ValueError):
    """A file of statistics that cannot be read."""


class Statistics:
    """What is known of documents.

    >>> statistics = Statistics.of({"price": n, "brand": "Acme"} for n in range(100))
    >>> statistics.n_documents, statistics["price"].n_distinct, statistics["brand"].common
    (100, 100, (('Acme', 1.0),))
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        """`capacity`: how many documents are kept at most."""
        if capacity < 1:
            raise ValueError(f"a sample has one document at least, not {capacity}")
        self._reservoir = Reservoir(capacity)
        self._n_bytes = 0

    @classmethod
    def of(cls, documents: Iterable[Mapping[str, Any]], capacity: int = CAPACITY) -> Statistics:
        """Statistics of these documents.

        Raises:
            DocumentError: one is no mapping, or holds a value of no kind; only those are looked at that are kept.
        """
        statistics = cls(capacity)
        chunk: list[Mapping[str, Any]] = []
        for document in documents:
            chunk.append(document)
            if len(chunk) == _CHUNK:
                statistics.extend(len(chunk), chunk)
                chunk = []
        statistics.extend(len(chunk), chunk)
        return statistics

    def extend(self, n: int, documents: Sequence[Any] | Callable[[list[int]], Sequence[Any]]) -> None:
        """Takes n more documents: these, or those that a function gives for the numbers of what is to be kept."""
        self.__dict__.pop("attributes", None)
        first = self._reservoir.n_seen
        entering = list(self._reservoir.places(n))
        numbers = [number for number, _ in entering]
        chosen = documents(numbers) if callable(documents) else [documents[number] for number in numbers]
        for (number, place), document in zip(entering, chosen, strict=True):
            if not isinstance(document, Mapping):
                raise DocumentError(f"document {first + number}: it is no mapping of attribute to value")
            try:
                text = json.dumps(plain(document))
            except DocumentError as error:
                raise DocumentError(f"document {first + number}: {error}") from None
            except RecursionError:
                raise DocumentError(f"document {first + number}: a value is nested too deeply to be kept") from None
            except ValueError as error:  # an integer of more digits than Python prints
                raise DocumentError(f"document {first + number}: {error}") from None
            items = self._reservoir.items
            self._n_bytes += len(text) - (len(items[place]) if place < len(items) else 0)
            self._reservoir.put(place, text)
        while self._n_bytes > MAX_BYTES and len(self._reservoir.items) > 1:
            self._reservoir.halve()
            self._n_bytes = sum(map(len, self._reservoir.items))

    @property
    def n_documents(self) -> int:
        """How many documents there were."""
        return self._reservoir.n_seen

    @property
    def sample(self) -> list[dict[str, Any]]:
        """Some of them, each with the same probability."""
        return [read_value(json.loads(text)) for text in self._reservoir.items]

    @property
    def n_sampled(self) -> int:
        return len(self._reservoir.items)

    @cached_property
    def attributes(self) -> dict[str, AttributeStatistics]:
        """What the sample says of each attribute, by name."""
        documents = self.sample
        found: dict[str, AttributeStatistics] = {}
        for name in attribute_names(documents):
            parts = name.split(".")
            values: list[Value] = []
            n_nulls = 0
            for document in documents:
                for value in _at(document, parts, name):
                    ours = from_document(value)
                    if ours is None:
                        n_nulls += 1
                    else:
                        values.append(ours)
            found[name] = summarize(name, values, n_nulls, max(len(documents), 1), self.n_documents)
        return found

    def __getitem__(self, name: str) -> AttributeStatistics:
        """Of one attribute. Raises KeyError."""
        return self.attributes[name]

    def __repr__(self) -> str:
        return f"<Statistics: {self.n_sampled:,} of {self.n_documents:,} documents>"

    def merged(self, other: Statistics) -> Statistics:
        """Statistics of both sets of documents; neither changes."""
        merged = Statistics()
        merged._reservoir = self._reservoir.merged(other._reservoir)
        merged._n_bytes = sum(map(len, merged._reservoir.items))
        return merged

    def to_json(self) -> str:
        """All of it as JSON, which `from_json` reads. `attributes` is for whoever reads the file."""
        facts = {
            "profilec_statistics": VERSION,
            "documents": self.n_documents,
            "capacity": self._reservoir.capacity,
            "attributes": {name: found.as_json() for name, found in self.attributes.items()},
        }
        head = json.dumps(facts, ensure_ascii=False, indent=1)
        rows = ",\n  ".join(self._reservoir.items)
        return f'{head[:-2]},\n "sample": [\n  {rows}\n ]\n}}\n'

    @classmethod
    def from_json(cls, text: str | bytes) -> Statistics:
        """The statistics that `to_json` wrote.

        Raises:
            StatisticsError: it did not write this.
        """
        try:
            facts = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise StatisticsError(f"no file of statistics: {error}") from None
        if not isinstance(facts, dict) or "profilec_statistics" not in facts:
            raise StatisticsError("no file of statistics, which `profilec stats DOCS -o FILE` writes")
        if isinstance(facts["profilec_statistics"], bool) or facts["profilec_statistics"] != VERSION:
            raise StatisticsError(f"statistics of another version of profilec ({facts['profilec_statistics']!r:.20})")
        sample, n, capacity = facts.get("sample"), facts.get("documents"), facts.get("capacity")
        if not (isinstance(sample, list) and isinstance(n, int) and isinstance(capacity, int)):
            raise StatisticsError("damaged: it has no sample, documents and capacity")
        if len(sample) > min(n, capacity) or capacity < 1 or (n and not sample) or n > _MOST_DOCUMENTS:
            raise StatisticsError("damaged: its sample, documents and capacity do not go together")
        statistics = cls(capacity)
        try:
            statistics.extend(len(sample), [_expect_record(read_value(one)) for one in sample])
        except (ValueError, RecursionError) as error:  # DocumentError is a ValueError
            raise StatisticsError(f"damaged: {error}") from None
        statistics._reservoir.n_seen = n
        statistics._reservoir.restart()
        return statistics

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes `to_json` to a file. Raises OSError."""
        with open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Statistics:
        """Reads what `save` wrote.

        Raises:
            OSError: the file cannot be read.
            StatisticsError: it has no statistics; the message names it.
        """
        with open(path, "rb") as file:
            data = file.read()
        try:
            return cls.from_json(data)
        except StatisticsError as error:
            raise StatisticsError(f"{os.fspath(path)}: {error}") from None


def is_statistics(beginning: bytes) -> bool:
    """Whether a file that begins like this has statistics."""
    return beginning.lstrip().startswith(b"{") and b'"profilec_statistics"' in beginning[:100]


def _expect_record(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"a document of its sample is {value!r:.40}")
    return value


def _at(document: Mapping[str, Any], parts: Sequence[str], name: str) -> list[Any]:
    """What a document has under a path or a flat key, as a list of one; empty where the key is not there."""
    if name in document and not isinstance(document[name], Mapping):
        return [document[name]]
    value: Any = document
    for part in parts:
        if not isinstance(value, Mapping) or part not in value:
            return []
        value = value[part]
    return [] if isinstance(value, Mapping) else [value]
