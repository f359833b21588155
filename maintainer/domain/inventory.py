"""What a table's metadata says, without any interpretation, and the text of a partition."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from re import compile as compile_regex
from typing import Final

from maintainer.domain.condition_types import ColumnTypes
from maintainer.domain.file_sizes import FileSizes
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.units import GIB, KIB, MIB

# Iceberg's table properties that the daemon reads.
TARGET_FILE_SIZE = "write.target-file-size-bytes"
DELETE_TARGET_FILE_SIZE = "write.delete.target-file-size-bytes"
MAX_SNAPSHOT_AGE = "history.expire.max-snapshot-age-ms"
MIN_SNAPSHOTS_TO_KEEP = "history.expire.min-snapshots-to-keep"
MAX_REF_AGE = "history.expire.max-ref-age-ms"
MANIFEST_TARGET_SIZE = "commit.manifest.target-size-bytes"
MIN_COUNT_TO_MERGE = "commit.manifest.min-count-to-merge"
MERGE_ENABLED = "commit.manifest-merge.enabled"
GC_ENABLED = "gc.enabled"

NULL_TEXT: Final = "null"
# Characters that could give two partitions the same text. "%" comes first, as it is the escape.
_ESCAPES: Final = {
    "%": "%25",
    "/": "%2F",
    "=": "%3D",
    "\n": "%0A",
    "\r": "%0D",
    "\t": "%09",
    "\x00": "%00",
}
_ESCAPED: Final = compile_regex(r"%[0-9A-F]{2}")
DEFAULT_TARGET_FILE_SIZE_BYTES = 512 * MIB  # Iceberg: write.target-file-size-bytes
DEFAULT_TARGET_DELETE_FILE_SIZE_BYTES = 64 * MIB  # Iceberg: write.delete.target-file-size-bytes
DEFAULT_TARGET_MANIFEST_SIZE_BYTES = 8 * MIB  # Iceberg: commit.manifest.target-size-bytes
SMALL_FILE_RATIO = 0.75  # Iceberg's planner: min-file-size-bytes = 0.75 x target
LARGE_FILE_RATIO = 1.80  # Iceberg's planner: max-file-size-bytes = 1.80 x target

# Upper bounds (exclusive) of the size histogram's bins, in bytes. One more bin is for larger
# files. The bins follow the classes of the published measurements: 16 KiB and 64 KiB (production
# HDFS), 1, 4, 16 and 32 MiB (degraded, acceptable, healthy), 10 MiB (tolerable on average).
HISTOGRAM_BOUNDS_BYTES: tuple[int, ...] = (
    16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 10 * MIB, 16 * MIB, 32 * MIB, 64 * MIB, 128 * MIB,
    256 * MIB, 512 * MIB, GIB,
)  # fmt: skip

# Increase this if the digest of the same manifest changes; then all manifests are read again.
DIGEST_VERSION = 5


def escape(text: str) -> str:
    """Escape separators inside a value, and the text "null", which means no value."""
    if text == NULL_TEXT:
        return "%6Eull"
    return "".join(_ESCAPES.get(character, character) for character in text)


def unescape(text: str) -> str:
    """The inverse of escape()."""
    return _ESCAPED.sub(lambda found: chr(int(found[0][1:], 16)), text)


def null_partition(spec: PartitionSpec) -> str:
    """The text of the partition with only null values; empty for a spec without fields."""
    return "/".join(
        f"{escape(field.name)}={NULL_TEXT}" for field in spec.fields if field.transform != "void"
    )


def read_partition(text: str, spec: PartitionSpec) -> dict[str, str | None] | None:
    """Field name to value, unescaped; None for null.

    None as a whole when the text does not fit the spec.
    """
    names = [field.name for field in spec.fields if field.transform != "void"]
    if not names:
        return None if text else {}
    parts = [part.partition("=") for part in text.split("/")]
    if [unescape(label) for label, _, _ in parts] != names or any(
        not separator for _, separator, _ in parts
    ):
        return None
    return {
        name: None if value == NULL_TEXT else unescape(value)
        for name, (_, _, value) in zip(names, parts, strict=True)
    }


def histogram_bin(size_bytes: int) -> int:
    """Index of the histogram bin for a file of this size."""
    return bisect_right(HISTOGRAM_BOUNDS_BYTES, size_bytes)


def has_present_bins(histogram: Sequence[int]) -> bool:
    """Say if a stored histogram has the bins of this version; an older one may have others."""
    return len(histogram) == len(HISTOGRAM_BOUNDS_BYTES) + 1


class Content(StrEnum):
    """The content of a file."""

    DATA = "data"
    POSITION_DELETES = "position_deletes"
    EQUALITY_DELETES = "equality_deletes"
    DELETION_VECTORS = "deletion_vectors"


class ManifestContent(StrEnum):
    """The content of a manifest."""

    DATA = "data"
    DELETES = "deletes"


@dataclass(frozen=True, slots=True)
class SizeClasses:
    """The bounds of small and large files for one table, in bytes, both exclusive."""

    target_bytes: int
    small_below_bytes: int
    large_above_bytes: int

    @classmethod
    def around(cls, target_bytes: int) -> SizeClasses:
        """Iceberg's bounds around a target file size, rounded toward zero as its planner does."""
        return cls(
            target_bytes, int(target_bytes * SMALL_FILE_RATIO), int(target_bytes * LARGE_FILE_RATIO)
        )


@dataclass(frozen=True, slots=True)
class PartitionField:
    """One field of a partition spec, with its source column."""

    name: str
    # in Iceberg's form: "identity", "bucket[16]", "truncate[4]", "year", "month", "day", "hour",
    # "void"
    transform: str
    column: tuple[
        str, ...
    ] = ()  # the column's current name, level by level; empty: the column was dropped
    type_name: str = ""  # the column's type in Iceberg's form: "timestamptz", "decimal(9, 2)"


@dataclass(frozen=True, slots=True)
class PartitionSpec:
    """A partition spec. A partition's text has one "name=value" for each field that is not void."""

    spec_id: int
    fields: tuple[PartitionField, ...]


@dataclass(frozen=True, slots=True)
class PartitionDigest:
    """One manifest's part of one (partition, content): counts that can be added up.

    Sizes are in bytes; for deletion vectors, the size of their content.
    """

    spec_id: int
    # "day=2026-01-01/bucket=3" with the spec's field names; "" when the spec has no fields
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
    newest_sequence_number: int | None = None  # None: unknown, as in format v1


@dataclass(frozen=True, slots=True)
class ManifestDigest:
    """The summary of one immutable manifest's live (added or existing) entries."""

    path: str
    length_bytes: int
    spec_id: int
    content: ManifestContent
    sequence_number: int
    partitions: tuple[PartitionDigest, ...] = ()
    histogram: tuple[int, ...] = ()  # data files only; len(HISTOGRAM_BOUNDS_BYTES) + 1 bins
    formats: tuple[tuple[str, int], ...] = ()  # ("parquet", 12): data files by format
    entries_read: int = 0
    # filelist.pack_files: all data files of a table with deletes, all delete files
    files: bytes = b""
    lists_files: bool = False  # True: `files` is complete; False: it was left out
    histogram_bytes: tuple[int, ...] = ()  # of the files in the histogram's bins
    # why the manifest list makes readers skip live entries of this manifest; empty: it does not
    list_fault: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One entry of the table's history."""

    snapshot_id: int
    parent_id: int | None
    sequence_number: int
    committed_at: datetime
    operation: str  # append | replace | overwrite | delete; "" when the summary has none
    summary: Mapping[str, str] = field(default_factory=dict)
    first_row_id: int | None = None  # None before format version 3
    added_rows: int | None = None  # row ids that the snapshot has assigned, from first_row_id on


@dataclass(frozen=True, slots=True)
class Ref:
    """A branch or a tag. Retention is in milliseconds, as in Iceberg; None: the table's default."""

    name: str
    snapshot_id: int
    is_branch: bool
    max_ref_age_ms: int | None = None
    max_snapshot_age_ms: int | None = None
    min_snapshots_to_keep: int | None = None


@dataclass(frozen=True, slots=True)
class StatisticsFile:
    """A statistics file of one snapshot: of the table (Puffin) or of its partitions."""

    snapshot_id: int
    path: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A piece of metadata that could not be read: a fact about the table, not a crash."""

    path: str
    reason: str
    of_snapshot: int | None = (
        # the snapshot of this manifest list, without which its files are unknown
        None
    )


@dataclass(frozen=True, slots=True)
class TableInventory:
    """All metadata that health needs, at the table's current snapshot."""

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
    manifests: Sequence[ManifestDigest]  # digests of a very large table are unpacked one at a time
    read_at: datetime
    unreadable: tuple[Unreadable, ...] = ()
    paths: tuple[str, ...] = ()  # directories under all their names; empty: as spelled
    # metadata.json files: this file and the files in its metadata-log; None: not read
    metadata_files: int | None = None
    listed_files: int | None = (
        # live entries (added and existing) of the manifests by the manifest list; None: unknown
        None
    )
    specs: tuple[PartitionSpec, ...] = ()
    statistics: tuple[StatisticsFile, ...] = ()
    partition_statistics: tuple[StatisticsFile, ...] = ()
    sort_order: str = ""  # the fields of the sort order as in the metadata; empty: not sorted
    next_row_id: int | None = None  # above all row ids assigned so far; None before format v3
    columns: int | None = None  # of the current schema, without lists and maps; None: unknown
    column_types: ColumnTypes | None = None  # None: unknown, or too many


class FaultKind(StrEnum):
    """Why a listed name has no inventory."""

    VIEW = "view"
    DROPPED = "dropped"  # removed between listing and reading
    METADATA_MISSING = "metadata_missing"
    METADATA_CORRUPT = "metadata_corrupt"
    CATALOG_UNAVAILABLE = "catalog_unavailable"
    ACCESS_DENIED = "access_denied"
    UNSUPPORTED = "unsupported"  # not an Iceberg table, or an unknown format version
    FAILED = "failed"  # reading or measuring took too long, or failed because of a bug


@dataclass(frozen=True, slots=True)
class TableFault:
    """A listed name that cannot be measured, with the reason as a sentence."""

    table: TableIdentifier
    kind: FaultKind
    reason: str
    seen_at: datetime


@dataclass(frozen=True, slots=True)
class CatalogFault:
    """A catalog, or one of its namespaces, that could not be listed."""

    catalog: str
    namespace: tuple[str, ...]
    reason: str
    seen_at: datetime
