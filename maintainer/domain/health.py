"""How a table is, measured at one snapshot. None means not measured; zero is a number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from maintainer.domain.file_sizes import DeletedFiles, FileSizes
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import ManifestContent, PartitionSpec, Ref, Unreadable


class Band(StrEnum):
    """The verdict on a table at a glance, best first."""

    HEALTHY = "healthy"
    WATCH = "watch"
    DEGRADED = "degraded"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True)
class PartitionHealth:
    """Data and delete files of one partition; files outside the small..large range are the
    planner's candidates.
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
        # data bytes / mean data bytes of all partitions: 1 is even; None when no partition holds
        # data bytes
        None
    )
    position_delete_files: int = 0  # without deletion vectors
    position_delete_bytes: int = 0
    sizes: FileSizes = field(default_factory=FileSizes)  # of its data files
    deleted: tuple[DeletedFiles, ...] = ()  # those of its data files that deletes apply to
    written_at: datetime | None = (
        None  # when its newest file was committed, at the latest; None: before any kept snapshot
    )
    equality_delete_bytes: int = 0
    equality_delete_records: int = 0
    dangling_delete_files: int = (
        0  # position delete files that apply to no data file; 0 too where TableHealth has None
    )

    @property
    def average_file_size_bytes(self) -> float | None:
        """Mean data file size; None when the partition has no data file."""
        return self.data_bytes / self.data_files if self.data_files else None


@dataclass(frozen=True, slots=True)
class ManifestGroup:
    """Manifests of one (partition spec, content): the unit that rewrite_manifests works on."""

    spec_id: int
    content: ManifestContent
    count: int
    bytes: int
    ideal: int | None = (
        # manifests of the target size that would hold the same bytes; None in measurements of
        # earlier versions
        None
    )

    @property
    def excess(self) -> int | None:
        """Manifests beyond the ideal number."""
        return None if self.ideal is None else self.count - self.ideal


@dataclass(frozen=True, slots=True)
class RefHold:
    """What one branch or tag keeps from expiry: a tag its snapshot, main its line, another branch
    what of its line is not main's.
    """

    name: str
    is_branch: bool
    snapshot_id: int
    snapshot_at: datetime | None  # None: the table does not have the snapshot
    held_snapshots: int
    oldest_held_at: datetime | None


@dataclass(frozen=True, slots=True)
class WriterRate:
    """Commits of one writer among the kept snapshots of the commit window."""

    writer: str
    commits: int
    commits_per_hour: float


@dataclass(frozen=True, slots=True)
class Rewriter:
    """A program that rewrote the table of late without changing what it holds: a maintainer, this
    one included.
    """

    name: str  # the application's name or the engine's
    runs: int  # apart from each other by an hour or more
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A figure that one piece of metadata claims and that the manifests' entries, counted, do not
    bear out.
    """

    figure: str  # "data files"
    source: str  # "snapshot summary"
    claimed: int
    counted: int


class SnapshotRole(StrEnum):
    """Why somebody may still need a snapshot that is on no branch's tip, as its own summary
    says.
    """

    STAGED = "staged"  # written for an audit (wap.id) and published by no other snapshot yet
    CHECKPOINT = "checkpoint"  # a Flink job restores from it
    MARKER = "marker"  # Flink's conversion of equality deletes goes on from it


@dataclass(frozen=True, slots=True)
class SnapshotStamp:
    """The little of a snapshot that expiry needs."""

    snapshot_id: int
    parent_id: int | None
    committed_at: datetime
    removed_bytes: int | None = (
        None  # of the files that it took out of the table; None: the writer did not say
    )
    role: SnapshotRole | None = None
    role_of: str = (
        ""  # the audit's id, the Flink job's with its operator's, or the staging snapshot's
    )


@dataclass(frozen=True, slots=True)
class TableHealth:
    """A table's health at one snapshot; the scalar fields are also what history keeps."""

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
    formats: Mapping[str, int] = field(default_factory=dict)
    partitions: tuple[PartitionHealth, ...] = ()
    manifest_groups: tuple[ManifestGroup, ...] = ()
    history: tuple[SnapshotStamp, ...] = ()
    refs: tuple[Ref, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    default_spec_id: int = 0
    unreadable: tuple[Unreadable, ...] = ()
    # What follows is None when it is not known; docs/health.md says when that is.
    delete_file_ratio: float | None = None  # delete files of all kinds / data files
    oldest_delete_at: datetime | None = None  # deletes have been waiting at least since then
    partition_skew: float | None = None  # of the largest partition, as PartitionHealth.skew
    manifest_excess: int | None = None  # over all (spec, content) groups
    kept_data_files: int | None = None  # data files that any kept snapshot reaches
    live_file_ratio: float | None = None  # data_files / kept_data_files
    commits_per_hour: float | None = None
    commit_window_seconds: float | None = None  # the span that the rate is taken over
    writers: tuple[WriterRate, ...] = ()
    growth_bytes_per_day: float | None = None
    growth_records_per_day: float | None = None
    metadata_files: int | None = None  # metadata.json files: the current one and those of its log
    storage_files: int | None = (
        None  # a lower bound of the files that the table keeps, metadata included
    )
    ref_holds: tuple[
        RefHold, ...
    ] = ()  # those that hold the oldest first; at most history.MAX_HOLDS
    disagreements: tuple[Disagreement, ...] = ()
    statistics_snapshot_id: int | None = (
        # the newest snapshot that statistics of the table's columns describe; None: there are none
        None
    )
    partition_statistics_snapshot_id: int | None = None
    is_partitioned: bool | None = None
    is_sorted: bool | None = None  # the table has a sort order of its own
    specs: tuple[PartitionSpec, ...] = ()
    last_write_at: datetime | None = (
        None  # of the newest commit of the current line that is no rewrite
    )
    last_change_at: datetime | None = (
        None  # of the newest that deleted or replaced rows: what a rewrite loses to
    )
    rewriters: tuple[Rewriter, ...] = ()  # of the last 7 days, the latest first
    dangling_delete_files: int | None = (
        None  # position delete files that apply to no data file any more
    )


@dataclass(frozen=True, slots=True)
class Finding:
    """One bound that a table is beyond (or, with is_actionable False, beyond without anything to
    gain).
    """

    metric: str
    observed: float
    bound: float
    severity: Band = Band.WATCH
    is_actionable: bool = True
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Grade:
    """A band with the findings that put the table there, worst first, and the reason in words."""

    band: Band
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    entered_at: datetime | None = None  # when the band was first measured without a break
    came_from: Band | None = None  # the band before; None: there was none, or it is not known
