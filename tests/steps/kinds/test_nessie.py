"""A catalog that keeps only the current snapshot, without its parent, as Nessie does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from maintainer.domain.effect import RowProof
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.steps.plan import plan
from maintainer.steps.review import review
from maintainer.steps.scan import scan
from maintainer.steps.submit import submit
from maintainer.steps.watch import watch
from tests.steps.world import World


def forget_history(world: World, table: TableIdentifier) -> None:
    entry = world.look(table)
    world.replace(replace(entry, snapshots=(replace(entry.snapshots[-1], parent_id=None),)))


def rewrite(world: World, table: TableIdentifier, lost_rows: int = 0, appended: int = 0) -> Job:
    scan(world.ports)
    plan(world.ports)
    assert submit(world.ports) == 1
    (job,) = world.store.unfinished_jobs()
    world.runner.start(job.job_id)
    if appended:
        rows = int(world.look(table).snapshots[-1].summary["total-records"]) + appended
        world.commit(table, summary={"total-records": str(rows)})
    world.runner.finish(job.job_id, world.mend(world.runner.submitted[job.job_id], lost_rows))
    forget_history(world, table)
    watch(world.ports)
    review(world.ports)
    return world.stored(job)


def put(world: World) -> TableIdentifier:
    """A table whose summary has the records that its manifests have."""
    table = world.put("orders")
    records = sum(
        part.record_count for digest in world.look(table).manifests for part in digest.partitions
    )
    entry = world.look(table)
    first = replace(
        entry.snapshots[0], summary={**entry.snapshots[0].summary, "total-records": str(records)}
    )
    world.replace(replace(entry, snapshots=(first,)))
    return table


@pytest.mark.parametrize(
    ("lost_rows", "state", "rows"),
    [(0, JobState.SUCCEEDED, RowProof.EQUAL), (3, JobState.FAILED, RowProof.DIFFERENT)],
)
def test_guard_25_without_the_snapshot_before_rows_are_proved_by_the_totals_of_both_metadata_files(
    lost_rows: int, state: JobState, rows: RowProof
) -> None:
    world = World()
    table = put(world)
    done = rewrite(world, table, lost_rows)
    assert done.effect is not None
    assert (done.state, done.effect.rows) == (state, rows)
    if lost_rows:
        assert done.failure_reason is FailureReason.UNPROVED
        record = world.store.table(table)
        assert record is not None
        assert record.pause is not None


def test_a_job_whose_rows_cannot_be_proved_says_so() -> None:
    world = World()
    done = rewrite(world, put(world), appended=20)
    assert done.effect is not None
    assert (done.state, done.effect.rows) == (JobState.SUCCEEDED, RowProof.UNKNOWN)
    assert done.failure_message.startswith(
        "the rows are not proved: the table's metadata no longer has the snapshot before the job"
    )
