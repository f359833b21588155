"""The health of a table at one snapshot. None means not measured; zero is a number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from maintainer.domain.action import is_rollback_tag
from maintainer.domain.condition_types import ColumnTypes
from maintainer.domain.file_sizes import DeletedFiles, FileSizes
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import ManifestContent, PartitionSpec, Ref, Unreadable
from maintainer.domain.location import paths_of


class Band(StrEnum):
    """The grade of a table, best first."""

    HEALTHY = "healthy"
    WATCH = "watch"
    DEGRADED = "degraded"
    CRITICAL = "critical"


PartitionKey = tuple[int, str]  # the id of the partition's spec, and its values as text


@dataclass(frozen=True, slots=True)
class PartitionHealth:
    """Data and delete files of one partition.

    Files outside the small..large range are candidates of the planner.
    """

    spec_id: int
    partition: str
    data_files: int
    data_bytes: int
    small_files: int
    small_bytes: int
    large_files: int
    large_bytes: int
    delete_files: int
    skew: float | None = (
        # data bytes / mean data bytes of all partitions; 1 is even; None if all partitions are
        # empty
        None
    )
    position_delete_files: int = 0  # without deletion vectors
    position_delete_bytes: int = 0
    sizes: FileSizes = field(default_factory=FileSizes)  # of its data files
    deleted: tuple[DeletedFiles, ...] = ()  # data files that deletes apply to
    # latest possible commit time of the newest file; None: before the kept snapshots
    written_at: datetime | None = None
    equality_delete_bytes: int = 0
    equality_delete_records: int = 0
    # position delete files that apply to no data file; 0 also when TableHealth has None
    dangling_delete_files: int = 0

    @property
    def average_file_size_bytes(self) -> float | None:
        """Mean data file size; None when the partition has no data file."""
        return self.data_bytes / self.data_files if self.data_files else None


@dataclass(frozen=True, slots=True)
class ManifestGroup:
    """Manifests of one (partition spec, content), which rewrite_manifests handles together."""

    spec_id: int
    content: ManifestContent
    count: int
    bytes: int
    ideal: int | None = (
        # the number of manifests of the target size for the same bytes; None in older healths
        None
    )

    @property
    def excess(self) -> int | None:
        """The number of manifests above the ideal number."""
        return None if self.ideal is None else self.count - self.ideal


@dataclass(frozen=True, slots=True)
class RefRetention:
    """What one branch or tag keeps from expiry.

    A tag keeps its snapshot, main its line, another branch the part of its line that is not main's.
    """

    name: str
    is_branch: bool
    snapshot_id: int
    snapshot_at: datetime | None  # None: the table does not have the snapshot
    retained_snapshots: int
    oldest_retained_at: datetime | None

    @property
    def is_ours(self) -> bool:
        """True for a tag that a rewrite can be rolled back to."""
        return not self.is_branch and is_rollback_tag(self.name)


@dataclass(frozen=True, slots=True)
class WriterRate:
    """Commits of one writer, among the kept snapshots of the commit window."""

    writer: str
    commits: int
    commits_per_hour: float


@dataclass(frozen=True, slots=True)
class Rewriter:
    """A program that recently rewrote the table without changing its rows; maybe this one."""

    name: str  # the name of the application or engine
    runs: int  # runs that are an hour or more apart
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A figure that the metadata claims and that differs from the count of manifest entries."""

    figure: str  # "data files"
    source: str  # "snapshot summary"
    claimed: int
    counted: int


@dataclass(frozen=True, slots=True)
class WrongSummary:
    """A manifest whose entry in the manifest list makes readers skip its live files."""

    path: str
    spec_id: int
    reason: str


@dataclass(frozen=True, slots=True)
class LostDelete:
    """A snapshot whose deletes are for data files that an earlier snapshot had removed."""

    snapshot_id: int
    writer: str
    removed_by: int | None  # that earlier snapshot; None: it is no longer kept


class SnapshotRole(StrEnum):
    """Why a snapshot at no branch's head may still be needed, by its own summary."""

    STAGED = "staged"  # written for review (wap.id) and not published yet
    CHECKPOINT = "checkpoint"  # a Flink job restores from it
    MARKER = "marker"  # Flink's conversion of equality deletes continues from it


@dataclass(frozen=True, slots=True)
class SnapshotStamp:
    """The fields of a snapshot that expiry needs."""

    snapshot_id: int
    parent_id: int | None
    committed_at: datetime
    # bytes of the files that the snapshot removed from the table; None: unknown
    removed_bytes: int | None = None
    role: SnapshotRole | None = None
    # the wap.id, the ids of Flink's job and operator, or the id of the staging snapshot
    role_of: str = ""


@dataclass(frozen=True, slots=True)
class TableHealth:
    """A table's health at one snapshot. The history keeps the scalar fields."""

    table: TableIdentifier
    table_uuid: str
    format_version: int
    location: str
    metadata_location: str
    snapshot_id: int | None
    measured_at: datetime
    target_file_size_bytes: int
    target_manifest_size_bytes: int
    # None in the counts below means that a manifest could not be read: see `unreadable`.
    data_files: int | None
    data_bytes: int | None
    average_file_size_bytes: float | None
    small_files: int | None
    small_file_ratio: float | None
    small_file_bytes: int | None
    records: int | None
    position_delete_files: int | None
    equality_delete_files: int | None
    deletion_vectors: int | None
    delete_bytes: int | None
    delete_records: int | None
    manifests: int | None
    manifest_bytes: int | None
    data_manifests: int | None
    delete_manifests: int | None
    snapshots: int
    oldest_snapshot_at: datetime | None
    newest_snapshot_at: datetime | None
    branches: int
    tags: int
    metadata_bytes: int
    histogram: tuple[int, ...] = ()  # data files per bin of inventory.HISTOGRAM_BOUNDS_BYTES
    histogram_bytes: tuple[int, ...] = ()  # of the files in these bins; empty: unknown
    formats: Mapping[str, int] = field(default_factory=dict)
    partitions: tuple[PartitionHealth, ...] = ()
    manifest_groups: tuple[ManifestGroup, ...] = ()
    history: tuple[SnapshotStamp, ...] = ()
    refs: tuple[Ref, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    default_spec_id: int = 0
    unreadable: tuple[Unreadable, ...] = ()
    # The fields below are None when unknown; docs/health.md says when.
    delete_file_ratio: float | None = None  # delete files of all kinds / data files
    oldest_delete_at: datetime | None = None  # there are deletes at least since then
    partition_skew: float | None = None  # of the largest partition, as PartitionHealth.skew
    manifest_excess: int | None = None  # total of all (spec, content) groups
    kept_data_files: int | None = None  # data files that the kept snapshots reference
    live_file_ratio: float | None = None  # data_files / kept_data_files
    commits_per_hour: float | None = None
    commit_window_seconds: float | None = None  # the time span of the rate
    commit_gap_seconds: float | None = None  # between two commits of the busiest writer, median
    writers: tuple[WriterRate, ...] = ()
    growth_bytes_per_day: float | None = None
    growth_records_per_day: float | None = None
    metadata_files: int | None = None  # metadata.json files, with those in the metadata log
    storage_files: int | None = None  # lower bound of the table's files, with metadata
    directories: int | None = None  # lower bound, with one for each level of a partition's path
    ref_retention: tuple[
        RefRetention, ...
    ] = ()  # refs with the oldest kept snapshots come first; at most history.MAX_RETENTIONS
    disagreements: tuple[Disagreement, ...] = ()
    statistics_snapshot_id: int | None = (
        # the newest snapshot with column statistics; None: no statistics
        None
    )
    partition_statistics_snapshot_id: int | None = None
    is_partitioned: bool | None = None
    sort_order: str | None = None  # as in the inventory
    specs: tuple[PartitionSpec, ...] = ()
    # time of the newest commit on the current line that is not a rewrite
    last_write_at: datetime | None = None
    # newest commit that deleted or replaced rows, as such commits conflict with rewrites
    last_change_at: datetime | None = None
    rewriters: tuple[Rewriter, ...] = ()  # of the last 7 days, the latest first
    # position delete files that no longer apply to a data file
    dangling_delete_files: int | None = None
    paths: tuple[str, ...] = ()  # directories under all their names; empty: as spelled
    columns: int | None = None  # of the current schema, without lists and maps
    column_types: ColumnTypes | None = None  # as in the inventory
    # manifests that readers skip wrongly, as the manifest list excludes their own entries
    wrong_summaries: int | None = None
    wrong_summary: WrongSummary | None = None  # the first of them
    # delete files that were committed for data files which were no longer there
    lost_deletes: int | None = None
    lost_delete: LostDelete | None = None  # the first snapshot with one

    def own_paths(self) -> tuple[str, ...]:
        """Return all directories that the table writes to, as normalise_path writes them."""
        return self.paths or paths_of(self.location, self.properties)


@dataclass(frozen=True, slots=True)
class Finding:
    """One bound that a table crosses. is_actionable False: maintenance would gain nothing."""

    metric: str
    observed: float
    bound: float
    severity: Band = Band.WATCH
    is_actionable: bool = True
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Compaction:
    """What a rewrite of a table's data files under its policy would achieve."""

    files_removed: int
    applies_deletes: bool


@dataclass(frozen=True, slots=True)
class Grade:
    """A band with its findings, worst first, and the reason as a sentence."""

    band: Band
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    entered_at: datetime | None = None  # the start of the uninterrupted time in this band
    came_from: Band | None = None  # the band before; None: none, or unknown
    compaction: Compaction | None = None  # None: unknown
