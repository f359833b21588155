"""What the summaries of our snapshots say beside what Iceberg writes there itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from maintainer.adapters.spark.catalogs import is_rest
from maintainer.adapters.spark.driver_marks import SUMMARY

# A REST catalog that finds such a snapshot in the way of a writer's commit may take it back, so
# that the writer wins; others pass it over. Apache Polaris reads the first where
# polaris.config.rollback.compaction.on-conflicts.enabled is true, its documentation names the
# second, Lakekeeper reads the first and the third.
LETTING_WRITERS_WIN: Mapping[str, str] = {
    "polaris.internal.conflict-resolution.by-operation-type.replace": "rollback",
    "polaris.internal.rollback.compaction.on-conflict": "rollback",
    "lakekeeper.rollbackable": "true",
}


def mark_settings(
    catalogs: Iterable[Mapping[str, str]], *, let_writers_win: bool | None
) -> dict[str, str]:
    """Spark's settings that mark our snapshots; let_writers_win None: where one of the catalogs
    (PyIceberg's properties) is a REST catalog.
    """
    is_wanted = any(map(is_rest, catalogs)) if let_writers_win is None else let_writers_win
    return (
        {f"{SUMMARY}{key}": value for key, value in LETTING_WRITERS_WIN.items()}
        if is_wanted
        else {}
    )
