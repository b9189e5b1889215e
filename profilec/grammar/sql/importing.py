"""SQL text to profiles: the statements of a file, or the rows of a table of ids and conditions.

In: text in any dialect that sqlglot reads. Out: an `ImportedProfile` for each statement whose
WHERE clause can be carried over with its meaning; a diagnostic, by name and place, for each of
the others. What a clause means in its dialect is `dialects`; how it is read, `reading`.

A statement is

    SELECT … FROM t WHERE condition;      one table; ORDER BY and DISTINCT change no match
    CREATE VIEW name AS SELECT …;         the profile's id is the view's name
    WHERE condition;
    condition;

A comment `-- id: name` (or `/* id: name */`) before a statement gives its id; a statement
without one is `profile_3`, the third of the file.

Invariant: only sqlglot's tokens and trees decide; no text is searched for SQL. A fault in one
statement does not reach the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from profilec.grammar import ir
from profilec.grammar.diagnostics import Diagnostic, ProfileError, Source
from profilec.grammar.print import print_condition
from profilec.grammar.sql.dialects import Traits, dialect_name, traits_of
from profilec.grammar.sql.queries import read_query
from profilec.grammar.sql.recursion import deep_recursion
from profilec.grammar.sql.refusal import Refusal, diagnostic_of
from profilec.grammar.sql.statements import Statement, statements

if TYPE_CHECKING:
    from sqlglot import exp

    from profilec.values.types import Schema

Report: TypeAlias = Callable[[Diagnostic], None]
LikeCase: TypeAlias = Literal["dialect", "sensitive"]


@dataclass(frozen=True, slots=True)
class ImportedProfile:
    """A profile that was read from SQL. `where` is its condition in our text; line and column are the statement's."""

    id: str
    where: str
    condition: ir.Condition
    line: int
    column: int


def import_sql(
    text: str,
    dialect: str,
    *,
    file: str | None = None,
    schema: Schema | None = None,
    like_case: LikeCase = "dialect",
    report: Report | None = None,
) -> list[ImportedProfile]:
    """The profiles of a file of SQL statements.

    >>> found = import_sql("-- id: cheap\\nSELECT * FROM t AS p WHERE p.price < 5 AND p.brand LIKE 'A%';", "postgres")
    >>> found[0].id, found[0].where
    ('cheap', "price < 5 AND brand LIKE 'A%'")

    `schema` tells the columns' types: with it, more can be carried. `like_case="sensitive"` says that
    strings are compared by code point, by LIKE too, whatever the dialect's default is (SQLite under
    `PRAGMA case_sensitive_like = ON`, a MySQL column with a binary collation).

    Raises:
        ProfileError: something could not be carried, and no `report` takes the diagnostics; or
            there is no such dialect.
    """
    found: list[Diagnostic] = []
    importer = _Importer(dialect, schema, like_case, report or found.append)
    profiles = list(importer.profiles_of_file(text, file))
    _raise_errors(found)
    return profiles


def import_rows(
    rows: Iterable[tuple[str | None, str]],
    dialect: str,
    *,
    file: str | None = None,
    schema: Schema | None = None,
    like_case: LikeCase = "dialect",
    report: Report | None = None,
) -> list[ImportedProfile]:
    """The profiles of a table of ids and conditions; a row without an id gets `profile_` and its number.

    >>> [profile.where for profile in import_rows([("a", "x IS DISTINCT FROM 5")], "duckdb")]
    ['(x = 5) IS NOT TRUE']

    A condition may be written in any form that a statement of a file may. `line` of a profile is the
    row's number, from 1; in diagnostics, line and column are those of the row's own text.

    Raises:
        ProfileError: as `import_sql`.
    """
    found: list[Diagnostic] = []
    importer = _Importer(dialect, schema, like_case, report or found.append)
    profiles = [
        profile
        for number, (id_, text) in enumerate(rows, 1)
        for profile in importer.profiles_of_row(id_, text, number, file)
    ]
    _raise_errors(found)
    return profiles


def _raise_errors(found: list[Diagnostic]) -> None:
    if any(diagnostic.severity == "error" for diagnostic in found):
        raise ProfileError(found)


class _Importer:
    """Reads statements of one dialect; remembers the ids given so far."""

    def __init__(self, dialect: str, schema: Schema | None, like_case: LikeCase, report: Report) -> None:
        if like_case not in ("dialect", "sensitive"):
            raise ValueError(f"like_case is 'dialect' or 'sensitive', not {like_case!r}")
        self.dialect = dialect_name(dialect)
        self.traits: Traits = traits_of(dialect)
        self.schema = schema
        self.sensitive = like_case == "sensitive"
        self.report = report
        self.places: dict[str, str] = {}

    def profiles_of_file(self, text: str, file: str | None) -> Iterator[ImportedProfile]:
        source = Source(text, file)
        for number, statement in enumerate(statements(text, self.dialect, source, self.report), 1):
            id_ = statement.id
            yield from self._profile(id_, f"profile_{number}", statement, source, None)

    def profiles_of_row(self, id_: str | None, text: str, number: int, file: str | None) -> Iterator[ImportedProfile]:
        derived = f"profile_{number}"
        source = Source(text, f"{file}, row {number}" if file else None, id_ or derived)
        faulty: list[Diagnostic] = []
        found = list(statements(text, self.dialect, source, faulty.append))
        for diagnostic in faulty:
            self.report(diagnostic)
        if len(found) == 1:
            yield from self._profile(id_ or None, derived, found[0], source, number)
        elif found:
            second = found[1]
            self.report(source.diagnostic("PC505", second.start, second.end, "a row holds one condition"))
        elif not faulty:
            self.report(source.diagnostic("PC501", 0, len(text), "a row without a condition"))

    def _profile(
        self, id_: str | None, derived: str, statement: Statement, source: Source, row: int | None
    ) -> Iterator[ImportedProfile]:
        line, column = source.position(statement.start)
        try:
            with deep_recursion():
                view, condition = self._condition(statement, source)
                where = _printed(condition)
        except Refusal as refusal:
            name = id_ or derived
            self.report(diagnostic_of(refusal, source, statement.start, statement.end, name))
            return
        name = id_ or view or derived
        place = f"row {row}" if row is not None else f"line {line}"
        if name in self.places:
            message = f"the id {name!r} was given before, at {self.places[name]}"
            self.report(source.diagnostic("PC216", statement.start, statement.end, message, profile=name))
            return
        self.places[name] = place
        yield ImportedProfile(name, where, condition, row or line, 1 if row is not None else column)

    def _condition(self, statement: Statement, source: Source) -> tuple[str | None, ir.Condition]:
        """The name of the view, if the statement makes one, and the condition."""
        from profilec.grammar.sql.reading import Reading, read_condition

        query = read_query(statement, self.dialect, source)

        def warn(message: str, hint: str | None, node: exp.Expr) -> None:
            refusal = Refusal(message, hint, node, "PC615")
            self.report(diagnostic_of(refusal, source, statement.start, statement.end, statement.id))

        reading = Reading(self.traits, self.sensitive, self.schema, warn, query.table)
        try:
            return query.view, read_condition(query.condition, reading)
        except RecursionError:
            raise Refusal("a condition that is nested too deep", code="PC301") from None


def _printed(condition: ir.Condition) -> str:
    """Our text. A few conditions have none: a literal of too many digits, a date outside the calendar."""
    try:
        return print_condition(condition)
    except ValueError as error:
        raise Refusal(str(error)) from None
