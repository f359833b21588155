"""Position deletes whose data files a rewrite has replaced go too, on a real Spark, under the
built-in rules.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from maintainer.adapters.spark.local import LocalRunner
from maintainer.decide.circumstances import digest_state
from maintainer.domain.effect import RowProof
from maintainer.domain.health import Band
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, JobState
from maintainer.domain.metric import Metric
from maintainer.domain.policy import RuleName
from maintainer.requests.run import request_run
from maintainer.steps.table import Measured, measure_table
from tests.adapters.spark.lakes import Lake
from tests.adapters.spark.workshop import Workshop, open_workshop

pytestmark = [pytest.mark.spark, pytest.mark.slow]

MERGE_ON_READ = (
    "'format-version' = '2', 'write.delete.mode' = 'merge-on-read', 'write.delete.granularity' = "
    "'file', 'write.distribution-mode' = 'none'"
)
FILES, DELETES = RuleName.REWRITE_DATA_FILES, RuleName.REWRITE_POSITION_DELETE_FILES
MOST_JOBS = 5
FROM_TWO_FILES = """
tables: "*"
mode: enforce
rules: {rewrite_data_files: {options: {min-input-files: 2}}}
"""


@pytest.fixture(scope="module")
def workshop(lake: Lake, warm: LocalRunner) -> Iterator[Workshop]:
    with open_workshop(
        lake, warm
    ) as opened:  # a mode and nothing more: the rules are the built-in ones
        yield opened


def maintain(workshop: Workshop, table: TableIdentifier) -> list[Job]:
    """What a person's run without names does, again and again until nothing is left to do."""
    done: list[Job] = []
    while len(done) < MOST_JOBS:
        _, job = request_run(workshop.ports, table, (), "person")
        if job is None:
            return done
        done.append(workshop.finish(job))
        assert (done[-1].state, done[-1].failure_message) == (JobState.SUCCEEDED, "")
    message = f"{MOST_JOBS} jobs were not enough: {[job.rule for job in done]}"
    raise AssertionError(message)


def measure(workshop: Workshop, table: TableIdentifier) -> Measured:
    scanned = measure_table(workshop.ports, table)
    assert isinstance(scanned, Measured), scanned
    return scanned


def read_rows(workshop: Workshop, table: TableIdentifier) -> list[tuple[int, int]]:
    rows = (
        workshop.lake.catalog.load_table((*table.namespace, table.name))
        .scan()
        .to_arrow()
        .to_pylist()
    )
    return sorted((row["id"], row["part"]) for row in rows)


def assert_deletes_are_dropped(job: Job) -> None:
    assert job.effect is not None
    assert (
        job.estimate.items_before,
        job.estimate.items_after,
        job.effect.delete_files_removed,
    ) == (30, 0, 30)
    assert (job.effect.rows, job.effect.difference) == (RowProof.COUNTED, "")


def test_thirty_files_with_thirty_deletes_become_one_file_and_no_delete_under_the_built_in_rules(
    workshop: Workshop,
) -> None:
    rows = ("SELECT /*+ REPARTITION(30) */ id, 0 AS part FROM range(3000)",)
    table = workshop.create("dangling", "id bigint, part int", "", MERGE_ON_READ, rows)
    workshop.sql(f"DELETE FROM lake.db.{table.name} WHERE id % 10 = 3")
    before, expected = measure(workshop, table).health, read_rows(workshop, table)
    assert (before.data_files, before.position_delete_files, before.dangling_delete_files) == (
        30,
        30,
        0,
    )
    assert len(expected) == 2700

    jobs = maintain(workshop, table)
    assert [job.rule for job in jobs] == [FILES, DELETES]
    assert_deletes_are_dropped(jobs[-1])
    after = measure(workshop, table).health
    assert (after.data_files, after.position_delete_files, after.dangling_delete_files) == (1, 0, 0)
    assert read_rows(workshop, table) == expected


def test_dangling_deletes_are_removed_except_in_a_partition_with_live_ones(
    lake: Lake, warm: LocalRunner
) -> None:
    rows = tuple(
        f"SELECT /*+ REPARTITION({1 if part == 10 else 3}) */ id, {part} AS part FROM range(300)"
        for part in range(11)
    )
    with open_workshop(lake, warm, FROM_TWO_FILES) as workshop:
        table = workshop.create(
            "dangling_parts", "id bigint, part int", "PARTITIONED BY (part)", MERGE_ON_READ, rows
        )
        workshop.sql(f"DELETE FROM lake.db.{table.name} WHERE id % 10 = 3")
        expected = read_rows(workshop, table)
        jobs = maintain(workshop, table)
        assert [job.rule for job in jobs] == [FILES, DELETES]
        assert_deletes_are_dropped(jobs[-1])
        after = measure(workshop, table).health
        assert (after.data_files, after.position_delete_files, after.dangling_delete_files) == (
            11,
            1,
            0,
        )
        assert read_rows(workshop, table) == expected


def test_the_band_shows_dangling_deletes_until_they_are_gone(workshop: Workshop) -> None:
    rows = ("SELECT /*+ REPARTITION(30) */ id, 0 AS part FROM range(3000)",)
    table = workshop.create("dangling_shown", "id bigint, part int", "", MERGE_ON_READ, rows)
    workshop.sql(f"DELETE FROM lake.db.{table.name} WHERE id % 10 = 3")
    workshop.run(table, FILES)
    left = measure(workshop, table)
    assert (
        left.health.data_files,
        left.health.position_delete_files,
        left.health.dangling_delete_files,
    ) == (1, 30, 30)
    assert (left.grade.band, left.grade.findings[0].metric) == (
        Band.WATCH,
        Metric.DANGLING_DELETE_FILE_COUNT,
    )
    workshop.run(table, DELETES)
    assert measure(workshop, table).grade.band is Band.HEALTHY


def test_a_tag_of_ours_leaves_the_tables_state_as_it_is(workshop: Workshop) -> None:
    table = workshop.create("tagged", "id bigint, part int", rows=("SELECT id, 0 FROM range(9)",))
    before = measure(workshop, table).health
    workshop.sql("ALTER TABLE lake.db.tagged CREATE TAG `maintainer-before-m-1` RETAIN 60 MINUTES")
    after = measure(workshop, table).health
    assert after.metadata_location != before.metadata_location
    assert digest_state(after) == digest_state(before)
    workshop.sql("INSERT INTO lake.db.tagged VALUES (10, 1)")
    assert digest_state(measure(workshop, table).health) != digest_state(after)
