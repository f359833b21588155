"""The chapter of compute_table_stats."""

from __future__ import annotations

from collections.abc import Sequence

from maintainer.domain.action import ComputeTableStats, Procedure
from maintainer.domain.condition_tokens import MAX_NAME_CHARACTERS, quote_text
from maintainer.domain.cost import Benefit
from maintainer.domain.effect import Effect
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.health import TableHealth
from maintainer.domain.inventory import StatisticsFile, TableInventory
from maintainer.domain.plan import Estimate
from maintainer.domain.rules import ComputeTableStatsRule
from maintainer.procedures.call import write_snapshot
from maintainer.procedures.procedure import (
    Argument,
    Chapter,
    Gain,
    Situation,
)
from maintainer.procedures.statistics import (
    BENEFIT,
    FIRST_PACE,
    describe_statistics,
    find_gain_of_statistics,
)

_MAX_COLUMNS = 1_000  # of a statement


class ComputeTableStatsChapter(Chapter[ComputeTableStatsRule, ComputeTableStats]):
    """Numbers of distinct values of columns at the current snapshot."""

    rule = ComputeTableStatsRule
    doing = "Computing column statistics"
    first_pace = FIRST_PACE
    statistics_figure = "statistics_file"

    def find_gain(
        self,
        rule: ComputeTableStatsRule,
        health: TableHealth,
        situation: Situation,
    ) -> Gain | None:
        if health.snapshot_id is None:
            return None
        action = ComputeTableStats(health.snapshot_id, rule.columns)
        return find_gain_of_statistics(action, health, health.statistics_snapshot_id)

    def measure_work(self, estimate: Estimate, health: TableHealth) -> float:
        return float(health.data_bytes or 0)

    def find_benefit(self, estimate: Estimate) -> Benefit:
        return BENEFIT

    def write_arguments(self, action: ComputeTableStats) -> list[Argument]:
        return [
            write_snapshot(Procedure.COMPUTE_TABLE_STATS, action.snapshot_id),
            *_write_columns(action.columns),
        ]

    def find_statistics(
        self, action: ComputeTableStats, inventory: TableInventory
    ) -> Sequence[StatisticsFile]:
        return [file for file in inventory.statistics if file.snapshot_id == action.snapshot_id]

    def describe(self, effect: Effect) -> str:
        return describe_statistics(effect)


def _write_columns(columns: tuple[str, ...]) -> list[tuple[str, str]]:
    if not columns:
        return []
    if len(columns) > _MAX_COLUMNS or any(
        not column or len(column) > MAX_NAME_CHARACTERS for column in columns
    ):
        raise InvalidValueError(
            f"columns of compute_table_stats are {len(columns)}; there must be 1 to "
            f"{_MAX_COLUMNS} of 1 to {MAX_NAME_CHARACTERS} characters"
        )
    return [("columns", f"array({', '.join(map(quote_text, columns))})")]
