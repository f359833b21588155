"""How long a job may take, from the moment that it is handed to the runner."""

from __future__ import annotations

from datetime import datetime, timedelta

from maintainer.domain.job import Job
from maintainer.domain.policy import RuleName
from maintainer.domain.rule_defaults import DEFAULT_TIMEOUTS, OTHER_TIMEOUT

# Spark is asked to stop at the deadline; what has not stopped by then is not let work any longer,
# and is ended by the runner.
OVERDUE_GRACE = timedelta(minutes=5)


def find_deadline(job: Job, now: datetime) -> datetime:
    """Until when a job may take that is handed over now."""
    default = DEFAULT_TIMEOUTS[job.rule] if isinstance(job.rule, RuleName) else OTHER_TIMEOUT
    return now + (job.timeout if job.timeout is not None else default)


def is_over_time(job: Job, now: datetime) -> bool:
    """Whether the job should have ended by now."""
    return job.deadline is not None and now >= job.deadline


def may_go_on(job: Job, now: datetime) -> bool:
    """Whether it may still work at all: until the grace after its deadline is over."""
    return job.deadline is None or now < job.deadline + OVERDUE_GRACE
