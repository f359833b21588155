"""Simulated fleets look like published ones, or like the one that was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from random import Random

import pytest

from maintainer.domain.units import KIB, MIB
from tests.labs.simulation.fleet import (
    PUBLISHED_FILE_SIZES,
    Layout,
    Writer,
    draw_file_size,
    draw_fleet,
    take_table,
)
from tests.labs.simulation.peers import Cron
from tests.labs.simulation.table import SimulatedTable
from tests.labs.simulation.trial import Conditions, Work, run_trial
from tests.samples import health_of_partitions


def test_file_sizes_have_the_published_shares() -> None:
    random = Random(3)
    sizes = [draw_file_size(random) for _ in range(20_000)]
    total = sum(share for _, share in PUBLISHED_FILE_SIZES)
    lower = 0
    for upper, share in PUBLISHED_FILE_SIZES:
        assert sum(lower < size <= upper for size in sizes) / len(sizes) == pytest.approx(
            share / total, abs=0.015
        )
        lower = upper


def test_a_seed_is_a_fleet() -> None:
    assert draw_fleet(50, seed=1) == draw_fleet(50, seed=1)
    assert draw_fleet(50, seed=1) != draw_fleet(50, seed=2)
    assert draw_fleet(50, seed=1)[:20] == draw_fleet(20, seed=1)


def test_measured_tables_become_simulated_ones() -> None:
    by_day = replace(
        health_of_partitions({f"day=2026-03-{day:02}": [100 * KIB] * 20 for day in range(1, 5)}),
        commits_per_hour=2.0,
        growth_bytes_per_day=2.0 * 24 * 8 * 100 * KIB,
        position_delete_files=3,
    )
    traits = take_table(by_day)
    assert (traits.layout, traits.writer, traits.commits_per_hour) == (
        Layout.BY_DAY,
        Writer.MERGE,
        2.0,
    )
    assert (traits.file_bytes, traits.files_per_commit, traits.files_at_start) == (100 * KIB, 8, 80)


@pytest.mark.parametrize(
    ("partition", "layout"),
    [
        ("", Layout.UNPARTITIONED),
        ("region=eu-west", Layout.BY_BUCKET),
        ("day=2026-03-04", Layout.BY_DAY),
    ],
)
def test_the_layout_of_a_measured_table_is_distinguished_from_its_partitions(
    partition: str, layout: Layout
) -> None:
    assert take_table(health_of_partitions({partition: [MIB] * 3})).layout is layout


def test_without_maintenance_a_fleet_rots_the_same_under_every_contender() -> None:
    class Idle(Cron):
        name = "nobody"

        def choose(
            self, now: datetime, tables: Sequence[SimulatedTable], left_gb_hours: float | None
        ) -> Iterator[Work]:
            del now, tables, left_gb_hours
            return iter(())

    fleet = draw_fleet(30, seed=5)
    one, other = (
        run_trial(fleet, Idle(), Conditions(seed=5)),
        run_trial(fleet, Idle(), Conditions(seed=5)),
    )
    assert one == other
    assert one.days[-1].data_files > one.days[0].data_files
    assert (one.jobs, one.gb_hours, one.files_removed_per_gb_hour) == (0, 0, 0)
    assert one.starved_tables > 0


def test_cron_serves_every_table_in_turn_within_its_budget() -> None:
    fleet = draw_fleet(60, seed=5)
    unlimited = run_trial(fleet, Cron(), Conditions(seed=5))
    assert unlimited.jobs == 60 * 15, "the two weeks touch fifteen days"
    assert unlimited.average_file_size_bytes > 100 * MIB
    limited = run_trial(
        fleet, Cron(), Conditions(seed=5, gb_hours_per_day=unlimited.gb_hours / 14 / 4)
    )
    assert limited.gb_hours < unlimited.gb_hours / 2
    assert limited.files_removed < unlimited.files_removed
