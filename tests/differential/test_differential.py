"""profilec against two judges that share no code with it.

Each run draws a new seed and prints it; `PROFILEC_DIFFERENTIAL_SEED` repeats one, and
`PROFILEC_DIFFERENTIAL_SECONDS` says how long to search (60 in CI, 15 elsewhere). What fails is
reduced and saved in `tests/regressions/`, where it is tried again in every run.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Callable

import judge
import pytest
import regressions
from engines import FORMS, MATCHERS, Case, check, half_of_rules, schema_text
from generator import worlds
from hypothesis import HealthCheck, Phase, given, seed, settings
from join_worlds import join_worlds
from pools import TYPES
from printing import profile_text
from reduce import reduced
from sql_judge import SqlJudge
from structures import World

SECONDS = float(os.environ.get("PROFILEC_DIFFERENTIAL_SECONDS") or (40 if os.environ.get("CI") else 15))
WORLDS_PER_ROUND = 50
KINDS = {"conditions": worlds, "joins": join_worlds}
"""The kinds of worlds, which share the time."""
SQL = SqlJudge()


def judged(world: World) -> Case:
    """The world with the truths that the judges agree on."""
    types = TYPES if world.schema else None
    truths = judge.judged(world, types)
    if world.sql:
        assert truths == SQL.judged(world), f"the judge and {world.sql} disagree"
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
        MATCHERS if world.style % 8 == 0 and len(world.conditions) <= 20 else (MATCHERS[world.style % len(MATCHERS)],),
        FORMS if world.style % 3 == 0 else FORMS[:2],
        world.changes,
        world.processed,
        world.refused,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_profilec_agrees_with_the_judges(kind: str, record_property: Callable[[str, object], None]) -> None:
    given_seed = os.environ.get("PROFILEC_DIFFERENTIAL_SEED")
    first_seed = int(given_seed) if given_seed else random.SystemRandom().randrange(2**32)
    record_property("told", f"differential test of {kind}: PROFILEC_DIFFERENTIAL_SEED={first_seed}")
    deadline = time.monotonic() + SECONDS / len(KINDS)
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
        counts["earlier documents"] += len(world.earlier)
        counts["changes of the store"] += len(world.changes)
        counts[f"judged by {world.sql or 'the interpreter alone'}"] += 1

    for round_ in range(10**6):
        if time.monotonic() > deadline:
            break
        run = seed(first_seed + round_)(given(KINDS[kind]())(search))
        run = settings(
            max_examples=WORLDS_PER_ROUND,
            deadline=None,
            database=None,
            # A world of joins is of one number, and a smaller number is no smaller world: `reduced` does all.
            phases=(Phase.generate, Phase.shrink) if kind == "conditions" else (Phase.generate,),
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
    record_property("told", ", ".join(f"{count:,} {what}" for what, count in counts.items()))
    assert counts["worlds"] > 0
