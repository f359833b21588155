"""Two Flink sinks upsert into one table while the daemon maintains it; run by make test-flink."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

from maintainer.domain.health import SnapshotRole
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.policy import RuleName
from maintainer.measure.history import name_writer, stamp_snapshots
from maintainer.requests.run import request_run
from tests.adapters.spark.lakes import Lake, runner_on, wait_until
from tests.adapters.spark.workshop import Workshop, open_workshop
from tests.flink.environment import Writer, make_environment, start_writer

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.timeout(900),
]

POLICY = """
tables: "*"
mode: enforce
rules:
  rewrite_data_files:
    hot_partition_age: 0s
    options: {min-input-files: 2, delete-file-threshold: 1}
  rewrite_manifests: {when: {manifest_count_above: 1}}
  expire_snapshots: {max_age: 24h, keep: 2}
"""
RULES = (
    RuleName.REWRITE_DATA_FILES,
    RuleName.REWRITE_MANIFESTS,
    RuleName.EXPIRE_SNAPSHOTS,
)
TABLE = TableIdentifier("lake", ("db",), "upserted")
ROWS, KEYS, ROWS_PER_SECOND = 3000, 50, 50  # of each sink: a minute
FIRST_KEYS = (0, 100)  # each sink has keys of its own
SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "number", LongType()),
    identifier_field_ids=[1],
)
# The last number of each key is the one that stays.
EXPECTED = [(first + key, ROWS - KEYS + key) for first in FIRST_KEYS for key in range(KEYS)]


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    lake = Lake(tmp_path)
    lake.catalog.create_namespace("db")
    lake.catalog.create_table("db.upserted", SCHEMA, properties={"format-version": "2"})
    runner = runner_on([lake], tmp_path / "run", "flink")
    with open_workshop(lake, runner, POLICY) as opened:
        yield opened
    runner.close()
    lake.catalog.close()


def order_of(workshop: Workshop, first: int) -> dict[str, object]:
    return {
        "uri": f"jdbc:sqlite:{workshop.lake.root}/catalog.db",
        "warehouse": f"file://{workshop.lake.root}/warehouse",
        "table": "db.upserted",
        "keys": [first, KEYS],
        "rows": ROWS,
        "rows_per_second": ROWS_PER_SECOND,
        "checkpoint_seconds": 3,
    }


def maintain(workshop: Workshop) -> list[Job]:
    """Carry out each rule once, where a plan wants it."""
    done = []
    for rule in RULES:
        workshop.measure(TABLE)
        _, job = request_run(workshop.ports, TABLE, (rule,), "person")
        if job is not None:
            done.append(workshop.finish(job))
    return done


def read_rows(workshop: Workshop, place: Path) -> list[tuple[int, int]]:
    """The rows as Spark reads them, all deletes applied."""
    workshop.sql(f"INSERT OVERWRITE DIRECTORY 'file://{place}' USING json SELECT * FROM {TABLE}")
    lines = [line for part in place.glob("*.json") for line in part.read_text().splitlines()]
    return sorted((row["id"], row["number"]) for row in map(json.loads, lines))


def test_two_sinks_lose_nothing_while_their_table_is_maintained(
    workshop: Workshop, tmp_path: Path
) -> None:
    python = make_environment()
    with ExitStack() as stack:
        writers: list[Writer] = [
            stack.enter_context(
                start_writer(python, tmp_path / f"{first}.log", order_of(workshop, first))
            )
            for first in FIRST_KEYS
        ]
        wait_until(lambda: all(writer.has_started for writer in writers))
        jobs: list[Job] = []
        while any(writer.is_running for writer in writers):
            jobs += maintain(workshop)
        for writer in writers:
            assert writer.process.returncode == 0, writer.said()[-4000:]
    failed = [job for job in jobs if job.state is not JobState.SUCCEEDED]
    assert {job.failure_reason for job in failed} <= {FailureReason.CONFLICT}, [
        job.failure_message for job in failed
    ]
    rewrites = [job for job in jobs if job.rule is RuleName.REWRITE_DATA_FILES]
    assert any(job.effect is not None and job.effect.other_commits for job in rewrites), (
        "the sinks committed while Spark rewrote"
    )
    assert read_rows(workshop, tmp_path / "while") == EXPECTED

    snapshots = workshop.look(TABLE).snapshots
    assert {name_writer(one) for one in snapshots if one.operation != "replace"} == {"flink"}
    checkpoints = [
        stamp.role_of
        for stamp in stamp_snapshots(snapshots)
        if stamp.role is SnapshotRole.CHECKPOINT
    ]
    assert len(set(checkpoints)) == len(FIRST_KEYS), "of each sink, from which it restores"
    jobs = maintain(workshop)
    assert [job.state for job in jobs] == [JobState.SUCCEEDED] * len(jobs)
    assert read_rows(workshop, tmp_path / "after") == EXPECTED
    health = workshop.measure(TABLE)
    assert (health.data_files, health.equality_delete_files) == (1, 0)
