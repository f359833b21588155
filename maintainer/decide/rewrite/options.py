"""After a conflict, a timeout or lack of memory, the next rewrite takes on less at a time."""

from __future__ import annotations

from collections.abc import Mapping

from maintainer.domain.health import TableHealth
from maintainer.domain.plan import RuleHistory
from maintainer.domain.rules import RewriteDataFilesRule

GROUP_SIZE = "max-file-group-size-bytes"
MOST_FILES = "max-files-to-rewrite"
PARTIAL_PROGRESS = "partial-progress.enabled"
LEAST_TARGETS_PER_GROUP = 4  # a smaller group could not fill even a few files of the target size


def shrink_groups(
    rule: RewriteDataFilesRule, health: TableHealth, history: RuleHistory
) -> Mapping[str, str]:
    """The rule's options, with smaller file groups that are committed one by one.

    Each recent failure of these kinds halves the group size. The policy's own values stay.
    """
    own = dict(rule.options)
    if not (history.recent_conflicts or history.recent_overloads):
        return own
    smallest = LEAST_TARGETS_PER_GROUP * health.target_file_size_bytes
    group = max(smallest, int((health.data_bytes or 0) * history.scope_factor))
    return {GROUP_SIZE: str(group), PARTIAL_PROGRESS: "true"} | own
