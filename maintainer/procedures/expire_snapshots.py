"""The chapter of expire_snapshots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from maintainer.domain.action import ExpireSnapshots, Procedure
from maintainer.domain.cost import Benefit
from maintainer.domain.effect import Effect, Measurement
from maintainer.domain.health import TableHealth
from maintainer.domain.plan import Estimate, SkipCode
from maintainer.domain.policy import Rule
from maintainer.domain.rules import MIN_EXPIRE_AGE, MIN_SNAPSHOTS_KEPT, ExpireSnapshotsRule
from maintainer.domain.units import format_duration
from maintainer.estimate.cost import Pace
from maintainer.estimate.expire_snapshots import find_expired_refs
from maintainer.estimate.floors import (
    Refusal,
    is_gc_disabled,
    is_snapshot_of_another,
    refuse_imported,
)
from maintainer.estimate.retained_snapshots import describe_expiry, preview_expiry
from maintainer.procedures.call import MAX_INT, check_within, write_options, write_timestamp
from maintainer.procedures.procedure import (
    Argument,
    Chapter,
    Gain,
    KnownFault,
    Removed,
    Situation,
)

_LEAST_KEPT = 2  # snapshots: the floor of every policy, which a statement enforces again
SNAPSHOT_WEIGHT = 0.5  # a few hundred bytes, which are read whenever the table is loaded


def _has_several_refs(_: Rule, health: TableHealth) -> bool:
    return health.branches + health.tags > 1


class ExpireSnapshotsChapter(Chapter[ExpireSnapshotsRule, ExpireSnapshots]):
    """Removes snapshots, and the files that only they need."""

    rule = ExpireSnapshotsRule
    doing = "Expiring snapshots"
    # The job reads a snapshot's manifests and deletes its files. With Spark on a local disk 263
    # snapshots took 6.5 s; on another machine 5,000 took 601 s.
    first_pace = Pace(3.0, 0.045)
    # Iceberg commits first and deletes afterwards.
    left_over = "files of the expired snapshots may remain; an orphan scan finds them"
    measures_suspects = True
    faults = (
        KnownFault(
            (1, 10, 0),
            "expiry may delete files that are still needed if the table has several branches or "
            "tags",
            _has_several_refs,  # apache/iceberg 13568
        ),
    )

    def refuse(
        self,
        rule: ExpireSnapshotsRule,
        health: TableHealth,
        situation: Situation,
    ) -> Refusal | None:
        if is_gc_disabled(health):
            return Refusal(
                SkipCode.GC_DISABLED,
                "the table has gc.enabled=false: its files may belong to another table, so none of "
                "its files is deleted",
            )
        if is_snapshot_of_another(health):
            return Refusal(
                SkipCode.UNSAFE,
                "the table has the property snapshot=true: it was made from another table, whose "
                "files expiry would delete",
            )
        imported = refuse_imported(rule, health)
        if imported is not None:
            return Refusal(SkipCode.UNSAFE, imported)
        if rule.max_age < MIN_EXPIRE_AGE:
            return Refusal(
                SkipCode.RETENTION_FLOOR,
                f"max_age {format_duration(rule.max_age)} is under the "
                f"{format_duration(MIN_EXPIRE_AGE)} floor of expire_snapshots",
            )
        if rule.keep < MIN_SNAPSHOTS_KEPT:
            return Refusal(
                SkipCode.RETENTION_FLOOR,
                f"keep {rule.keep} is under the floor of {MIN_SNAPSHOTS_KEPT} snapshots of "
                f"expire_snapshots",
            )
        return None

    def takes_away(self, action: ExpireSnapshots) -> bool:
        return True

    def find_gain(
        self, rule: ExpireSnapshotsRule, health: TableHealth, situation: Situation
    ) -> Gain:
        preview = preview_expiry(health, rule, situation.pins, situation.now)
        return Gain(
            preview.action,
            preview.estimate,
            bool(preview.snapshots),
            describe_expiry(preview, health, rule),
            preview.next_at,
            preview.refusal,
        )

    def predict_health(
        self,
        health: TableHealth,
        rule: ExpireSnapshotsRule,
        action: ExpireSnapshots,
        estimate: Estimate,
        situation: Situation,
    ) -> TableHealth:
        now = situation.now
        preview = preview_expiry(health, rule, situation.pins, now)
        gone = {stamp.snapshot_id for stamp in preview.snapshots}
        expired = set(find_expired_refs(health, now))
        kept = tuple(stamp for stamp in health.history if stamp.snapshot_id not in gone)
        return replace(
            health,
            snapshots=health.snapshots - len(gone),
            history=kept,
            oldest_snapshot_at=min((stamp.committed_at for stamp in kept), default=None),
            refs=tuple(ref for ref in health.refs if ref not in expired),
            measured_at=now,
        )

    def measure_work(self, estimate: Estimate, health: TableHealth) -> float:
        return float(estimate.items_removed)

    def find_benefit(self, estimate: Estimate) -> Benefit:
        removed = estimate.items_removed
        return Benefit(snapshots_removed=removed, value=SNAPSHOT_WEIGHT * removed)

    def write_arguments(self, action: ExpireSnapshots) -> list[Argument]:
        procedure = Procedure.EXPIRE_SNAPSHOTS
        kept = check_within(
            "retain_last of expire_snapshots", action.retain_last, _LEAST_KEPT, MAX_INT
        )
        return [
            ("older_than", write_timestamp(action.older_than, procedure)),
            ("retain_last", str(kept)),
            *write_options(procedure, action.options),
        ]

    def count_removed(
        self,
        add_up: Callable[[str], int],
        before: Measurement,
        after: Measurement,
        other_commits: int,
    ) -> Removed:
        return Removed(snapshots=max(0, before.snapshots + other_commits - after.snapshots))

    def describe(self, effect: Effect) -> str:
        return f"{effect.before.snapshots:,} snapshots became {effect.after.snapshots:,}."
