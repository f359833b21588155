"""Schemas of what happens on a table now and next, and of what maintenance cannot improve."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from maintainer.api.health_schemas import Schema
from maintainer.decide.outlook import OutlookKind
from maintainer.domain.job import JobRule, JobState
from maintainer.domain.progress import Stage


class ProgressOut(Schema):
    """The progress of a job; null where Spark did not report it."""

    tasks_done: int | None
    tasks_total: int | None = Field(
        description="The tasks of the Spark jobs so far. The number grows with each Spark job, so "
        "it does not show how much is left."
    )
    phase: str
    file_groups_done: int | None = Field(
        description="Of a rewrite: what Iceberg plans and writes as one."
    )
    file_groups_total: int | None
    bytes_read: int | None = Field(
        description="By Spark, as far as the storage's client counts them."
    )
    bytes_written: int | None
    ends_at: datetime | None = Field(
        description="About when Spark will be done, if the rest takes as long as what is done."
    )
    sentence: str
    stage: Stage = Field(description="A job never goes back to an earlier stage.")
    share: float = Field(
        description="Of the whole job, from 0 while it waits to below 1 before its end; it never "
        "decreases."
    )
    is_counted: bool = Field(
        description="The share grows within this stage; else it only grows with the next stage."
    )


class UnfinishedJobOut(Schema):
    """The unfinished job of a table."""

    job_id: str
    rule: JobRule
    state: JobState
    progress: ProgressOut


class OutlookOut(Schema):
    """The present and the next event on a table."""

    kind: OutlookKind
    sentence: str
    why: str = Field(
        description="Why nothing starts; empty where the sentence says it, and where something "
        "does."
    )
    next_at: datetime | None = Field(
        description="The next check of what is not started; null: when the table or its policy "
        "changes."
    )
    job: UnfinishedJobOut | None


class PartitionAdviceOut(Schema):
    """Advice on too fine partitions, where most files stay small in spite of all maintenance."""

    partitions: int = Field(description="That are too small to fill one file.")
    average_bytes: float = Field(description="Of these.")
    files_left: int = Field(description="Small files that the best rewrite leaves.")
    better: str = Field(
        description="Partition fields that would help; empty: none at all, or other columns."
    )
    better_partitions: int
    better_average_bytes: float
    sentence: str = Field(description="The cause and what would help.")
