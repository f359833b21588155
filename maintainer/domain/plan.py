"""What would be done for a table and why, and what not and why not. Every rule of the policy
appears exactly once.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from maintainer.domain.action import Action
from maintainer.domain.budget import Budget
from maintainer.domain.cost import BENEFIT, Cost, Score, Worth
from maintainer.domain.health import Finding
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job_size import JobSize
from maintainer.domain.policy import Mode, RuleName

_MAX_HALVINGS = 6


class SkipCode(StrEnum):
    """Why a rule does nothing now."""

    BELOW_THRESHOLD = "below_threshold"
    NOTHING_TO_GAIN = "nothing_to_gain"
    COOLING_DOWN = "cooling_down"
    NOT_MEASURED = "not_measured"
    GC_DISABLED = "gc_disabled"
    RETENTION_FLOOR = "retention_floor"
    UNSAFE = "unsafe"  # what must be known to do it safely is not known, or speaks against it
    PINNED = "pinned"  # somebody still needs what would go
    IN_FLIGHT = "in_flight"
    OUTSIDE_WINDOW = "outside_window"
    OVER_BUDGET = "over_budget"
    HOT_PARTITION = "hot_partition"
    UNSUPPORTED = "unsupported"
    OBSERVE_ONLY = "observe_only"
    DISABLED = "disabled"
    PAUSED = "paused"
    AMBIGUOUS_POLICY = "ambiguous_policy"
    NOT_QUIET = "not_quiet"  # writers commit, and would win
    OTHER_MAINTAINER = "other_maintainer"  # somebody else rewrites the table
    NO_RUNNER = "no_runner"  # Spark cannot reach the table's catalog as it is configured


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an action is expected to achieve; counts are files, manifests or snapshots as the action
    has them.
    """

    items_before: (
        int  # candidates: data files, manifests or snapshots that the action would take in
    )
    items_after: int
    items_removed: int
    bytes_rewritten: int
    partitions: int = 0
    note: str = ""  # what the estimate leaves out, in words
    error_bound: int = (
        0  # by how many items_after, and so items_removed, may be wrong; the note says why
    )
    files_with_deletes: int = (
        0  # data files that are taken because of their deletes, which the rewrite applies
    )


@dataclass(frozen=True, slots=True)
class PlannedAction:
    """A rule that is worth doing, with the findings that made it so."""

    rule: RuleName
    action: Action
    findings: tuple[Finding, ...]
    estimate: Estimate
    reason: str
    cost: Cost | None = None
    score: Score | None = None  # as it stands, before its waiting is counted
    worth: Worth | None = None
    waiting_since: datetime | None = (
        None  # it has been wanted, and held up by nothing of its own, since then
    )
    timeout: timedelta | None = None  # after which its job is ended
    memory_gb: float | None = None  # what its job occupies
    size: JobSize | None = None  # how much of Spark its job gets, and why
    size_reason: str = ""


@dataclass(frozen=True, slots=True)
class SkippedRule:
    """A rule that does nothing now: the code, the sentence, and when it is looked at next (None:
    when the table changes).
    """

    rule: RuleName
    code: SkipCode
    reason: str
    next_at: datetime | None = None
    findings: tuple[Finding, ...] = ()
    estimate: Estimate | None = None
    would_do: Action | None = (
        None  # what enforce mode would do (observe_only, outside_window, in_flight, paused)
    )
    cost: Cost | None = None
    score: Score | None = None
    waiting_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The verdicts on one table at one snapshot under one policy."""

    table: TableIdentifier
    table_uuid: str
    snapshot_id: int | None
    metadata_location: str
    policy_version: str
    mode: Mode
    priority: int
    made_at: datetime
    planned: tuple[PlannedAction, ...]
    skipped: tuple[SkippedRule, ...]
    budget: Budget | None = None  # of the policy; its name says whose
    is_urgent: bool = False  # the table is in the critical band

    @property
    def benefit(self) -> float:
        """What maintenance is good for, whether it may start or is held back: the sum over the
        rules that would help.
        """
        scores = (
            *(planned.score for planned in self.planned),
            *(skipped.score for skipped in self.skipped),
        )
        return sum(
            (
                value
                for score in scores
                if score is not None
                for name, value in score.terms
                if name == BENEFIT
            ),
            0.0,
        )


def name_state(table_state: str, policy_version: str) -> str:
    """What a run has to do with: a run that found the same would do the same."""
    return f"{table_state} {policy_version}"


@dataclass(frozen=True, slots=True)
class FailureStreak:
    """Failures in a row, lost runners included, that the next attempt waits for; a success ends
    them.
    """

    reason: str  # of the last that says something of the table, else of the last
    times: int
    last_at: datetime
    job_id: str = ""  # the last of them
    table_state: str | None = (
        None  # a digest of the table before that; None: it had not been looked at
    )
    policy_version: str = ""  # under which that was planned


@dataclass(frozen=True, slots=True)
class RuleHistory:
    """What became of a rule's earlier jobs on a table; the memory of cool-downs and of zero-effect
    runs.
    """

    rule: RuleName
    last_finished_at: datetime | None = None
    last_success_at: datetime | None = None
    consecutive_failures: int = 0
    last_failure_at: datetime | None = None
    last_failure_reason: str = ""
    idle_at_state: str | None = None  # name_state of what the last run found, if it changed nothing
    recent_conflicts: int = 0  # lost to writers, fewer by one with each success
    empty_runs: int = 0  # in a row: they succeeded and changed nothing
    streak: FailureStreak | None = None
    recent_overloads: int = 0  # ended over time or out of memory, fewer by one with each success

    @property
    def failures(self) -> FailureStreak | None:
        """The failures in a row that the next attempt waits for; of before their reasons were
        counted apart, all of them.
        """
        if self.streak is not None or not self.consecutive_failures or self.last_failure_at is None:
            return self.streak
        return FailureStreak(
            self.last_failure_reason, self.consecutive_failures, self.last_failure_at
        )

    @property
    def scope_factor(self) -> float:
        """The share of the work that the next run should take on: half as much for each recent
        conflict and each recent overload.
        """
        return float(0.5 ** min(self.recent_conflicts + self.recent_overloads, _MAX_HALVINGS))
