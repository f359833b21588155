"""A history that is too long for one job, on a real Spark: worked off in slices, oldest
first, to the very end that one run would have come to.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.table import Table

from maintainer.adapters.policies.reading import parse_policy
from maintainer.adapters.spark.local import LocalRunner
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import JobState
from maintainer.domain.pin import Pin
from maintainer.domain.policy import PolicyLayer, RuleName
from maintainer.steps.plan import plan
from maintainer.steps.submit import submit
from maintainer.steps.table import measure_table
from tests.adapters.spark.lakes import SCHEMA, Lake, WallClock
from tests.adapters.spark.workshop import Workshop, open_workshop
from tests.fakes.adapters.policies import FakePolicies

pytestmark = [pytest.mark.spark, pytest.mark.slow]

POLICY = """
tables: "*"
mode: enforce
rules:
  expire_snapshots:
    {when: {snapshot_count_above: 10}, max_age: 1d, keep: 5, cooldown: 1m,
     max_snapshots_per_job: %s}
  rewrite_data_files: {enabled: false}
  rewrite_manifests: {enabled: false}
"""
SNAPSHOTS, OVERWRITES = 60, 5
BOUND = 15
KEPT = 5  # as the policy says
PINNED, TAGGED, BRANCHED = 54, 10, 25  # which of the snapshots, from 1 on
MOST_RUNS = 10


class LaterClock(WallClock):
    """The true time, and what the pauses between runs would have taken."""

    later = timedelta(0)

    def now(self) -> datetime:
        return super().now() + self.later


@pytest.fixture
def clock() -> LaterClock:
    return LaterClock()


@pytest.fixture
def workshop(lake: Lake, warm: LocalRunner, clock: LaterClock) -> Iterator[Workshop]:
    with open_workshop(lake, warm, POLICY % SNAPSHOTS) as opened:
        opened.ports = replace(opened.ports, clock=clock)
        yield opened


def make_history(workshop: Workshop, name: str) -> tuple[TableIdentifier, list[int]]:
    """A table of so many snapshots a minute apart, ten days ago, some of which take away what
    others have written; and their ids in order.
    """
    catalog = workshop.lake.catalog
    catalog.create_namespace_if_not_exists("db")
    made = catalog.create_table(("db", name), SCHEMA)
    rows = pa.table(
        {"id": pa.array([1], pa.int64()), "part": pa.array([0], pa.int64()), "text": ["x"]}
    )
    with made.transaction() as transaction:
        for number in range(SNAPSHOTS - OVERWRITES):
            if number % 11 == 10:
                transaction.overwrite(rows)  # a snapshot that deletes, and one that appends
            else:
                transaction.append(rows)
    ids = [snapshot.snapshot_id for snapshot in made.snapshots()]
    assert len(ids) == SNAPSHOTS
    with made.manage_snapshots() as refs:
        refs.create_tag(ids[TAGGED - 1], "release")
        refs.create_branch(ids[BRANCHED - 1], "audit")
    let_grow_old(catalog.load_table(("db", name)))
    return TableIdentifier("lake", ("db",), name), ids


def let_grow_old(table: Table) -> None:
    """In place: nobody has read the file yet."""
    path = Path(table.metadata_location.removeprefix("file://"))
    document = json.loads(path.read_bytes())
    begin = datetime.now(UTC) - timedelta(days=10)
    moments = {
        snapshot["snapshot-id"]: int((begin + timedelta(minutes=position)).timestamp() * 1000)
        for position, snapshot in enumerate(document["snapshots"])
    }
    for entry in (*document["snapshots"], *document["snapshot-log"]):
        entry["timestamp-ms"] = moments[entry["snapshot-id"]]
    path.write_text(json.dumps(document), encoding="utf-8")


def positions_of(workshop: Workshop, table: TableIdentifier, ids: list[int]) -> set[int]:
    """Which of the snapshots are there, from 1 on."""
    return {ids.index(snapshot.snapshot_id) + 1 for snapshot in workshop.look(table).snapshots}


def stored(workshop: Workshop, table: TableIdentifier) -> tuple[int, int]:
    """How many data files and lists of manifests lie in the storage."""
    place = Path(workshop.look(table).location.removeprefix("file://"))
    return len(list(place.glob("data/*.parquet"))), len(list(place.glob("metadata/snap-*.avro")))


def run_to_the_end(
    workshop: Workshop, clock: LaterClock, table: TableIdentifier, ids: list[int]
) -> list[set[int]]:
    """The daemon's own steps until nothing is left to be done: which snapshots are there after each
    run.
    """
    left: list[set[int]] = []
    for _ in range(MOST_RUNS):
        clock.later += timedelta(minutes=2)
        measure_table(workshop.ports, table)
        plan(workshop.ports)
        if not submit(workshop.ports):
            return left
        (job,) = workshop.store.unfinished_jobs()
        done = workshop.finish(job)
        assert (done.state, done.failure_message) == (JobState.SUCCEEDED, "")
        left.append(positions_of(workshop, table, ids))
    pytest.fail(f"there was something to do after {MOST_RUNS} runs still")


def test_a_long_history_is_worked_off_in_slices_to_where_one_run_would_end(
    workshop: Workshop, clock: LaterClock
) -> None:
    whole, whole_ids = make_history(workshop, "whole")
    sliced, ids = make_history(workshop, "sliced")
    for table, known in ((whole, whole_ids), (sliced, ids)):
        measure_table(workshop.ports, table)
        workshop.store.set_pin(
            workshop.look(table).table_uuid,
            Pin("replica", known[PINNED - 1], "ada", datetime.now(UTC)),
        )
    once = workshop.run(whole, RuleName.EXPIRE_SNAPSHOTS)
    assert (once.state, once.failure_message) == (JobState.SUCCEEDED, "")
    workshop.store.forget_tables_except("lake", [sliced])
    before = stored(workshop, sliced)
    assert before[1] == SNAPSHOTS
    layer = parse_policy(POLICY % BOUND, "all.yaml")
    assert isinstance(layer, PolicyLayer), layer
    workshop.ports = replace(workshop.ports, policies=FakePolicies(layer))
    left = [positions_of(workshop, sliced, ids), *run_to_the_end(workshop, clock, sliced, ids)]
    gone = [before - after for before, after in pairwise(left)]
    assert len(gone) == -(-sum(map(len, gone)) // BOUND), (
        "no run took less than it could but the last"
    )
    assert all(len(taken) <= BOUND for taken in gone)
    assert all(max(first) < min(second) for first, second in pairwise(gone)), (
        "the oldest first, and none twice"
    )
    assert {
        TAGGED,
        *range(BRANCHED - KEPT + 1, BRANCHED + 1),
        *range(PINNED, SNAPSHOTS + 1),
    } <= left[-1], "refs and pins hold"
    assert left[-1] == positions_of(workshop, whole, whole_ids)
    assert stored(workshop, sliced) == stored(workshop, whole)
