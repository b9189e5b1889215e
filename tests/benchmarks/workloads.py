"""Texts to compile and strings to match, made from a seed.

`templated` profiles share one of a few shapes, as forms and templates write them; `novel`
profiles all differ in shape (attributes, operators, nesting), as a trading desk's would.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

BRANDS = [f"brand{number}" for number in range(5_000)]
CATEGORIES = [f"category{number}" for number in range(300)]
WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "bdfgklmnprst"]


def templated(n: int, seed: int = 1) -> Iterator[str]:
    """`.prof` statements of a million-subscriber shop: four templates, literals from large domains."""
    rng = random.Random(seed)
    for number in range(n):
        low = rng.randrange(1, 50_000)
        brand, category = rng.choice(BRANDS), rng.choice(CATEGORIES)
        price, stars = f"{low // 100}.{low % 100:02}", rng.randrange(1, 6)
        where = (
            f"brand = '{brand}' AND price < {price} AND stars >= {stars} AND in_stock = TRUE",
            f"category = '{category}' AND {price} <= price <= {low // 100 + 20} AND seller != {rng.randrange(100_000)}",
            f"category IN ('{category}', '{rng.choice(CATEGORIES)}') AND brand = '{brand}' AND discount > 0.{stars}",
            f"product_id = {rng.randrange(2_000_000)} AND price < {price}",
        )[number % 4]
        yield f"PROFILE p{number} WHERE {where};\n"


def novel(n: int, seed: int = 2) -> Iterator[str]:
    """`.prof` statements of which hardly two have the same shape."""
    rng = random.Random(seed)
    for number in range(n):
        yield f"PROFILE p{number} WHERE {novel_condition(rng)};\n"


def novel_condition(rng: random.Random) -> str:
    """Four to six predicates over 400 attributes, in nested ANDs and ORs."""
    terms = [_term(rng) for _ in range(rng.randrange(4, 7))]
    text = terms[0]
    for term in terms[1:]:
        word = rng.choice(("AND", "AND", "OR"))
        text = f"({text}) {word} {term}" if rng.random() < 0.4 else f"{text} {word} {term}"
    return text


def _term(rng: random.Random) -> str:
    attribute = f"a{rng.randrange(400)}"
    match rng.randrange(6):
        case 0:
            return f"{attribute} {rng.choice(('<', '<=', '>', '>=', '!='))} {rng.randrange(10_000)}"
        case 1:
            return f"{attribute} BETWEEN {rng.randrange(100)} AND {rng.randrange(100, 200)}"
        case 2:
            return f"{attribute} IN ({', '.join(str(rng.randrange(1_000)) for _ in range(rng.randrange(2, 5)))})"
        case 3:
            return f"{attribute} LIKE '{rng.choice(WORDS)}%'"
        case 4:
            return f"NOT {attribute} = '{rng.choice(WORDS)}'"
    return f"{attribute} = '{rng.choice(WORDS)}'"


def patterns(n: int, seed: int = 3) -> dict[str, str]:
    """Conditions over the one attribute `line`: contains, general LIKE, ILIKE, regular expressions."""
    rng = random.Random(seed)
    conditions = {}
    for number in range(n):
        one, two = rng.choice(WORDS) + rng.choice(WORDS), rng.choice(WORDS) + rng.choice(WORDS)
        conditions[f"p{number}"] = (
            f"line LIKE '%{one}%'",
            f"line LIKE '%{one}%{two}%'",
            f"line ILIKE '%{one.upper()}%'",
            f"line LIKE '{one[:3]}%{two}_'",
            f"line MATCHES '{one}[0-9]+'",
        )[number % 5]
    return conditions


def lines(n: int, length: int = 100, seed: int = 4) -> list[str]:
    """Strings of `length` characters made of the words that the patterns are made of."""
    rng = random.Random(seed)
    return ["".join(rng.choice((*WORDS[:200], " ")) for _ in range(length))[:length] for _ in range(n)]
