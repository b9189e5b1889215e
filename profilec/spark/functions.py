"""The functions that `profilec.spark.register` makes, for DataFrames.

>>> from profilec.spark.functions import match_profiles  # doctest: +SKIP
>>> sales.withColumn("profiles", match_profiles(struct("*")))  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from profilec.spark.sql_function import NAME, registered

if TYPE_CHECKING:
    from pyspark.sql import Column


def match_profiles(*columns: Any, name: str = NAME) -> Column:
    """The ids of the profiles that a row matches. `columns`: a struct, or a set's name and a struct. `name`: that of
    `register`.

    Raises:
        SparkMatchError: no set is registered so.
    """
    return registered(name, "match")(*columns)


def why_profiles(*columns: Any, name: str = NAME) -> Column:
    """The truth of a profile's condition for a row, predicate by predicate, as text. `columns`: a struct and an id, and
    before both a set's name where several are registered.

    Raises:
        SparkMatchError: as of `match_profiles`.
    """
    return registered(name, "why")(*columns)


def profile_matches(*columns: Any, name: str = NAME) -> Column:
    """Whether a row matches the profile of an id; `columns` as of `why_profiles`.

    Raises:
        SparkMatchError: as of `match_profiles`.
    """
    return registered(name, "matches")(*columns)
