"""What bounds one rewrite: its options, the memory, hot partitions, and limits on its bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from maintainer.domain.health import PartitionKey
from maintainer.domain.rules import RewriteDataFilesRule


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a rewrite that fits a limit."""

    amount: str  # as text
    bytes: int
    whole_bytes: int  # of the rewrite without the limit


class Limit(Protocol):
    """The most bytes that one job may rewrite, for one reason."""

    @property
    def bytes(self) -> int:
        """The limit itself."""

    def is_exceeded(self, group_bytes: int, job_bytes: int, /) -> bool:
        """True when a job is over the limit: its groups, or the files that it takes of them."""

    def explain(self, part: Part) -> str:
        """Why only this part is rewritten, as a sentence."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The options that fit in memory, the partitions that do not, and the changes as a sentence."""

    options: Mapping[str, str]
    too_heavy: frozenset[PartitionKey] = frozenset()
    sentence: str = ""
    refusal: str = ""  # the sentence for partitions with too many deletes


@dataclass(frozen=True, slots=True)
class JobBounds:
    """What bounds one rewrite: its options, the memory, the age of hot partitions, the limits."""

    fit: Fit
    hot_age: timedelta
    limits: tuple[Limit, ...] = ()  # besides the policy's own

    @classmethod
    def of_policy(cls, rule: RewriteDataFilesRule) -> JobBounds:
        """Only the bounds that the rule itself sets."""
        return cls(Fit(dict(rule.options)), rule.hot_partition_age)
