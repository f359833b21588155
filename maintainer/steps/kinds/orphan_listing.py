"""Before an orphan scan, list the table's location in this process.

Spark would hold the whole listing in the memory of its driver.
"""

from __future__ import annotations

import logging
from dataclasses import replace

from maintainer.domain.action import RemoveOrphanFiles
from maintainer.domain.job import Job, JobEvent
from maintainer.domain.location import HDFS_SCHEMES
from maintainer.ports import Ports

LISTED = "orphans.listed"
_BY_PREFIX, _BY_HADOOP = ("prefix_listing", "true"), ("prefix_listing", "false")
_LOG = logging.getLogger(__name__)


def list_location(ports: Ports, job: Job) -> Job:
    """Return the job with its location listed, or unchanged where Spark lists.

    Spark lists on Hadoop's other file systems, where the policy says so, and wherever this
    process cannot.
    """
    action = job.action
    if (
        not isinstance(action, RemoveOrphanFiles)
        or action.approved is not None
        or not _is_listed_here(action)
    ):
        return job
    pages = ports.catalog_of(job.table).list_files(job.table, action.location)
    if pages is None:
        return job
    started = ports.clock.now()
    try:
        files = ports.runner.bring_listing(job.job_id, action, pages)
    # Storage libraries raise anything; Spark lists instead, more slowly.
    except Exception as error:  # noqa: BLE001
        _LOG.warning(
            "orphans.not_listed", extra={"table": str(job.table), "error": type(error).__name__}
        )
        ports.runner.forget(job)
        return job
    now = ports.clock.now()
    ports.store.append_events(
        [
            JobEvent(
                job.job_id,
                now,
                LISTED,
                {"files": files, "seconds": (now - started).total_seconds()},
            )
        ]
    )
    return replace(
        job,
        action=replace(
            action,
            is_listed=True,
            options=tuple(option for option in action.options if option != _BY_PREFIX),
        ),
    )


def _is_listed_here(action: RemoveOrphanFiles) -> bool:
    return _BY_PREFIX in action.options or (
        action.location.lower().startswith(HDFS_SCHEMES) and _BY_HADOOP not in action.options
    )
