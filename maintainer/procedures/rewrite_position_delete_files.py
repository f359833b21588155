"""The chapter of rewrite_position_delete_files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from maintainer.domain.action import Procedure, RewritePositionDeleteFiles
from maintainer.domain.cost import Benefit
from maintainer.domain.effect import Effect, Measurement
from maintainer.domain.health import TableHealth
from maintainer.domain.plan import Estimate
from maintainer.domain.rules import RewritePositionDeleteFilesRule
from maintainer.domain.units import format_count, format_number, format_size
from maintainer.estimate.cost import DELETE_WEIGHT, FIRST_BYTES_PER_SECOND, Pace
from maintainer.estimate.floors import Refusal, refuse_mistyped, refuse_wrong_summaries
from maintainer.estimate.rewrite_position_delete_files import (
    converts_deletes,
    estimate_rewrite_position_deletes,
    find_dangling,
)
from maintainer.procedures.call import read_options, write_clauses, write_map
from maintainer.procedures.deletes import count_deletes
from maintainer.procedures.memory import Need, weigh_files, weigh_position_deletes
from maintainer.procedures.procedure import (
    Argument,
    Chapter,
    Gain,
    Removed,
    Result,
    Situation,
)


class RewritePositionDeleteFilesChapter(
    Chapter[RewritePositionDeleteFilesRule, RewritePositionDeleteFiles]
):
    """Rewrites position delete files to fewer, or to deletion vectors."""

    rule = RewritePositionDeleteFilesRule
    doing = "Compacting position deletes"
    first_pace = Pace(8.0, 1 / FIRST_BYTES_PER_SECOND)
    items = "delete files"
    replaced_figure = "removed-delete-files"

    def refuse(
        self,
        rule: RewritePositionDeleteFilesRule,
        health: TableHealth,
        situation: Situation,
    ) -> Refusal | None:
        return refuse_wrong_summaries(health) or refuse_mistyped(rule.where, health)

    def find_gain(
        self,
        rule: RewritePositionDeleteFilesRule,
        health: TableHealth,
        situation: Situation,
    ) -> Gain | None:
        if not health.position_delete_files:
            return None
        action, estimate, dangling = _choose_deletes(rule, health)
        is_worthwhile = estimate.items_removed > 0
        if is_worthwhile:
            sentence = (
                f"{estimate.items_before:,} position delete files in "
                f"{format_count(estimate.partitions, 'partition')} would become "
                f"{estimate.items_after:,}"
            )
            sentence = (
                f"{estimate.items_before:,} position delete files would become deletion vectors"
                if converts_deletes(health)
                else f"{sentence} at most"
            )
            if dangling:
                sentence += f"; {dangling:,} of them no longer apply to a data file"
        elif estimate.items_before:
            sentence = (
                f"{estimate.items_before:,} position delete files would become up to "
                f"{estimate.items_after:,}: "
                "the rewrite writes one for each data file that has deletes"
            )
        else:
            sentence = (
                f"no partition has enough of the {health.position_delete_files:,} position delete "
                f"files for a rewrite to take them"
            )
        return Gain(action, estimate, is_worthwhile, sentence)

    def predict_health(
        self,
        health: TableHealth,
        rule: RewritePositionDeleteFilesRule,
        action: RewritePositionDeleteFiles,
        estimate: Estimate,
        situation: Situation,
    ) -> TableHealth:
        left = max(0, (health.position_delete_files or 0) - estimate.items_removed)
        return count_deletes(replace(health, position_delete_files=left, dangling_delete_files=0))

    def find_need(
        self, rule: RewritePositionDeleteFilesRule, health: TableHealth, tasks_at_once: int
    ) -> Need:
        return Need(weigh_files(health), weigh_position_deletes(health))

    def find_benefit(self, estimate: Estimate) -> Benefit:
        removed = estimate.items_removed
        return Benefit(deletes_applied=removed, value=DELETE_WEIGHT * removed)

    def write_arguments(self, action: RewritePositionDeleteFiles) -> list[Argument]:
        procedure = Procedure.REWRITE_POSITION_DELETE_FILES
        options = read_options(procedure, action.options)
        # The grammar of CALL in Spark 3.5 has no empty map.
        given = [("options", write_map(options))] if options else []
        return [*write_clauses(procedure, ("where", action.where)), *given]

    def commits_in_parts(self, action: RewritePositionDeleteFiles) -> bool:
        return dict(action.options).get("partial-progress.enabled") == "true"

    def count_removed(
        self,
        add_up: Callable[[str], int],
        before: Measurement,
        after: Measurement,
        other_commits: int,
    ) -> Removed:
        # It adds no data files that could replace missing ones.
        return Removed(
            files=add_up("deleted-data-files"), bytes_rewritten=add_up("removed-files-size")
        )

    def find_violation(self, effect: Effect) -> str | None:
        if not effect.files_removed:
            return None
        return (
            f"a rewrite of delete files must leave the data files alone, but "
            f"{effect.files_removed} of them are gone"
        )

    def explain_difference(self, estimate: Estimate, result: Result, taken: int) -> str:
        read, written = (
            result.get("rewritten_delete_files_count"),
            result.get("added_delete_files_count"),
        )
        if isinstance(read, int) and read != estimate.items_before:
            return f"Spark took {read:,} delete files where {estimate.items_before:,} were expected"
        if isinstance(written, int) and written < estimate.items_after:
            return (
                f"Spark wrote {written:,} delete files where up to {estimate.items_after:,} were "
                f"expected: it drops those whose data files are gone"
            )
        if isinstance(written, int) and written > estimate.items_after:
            return (
                f"Spark wrote {written:,} delete files where at most {estimate.items_after:,} "
                f"were expected"
            )
        return ""

    def describe(self, effect: Effect) -> str:
        return (
            f"{format_number(effect.before.delete_files, 'delete files')} became "
            f"{format_number(effect.after.delete_files)}, "
            f"{format_size(effect.bytes_rewritten)} rewritten."
        )


def _choose_deletes(
    rule: RewritePositionDeleteFilesRule, health: TableHealth
) -> tuple[RewritePositionDeleteFiles, Estimate, int]:
    """The rule's own selection, or all position deletes of the partitions with dangling deletes.

    The selection that removes more is chosen. The last value is the number of dangling deletes that
    it removes.
    """
    own = RewritePositionDeleteFiles(rule.where, rule.options)
    options = dict(rule.options)
    every = replace(own, options=tuple(sorted((options | {"rewrite-all": "true"}).items())))
    estimate, known = estimate_rewrite_position_deletes(health, own), health.dangling_delete_files
    if converts_deletes(health):
        # Otherwise partitions with a few position delete files would never be rewritten.
        return own if "rewrite-all" in options else every, estimate, known or 0
    found = find_dangling(health)
    if found is None or rule.where or "rewrite-all" in options:
        return own, estimate, 0
    partitions, where = found
    narrow = replace(every, where=where)
    removed = estimate_rewrite_position_deletes(health, narrow, partitions)
    if removed.items_removed > estimate.items_removed:
        return narrow, removed, known or 0
    return own, estimate, 0
