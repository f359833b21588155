"""Before a look for orphans: what lies in the table's place is listed by this process, where the storage is one that Spark would list in a single file."""

from __future__ import annotations

import logging
from dataclasses import replace

from maintainer.domain.action import RemoveOrphanFiles
from maintainer.domain.job import Job, JobEvent
from maintainer.steps.ports import Ports

LISTED = "orphans.listed"
_BY_PREFIX = ("prefix_listing", "true")
_LOG = logging.getLogger(__name__)


def prepare_look(ports: Ports, job: Job) -> Job:
    """The job with its place listed; as it is where Spark lists: side by side on Hadoop's file systems, and wherever this process cannot."""
    action = job.action
    if not isinstance(action, RemoveOrphanFiles) or action.approved is not None or _BY_PREFIX not in action.options:
        return job
    pages = ports.catalog_of(job.table).list_files(job.table, action.location)
    if pages is None:
        return job
    started = ports.clock.now()
    try:
        files = ports.runner.bring_listing(job.job_id, action, pages)
    except Exception as error:  # noqa: BLE001 - whatever the storage's libraries raise: Spark, slower, has the last word
        _LOG.warning("orphans.not_listed", extra={"table": str(job.table), "error": type(error).__name__})
        ports.runner.forget(job.job_id)
        return job
    now = ports.clock.now()
    ports.store.append_events([JobEvent(job.job_id, now, LISTED, {"files": files, "seconds": (now - started).total_seconds()})])
    return replace(job, action=replace(action, is_listed=True, options=tuple(option for option in action.options if option != _BY_PREFIX)))
