"""The chapter of rewrite_data_files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from maintainer.domain.action import Procedure, RewriteDataFiles
from maintainer.domain.condition import join_conditions
from maintainer.domain.condition_tokens import quote_text
from maintainer.domain.cost import Benefit
from maintainer.domain.effect import Effect, Measurement
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.health import TableHealth
from maintainer.domain.option import options_of_strategy
from maintainer.domain.plan import Estimate, RuleHistory, SkipCode
from maintainer.domain.policy import Rule
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.domain.sort_order import find_columns
from maintainer.domain.units import GIB, format_count, format_number, format_size
from maintainer.estimate.cost import DELETE_WEIGHT, FILE_WEIGHT, publish_compaction
from maintainer.estimate.floors import Refusal, refuse_mistyped, refuse_wrong_summaries
from maintainer.estimate.rewrite_data_files import PlannerOptions, is_taken
from maintainer.procedures.call import read_options, write_clauses, write_map
from maintainer.procedures.memory import Need, weigh_files, weigh_position_deletes
from maintainer.procedures.procedure import (
    Argument,
    Chapter,
    Gain,
    KnownFault,
    Removed,
    Result,
    Situation,
    has_row_lineage,
)
from maintainer.procedures.rewrite_data_files.limits import (
    FIRST_PACE,
    MOST_FILES,
    PARTIAL_PROGRESS,
    JobBounds,
    fit_deletes,
    limit_between_commits,
    limit_to_a_day,
    shrink_groups,
    weigh_deletes,
)
from maintainer.procedures.rewrite_data_files.prediction import predict_rewrite
from maintainer.procedures.rewrite_data_files.selection import Selection, select_groups
from maintainer.procedures.rewrite_data_files.tiers import choose_tier, wait_for_tier

# A small rewrite commits once, at its end. If it is cancelled or fails, the table does not change.
# A large rewrite commits in parts, because a conflict would lose all its work. At 2 MB/s,
# the pace published for a small executor, 1 GiB takes about nine minutes.
PARTIAL_PROGRESS_ABOVE_BYTES = GIB
_PARTIAL_PROGRESS = {"partial-progress.enabled": "true", "partial-progress.max-commits": "10"}
_TOLERATED_COMMITS = 3  # commits of a rewrite in parts that may fail
_AT_ONCE = {"partial-progress.enabled": "false"}
_SORT = "sort"
_SORT_SHARE = 0.1  # of the sorted bytes in memory; the rest is spilled to disk
_SHOWN_CHARACTERS = 40
_STRATEGIES = ("binpack", _SORT)


def _drops_equality_deletes(rule: Rule, health: TableHealth) -> bool:
    return dict(rule.options).get("remove-dangling-deletes") == "true" and bool(
        health.equality_delete_files
    )


class RewriteDataFilesChapter(Chapter[RewriteDataFilesRule, RewriteDataFiles]):
    """Rewrites small data files, and those with many deletes, to files of the target size."""

    rule = RewriteDataFilesRule
    doing = "Compacting data files"
    first_pace = FIRST_PACE
    items = "data files"
    replaced_figure = "deleted-data-files"
    faults = (
        KnownFault(
            (1, 10, 0),
            "a rewrite loses the row lineage of a table in format version 3",
            has_row_lineage,  # Spark keeps it since 1.10
        ),
        KnownFault(
            (1, 12, 0),
            "remove-dangling-deletes drops equality deletes that files of another partition spec "
            "need",
            _drops_equality_deletes,  # apache/iceberg 15727
        ),
    )

    def refuse(
        self,
        rule: RewriteDataFilesRule,
        health: TableHealth,
        situation: Situation,
    ) -> Refusal | None:
        unfit = refuse_wrong_summaries(health) or refuse_mistyped(rule.where, health)
        if unfit is not None:
            return unfit
        if rule.strategy == _SORT and rule.sort_order is None and health.sort_order == "":
            return Refusal(
                SkipCode.UNSUPPORTED,
                "strategy sort without a sort_order uses the table's own sort order, and the "
                "table has none",
            )
        unknown = _find_unknown_spec(rule, health) or _find_missing_column(rule, health)
        return Refusal(SkipCode.UNSUPPORTED, unknown) if unknown is not None else None

    def find_gain(
        self, rule: RewriteDataFilesRule, health: TableHealth, situation: Situation
    ) -> Gain:
        bounds, now = find_bounds(rule, health, situation), situation.now
        bounds = wait_for_tier(bounds, choose_tier(rule, health, now, bounds))
        selection = select_groups(rule, health, now, bounds)
        action = _write_rewrite(rule, bounds.fit.options, situation.target_bytes, selection)
        estimate = selection.estimate
        if selection.code is not None:
            return Gain(
                action,
                estimate,
                is_worthwhile=False,
                sentence=selection.sentence,
                next_at=selection.next_at,
                code=selection.code,
            )
        if not selection.is_worthwhile:
            sentence = _explain_no_files(rule, bounds.fit.options, health, now)
            return Gain(action, estimate, is_worthwhile=False, sentence=sentence)
        sentence = (
            f"{estimate.items_before:,} files in {format_count(estimate.partitions, 'group')} "
            f"would become {estimate.items_after:,}"
        )
        if estimate.files_with_deletes:
            sentence += (
                f"; {estimate.files_with_deletes:,} of them have deletes that would be applied"
            )
        parts = (
            sentence,
            bounds.gathering_sentence,
            selection.sentence,
            bounds.fit.sentence,
            selection.limit,
        )
        return Gain(action, estimate, is_worthwhile=True, sentence="; ".join(filter(None, parts)))

    def predict_health(
        self,
        health: TableHealth,
        rule: RewriteDataFilesRule,
        action: RewriteDataFiles,
        estimate: Estimate,
        situation: Situation,
    ) -> TableHealth:
        return predict_rewrite(health, rule, action, situation.now)

    def find_need(
        self, rule: RewriteDataFilesRule, health: TableHealth, tasks_at_once: int
    ) -> Need:
        equality = max(weigh_deletes(health).values(), default=0) * tasks_at_once
        largest = max((partition.data_bytes for partition in health.partitions), default=0)
        sorted_bytes = int(largest * _SORT_SHARE) if rule.strategy == _SORT else 0
        return Need(weigh_files(health), equality + weigh_position_deletes(health) + sorted_bytes)

    def find_benefit(self, estimate: Estimate) -> Benefit:
        removed, deletes = estimate.items_removed, estimate.files_with_deletes
        return Benefit(
            files_removed=removed,
            deletes_applied=deletes,
            value=FILE_WEIGHT * removed + DELETE_WEIGHT * deletes,
        )

    def publish(self, estimate: Estimate, health: TableHealth) -> tuple[int, float]:
        return publish_compaction(health)

    def write_arguments(self, action: RewriteDataFiles) -> list[Argument]:
        if action.strategy not in _STRATEGIES:
            raise InvalidValueError(
                f"strategy of rewrite_data_files is {action.strategy!r}; it must be one of "
                f"{', '.join(_STRATEGIES)}"
            )
        if action.sort_order is not None and action.strategy != _SORT:
            raise InvalidValueError(
                f"sort_order of rewrite_data_files is {action.sort_order!r}, but strategy is "
                f"{action.strategy}; it must be {_SORT}"
            )
        known = options_of_strategy(action.options, action.strategy, action.sort_order)
        foreign = next((option for option in action.options if option not in known), None)
        if foreign is not None:
            raise InvalidValueError(
                f"option {foreign[0]} of rewrite_data_files is {foreign[1]}, but strategy "
                f"{action.strategy} with sort_order {action.sort_order!r} has none"
            )
        clauses = write_clauses(
            action.procedure, ("sort_order", action.sort_order), ("where", action.where)
        )
        return [
            ("strategy", quote_text(action.strategy)),
            *clauses,
            ("options", write_map(_rewrite_options(action.options))),
        ]

    def commits_in_parts(self, action: RewriteDataFiles) -> bool:
        # The job's statement sets this option by default.
        return dict(action.options).get(PARTIAL_PROGRESS) != "false"

    def count_removed(
        self,
        add_up: Callable[[str], int],
        before: Measurement,
        after: Measurement,
        other_commits: int,
    ) -> Removed:
        return Removed(
            files=add_up("deleted-data-files") - add_up("added-data-files"),
            bytes_rewritten=add_up("removed-files-size"),
        )

    def explain_difference(self, estimate: Estimate, result: Result, taken: int) -> str:
        if taken not in {0, estimate.items_before}:
            return f"Spark took {taken:,} files where {estimate.items_before:,} were expected"
        added = result.get("added_data_files_count")
        if isinstance(added, int) and added != estimate.items_after:
            return f"Spark wrote {added:,} files where {estimate.items_after:,} were expected"
        return ""

    def describe(self, effect: Effect) -> str:
        before, after = effect.before, effect.after
        text = (
            f"{format_number(before.data_files, 'data files')} became "
            f"{format_number(after.data_files)}, "
            f"{format_size(effect.bytes_rewritten)} rewritten"
        )
        if before.average_file_size_bytes and after.average_file_size_bytes:
            text += (
                f"; average file size {format_size(before.average_file_size_bytes)} -> "
                f"{format_size(after.average_file_size_bytes)}"
            )
        return f"{text}."


def find_bounds(rule: RewriteDataFilesRule, health: TableHealth, situation: Situation) -> JobBounds:
    """The options, the memory, the age of hot partitions and the limits of the next job."""
    history = situation.history or RuleHistory(rule.name)
    fit = fit_deletes(
        shrink_groups(rule, health, history),
        health,
        situation.profile.tasks_gb,
        situation.tasks_at_once,
    )
    limits = [limit_between_commits(health, history, situation.calibration)]
    if situation.most_per_job is not None:
        limits.append(
            limit_to_a_day(
                health,
                situation.most_per_job,
                situation.calibration,
                situation.profile.memory_gb,
            )
        )
    return JobBounds(
        fit,
        timedelta(0) if situation.has_waited_out else rule.hot_partition_age,
        tuple(limit for limit in limits if limit is not None),
    )


def _write_rewrite(
    rule: RewriteDataFilesRule,
    job_options: Mapping[str, str],
    target_bytes: int | None,
    selection: Selection,
) -> RewriteDataFiles:
    options = dict(
        options_of_strategy(tuple(sorted(job_options.items())), rule.strategy, rule.sort_order)
    )
    if target_bytes is not None:
        options.setdefault("target-file-size-bytes", str(target_bytes))
    if selection.max_files is not None:
        options.setdefault(MOST_FILES, str(selection.max_files))
    options.setdefault(
        PARTIAL_PROGRESS,
        "true" if selection.estimate.bytes_rewritten > PARTIAL_PROGRESS_ABOVE_BYTES else "false",
    )
    where = (
        join_conditions(rule.where, selection.where)
        if rule.where and selection.where
        else selection.where or rule.where
    )
    return RewriteDataFiles(rule.strategy, rule.sort_order, where, tuple(sorted(options.items())))


def _explain_no_files(
    rule: RewriteDataFilesRule, job_options: Mapping[str, str], health: TableHealth, now: datetime
) -> str:
    options = PlannerOptions.read(health, rule, now, job_options)
    meant = [partition for partition in health.partitions if is_taken(partition, options)]
    of_those = (
        ""
        if len(meant) == len(health.partitions)
        else f" of the {len(meant):,} that the policy's filter may select"
    )
    small = [partition for partition in meant if partition.small_files]
    if not small:
        return f"no partition{of_those} has a file that a rewrite would select"
    most = max(partition.small_files for partition in small)
    files = sum(partition.small_files for partition in small)
    return (
        f"{format_count(files, 'small file')} {'is' if files == 1 else 'are'} in "
        f"{format_count(len(small), 'partition')}{of_those}, at most {most} in one; "
        f"a rewrite selects a partition with at least {options.min_input_files} of them "
        f"or more bytes than the target of {format_size(health.target_file_size_bytes)}"
    )


def _find_missing_column(rule: RewriteDataFilesRule, health: TableHealth) -> str | None:
    """Why Spark would refuse the sort order: it names a column that the table does not have."""
    if rule.sort_order is None or health.column_types is None:
        return None
    known = {tuple(level.lower() for level in path) for path, _ in health.column_types}
    missing = [path for path in find_columns(rule.sort_order) if path not in known]
    if not missing:
        return None
    name = ".".join(missing[0])[:_SHOWN_CHARACTERS]
    return f"sort_order names the column {name}, which the table does not have"


def _find_unknown_spec(rule: RewriteDataFilesRule, health: TableHealth) -> str | None:
    """Why Spark would refuse the partition spec that the rule's options name."""
    wanted = dict(rule.options).get("output-spec-id")
    known = {spec.spec_id for spec in health.specs}
    if wanted is None or not known or int(wanted) in known:
        return None
    return (
        f"output-spec-id is {wanted}, and the table has no such partition spec; it has "
        f"{', '.join(map(str, sorted(known)))}"
    )


def _rewrite_options(options: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Merge safe defaults with the action's options; Iceberg's own defaults are not safe."""
    given = {"use-starting-sequence-number": "true"} | read_options(
        Procedure.REWRITE_DATA_FILES, options
    )
    if given.get("partial-progress.enabled") == "false":
        return _AT_ONCE | given
    in_parts = _PARTIAL_PROGRESS | given
    tolerated = _tolerate(int(in_parts["partial-progress.max-commits"]))
    return {"partial-progress.max-failed-commits": str(tolerated)} | in_parts


def _tolerate(commits: int) -> int:
    """The failed commits that a rewrite in up to `commits` parts may report without failing.

    Iceberg's default is never used, because with it all commits may fail without an error. Iceberg
    counts as failed what is missing to `commits` (apache/iceberg 16971): with one file group more
    than commits, each commit takes two groups, and nearly half of the commits are never due.
    """
    return max(_TOLERATED_COMMITS, (commits - 1) // 2)
