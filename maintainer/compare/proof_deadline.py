"""How long a job waits for its proof when its table cannot be read after its work."""

from __future__ import annotations

from datetime import datetime, timedelta

from maintainer.domain.instants import is_ahead
from maintainer.domain.job import Job
from maintainer.domain.units import format_duration

PATIENCE = timedelta(
    minutes=15
)  # a restart of a catalog takes less; then people are told, and nothing more is done to the table
LONGEST_WAIT = timedelta(days=1)


def is_worth_telling(since: datetime, now: datetime) -> bool:
    """Whether the wait has lasted so long that somebody should look."""
    return now - since >= PATIENCE or is_ahead(since, now)


def find_end_of_wait(job: Job, now: datetime) -> str | None:
    """Why the job waits no longer, in words; None: it does. It waits until somebody asks for its
    end, for a day at most.
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
