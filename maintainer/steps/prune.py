"""Prune: delete stored data that is older than its limit."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from maintainer.domain.policy import day_of
from maintainer.ports import Ports

# digests of tables that were never read to the end, because they were dropped or fail
KEEP_READINGS = timedelta(days=7)
KEEP_LOGS = timedelta(days=30)  # logs of jobs; a log is larger than the job's other data
KEEP_READS = timedelta(days=30)  # counts of reads by day; only the last week is used
KEEP_DRIVERS = timedelta(days=1)  # ended drivers with their messages, and ended processes


def prune(
    ports: Ports,
    keep_samples: timedelta,
    keep_jobs: timedelta,
    keep_raw: timedelta | None = None,
    keep_hourly: timedelta | None = None,
) -> Mapping[str, int]:
    """Delete old samples and finished jobs, and thin samples; return the counts by kind.

    Of the samples older than `keep_raw`, one an hour is kept; of those older than `keep_hourly`,
    one a day. Digests of tables that were never read to the end are deleted after KEEP_READINGS.
    """
    now = ports.clock.now()
    hourly, daily = (None if age is None else now - age for age in (keep_raw, keep_hourly))
    lists = ports.store.prune_orphan_lists(now - keep_jobs)
    drivers = ports.store.prune_drivers(now - KEEP_DRIVERS)
    digests = ports.store.prune_digests(now - KEEP_READINGS)
    return {
        **ports.store.prune(now - keep_samples, now - keep_jobs, hourly, daily),
        "orphan_lists": lists,
        "digests": digests,
        "portions": ports.store.prune_portions(),
        "job_logs": ports.store.prune_job_logs(now - KEEP_LOGS),
        "drivers": drivers,
        "reads": ports.store.prune_reads(day_of(now - KEEP_READS)),
    }
