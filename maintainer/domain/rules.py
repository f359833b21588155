"""The rules of a policy, one type for each procedure.

A field is defined here and used in decide or estimate; nothing else names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from maintainer.domain.effect import Quantity
from maintainer.domain.metric import Metric, Threshold
from maintainer.domain.policy import Approval, ImportedFiles, Rule, RuleName
from maintainer.domain.rule_field import (
    Choice,
    Condition,
    Count,
    Direction,
    Duration,
    FilesOnly,
    Member,
    Names,
    RuleField,
    Size,
    Text,
    fields_of,
    rule_field,
    timeout_field,
)
from maintainer.domain.sort_order import is_sort_order
from maintainer.domain.units import MIB, parse_duration

OTHER_TIMEOUT = timedelta(hours=6)  # of jobs without a rule
MAXIMUM_TEXT_CHARACTERS = 500
MAXIMUM_COLUMNS = 1_000
MIN_SNAPSHOTS_KEPT = 2
_EXPIRY_AGE = Duration("24h", is_floor=True)
_ORPHAN_AGE = Duration("3d", is_floor=True)
_SHOWN_CHARACTERS = 100  # of a value in a message
MIN_EXPIRE_AGE = parse_duration(_EXPIRY_AGE.least)
MIN_ORPHAN_AGE = parse_duration(_ORPHAN_AGE.least)


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteRule(Rule):
    """The fields of every rewrite."""

    quiet_period: timedelta | None = rule_field(
        None,
        Duration("0s", "365d"),
        "The rule waits until others have committed nothing for this long; 0s: no wait",
        unset="15m without a deletion or an update for the data files of a table without "
        "partitions and without a window, else never",
    )
    wait_for_quiet: timedelta = rule_field(
        timedelta(days=1),
        Duration("1m", "365d"),
        "The longest wait for a quiet period, in the table or in its hot partitions; then the "
        "rule runs anyway, and can make a MERGE fail",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteDataFilesRule(RewriteRule):
    """Compact data files with Iceberg's rewrite_data_files."""

    name = RuleName.REWRITE_DATA_FILES
    removes = Quantity.FILES_REMOVED
    replaces_data_files = True
    discards_files = True
    metrics = (
        Metric.AVERAGE_FILE_SIZE_BYTES,
        Metric.SMALL_FILE_COUNT,
        Metric.SMALL_FILE_RATIO,
        Metric.POSITION_DELETE_FILE_COUNT,
        Metric.EQUALITY_DELETE_FILE_COUNT,
        Metric.DELETION_VECTOR_COUNT,
        Metric.DELETE_RATIO,
        Metric.DELETE_FILE_RATIO,
    )
    built_in = (Threshold(Metric.AVERAGE_FILE_SIZE_BYTES, 32.0 * MIB),)

    timeout: timedelta = timeout_field(hours=12)
    where: str | None = rule_field(
        None,
        Condition(),
        "Only files that may contain matching rows, as a Spark SQL condition on the table's "
        "columns",
        unset="all files",
    )
    strategy: str = rule_field(
        "binpack",
        Choice(("binpack", "sort")),
        "How rows are laid out",
        unset="binpack, or sort when sort_order is given",
    )
    sort_order: str | None = rule_field(
        None,
        Text(MAXIMUM_TEXT_CHARACTERS),
        "Columns to sort by, like `id DESC NULLS LAST, name` or `zorder(a, b)`; with strategy sort",
        unset="the table's own",
    )
    hot_partition_age: timedelta = rule_field(
        timedelta(minutes=15),
        Duration("0s", "365d"),
        "Partitions that were written to within this time are left out; 0s leaves out none, and "
        "can make a MERGE fail",
    )
    max_bytes_per_job: int | None = rule_field(
        None,
        Size("1MiB", "1000PiB"),
        "One job rewrites the partitions with the most to gain, up to this size; later jobs "
        "rewrite the others",
        unset="all in one job",
    )
    # With 4, a tier's files are an eighth of those of the next one: at most some 30 files wait.
    max_rewrites_per_byte: int | None = rule_field(
        None,
        Count(1),
        "Small files wait until as many have gathered that each byte is rewritten at most this "
        "often until its file has its final size; more rewrites keep fewer small files",
        unset="no bound, and nothing waits",
    )

    @classmethod
    def find_conflict(cls, written: Mapping[str, object]) -> str | None:
        """Iceberg refuses a sort order that it cannot read, and one with binpack."""
        order = written.get("sort_order")
        if isinstance(order, str) and not is_sort_order(order):
            return (
                f"has the sort_order {order[:_SHOWN_CHARACTERS]!r}, which is none; write columns "
                f"like id DESC NULLS LAST, name or zorder(a, b)"
            )
        if written.get("sort_order") is not None and written.get("strategy") == "binpack":
            return "has a sort_order with strategy binpack; a sort_order needs strategy sort"
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class RewritePositionDeleteFilesRule(RewriteRule):
    """Compact position delete files with Iceberg's rewrite_position_delete_files.

    In format version 3 they become deletion vectors.
    """

    name = RuleName.REWRITE_POSITION_DELETE_FILES
    removes = Quantity.DELETE_FILES_REMOVED
    discards_files = True
    metrics = (
        Metric.POSITION_DELETE_FILE_COUNT,
        Metric.DANGLING_DELETE_FILE_COUNT,
        Metric.DELETE_FILE_RATIO,
    )
    built_in = (Threshold(Metric.DANGLING_DELETE_FILE_COUNT, 5.0),)

    where: str | None = rule_field(
        None,
        Condition(),
        "Only deletes of files that may contain matching rows, as a Spark SQL condition on the "
        "table's columns",
        unset="all files",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteManifestsRule(RewriteRule):
    """Regroup manifests with Iceberg's rewrite_manifests."""

    name = RuleName.REWRITE_MANIFESTS
    removes = Quantity.MANIFESTS_REMOVED
    metrics = (Metric.MANIFEST_COUNT, Metric.MANIFEST_EXCESS)
    built_in = (Threshold(Metric.MANIFEST_COUNT, 100.0),)

    timeout: timedelta = timeout_field(hours=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeTableStatsRule(Rule):
    """Count the distinct values of columns with Iceberg's compute_table_stats; it reads the whole
    table.
    """

    name = RuleName.COMPUTE_TABLE_STATS

    every: timedelta | None = rule_field(timedelta(days=7), Duration("1h"), "How often")
    columns: tuple[str, ...] = rule_field(
        (), Names(MAXIMUM_COLUMNS), "Only these columns", unset="all columns"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputePartitionStatsRule(Rule):
    """Sum up each partition's files, bytes and rows with Iceberg's compute_partition_stats."""

    name = RuleName.COMPUTE_PARTITION_STATS

    timeout: timedelta = timeout_field(hours=2)
    # only new manifests are read, not the whole table
    every: timedelta | None = rule_field(timedelta(days=1), Duration("1h"), "How often")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpireSnapshotsRule(Rule):
    """Expire old snapshots with Iceberg's expire_snapshots, and delete the files only they use."""

    name = RuleName.EXPIRE_SNAPSHOTS
    removes = Quantity.SNAPSHOTS_REMOVED
    discards_files = True
    depends_on_age = True
    metrics = (
        Metric.SNAPSHOT_COUNT,
        Metric.OLDEST_SNAPSHOT_AGE_SECONDS,
        Metric.LIVE_FILE_RATIO,
        Metric.METADATA_SIZE_BYTES,
    )
    built_in = (Threshold(Metric.SNAPSHOT_COUNT, 100.0),)

    max_age: timedelta = rule_field(
        timedelta(days=5),  # Iceberg: history.expire.max-snapshot-age-ms
        _EXPIRY_AGE,
        "Snapshots older than this may expire",
        direction=Direction.UP,
    )
    keep: int = rule_field(
        10, Count(MIN_SNAPSHOTS_KEPT), "Snapshots kept at any age", direction=Direction.UP
    )
    staged_max_age: timedelta = rule_field(
        timedelta(days=14),  # people need time to review a staged snapshot
        _EXPIRY_AGE,
        "Staged snapshots (wap.id) that are not published yet may expire when they are older than "
        "this",
        direction=Direction.UP,
    )
    max_snapshots_per_job: int = rule_field(
        5_000,  # a driver ran out of memory in a job that expired 70,000
        Count(1),
        "One job expires the oldest snapshots, up to this number; later jobs expire the others",
    )
    imported_files: ImportedFiles = rule_field(
        ImportedFiles.KEEP,
        Member(ImportedFiles),
        "Tables that migrate or add_files gave files to: keep refuses expiry, because another "
        "table may still read the files; delete lets them go like the table's own",
        files_only=FilesOnly(
            ImportedFiles.DELETE,
            "only a policy file allows deleting files that the table took over from another",
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveOrphanFilesRule(Rule):
    """Find files that no snapshot references with a dry run of Iceberg's remove_orphan_files.

    Only approved files are removed.
    """

    name = RuleName.REMOVE_ORPHAN_FILES
    depends_on_age = True

    timeout: timedelta = timeout_field(hours=12)
    every: timedelta | None = rule_field(
        timedelta(days=7), Duration("1h"), "The interval of orphan scans"
    )
    older_than: timedelta = rule_field(
        timedelta(days=7), _ORPHAN_AGE, "Only files older than this", direction=Direction.UP
    )
    approval: Approval = rule_field(
        Approval.REQUIRED,
        Member(Approval),
        "Whether a person must approve a list before its files are removed",
        files_only=FilesOnly(Approval.AUTOMATIC, "a table's writer cannot switch the approval off"),
    )
    quarantine: timedelta = rule_field(
        timedelta(days=7),
        Duration("1h", "365d", has_off=True),
        "How long approved files stay in quarantine, where they can be restored, before they are "
        "deleted",
        direction=Direction.UP,
    )


RULES: Mapping[str, type[Rule]] = {
    kind.name: kind
    for kind in (
        RewriteDataFilesRule,
        RewritePositionDeleteFilesRule,
        RewriteManifestsRule,
        ComputeTableStatsRule,
        ComputePartitionStatsRule,
        ExpireSnapshotsRule,
        RemoveOrphanFilesRule,
    )
}


def find_field(path: str) -> RuleField | None:
    """The field at a setting's path, ``rules.<rule>.<key>``; None for any other path."""
    top, _, rest = path.partition(".")
    name, _, key = rest.partition(".")
    rule = RULES.get(name) if top == "rules" else None
    return next((found for found in fields_of(rule) if found.key == key), None) if rule else None
