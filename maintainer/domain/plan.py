"""A plan: what would run on a table, what would not, and why; and the history of its verdicts.

Every rule of the policy appears exactly once in a plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from re import compile as compile_regex

from maintainer.domain.action import Action
from maintainer.domain.cost import BENEFIT, Cost, Score, Worth
from maintainer.domain.health import Finding
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.policy import Budget, Mode, RuleName
from maintainer.domain.pool import DEFAULT_POOL, JobSize

_MAX_HALVINGS = 6
PLANNED = "planned"
# In the key of a planned action that waits, this follows the key of the plan's verdict.
_WAITS_FOR = "|admission: "
_WORK_DIGITS = 12
_CURRENT_TIME = compile_regex(r"(?i)\b(current_date|curdate|current_timestamp|now)\b")


class SkipCode(StrEnum):
    """Why a rule does not run now."""

    BELOW_THRESHOLD = "below_threshold"
    NOTHING_TO_GAIN = "nothing_to_gain"
    COOLING_DOWN = "cooling_down"
    NOT_MEASURED = "not_measured"
    GC_DISABLED = "gc_disabled"
    RETENTION_FLOOR = "retention_floor"
    UNSAFE = "unsafe"  # a fact that is needed for safety is unknown, or forbids the action
    PINNED = "pinned"  # the action would remove something that somebody still needs
    IN_FLIGHT = "in_flight"
    OUTSIDE_WINDOW = "outside_window"
    OVER_BUDGET = "over_budget"
    HOT_PARTITION = "hot_partition"
    UNSUPPORTED = "unsupported"
    OBSERVE_ONLY = "observe_only"
    DISABLED = "disabled"
    PAUSED = "paused"
    AMBIGUOUS_POLICY = "ambiguous_policy"
    NOT_QUIET = "not_quiet"  # other writers commit and would cause conflicts
    OTHER_MAINTAINER = "other_maintainer"  # another program rewrites the table
    NO_RUNNER = "no_runner"  # Spark cannot run jobs on the table's catalog, or in its pool


@dataclass(frozen=True, slots=True)
class Estimate:
    """The expected effect of an action.

    The counts are files, manifests or snapshots, depending on the action.
    """

    items_before: int  # data files, manifests or snapshots that the action would rewrite or remove
    items_after: int
    items_removed: int
    bytes_rewritten: int
    partitions: int = 0
    note: str = ""  # what the estimate does not cover
    # the possible error of items_after and items_removed; the note has the reason
    error_bound: int = 0
    files_with_deletes: int = 0  # data files that are rewritten because of their deletes


@dataclass(frozen=True, slots=True)
class PlannedAction:
    """A rule that is worth running, with the findings that led to it."""

    rule: RuleName
    action: Action
    findings: tuple[Finding, ...]
    estimate: Estimate
    reason: str
    cost: Cost | None = None
    score: Score | None = None  # without the factor for waiting
    worth: Worth | None = None
    # since when the action has been planned without its own obstacle
    waiting_since: datetime | None = None
    timeout: timedelta | None = None  # limit of the job
    memory_gb: float | None = None  # memory of the job
    size: JobSize | None = None  # job size, and why
    size_reason: str = ""
    executors_gb: float = 0.0  # the executors' part of memory_gb


@dataclass(frozen=True, slots=True)
class SkippedRule:
    """A rule that does not run now: code, sentence and next check.

    Without a next check, it is checked when the table changes.
    """

    rule: RuleName
    code: SkipCode
    reason: str
    next_at: datetime | None = None
    findings: tuple[Finding, ...] = ()
    estimate: Estimate | None = None
    # the verdict in enforce mode (observe_only, outside_window, in_flight, paused)
    would_do: Action | None = None
    cost: Cost | None = None
    score: Score | None = None
    waiting_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The verdicts for one table at one snapshot under one policy."""

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
    budget: Budget | None = None  # the budget of the policy
    is_urgent: bool = False  # the table is in the critical band
    pool: str = DEFAULT_POOL  # the pool in which its jobs run

    @property
    def benefit(self) -> float:
        """The total benefit of the rules that would help, whether they may start or not."""
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


def name_state(table_state: str, policy_version: str, action: Action) -> str | None:
    """The input of a run. A run with the same input would have the same result.

    None if the action's filter names the current time, because its result then depends on it.
    """
    work = repr(action)
    if _CURRENT_TIME.search(work) is not None:
        return None
    return f"{table_state} {policy_version} {sha256(work.encode()).hexdigest()[:_WORK_DIGITS]}"


@dataclass(frozen=True, slots=True)
class FailureStreak:
    """Failures in a row, including lost runners.

    The next attempt waits for them; a success ends them.
    """

    reason: str  # the last reason that concerns the table, or else the last reason
    times: int
    last_at: datetime
    job_id: str = ""  # the last failed job
    table_state: str | None = None  # hash of the table's state before that job; None: unknown
    policy_version: str = ""  # the policy of that job's plan
    # temporary failures since; they do not move the wait for the table's own failures
    passing: FailureStreak | None = None


@dataclass(frozen=True, slots=True)
class RuleHistory:
    """The results of a rule's earlier jobs on a table, for cooldowns and runs without effect."""

    rule: RuleName
    last_finished_at: datetime | None = None
    last_success_at: datetime | None = None
    consecutive_failures: int = 0
    last_failure_at: datetime | None = None
    last_failure_reason: str = ""
    idle_at_state: str | None = None  # name_state of the last run, if it changed nothing
    recent_conflicts: int = 0  # conflicts with other writers; each success subtracts one
    empty_runs: int = 0  # runs in a row that succeeded without a gain
    streak: FailureStreak | None = None
    recent_overloads: int = 0  # timeouts or out of memory; each success subtracts one
    # when a person last cancelled a job, and who; None: not since the last success
    cancelled_at: datetime | None = None
    cancelled_by: str | None = None

    @property
    def failures(self) -> FailureStreak | None:
        """The failures in a row that the next attempt waits for.

        For failures stored before reasons were counted separately: all of them.
        """
        if self.streak is not None or not self.consecutive_failures or self.last_failure_at is None:
            return self.streak
        return FailureStreak(
            self.last_failure_reason, self.consecutive_failures, self.last_failure_at
        )

    @property
    def scope_factor(self) -> float:
        """The share of the work for the next run.

        Each recent conflict and each recent overload halves it.
        """
        return float(0.5 ** min(self.recent_conflicts + self.recent_overloads, _MAX_HALVINGS))


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """One entry of a table's history of verdicts, with the figures at its start.

    Later figures do not make another verdict.
    """

    rule: RuleName
    code: str  # PLANNED, or a SkipCode
    # the sentence without figures: two verdicts with equal code and key are the same
    key: str
    sentence: str
    at: datetime
    until: datetime | None = None  # the store sets this value; None: still current
    next_at: datetime | None = None
    policy_version: str = ""
    findings: tuple[Finding, ...] = ()
    estimate: Estimate | None = None
    cost: Cost | None = None
    score: Score | None = None


@dataclass(frozen=True, slots=True)
class StandingVerdict:
    """The fields that identify a current verdict, without figures."""

    table: TableIdentifier
    table_uuid: str
    rule: RuleName
    code: str
    key: str


def key_while_waiting(key: str, cause: str) -> str:
    """The key of the verdict for a planned action that admission delays for this cause."""
    return f"{planned_key(key)}{_WAITS_FOR}{cause}"


def planned_key(key: str) -> str:
    """The key of the plan's own verdict, with the waiting part removed."""
    return key.partition(_WAITS_FOR)[0]


def is_waiting(key: str) -> bool:
    return _WAITS_FOR in key


def stands_on(standing: StandingVerdict, table_uuid: str, fresh: RuleVerdict) -> bool:
    """True when a new plan's verdict does not change the current one.

    Either both are the same, or admission delays an action that both plan.
    """
    if standing.table_uuid != table_uuid:
        return False
    is_held_back = is_waiting(standing.key) and fresh.code == PLANNED
    return (standing.code, standing.key) == (fresh.code, fresh.key) or (
        is_held_back and planned_key(standing.key) == fresh.key
    )


@dataclass(frozen=True, slots=True)
class Unenforced:
    """What would run if all policies in observe mode were enforced.

    The figures are those at the start of each verdict.
    """

    tables: int
    files_removed: int  # data files
    gb_hours: float
    is_whole: bool = True  # False: the figures are only of some tables


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """One rule with a different verdict.

    PLANNED or a SkipCode on each side; None where the policy does not have the rule.
    """

    rule: RuleName
    before: str | None
    after: str | None
    why_before: str
    why_after: str
    gb_hours: float | None = None  # the cost of the action, if it would be planned


@dataclass(frozen=True, slots=True)
class TablePreview:
    """One table that the candidate policy could change.

    Without changes all verdicts stay. `unmeasured` is the reason when there is no health to decide
    on.
    """

    table: TableIdentifier
    changes: tuple[VerdictChange, ...] = ()
    unmeasured: str = ""
