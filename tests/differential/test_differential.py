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
from engines import Case, DisagreementError, check, half_of_rules, schema_text, smaller_documents
from generator import worlds
from hypothesis import HealthCheck, Phase, given, seed, settings
from judge import Judge
from pools import TYPES
from printing import profile_text
from sql_judge import SqlJudge
from structures import World

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
    )


def reduced(failure: DisagreementError, world: World) -> Case:
    """The smallest case with the failing profile that still fails: one document, as few keys as will do."""
    judge = Judge(world.earlier, TYPES if world.schema else None)
    condition = world.conditions[failure.profile]

    def alone(document: dict) -> Case:
        truths = [[judge.truth(condition, document)]]
        profiles = [failure.case.profiles[failure.profile]]
        return dataclasses.replace(failure.case, profiles=profiles, documents=[document], truths=truths)

    case = alone(failure.case.documents[failure.document])
    if not fails(case):
        return failure.case
    progress = True
    while progress:
        progress = False
        for smaller in smaller_documents(case.documents[0]):
            candidate = alone(smaller)
            if fails(candidate):
                case, progress = candidate, True
                break
    return case


def fails(case: Case) -> bool:
    try:
        check(case, explained=True)
    except DisagreementError:
        return True
    return False


def test_profilec_agrees_with_the_judges(capsys: pytest.CaptureFixture[str]) -> None:
    given_seed = os.environ.get("PROFILEC_DIFFERENTIAL_SEED")
    first_seed = int(given_seed) if given_seed else random.SystemRandom().randrange(2**32)
    with capsys.disabled():
        print(f"\ndifferential test: PROFILEC_DIFFERENTIAL_SEED={first_seed}")
    deadline = time.monotonic() + SECONDS
    counts: Counter[str] = Counter()
    last: list[tuple[DisagreementError, World]] = []

    def search(world: World) -> None:
        if time.monotonic() > deadline and not last:
            return
        case = judged(world)
        try:
            check(case, explained=world.style % 4 == 0)
        except DisagreementError as failure:
            last[:] = [(failure, world)]
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
        except DisagreementError as failure:
            smallest, world = last[0]
            path = regressions.save(reduced(smallest, world), f"seed {first_seed + round_}; {smallest.asked}")
            pytest.fail(f"{failure}\nsaved as {path}", pytrace=False)
    with capsys.disabled():
        print(", ".join(f"{count:,} {what}" for what, count in counts.items()))
    assert counts["worlds"] > 0
