"""The chapter of compute_partition_stats."""

from __future__ import annotations

from collections.abc import Sequence

from maintainer.domain.action import ComputePartitionStats, Procedure
from maintainer.domain.cost import Benefit
from maintainer.domain.effect import Effect
from maintainer.domain.health import TableHealth
from maintainer.domain.inventory import PartitionSpec, StatisticsFile, TableInventory
from maintainer.domain.plan import Estimate, SkipCode
from maintainer.domain.policy import Rule
from maintainer.domain.rules import ComputePartitionStatsRule
from maintainer.estimate.floors import Refusal
from maintainer.procedures.call import write_snapshot
from maintainer.procedures.memory import Need, weigh_manifests
from maintainer.procedures.procedure import (
    Argument,
    Chapter,
    Gain,
    KnownFault,
    Situation,
)
from maintainer.procedures.statistics import (
    BENEFIT,
    FIRST_PACE,
    describe_statistics,
    find_gain_of_statistics,
)


def _has_replaced_partition_fields(_: Rule, health: TableHealth) -> bool:
    """Whether the fields of a spec are not the first of all fields that the table ever had."""
    specs = [[part.name for part in spec.fields] for spec in _by_age(health)]
    every = list(dict.fromkeys(name for names in specs for name in names))
    return any(names != every[: len(names)] for names in specs)


def _by_age(health: TableHealth) -> list[PartitionSpec]:
    return sorted(health.specs, key=lambda spec: spec.spec_id)


class ComputePartitionStatsChapter(Chapter[ComputePartitionStatsRule, ComputePartitionStats]):
    """Files, bytes and rows of each partition at the current snapshot."""

    rule = ComputePartitionStatsRule
    doing = "Computing partition statistics"
    first_pace = FIRST_PACE
    statistics_figure = "partition_statistics_file"
    faults = (
        KnownFault(
            (1, 10, 0),
            "Spark has no procedure compute_partition_stats",  # apache/iceberg 13523
        ),
        KnownFault(
            None,
            "partition statistics are wrong after a partition field was dropped or replaced",
            _has_replaced_partition_fields,  # apache/iceberg 17915
        ),
    )

    def refuse(
        self,
        rule: ComputePartitionStatsRule,
        health: TableHealth,
        situation: Situation,
    ) -> Refusal | None:
        if health.is_partitioned is False:
            return Refusal(
                SkipCode.UNSUPPORTED,
                "the table is not partitioned, so that there are no partitions to describe",
            )
        if health.properties.get("write.format.default", "parquet").lower() == "orc":
            return Refusal(
                SkipCode.UNSUPPORTED,
                "Iceberg writes the statistics of partitions in the table's own file format, and "
                "cannot write them as ORC",
            )
        return None

    def find_gain(
        self,
        rule: ComputePartitionStatsRule,
        health: TableHealth,
        situation: Situation,
    ) -> Gain | None:
        if health.snapshot_id is None:
            return None
        action = ComputePartitionStats(health.snapshot_id)
        return find_gain_of_statistics(action, health, health.partition_statistics_snapshot_id)

    def measure_work(self, estimate: Estimate, health: TableHealth) -> float:
        return float(health.manifest_bytes or 0)

    def find_need(
        self, rule: ComputePartitionStatsRule, health: TableHealth, tasks_at_once: int
    ) -> Need:
        return Need(weigh_manifests(health))

    def find_benefit(self, estimate: Estimate) -> Benefit:
        return BENEFIT

    def write_arguments(self, action: ComputePartitionStats) -> list[Argument]:
        return [write_snapshot(Procedure.COMPUTE_PARTITION_STATS, action.snapshot_id)]

    def find_statistics(
        self, action: ComputePartitionStats, inventory: TableInventory
    ) -> Sequence[StatisticsFile]:
        return [
            file
            for file in inventory.partition_statistics
            if file.snapshot_id == action.snapshot_id
        ]

    def describe(self, effect: Effect) -> str:
        return describe_statistics(effect)
