"""A join term decided by DuckDB for a whole batch of new documents, in one statement.

In: the earlier and the new documents, which become the in-memory tables `old` and `new`. Out: the numbers of the
new documents for which a term holds.

There are several ways to say one term, and which of them is fastest is for a benchmark to find out:

    edge            the least or greatest value of all documents, compared with the new one's
    edges           that of each key (GROUP BY)
    semi join       EXISTS, or NOT EXISTS of what spoils FORALL
    plain join      the pairs, made distinct
    first key       the pairs of equal first keys, and `bool_or` of what else is asked
"""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
from joins import Columns, Term
from numpy.typing import NDArray


class SetBased:
    """The two tables; one thread, as what it is compared with."""

    def __init__(self, earlier: Columns, new: Columns) -> None:
        self._connection = duckdb.connect(config={"threads": 1})
        given = {"old": earlier.table(), "new": new.table().append_column("id", [np.arange(len(new))])}
        for name, table in given.items():
            self._connection.register("given", table)
            self._connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
            self._connection.unregister("given")

    def run(self, statement: str) -> NDArray[np.int64]:
        """The numbers of the new documents, in whatever order they are found."""
        found: dict[str, Any] = self._connection.execute(statement).fetchnumpy()
        ids: NDArray[np.int64] = found["id"]
        return ids

    def close(self) -> None:
        """Gives the memory back."""
        self._connection.close()


def statements(term: Term) -> dict[str, str]:
    """The ways to say a term, by name. (An empty store is not thought of: FORALL of one comparison asks for some.)"""
    if not term.keys:
        assert term.compared is not None
        old, direction = f'"{term.compared.old}"', "DESC" if _edge(term).startswith("max") else "ASC"
        top = f"SELECT {old} FROM old ORDER BY {old} {direction} NULLS LAST LIMIT 1"
        return {"edge": _by_edge(term, f"SELECT {_edge(term)} FROM old"), "edge, by order": _by_edge(term, top)}
    ways = {"semi join": _by_semi_join(term)}
    if term.compared is not None and term.compared.op != "=":
        ways["edges"] = _by_edges(term, "")
        ways["edges of those keys"] = _by_edges(term, f"WHERE {_among_new(term)}")
    ways["plain join"] = _by_pairs(term, f"SELECT DISTINCT id FROM new JOIN old ON {_keys(term)} WHERE {_found(term)}")
    first = Term(term.quantifier, term.keys[:1], term.compared)
    found = f"SELECT id, {_keys(term)} AND {_found(term)} AS is_found FROM new JOIN old ON {_keys(first)}"
    ways["first key"] = _by_pairs(term, f"SELECT id FROM ({found}) GROUP BY id HAVING bool_or(is_found)")
    return ways


def _by_edge(term: Term, edge: str) -> str:
    holds = f"{_new(term)} {_mirrored(term)} ({edge})"
    if term.quantifier == "FORALL":
        assert term.compared is not None
        return f'SELECT id FROM new WHERE {holds} AND NOT EXISTS (FROM old WHERE "{term.compared.old}" IS NULL)'
    return f"SELECT id FROM new WHERE {holds if term.quantifier == 'EXISTS' else f'({holds}) IS NOT TRUE'}"


def _by_semi_join(term: Term) -> str:
    asked = "EXISTS" if term.quantifier == "EXISTS" else "NOT EXISTS"
    return f"SELECT id FROM new WHERE {asked} (FROM old WHERE {_keys(term)} AND {_found(term)})"


def _by_edges(term: Term, where: str) -> str:
    assert term.compared is not None
    names = ", ".join(f'"{key}"' for key in term.keys)
    edges = (
        f"SELECT {names}, {_edge(term)} AS edge, count(*) AS n, "
        f'count("{term.compared.old}") AS n_known FROM old {where} GROUP BY {names}'
    )
    same = " AND ".join(f'new."{key}" = edges."{key}"' for key in term.keys)
    holds = f"{_new(term)} {_mirrored(term)} edge"
    match term.quantifier:
        case "EXISTS":
            return f"SELECT id FROM new JOIN ({edges}) AS edges ON {same} WHERE {holds}"
        case "NOT EXISTS":
            return f"SELECT id FROM new LEFT JOIN ({edges}) AS edges ON {same} WHERE ({holds}) IS NOT TRUE"
    return f"SELECT id FROM new LEFT JOIN ({edges}) AS edges ON {same} WHERE n IS NULL OR (n = n_known AND {holds})"


def _by_pairs(term: Term, pairs: str) -> str:
    return pairs if term.quantifier == "EXISTS" else f"SELECT id FROM new WHERE id NOT IN ({pairs})"


def _keys(term: Term) -> str:
    return " AND ".join(f'old."{key}" = new."{key}"' for key in term.keys)


def _among_new(term: Term) -> str:
    return f'"{term.keys[0]}" IN (SELECT "{term.keys[0]}" FROM new)'


def _found(term: Term) -> str:
    """What of a pair with equal keys satisfies EXISTS, or spoils FORALL."""
    if term.compared is None:
        return "TRUE"
    compared = f'old."{term.compared.old}" {term.compared.op} {_new(term)}'
    return f"({compared}) IS NOT TRUE" if term.quantifier == "FORALL" else compared


def _new(term: Term) -> str:
    assert term.compared is not None
    new = term.compared.new
    return f'new."{new}"' if isinstance(new, str) else str(new)


def _edge(term: Term) -> str:
    """The earlier value that decides: of FORALL the least fit to satisfy the comparison, else the fittest."""
    assert term.compared is not None
    wants_greater = term.compared.op in (">", ">=")
    return f'{"max" if wants_greater != (term.quantifier == "FORALL") else "min"}("{term.compared.old}")'


def _mirrored(term: Term) -> str:
    """The operator with its sides exchanged."""
    assert term.compared is not None
    return term.compared.op.translate(str.maketrans("<>", "><"))
