"""A condition to the WHERE clause of a dialect that has the same three-valued meaning.

In: a condition of the IR, with the schema that types its attributes. Out: SQL text, without the
word WHERE. `writing` makes sqlglot's tree, sqlglot the dialect's text.

The clause means the condition for a table whose columns are the attributes, each of one type,
and whose rows are the documents. Which types, where no schema says: those of the constants that
the condition compares them with. What a dialect cannot say is refused by name.

    PostgreSQL   timestamps without a zone; strings are ordered under COLLATE "C"
    Spark        sessions in UTC
    SQLite       a STRICT table; booleans are 1 and 0; dates are text like 2024-12-31, timestamps
                 like 2024-12-31 23:59:59.5, in UTC and without zeros at the end of the fraction;
                 text has no NUL. LIKE becomes GLOB, which sees case on every connection
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from profilec.grammar import ir
from profilec.grammar.diagnostics import Diagnostic, ProfileError
from profilec.grammar.sql.dialects import dialect_name, traits_of
from profilec.grammar.sql.recursion import deep_recursion
from profilec.grammar.sql.refusal import Refusal

if TYPE_CHECKING:
    from profilec.values.types import Schema


def export_condition(
    condition: ir.Condition, dialect: str, schema: Schema | None = None, *, profile: str | None = None
) -> str:
    """The WHERE clause of a condition.

    >>> cheap = ir.Compare("<", ir.attribute("price"), ir.constant(5))
    >>> acme = ir.Compare("=", ir.attribute("Brand"), ir.constant("Acme"))
    >>> print(export_condition(ir.And((cheap, acme)), "postgres"))
    price < 5 AND "Brand" = 'Acme'

    `profile` is the id that diagnostics name.

    Raises:
        ProfileError: the dialect cannot say this (PC503), or is not known (PC506).
    """
    name, traits = dialect_name(dialect), traits_of(dialect)
    try:
        if traits.exports is None:
            raise Refusal(f"what conditions mean in {traits.name or name} is not known well enough", code="PC503")
        from profilec.grammar.sql.writing import Writing, infer_kinds, write_condition

        with deep_recursion():
            writing = Writing(name, traits, schema, infer_kinds(condition, schema))
            return write_condition(condition, writing).sql(dialect=name, copy=False)
    except Refusal as refusal:
        diagnostic = Diagnostic(refusal.code, "error", refusal.message, hint=refusal.hint, profile=profile)
        raise ProfileError([diagnostic]) from None
    except RecursionError:
        raise ProfileError(
            [Diagnostic("PC301", "error", "a condition that is nested too deep", profile=profile)]
        ) from None
