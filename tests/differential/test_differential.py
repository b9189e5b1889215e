"""profilec against two judges that share no code with it.

Each run draws a new seed and prints it; `PROFILEC_DIFFERENTIAL_SEED` repeats one, and
`PROFILEC_DIFFERENTIAL_SECONDS` says how long to search (60 in CI, 15 elsewhere). What fails is
reduced and saved in `tests/regressions/`, where it is tried again in every run.
"""

from __future__ import annotations

import dataclasses
import os
import random
import time
from collections import Counter

import pytest
import regressions
from engines import FORMS, MATCHERS, Case, check, half_of_rules, schema_text, smaller_documents
from generator import worlds
from hypothesis import HealthCheck, Phase, given, seed, settings
from judge import Judge
from pools import TYPES
from printing import profile_text
from sql_judge import SqlJudge
from structures import Document, World

SECONDS = float(os.environ.get("PROFILEC_DIFFERENTIAL_SECONDS") or (60 if os.environ.get("CI") else 15))
WORLDS_PER_ROUND = 50
SQL = SqlJudge()


def judged(world: World) -> Case:
    """The world with the truths that the judges agree on."""
    types = TYPES if world.schema else None
    judge = Judge(world.earlier, types)
    truths = [[judge.truth(condition, document) for condition in world.conditions] for document in world.documents]
    if world.sql:
        from_sql = SQL.truths(world.sql, world.conditions, world.documents, world.earlier)
        assert truths == from_sql, f"the judge and {world.sql} disagree"
    return Case(
        [profile_text(condition, world.style + place) for place, condition in enumerate(world.conditions)],
        world.documents,
        truths,
        world.earlier,
        schema_text(types) if types else None,
        half_of_rules(world.rules) if isinstance(world.rules, int) else world.rules,
        world.tabular,
        world.style,
        # Most conditions are asked of one matcher, and for UNKNOWN by neither TRUE nor FALSE: more conditions, sooner.
        MATCHERS if world.style % 8 == 0 else (MATCHERS[world.style % len(MATCHERS)],),
        FORMS if world.style % 3 == 0 else FORMS[:2],
    )


def reduced(case: Case, world: World) -> Case:
    """A smaller case that still fails: one profile and one document, with as few keys as will do."""
    judge = Judge(world.earlier, TYPES if world.schema else None)

    def alone(place: int, document: Document) -> Case:
        truths = [[judge.truth(world.conditions[place], document)]]
        return dataclasses.replace(case, profiles=[case.profiles[place]], documents=[document], truths=truths)

    places = [(p, document) for document in case.documents for p in range(len(case.profiles))]
    found = next((place for place in places if fails(alone(*place))), None)
    if found is None:
        return case
    place, document = found
    while smaller := next((d for d in smaller_documents(document) if fails(alone(place, d))), None):
        document = smaller
    return alone(place, document)


def fails(case: Case) -> bool:
    try:
        check(case, explained=True)
    except Exception:  # a wrong answer, or none
        return True
    return False


def test_profilec_agrees_with_the_judges(capsys: pytest.CaptureFixture[str]) -> None:
    given_seed = os.environ.get("PROFILEC_DIFFERENTIAL_SEED")
    first_seed = int(given_seed) if given_seed else random.SystemRandom().randrange(2**32)
    with capsys.disabled():
        print(f"\ndifferential test: PROFILEC_DIFFERENTIAL_SEED={first_seed}")
    deadline = time.monotonic() + SECONDS
    counts: Counter[str] = Counter()
    last: list[tuple[Exception, Case, World]] = []

    def search(world: World) -> None:
        if time.monotonic() > deadline and not last:
            return
        case = judged(world)
        try:
            check(case, explained=world.style % 4 == 0)
        except Exception as failure:
            last[:] = [(failure, case, world)]
            raise
        counts.update(worlds=1, profiles=len(case.profiles), truths=len(case.profiles) * len(case.documents))
        counts[f"judged by {world.sql or 'the interpreter alone'}"] += 1

    for round_ in range(10**6):
        if time.monotonic() > deadline:
            break
        run = seed(first_seed + round_)(given(worlds())(search))
        run = settings(
            max_examples=WORLDS_PER_ROUND,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.shrink),
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        )(run)
        try:
            run()
        except Exception:
            if not last:
                raise  # the judges disagree with one another
            failure, case, world = last[0]
            path = regressions.save(reduced(case, world), f"seed {first_seed + round_}: {str(failure).splitlines()[0]}")
            pytest.fail(f"{failure!r}\n{failure}\nsaved as {path}", pytrace=False)
    with capsys.disabled():
        print(", ".join(f"{count:,} {what}" for what, count in counts.items()))
    assert counts["worlds"] > 0
