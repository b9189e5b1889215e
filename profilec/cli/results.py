"""What `match` writes: the profiles of each document.

    ndjson   {"document": 0, "profiles": ["cheap_acme"]}     one line a document
    json     [ the same objects, one a line ]
    csv      document,profile                                one row a match

Invariant: nothing is written in part: a result is whole, or it is not there.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from typing import TextIO

RESULT_FORMATS = ("ndjson", "json", "csv")


class Results:
    """Writes results to a stream; `ids` are the set's, which results name by their index.

    >>> import sys
    >>> results = Results(sys.stdout, "ndjson", ["a", "b"])
    >>> results.write(7, [0, 1])
    >>> results.flush()
    {"document": 7, "profiles": ["a", "b"]}
    """

    def __init__(self, stream: TextIO, format_: str, ids: Sequence[str], *, only_matches: bool = False) -> None:
        self._stream = stream
        self._format = format_
        self._only_matches = only_matches
        self._ids = _Spelled(ids, _csv_cell if format_ == "csv" else _json_text)
        self._pending = ["document,profile\n"] if format_ == "csv" else []
        self._n_written = 0

    def write(self, document: int, profiles: Sequence[int]) -> None:
        """The result of one document: its number, and the indices of the profiles it matches."""
        if self._format == "csv":
            self._pending.extend(f"{document},{self._ids[index]}\n" for index in profiles)
            return
        if self._only_matches and not profiles:
            return
        listed = ", ".join([self._ids[index] for index in profiles])
        line = f'{{"document": {document}, "profiles": [{listed}]}}'
        if self._format == "json":
            line = (",\n" if self._n_written else "[\n") + line
        else:
            line += "\n"
        self._n_written += 1
        self._pending.append(line)

    def flush(self) -> None:
        self._stream.write("".join(self._pending))
        self._stream.flush()
        self._pending.clear()

    def close(self) -> None:
        """Writes what is pending and ends the document."""
        if self._format == "json":
            self._pending.append("\n]\n" if self._n_written else "[]\n")
        self.flush()


class _Spelled(dict[int, str]):
    """Ids as they are written, by index; of those that were asked for so far, since a set may have millions."""

    def __init__(self, ids: Sequence[str], spell: Callable[[str], str]) -> None:
        super().__init__()
        self._source = ids
        self._spell = spell

    def __missing__(self, index: int) -> str:
        self[index] = text = self._spell(self._source[index])
        return text


def _json_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _csv_cell(text: str) -> str:
    cell = io.StringIO()
    csv.writer(cell, lineterminator="").writerow([text])
    return cell.getvalue()
