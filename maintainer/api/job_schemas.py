"""Schemas of jobs: requests, states, effects and errors of estimates."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypeAlias

from pydantic import Field

from maintainer.api.health_schemas import PageOf, ProgressOut, Schema, SnapshotId, Written
from maintainer.api.plan_schemas import CostOut, EstimateOut, FindingOut, PlanOut, ScoreOut
from maintainer.domain.effect import ContentProof, Quantity, RowProof
from maintainer.domain.job import FailureReason, JobRule, JobState
from maintainer.domain.policy import RuleName
from maintainer.domain.pool import JobSize

LogState: TypeAlias = Literal["waiting", "growing", "complete", "none"]


class MeasurementOut(Schema):
    snapshot_id: SnapshotId | None
    measured_at: datetime
    data_files: int | None
    data_bytes: int | None
    average_file_size_bytes: float | None
    delete_files: int | None
    records: int | None
    manifests: int | None
    manifest_bytes: int | None
    snapshots: int
    histogram: list[int] = Field(
        description="Data files in each bin of the table's histogram; empty: unknown."
    )
    histogram_bytes: list[int] = Field(description="Of the files in these bins; empty: unknown.")


class EffectOut(Schema):
    before: MeasurementOut
    after: MeasurementOut
    own_commits: int
    other_commits: int
    files_removed: int
    delete_files_removed: int
    manifests_removed: int
    snapshots_removed: int
    bytes_rewritten: int
    duration_seconds: float | None
    rows: RowProof
    rows_before: int | None
    rows_after: int | None
    sentence: str
    orphans_listed: int
    orphans_removed: int
    orphan_bytes_removed: int
    contents: ContentProof = Field(
        default=ContentProof.NOT_TAKEN,
        description="The result of comparing row checksums, if the policy requests them.",
    )
    canary_files: int | None = Field(
        default=None,
        description="New files of the job that were read again; null: not requested, or not "
        "possible.",
    )
    failed_proofs: list[str] = Field(default=[], description="Why the result of the job is wrong.")
    difference: str = Field(
        default="",
        description="How the result differs from the estimate, and why; empty if it does not.",
    )


class EstimateErrorOut(Schema):
    """An estimate of a job, and the actual figure."""

    quantity: Quantity
    estimated: float
    actual: float
    ratio: float | None = Field(
        description="(estimated - actual) / actual; null if the actual figure is 0."
    )
    note: str = Field(description="Why the estimate could not be better, such as a first run.")


class DriverOut(Schema):
    """The driver that has or had a job; an empty text and null are unknown."""

    name: str
    application_id: str = Field(description="Spark's id of the application.")
    host: str = Field(description="Where the driver runs; of a pod its name.")
    pod: str
    process: int | None = Field(description="Its number on the host.")
    spark: str = Field(description="Its version, as the three below.")
    scala: str
    java: str
    iceberg: str
    ui_url: str = Field(description="Spark's page of the application, by the setting spark.ui_url.")


class JobLogOut(Schema):
    """A piece of a job's log; positions are characters since its start."""

    text: str = Field(description="Whole lines; empty when there is nothing new.")
    start: int = Field(
        description="Of the text; greater than `since` where older lines are deleted."
    )
    next: int = Field(description="The position after the text.")
    state: LogState = Field(
        description="waiting: no driver has written anything yet; none: no log was kept, or it "
        "is deleted. Nothing follows after complete and none."
    )


class JobOut(Schema):
    job_id: str
    table: Written
    rule: JobRule
    action: str = Field(description="The statement that Spark runs.")
    state: JobState
    reason: str
    findings: list[FindingOut]
    estimate: EstimateOut
    requested_by: str
    policy: str
    created_at: datetime
    submitted_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    finished_at: datetime | None
    progress: ProgressOut
    cancel_requested_by: str
    effect: EffectOut | None
    failure_reason: FailureReason | None
    failure_message: str
    cost: CostOut | None = Field(description="The cost that was predicted.")
    score: ScoreOut | None = Field(description="The score of its admission; null for a request.")
    gb_hours: float | None = Field(description="The actual GB-hours; null until the job has ended.")
    executor_seconds: float | None = Field(
        description="The time of all executors that the job used, if Spark adds and removes "
        "executors; its GB-hours are computed from it. Otherwise null."
    )
    estimate_errors: list[EstimateErrorOut]
    size: JobSize | None = Field(
        description="How much of Spark it gets; null: stored before sizes existed, counts as small."
    )
    size_reason: str
    pool: str = Field(description="The pool of `spark.pools` that it runs in.")
    driver: DriverOut | None = Field(description="null until a driver has the job.")


class CancelledJobOut(JobOut):
    """A job whose end was requested, and what its rule does then."""

    waits_until: datetime | None = Field(
        description="When the rule may run again by itself; null if no policy runs it."
    )
    wait: str = Field(description="The same as a sentence, and how to end the wait.")


class JobEventOut(Schema):
    sequence: int
    at: datetime
    name: str
    fields: dict[str, object]


class RunRequest(Schema):
    """The rules to run now, in any mode; empty: those that the plan would run."""

    rules: list[RuleName] = []  # noqa: RUF012 - pydantic copies defaults


class RunAccepted(Schema):
    jobs: list[JobOut]
    plan: PlanOut


class JobPage(PageOf[JobOut]):
    """A page of jobs, newest first."""
