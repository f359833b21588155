"""Timeouts: how long a job may take after it is handed to the runner."""

from __future__ import annotations

from datetime import datetime, timedelta

from maintainer.domain.job import Job
from maintainer.domain.policy import RuleName
from maintainer.domain.rules import OTHER_TIMEOUT, RULES

# At the deadline Spark is asked to stop. After this grace the runner ends what still runs.
OVERDUE_GRACE = timedelta(minutes=5)


def find_deadline(job: Job, now: datetime) -> datetime:
    """The deadline of a job that is handed over now."""
    default = RULES[job.rule]().timeout if isinstance(job.rule, RuleName) else OTHER_TIMEOUT
    return now + (job.timeout if job.timeout is not None else default)


def is_over_time(job: Job, now: datetime) -> bool:
    """True when the job's deadline has passed."""
    return job.deadline is not None and now >= job.deadline


def may_go_on(job: Job, now: datetime) -> bool:
    """True until the grace period after the deadline is over."""
    return job.deadline is None or now < job.deadline + OVERDUE_GRACE
