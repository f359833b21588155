"""A job: one action on one table.

It is stored before it is submitted, changes its state only by the transition table, and is proved
from metadata.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from maintainer.domain.action import Action, JobAction, Procedure, Repair, RollBack, Safeguards
from maintainer.domain.conflict import ConflictKind
from maintainer.domain.cost import (
    FIRST_RUN,
    Cost,
    CostBasis,
    CostSample,
    EstimateError,
    ExecutorUse,
    Score,
)
from maintainer.domain.driver import JobDriver, Progress
from maintainer.domain.effect import Effect, Measurement, Quantity, RowProof
from maintainer.domain.errors import InvalidTransitionError, InvalidValueError
from maintainer.domain.health import Finding
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import Estimate, name_state
from maintainer.domain.policy import Charge, RuleName
from maintainer.domain.pool import DEFAULT_POOL, JobSize
from maintainer.domain.rules import RULES

JobRule = RuleName | Repair

# The property in snapshots' summaries with the ids of the jobs that ran, separated by commas.
JOBS_MARK = "maintainer.jobs"

_SECONDS_PER_HOUR = 3600


class JobState(StrEnum):
    """The state of a job."""

    PENDING = "pending"  # stored, not yet handed to a runner
    SUBMITTED = "submitted"  # handed to a runner
    RUNNING = "running"  # Spark works, or has finished and the proof is missing
    SUCCEEDED = "succeeded"  # proved from the table's metadata
    FAILED = "failed"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"  # the runner was lost; the table's snapshots show the result

    @property
    def is_final(self) -> bool:
        return self in _FINAL


_FINAL = frozenset({JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED})

TRANSITIONS: Mapping[JobState, frozenset[JobState]] = {
    JobState.PENDING: frozenset({JobState.SUBMITTED, JobState.FAILED, JobState.CANCELLED}),
    JobState.SUBMITTED: frozenset(
        {JobState.RUNNING, JobState.FAILED, JobState.CANCELLED, JobState.UNKNOWN}
    ),
    JobState.RUNNING: frozenset(
        {JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED, JobState.UNKNOWN}
    ),
    JobState.UNKNOWN: frozenset({JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED}),
    JobState.SUCCEEDED: frozenset(),
    JobState.FAILED: frozenset(),
    JobState.CANCELLED: frozenset(),
}


class FailureReason(StrEnum):
    """Why a job failed: a closed set, so that it can be the label of a metric."""

    CONFLICT = "conflict"  # another writer's commit came first
    OUT_OF_MEMORY = "out_of_memory"
    MISSING_FILE = "missing_file"
    PERMISSION = "permission"
    CATALOG_UNREACHABLE = "catalog_unreachable"
    INVALID_REQUEST = "invalid_request"  # Iceberg or Spark refused the statement
    TABLE_CHANGED = "table_changed"  # dropped, or replaced by another table of the same name
    LOST_RUNNER = "lost_runner"
    RUNNER_UNAVAILABLE = "runner_unavailable"  # Spark cannot start, or cannot work at all
    TIMEOUT = "timeout"
    UNPROVED = "unproved"  # Spark reported success, but the table's metadata does not confirm it
    OTHER = "other"


# This program cancels a job in these names; all other names are of people and their tokens.
BY_SHUTDOWN, BY_NO_DAEMON = "shutdown", "no daemon started it"
LEAST_GAIN_SHARE = 0.1  # of the predicted gain; a run with less counts as one without a gain
_OF_FILES = frozenset({Quantity.FILES_REMOVED, Quantity.DELETE_FILES_REMOVED})
_APPLIED = frozenset({RowProof.COUNTED, RowProof.BOUNDED})


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result that the runner reports: a claim, not a proof."""

    kind: str  # finished | failed | cancelled | lost
    ended_at: datetime
    # the procedure's result row
    result: Mapping[str, int | str | None] = field(default_factory=dict)
    reason: FailureReason | None = None
    message: str = ""
    # results of the check statements, by column name
    checks: Mapping[str, int | str | None] = field(default_factory=dict)
    check_failure: str = ""  # why one of the check statements failed
    check_failure_reason: FailureReason | None = None
    conflict: ConflictKind | None = None  # the kind of conflict, if a conflict is the reason
    executors: ExecutorUse | None = None  # None if the number of executors is fixed or unknown


@dataclass(frozen=True, slots=True)
class Baseline:
    """The table right before the job; the proof needs it."""

    snapshot_id: int | None
    sequence_number: int  # the highest of all snapshots; 0 in format version 1
    newest_snapshot_at: datetime | None
    metadata_location: str
    measurement: Measurement
    snapshot_at: datetime | None = None  # when the current snapshot was committed
    lapsed_tags: tuple[str, ...] = ()  # expired rollback tags of earlier jobs
    state: str = ""  # hash of what other writers change; empty: of an earlier version
    next_row_id: int | None = None  # of format version 3


@dataclass(frozen=True, slots=True)
class Job:
    """One action of one plan on one table, or a repair.

    Its id is also the name of the Spark work. A table has at most one unfinished job.
    """

    job_id: str  # DNS label: letters, digits and dashes
    table: TableIdentifier
    table_uuid: str
    rule: JobRule
    action: JobAction
    findings: tuple[Finding, ...]
    estimate: Estimate
    reason: str
    policy_version: str
    priority: int
    requested_by: str  # "policy", "person"
    created_at: datetime
    then: tuple[RuleName, ...] = ()  # for a request: the rules to run after this one
    # True for a request without named rules, for which thresholds count
    keeps_thresholds: bool = False
    state: JobState = JobState.PENDING
    owner: str = ""  # the process that submitted the job
    # app-name in the summaries of the job's snapshots, in addition to JOBS_MARK
    application: str = ""
    baseline: Baseline | None = None
    submitted_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None  # when Spark ended
    finished_at: datetime | None = None  # when the job reached a final state
    progress: Progress = field(default_factory=Progress)
    outcome: Outcome | None = None
    cancel_requested_by: str = ""
    effect: Effect | None = None
    failure_reason: FailureReason | None = None
    failure_message: str = ""
    cost: Cost | None = None  # predicted when the job was stored
    score: Score | None = None  # at its admission
    memory_gb: float | None = None  # memory of the job
    executors_gb: float = 0.0  # the executors' part of memory_gb
    charged_to: str = ""  # the name of the policy's budget
    # from the policy at the time of the submission
    safeguards: Safeguards = field(default_factory=Safeguards)
    timeout: timedelta | None = None  # from submission on; None: the rule's default
    deadline: datetime | None = None  # set at submission
    is_overdue: bool = False  # its end was requested at the deadline
    size: JobSize | None = None  # None: the smallest
    size_reason: str = ""
    pool: str = DEFAULT_POOL  # the pool of its driver
    # since then Spark has finished, but the table cannot be read for the proof
    unreadable_since: datetime | None = None
    given_up_by: str = ""  # who requested its end in that time
    driver: JobDriver | None = None  # None until the job has a driver

    def advance(self, state: JobState, **changes: object) -> Job:
        """The job in a new state.

        InvalidTransitionError if the transition table forbids the change.
        """
        if state not in TRANSITIONS[self.state]:
            raise InvalidTransitionError(
                f"job {self.job_id} is {self.state} and cannot become {state}"
            )
        return replace(self, state=state, **changes)  # type: ignore[arg-type]

    @property
    def policy_rule(self) -> RuleName:
        """The policy rule of the job; InvalidValueError for a repair, which has none."""
        if isinstance(self.rule, Repair):
            raise InvalidValueError(
                f"job {self.job_id} carries out {self.rule}, which is no rule of a policy"
            )
        return self.rule

    @property
    def idle_state(self) -> str | None:
        """The table state that the job left unchanged.

        None when it did not succeed, or changed something.
        """
        if self.state is not JobState.SUCCEEDED or self.effect is None or not self.effect.is_idle:
            return None
        action = self._maintenance
        if self.baseline is None or not self.baseline.state or action is None:
            return None
        return name_state(self.baseline.state, self.policy_version, action)

    @property
    def is_without_gain(self) -> bool:
        """True for a success that achieved nothing, or under a tenth of what was predicted.

        A rewrite that applied deletes has a gain, and one that lost files to writers waits for its
        conflicts instead.
        """
        effect = self.effect
        if self.state is not JobState.SUCCEEDED or effect is None or isinstance(self.rule, Repair):
            return False
        if effect.is_idle:
            return True
        quantity, achieved = self._find_removed(effect)
        has_applied = effect.delete_files_removed > 0 or (
            effect.rows in _APPLIED and self.estimate.files_with_deletes > 0
        )
        # In format version 3 delete files become deletion vectors, which may be more.
        is_converted = self.baseline is not None and self.baseline.next_row_id is not None
        match quantity:
            case None:
                return False
            case Quantity.FILES_REMOVED if has_applied or effect.files_lost:
                return False
            case Quantity.DELETE_FILES_REMOVED if is_converted or effect.files_lost:
                return False
            case _:
                return achieved < LEAST_GAIN_SHARE * self.estimate.items_removed

    def _find_removed(self, effect: Effect) -> tuple[Quantity | None, int]:
        """What the rule's procedure is meant to remove, and how many of these are gone."""
        quantity = RULES[self.policy_rule].removes
        return quantity, 0 if quantity is None else int(getattr(effect, quantity))

    @property
    def procedure(self) -> Procedure:
        """The maintenance procedure that the job calls.

        InvalidValueError for a repair, which has none.
        """
        if self._maintenance is None:
            raise InvalidValueError(
                f"job {self.job_id} carries out {self.action.procedure}, which calls no "
                f"procedure of maintenance"
            )
        return self._maintenance.procedure

    @property
    def _maintenance(self) -> Action | None:
        """The action; None for a repair."""
        return None if isinstance(self.action, RollBack) else self.action

    @property
    def is_rewrite(self) -> bool:
        """True for a job that must keep every row, and writes its own snapshots."""
        action = self._maintenance
        return action is not None and action.procedure.rewrites_content

    @property
    def awaits_review(self) -> bool:
        """True when Spark is done or lost and the proof is still to come."""
        return not self.state.is_final and (
            self.state is JobState.UNKNOWN or self.outcome is not None
        )

    @property
    def has_met_writers(self) -> bool:
        """True when a conflict with another writer cost all or part of its work."""
        lost_some = self.effect is not None and self.effect.files_lost > 0
        return lost_some or (
            self.state is JobState.FAILED and self.failure_reason is FailureReason.CONFLICT
        )

    @property
    def gb_hours(self) -> float | None:
        """The actual cost. None while Spark works, and when its start or end is unknown.

        Of executors that come and go those count that the job really had.
        """
        if self.duration is None or self.memory_gb is None:
            return None
        seconds, used = max(0.0, self.duration.total_seconds()), self._executors_used
        if used is None:
            return self.memory_gb * seconds / _SECONDS_PER_HOUR
        driver_gb = self.memory_gb - self.executors_gb
        return (driver_gb * seconds + used.memory_gb * used.seconds) / _SECONDS_PER_HOUR

    @property
    def executor_seconds(self) -> float | None:
        """The time of all executors that the job really had; None where their number is fixed."""
        return None if self._executors_used is None else self._executors_used.seconds

    @property
    def _executors_used(self) -> ExecutorUse | None:
        return None if self.outcome is None else self.outcome.executors

    @property
    def charge(self) -> Charge:
        """What the budgets are charged with.

        Until the job is over, the estimated bytes and the 90th percentile of the GB-hours; then the
        actual ones.
        """
        predicted = Charge(
            float(self.estimate.bytes_rewritten),
            self.cost.gb_hours_p90 if self.cost is not None else 0.0,
        )
        if not self.state.is_final:
            return predicted
        if self.submitted_at is None:
            return Charge()  # the job never reached Spark
        rewritten = (
            float(self.effect.bytes_rewritten) if self.effect is not None else predicted.bytes
        )
        return Charge(rewritten, self.gb_hours if self.gb_hours is not None else predicted.gb_hours)

    @property
    def closed_at(self) -> datetime:
        """When the job got its final state; for a record without that time, the nearest known."""
        return self.finished_at or self.ended_at or self.created_at

    @property
    def cost_sample(self) -> CostSample | None:
        """What the job teaches about the cost of similar jobs.

        None when it did not succeed, when its start or end is unknown, and for a repair, which has
        no prediction.
        """
        if (
            self.state is not JobState.SUCCEEDED
            or self.duration is None
            or self.cost is None
            or isinstance(self.rule, Repair)
        ):
            return None
        is_rewrite = RULES[self.rule].removes in _OF_FILES
        work = self.cost.work
        if is_rewrite and self.effect is not None:
            # Of the files, only the estimated number is known; their share follows the bytes. A
            # job of an older version has no predicted work.
            expected, actual = self.estimate.bytes_rewritten, self.effect.bytes_rewritten
            work = work * actual / expected if expected and work else float(actual)
        return CostSample(
            max(0.0, work), max(0.0, self.duration.total_seconds()), self.cost.duration_seconds
        )

    @property
    def estimate_errors(self) -> tuple[EstimateError, ...]:
        """The prediction errors; empty when the job did not succeed, and for a repair."""
        if (
            self.state is not JobState.SUCCEEDED
            or self.effect is None
            or isinstance(self.rule, Repair)
        ):
            return ()
        effect, found = self.effect, []
        quantity, actual = self._find_removed(effect)
        if quantity is not None:
            found.append(EstimateError(quantity, float(self.estimate.items_removed), float(actual)))
        if quantity in _OF_FILES:
            found.append(
                EstimateError(
                    Quantity.BYTES_REWRITTEN,
                    float(self.estimate.bytes_rewritten),
                    float(effect.bytes_rewritten),
                )
            )
        if self.cost is not None and self.gb_hours is not None and self.duration is not None:
            note = FIRST_RUN if self.cost.basis is CostBasis.DEFAULT else ""
            spent = (
                (Quantity.GB_HOURS, self.cost.gb_hours, self.gb_hours),
                (
                    Quantity.DURATION_SECONDS,
                    self.cost.duration_seconds,
                    self.duration.total_seconds(),
                ),
            )
            found.extend(EstimateError(*figures, note) for figures in spent)
        return tuple(found)

    @property
    def duration(self) -> timedelta | None:
        """The time of Spark's work; None while it lasts."""
        return self.ended_at - self.started_at if self.ended_at and self.started_at else None


@dataclass(frozen=True, slots=True)
class JobEvent:
    """One event of a job's activity, in order of time."""

    job_id: str
    at: datetime
    name: str  # noun.verb: job.submitted, statement.started, spark.progress, job.proved
    fields: Mapping[str, object] = field(default_factory=dict)
    sequence: int = 0  # assigned by the store
