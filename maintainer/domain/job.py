"""One action on one table: stored before it is submitted, moved only along the transition table,
proved from metadata.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from maintainer.domain.action import Procedure
from maintainer.domain.budget import Charge
from maintainer.domain.calibration import CostSample
from maintainer.domain.conflict import ConflictKind
from maintainer.domain.cost import Cost, EstimateError, Quantity, Score
from maintainer.domain.effect import Effect, Measurement
from maintainer.domain.errors import InvalidTransitionError, InvalidValueError
from maintainer.domain.health import Finding
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job_size import JobSize
from maintainer.domain.plan import Estimate, name_state
from maintainer.domain.policy import RuleName
from maintainer.domain.progress import Progress
from maintainer.domain.rollback import JobAction, Repair, RollBack
from maintainer.domain.safeguards import Safeguards

JobRule = RuleName | Repair

# the entry of our snapshots' summaries with the ids of the jobs that were at work, with commas
# between them
JOBS_MARK = "maintainer.jobs"

_SECONDS_PER_HOUR = 3600


class JobState(StrEnum):
    """Where a job stands."""

    PENDING = "pending"  # stored, not yet handed to a runner
    SUBMITTED = "submitted"  # handed to a runner
    RUNNING = "running"  # Spark works on it, or has ended and the proof is still to come
    SUCCEEDED = "succeeded"  # proved from the table's metadata
    FAILED = "failed"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"  # the runner was lost; the table's snapshots will tell

    @property
    def is_final(self) -> bool:
        """True when the job will never move again."""
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
    """Why a job failed: a closed set, so that it can be a metric's label."""

    CONFLICT = "conflict"  # a writer's commit won
    OUT_OF_MEMORY = "out_of_memory"
    MISSING_FILE = "missing_file"
    PERMISSION = "permission"
    CATALOG_UNREACHABLE = "catalog_unreachable"
    INVALID_REQUEST = "invalid_request"  # Iceberg or Spark refused the statement
    TABLE_CHANGED = "table_changed"  # dropped or replaced by another table of the same name
    LOST_RUNNER = "lost_runner"
    RUNNER_UNAVAILABLE = "runner_unavailable"  # Spark cannot be started
    TIMEOUT = "timeout"
    UNPROVED = "unproved"  # Spark reported success, the table's metadata does not bear it out
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the runner said at the end; a claim, not a proof."""

    kind: str  # finished | failed | cancelled | lost
    ended_at: datetime
    result: Mapping[str, int | str | None] = field(
        default_factory=dict
    )  # the procedure's own result row
    reason: FailureReason | None = None
    message: str = ""
    checks: Mapping[str, int | str | None] = field(
        default_factory=dict
    )  # what the statements after the procedure's own found, by the names of their columns
    check_failure: str = ""  # why one of these statements failed
    check_failure_reason: FailureReason | None = None
    conflict: ConflictKind | None = None  # what a writer had done, where that is the reason


@dataclass(frozen=True, slots=True)
class Baseline:
    """The table right before the job, as the proof needs it."""

    snapshot_id: int | None
    sequence_number: int  # the highest of any snapshot; 0 in format version 1
    newest_snapshot_at: datetime | None
    metadata_location: str
    measurement: Measurement
    snapshot_at: datetime | None = None  # when the current snapshot was committed
    lapsed_tags: tuple[str, ...] = ()  # of earlier jobs, whose time is over
    state: str = (
        ""  # a digest of what others change about the table; empty: stored by an earlier version
    )


@dataclass(frozen=True, slots=True)
class Job:
    """One action of one plan on one table, or a repair. Its id names the Spark work; a table has at
    most one unfinished job.
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
    then: tuple[RuleName, ...] = ()  # a person's request: the rules to carry out after this one
    keeps_thresholds: bool = (
        False  # a person's request that named no rule: each still needs what the policy asks for
    )
    state: JobState = JobState.PENDING
    owner: str = ""  # the process that submitted it
    application: str = (
        ""  # the app-name that this job's commits carry in their snapshot summaries, with JOBS_MARK
    )
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
    cost: Cost | None = None  # as predicted when it was stored
    score: Score | None = None  # by which it was admitted
    memory_gb: float | None = None  # what it occupies
    charged_to: str = ""  # the name of its policy's budget
    safeguards: Safeguards = field(
        default_factory=Safeguards
    )  # as its policy had them when it was handed over
    timeout: timedelta | None = None  # from submission on; None: the default of its rule
    deadline: datetime | None = None  # set when it is submitted
    is_overdue: bool = False  # it was asked to end because its time was up
    size: JobSize | None = None  # how much of Spark it gets; None: as the smallest
    size_reason: str = ""
    unreadable_since: datetime | None = (
        None  # Spark is done, and since then the table could not be read for the proof
    )
    given_up_by: str = ""  # who asked for its end meanwhile

    def advance(self, state: JobState, **changes: object) -> Job:
        """The job in a new state; InvalidTransitionError when the transition table has no such
        edge.
        """
        if state not in TRANSITIONS[self.state]:
            message = f"job {self.job_id} is {self.state} and cannot become {state}"
            raise InvalidTransitionError(message)
        return replace(self, state=state, **changes)  # type: ignore[arg-type]

    @property
    def policy_rule(self) -> RuleName:
        """The rule of a policy that it carries out; InvalidValueError for a repair, which no policy
        asks for.
        """
        if isinstance(self.rule, Repair):
            message = f"job {self.job_id} carries out {self.rule}, which is no rule of a policy"
            raise InvalidValueError(message)
        return self.rule

    @property
    def idle_state(self) -> str | None:
        """What it ran on and left as it was; None when it did not succeed or changed something."""
        if self.state is not JobState.SUCCEEDED or self.effect is None or not self.effect.is_idle:
            return None
        return (
            name_state(self.baseline.state, self.policy_version)
            if self.baseline is not None and self.baseline.state
            else None
        )

    @property
    def procedure(self) -> Procedure:
        """The procedure of maintenance that it calls; InvalidValueError for a repair, which calls
        none.
        """
        if isinstance(self.action, RollBack):
            message = (
                f"job {self.job_id} carries out {self.action.procedure}, which calls no "
                f"procedure of maintenance"
            )
            raise InvalidValueError(message)
        return self.action.procedure

    @property
    def awaits_review(self) -> bool:
        """True when Spark is done or lost and the proof is still to come."""
        return not self.state.is_final and (
            self.state is JobState.UNKNOWN or self.outcome is not None
        )

    @property
    def has_met_writers(self) -> bool:
        """True when a writer's commit cost it all of its work, or some."""
        lost_some = self.effect is not None and self.effect.files_lost > 0
        return lost_some or (
            self.state is JobState.FAILED and self.failure_reason is FailureReason.CONFLICT
        )

    @property
    def gb_hours(self) -> float | None:
        """What it has taken; None while Spark works, and when nobody saw it begin or end."""
        seconds = self.duration.total_seconds() if self.duration is not None else None
        return (
            None
            if seconds is None or self.memory_gb is None
            else self.memory_gb * max(0.0, seconds) / _SECONDS_PER_HOUR
        )

    @property
    def charge(self) -> Charge:
        """What the budgets are charged with: at most what was predicted until it is over, then what
        it took.
        """
        predicted = Charge(
            float(self.estimate.bytes_rewritten),
            self.cost.gb_hours_p90 if self.cost is not None else 0.0,
        )
        if not self.state.is_final:
            return predicted
        if self.submitted_at is None:
            return Charge()  # it never reached Spark
        rewritten = (
            float(self.effect.bytes_rewritten) if self.effect is not None else predicted.bytes
        )
        return Charge(rewritten, self.gb_hours if self.gb_hours is not None else predicted.gb_hours)

    @property
    def cost_sample(self) -> CostSample | None:
        """What it teaches of jobs like it; None when it did not succeed, nobody saw it begin or
        end, or nobody predicts what it costs: a repair.
        """
        if (
            self.state is not JobState.SUCCEEDED
            or self.duration is None
            or self.cost is None
            or isinstance(self.rule, Repair)
        ):
            return None
        is_rewrite = self.rule in {
            RuleName.REWRITE_DATA_FILES,
            RuleName.REWRITE_POSITION_DELETE_FILES,
        }
        work = (
            float(self.effect.bytes_rewritten)
            if is_rewrite and self.effect is not None
            else self.cost.work
        )
        return CostSample(
            max(0.0, work), max(0.0, self.duration.total_seconds()), self.cost.duration_seconds
        )

    @property
    def estimate_errors(self) -> tuple[EstimateError, ...]:
        """How far the predictions were off; none for a job that did not succeed, and for a repair,
        of which nothing is predicted.
        """
        if (
            self.state is not JobState.SUCCEEDED
            or self.effect is None
            or isinstance(self.rule, Repair)
        ):
            return ()
        effect, found = self.effect, []
        removed = {
            RuleName.REWRITE_DATA_FILES: (Quantity.FILES_REMOVED, effect.files_removed),
            RuleName.REWRITE_POSITION_DELETE_FILES: (
                Quantity.DELETE_FILES_REMOVED,
                effect.delete_files_removed,
            ),
            RuleName.REWRITE_MANIFESTS: (Quantity.MANIFESTS_REMOVED, effect.manifests_removed),
            RuleName.EXPIRE_SNAPSHOTS: (Quantity.SNAPSHOTS_REMOVED, effect.snapshots_removed),
        }
        quantity, actual = removed.get(self.policy_rule, (None, 0))
        if quantity is not None:
            found.append(EstimateError(quantity, float(self.estimate.items_removed), float(actual)))
        if quantity in {Quantity.FILES_REMOVED, Quantity.DELETE_FILES_REMOVED}:
            found.append(
                EstimateError(
                    Quantity.BYTES_REWRITTEN,
                    float(self.estimate.bytes_rewritten),
                    float(effect.bytes_rewritten),
                )
            )
        if self.cost is not None and self.gb_hours is not None and self.duration is not None:
            found.append(EstimateError(Quantity.GB_HOURS, self.cost.gb_hours, self.gb_hours))
            found.append(
                EstimateError(
                    Quantity.DURATION_SECONDS,
                    self.cost.duration_seconds,
                    self.duration.total_seconds(),
                )
            )
        return tuple(found)

    @property
    def duration(self) -> timedelta | None:
        """From the start of the Spark work to its end; None while it lasts."""
        return self.ended_at - self.started_at if self.ended_at and self.started_at else None


@dataclass(frozen=True, slots=True)
class JobEvent:
    """One line of a job's story, in the order in which it happened."""

    job_id: str
    at: datetime
    name: str  # noun.verb: job.submitted, statement.started, spark.progress, job.proved
    fields: Mapping[str, object] = field(default_factory=dict)
    sequence: int = 0  # given by the store
