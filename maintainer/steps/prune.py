"""Forget what is older than the store should keep."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from maintainer.steps.ports import Ports

KEEP_READINGS = timedelta(
    days=7
)  # of tables that were begun to be read and never measured: they are dropped, or in long trouble


def prune(
    ports: Ports,
    keep_samples: timedelta,
    keep_jobs: timedelta,
    keep_raw: timedelta | None = None,
    keep_hourly: timedelta | None = None,
) -> Mapping[str, int]:
    """Delete samples and finished jobs beyond their ages, and thin samples to one an hour beyond
    keep_raw, one a day beyond keep_hourly; counts by kind.

    Manifests of tables that were never read whole go after KEEP_READINGS.
    """
    now = ports.clock.now()
    hourly, daily = (None if age is None else now - age for age in (keep_raw, keep_hourly))
    lists = ports.store.prune_orphan_lists(now - keep_jobs)
    digests = ports.store.prune_digests(now - KEEP_READINGS)
    return {
        **ports.store.prune(now - keep_samples, now - keep_jobs, hourly, daily),
        "orphan_lists": lists,
        "digests": digests,
    }
