"""The proof of a removal looks for the statistics files that the table names: Spark has no table of
them, the metadata does.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from maintainer.domain.inventory import StatisticsFile
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.steps.kinds import orphan_removal
from tests.samples import NOW
from tests.steps.kinds.test_orphan_removal import (
    DAY,
    LIVE,
    PLACE,
    STRAYS,
    TABLE,
    approved,
    delete,
    settle,
)
from tests.steps.world import World

PUFFIN, OF_PARTITIONS = f"{PLACE}/metadata/ndv.puffin", f"{PLACE}/metadata/sums.parquet"


def name_statistics(world: World, puffin: str = PUFFIN) -> None:
    """The table's metadata names a file of each kind; both are stored."""
    entry = world.look(TABLE)
    described = StatisticsFile(1, puffin, 70), StatisticsFile(1, OF_PARTITIONS, 70)
    world.replace(
        replace(
            entry,
            statistics=described[:1],
            partition_statistics=described[1:],
            metadata_location=f"{entry.metadata_location}-s",
        )
    )
    for path in (puffin, OF_PARTITIONS):
        world.catalog.put_file(path, 70, NOW - 30 * DAY)


def carried_out(world: World, job: Job, *gone: str) -> Job:
    delete(world, job)
    for path in gone:
        world.catalog.delete_file(path)
    world.runner.finish(job.job_id, {"rows": len(STRAYS)})
    return settle(world, job)


def test_the_tables_statistics_files_are_looked_for_after_a_removal() -> None:
    world = approved()
    name_statistics(world)
    done = carried_out(world, world.begin())
    assert done.effect is not None
    assert done.state is JobState.SUCCEEDED
    assert done.effect.sentence.endswith("; 3 files that the table references were checked.")


def test_a_missing_statistics_file_is_named() -> None:
    world = approved()
    name_statistics(world)
    done = carried_out(world, world.begin(), OF_PARTITIONS)
    assert done.effect is not None
    assert done.effect.sentence.endswith(
        f"; 1 that the table references were not on the list and do not exist, the first: "
        f"{OF_PARTITIONS}."
    )


@pytest.mark.parametrize("most", [orphan_removal.MAX_STATISTICS, 0])
def test_a_statistics_file_that_the_job_deleted_fails_it_and_pauses_the_table(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(orphan_removal, "MAX_STATISTICS", most)
    world = approved()
    job = world.begin()
    name_statistics(world, STRAYS[0])  # the metadata names it since the job was handed over
    done = carried_out(world, job)
    assert (done.state, done.failure_reason) == (JobState.FAILED, FailureReason.UNPROVED)
    assert (
        f"1 files are missing that the table references or the quarantine should have, the first: "
        f"{STRAYS[0]}"
    ) in done.failure_message
    record = world.store.table(TABLE)
    assert record is not None
    assert record.pause is not None


def test_a_removal_of_which_spark_reported_nothing_is_not_proved_by_statistics_alone() -> None:
    world = approved()
    name_statistics(world)
    job = world.begin()
    delete(world, job, reached=None)
    world.runner.finish(job.job_id, {"rows": len(STRAYS)})
    done = settle(world, job)
    assert (done.state, done.failure_reason) == (JobState.FAILED, FailureReason.UNPROVED)
    assert "Spark did not report which files the table references" in done.failure_message
    assert LIVE not in done.failure_message
