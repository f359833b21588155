"""What a scrape of `/metrics` takes with 100,000 tables in a SQLite store: bytes and CPU time.

CPU time is that of this process, in which SQLite does its work; the store's tables are those of
`bench_store`, so one table in seven is degraded or critical.
"""

from __future__ import annotations

import tempfile
from typing import Final

from maintainer.adapters.clock import SystemClock
from maintainer.adapters.store import MAX_AGE, open_store
from maintainer.adapters.telemetry.gauges import GaugeOptions
from maintainer.adapters.telemetry.prometheus import PrometheusTelemetry
from tests.benchmarks.bench_store import fill, percentile
from tests.benchmarks.harness import Measured, less_is_better

TABLES: Final = 100_000
MOST_BYTES: Final = 2_000_000
MOST_MILLISECONDS: Final = 300.0


def run(scale: float) -> list[Measured]:
    """The size of a scrape and its time, against their bounds."""
    tables = max(100, int(TABLES * scale))
    with tempfile.TemporaryDirectory() as directory:
        store = open_store(f"sqlite:///{directory}/maintainer.db", max_age=MAX_AGE)
        fill(store, tables)
        telemetry = PrometheusTelemetry(store, SystemClock(), GaugeOptions(("lake", "sea")))
        size = len(telemetry.render()[0])

        def scrape() -> None:
            store._sums.read(exactly=True)  # those of the last scrape are too old
            telemetry.render()

        milliseconds = percentile(scrape)
        store.close()
    of = f"metrics: of {tables:,} tables"
    return [
        less_is_better(f"{of}, size", size, MOST_BYTES, "bound of 2 MB", "bytes", reach=1),
        less_is_better(
            f"{of}, p95", milliseconds, MOST_MILLISECONDS, "bound of 300 ms", "ms", reach=1
        ),
    ]
