"""The chapter of rewrite_position_delete_files."""

from __future__ import annotations

from dataclasses import replace

from maintainer.domain.action import Procedure, RewritePositionDeleteFiles
from maintainer.domain.cost import Benefit
from maintainer.domain.health import TableHealth
from maintainer.domain.plan import Estimate
from maintainer.domain.rules import RewritePositionDeleteFilesRule
from maintainer.domain.units import format_count
from maintainer.estimate.cost import DELETE_WEIGHT, FIRST_BYTES_PER_SECOND, Pace
from maintainer.estimate.floors import Refusal, refuse_wrong_summaries
from maintainer.estimate.rewrite_position_delete_files import (
    converts_deletes,
    estimate_rewrite_position_deletes,
    find_dangling,
)
from maintainer.procedures.call import read_options, write_clauses, write_map
from maintainer.procedures.procedure import Argument, Chapter, Gain, Situation


class RewritePositionDeleteFilesChapter(
    Chapter[RewritePositionDeleteFilesRule, RewritePositionDeleteFiles]
):
    """Rewrites position delete files to fewer, or to deletion vectors."""

    rule = RewritePositionDeleteFilesRule
    doing = "Compacting position deletes"
    first_pace = Pace(8.0, 1 / FIRST_BYTES_PER_SECOND)

    def refuse(
        self,
        rule: RewritePositionDeleteFilesRule,
        health: TableHealth,
        situation: Situation,
    ) -> Refusal | None:
        return refuse_wrong_summaries(health)

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

    def find_benefit(self, estimate: Estimate) -> Benefit:
        removed = estimate.items_removed
        return Benefit(deletes_applied=removed, value=DELETE_WEIGHT * removed)

    def write_arguments(self, action: RewritePositionDeleteFiles) -> list[Argument]:
        procedure = Procedure.REWRITE_POSITION_DELETE_FILES
        options = read_options(procedure, action.options)
        # The grammar of CALL in Spark 3.5 has no empty map.
        given = [("options", write_map(options))] if options else []
        return [*write_clauses(procedure, ("where", action.where)), *given]


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
