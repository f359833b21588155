"""Whether a planned action may still be submitted, with its table as it is right before."""

from __future__ import annotations

from re import compile as compile_regex

from maintainer.domain.action import JobAction
from maintainer.domain.health import TableHealth
from maintainer.estimate.floors import is_gc_disabled
from maintainer.procedures.registry import find_chapter


def check_before_submit(
    action: JobAction,
    health: TableHealth,
    expected_uuid: str,
    previous: TableHealth | None = None,
) -> str | None:
    """Why a planned action must not be submitted now.

    The current table is compared with the table of the last scan. None if the action may start.
    """
    if health.table_uuid != expected_uuid:
        return (
            f"the table was replaced: its UUID was {expected_uuid} when this was planned and is "
            f"{health.table_uuid} now"
        )
    chapter = find_chapter(action)
    if chapter is None:
        return None
    if chapter.takes_away(action) and is_gc_disabled(health):
        return "the table has gc.enabled=false since this was planned"
    if chapter.needs_newest_state and previous is not None and is_older_pointer(previous, health):
        return (
            f"the catalog shows {health.metadata_location}, which is older than "
            f"{previous.metadata_location} that was seen before"
        )
    return None


def is_older_pointer(previous: TableHealth, fresh: TableHealth) -> bool:
    """True if the catalog shows an older state of the table than a state that was seen before."""
    if previous.table_uuid != fresh.table_uuid:
        return False
    before, after = _version_of(previous.metadata_location), _version_of(fresh.metadata_location)
    if before is not None and after is not None and after < before:
        return True
    times = (previous.newest_snapshot_at, fresh.newest_snapshot_at)
    return times[0] is not None and (times[1] is None or times[1] < times[0]) and before is None


_VERSION = compile_regex(r"v?(\d{1,18})(?:-[0-9a-fA-F-]+)?(?:\.gz)?\.metadata\.json(?:\.gz)?")


def _version_of(metadata_location: str) -> int | None:
    found = _VERSION.fullmatch(metadata_location.rpartition("/")[2])
    return int(found[1]) if found else None
