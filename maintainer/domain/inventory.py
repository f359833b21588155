"""What a table's own metadata says, read but not judged."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from maintainer.domain.file_sizes import FileSizes
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.units import GIB, KIB, MIB

DEFAULT_TARGET_FILE_SIZE_BYTES = 512 * MIB  # Iceberg: write.target-file-size-bytes
DEFAULT_TARGET_DELETE_FILE_SIZE_BYTES = 64 * MIB  # Iceberg: write.delete.target-file-size-bytes
DEFAULT_TARGET_MANIFEST_SIZE_BYTES = 8 * MIB  # Iceberg: commit.manifest.target-size-bytes
SMALL_FILE_RATIO = 0.75  # Iceberg's planner: min-file-size-bytes = 0.75 x target
LARGE_FILE_RATIO = 1.80  # Iceberg's planner: max-file-size-bytes = 1.80 x target

# Upper bounds (exclusive) of the size histogram's bins, in bytes; one more bin holds what is
# larger. The bins follow the classes of the published measurements: 16 KiB and 64 KiB (production
# HDFS), 1, 4, 16 and 32 MiB (degraded, acceptable, healthy).
HISTOGRAM_BOUNDS_BYTES: tuple[int, ...] = (
    16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB, 32 * MIB, 64 * MIB, 128 * MIB, 256 * MIB,
    512 * MIB, GIB,
)  # fmt: skip


# raise it when the same manifest would be digested otherwise than before: then all manifests are
# read anew
DIGEST_VERSION = 1


def histogram_bin(size_bytes: int) -> int:
    """Index of the histogram bin that a file of this size falls in."""
    return bisect_right(HISTOGRAM_BOUNDS_BYTES, size_bytes)


class Content(StrEnum):
    """What a file holds."""

    DATA = "data"
    POSITION_DELETES = "position_deletes"
    EQUALITY_DELETES = "equality_deletes"
    DELETION_VECTORS = "deletion_vectors"


class ManifestContent(StrEnum):
    """What a manifest lists."""

    DATA = "data"
    DELETES = "deletes"


@dataclass(frozen=True, slots=True)
class SizeClasses:
    """Where "small" ends and "large" begins, for one table; both bounds in bytes, both
    exclusive.
    """

    target_bytes: int
    small_below_bytes: int
    large_above_bytes: int

    @classmethod
    def around(cls, target_bytes: int) -> SizeClasses:
        """Iceberg's own bounds around a target file size, rounded as its planner does (toward
        zero).
        """
        return cls(
            target_bytes, int(target_bytes * SMALL_FILE_RATIO), int(target_bytes * LARGE_FILE_RATIO)
        )


@dataclass(frozen=True, slots=True)
class PartitionField:
    """One field of a partition spec, with the column that it is made of."""

    name: str
    # as Iceberg writes it: "identity", "bucket[16]", "truncate[4]", "year", "month", "day", "hour",
    # "void"
    transform: str
    column: tuple[
        str, ...
    ] = ()  # the column's present name, level by level; empty: the table has it no more
    type_name: str = ""  # the column's type as Iceberg writes it: "timestamptz", "decimal(9, 2)"


@dataclass(frozen=True, slots=True)
class PartitionSpec:
    """How a partition's text is to be read: one "name=value" for each field that is not void."""

    spec_id: int
    fields: tuple[PartitionField, ...]


@dataclass(frozen=True, slots=True)
class PartitionDigest:
    """One manifest's share of one (partition, content): additive counts; sizes in bytes, deletion
    vectors by content size.
    """

    spec_id: int
    # "day=2026-01-01/bucket=3" in the spec's own field names; "" when the spec is unpartitioned
    partition: str
    content: Content
    file_count: int
    bytes: int
    record_count: int
    small_count: int
    small_bytes: int
    large_count: int
    large_bytes: int
    sizes: FileSizes = field(default_factory=FileSizes)  # of data files
    newest_sequence_number: int | None = None  # None: not known, as in format v1


@dataclass(frozen=True, slots=True)
class ManifestDigest:
    """What one immutable manifest says about its live (added or existing) entries."""

    path: str
    length_bytes: int
    spec_id: int
    content: ManifestContent
    sequence_number: int
    partitions: tuple[PartitionDigest, ...] = ()
    histogram: tuple[int, ...] = ()  # data files only; len(HISTOGRAM_BOUNDS_BYTES) + 1 bins
    formats: tuple[tuple[str, int], ...] = ()  # ("parquet", 12): data files by format
    entries_read: int = 0
    files: bytes = (
        b""  # filelist.pack_files: all data files of a table with deletes, all delete files
    )
    lists_files: bool = False  # whether `files` is all, and not left out


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One entry of the table's history."""

    snapshot_id: int
    parent_id: int | None
    sequence_number: int
    committed_at: datetime
    operation: str  # append | replace | overwrite | delete; "" when the writer did not say
    summary: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ref:
    """A branch or a tag; retention in milliseconds as Iceberg stores it, None = the table's
    default.
    """

    name: str
    snapshot_id: int
    is_branch: bool
    max_ref_age_ms: int | None = None
    max_snapshot_age_ms: int | None = None
    min_snapshots_to_keep: int | None = None


@dataclass(frozen=True, slots=True)
class StatisticsFile:
    """A file of statistics of one snapshot, of the table (Puffin) or of its partitions."""

    snapshot_id: int
    path: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A piece of metadata that could not be read: a fact about the table, not a crash."""

    path: str
    reason: str
    of_snapshot: int | None = (
        # whose list of manifests this is: without it none of the snapshot's files can be found
        None
    )


@dataclass(frozen=True, slots=True)
class TableInventory:
    """Everything health needs, at the table's current snapshot."""

    table: TableIdentifier
    table_uuid: str
    format_version: int
    location: str
    metadata_location: str
    metadata_bytes: int
    properties: Mapping[str, str]
    size_classes: SizeClasses
    current_snapshot_id: int | None
    default_spec_id: int
    default_spec_is_partitioned: bool
    snapshots: tuple[Snapshot, ...]
    refs: tuple[Ref, ...]
    manifests: Sequence[
        ManifestDigest
    ]  # a pass over those of a very large table unpacks them, one at a time
    read_at: datetime
    unreadable: tuple[Unreadable, ...] = ()
    metadata_files: int | None = (
        None  # this metadata.json and those of its metadata-log; None: not read
    )
    listed_files: int | None = (
        # live entries (added and existing) that the manifest list claims for its manifests; None:
        # it does not say
        None
    )
    specs: tuple[PartitionSpec, ...] = ()
    statistics: tuple[StatisticsFile, ...] = ()
    partition_statistics: tuple[StatisticsFile, ...] = ()
    is_sorted: bool = False  # the table has a sort order of its own


class FaultKind(StrEnum):
    """Why a listed name yields no inventory."""

    VIEW = "view"
    DROPPED = "dropped"  # gone between listing and reading
    METADATA_MISSING = "metadata_missing"
    METADATA_CORRUPT = "metadata_corrupt"
    CATALOG_UNAVAILABLE = "catalog_unavailable"
    ACCESS_DENIED = "access_denied"
    UNSUPPORTED = (
        "unsupported"  # a table that is no Iceberg table, or a format version we do not know
    )
    FAILED = "failed"  # reading or measuring it took too long, or brought out a mistake of ours


@dataclass(frozen=True, slots=True)
class TableFault:
    """A name that a catalog lists and that cannot be measured, with the reason in words."""

    table: TableIdentifier
    kind: FaultKind
    reason: str
    seen_at: datetime


@dataclass(frozen=True, slots=True)
class CatalogFault:
    """A catalog (or one namespace of it) that could not be listed."""

    catalog: str
    namespace: tuple[str, ...]
    reason: str
    seen_at: datetime
