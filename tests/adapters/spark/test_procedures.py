"""Each procedure on a real Spark: decided, carried out, and proved from the table's own
metadata.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.adapters.spark.local import LocalRunner
from maintainer.domain.effect import RowProof
from maintainer.domain.job import Job, JobState
from maintainer.domain.pin import Pin
from maintainer.domain.policy import RuleName
from maintainer.requests.run import request_run
from maintainer.steps.table import measure_table
from tests.adapters.spark.lakes import Lake, WallClock
from tests.adapters.spark.workshop import Workshop, open_workshop
from tests.fakes.adapters.clock import FakeClock

pytestmark = [pytest.mark.spark, pytest.mark.slow]

POLICY = """
tables: "*"
mode: enforce
rules:
  rewrite_data_files:
    strategy: sort
    sort_order: "zorder(id, part)"
    options: {min-input-files: 2, compression-factor: 0.9, shuffle-partitions-per-file: 1,
      max-output-size: 64, var-length-contribution: 16}
  compute_table_stats: {columns: id}
  expire_snapshots: {max_age: 24h, keep: 2}
"""
COLUMNS = "id bigint, part int"
MERGE_ON_READ = "'write.delete.mode' = 'merge-on-read', 'write.distribution-mode' = 'none'"
EIGHT_FILES = "SELECT /*+ REPARTITION(8) */ id, {part} FROM range(8000)"
TWO_PARTITIONS = (EIGHT_FILES.format(part=0), EIGHT_FILES.format(part=1))


@pytest.fixture(scope="module")
def workshop(lake: Lake, warm: LocalRunner) -> Iterator[Workshop]:
    with open_workshop(lake, warm, POLICY) as opened:
        yield opened


def delete_six_times(workshop: Workshop, name: str) -> None:
    workshop.sql(*(f"DELETE FROM lake.db.{name} WHERE id % 1000 = {number}" for number in range(6)))


def assert_proved(job: Job, rows: RowProof) -> None:
    assert (job.state, job.failure_message) == (JobState.SUCCEEDED, "")
    assert job.effect is not None
    assert job.effect.rows is rows
    assert job.outcome is not None
    assert job.outcome.result, "the procedure's own row is kept"


@pytest.mark.parametrize(
    ("file_format", "proof"),
    [("parquet", RowProof.COUNTED), ("orc", RowProof.COUNTED), ("avro", RowProof.BOUNDED)],
)
def test_position_deletes_become_fewer_and_no_data_file_is_touched(
    workshop: Workshop, file_format: str, proof: RowProof
) -> None:
    properties = (
        f"{MERGE_ON_READ}, 'write.delete.granularity' = 'partition', 'write.format.default' = "
        f"'{file_format}'"
    )
    table = workshop.create(
        f"positions_{file_format}", COLUMNS, "PARTITIONED BY (part)", properties, TWO_PARTITIONS
    )
    delete_six_times(workshop, table.name)
    job = workshop.run(table, RuleName.REWRITE_POSITION_DELETE_FILES)
    assert_proved(job, proof)
    assert job.effect is not None
    assert (job.estimate.items_before, job.estimate.items_after) == (12, 2)
    assert (
        job.effect.before.delete_files,
        job.effect.after.delete_files,
        job.effect.delete_files_removed,
    ) == (12, 2, 10)
    assert (
        job.effect.before.data_files,
        job.effect.after.data_files,
        job.effect.files_removed,
    ) == (16, 16, 0)
    assert job.effect.rows_after == (15_904 if proof is RowProof.COUNTED else None)


def test_deletes_that_are_one_a_data_file_are_left_alone_because_spark_would_gain_nothing(
    workshop: Workshop,
) -> None:
    table = workshop.create(
        "scoped",
        COLUMNS,
        "PARTITIONED BY (part)",
        f"{MERGE_ON_READ}, 'write.delete.granularity' = 'file'",
        TWO_PARTITIONS,
    )
    delete_six_times(workshop, table.name)
    measure_table(workshop.ports, table)
    plan, job = request_run(
        workshop.ports, table, (RuleName.REWRITE_POSITION_DELETE_FILES,), "person"
    )
    assert job is None
    assert plan.skipped[0].reason == (
        "16 position delete files would become up to 16: the rewrite writes one for each "
        "data file that has deletes"
    )


def test_in_format_version_3_position_deletes_become_deletion_vectors_once(
    workshop: Workshop,
) -> None:
    properties = f"{MERGE_ON_READ}, 'write.delete.granularity' = 'file'"
    table = workshop.create(
        "vectors",
        COLUMNS,
        "PARTITIONED BY (part)",
        properties,
        (*TWO_PARTITIONS, "SELECT id, 2 FROM range(9)"),
    )
    delete_six_times(workshop, table.name)
    workshop.sql("ALTER TABLE lake.db.vectors SET TBLPROPERTIES ('format-version' = '3')")
    job = workshop.run(table, RuleName.REWRITE_POSITION_DELETE_FILES)
    assert_proved(job, RowProof.COUNTED)
    health = workshop.health(table)
    assert (health.position_delete_files, health.deletion_vectors) == (0, 18)
    plan, again = request_run(
        workshop.ports, table, (RuleName.REWRITE_POSITION_DELETE_FILES,), "person"
    )
    assert again is None, plan.planned


def test_statistics_of_columns_are_in_the_metadata_and_their_file_is_there(
    workshop: Workshop,
) -> None:
    table = workshop.create("counted", COLUMNS, rows=("SELECT id, 0 FROM range(100)",))
    job = workshop.run(table, RuleName.COMPUTE_TABLE_STATS)
    assert_proved(job, RowProof.NOT_NEEDED)
    found = workshop.look(table)
    assert [file.snapshot_id for file in found.statistics] == [found.current_snapshot_id]
    assert workshop.catalog.file_bytes(table, found.statistics[0].path) == found.statistics[0].bytes
    assert len(found.snapshots) == 1, "statistics are no snapshot"
    plan, again = request_run(workshop.ports, table, (RuleName.COMPUTE_TABLE_STATS,), "person")
    assert (again, plan.skipped[0].reason) == (
        None,
        "the statistics are those of the current snapshot",
    )


def test_statistics_of_partitions_are_in_the_metadata_and_their_file_is_there(
    workshop: Workshop,
) -> None:
    table = workshop.create(
        "summed", COLUMNS, "PARTITIONED BY (part)", rows=("SELECT id, id % 3 FROM range(100)",)
    )
    assert_proved(workshop.run(table, RuleName.COMPUTE_PARTITION_STATS), RowProof.NOT_NEEDED)
    workshop.sql("INSERT INTO lake.db.summed SELECT id, 7 FROM range(5)")
    assert_proved(workshop.run(table, RuleName.COMPUTE_PARTITION_STATS), RowProof.NOT_NEEDED)
    found = workshop.look(table)
    assert {file.snapshot_id for file in found.partition_statistics} == {
        snapshot.snapshot_id for snapshot in found.snapshots
    }
    assert workshop.catalog.file_bytes(table, found.partition_statistics[-1].path)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_z_ordered_rewrite_keeps_every_row_and_leaves_branches_alone(
    workshop: Workshop, version: int
) -> None:
    properties = f"'format-version' = '{version}', 'write.distribution-mode' = 'none'"
    table = workshop.create(
        f"curve_{version}", COLUMNS, "PARTITIONED BY (part)", properties, TWO_PARTITIONS
    )
    workshop.sql(f"ALTER TABLE lake.db.{table.name} CREATE BRANCH audit")
    branch = {ref.name: ref.snapshot_id for ref in workshop.look(table).refs}["audit"]
    job = workshop.run(table, RuleName.REWRITE_DATA_FILES)
    assert_proved(job, RowProof.EQUAL)
    assert job.effect is not None
    assert (job.estimate.items_before, job.estimate.items_after) == (16, 2)
    assert (
        job.effect.before.data_files,
        job.effect.after.data_files,
        job.effect.files_removed,
    ) == (16, 2, 14)
    assert {ref.name: ref.snapshot_id for ref in workshop.look(table).refs}["audit"] == branch
    assert workshop.lake.rows(table) == 16_000


def test_expiry_leaves_what_a_pin_a_tag_a_branch_and_an_audit_need(workshop: Workshop) -> None:
    table = workshop.create(
        "kept",
        COLUMNS,
        rows=tuple(f"SELECT id, {n} FROM range(3)" for n in range(8)),
    )
    name = f"lake.db.{table.name}"
    snapshots = [snapshot.snapshot_id for snapshot in workshop.look(table).snapshots]
    workshop.sql(
        f"ALTER TABLE {name} CREATE TAG release AS OF VERSION {snapshots[1]}",
        f"ALTER TABLE {name} SET TBLPROPERTIES ('write.wap.enabled' = 'true')",
    )
    workshop.sql(
        "SET spark.wap.id = audit-1",
        f"INSERT INTO {name} SELECT id, 99 FROM range(1)",
        "RESET spark.wap.id",
    )
    workshop.store.set_pin(
        workshop.look(table).table_uuid, Pin("replica", snapshots[4], "ada", WallClock().now())
    )
    in_two_days = replace(
        workshop,
        ports=replace(workshop.ports, clock=FakeClock(WallClock().now() + timedelta(days=2))),
    )
    job = in_two_days.run(table, RuleName.EXPIRE_SNAPSHOTS)
    assert_proved(job, RowProof.NOT_NEEDED)
    assert "snapshots newer than snapshot" in job.reason
    left = {snapshot.snapshot_id for snapshot in workshop.look(table).snapshots}
    assert left & set(snapshots) == {snapshots[1], *snapshots[4:]}, (
        "the tag keeps its own, the pin everything newer"
    )
    assert len(left - set(snapshots)) == 1, "what was staged is still there"
    assert job.effect is not None
    assert (job.effect.snapshots_removed, job.estimate.items_removed) == (3, 3)
