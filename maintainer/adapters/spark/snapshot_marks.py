"""The properties that maintainer adds to the summaries of its snapshots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from maintainer.adapters.spark.catalogs import is_rest
from maintainer.adapters.spark.driver.marks import SUMMARY

# A REST catalog may roll back a snapshot with these properties if it conflicts with a writer's
# commit, so that the writer wins. Other catalogs ignore the properties. Apache Polaris reads the
# first property if polaris.config.rollback.compaction.on-conflicts.enabled is true; its
# documentation names the second. Lakekeeper reads the first and the third property.
LETTING_WRITERS_WIN: Mapping[str, str] = {
    "polaris.internal.conflict-resolution.by-operation-type.replace": "rollback",
    "polaris.internal.rollback.compaction.on-conflict": "rollback",
    "lakekeeper.rollbackable": "true",
}


def mark_settings(
    catalogs: Iterable[Mapping[str, str]], *, let_writers_win: bool | None
) -> dict[str, str]:
    """Return Spark's settings for the summary properties.

    If `let_writers_win` is None, the properties are set if one of the catalogs (PyIceberg's
    properties) is a REST catalog.
    """
    is_wanted = any(map(is_rest, catalogs)) if let_writers_win is None else let_writers_win
    return (
        {f"{SUMMARY}{key}": value for key, value in LETTING_WRITERS_WIN.items()}
        if is_wanted
        else {}
    )
