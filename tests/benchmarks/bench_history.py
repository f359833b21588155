"""A year of history of a fleet, thinned as it ages: its size, one chart, and what an hourly prune
of it takes and holds up.

10,000 tables: one in ten changes between any two measurements, which are five minutes apart; three
in ten change once a day, and the others do not change at all: they are measured every six hours.
That makes some 500 samples a table. Of 100,000 tables, at a scale of 10, a tenth of these shares:
as many samples in all. Times on SQLite are CPU times of this process, in which it does its work
(bench_store.py says why): a disk that is slow is not seen. Those on PostgreSQL are wall times.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
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
from tests.postgres import end_postgres, start_postgres
from tests.prerequisites import find_postgres_binaries

TABLES: Final = 10_000
YEAR: Final = timedelta(days=365)
RAW: Final = timedelta(days=7)
HOURLY: Final = timedelta(days=90)
OFTEN: Final = timedelta(minutes=5)
KINDS: Final = 10  # of ten thousand tables, by the last digit of their numbers
CHANGING_OFTEN: Final = (0, 0)
CHANGING_DAILY: Final = (1, 3)
ABSENCE: Final = timedelta(
    days=30
)  # that a daemon was away: what its first prune has to catch up with
CHART_BOUND_MS: Final = 100.0
WAIT_BOUND_MS: Final = 1000.0  # that a scan's write waits for a prune's
_NOW: Final = datetime(2026, 5, 4, tzinfo=UTC)
_MIB: Final = 1024**2
_INSERT: Final = """
INSERT INTO health_samples (table_uuid, measured_at, last_at, average_file_size_bytes, data_files,
    data_bytes, small_files, small_file_ratio, records,
    position_delete_files, equality_delete_files, deletion_vectors, manifests, manifest_bytes,
        snapshots, metadata_bytes, small_file_bytes, delete_bytes,
    delete_records, delete_file_ratio, data_manifests, delete_manifests, manifest_excess, branches,
        tags, partition_skew, kept_data_files, live_file_ratio,
    commits_per_hour, growth_bytes_per_day, growth_records_per_day, metadata_files, storage_files)
WITH RECURSIVE times(at) AS (SELECT CAST(:first AS BIGINT) UNION ALL SELECT at + CAST(:step AS
    BIGINT) FROM times WHERE at + CAST(:step AS BIGINT) < :end)
SELECT table_uuid, at + number * 7919 % CAST(:step AS BIGINT), at + number * 7919 % CAST(:step AS
    BIGINT) + CAST(:lasts AS BIGINT), average_file_size_bytes,
    data_files, data_bytes, small_files, small_file_ratio, data_files * 10000, data_files / 50, 0,
        0, manifests, manifests * 2000000, snapshots, 100000,
    small_files * 1000000, data_files * 20, data_files * 100, 0.02, manifests, 0, manifests / 2, 1,
        0, 1.0 / 3 + snapshots, data_files * 2, 0.5,
    snapshots / 24.0, data_bytes / 365.0, data_files / 36.5, 100, data_files * 2 + manifests
FROM times CROSS JOIN (SELECT tables.*, CAST(substr(table_uuid, 25) AS BIGINT) AS number FROM
    tables) AS numbered
WHERE number % :kinds BETWEEN :lowest AND :highest ORDER BY at
"""


@dataclass
class Watched:
    """How long each write transaction of a database took, in milliseconds."""

    clock: Callable[[], float]
    held: list[float] = field(default_factory=list)

    def of(self, database: Database) -> None:
        """Watch from now on."""
        write = database.write

        @contextmanager
        def watched(*, durable: bool = False) -> Iterator[Connection]:
            with write(durable=durable) as connection:
                started = self.clock()
                yield connection
            self.held.append((self.clock() - started) * 1000)

        database.write = watched  # type: ignore[method-assign]


def run(scale: float) -> list[Measured]:
    """A year of this share of ten thousand tables, on SQLite and on PostgreSQL."""
    size = max(100, int(TABLES * scale))
    with tempfile.TemporaryDirectory(prefix="bench-history-") as directory:
        lines = _measure(
            f"sqlite:///{directory}/maintainer.db",
            size,
            time.thread_time,
            lambda _: bytes_of(directory),
        )
    if find_postgres_binaries() is None:
        sys.stderr.write("bench: there is no PostgreSQL on this machine\n")
        return lines
    server = start_postgres()
    try:
        return lines + _measure(
            server.create_database(), size, time.perf_counter, _bytes_of_database
        )
    finally:
        end_postgres(server)


def _measure(
    url: str, size: int, clock: Callable[[], float], measure_bytes: Callable[[SqlStore], int]
) -> list[Measured]:
    store = open_store(url)
    fill(store, size)
    empty = measure_bytes(store)
    kinds = KINDS * max(1, size // TABLES)
    rows = write_history(store._database, kinds)
    database = "SQLite" if store._database.is_sqlite else "PostgreSQL"
    if not store._database.is_sqlite:
        with store._database.engine.connect() as connection:  # what its own upkeep does in time
            connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql(
                "VACUUM ANALYZE"
            )
    taken = measure_bytes(store) - empty
    sys.stderr.write(f"bench: {database}, a year of {size:,} tables, {rows:,} samples\n")
    name = f"history: {database}, a year of {size:,} tables,"
    lines = [
        Measured(
            f"{name} size per 100,000 tables",
            taken / size * 100_000 / _MIB,
            None,
            "nobody",
            "MiB",
            None,
        ),
        Measured(f"{name} size of a sample", taken / rows, None, "nobody", "bytes", None),
        Measured(
            f"{name} samples per 100,000 tables", rows / size * 100_000, None, "nobody", "", None
        ),
    ]
    for metric in ("data_files", "growth_bytes_per_day"):
        chart = percentile(
            partial(store.history, _a_table(store, kinds), metric, _NOW - YEAR, _NOW), clock=clock
        )
        lines.append(
            less_is_better(
                f"{name} p95 of one chart of {metric}",
                chart,
                CHART_BOUND_MS,
                "bound of 100 ms",
                "ms",
                reach=1,
            )
        )
    lines += _prune(store, name, clock)
    store.close()
    return lines


def _bytes_of_database(store: SqlStore) -> int:
    with store._database.read() as connection:
        return int(
            connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one()
        )


def write_history(database: Database, kinds: int) -> int:
    """What a year leaves in a store that is pruned hourly, and an hour more of everything; returns
    how many samples that is.
    """
    levels = (
        (_NOW - YEAR, _NOW - HOURLY - DAY, DAY),
        (_NOW - HOURLY - DAY, _NOW - RAW - HOUR, HOUR),
        (_NOW - RAW - HOUR, _NOW, OFTEN),
    )
    with database.write() as connection:
        for first, end, step in levels:
            _insert(connection, kinds, CHANGING_OFTEN, first, end, step)
        _insert(
            connection, kinds, CHANGING_DAILY, _NOW - YEAR, _NOW, DAY, lasts=timedelta(hours=18)
        )
        _insert(
            connection,
            kinds,
            (CHANGING_DAILY[1] + 1, kinds - 1),
            _NOW - YEAR,
            _NOW - YEAR,
            DAY,
            lasts=YEAR,
        )
        for level, thinned_to in ((HOUR, _NOW - RAW - HOUR), (DAY, _NOW - HOURLY - DAY)):
            connection.execute(
                database.upsert(
                    store_info, {"key": thinned_key(level), "value": str(write_instant(thinned_to))}
                )
            )
    with database.read() as connection:
        return int(
            connection.execute(select(func.count()).select_from(health_samples)).scalar_one()
        )


def _insert(  # noqa: PLR0917 - whose, from when to when, how often, and how long each lasts
    connection: Connection,
    kinds: int,
    some: tuple[int, int],
    first: datetime,
    end: datetime,
    step: timedelta,
    lasts: timedelta | None = None,
) -> None:
    microseconds = timedelta(microseconds=1)
    figures: dict[str, Any] = {
        "first": write_instant(first),
        "end": write_instant(end),
        "step": step // microseconds,
        "kinds": kinds,
    }
    figures |= {
        "lowest": some[0],
        "highest": some[1],
        "lasts": None if lasts is None else lasts // microseconds,
    }
    connection.execute(text(_INSERT), figures)


def _a_table(store: SqlStore, kinds: int) -> TableIdentifier:
    with store._database.read() as connection:
        often = tables.c.table_uuid.like("%" + "0" * len(str(kinds - 1)))
        name = connection.execute(
            select(tables.c.full_name).where(often).order_by(tables.c.full_name).limit(1)
        ).scalar_one()
    return next(table for table in store.table_names() if str(table) == name)


def _prune(store: SqlStore, name: str, clock: Callable[[], float]) -> list[Measured]:
    """One prune as every hour's, and one after a month without any."""
    watched = Watched(clock)
    watched.of(store._database)
    lines = []
    for reported, now in (
        ("an hourly prune", _NOW),
        (f"a prune after {ABSENCE.days} days", _NOW + ABSENCE),
    ):
        watched.held.clear()
        started = clock()
        counts = store.prune(now - YEAR, now - YEAR, now - RAW, now - HOURLY)
        took = clock() - started
        sys.stderr.write(f"bench: {reported}: {dict(counts)} in {len(watched.held)} transactions\n")
        lines.append(Measured(f"{name} {reported}", took, None, "nobody", "s", None))
        lines.append(
            less_is_better(
                f"{name} longest transaction of {reported}",
                max(watched.held),
                WAIT_BOUND_MS,
                "bound of 1 s",
                "ms",
                reach=1,
            )
        )
    return lines
