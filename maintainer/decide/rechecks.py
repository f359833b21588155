"""Which tables are measured although their catalog reports no change."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from heapq import nsmallest
from zlib import crc32

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.instants import is_ahead


def is_due(
    table: TableIdentifier, measured_at: datetime | None, now: datetime, remeasure: timedelta
) -> bool:
    """True when an unchanged table is to be measured again.

    Each table has its own moment in the last quarter of `remeasure`, which spreads the load.
    """
    if measured_at is None or is_ahead(measured_at, now):
        return True
    share = crc32(str(table).encode()) / 2**32
    return now - measured_at >= remeasure * (1 - share / 4)


def choose_rechecks(
    measured_at: Mapping[TableIdentifier, datetime | None],
    now: datetime,
    recheck_after: timedelta,
    most: int,
) -> list[TableIdentifier]:
    """The tables that were not measured for longest, and for `recheck_after` at least."""
    waiting = {
        table: at or now for table, at in measured_at.items() if now - (at or now) >= recheck_after
    }
    return nsmallest(most, waiting, key=lambda table: (waiting[table], table))
