"""The rate at which tables are read, from the reads that were reported day by day."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.reads import TableReads

_DAY = timedelta(days=1)


def rate_reads(known: Iterable[TableReads], now: datetime) -> Mapping[TableIdentifier, float]:
    """The reads per day of each table.

    A catalog counts from the day of its first report, and for at least one day: else a table of
    which the first read is of today would seem to be read more often than it is.
    """
    everything = list(known)
    begins: dict[str, str] = {}
    for one in everything:
        catalog = one.table.catalog
        begins[catalog] = min(one.first_day, begins.get(catalog, one.first_day))
    days = {
        catalog: max(1.0, (now - datetime.fromisoformat(day).replace(tzinfo=UTC)) / _DAY)
        for catalog, day in begins.items()
    }
    return {one.table: one.reads / days[one.table.catalog] for one in everything}
