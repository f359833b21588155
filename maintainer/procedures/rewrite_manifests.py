"""The chapter of rewrite_manifests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from maintainer.domain.action import Procedure, RewriteManifests
from maintainer.domain.cost import Benefit
from maintainer.domain.effect import Effect, Measurement
from maintainer.domain.health import TableHealth
from maintainer.domain.inventory import MANIFEST_TARGET_SIZE
from maintainer.domain.plan import Estimate
from maintainer.domain.rules import RewriteManifestsRule
from maintainer.domain.units import format_count, format_number, format_size
from maintainer.estimate.cost import FIRST_BYTES_PER_SECOND, Pace
from maintainer.estimate.rewrite_manifests import (
    MANIFEST_EXCESS_FACTOR,
    estimate_rewrite_manifests,
    estimate_spec,
    is_manifest_rewrite_worthwhile,
)
from maintainer.procedures.call import MAX_INT, check_within, write_options
from maintainer.procedures.manifests import count_needed, with_manifests
from maintainer.procedures.memory import Need, weigh_manifests
from maintainer.procedures.procedure import (
    Argument,
    Chapter,
    Gain,
    KnownFault,
    Removed,
    Situation,
    has_row_lineage,
)

MANIFEST_WEIGHT = 10.0  # the planning of every query opens it, with any filter


class RewriteManifestsChapter(Chapter[RewriteManifestsRule, RewriteManifests]):
    """Rewrites the manifests of one spec to fewer of the target size."""

    rule = RewriteManifestsRule
    doing = "Rewriting manifests"
    # 300 manifests took 15 s with Spark on a local disk.
    first_pace = Pace(10.0, 1 / FIRST_BYTES_PER_SECOND)
    items = "manifests"
    faults = (
        KnownFault(
            (1, 11, 1),
            "rewrite_manifests gives the rows of a table in format version 3 new row ids",
            has_row_lineage,  # apache/iceberg 16699
        ),
    )

    def find_gain(
        self,
        rule: RewriteManifestsRule,
        health: TableHealth,
        situation: Situation,
    ) -> Gain | None:
        found = estimate_rewrite_manifests(health)
        if found is None:
            return None
        if health.wrong_summary is not None:
            return _gain_of_right_summaries(rule, health, health.wrong_summary.spec_id)
        estimate = found.estimate
        is_worthwhile = is_manifest_rewrite_worthwhile(estimate)
        if is_worthwhile:
            sentence = (
                f"{estimate.items_before:,} manifests of spec {found.spec_id} would become "
                f"{estimate.items_after:,}"
            )
        else:
            sentence = (
                f"{estimate.items_before:,} manifests of spec {found.spec_id} hold "
                f"{format_size(estimate.bytes_rewritten)}: {estimate.items_after:,} are needed, "
                f"and a rewrite is worth it from {MANIFEST_EXCESS_FACTOR} times as many"
            )
        return Gain(
            RewriteManifests(found.spec_id, rule.options), estimate, is_worthwhile, sentence
        )

    def predict_health(
        self,
        health: TableHealth,
        rule: RewriteManifestsRule,
        action: RewriteManifests,
        estimate: Estimate,
        situation: Situation,
    ) -> TableHealth:
        return with_manifests(
            health,
            tuple(
                replace(group, count=min(group.count, count_needed(health, group.bytes)))
                if group.spec_id == action.spec_id
                else group
                for group in health.manifest_groups
            ),
        )

    def find_need(
        self, rule: RewriteManifestsRule, health: TableHealth, tasks_at_once: int
    ) -> Need:
        return Need(weigh_manifests(health))

    def find_benefit(self, estimate: Estimate) -> Benefit:
        removed = estimate.items_removed
        return Benefit(manifests_removed=removed, value=MANIFEST_WEIGHT * removed)

    def write_arguments(self, action: RewriteManifests) -> list[Argument]:
        spec_id = check_within("spec_id of rewrite_manifests", action.spec_id, 0, MAX_INT)
        return [
            ("spec_id", str(spec_id)),
            *write_options(Procedure.REWRITE_MANIFESTS, action.options),
        ]

    def count_removed(
        self,
        add_up: Callable[[str], int],
        before: Measurement,
        after: Measurement,
        other_commits: int,
    ) -> Removed:
        return Removed(manifests=add_up("manifests-replaced") - add_up("manifests-created"))

    def describe(self, effect: Effect) -> str:
        return (
            f"{format_number(effect.before.manifests, 'manifests')} became "
            f"{format_number(effect.after.manifests)}."
        )


def _gain_of_right_summaries(rule: RewriteManifestsRule, health: TableHealth, spec_id: int) -> Gain:
    """The rewrite that mends wrong summaries, however few manifests there are."""
    estimate = estimate_spec(health, spec_id)
    is_rewritten = estimate.items_before > 0
    sentence = (
        f"{format_count(estimate.items_before, 'manifest')} of spec {spec_id} would get right "
        f"summaries in the manifest list"
        if is_rewritten
        else f"the one manifest of spec {spec_id} has a wrong summary, and Iceberg rewrites a "
        f"manifest only if there are several, or if it is larger than {MANIFEST_TARGET_SIZE}"
    )
    return Gain(RewriteManifests(spec_id, rule.options), estimate, is_rewritten, sentence)
