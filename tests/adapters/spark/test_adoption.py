"""A daemon that is killed in the middle of a job: the next one goes on with its Spark, and without a next one Spark ends in time."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from maintainer.adapters.spark.ownership import read_start_time
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import FailureReason, Job
from tests.adapters.spark.lakes import Lake, daemon_at_work, job_on, one_by_one, outcome_of, runner_on, wait_until

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture
def own_lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


def the_job(owner: str = "daemon-1") -> Job:
    return job_on(TableIdentifier("lake", ("db",), "t"), "job-1", one_by_one(), owner=owner)


def test_a_job_is_adopted_from_one_daemon_after_another_and_its_rewrite_runs_once(own_lake: Lake) -> None:
    table = own_lake.create("t", files=600, partitions=300)
    run_dir = own_lake.root / "run"
    with daemon_at_work(own_lake.root) as first:
        third = runner_on([own_lake], run_dir, "daemon-3")
        assert third.report(the_job()) is None, "its owner lives"
        first.kill()
        with daemon_at_work(own_lake.root, "daemon-2", adopts_from="daemon-1") as second:
            assert (second.driver_pid, second.java_pid) == (first.driver_pid, first.java_pid)
            assert third.report(the_job()) is None, "another process looks after its Spark"
            assert third.report(the_job("daemon-2")) is None
            second.kill()
        adopted = third.report(the_job("daemon-2"))
        assert adopted is not None
        assert (adopted.adopted, adopted.is_started, adopted.outcome) == (True, True, None)
        assert "statement.started" not in [event.name for event in adopted.events], "that was told, and stored, long ago"
        outcome = outcome_of(third, the_job("daemon-2"))
        assert (outcome.kind, outcome.result["rewritten_data_files_count"]) == ("finished", 600), outcome
        assert own_lake.data_files(table) == 300
        assert len(own_lake.summaries(table)) == 2, "one commit: the rewrite ran once"
        assert third.driver_pid == first.driver_pid, "a Spark of the same kind goes on taking jobs"
        following = job_on(own_lake.create("following", files=6), "following", owner="daemon-3")
        third.submit(following)
        assert outcome_of(third, following).kind == "finished"
        third.close()
        assert first.has_left_nothing
    assert not list(run_dir.glob("*.spark-*"))


def test_how_a_job_ended_that_nobody_saw_is_told_to_the_next_daemon_with_its_time(own_lake: Lake) -> None:
    table = own_lake.create("t", files=120, partitions=60)
    with daemon_at_work(own_lake.root) as daemon:
        daemon.kill()
        wait_until(lambda: len(own_lake.summaries(table)) == 2)
        committed_at = time.time()
        time_passes = time.monotonic() + 1
        wait_until(lambda: time.monotonic() > time_passes)
        runner = runner_on([own_lake], own_lake.root / "run", "daemon-2")
        outcome = outcome_of(runner, the_job())
        assert outcome.kind == "finished"
        assert abs(outcome.ended_at.timestamp() - committed_at) < 1
        runner.cancel("job-1")
        runner.close()
        assert daemon.has_left_nothing


@pytest.mark.parametrize("end", ["abandoned", "not renewed", "hung"])
def test_without_a_daemon_spark_ends_before_the_fence_and_commits_nothing_after(own_lake: Lake, end: str) -> None:
    """The fence of a job is that of its last renewal; without any it is the end of its daemon and a bound after it. What cannot be cancelled is killed."""
    seconds = 12.0
    table = own_lake.create("t", files=600, partitions=300)
    with daemon_at_work(own_lake.root, abandoned_seconds=seconds, valid_seconds=seconds if end == "not renewed" else None) as daemon:
        begun = time.monotonic()
        daemon.kill()
        if end == "hung":
            os.kill(daemon.java_pid, signal.SIGSTOP)
            wait_until(lambda: read_start_time(daemon.java_pid) is None, seconds=seconds + 1)
            assert time.monotonic() - begun > seconds - 1, "its time is its own"
        log = own_lake.root / "run" / "daemon-1.spark.log"
        wait_until(lambda: daemon.has_left_nothing, seconds=2 * seconds)
        assert "job job-1 is not renewed in time" in log.read_text(errors="replace")
    assert len(own_lake.summaries(table)) == 1
    other = runner_on([own_lake], own_lake.root / "run", "daemon-2")
    found = outcome_of(other, the_job())
    assert (found.kind, found.reason) == ("lost", FailureReason.LOST_RUNNER)
    other.close()
