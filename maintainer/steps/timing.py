"""Store a query timing together with the table's health at that time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.instants import is_ahead
from maintainer.domain.timing import QueryTiming
from maintainer.ports.store import Store

# Unchanged tables are measured every few hours, so a sample is near; an older one says nothing
# about that moment.
LOOKBACK = timedelta(days=30)


def note_timing(
    store: Store, table: TableIdentifier, timing: QueryTiming, now: datetime
) -> QueryTiming:
    """Store the timing with the figures of the last sample before it.

    UnknownTableError when the table was never measured; InvalidValueError for a time in the
    future.
    """
    if is_ahead(timing.at, now):
        message = f"time {timing.at.isoformat()} is in the future; it is {now.isoformat()} now"
        raise InvalidValueError(message)
    files = _latest(store, table, "data_files", timing.at)
    noted = QueryTiming(
        name=timing.name.strip(),
        seconds=timing.seconds,
        at=timing.at,
        data_files=None if files is None else int(files),
        average_file_size_bytes=_latest(store, table, "average_file_size_bytes", timing.at),
        cost=timing.cost,
    )
    store.record_timing(table, noted)
    return noted


def _latest(store: Store, table: TableIdentifier, metric: str, at: datetime) -> float | None:
    samples = store.history(
        table, metric, at - min(LOOKBACK, at - datetime.min.replace(tzinfo=UTC)), at
    )
    return samples[-1][1] if samples else None
