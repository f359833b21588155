"""How long a job may take, from the moment that it is handed to the runner."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType

from maintainer.domain.job import Job
from maintainer.domain.policy import Rule, RuleName

LEAST_TIMEOUT = timedelta(minutes=1)
LONGEST_TIMEOUT = timedelta(days=7)
OTHER_TIMEOUT = timedelta(hours=6)  # of what no rule asks for
# Spark is asked to stop at the deadline; what has not stopped by then is not let work any longer, and is ended by the runner.
OVERDUE_GRACE = timedelta(minutes=5)

# Generous: a job that is ended has worked in vain, but for what it committed. What writes metadata alone should be over soon.
DEFAULT_TIMEOUTS: Mapping[RuleName, timedelta] = MappingProxyType(
    {
        RuleName.REWRITE_DATA_FILES: timedelta(hours=12),
        RuleName.REWRITE_POSITION_DELETE_FILES: timedelta(hours=6),
        RuleName.REWRITE_MANIFESTS: timedelta(hours=2),
        RuleName.COMPUTE_TABLE_STATS: timedelta(hours=6),
        RuleName.COMPUTE_PARTITION_STATS: timedelta(hours=2),
        RuleName.EXPIRE_SNAPSHOTS: timedelta(hours=6),
        RuleName.REMOVE_ORPHAN_FILES: timedelta(hours=12),
    }
)


def find_timeout(rule: Rule) -> timedelta:
    """What the policy says, else the default of the rule."""
    return rule.timeout if rule.timeout is not None else DEFAULT_TIMEOUTS[rule.name]


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
