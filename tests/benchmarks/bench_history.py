"""A year of history of a fleet, thinned as it ages: its size, one chart, and what an hourly prune of it takes and holds up.

SQLite, on 10,000 tables: one in ten is measured every five minutes, the others every six hours, which makes about a thousand samples a table. Times
are CPU times of this process, in which SQLite does its work (bench_store.py says why): a disk that is slow is not seen.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from sqlalchemy import Connection, func, select, text

from maintainer.adapters.store import open_store
from maintainer.adapters.store.database import Database
from maintainer.adapters.store.samples import DAY, HOUR, thinned_key
from maintainer.adapters.store.schema import health_samples, store_info, tables
from maintainer.adapters.store.sql import SqlStore
from maintainer.adapters.store.types import write_instant
from maintainer.domain.identifier import TableIdentifier
from tests.benchmarks.bench_store import bytes_of, fill, percentile
from tests.benchmarks.harness import Measured, less_is_better

TABLES: Final = 10_000
YEAR: Final = timedelta(days=365)
RAW: Final = timedelta(days=7)
HOURLY: Final = timedelta(days=90)
OFTEN: Final = timedelta(minutes=5)  # a table in ten
SELDOM: Final = timedelta(hours=6)
ABSENCE: Final = timedelta(days=30)  # that a daemon was away: what its first prune has to catch up with
CHART_BOUND_MS: Final = 100.0
WAIT_BOUND_MS: Final = 1000.0  # that a scan's write waits for a prune's
_NOW: Final = datetime(2026, 5, 4, tzinfo=UTC)
_MIB: Final = 1024**2
_INSERT: Final = """
INSERT INTO health_samples (table_uuid, measured_at, average_file_size_bytes, data_files, data_bytes, small_files, small_file_ratio, records,
    position_delete_files, equality_delete_files, deletion_vectors, manifests, manifest_bytes, snapshots, metadata_bytes)
WITH RECURSIVE times(at) AS (SELECT :first UNION ALL SELECT at + :step FROM times WHERE at + :step < :end)
SELECT table_uuid, at + CAST(substr(table_uuid, 25) AS BIGINT) * 7919 % :step, average_file_size_bytes, data_files, data_bytes, small_files, small_file_ratio,
    data_files * 10000, 0, 0, 0, manifests, manifests * 2000000, snapshots, 100000
FROM times CROSS JOIN tables WHERE (CAST(substr(table_uuid, 25) AS BIGINT) % 10 = 0) = :often ORDER BY at
"""


@dataclass
class Watched:
    """How long each write transaction of a database worked while nobody else could write, in milliseconds of CPU time."""

    held: list[float] = field(default_factory=list)

    def of(self, database: Database) -> None:
        """Watch from now on."""
        write = database.write

        @contextmanager
        def watched(*, durable: bool = False) -> Iterator[Connection]:
            with write(durable=durable) as connection:
                started = time.thread_time()
                yield connection
            self.held.append((time.thread_time() - started) * 1000)

        database.write = watched  # type: ignore[method-assign]


def run(scale: float) -> list[Measured]:
    """A year of this share of ten thousand tables."""
    size = max(100, int(TABLES * scale))
    with tempfile.TemporaryDirectory(prefix="bench-history-") as directory:
        store = open_store(f"sqlite:///{directory}/maintainer.db")
        fill(store, size)
        empty = bytes_of(directory)
        rows = write_history(store._database)
        sys.stderr.write(f"bench: a year of {size:,} tables, {rows:,} samples\n")
        name = f"history: a year of {size:,} tables,"
        lines = [Measured(f"{name} size per 100,000 tables", (bytes_of(directory) - empty) / size * 100_000 / _MIB, None, "nobody", "MiB", None)]
        chart = percentile(partial(store.history, _a_table(store), "data_files", _NOW - YEAR, _NOW))
        lines.append(less_is_better(f"{name} p95 of one chart", chart, CHART_BOUND_MS, "bound of 100 ms", "ms", reach=1))
        lines += _prune(store, name)
        store.close()
    return lines


def write_history(database: Database) -> int:
    """What a year leaves in a store that is pruned hourly, and an hour more of everything; returns how many samples that is."""
    levels = ((_NOW - YEAR, _NOW - HOURLY - DAY, DAY, DAY), (_NOW - HOURLY - DAY, _NOW - RAW - HOUR, HOUR, SELDOM), (_NOW - RAW - HOUR, _NOW, OFTEN, SELDOM))
    with database.write() as connection:
        for first, end, often, seldom in levels:
            for is_often, step in ((True, often), (False, seldom)):
                _insert(connection, first, end, step, is_often=is_often)
        for level, thinned_to in ((HOUR, _NOW - RAW - HOUR), (DAY, _NOW - HOURLY - DAY)):
            connection.execute(database.upsert(store_info, {"key": thinned_key(level), "value": str(write_instant(thinned_to))}))
    with database.read() as connection:
        return int(connection.execute(select(func.count()).select_from(health_samples)).scalar_one())


def _insert(connection: Connection, first: datetime, end: datetime, step: timedelta, *, is_often: bool) -> None:
    figures: dict[str, Any] = {"first": write_instant(first), "end": write_instant(end), "step": step // timedelta(microseconds=1), "often": is_often}
    connection.execute(text(_INSERT), figures)


def _a_table(store: SqlStore) -> TableIdentifier:
    with store._database.read() as connection:
        often = tables.c.table_uuid.like("%0")
        name = connection.execute(select(tables.c.full_name).where(often).order_by(tables.c.full_name).limit(1)).scalar_one()
    return next(table for table in store.table_names() if str(table) == name)


def _prune(store: SqlStore, name: str) -> list[Measured]:
    """One prune as every hour's, and one after a month without any."""
    watched = Watched()
    watched.of(store._database)
    lines = []
    for told, now in (("an hourly prune", _NOW), (f"a prune after {ABSENCE.days} days", _NOW + ABSENCE)):
        watched.held.clear()
        started = time.thread_time()
        counts = store.prune(now - YEAR, now - YEAR, now - RAW, now - HOURLY)
        took = time.thread_time() - started
        sys.stderr.write(f"bench: {told}: {dict(counts)} in {len(watched.held)} transactions\n")
        lines.append(Measured(f"{name} {told}", took, None, "nobody", "s", None))
        lines.append(less_is_better(f"{name} longest transaction of {told}", max(watched.held), WAIT_BOUND_MS, "bound of 1 s", "ms", reach=1))
    return lines
