"""Defaults and floors of the rules, wherever no policy and no table property says anything."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

from maintainer.domain.policy import Rule, RuleName

MIN_EXPIRE_AGE = timedelta(hours=24)
MIN_SNAPSHOTS_KEPT = 2
DEFAULT_EXPIRE_AGE = timedelta(days=5)  # Iceberg: history.expire.max-snapshot-age-ms
DEFAULT_SNAPSHOTS_KEPT = 10

DEFAULT_QUIET_WAIT = timedelta(days=1)  # how long a rewrite waits for writers at most

OTHER_TIMEOUT = timedelta(hours=6)  # of jobs that no rule asked for
# Generous: a job that is ended has worked in vain, except for what it committed.
# A procedure that only writes metadata should end soon.
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
