"""One shape after the other: predicted by the twin, done by Spark."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from maintainer.domain.action import RewriteDataFiles
from maintainer.domain.health import TableHealth
from maintainer.domain.plan import Estimate
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.estimate.filters.filter_writer import write_where
from maintainer.estimate.rewrite_data_files import (
    PlannerOptions,
    estimate_rewrite_data_files,
    plan_groups,
)
from maintainer.procedures.registry import call_statement
from tests.conformance.paths import predict_paths
from tests.conformance.shapes import Shape
from tests.conformance.tables import Lake


@dataclass(frozen=True)
class Outcome:
    """What was predicted for a shape, and what became of it."""

    shape: str
    predicted: Estimate
    rewritten: int
    added: int
    where: str | None = None
    strangers: int = 0  # rewritten files that lie in none of the chosen partitions
    renumbered: int = 0  # rows that lost their row id or got another one
    wrong_paths: int = 0  # files that were taken against the prediction, or left

    @property
    def removed(self) -> int:
        return self.rewritten - self.added

    @property
    def is_equal(self) -> bool:
        return (self.predicted.items_before, self.predicted.items_after) == (
            self.rewritten,
            self.added,
        ) and not (self.strangers or self.renumbered or self.wrong_paths)

    @property
    def is_within_bound(self) -> bool:
        """The number of files that are removed, within the bound, and no file that was not
        predicted.
        """
        removed = abs(self.predicted.items_removed - max(0, self.removed))
        return removed <= self.predicted.error_bound and not (
            self.strangers or self.renumbered or self.wrong_paths
        )

    def row(self) -> str:
        """One line of the report."""
        verdict = (
            "equal"
            if self.is_equal
            else f"within {self.predicted.error_bound}"
            if self.is_within_bound
            else "WRONG"
        )
        reason = "" if self.is_equal else self.predicted.note
        predicted = f"{self.predicted.items_before} to {self.predicted.items_after}"
        return (
            f"| {self.shape} | {predicted} | {self.rewritten} to {self.added} | {verdict} | "
            f"{reason}{f' {self.wrong_paths} wrong paths' if self.wrong_paths else ''} |"
        ).replace("\n", " ")


def run(lake: Lake, shapes: Iterable[Shape]) -> Iterator[Outcome]:
    """Make each table, predict, let Spark do it, compare."""
    for number, shape in enumerate(shapes):
        yield run_one(lake, shape, f"t{number}")


def run_one(lake: Lake, shape: Shape, name: str) -> Outcome:
    """One shape under a table name of its own."""
    table = lake.make(name, shape.layout, shape.seed)
    health, inventory = lake.read(table), lake.list_files(table)
    options = tuple(sorted(shape.options.items()))
    rule = RewriteDataFilesRule(
        strategy=shape.strategy,
        sort_order=shape.sort_order,
        where=shape.where,
        options=options,
    )
    places = sorted((partition.spec_id, partition.partition) for partition in health.partitions)
    within = None if shape.chosen is None else [places[position] for position in shape.chosen]
    now = datetime.now(UTC)
    predicted = estimate_rewrite_data_files(health, rule, within, now=now)
    planner = PlannerOptions.read(health, rule, now)
    groups = plan_groups(health, planner, within)
    where = write_where(table.catalog, within, health.specs) if within is not None else None
    assert (where is None) == (within is None), f"{shape.name}: no filter for {within}"
    before, numbered = lake.files(table), lake.row_ids(table)
    given = {"partial-progress.enabled": "false", **shape.options}
    action = RewriteDataFiles(
        shape.strategy, shape.sort_order, where or shape.where, tuple(sorted(given.items()))
    )
    done = lake.session.sql(call_statement(table, action))[0]
    rewritten, added = int(done["rewritten_data_files_count"]), int(done["added_data_files_count"])
    renumbered = len(numbered.items() - lake.row_ids(table).items())
    gone = set(before) - set(lake.files(table))
    paths = predict_paths(before, inventory, health, planner, groups)
    wrong_paths = paths.count_wrong(gone)
    if within is None:
        return Outcome(
            shape.name,
            predicted,
            rewritten,
            added,
            renumbered=renumbered,
            wrong_paths=wrong_paths,
        )
    # What is rewritten of an old spec moves to partitions of the current one, beside those that
    # were chosen.
    moved = added if all(spec_id != health.default_spec_id for spec_id, _ in within) else 0
    lost = moved + _count_beside(health, within) - _count_beside(lake.read(table), within)
    return Outcome(
        shape.name,
        predicted,
        rewritten,
        added,
        where,
        strangers=abs(lost) + abs(len(gone) - rewritten),
        renumbered=renumbered,
        wrong_paths=wrong_paths,
    )


def _count_beside(health: TableHealth, within: Collection[tuple[int, str]]) -> int:
    """Data files in all partitions but these."""
    return sum(
        partition.data_files
        for partition in health.partitions
        if (partition.spec_id, partition.partition) not in within
    )
