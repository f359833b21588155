"""What goes wrong on a real Spark, and what becomes of it: the cause that the job ends with, and
when its rule is tried again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from maintainer.adapters.spark.catalogs import spark_configuration
from maintainer.adapters.spark.local import LocalRunner
from maintainer.domain.action import ComputePartitionStats, RewriteDataFiles
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.policy import RuleName
from maintainer.requests.run import request_cancel
from maintainer.scheduler import Scheduler, Step
from maintainer.steps.watch import watch
from tests.adapters.spark.gates import gate_at, wait_at_gate
from tests.adapters.spark.lakes import (
    QUICK_OPTIONS,
    Lake,
    WallClock,
    one_by_one,
    runner_on,
    wait_for_tasks,
    wait_until,
)
from tests.adapters.spark.workshop import Workshop, open_workshop
from tests.fakes.adapters.clock import FakeClock
from tests.fakes.adapters.telemetry import FakeTelemetry
from tests.postgres import PostgresServer, end_postgres, start_postgres

pytestmark = [pytest.mark.spark, pytest.mark.postgres, pytest.mark.slow]

POLICY = """
tables: "*"
mode: enforce
rules:
  rewrite_data_files: {when: {small_file_count_above: 1}, options: {min-input-files: 2},
    cooldown: 1m, hot_partition_age: 0s}
"""
AT_ONCE = RewriteDataFiles(
    options=(("min-input-files", "2"), ("partial-progress.enabled", "false"))
)
IN_PARTS = RewriteDataFiles(
    options=(("min-input-files", "2"), ("partial-progress.enabled", "true"))
)
DRAIN = timedelta(seconds=5)
CANCEL_PLANNING = timedelta(seconds=10)
STOP_JOBS = timedelta(seconds=10)  # that a driver which is stopped gives its jobs
MARGIN = timedelta(seconds=5)  # on a busy machine
LARGE_VALUE_BYTES = 620 * 1024**2  # more than the heap


@dataclass
class Site:
    """A lake whose catalog is a PostgreSQL of its own that Spark uses as a role of few rights."""

    server: PostgresServer
    workshop: Workshop
    runner: LocalRunner
    run_dir: Path

    def create(self, name: str, files: int = 6, partitions: int = 1) -> TableIdentifier:
        return self.workshop.lake.create(name, files=files, partitions=partitions)

    def run(self, table: TableIdentifier, action: RewriteDataFiles = AT_ONCE) -> Job:
        return self.settle(self.workshop.begin(table, action))

    def settle(self, job: Job) -> Job:
        self.workshop.await_end_of_work(job)
        wait_until(lambda: self.workshop.settle(job).state.is_final)
        return self.workshop.job(job)

    def wait_of(self, job: Job) -> timedelta | None:
        """How long after the job's end its rule is tried again; None when it is planned at once."""
        record = self.workshop.store.table(job.table)
        assert record is not None
        assert record.plan is not None
        if any(planned.rule is RuleName.REWRITE_DATA_FILES for planned in record.plan.planned):
            return None
        (skipped,) = (
            skip for skip in record.plan.skipped if skip.rule is RuleName.REWRITE_DATA_FILES
        )
        assert skipped.next_at is not None, skipped
        assert job.finished_at is not None
        return skipped.next_at - job.finished_at


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    server = start_postgres()
    try:
        with opened_site(server, tmp_path_factory.mktemp("site")) as opened:
            yield opened
    finally:
        end_postgres(server)


@contextmanager
def opened_site(server: PostgresServer, root: Path) -> Iterator[Site]:
    lake = Lake(root, server.url())
    role = (
        "CREATE ROLE worker LOGIN PASSWORD 'worker'; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL "
        "TABLES IN SCHEMA public TO worker"
    )
    server.run(role)
    lake.spark = spark_configuration(
        "lake",
        {
            **lake.properties,
            "uri": server.url().replace(f"postgres:{server.password}", "worker:worker"),
        },
        {},
    )
    options = replace(QUICK_OPTIONS, driver_memory="600m", cancel_timeout=timedelta(seconds=2))
    with (
        closing(runner_on([lake], root / "run", "causes-1", options)) as runner,
        open_workshop(lake, runner, POLICY) as workshop,
    ):
        yield Site(server, workshop, runner, root / "run")
    lake.catalog.close()


def assert_waits(site: Site, job: Job, longest: timedelta) -> None:
    wait = site.wait_of(job)
    assert wait is not None, "it is planned at once"
    assert 0.75 * longest < wait <= longest


def assert_failed(job: Job, reason: FailureReason, words: str) -> None:
    assert (job.state, job.failure_reason) == (JobState.FAILED, reason), job.failure_message
    assert words in job.failure_message
    assert "\n" not in job.failure_message


@pytest.mark.parametrize("action", [AT_ONCE, IN_PARTS], ids=["at once", "in parts"])
def test_a_data_file_that_is_missing_is_named_and_tried_again_after_a_change(
    site: Site, action: RewriteDataFiles
) -> None:
    table = site.create(f"missing_{len(action.options[1][1])}")
    gone = Path(
        min(
            task.file.file_path for task in site.workshop.lake.load(table).scan().plan_files()
        ).removeprefix("file://")
    )
    gone.unlink()
    job = site.run(table, action)
    assert_failed(job, FailureReason.MISSING_FILE, gone.name)
    assert_waits(site, job, timedelta(days=1))


def test_a_catalog_that_may_only_be_read_is_a_matter_of_permission(site: Site) -> None:
    table = site.create("read_only")
    site.server.run("REVOKE UPDATE ON ALL TABLES IN SCHEMA public FROM worker")
    try:
        job = site.run(table)
    finally:
        site.server.run("GRANT UPDATE ON ALL TABLES IN SCHEMA public TO worker")
    assert_failed(job, FailureReason.PERMISSION, "permission denied for table iceberg_tables")
    assert_waits(site, job, timedelta(days=1))


def test_a_place_that_cannot_be_written_to_is_a_matter_of_permission(site: Site) -> None:
    table = site.create("walled")
    wall = site.workshop.lake.root / "wall"
    wall.touch()
    with site.workshop.lake.load(table).transaction() as change:
        change.set_properties({"write.data.path": f"file://{wall}/data"})
    job = site.run(table)
    assert_failed(job, FailureReason.PERMISSION, str(wall))
    assert_waits(site, job, timedelta(days=1))


def test_a_job_whose_time_is_up_ends_with_a_timeout_and_is_tried_again_with_less(
    site: Site,
) -> None:
    table = site.create("slow")
    with gate_at(first_data_file(site, table)):
        job = site.workshop.begin(table, AT_ONCE, timeout=timedelta(minutes=1))
        wait_at_gate(site.runner, site.run_dir)
        later = FakeClock(WallClock().now() + timedelta(seconds=61))
        watch(replace(site.workshop.ports, clock=later))
        assert site.workshop.await_end_of_work(job).kind == "cancelled"
    ended = site.settle(job)
    assert_failed(
        ended, FailureReason.TIMEOUT, "Ended because it took longer than its timeout of 1 min"
    )
    assert_waits(site, ended, timedelta(hours=1))


def test_a_catalog_that_stops_in_the_middle_of_a_job_is_waited_for(site: Site) -> None:
    table = site.create("interrupted", files=120, partitions=60)
    job = site.workshop.begin(table, one_by_one())
    wait_for_tasks(site.runner, job, 2)
    site.server.stop()
    try:
        site.workshop.await_end_of_work(job)
    finally:
        site.server.start()
    wait_until(lambda: answers(site))
    ended = site.settle(job)
    assert_failed(ended, FailureReason.CATALOG_UNREACHABLE, "")
    assert len(site.workshop.lake.load(table).snapshots()) == 1
    assert_waits(site, ended, timedelta(minutes=1))
    again = site.run(table)
    assert (again.state, again.failure_message) == (JobState.SUCCEEDED, ""), (
        "no connection of before is in its way"
    )


def answers(site: Site) -> bool:
    """Whether the connections that the stopped server has left are used up."""
    try:
        site.workshop.lake.catalog.list_namespaces()
    except Exception:  # noqa: BLE001 - any exception of a connection that is gone
        return False
    return True


def first_data_file(site: Site, table: TableIdentifier) -> Path:
    return Path(
        min(
            task.file.file_path for task in site.workshop.lake.load(table).scan().plan_files()
        ).removeprefix("file://")
    )


def test_what_cannot_be_interrupted_is_killed_after_the_job_beside_it_has_ended(
    site: Site,
) -> None:
    """The planner of one job stands in a call of the system that Java cannot interrupt: the list of
    manifests does not open.
    """
    stuck_table, other_table = site.create("stuck"), site.create("beside")
    snapshot = site.workshop.lake.load(stuck_table).current_snapshot()
    assert snapshot is not None
    hand_over = site.workshop.prepare(stuck_table, AT_ONCE)
    with gate_at(Path(snapshot.manifest_list.removeprefix("file://"))):
        with gate_at(first_data_file(site, other_table)):
            beside = site.workshop.begin(other_table, AT_ONCE)
            wait_at_gate(site.runner, site.run_dir)
            stuck = hand_over()
            wait_at_gate(site.runner, site.run_dir, "iceberg.BaseSnapshot")
            java_pid, driver = site.runner.java_pid, site.runner.warm()
            assert driver is not None
            request_cancel(site.workshop.ports, site.workshop.job(stuck), "ada")
            wait_until(lambda: driver.is_worn)
            assert site.runner.java_pid == java_pid, "Spark lives for the job beside"
        # It reads an empty file from the gate, and ends with its own error.
        assert site.workshop.await_end_of_work(beside).kind == "failed"
        assert site.workshop.await_end_of_work(stuck).kind == "lost"
        assert site.runner.java_pid != java_pid
    ended = site.settle(stuck)
    assert (ended.state, ended.failure_reason) == (JobState.CANCELLED, None)
    reported = (
        "did not end within 2 s of its cancellation: Spark was killed; the table shows that "
        "nothing of this job was committed"
    )
    assert ended.failure_message.endswith(reported)
    innocent = site.settle(beside)
    assert innocent.failure_reason is not FailureReason.LOST_RUNNER
    assert "killed" not in innocent.failure_message


def test_threads_that_all_jobs_share_are_waited_for_by_none_not_even_by_the_first(
    site: Site,
) -> None:
    """They have the class loader of the first job that a Spark ran, and the one before has ended
    the Spark of the other tests.
    """
    table = site.create("counted", partitions=2)
    loaded = site.workshop.lake.load(table)
    snapshot = loaded.current_snapshot()
    assert snapshot is not None
    hand_over = site.workshop.prepare(table, ComputePartitionStats(snapshot.snapshot_id))
    with gate_at(Path(snapshot.manifests(loaded.io)[0].manifest_path.removeprefix("file://"))):
        job = hand_over()
        wait_at_gate(site.runner, site.run_dir, "iceberg-worker-pool")
        java_pid = site.runner.java_pid
        request_cancel(site.workshop.ports, site.workshop.job(job), "ada")
        assert site.workshop.await_end_of_work(job).kind == "cancelled", (
            "one of them stands at the gate still"
        )
    assert site.settle(job).state is JobState.CANCELLED
    assert site.runner.java_pid == java_pid


def test_a_task_that_finds_no_memory_is_reported_as_that_and_tried_again_with_less(
    site: Site,
) -> None:
    """One value that is larger than the heap: Spark ends its JVM over it."""
    table = site.create("heavy", files=2)
    folder = Path(site.workshop.lake.load(table).location().removeprefix("file://"))
    heavy = pa.table(
        {
            "id": pa.array([1], pa.int64()),
            "part": pa.array([0], pa.int64()),
            "text": pa.array(["x" * LARGE_VALUE_BYTES], pa.large_string()),
        }
    )
    pq.write_table(
        heavy,
        folder.parent / "heavy.parquet",
        compression="zstd",
        use_dictionary=False,
        write_statistics=False,
    )
    site.workshop.lake.load(table).add_files([f"file://{folder.parent}/heavy.parquet"])
    job = site.run(table)
    assert_failed(job, FailureReason.OUT_OF_MEMORY, "")
    assert_waits(site, job, timedelta(hours=1))


def test_a_rewrite_that_plans_for_too_long_is_ended_without_the_job_beside_it(
    site: Site,
) -> None:
    """Its planner waits for its list of manifests, which Java cannot interrupt."""
    stuck_table, other_table = site.create("planning"), site.create("unhurt")
    snapshot = site.workshop.lake.load(stuck_table).current_snapshot()
    assert snapshot is not None
    options = replace(
        QUICK_OPTIONS, cancel_timeout=timedelta(seconds=2), planning_timeout=timedelta(seconds=15)
    )
    root = site.workshop.lake.root / "impatient"
    with (
        closing(runner_on([site.workshop.lake], root, "causes-2", options)) as runner,
        open_workshop(site.workshop.lake, runner, POLICY) as workshop,
    ):
        impatient = Site(site.server, workshop, runner, root)
        hand_over = workshop.prepare(stuck_table, AT_ONCE)
        with gate_at(Path(snapshot.manifest_list.removeprefix("file://"))):
            with gate_at(first_data_file(impatient, other_table)):
                beside = workshop.begin(other_table, AT_ONCE)
                wait_at_gate(runner, root)
                stuck = hand_over()
                driver = runner.warm()
                assert driver is not None
                wait_until(lambda: driver.is_worn)
            # It reads an empty file from the gate, and ends with its own error.
            assert workshop.await_end_of_work(beside).kind == "failed"
            assert workshop.await_end_of_work(stuck).kind == "lost"
        ended = impatient.settle(stuck)
        assert_failed(
            ended, FailureReason.TIMEOUT, "it planned for more than 15 s without any work of Spark"
        )
        assert impatient.settle(beside).failure_reason is not FailureReason.LOST_RUNNER
        assert_waits(impatient, ended, timedelta(hours=1))


def test_a_planner_that_cannot_be_interrupted_ends_in_seconds_when_it_is_cancelled_or_spark_stopped(
    site: Site,
) -> None:
    """Such a job may take cancel_timeout, 60 s, only once Spark works for it. After its drain a
    daemon cancels its jobs and leaves Spark; a second SIGTERM stops Spark with them.
    """
    lake, root = site.workshop.lake, site.workshop.lake.root / "ending"
    with (
        closing(runner_on([lake], root, "causes-3")) as runner,
        open_workshop(lake, runner, POLICY) as workshop,
        ExitStack() as gates,
    ):
        cancelled = begin_stuck(workshop, site.create("drained"), gates, runner, root)
        step = Step("watch", lambda: watch(workshop.ports), MARGIN, starts_work=False)
        begun = time.monotonic()
        Scheduler((step,), FakeTelemetry()).drain(
            lambda: [job for job in [workshop.job(cancelled)] if job.outcome is None],
            lambda job: request_cancel(workshop.ports, job, "shutdown"),
            DRAIN,
        )
        took = timedelta(seconds=time.monotonic() - begun)
        assert DRAIN + CANCEL_PLANNING <= took <= DRAIN + CANCEL_PLANNING + MARGIN
        outcome = workshop.job(cancelled).outcome
        assert outcome is not None
        assert outcome.kind == "lost"
        assert outcome.message.endswith(
            "did not end within 10 s of its cancellation: Spark was killed"
        )

        begin_stuck(workshop, site.create("stopped"), gates, runner, root)
        begun = time.monotonic()
        runner.close()
        assert timedelta(seconds=time.monotonic() - begun) <= STOP_JOBS + MARGIN


def begin_stuck(
    workshop: Workshop, table: TableIdentifier, gates: ExitStack, runner: LocalRunner, root: Path
) -> Job:
    """A job whose planner waits for its list of manifests, which Java cannot interrupt."""
    snapshot = workshop.lake.load(table).current_snapshot()
    assert snapshot is not None
    hand_over = workshop.prepare(table, AT_ONCE)
    gates.enter_context(gate_at(Path(snapshot.manifest_list.removeprefix("file://"))))
    job = hand_over()
    wait_at_gate(runner, root, "iceberg.BaseSnapshot")
    return job
