"""Times, counts and sizes as one reads them."""

from __future__ import annotations

from typing import Any


def time(ns: float) -> str:
    """A time.

    >>> time(9_100), time(36_000_000), time(0.4)
    ('9.1 us', '36 ms', '0.4 ns')
    """
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if ns >= size:
            return f"{ns / size:,.1f}".removesuffix(".0") + f" {unit}"
    return f"{ns:.0f} ns" if ns >= 10 or ns == round(ns) else f"{ns:.1f} ns"


def rows(number: float) -> str:
    """How many rows, of which there may be less than one a document.

    >>> rows(12_345.6), rows(3.25), rows(0.0123), rows(0)
    ('12,346', '3.2', '0.012', '0')
    """
    if number >= 10 or number == round(number):
        return f"{number:,.0f}"
    return f"{number:.1f}" if number >= 1 else f"{number:.2g}"


def size(n_bytes: int) -> str:
    """How much memory.

    >>> size(512), size(1_900_000)
    ('512 B', '1.9 MB')
    """
    for unit_size, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if n_bytes >= unit_size:
            return f"{n_bytes / unit_size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{n_bytes} B"


def seen(operator: dict[str, Any]) -> tuple[str, str, str]:
    """What was seen of an operator when its plan was run: rows, time, how far the estimate of rows is off."""
    if "ns_seen" not in operator:
        return "", "", ""
    n, ns = operator.get("rows_seen"), time(operator["ns_seen"]) if operator["ns_seen"] else ""
    return ("", ns, "") if n is None else (rows(n), ns, ratio(operator["rows"], n))


def ratio(expected: float, seen: float) -> str:
    """How far an estimate is off.

    >>> ratio(30, 10), ratio(10, 30), ratio(10, 10.2), ratio(3, 0)
    ('3 times too high', '3 times too low', 'right', 'nothing was there')
    """
    if not seen or not expected:
        return "right" if seen == expected else "nothing was there" if not seen else "not expected"
    off = expected / seen
    if 1 / 1.05 < off < 1.05:
        return "right"
    times = max(off, 1 / off)
    told = f"{times:.2g}" if times < 10 else f"{times:,.0f}"
    return f"{told} times too {'high' if off > 1 else 'low'}"
