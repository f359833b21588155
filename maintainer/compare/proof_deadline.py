"""How long a job waits for its proof when its table cannot be read after the job."""

from __future__ import annotations

from datetime import datetime, timedelta

from maintainer.domain.instants import is_ahead
from maintainer.domain.job import Job
from maintainer.domain.units import format_duration

PATIENCE = timedelta(
    minutes=15
)  # longer than a catalog's restart; then people are notified and the table is paused
LONGEST_WAIT = timedelta(days=1)


def is_worth_telling(since: datetime, now: datetime) -> bool:
    """True when the wait has lasted long enough to notify people."""
    return now - since >= PATIENCE or is_ahead(since, now)


def find_end_of_wait(job: Job, now: datetime) -> str | None:
    """Why the job waits no longer; None while it waits.

    It waits until somebody requests its end, for a day at most.
    """
    since = job.unreadable_since
    if since is None:
        return None
    if job.given_up_by:
        return f"{job.given_up_by} asked for its end while its table could not be read"
    return (
        f"its table could not be read for {format_duration(LONGEST_WAIT)}"
        if now - since >= LONGEST_WAIT
        else None
    )
