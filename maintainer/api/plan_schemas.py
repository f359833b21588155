"""Schemas of plans: each rule's verdict, its reason and its next check."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated

from pydantic import BeforeValidator, Field

from maintainer.api.health_schemas import PageOf, Schema, SnapshotId, Written
from maintainer.domain.admission import WaitCode
from maintainer.domain.cost import CostBasis
from maintainer.domain.health import Band
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import Mode, RuleName
from maintainer.domain.pool import JobSize


class FindingOut(Schema):
    """A figure of a table that crosses a bound."""

    metric: str
    observed: float
    bound: float
    severity: Band
    is_actionable: bool = Field(
        description="False: it crosses the bound, but maintenance would not change it."
    )
    sentence: str


class EstimateOut(Schema):
    """The expected result of an action; items are files, manifests or snapshots."""

    items_before: int
    items_after: int
    items_removed: int
    bytes_rewritten: int
    partitions: int
    note: str
    error_bound: int = Field(
        description="By how many items_after and items_removed may be wrong; the note says why."
    )


class CostOut(Schema):
    """The expected cost of an action.

    A GB-hour is the memory that a job occupies during an hour of Spark's work.
    """

    gb_hours: float
    gb_hours_p90: float = Field(
        description="The amount that budgets are charged with until the job has ended."
    )
    duration_seconds: float
    basis: CostBasis = Field(description="The finished jobs that the prediction is based on.")
    samples: int = Field(description="The number of these jobs.")


class TermOut(Schema):
    """One term of a score."""

    name: str
    value: float


def _name_terms(terms: Iterable[tuple[str, float]]) -> list[TermOut]:
    return [TermOut(name=name, value=value) for name, value in terms]


class ScoreOut(Schema):
    """The score of an action, by which planned actions are ordered, and its terms."""

    scorer: str
    value: float
    terms: Annotated[list[TermOut], BeforeValidator(_name_terms)]
    sentence: str


class AdmissionOut(Schema):
    """Whether a planned action starts now, else why it waits and until when."""

    is_admitted: bool
    code: WaitCode | None = Field(description="Why it waits; null: it starts.")
    sentence: str
    next_at: datetime | None = Field(
        description="When it may start at the earliest; null: when a job ends or somebody "
        "changes something."
    )
    ahead: int | None = Field(description="Actions ahead in the queue, if it waits for a slot.")
    waiting_since: datetime
    score: ScoreOut = Field(description="The score with the waiting time so far.")


class PlannedOut(Schema):
    """A planned rule."""

    rule: RuleName
    action: str = Field(description="The CALL statement that would run.")
    findings: list[FindingOut]
    estimate: EstimateOut
    reason: str
    sentence: str = Field(description="The verdict in words, with its reason.")
    cost: CostOut | None
    score: ScoreOut | None = Field(description="The score without the waiting time.")
    admission: AdmissionOut | None = Field(description="Why not now, when next; null in a dry run.")
    size: JobSize | None = Field(
        description="How much of Spark its job gets; null in plans from before sizes existed."
    )
    size_reason: str


class SkippedOut(Schema):
    """A skipped rule."""

    rule: RuleName
    code: SkipCode
    reason: str
    next_at: datetime | None = Field(description="The next check; null: when the table changes.")
    findings: list[FindingOut]
    estimate: EstimateOut | None
    action: str | None = Field(description="The CALL statement that is not run; null without one.")
    sentence: str = Field(description="The verdict in words, with its reason.")
    cost: CostOut | None
    score: ScoreOut | None


class PlanOut(Schema):
    """The verdicts on one table at one snapshot under one policy."""

    table: Written
    policy: str = Field(description="Version (content hash) of the effective policy.")
    mode: Mode
    snapshot_id: SnapshotId | None
    made_at: datetime
    pool: str = Field(description="The pool of `spark.pools` that the table's jobs run in.")
    planned: list[PlannedOut]
    skipped: list[SkippedOut]


class VerdictOut(Schema):
    """One entry of the history of verdicts, with the figures of the moment it began."""

    rule: RuleName
    code: str = Field(description="`planned`, or why the rule did nothing, as in a plan.")
    sentence: str
    at: datetime
    until: datetime | None = Field(description="Null: it is the current verdict.")
    next_at: datetime | None = Field(
        description="The next check then; null: when the table changes."
    )
    policy: str
    findings: list[FindingOut]
    estimate: EstimateOut | None
    cost: CostOut | None
    score: ScoreOut | None


class VerdictPage(PageOf[VerdictOut]):
    """A page of the history of verdicts, newest first."""
