"""`explain`: how a set is matched over a DataFrame, our plan and Spark's.

In: what `match` takes. Out: text: the plan of the set; how its joins are asked of a DataFrame of documents; and the
physical plan of the DataFrame that `match` gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING, Any

from profilec.planner.explain import explain_set
from profilec.planner.lower.describe import describe_join
from profilec.profileset import ProfileSet
from profilec.spark.data_frame import match
from profilec.spark.images import opened
from profilec.spark.join_frames import default_order, join_plan_of
from profilec.spark.join_plan import JoinPlan, Part
from profilec.spark.sharded_set import ShardedSet

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MOST_ROWS = 20


def explain(profiles: Any, df: DataFrame, documents: DataFrame | None = None, **options: Any) -> str:
    """How `match` matches a set over a DataFrame: the set's plan, and beneath it Spark's physical plan.

    Args:
        profiles, df, documents: as of `match`; `options`: any others that it takes.

    Raises:
        as `match`.
    """
    known = opened(profiles)
    physical = StringIO()
    with redirect_stdout(physical):
        match(known, df, documents=documents, **options).explain()
    if isinstance(known, ShardedSet):
        own = f"The first of {known.n_shards} shards\n{known.first.explain()}"
        return f"{own.strip()}\n\n{physical.getvalue().strip()}\n"
    if documents is None or not known.plan.n_joins:
        parts = [known.explain()]
    else:
        table = known._table
        parts = [
            explain_set(known._image, known.plan, table.ids, table.places.__getitem__, "text", joined_by="by Spark")
        ]
        _, plan = join_plan_of(known, df, documents, "null", options.get("json", ()))
        order = options.get("phase_order") or default_order(known)
        parts.append("\n".join(_told_joins(known, plan, order)))
    return "\n\n".join(part.strip() for part in (*parts, physical.getvalue())) + "\n"


def _told_joins(profiles: ProfileSet, plan: JoinPlan, order: str) -> Iterator[str]:
    n_joins = sum(bool(lookup.keys) for lookup in plan.lookups)
    n_scalars = len(plan.lookups) - n_joins
    yield f"Joins with documents: {n_joins} by key, {n_scalars} as scalar subqueries; phase order: {order}"
    left = {one.row: one.reason for one in plan.left}
    for number, row in enumerate(plan.rows[:_MOST_ROWS]):
        more = f", and {len(row.terms) - 1:,} more that differ in constants" if len(row.terms) > 1 else ""
        yield f"  {describe_join(profiles._image, int(row.terms[0]))}{more}"
        if number in left:
            yield f"    nested loop over the documents, collected: {left[number]}"
        for told in dict.fromkeys(_told_part(plan, part) for part in plan.parts if part.row == number):
            yield f"    {told}"
    if len(plan.rows) > _MOST_ROWS:
        yield f"  and {len(plan.rows) - _MOST_ROWS:,} more rows of the join table"


def _told_part(plan: JoinPlan, part: Part) -> str:
    lookup = plan.lookups[part.lookup]
    where = f"l{part.lookup}, join by {len(lookup.keys)} key{'s' * (len(lookup.keys) > 1)}"
    if not lookup.keys:
        where = f"l{part.lookup}, scalar subquery"
    if part.bit is not None:
        return f"{where}: whether there is a document"
    if part.walked is not None:
        return f"{where}: the documents, one by one"
    assert part.extremes is not None
    names = [name for name, found in (("least", part.extremes.least), ("greatest", part.extremes.greatest)) if found]
    names += ["kinds"] if part.extremes.kinds else []
    return f"{where}: {', '.join(names) or 'nothing that compares'}"
