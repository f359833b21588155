"""Proof and rollback on a real Spark: what is broken on purpose is found, what was done is undone,
and nobody else loses anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from maintainer.adapters.spark.local import LocalRunner
from maintainer.domain.action import rollback_tag
from maintainer.domain.audit import AuditQuery, Deed
from maintainer.domain.effect import ContentProof, RowProof
from maintainer.domain.errors import InvalidTransitionError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.policy import RuleName
from maintainer.requests.pause import request_rollback
from maintainer.requests.run import request_run
from maintainer.steps.review import review
from maintainer.steps.submit import start_pending
from maintainer.steps.table import measure_table
from maintainer.steps.watch import watch
from tests.adapters.spark.lakes import Lake, wait_until
from tests.adapters.spark.workshop import Workshop, open_workshop

pytestmark = [pytest.mark.spark, pytest.mark.slow]

POLICY = """
tables: "*"
mode: enforce
checksum: full
rules:
  rewrite_data_files: {options: {min-input-files: 2, partial-progress.enabled: true,
    partial-progress.max-commits: 2}}
"""
COLUMNS = "id bigint, part int, tags map<string, int>"
SIX_FILES = tuple(
    f"SELECT /*+ REPARTITION(3) */ id, {part}, map('a', {part}) FROM range(300)" for part in (0, 1)
)


@pytest.fixture(scope="module")
def workshop(lake: Lake, warm: LocalRunner) -> Iterator[Workshop]:
    with open_workshop(lake, warm, POLICY) as opened:
        yield opened


def create(workshop: Workshop, name: str, version: int = 2) -> TableIdentifier:
    properties = f"'format-version' = '{version}', 'write.distribution-mode' = 'none'"
    return workshop.create(name, COLUMNS, "PARTITIONED BY (part)", properties, SIX_FILES)


def refs_of(workshop: Workshop, table: TableIdentifier) -> dict[str, int]:
    return {ref.name: ref.snapshot_id for ref in workshop.look(table).refs}


def assert_reported_beforehand(workshop: Workshop, job: Job) -> None:
    """The audit log's entry of the submission has what Spark then ran, statement by statement."""
    entries = workshop.store.audit(AuditQuery(job_id=job.job_id)).items[::-1]
    (handed,) = [
        entry.fields["statements"] for entry in entries if entry.deed is Deed.JOB_SUBMITTED
    ]
    assert handed == [
        entry.fields["statement"] for entry in entries if entry.deed is Deed.STATEMENT_STARTED
    ]


@pytest.mark.parametrize("version", [1, 3])
def test_guard_26_a_rewrite_in_parts_is_undone_and_other_branches_stay(
    workshop: Workshop, version: int
) -> None:
    table = create(workshop, f"undone_{version}", version)
    workshop.sql(f"ALTER TABLE lake.db.{table.name} CREATE BRANCH audit")
    before = refs_of(workshop, table)
    job = workshop.run(table, RuleName.REWRITE_DATA_FILES)
    assert (job.state, job.failure_message) == (JobState.SUCCEEDED, "")
    assert job.effect is not None
    assert (job.effect.rows, job.effect.contents, job.effect.own_commits) == (
        RowProof.EQUAL,
        ContentProof.EQUAL,
        2,
    )
    assert job.effect.canary_files
    assert_reported_beforehand(workshop, job)
    assert refs_of(workshop, table)[rollback_tag(job.job_id)] == before["main"]
    undoing = workshop.finish(request_rollback(workshop.ports, job, "person ada"))
    assert (undoing.state, undoing.failure_message) == (JobState.SUCCEEDED, "")
    assert undoing.effect is not None
    assert (undoing.effect.rows, undoing.effect.after.data_files) == (RowProof.EQUAL, 6)
    after = refs_of(workshop, table)
    assert (after["main"], after["audit"]) == (before["main"], before["audit"])
    assert workshop.lake.rows(table) == 600
    plan, again = request_run(workshop.ports, table, (RuleName.REWRITE_DATA_FILES,), "person")
    assert (again, plan.skipped[0].code) == (None, "paused")


def test_guard_26_a_writers_commit_is_not_rolled_back(workshop: Workshop) -> None:
    table = create(workshop, "busy")
    job = workshop.run(table, RuleName.REWRITE_DATA_FILES)
    workshop.sql("INSERT INTO lake.db.busy SELECT id, 2, map('b', 2) FROM range(5)")
    with pytest.raises(InvalidTransitionError, match=r"1 commit of others, .* would be lost"):
        request_rollback(workshop.ports, job, "ada")
    assert workshop.lake.rows(table) == 605


@contextmanager
def overtaken_by_a_writer(workshop: Workshop, name: str) -> Iterator[None]:
    """Five rows are committed to the table after the daemon's last look, right before Spark has the
    job.
    """
    submit = workshop.runner.submit

    def write_first(submitted: Job) -> None:
        workshop.sql(f"INSERT INTO lake.db.{name} SELECT id, 2, map('b', 2) FROM range(5)")
        submit(submitted)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workshop.runner, "submit", write_first)
        yield


def test_spark_itself_refuses_a_rollback_that_a_writer_came_before(workshop: Workshop) -> None:
    table = create(workshop, "raced")
    job = workshop.run(table, RuleName.REWRITE_DATA_FILES)
    undoing = request_rollback(workshop.ports, job, "ada")
    with overtaken_by_a_writer(workshop, "raced"):
        done = workshop.finish(undoing)
    assert done.state is JobState.FAILED
    assert "main has changed from snapshot" in done.failure_message
    assert workshop.lake.rows(table) == 605


def test_guard_26_a_table_without_the_list_of_our_last_commit_is_set_back(
    workshop: Workshop,
) -> None:
    """What Iceberg's JDBC catalog does when the answer to a commit is lost, done by hand:
    tests/torture/test_lost_answer.py has the real thing.
    """
    table = create(workshop, "unlisted")
    measure_table(workshop.ports, table)
    _, job = request_run(workshop.ports, table, (RuleName.REWRITE_DATA_FILES,), "person")
    assert job is not None
    with overtaken_by_a_writer(workshop, "unlisted"):
        start_pending(workshop.ports, frozenset({job.job_id}))
    wait_until(lambda: watch(workshop.ports) > 0)
    last = workshop.lake.load(table).current_snapshot()
    assert last is not None
    Path(unquote(urlparse(last.manifest_list).path)).unlink()
    assert review(workshop.ports) == 1
    done = workshop.store.job(job.job_id)
    assert done is not None
    assert (done.state, done.failure_reason) == (JobState.FAILED, FailureReason.UNPROVED)
    assert (
        f"the table's current snapshot is {last.snapshot_id} of this job, whose manifest list "
        f"cannot be read"
    ) in done.failure_message
    undoing = workshop.finish(request_rollback(workshop.ports, done, "ada"))
    assert (undoing.state, undoing.failure_message) == (JobState.SUCCEEDED, "")
    assert workshop.lake.rows(table) == 605


def lose(path: Path) -> None:
    path.unlink()


def swap(path: Path) -> None:
    pq.write_table(pa.table({"id": [1]}), path)


def spoil(path: Path) -> None:
    path.write_bytes(b"\xff" * path.stat().st_size)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lose, "does not exist"),
        (swap, "and its manifest says"),
        (spoil, "cannot be read as PARQUET"),
    ],
)
def test_guard_25_what_is_broken_before_the_proof_is_named_and_the_table_paused(
    workshop: Workshop, damage: Callable[[Path], None], words: str
) -> None:
    table = create(workshop, f"broken_{damage.__name__}")
    measure_table(workshop.ports, table)
    _, job = request_run(workshop.ports, table, (RuleName.REWRITE_DATA_FILES,), "person")
    assert job is not None
    start_pending(workshop.ports, frozenset({job.job_id}))
    wait_until(lambda: watch(workshop.ports) > 0)
    file = next(iter(workshop.lake.load(table).scan().plan_files())).file.file_path
    damage(Path(unquote(urlparse(file).path)))
    assert review(workshop.ports) == 1
    done = workshop.store.job(job.job_id)
    assert done is not None
    assert (done.state, done.failure_reason) == (JobState.FAILED, FailureReason.UNPROVED)
    assert words in done.failure_message
    assert file.rpartition("/")[2] in done.failure_message
    record = workshop.store.table(table)
    assert record is not None
    assert record.pause is not None
    assert (
        workshop.finish(request_rollback(workshop.ports, done, "ada")).state is JobState.SUCCEEDED
    ), "what there was before is still there"
    assert workshop.lake.rows(table) == 600
