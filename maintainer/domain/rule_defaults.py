"""Defaults and floors of the rules, for values that no policy or table property sets."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

from maintainer.domain.policy import Rule, RuleName

MIN_EXPIRE_AGE = timedelta(hours=24)
MIN_SNAPSHOTS_KEPT = 2
DEFAULT_EXPIRE_AGE = timedelta(days=5)  # Iceberg: history.expire.max-snapshot-age-ms
DEFAULT_SNAPSHOTS_KEPT = 10

# A rewrite that meets a writer is lost, and the writer may have to retry.
DEFAULT_HOT_PARTITION_AGE = timedelta(minutes=15)
DEFAULT_QUIET_WAIT = timedelta(days=1)  # the longest wait of a rewrite for writers

OTHER_TIMEOUT = timedelta(hours=6)  # of jobs without a rule
# The defaults are generous: a job that is ended loses all work that is not committed. Procedures
# that only write metadata end soon.
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
    """The policy's timeout, else the rule's default."""
    return rule.timeout if rule.timeout is not None else DEFAULT_TIMEOUTS[rule.name]
