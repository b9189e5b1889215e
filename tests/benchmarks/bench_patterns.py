"""2,000 patterns over one attribute, decided for one string of 100 characters; and hostile input."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from figures import Row, seconds
from workloads import lines, patterns

TITLE = "Patterns: all patterns of one attribute, one string"


def rows(quick: bool) -> Iterator[Row]:
    import re2

    import profilec
    from profilec.grammar.parse import parse_condition
    from profilec.planner.lower import ImageBuilder
    from profilec.planner.normalize import normalize
    from profilec.runtime.patterns import PatternSet

    n_patterns, n_lines = 2_000, 20 if quick else 2_000
    conditions = patterns(n_patterns)
    texts = lines(n_lines)
    builder = ImageBuilder()
    for condition in conditions.values():
        builder.add(normalize(parse_condition(condition).node))
    image = builder.build().image
    slots = sorted({pattern.slot for pattern in image.patterns})
    sets = [PatternSet([pattern for pattern in image.patterns if pattern.slot == slot]) for slot in slots]
    compiled = [re2.compile(_as_regex(condition)) for condition in conditions.values()]

    def one_pass() -> None:
        for text in texts:
            for patterns_of_slot in sets:
                patterns_of_slot.matches(text)

    def one_by_one() -> None:
        for text in texts[:20]:
            for regex in compiled:
                regex.search(text)

    per_line = seconds(one_pass, 3) / n_lines * 1e6
    baseline = seconds(one_by_one) / 20 * 1e6
    yield Row("2,000 mixed patterns, a line of 100 characters", per_line, "us", baseline, "RE2, one by one", 30)
    for name, pattern, text in (
        ("nested quantifiers on 100,000 characters", "(a*)*b", "a" * 100_000),
        ("contains patterns a, aa, … on 100,000 characters", None, "a" * 100_000),
    ):
        hostile = (
            profilec.compile({"p": f"line MATCHES '{pattern}'"})
            if pattern
            else profilec.compile({f"p{n}": f"line LIKE '%{'a' * n}%'" for n in range(1, 301)})
        )
        took_half, took_full = [
            seconds(partial(hostile.match, {"line": part}), 3) * 1e3 for part in (text[: len(text) // 2], text)
        ]
        yield Row(name, took_full, "ms", took_half, "half the text")


def _as_regex(condition: str) -> str:
    """The condition as a regular expression for the baseline."""
    import re2

    _, word, literal = condition.split(" ", 2)
    pattern = literal[1:-1]
    if word == "MATCHES":
        return pattern
    escaped = "".join({"%": ".*", "_": "."}.get(character, re2.escape(character)) for character in pattern)
    return f"(?s{'i' if word == 'ILIKE' else ''})^{escaped}$"
