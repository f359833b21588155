"""A table that the store remembers is simulated as its samples and its jobs say, not as its last
measurement alone does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest

from maintainer.domain.conflict import ConflictKind
from maintainer.domain.cost import NOTHING_LEARNT, TABLE_ALPHA, Calibration, CostSample
from maintainer.domain.job import Job, Outcome
from maintainer.domain.policy import RuleName
from maintainer.domain.units import MIB
from maintainer.measure.history import Samples
from tests.adapters.store.values import failed, make_effect, make_job, succeeded
from tests.labs.simulation.fleet import Layout, Traits, Writer
from tests.labs.simulation.history import TableHistory, recall_table
from tests.labs.simulation.table import SimulatedTable
from tests.labs.simulation.trial import STARTS_AT, Conditions, Work, _carry_out
from tests.samples import NOW, health_of_partitions

FILES = RuleName.REWRITE_DATA_FILES
MEASURED = replace(
    health_of_partitions({"": [MIB] * 40}), commits_per_hour=9.0, growth_bytes_per_day=0.0
)
HOUR = timedelta(hours=1)


def every(hours: float, values: Sequence[float | None]) -> Samples:
    return [
        (NOW - timedelta(hours=hours * (len(values) - 1 - position)), value)
        for position, value in enumerate(values)
    ]


def recall(history: TableHistory) -> Traits:
    traits = recall_table(history)
    assert traits is not None
    return traits


def ran(job: Job, minutes: float = 30) -> Job:
    return replace(job, started_at=NOW, ended_at=NOW + timedelta(minutes=minutes))


def lost(kind: ConflictKind | None) -> Job:
    return replace(ran(failed(make_job(), NOW)), outcome=Outcome("failed", NOW, conflict=kind))


def test_without_samples_and_jobs_a_table_is_as_it_was_measured_last() -> None:
    traits = recall(TableHistory(MEASURED))
    assert (traits.commits_per_hour, traits.file_bytes, traits.files_at_start) == (9.0, MIB, 40)
    assert (traits.start_up, traits.conflicts_per_hour, traits.writer) == (
        None,
        None,
        Writer.APPEND,
    )


def test_the_commit_rate_is_the_mean_over_time_of_all_that_was_sampled() -> None:
    busy_then_idle = [
        (NOW - 10 * HOUR, 30.0),
        (NOW - 9 * HOUR, None),
        (NOW - 8 * HOUR, 5.0),
        (NOW, 0.0),
    ]
    assert recall(
        TableHistory(MEASURED, {"commits_per_hour": busy_then_idle})
    ).commits_per_hour == pytest.approx((2 * 30 + 8 * 5) / 10)


def test_what_writers_add_is_read_from_rises_between_samples_despite_rewrites() -> None:
    files = every(
        12, [100, 196, 10, 106, 12]
    )  # two days: twice 96 files of 8 MiB, each time rewritten since
    size = every(12, [4000 * MIB, 4768 * MIB, 4768 * MIB, 5536 * MIB, 5536 * MIB])
    traits = recall(
        TableHistory(
            MEASURED,
            {"commits_per_hour": every(12, [2.0] * 5), "data_files": files, "data_bytes": size},
        )
    )
    assert (traits.commits_per_hour, traits.files_per_commit, traits.file_bytes) == (
        2.0,
        2,
        8 * MIB,
    )


def test_a_table_whose_commits_nobody_counted_commits_as_often_as_it_was_seen_to_grow() -> None:
    health = replace(MEASURED, commits_per_hour=None)
    traits = recall(
        TableHistory(
            health,
            {
                "data_files": every(6, [10, 14, 14, 18, 22]),
                "data_bytes": every(6, [0, 4 * MIB, 4 * MIB, 8 * MIB, 12 * MIB]),
            },
        )
    )
    assert (traits.commits_per_hour, traits.files_per_commit, traits.file_bytes) == (3 / 24, 4, MIB)


def test_samples_of_a_few_hours_say_nothing_of_growth() -> None:
    short = {"data_files": every(1, [10, 400]), "data_bytes": every(1, [0, 400 * MIB])}
    assert recall(TableHistory(MEASURED, short)) == recall(TableHistory(MEASURED))


def test_the_pace_is_what_jobs_of_the_table_took() -> None:
    fit = NOTHING_LEARNT
    for work in (100, 400, 200, 800, 300, 600):  # 50 s and 20 MiB/s
        fit = fit.learn(CostSample(work * MIB, 50 + work / 20, 50 + work / 20), TABLE_ALPHA)
    traits = recall(TableHistory(MEASURED, calibration=Calibration({FILES: fit})))
    assert traits.bytes_per_second == pytest.approx(
        20 * MIB, rel=0.15
    )  # six jobs do not quite outweigh the published 2 MB/s
    table = SimulatedTable(traits, STARTS_AT)
    table.fill(Random(1))
    outcome = _carry_out(STARTS_AT, table, Work(0), Conditions(), Random(1))
    assert outcome.seconds == pytest.approx(50 + outcome.bytes / MIB / 20, rel=0.3)


def test_a_tables_conflicts_come_as_often_as_its_jobs_met_writers() -> None:
    kept, half_lost = (
        ran(succeeded(make_job(), NOW)),
        ran(succeeded(make_job(), NOW, replace(make_effect(), files_lost=3))),
    )
    never = recall(TableHistory(MEASURED, jobs=[kept] * 4))
    often = recall(
        TableHistory(MEASURED, jobs=[kept, kept, lost(ConflictKind.NEW_DELETES), half_lost])
    )
    assert (never.writer, never.conflicts_per_hour) == (Writer.APPEND, 0.0)
    assert often.writer is Writer.MERGE
    assert often.conflicts_per_hour == pytest.approx((2 + 9.0) / (2 + 1))


@pytest.mark.parametrize(
    ("jobs", "conflicts"),
    [
        (
            [lost(ConflictKind.REQUIREMENT_FAILED)],
            None,
        ),  # an append does that too, in any partition
        ([ran(failed(make_job(rule=RuleName.REWRITE_MANIFESTS), NOW))], None),
        ([failed(make_job(), NOW)], None),  # nobody saw it begin
        ([lost(None)], (1 + 9.0) / 1.5),
    ],
)
def test_only_rewrites_that_lost_to_a_change_of_rows_count_as_conflicts(
    jobs: Sequence[Job], conflicts: float | None
) -> None:
    assert recall(TableHistory(MEASURED, jobs=jobs)).conflicts_per_hour == conflicts


def test_the_chance_of_a_conflict_follows_from_their_number() -> None:
    merge = replace(recall(TableHistory(MEASURED)), writer=Writer.MERGE)
    rare, frequent = (
        SimulatedTable(replace(merge, conflicts_per_hour=rate), STARTS_AT) for rate in (0.1, 10.0)
    )
    assert rare.conflict_chance(360) == pytest.approx(0.00995, rel=0.01)
    assert frequent.conflict_chance(360) == pytest.approx(0.632, rel=0.01)
    assert SimulatedTable(merge, STARTS_AT).conflict_chance(360) == pytest.approx(
        0.593, rel=0.01
    )  # nine commits an hour


def test_files_that_no_rewrite_would_take_are_there_from_the_start() -> None:
    traits = recall(
        TableHistory(
            health_of_partitions(
                {f"p={number}": [MIB] * 20 + [500 * MIB] * 5 for number in range(4)}
            )
        )
    )
    assert (
        traits.layout,
        traits.files_at_start,
        traits.fitting_files_at_start,
        traits.file_bytes,
    ) == (Layout.BY_BUCKET, 80, 20, MIB)
    table = SimulatedTable(traits, STARTS_AT)
    table.fill(Random(1))
    health = table.measure(STARTS_AT)
    assert (health.data_files, health.small_files) == (100, 80)
    assert health.average_file_size_bytes == pytest.approx(100 * MIB, rel=0.02)
    assert table.rewrite(is_dry=True).files_before == 80


def test_a_table_whose_newest_commit_changed_rows_has_a_writer_that_merges() -> None:
    copies = replace(MEASURED, last_write_at=NOW, last_change_at=NOW)
    assert recall(TableHistory(copies)).writer is Writer.MERGE
    assert recall(TableHistory(replace(copies, last_change_at=NOW - HOUR))).writer is Writer.APPEND


def test_a_table_without_files_is_none() -> None:
    assert recall_table(TableHistory(health_of_partitions({}))) is None
