"""The base of every schema, and the schemas of a table's health and of what happens on it next."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Generic, Literal, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from maintainer.decide.outlook import OutlookKind
from maintainer.domain.driver import Stage
from maintainer.domain.job import JobRule, JobState
from maintainer.measure.impact import StorageProfile

Written = Annotated[str, BeforeValidator(str)]
SnapshotId = Written  # as text, because JavaScript's numbers lose digits of 64-bit integers


T = TypeVar("T")


class Schema(BaseModel):
    """Immutable, without extra fields, read from the attributes of domain objects."""

    model_config = ConfigDict(from_attributes=True, frozen=True, extra="forbid")

    @classmethod
    def of(cls, source: object, **given: object) -> Self:
        """Read the fields from a domain object, except those that are given."""
        names = cls.model_fields.keys() - given.keys()
        return cls.model_validate({name: getattr(source, name) for name in names} | given)


class PageOf(Schema, Generic[T]):
    """A page of a list; pass next_cursor as cursor for the next page."""

    items: list[T]
    next_cursor: str | None
    total: int


class HistogramBin(Schema):
    """Data files with from_bytes <= size < to_bytes (None: no upper bound)."""

    from_bytes: int
    to_bytes: int | None
    files: int
    bytes: int | None = Field(description="Of these files; null of older scans.")


class ManifestGroupOut(Schema):
    """Manifests of one partition spec and content."""

    spec_id: int
    content: Annotated[Literal["data", "deletes"], BeforeValidator(str)]
    count: int
    bytes: int
    ideal: int | None = Field(
        description="Manifests of the target size that would hold the same bytes."
    )


class RefOut(Schema):
    """A branch or a tag."""

    name: str
    snapshot_id: SnapshotId
    is_branch: bool


class RefRetentionOut(Schema):
    """The snapshots that a branch or a tag keeps from expiry."""

    name: str
    is_branch: bool
    snapshot_id: SnapshotId
    snapshot_at: datetime | None
    retained_snapshots: int
    oldest_retained_at: datetime | None
    is_ours: bool = Field(
        default=False,
        description="A tag that a rewrite can be rolled back to; it ends by its own age.",
    )


class WriterRateOut(Schema):
    """The commits of one writer; a list has at most ten writers and the sum of the others."""

    writer: str
    commits: int = Field(description="Kept snapshots of the commit window.")
    commits_per_hour: float


class DisagreementOut(Schema):
    """A figure in the metadata that differs from the manifests' entries."""

    figure: str
    source: str
    claimed: int
    counted: int


class NameNodeOut(Schema):
    """Objects in the memory of a name node, and its heap; lower bounds."""

    files: int
    directories: int
    blocks: int
    objects: int
    heap_bytes: float
    heap_bytes_with_snapshots: float = Field(
        description="With HDFS snapshots of the directories: 1.3 times as much."
    )


class NameServiceOut(Schema):
    """The load of the tables of one name service of HDFS."""

    name: str
    tables: int
    unknown_tables: int = Field(description="Tables whose files are not known; they add nothing.")
    load: NameNodeOut
    sentence: str


class StorageOut(Schema):
    """The prices and the speed of a storage, as the estimate uses them."""

    profile: StorageProfile
    get_price_per_million: float | None
    put_price_per_million: float | None
    list_price_per_million: float | None
    price_per_gb_month: float | None
    round_trip_seconds: float
    bandwidth: float = Field(description="Bytes a second.")
    parallelism: int = Field(description="Requests at the same time.")
    sentence: str


class ImpactOut(Schema):
    """The cost of the table's files, estimated from published measurements."""

    profile: StorageProfile
    slowdown_low: float = Field(description="Query time relative to files of the reference size.")
    slowdown_high: float
    is_beyond_measured: bool = Field(
        description="Files are smaller than the smallest measured size: the real cost may be "
        "higher."
    )
    requests_per_scan: int = Field(description="Requests of a full read; a lower bound.")
    requests_at_target: int
    requests_after_compaction: int = Field(
        description="The present partitions compacted; files of different partitions stay apart."
    )
    request_cost_per_scan: float | None = Field(
        description="At the configured price; null without one."
    )
    request_cost_per_scan_at_target: float | None
    request_cost_per_scan_after_compaction: float | None
    write_cost: float | None = Field(description="Of one PUT request for each of these files.")
    list_cost: float | None = Field(description="Of listing all files once.")
    storage_cost_per_month: float | None = Field(description="Of the live files.")
    round_trip_seconds: float = Field(
        description="Of all requests, as many at the same time as the storage takes."
    )
    scan_seconds: float = Field(description="Bytes by the bandwidth, and the round trips.")
    scan_seconds_at_target: float
    name_node: NameNodeOut | None = Field(description="HDFS only; at least.")
    storage: StorageOut
    source: str
    reference_file_size_bytes: float = Field(
        description="Of the files that the slowdown is relative to."
    )


class UnreadableOut(Schema):
    """A metadata file that could not be read."""

    path: str
    reason: str


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
