"""A statement to its condition: sqlglot's tree of it, once nothing else decides which rows the statement gives.

In: the tokens of a statement. Out: a `Query`: the view that it makes, the names that may qualify
its columns, and the tree of its WHERE clause.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from profilec.grammar.diagnostics import Source
from profilec.grammar.limits import DEFAULT_LIMITS
from profilec.grammar.sql.refusal import Refusal
from profilec.grammar.sql.statements import Statement

if TYPE_CHECKING:
    from sqlglot import Token, exp


@dataclass(frozen=True, slots=True)
class Query:
    """`view`: the name of CREATE VIEW; `table`: what may qualify a column, outermost first, None where no FROM says."""

    view: str | None
    table: tuple[str, ...] | None
    condition: exp.Expr


def read_query(statement: Statement, dialect: str, source: Source) -> Query:
    """The query that a statement is.

    Raises:
        Refusal: it cannot be read (PC501), or its rows do not depend on one record's values alone (PC505).
    """
    from sqlglot import exp

    _check_depth(statement.tokens)
    if dialect == "duckdb":
        _check_duckdb(statement.tokens)
    parsed = _parse(statement, dialect, source)
    view = None
    if isinstance(parsed, exp.Create):
        view, parsed = _view(parsed)
    while isinstance(parsed, exp.Subquery | exp.Paren) and isinstance(parsed.this, exp.Query):
        parsed = parsed.this
    if not isinstance(parsed, exp.Query):
        return Query(view, None, parsed)
    if not isinstance(parsed, exp.Select):
        raise Refusal("a UNION or another combination of queries", "write one statement for each", parsed, "PC505")
    return Query(view, _table_of(parsed), _where_of(parsed))


def _parse(statement: Statement, dialect: str, source: Source) -> Any:
    from sqlglot import TokenType, exp
    from sqlglot.dialects.dialect import Dialect
    from sqlglot.errors import ParseError

    first = statement.tokens[0].token_type
    if first in (TokenType.INSERT, TokenType.UPDATE, TokenType.DELETE, TokenType.MERGE) and _is_named(statement):
        raise Refusal(f"{first.name} is no query", "write SELECT … WHERE, or the condition alone", code="PC505")
    whole = first in (TokenType.SELECT, TokenType.WITH, TokenType.FROM, TokenType.CREATE, TokenType.VALUES)
    tokens = statement.tokens[1:] if first is TokenType.WHERE else statement.tokens
    if not tokens:
        raise Refusal("a WHERE without a condition", code="PC501")
    parser = Dialect.get_or_raise(dialect).parser()
    try:
        if whole:
            (parsed,) = parser.parse(tokens, source.text)
        else:
            (parsed,) = parser.parse_into(exp.Condition, tokens, source.text)
    except ParseError as error:
        raise _syntax_refusal(error, statement) from None
    except RecursionError:
        raise Refusal("a statement that is nested too deep", code="PC301") from None
    if parsed is None:
        raise Refusal("a statement without a condition", code="PC501")
    return parsed


def _is_named(statement: Statement) -> bool:
    """Whether a name or another word follows, as after a verb: `update = 5` is a condition."""
    from sqlglot import TokenType

    words = (TokenType.VAR, TokenType.IDENTIFIER, TokenType.FROM, TokenType.TABLE, TokenType.INTO)
    return len(statement.tokens) > 1 and statement.tokens[1].token_type in words


def _view(create: exp.Create) -> tuple[str, Any]:
    from sqlglot import exp

    if create.args.get("kind") != "VIEW" or not isinstance(create.expression, exp.Query):
        raise Refusal("a CREATE of something else than a view", code="PC505")
    name = create.this
    if isinstance(name, exp.Schema):
        raise Refusal("a view that gives its columns other names", None, name, "PC505")
    return name.name, create.expression


# Words for the clauses that change which rows a query gives; any other argument goes by its own name.
_CLAUSES = {
    "joins": "JOIN", "laterals": "LATERAL", "group": "GROUP BY", "having": "HAVING", "qualify": "QUALIFY",
    "limit": "LIMIT", "offset": "OFFSET", "with_": "WITH", "sample": "TABLESAMPLE", "pivots": "PIVOT",
    "prewhere": "PREWHERE", "match": "MATCH_RECOGNIZE", "connect": "CONNECT BY", "windows": "WINDOW", "into": "INTO",
    "locks": "FOR UPDATE", "version": "a version of the table", "when": "a version of the table",
}  # fmt: skip
_HARMLESS = frozenset({"expressions", "from_", "from", "where", "distinct", "order", "hint", "kind"})
_OF_TABLE = frozenset({"this", "db", "catalog", "alias"})


def _check_arguments(node: exp.Expr, allowed: frozenset[str]) -> None:
    from sqlglot import exp

    for key, value in node.args.items():
        if value and key not in allowed:
            place = value if isinstance(value, exp.Expr) else node
            word = _CLAUSES.get(key, f"the clause `{key}`")
            raise Refusal(f"{word}: a profile asks about one record by its own values", None, place, "PC505")


def _where_of(query: exp.Select) -> exp.Expr:
    from sqlglot import exp

    where = query.args.get("where")
    if where is None:
        raise Refusal("a SELECT without WHERE", "write WHERE TRUE for what matches every record", query, "PC505")
    condition: exp.Expr = where.this
    # Some dialects let WHERE name what SELECT computes.
    aliases = {
        alias.alias.casefold()
        for alias in query.expressions
        if isinstance(alias, exp.Alias) and not (isinstance(alias.this, exp.Column) and alias.this.name == alias.alias)
    }
    for column in condition.find_all(exp.Column) if aliases else ():
        if column.name.casefold() in aliases and not column.table:
            message = f"`{column.name}` may be the table's, or what the SELECT gives that name"
            raise Refusal(message, "qualify the column, or leave out the alias", column, "PC504")
    return condition


def _table_of(query: exp.Select) -> tuple[str, ...]:
    from sqlglot import exp

    _check_arguments(query, _HARMLESS)
    from_ = query.args.get("from_") or query.args.get("from")
    table = from_.this if from_ is not None else None
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        raise Refusal("a SELECT that is not FROM one table", None, table or query, "PC505")
    _check_arguments(table, _OF_TABLE)
    alias = table.args.get("alias")
    if alias is None:
        return tuple(part.name for part in table.parts)
    if alias.args.get("columns"):
        raise Refusal("a table whose columns are given other names", None, alias, "PC505")
    return (alias.name,)


def _syntax_refusal(error: Any, statement: Statement) -> Refusal:
    """sqlglot tells the line and column at which the token ends that it could not use."""
    told = error.errors[0] if error.errors else {}
    message = str(told.get("description") or error).split("\n", 1)[0].split(". Line ")[0]
    if message.startswith("Required keyword"):  # which names classes of sqlglot
        message = "an operand is missing"
    place = (told.get("line"), told.get("col"))
    token = next((token for token in statement.tokens if (token.line, token.col) == place), None)
    return Refusal(f"this cannot be read as SQL: {message[:1].lower()}{message[1:]}", None, None, "PC501", token=token)


def _check_depth(tokens: list[Token]) -> None:
    """PERF: sqlglot recurses for every bracket and prefix, and a deep text would exhaust the stack."""
    from sqlglot import TokenType

    opening = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
    closing = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
    prefixes = {TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE, TokenType.AMP}
    depth = prefix = 0
    for token in tokens:
        prefix = prefix + 1 if token.token_type in prefixes else 0
        depth += (token.token_type in opening) - (token.token_type in closing)
        if depth + prefix > DEFAULT_LIMITS.max_depth:
            raise Refusal(f"nested deeper than {DEFAULT_LIMITS.max_depth} levels", code="PC301", token=token)


def _check_duckdb(tokens: list[Token]) -> None:
    """What sqlglot gives the tree of something else, so that only the tokens tell."""
    from sqlglot import TokenType

    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        if token.token_type is TokenType.IN and after is not None and after.token_type is TokenType.L_BRACKET:
            hint = "write IN (…) with round brackets"
            raise Refusal("`IN […]`, which is FALSE beside a NULL in the list", hint, code="PC504", token=token)
        if token.text in ("~", "!~"):
            raise Refusal(
                "`~` asks for the whole string in DuckDB 1 and for a part of it in DuckDB 2",
                "write regexp_matches(a, '…')",
                code="PC504",
                token=token,
            )
