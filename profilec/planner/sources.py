"""Everything that `compile` takes, as one stream of statements.

In: a Path or Paths (files, folders of `.prof` files), `.prof` text, a mapping of id to WHERE
text, an Arrow table of ids and conditions, or an iterable of profiles. Out: the schema that it
declares, then its `ProfileStatement`s in order.

Invariant: a file that cannot be read, and a profile that cannot be parsed, is reported and costs
nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from errno import ENOENT
from pathlib import Path
from typing import Any, NamedTuple

from profilec.grammar import ir
from profilec.grammar.diagnostics import Diagnostic
from profilec.grammar.limits import Limits
from profilec.grammar.statements import ParseMany, ProfileStatement, decode, iter_profiles, read_schema, read_where
from profilec.values.types import Field, Schema

Report = Callable[[Diagnostic], None]


class Parsed(NamedTuple):
    """A profile that was parsed elsewhere: its normal form, None where it has an error, and what was said of it."""

    id: str
    where: str
    normal_form: ir.Condition | None
    diagnostics: Sequence[Diagnostic]


class Source:
    """A source that has been opened: its texts are in memory, its profiles not yet parsed."""

    def __init__(self, given: Any, report: Report) -> None:
        """Reads files; decides what `given` is.

        Raises:
            TypeError: nothing that profiles can be read from.
            ValueError: a string that names a `.prof` file instead of holding its text.
            FileNotFoundError: a path that does not exist, or a folder without a `.prof` file.
        """
        self._report = report
        self._texts: list[tuple[str | None, str]] = []
        self._rows: Iterable[Any] | None = None
        self.n_done = 0
        self.is_parsed = False
        """Whether the conditions are normal forms already, those of `Parsed`."""
        if isinstance(given, Path):
            self._read_paths([given])
        elif isinstance(given, str):
            if given.rstrip().endswith(".prof") and "\n" not in given:
                raise ValueError(f"this is .prof text; to compile the file {given!r} pass pathlib.Path({given!r})")
            self._texts.append((None, given))
        elif isinstance(given, Mapping):
            self._rows = given.items()
        elif hasattr(given, "to_batches") or hasattr(given, "to_pylist"):
            self._rows = _arrow_rows(given)
        elif isinstance(given, Iterable):
            if hasattr(given, "columns"):
                raise TypeError("a data frame of profiles is given as an Arrow table: pyarrow.Table.from_pandas(frame)")
            items = list(given)
            if items and all(isinstance(item, Path) for item in items):
                self._read_paths(items)
            else:
                self._rows = items
                self.is_parsed = bool(items) and all(isinstance(item, Parsed) for item in items)
        else:
            raise TypeError(
                f"profiles come from a Path, .prof text, a mapping of id to condition, an Arrow table or an iterable "
                f"of Profile, not from {type(given).__name__}"
            )

    def schema(self, declared: Schema | None) -> Schema | None:
        """`declared` together with the SCHEMA statements of the texts; None where there are none."""
        fields: dict[str, tuple[Field, str]] = {}
        for field in declared.fields if declared is not None else ():
            fields[field.name] = (field, "the schema given to compile")
        found = declared is not None
        for file, text in self._texts:
            for field, line, column in read_schema(text, file, self._report):
                found = True
                place = f"{file or 'text'}:{line}:{column}"
                known, first = fields.setdefault(field.name, (field, place))
                if known != field:
                    self._report(_declared_twice(field, known, first, file, line, column))
        return Schema(tuple(field for field, _ in fields.values())) if found else None

    @property
    def n_characters(self) -> int:
        """The length of all texts; `n_done` is that of the texts behind the one at hand."""
        return sum(len(text) for _, text in self._texts)

    def in_order(self, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
        """The diagnostics by file, in the order read, then by line and column; those of no text come first, and
        those of rows as they were reported: a line is one of its row's condition."""
        if self._rows is not None:
            return list(diagnostics)
        place_of = {file: place for place, (file, _) in enumerate(self._texts)}
        return sorted(diagnostics, key=lambda d: (place_of.get(d.file, -1), d.line or 0, d.column or 0))

    def statements(
        self, schema: Schema | None, limits: Limits, parse_many: ParseMany | None = None
    ) -> Iterator[ProfileStatement]:
        """The good profiles in order; what is wrong with the others goes to `report`.

        `parse_many`: see `grammar.statements.iter_profiles`.
        """
        for file, text in self._texts:
            yield from iter_profiles(
                text, file=file, schema=schema, limits=limits, report=self._report, parse_many=parse_many
            )
            self.n_done += len(text)
        for row in self._rows or ():
            statement = self._parsed(row) if self.is_parsed else self._row_statement(row, schema, limits)
            if statement is not None:
                yield statement

    def _read_paths(self, paths: Iterable[Path]) -> None:
        for path in paths:
            files = sorted(path.rglob("*.prof")) if path.is_dir() else [path]
            if not files:
                raise FileNotFoundError(ENOENT, "no .prof file in this folder", str(path))
            for file in files:
                text = decode(file.read_bytes(), str(file), self._report)
                if text is not None:
                    self._texts.append((str(file), text))

    def _row_statement(self, row: Any, schema: Schema | None, limits: Limits) -> ProfileStatement | None:
        properties: dict[str, Any] = {}
        comment = None
        if isinstance(row, tuple) and len(row) == 2:
            id_, where = row
        elif hasattr(row, "id") and hasattr(row, "where"):
            id_, where, properties, comment = row.id, row.where, dict(row.properties), row.comment
        else:
            hint = "; files are given as pathlib.Path" if isinstance(row, str | Path) else ""
            raise TypeError(f"a profile is an id and a condition, or a Profile, not {row!r:.80}{hint}")
        if not isinstance(id_, str) or not isinstance(where, str):
            raise TypeError(f"a profile's id and condition are strings, not {id_!r:.40} and {where!r:.40}")
        if comment is not None and not isinstance(comment, str):
            raise TypeError(f"the comment of profile {id_!r:.40} is a string or None, not {comment!r:.40}")
        found: list[Diagnostic] = []
        reading = read_where(id_, where, schema=schema, limits=limits, report=found.append)
        if found:
            self._report_row(found)
        if reading is None:
            return None
        return ProfileStatement(id_, where, reading, properties, (), None, 1, 1, 0, comment)

    def _parsed(self, row: Parsed) -> ProfileStatement | None:
        self._report_row(row.diagnostics)
        if row.normal_form is None:
            return None
        return ProfileStatement(row.id, row.where, row.normal_form, {}, (), None, 1, 1, 0, None)

    def _report_row(self, diagnostics: Iterable[Diagnostic]) -> None:
        for diagnostic in sorted(diagnostics, key=lambda found: (found.line or 0, found.column or 0)):
            self._report(diagnostic)


def _declared_twice(field: Field, known: Field, first: str, file: str | None, line: int, column: int) -> Diagnostic:
    return Diagnostic(
        "PC218",
        "error",
        f"`{field.name}` is declared {field.type} here and {known.type} at {first}",
        file=file,
        line=line,
        column=column,
        end_column=column + len(field.name),
        hint="one schema serves the whole set: declare an attribute once",
    )


def _arrow_rows(table: Any) -> Iterator[tuple[Any, Any]]:
    """Rows of the two columns of an Arrow table: `id` and `condition` by name, else the first and the second."""
    names = list(table.schema.names)
    id_column = names.index("id") if "id" in names else 0
    where_column = next((names.index(name) for name in ("condition", "where") if name in names), 1)
    if len(names) < 2:
        raise ValueError("an Arrow table of profiles has the columns id and condition")
    batches = table.to_batches() if hasattr(table, "to_batches") else [table]
    for batch in batches:
        yield from zip(batch.column(id_column).to_pylist(), batch.column(where_column).to_pylist(), strict=True)
