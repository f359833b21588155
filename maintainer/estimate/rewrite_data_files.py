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

from maintainer.domain.file_sizes import FileSizes
from maintainer.domain.health import PartitionHealth, PartitionKey, TableHealth
from maintainer.domain.inventory import (
    LARGE_FILE_RATIO,
    SMALL_FILE_RATIO,
    ManifestContent,
    null_partition,
)
from maintainer.domain.plan import Estimate
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.domain.units import GIB, MIB, read_whole
from maintainer.estimate.file_selection import (
    Bounds,
    Candidates,
    DeleteBytes,
    find_candidates,
    may_have_candidates,
    merge_candidates,
    pack_positions,
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
_MOST_GROUPS = 4096  # per partition: 400 TiB with Iceberg's default
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
    common = _find_common_deletes(health)
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
    is_order_known = _is_order_known(health)
    count = partial(_count_outputs, health, options, is_order_known=is_order_known)
    return [
        FileGroup(
            partitions,
            part.files.count,
            part.files.bytes,
            _widen(count(partitions, part), reach, options),
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
        for part, reach, is_doubtful in _split(taken, options, is_order_known=is_order_known)
        if options.bounds.takes_all
        or part.deleted
        or is_doubtful
        or is_worth_rewriting(part.files.count, part.files.bytes, options)
    ]


def _find_common_deletes(health: TableHealth) -> DeleteBytes:
    """The equality deletes of a spec without partitions, which apply to all partitions."""
    size = sum(
        partition.equality_delete_bytes
        for partition in health.partitions
        if not partition.partition
    )
    return DeleteBytes((), size, size, is_known=not size)


def is_taken(partition: PartitionHealth, options: PlannerOptions) -> bool:
    """False when the policy's own filter excludes the whole partition."""
    return options.filter.take(partition.spec_id, partition.partition) is not Taken.NONE


def _is_cut(partitions: Iterable[PartitionKey], options: PlannerOptions) -> bool:
    return any(
        options.filter.take(spec_id, partition) is Taken.SOME for spec_id, partition in partitions
    )


def _is_order_known(health: TableHealth) -> bool:
    """False for several manifests.

    Iceberg reads them in parallel, so the order of their files varies.
    """
    return (
        sum(
            group.count for group in health.manifest_groups if group.content is ManifestContent.DATA
        )
        == 1
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


def _split(
    taken: Candidates, options: PlannerOptions, *, is_order_known: bool
) -> Iterator[tuple[Candidates, int, bool]]:
    """Split into groups within the limits on bytes and files.

    Where it is unknown which files are in a group, it comes with the most bytes that it may have,
    and with True if Iceberg may not take it.
    """
    files, most = taken.files, options.max_group_files
    if files.bytes <= options.max_group_bytes and (most is None or files.count <= most):
        yield taken, 0, False
        return
    parts = (
        [
            _pick(taken, positions)
            for positions in pack_positions(
                files.listed, options.max_group_bytes, 1, most_items=most
            )
        ]
        if files.listed
        else list(_spread(taken, options))
    )
    is_known = is_order_known and bool(files.listed) and taken.marked is not None
    for position, part in enumerate(parts):
        is_last = position == len(parts) - 1
        yield (
            part,
            0 if is_known else _reach(files, part.files.count, options),
            not (is_known or _is_surely_taken(taken, part, options, is_last=is_last)),
        )


def _reach(files: FileSizes, count: int, options: PlannerOptions) -> int:
    """The most bytes of a group of this many of the files."""
    if files.runs:
        return options.max_group_bytes
    heaviest = sum(sorted(files.listed)[-count:])
    return min(heaviest, max(options.max_group_bytes, *files.listed))


def _widen(outputs: Count, reach: int, options: PlannerOptions) -> Count:
    """The bounds of a group that may have this many bytes; 0 if its files are known."""
    if reach <= options.sizes.target:
        return outputs
    most = 2 * reach // options.sizes.target + 1
    return Count(outputs.expected, min(1, outputs.least), max(outputs.most, most))


def _is_surely_taken(
    whole: Candidates, part: Candidates, options: PlannerOptions, *, is_last: bool
) -> bool:
    """True when Iceberg takes the group, however the files are divided among the groups."""
    if options.bounds.takes_all:
        return True
    enough = max(2, options.min_input_files)
    if whole.files.bytes <= options.max_group_bytes:  # only the number of files divides them
        return part.files.count >= enough
    largest = max((*whole.files.listed, *(run.largest for run in whole.files.runs)))
    return (
        not is_last
        and options.max_group_bytes - largest > options.sizes.large_above
        and (options.max_group_files is None or options.max_group_files >= enough)
    )


def _pick(taken: Candidates, positions: Sequence[int]) -> Candidates:
    """One group of the listed files."""
    weights = tuple(taken.deletes.listed[at] for at in positions) if taken.deletes.listed else ()
    marked = (
        frozenset(new for new, at in enumerate(positions) if at in taken.marked)
        if taken.marked is not None
        else None
    )
    return replace(
        taken,
        files=FileSizes(tuple(taken.files.listed[at] for at in positions)),
        deleted=len(marked) if marked is not None else min(taken.deleted, len(positions)),
        uncertain=min(taken.uncertain, len(positions)),
        emptied=min(taken.emptied, len(positions)) if taken.emptied == taken.files.count else 0,
        deletes=replace(taken.deletes, listed=weights, expected=sum(weights)),
        marked=marked,
    )


def _spread(taken: Candidates, options: PlannerOptions) -> Iterator[Candidates]:
    """Groups with equal shares of all runs, because the order of files in runs is unknown."""
    files, most = taken.files, options.max_group_files
    number = max(
        -(-files.bytes // options.max_group_bytes),
        -(-files.count // most) if most is not None else 1,
    )
    number = min(number, files.count, _MOST_GROUPS)
    for position in range(number):
        share = _share(files, number, position)
        yield replace(
            taken,
            files=share,
            deleted=min(taken.deleted, share.count),
            uncertain=min(taken.uncertain, share.count),
            emptied=share.count if taken.emptied == files.count else 0,
            deletes=replace(
                taken.deletes, expected=taken.deletes.expected * share.count // files.count
            ),
        )


def _share(files: FileSizes, number: int, position: int) -> FileSizes:
    """Take one of `number` files, counted through all runs, so that no group is empty."""
    runs = []
    before = number - 1 - position
    for run in files.runs:
        count = (before + run.files) // number - before // number
        before += run.files
        if count:
            runs.append(run._replace(files=count, bytes=run.bytes * count // run.files))
    return FileSizes(runs=tuple(runs))


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
