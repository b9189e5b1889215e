"""Earlier and new documents of ten attributes, and the quantified joins between them.

In: numbers of documents, and a seed. Out: `Columns`, which can be had as an Arrow table (what profilec and DuckDB are
given) or as numpy arrays (what the scan reads), and `Term`s, which can be had as text.

A user has about `DOCUMENTS_A_USER` earlier documents, most of them from one country. Of the new documents a fifth are
of users without any; their numbers reach half as far again as those of the earlier ones, so that
inequalities hold for some of them and fail for others. A hundredth of users and amounts are missing.

    attribute               as an array                            as a column
    user                    int32, MISSING where there is none     int64
    country brand category  int32, the number of the string        string
    price discount          float64                                float64, two digits and one
    amount                  float64, NaN where there is none       int64
    quantity rating         float64                                int64
    sold_at                 int64, seconds, ascending              timestamp[s, UTC]
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

KEYS = ("user", "country", "brand", "category")
NUMBERS = ("price", "amount", "quantity", "rating", "discount")
DOCUMENTS_A_USER = 20
MISSING = -1
HIGHEST = 1_000
"""No number of an earlier document is greater."""

_CARDINALITY = {"country": 50, "brand": 200, "category": 30}
_DIGITS = {"price": 2, "discount": 1}
_FIRST_SOLD = 1_700_000_000


@dataclass(frozen=True, slots=True)
class Columns:
    """Documents as one array an attribute, all of one length."""

    arrays: dict[str, NDArray[Any]]

    def __len__(self) -> int:
        return len(self.arrays["user"])

    def table(self) -> pa.Table:
        """The documents for profilec and DuckDB; NULL where an attribute is missing."""
        user, amount = self.arrays["user"], self.arrays["amount"]
        columns: dict[str, Any] = {"user": pa.array(user.astype(np.int64), mask=user == MISSING)}
        for name, n in _CARDINALITY.items():
            strings = pa.array([f"{name} {number}" for number in range(n)])
            columns[name] = strings.take(pa.array(self.arrays[name]))
        for name in NUMBERS:
            values = self.arrays[name] if name in _DIGITS else np.nan_to_num(self.arrays[name]).astype(np.int64)
            columns[name] = pa.array(values, mask=np.isnan(amount) if name == "amount" else None)
        columns["sold_at"] = pa.array(self.arrays["sold_at"]).cast(pa.timestamp("s", "UTC"))
        return pa.table(columns)

    def document(self, number: int) -> dict[str, Any]:
        """One document as the arrays have it."""
        return {name: array[number] for name, array in self.arrays.items()}


def earlier_documents(n: int, seed: int = 1) -> Columns:
    """What quantifiers range over."""
    rng = np.random.default_rng(seed)
    n_users = users_of(n)
    user = rng.integers(0, n_users, n)
    sold_at = _FIRST_SOLD + np.sort(rng.integers(0, 10_000_000, n))
    return _columns(rng, user, n_users, HIGHEST, sold_at)


def new_documents(n: int, n_earlier: int, seed: int = 2) -> Columns:
    """What is matched against a store of so many earlier documents."""
    rng = np.random.default_rng(seed)
    n_users = users_of(n_earlier)
    user = np.where(rng.random(n) < 0.8, rng.integers(0, n_users, n), n_users + np.arange(n))
    return _columns(rng, user, n_users, HIGHEST * 3 // 2, _FIRST_SOLD + 10_000_000 + np.arange(n))


def users_of(n_earlier: int) -> int:
    """How many users the earlier documents are of."""
    return max(1, n_earlier // DOCUMENTS_A_USER)


def _columns(
    rng: np.random.Generator, user: NDArray[Any], n_users: int, highest: int, sold_at: NDArray[Any]
) -> Columns:
    n = len(user)
    # A user's country is the same in all documents, whoever generates them.
    home = np.random.default_rng(0).integers(0, _CARDINALITY["country"], n_users + n)[user]
    arrays: dict[str, NDArray[Any]] = {"user": np.where(rng.random(n) < 0.01, MISSING, user).astype(np.int32)}
    for name, cardinality in _CARDINALITY.items():
        arrays[name] = rng.integers(0, cardinality, n).astype(np.int32)
    arrays["country"] = np.where(rng.random(n) < 0.9, home, arrays["country"]).astype(np.int32)
    for name in NUMBERS:
        parts = 10 ** _DIGITS.get(name, 0)
        arrays[name] = rng.integers(1, highest * parts + 1, n) / parts
    arrays["amount"][rng.random(n) < 0.01] = np.nan
    arrays["sold_at"] = sold_at.astype(np.int64)
    return Columns(arrays)


class Compared(NamedTuple):
    """`d.old op new`: `new` is an attribute of the new document, or a constant."""

    old: str
    op: str
    new: str | int

    def __str__(self) -> str:
        return f"d.{self.old} {self.op} {self.new}"


@dataclass(frozen=True, slots=True)
class Term:
    """A quantified join: equality of keys, and at most one comparison.

    >>> Term("NOT EXISTS", ("user",), Compared("amount", ">", "amount")).condition()
    'NOT EXISTS d (d.user = user AND d.amount > amount)'

    Of FORALL the keys are the scope, and only the comparison is the body:

    >>> Term("FORALL", ("user",), Compared("amount", "<", "amount")).condition()
    'FORALL d WHERE (d.user = user) (d.amount < amount)'
    """

    quantifier: str
    keys: tuple[str, ...] = ()
    compared: Compared | None = None

    def condition(self) -> str:
        """The term in the language of profiles."""
        keys = [f"d.{key} = {key}" for key in self.keys]
        if self.quantifier == "FORALL":
            scope = f"WHERE ({' AND '.join(keys)}) " if keys else ""
            return f"FORALL d {scope}({self.compared})"
        body = [*keys, *([] if self.compared is None else [str(self.compared)])]
        return f"{self.quantifier} d ({' AND '.join(body)})"


def shapes() -> dict[str, tuple[Term, ...]]:
    """What an index can decide, under each quantifier."""
    dearer, country = Compared("price", ">", "price"), Compared("country", "=", "country")
    more, keys = Compared("amount", ">", "amount"), ("user", "country")
    return {
        "one comparison": (
            Term("EXISTS", (), dearer),
            Term("NOT EXISTS", (), dearer),
            Term("FORALL", (), dearer._replace(op="<")),
        ),
        "equality keys": (
            Term("EXISTS", keys),
            Term("NOT EXISTS", keys),
            Term("FORALL", ("user",), country),
        ),
        "keys and an inequality": (
            Term("EXISTS", ("user",), more),
            Term("NOT EXISTS", ("user",), more),
            Term("FORALL", ("user",), more._replace(op="<")),
        ),
    }


def distinct_terms(n: int, seed: int = 3) -> list[Term]:
    """Terms no two of which join the same attributes in the same way: n of the 1,403 that there are."""
    scopes = ((), ("user",), ("country",), ("brand",), ("user", "country"), ("user", "brand"), ("country", "brand"))
    terms = [
        Term(quantifier, keys, Compared(old, op, new))
        for keys, quantifier, old, op, new in product(
            scopes, ("EXISTS", "FORALL"), NUMBERS, ("<", "<=", ">", ">="), NUMBERS
        )
    ]
    terms += [Term("EXISTS", keys) for keys in scopes if len(keys) == 2]
    rng = np.random.default_rng(seed)
    return [terms[number] for number in rng.permutation(len(terms))[:n]]


def terms_of_one_shape(n: int) -> list[Term]:
    """`EXISTS d (d.user = user AND d.amount > C)` for n amounts C; few of them hold for a document."""
    return [Term("EXISTS", ("user",), Compared("amount", ">", HIGHEST * 9 // 10 + 10 * number)) for number in range(n)]
