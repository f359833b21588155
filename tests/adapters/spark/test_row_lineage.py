"""Rows of format version 3 keep their ids through every rewrite, proved as a daemon proves it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path

import pyspark
import pytest

from maintainer.adapters.spark.local import LocalRunner
from maintainer.domain.effect import RowProof
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.policy import RuleName
from maintainer.steps.kinds.maintenance import find_effect
from maintainer.steps.table import Measured, measure_table
from tests.adapters.spark.lakes import Lake, WallClock
from tests.adapters.spark.workshop import Workshop, open_workshop
from tests.fakes.adapters.clock import FakeClock

pytestmark = [pytest.mark.spark, pytest.mark.slow]
needs_variants = pytest.mark.skipif(
    pyspark.__version__ < "4", reason="Spark 3.5 knows no type variant"
)

POLICY = """
tables: "*"
mode: enforce
rules:
  rewrite_data_files: {options: {min-input-files: 2, delete-file-threshold: 1}}
  rewrite_manifests: {when: {manifest_count_above: 1}}
  expire_snapshots: {max_age: 24h, keep: 2}
"""
V3 = "'format-version' = '3', 'write.delete.mode' = 'merge-on-read'"
MONTH = timedelta(days=30)
Row = tuple[int, int, int, str]  # its id column, row id, sequence number, and its other contents
_numbers = count(1)


@pytest.fixture(scope="module")
def workshop(lake: Lake, warm: LocalRunner) -> Iterator[Workshop]:
    with open_workshop(lake, warm, POLICY) as opened:
        yield opened


def fill(workshop: Workshop, name: str, columns: str, other: str) -> TableIdentifier:
    """A table of twelve small files in two partitions, with rows deleted beside them."""
    rows = tuple(
        f"SELECT id, CAST(id % 2 AS INT), {other} FROM range({start}, {start + 10})"
        for start in range(0, 60, 10)
    )
    table = workshop.create(
        name, f"id bigint, part int, {columns}", "PARTITIONED BY (part)", V3, rows
    )
    workshop.sql(f"DELETE FROM {table} WHERE id % 10 = 3")
    return table


def read_rows(workshop: Workshop, table: TableIdentifier, directory: Path, other: str) -> list[Row]:
    """What Spark reads of each row, in order."""
    place = directory / f"rows-{next(_numbers)}"
    workshop.sql(
        f"INSERT OVERWRITE DIRECTORY 'file://{place}' USING json SELECT id, _row_id AS row, "
        f"_last_updated_sequence_number AS number, {other} AS other FROM {table}"
    )
    lines = [line for part in place.glob("*.json") for line in part.read_text().splitlines()]
    found = [json.loads(line) for line in lines]
    return sorted((one["id"], one["row"], one["number"], one["other"]) for one in found)


def done(workshop: Workshop, table: TableIdentifier, rule: RuleName) -> Job:
    job = workshop.run(table, rule)
    assert job.state is JobState.SUCCEEDED, job.failure_message
    assert job.effect is not None
    assert job.effect.failed_proofs == ()
    return job


def test_guard_25_rewrites_keep_the_id_of_each_row_and_the_proof_reads_it(
    workshop: Workshop, tmp_path: Path
) -> None:
    table = fill(workshop, "lineage", "word string", "concat('w', id)")
    before = read_rows(workshop, table, tmp_path, "word")
    assert len({row for _, row, _, _ in before}) == len(before) == 54
    first_free = workshop.look(table).next_row_id
    assert first_free == 60

    manifests = done(workshop, table, RuleName.REWRITE_MANIFESTS)
    assert read_rows(workshop, table, tmp_path, "word") == before
    files = done(workshop, table, RuleName.REWRITE_DATA_FILES)
    assert files.effect is not None
    assert (files.effect.rows, files.effect.canary_files) == (RowProof.COUNTED, 2)
    assert read_rows(workshop, table, tmp_path, "word") == before

    # The same proof fails when the metadata says that ids were given before.
    for job in (manifests, files):
        assert job.baseline is not None
        assert job.baseline.next_row_id is not None
        later = replace(job.baseline, next_row_id=job.baseline.next_row_id + 1000)
        scanned = measure_table(workshop.ports, table)
        assert isinstance(scanned, Measured)
        effect = find_effect(workshop.ports, job, later, scanned)
        assert "next-row-id decreased from" in effect.failed_proofs[0]


def test_a_rewrite_right_after_an_upgrade_gives_the_rows_their_first_ids(
    workshop: Workshop, tmp_path: Path
) -> None:
    rows = tuple(f"SELECT id FROM range({start}, {start + 10})" for start in range(0, 60, 10))
    table = workshop.create("upgraded", "id bigint", "", "'format-version' = '2'", rows)
    workshop.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('format-version' = '3')")
    done(workshop, table, RuleName.REWRITE_DATA_FILES)
    given = read_rows(workshop, table, tmp_path, "'' ")
    assert len({row for _, row, _, _ in given}) == len(given) == 60
    workshop.sql(*(f"INSERT INTO {table} SELECT id FROM range({n}, {n + 1})" for n in (60, 61)))
    more = read_rows(workshop, table, tmp_path, "'' ")
    assert [row for row in more if row[0] < 60] == given
    done(workshop, table, RuleName.REWRITE_DATA_FILES)
    assert read_rows(workshop, table, tmp_path, "'' ") == more


@needs_variants
def test_a_table_with_a_variant_column_is_scanned_rewritten_and_expired(
    workshop: Workshop, tmp_path: Path
) -> None:
    """PyIceberg does not know the type."""
    other = 'parse_json(concat(\'{"a": \', id, \', "b": ["x", null]}\'))'
    table = fill(workshop, "variants", "doc variant", other)
    before = read_rows(workshop, table, tmp_path, "to_json(doc)")
    assert before[7][3] == '{"a":8,"b":["x",null]}'
    health = workshop.measure(table)
    assert (health.data_files, health.deletion_vectors) == (12, 6)

    done(workshop, table, RuleName.REWRITE_MANIFESTS)
    files = done(workshop, table, RuleName.REWRITE_DATA_FILES)
    assert files.effect is not None
    assert files.effect.canary_files == 2
    assert read_rows(workshop, table, tmp_path, "to_json(doc)") == before

    later = FakeClock(WallClock().now() + MONTH)
    in_a_month = replace(workshop, ports=replace(workshop.ports, clock=later))
    expiry = done(in_a_month, table, RuleName.EXPIRE_SNAPSHOTS)
    assert expiry.effect is not None
    assert expiry.effect.snapshots_removed > 0
    assert read_rows(workshop, table, tmp_path, "to_json(doc)") == before


@needs_variants
def test_a_full_checksum_of_a_variant_is_refused_before_anything_changes(
    lake: Lake, warm: LocalRunner
) -> None:
    with open_workshop(lake, warm, POLICY + "checksum: full\n") as workshop:
        table = fill(workshop, "unhashed", "doc variant", "parse_json('[1]')")
        before = workshop.look(table).current_snapshot_id
        job = workshop.run(table, RuleName.REWRITE_DATA_FILES)
        assert (job.state, job.failure_reason) == (
            JobState.FAILED,
            FailureReason.INVALID_REQUEST,
        ), job.failure_message
        assert "VARIANT" in job.failure_message
        assert workshop.look(table).current_snapshot_id == before
