"""Schemas of the API: times are RFC 3339 in UTC, sizes are bytes, None is unknown."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from maintainer.adapters.policies.document import MAXIMUM_BYTES
from maintainer.api.health_schemas import (
    DisagreementOut,
    HistogramBin,
    ImpactOut,
    ManifestGroupOut,
    OutlookOut,
    PageOf,
    PartitionAdviceOut,
    RefOut,
    RefRetentionOut,
    Schema,
    SnapshotId,
    UnreadableOut,
    WriterRateOut,
    Written,
)
from maintainer.api.plan_schemas import FindingOut
from maintainer.api.status_schemas import TableStatusOut
from maintainer.domain.health import Band
from maintainer.domain.inventory import FaultKind
from maintainer.domain.job import JobState
from maintainer.domain.policy import Mode, RuleName
from maintainer.domain.replica import DutyKind


class Problem(Schema):
    """RFC 9457 problem details (application/problem+json)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    instance: str | None = None


class FaultOut(Schema):
    kind: FaultKind
    reason: str
    seen_at: datetime


class PauseOut(Schema):
    by: str
    at: datetime
    reason: str


class TableSummary(Schema):
    """One row of the table list."""

    table: Written = Field(description="catalog.namespace.table")
    catalog: str
    namespace: str = Field(description="Levels joined by dots.")
    name: str
    band: Band | None
    reason: str
    findings: list[FindingOut]
    fault: FaultOut | None
    pause: PauseOut | None
    measured_at: datetime | None
    snapshot_id: SnapshotId | None = Field(description="As text: snapshot ids are 64-bit.")
    format_version: int | None
    target_file_size_bytes: int | None
    data_files: int | None
    data_bytes: int | None
    average_file_size_bytes: float | None
    small_files: int | None
    small_file_ratio: float | None
    records: int | None
    position_delete_files: int | None
    equality_delete_files: int | None
    deletion_vectors: int | None
    manifests: int | None
    manifest_bytes: int | None
    snapshots: int | None
    band_since: datetime | None = Field(description="When the table entered its band.")
    status: TableStatusOut | None = Field(
        description="The table's one state; null for a few seconds after it was found."
    )
    previous_band: Band | None = Field(description="The band before that.")


class PolicyValueOut(Schema):
    """One value of the policy in force, and where it was written."""

    path: str
    value: str
    source: str
    is_built_in: bool = Field(description="True when no file, table property or person set it.")
    built_in: str | None = Field(description="The value where nothing sets it; null: none.")


class PolicyProblemOut(Schema):
    source: str
    message: str


class EffectivePolicyOut(Schema):
    table: Written
    mode: Mode
    priority: int
    version: str
    rules: list[RuleName]
    values: list[PolicyValueOut]
    # Contradictions between files. Pydantic copies mutable defaults.
    problems: list[PolicyProblemOut] = []  # noqa: RUF012


class TableDetail(TableSummary):
    """A table's latest health, its findings and the policy in force."""

    table_uuid: str | None
    location: str | None
    metadata_location: str | None
    metadata_bytes: int | None
    small_file_bytes: int | None
    delete_bytes: int | None
    delete_records: int | None
    data_manifests: int | None
    delete_manifests: int | None
    oldest_snapshot_at: datetime | None
    newest_snapshot_at: datetime | None
    branches: int | None
    tags: int | None
    partitions: int | None = Field(description="Partitions that hold files.")
    histogram: list[HistogramBin]
    formats: dict[str, int]
    manifest_groups: list[ManifestGroupOut]
    refs: list[RefOut]
    properties: dict[str, str]
    unreadable: list[UnreadableOut]
    policy: EffectivePolicyOut
    first_seen_at: datetime
    delete_file_ratio: float | None = Field(description="Delete files / data files.")
    dangling_delete_files: int | None = Field(
        description="Position delete files that apply to no data file."
    )
    wrong_summaries: int | None = Field(
        description="Manifests that readers skip wrongly, by the manifest list's own summaries."
    )
    lost_deletes: int | None = Field(
        description="Delete files that were committed for data files which a rewrite had replaced."
    )
    oldest_delete_at: datetime | None = Field(
        description="The latest time at which the oldest delete was written."
    )
    partition_skew: float | None = Field(
        description="Bytes of the largest partition / mean of all."
    )
    manifest_excess: int | None = Field(description="Manifests beyond the ideal number.")
    kept_data_files: int | None = Field(description="Data files that any kept snapshot reaches.")
    live_file_ratio: float | None = Field(description="Live data files / kept data files.")
    commits_per_hour: float | None
    commit_window_seconds: float | None = Field(
        description="The span that the commit rate is taken over."
    )
    commit_gap_seconds: float | None = Field(
        description="Between two commits of the busiest writer in 24 hours: the median."
    )
    writers: list[WriterRateOut]
    growth_bytes_per_day: float | None
    growth_records_per_day: float | None
    metadata_files: int | None
    storage_files: int | None = Field(
        description="A lower bound of the files that the table keeps, metadata included."
    )
    ref_retention: list[RefRetentionOut] = Field(
        description="What branches and tags keep, the oldest first; at most 20."
    )
    disagreements: list[DisagreementOut]
    impact: ImpactOut | None
    reads_per_day: float | None = Field(
        description="Scans that engines reported, last seven days; null: none reported."
    )
    outlook: OutlookOut = Field(description="What happens now and next.")
    partition_advice: PartitionAdviceOut | None = Field(
        description="Why files stay small; null where maintenance helps."
    )


class PartitionOut(Schema):
    spec_id: int
    partition: str
    data_files: int
    data_bytes: int
    average_file_size_bytes: float | None
    small_files: int
    small_bytes: int
    large_files: int
    delete_files: int
    skew: float | None = Field(description="Data bytes / mean of all partitions.")
    band: Band | None = Field(
        description="From the average file size and the built-in bounds only; null: no files."
    )


class Sample(Schema):
    at: datetime
    value: float | None


class History(Schema):
    table: Written
    metric: str
    samples: list[Sample]


class Sums(Schema):
    """Sums over the tables of a namespace, catalog or fleet.

    average_file_size_bytes = all bytes / all files, live_file_ratio = live data files / kept ones.
    """

    tables: int
    measured_tables: int
    faulty_tables: int
    paused_tables: int
    data_files: int
    data_bytes: int
    average_file_size_bytes: float | None
    small_files: int
    delete_files: int
    manifests: int
    snapshots: int
    live_file_ratio: float | None
    bands: dict[Band, int]


class FleetSampleOut(Sums):
    """Sums that were valid from `at` until the next sample."""

    at: datetime


class FleetHistory(Schema):
    """The sums of a namespace, a catalog or the fleet over time, oldest first."""

    catalog: str | None
    namespace: str | None
    samples: list[FleetSampleOut]


Saved = Annotated[
    int | None, Field(description="By all jobs; null for a person who does not see all tables.")
]


class OverviewOut(Sums):
    """The fleet."""

    jobs: dict[JobState, int]
    files_removed: Saved
    manifests_removed: Saved
    snapshots_removed: Saved
    bytes_rewritten: Saved
    last_measured_at: datetime | None
    version: str


class PoolCatalogOut(Schema):
    """Whether a pool's Spark can use a catalog."""

    name: str
    error: str | None


class DutyOut(Schema):
    """Work that one replica at a time does for all."""

    kind: DutyKind
    catalog: str | None = Field(description="Null for a duty of the whole fleet.")


class ReplicaOut(Schema):
    """A replica that scans, plans and runs jobs."""

    name: str = Field(description="Its host, its process and a random part.")
    duties: list[DutyOut]


class PoolOut(Schema):
    """A pool of Spark drivers, and what its newest driver reported."""

    name: str
    max_jobs: int
    reported_at: datetime | None = Field(description="Null before the first driver has started.")
    spark: str | None
    scala: str | None
    java: str | None
    iceberg: str | None
    catalogs: list[PoolCatalogOut]
    obstacles: list[str] = Field(description="Why no job runs in the pool.")
    restrictions: list[str] = Field(
        description="Known faults of its Iceberg, which switch rules off."
    )


class PolicyLayerOut(Schema):
    name: str
    tables: list[str]
    values: list[PolicyValueOut]


class PolicySetOut(Schema):
    version: str
    layers: list[PolicyLayerOut]
    problems: list[PolicyProblemOut]


class PolicyText(Schema):
    """A policy file's text, as YAML."""

    yaml: str = Field(max_length=MAXIMUM_BYTES)


class PolicyVerdict(Schema):
    is_valid: bool
    problems: list[PolicyProblemOut]


class PauseRequest(Schema):
    reason: str = Field(default="", max_length=500)


class TablePage(PageOf[TableSummary]):
    """A page of the table list.

    For a search with many matches, total is a lower bound.
    """

    total_is_exact: bool = True


class PartitionPage(PageOf[PartitionOut]):
    """The worst partitions; total counts partitions with files, next_cursor is always null."""


class CheckOut(Schema):
    """One thing that the daemon needs, and whether it works."""

    name: str
    is_ok: bool
    message: str


class Readiness(Schema):
    is_ready: bool
    checks: list[CheckOut]


class Liveness(Schema):
    status: Literal["alive"] = "alive"
