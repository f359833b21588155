"""The result of rewrite_data_files: Iceberg's selection and grouping, computed from health.

Sources: Iceberg 1.12's SizeBasedFileRewritePlanner, BinPackRewriteFilePlanner and
SparkShufflingDataRewritePlanner; tests/conformance compares it with Spark.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from maintainer.domain.health import PartitionHealth, PartitionKey, TableHealth
from maintainer.domain.inventory import (
    LARGE_FILE_RATIO,
    SMALL_FILE_RATIO,
    null_partition,
)
from maintainer.domain.plan import Estimate
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.domain.units import GIB, MIB, read_whole
from maintainer.estimate.file_groups import (
    GroupLimits,
    find_common_deletes,
    is_order_known,
    split,
    widen,
)
from maintainer.estimate.file_selection import (
    Bounds,
    Candidates,
    find_candidates,
    may_have_candidates,
    merge_candidates,
)
from maintainer.estimate.filters.partition_filter import PartitionFilter, Taken
from maintainer.estimate.output_files import (
    Count,
    OutputSizes,
    count_packed,
    count_partitions,
    count_scattered,
    count_sorted,
)

DEFAULT_MIN_INPUT_FILES = 5  # Iceberg: min-input-files
DEFAULT_MAX_GROUP_BYTES = 100 * GIB  # Iceberg: max-file-group-size-bytes
DEFAULT_DELETE_RATIO = 0.3  # Iceberg: delete-ratio-threshold
DEFAULT_ROW_GROUP_BYTES = 128 * MIB  # Iceberg: write.parquet.row-group-size-bytes
_NO_THRESHOLD = 2**31 - 1  # Iceberg: delete-file-threshold


@dataclass(frozen=True, slots=True)
class PlannerOptions:
    """The options of rewrite_data_files, as in Iceberg's planner."""

    sizes: OutputSizes
    bounds: Bounds
    min_input_files: int
    max_group_bytes: int
    max_group_files: int | None
    output_spec_id: int
    max_files: int | None
    is_sort: bool
    compression: float
    filter: PartitionFilter = field(default_factory=PartitionFilter)

    @property
    def limits(self) -> GroupLimits:
        """The limits on a group, and from which number of files Iceberg takes one."""
        return GroupLimits(
            self.max_group_bytes,
            self.max_group_files,
            self.min_input_files,
            self.sizes.large_above,
            self.bounds.takes_all,
        )

    @classmethod
    def read(
        cls,
        health: TableHealth,
        rule: RewriteDataFilesRule,
        now: datetime | None = None,
        options: Mapping[str, str] | None = None,
    ) -> PlannerOptions:
        """Read the options of the job, else the table's properties, else Iceberg's defaults.

        Without `options`, the rule's options count. Without `now`, conditions on today cannot
        be evaluated.
        """
        options = dict(rule.options) if options is None else options
        target = int(options.get("target-file-size-bytes", health.target_file_size_bytes))
        small_below = int(options.get("min-file-size-bytes", int(target * SMALL_FILE_RATIO)))
        large_above = int(options.get("max-file-size-bytes", int(target * LARGE_FILE_RATIO)))
        chunk = read_whole(health.properties.get("write.parquet.row-group-size-bytes", ""))
        most_files, most_in_group = (
            options.get("max-files-to-rewrite"),
            options.get("max-file-group-input-files"),
        )
        return cls(
            sizes=OutputSizes(target, small_below, large_above, chunk or DEFAULT_ROW_GROUP_BYTES),
            bounds=Bounds(
                takes_all=options.get("rewrite-all", "false") == "true",
                small_below=small_below,
                large_above=large_above,
                delete_files=int(options.get("delete-file-threshold", _NO_THRESHOLD)),
                delete_ratio=float(options.get("delete-ratio-threshold", DEFAULT_DELETE_RATIO)),
                are_measured=(small_below, large_above)
                == (
                    int(health.target_file_size_bytes * SMALL_FILE_RATIO),
                    int(health.target_file_size_bytes * LARGE_FILE_RATIO),
                ),
            ),
            min_input_files=int(options.get("min-input-files", DEFAULT_MIN_INPUT_FILES)),
            max_group_bytes=int(options.get("max-file-group-size-bytes", DEFAULT_MAX_GROUP_BYTES)),
            max_group_files=int(most_in_group) if most_in_group is not None else None,
            output_spec_id=int(options.get("output-spec-id", health.default_spec_id)),
            max_files=int(most_files) if most_files is not None else None,
            is_sort=rule.strategy == "sort",
            compression=float(options.get("compression-factor", "1")),
            filter=PartitionFilter.read(rule.where, now, health.specs),
        )


@dataclass(frozen=True, slots=True)
class FileGroup:
    """Files that the planner rewrites together."""

    partitions: tuple[PartitionKey, ...]  # the partitions of the files
    files: int
    bytes: int
    outputs: Count
    deleted_files: int  # files that are taken because of their deletes
    uncertain_files: (
        int  # files that may or may not belong to the group, because only runs of sizes are known
    )
    is_scattered: bool = False  # True: the group is written to several partitions
    is_cut: bool = False  # True: the policy's filter may exclude some or all of its files
    # True: the group may not be taken, because it depends on which files are in it
    is_doubtful: bool = False
    is_weighed: bool = False  # True: the number of outputs depends on which deletes apply to a file
    may_be_empty: bool = False  # True: the deletes may leave no row of some of the outputs

    @property
    def removed(self) -> int:
        """The reduction in files; 0 if there would be more files."""
        return max(0, self.files - self.outputs.expected)

    @property
    def gains(self) -> bool:
        """True when its rewrite removes files or applies deletes."""
        return bool(self.removed or self.deleted_files)

    @property
    def error(self) -> int:
        """The error bound of the output files, and so of `removed`."""
        known = (
            max(
                self.outputs.expected - self.outputs.least,
                self.outputs.most - self.outputs.expected,
            )
            + self.uncertain_files
        )
        return max(known, self.removed) if self.is_cut or self.is_doubtful else known


def plan_groups(
    health: TableHealth, options: PlannerOptions, within: Collection[PartitionKey] | None = None
) -> list[FileGroup]:
    """The groups that Iceberg would rewrite, of the whole table or of some partitions.

    They are in the order of the table's partitions.
    """
    grouped: dict[str | None, list[tuple[PartitionHealth, Candidates]]] = defaultdict(list)
    specs = {spec.spec_id: spec for spec in health.specs}
    current = specs.get(health.default_spec_id)
    common = find_common_deletes(health)
    # Files of all other specs are in the group of the partition without values, because Iceberg
    # does not know their partitions before it reads them.
    null_text = null_partition(current) if current is not None else None
    for partition in health.partitions:
        is_meant = within is None or (partition.spec_id, partition.partition) in within
        if (
            is_meant
            and may_have_candidates(partition, options.bounds)
            and is_taken(partition, options)
        ):
            candidates = find_candidates(partition, options.bounds, common)
            if candidates.files.count:
                grouped[
                    partition.partition
                    if partition.spec_id == health.default_spec_id
                    else null_text
                ].append((partition, candidates))
    has_order = is_order_known(health)
    count = partial(_count_outputs, health, options, is_order_known=has_order)
    return [
        FileGroup(
            partitions,
            part.files.count,
            part.files.bytes,
            widen(count(partitions, part), reach, options.sizes.target),
            part.deleted,
            part.uncertain,
            _is_scattered(partitions, options),
            _is_cut(partitions, options),
            is_doubtful,
            bool(part.deletes.most) and not part.deletes.is_known,
            bool(part.depleted),
        )
        for found in grouped.values()
        for partitions, taken in [_merge(found)]
        for part, reach, is_doubtful in split(taken, options.limits, is_order_known=has_order)
        if options.bounds.takes_all
        or part.deleted
        or is_doubtful
        or is_worth_rewriting(part.files.count, part.files.bytes, options)
    ]


def is_taken(partition: PartitionHealth, options: PlannerOptions) -> bool:
    """False when the policy's own filter excludes the whole partition."""
    return options.filter.take(partition.spec_id, partition.partition) is not Taken.NONE


def _is_cut(partitions: Iterable[PartitionKey], options: PlannerOptions) -> bool:
    return any(
        options.filter.take(spec_id, partition) is Taken.SOME for spec_id, partition in partitions
    )


def is_worth_rewriting(files: int, size: int, options: PlannerOptions) -> bool:
    """True when Iceberg rewrites a group of this many files and bytes.

    No file in it has too many deletes.
    """
    has_enough_files = files > 1 and files >= options.min_input_files
    has_enough_content = files > 1 and size > options.sizes.target
    has_too_much_content = size > options.sizes.large_above
    return has_enough_files or has_enough_content or has_too_much_content


def _merge(
    found: Sequence[tuple[PartitionHealth, Candidates]],
) -> tuple[tuple[PartitionKey, ...], Candidates]:
    return tuple(
        (partition.spec_id, partition.partition) for partition, _ in found
    ), merge_candidates([candidates for _, candidates in found])


def _is_scattered(partitions: Sequence[PartitionKey], options: PlannerOptions) -> bool:
    """True if the group is read from one partition and written to several."""
    return len(partitions) > 1 or partitions[0][0] != options.output_spec_id


def _count_outputs(
    health: TableHealth,
    options: PlannerOptions,
    partitions: Sequence[PartitionKey],
    taken: Candidates,
    *,
    is_order_known: bool,
) -> Count:
    if taken.emptied >= taken.files.count:
        return Count.exactly(0)
    outputs = _count_written(health, options, partitions, taken, is_order_known=is_order_known)
    if not taken.depleted:
        return outputs
    # A task writes nothing when its files have lost all rows.
    # Of several groups, one may have these files alone.
    return Count(outputs.expected, int(taken.depleted < taken.files.count), outputs.most)


def _count_written(
    health: TableHealth,
    options: PlannerOptions,
    partitions: Sequence[PartitionKey],
    taken: Candidates,
    *,
    is_order_known: bool,
) -> Count:
    files = taken.files
    if options.is_sort:
        return count_sorted(files.bytes, options.sizes, options.compression)
    packed = count_packed(files, options.sizes, taken.deletes, is_order_known=is_order_known)
    specs = {spec.spec_id: spec for spec in health.specs}
    output = specs.get(options.output_spec_id)
    if not _is_scattered(partitions, options) or output is None or not null_partition(output):
        return packed
    known = count_partitions(partitions, specs, output)
    there = sum(partition.spec_id == options.output_spec_id for partition in health.partitions)
    return count_scattered(packed, known, max(1, there), files.count)


def estimate_rewrite_data_files(
    health: TableHealth,
    rule: RewriteDataFilesRule,
    within: Collection[PartitionKey] | None = None,
    now: datetime | None = None,
) -> Estimate:
    """Files in and out by the planner's rules, of the whole table or of some partitions.

    `now` is the date for the filter.
    """
    options = PlannerOptions.read(health, rule, now)
    return estimate_groups(plan_groups(health, options, within), options.max_files)


def estimate_groups(groups: Sequence[FileGroup], max_files: int | None = None) -> Estimate:
    """Files in and out of these groups, or of their first files.

    items_removed counts only groups with a reduction.
    """
    taken = list(take_groups(groups, max_files))
    removed = sum(group.removed for group in taken)
    error = sum(group.error for group in taken)
    if len(taken) < len(groups) or any(
        group.files != whole.files for group, whole in zip(taken, groups, strict=False)
    ):
        error = max(error, removed, sum(group.files for group in taken) - len(taken) - removed)
    return Estimate(
        items_before=sum(group.files for group in taken),
        items_after=sum(group.outputs.expected for group in taken),
        items_removed=removed,
        bytes_rewritten=sum(group.bytes for group in taken),
        partitions=len(taken),
        note=_explain_error(taken, groups),
        error_bound=error,
        files_with_deletes=sum(group.deleted_files for group in taken),
    )


def take_groups(groups: Iterable[FileGroup], most: int | None) -> Iterator[FileGroup]:
    """The first groups up to this many files. The last group may be taken in part."""
    left = most
    for group in groups:
        if left is None:
            yield group
        elif left:
            files = min(left, group.files)
            left -= files
            share = files / group.files
            outputs = Count(max(1, round(group.outputs.expected * share)), 1, group.outputs.most)
            part = replace(
                group,
                files=files,
                bytes=round(group.bytes * share),
                outputs=outputs,
                deleted_files=min(files, group.deleted_files),
            )
            yield group if share == 1 else part


def _explain_error(taken: Sequence[FileGroup], groups: Sequence[FileGroup]) -> str:
    reasons: Mapping[str, bool] = {
        "an upper bound: of some partitions the filter may take no files, or not all": any(
            group.is_cut for group in taken
        ),
        "which of many groups Iceberg takes first depends on its hash map": len(taken)
        < len(groups),
        "files of another spec may fall into more partitions than are known": any(
            group.is_scattered for group in taken
        ),
        "only classes of file sizes are known in large partitions": any(
            group.uncertain_files for group in taken
        ),
        (
            "how many files a group becomes depends on row groups and on the order in which "
            "Spark reads them"
        ): any(
            group.outputs.expected < group.outputs.most
            or (group.outputs.least < group.outputs.expected and not group.may_be_empty)
            for group in taken
        ),
        "the deletes may leave no row, and then no file": any(
            group.may_be_empty and group.outputs.least < group.outputs.expected for group in taken
        ),
        "Spark reads the deletes too, and which of them apply to a file is not known exactly": any(
            group.is_weighed and group.outputs.least < group.outputs.most for group in taken
        ),
        (
            "an upper bound: a partition has several groups, and which files are in a group, and "
            "so whether Iceberg takes it, is unknown"
        ): any(group.is_doubtful for group in taken),
    }
    return "; ".join(reason for reason, applies in reasons.items() if applies)
