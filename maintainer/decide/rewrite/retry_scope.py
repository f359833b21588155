"""After a conflict, a timeout or lack of memory, the next rewrite takes on less at a time."""

from __future__ import annotations

from dataclasses import replace

from maintainer.domain.health import TableHealth
from maintainer.domain.plan import RuleHistory
from maintainer.domain.policy import Rule, RuleName

GROUP_SIZE = "max-file-group-size-bytes"
PARTIAL_PROGRESS = "partial-progress.enabled"
LEAST_TARGETS_PER_GROUP = 4  # a smaller group could not fill even a few files of the target size


def shrink_scope(rule: Rule, health: TableHealth, history: RuleHistory) -> Rule:
    """The rule with smaller file groups that are committed one by one.

    Each recent failure of these kinds halves the group size. The policy's own values stay.
    """
    if rule.name is not RuleName.REWRITE_DATA_FILES or not (
        history.recent_conflicts or history.recent_overloads
    ):
        return rule
    smallest = LEAST_TARGETS_PER_GROUP * health.target_file_size_bytes
    group = max(smallest, int((health.data_bytes or 0) * history.scope_factor))
    return replace(
        rule,
        options=tuple(
            sorted(
                ({GROUP_SIZE: str(group), PARTIAL_PROGRESS: "true"} | dict(rule.options)).items()
            )
        ),
    )
