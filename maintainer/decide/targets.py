"""The target file size that a policy sets."""

from __future__ import annotations

from maintainer.domain.policy import Policy
from maintainer.domain.rules import RewriteDataFilesRule


def target_of_policy(policy: Policy) -> int | None:
    """The policy's target file size in bytes; None when the policy leaves it to the table."""
    rule = policy.rule(RewriteDataFilesRule)
    option = dict(rule.options).get("target-file-size-bytes") if rule is not None else None
    return int(option) if option is not None else policy.target_file_size_bytes
