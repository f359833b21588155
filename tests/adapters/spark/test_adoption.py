"""A daemon that is killed in the middle of a job: the next one goes on with its Spark, and without
a next one Spark ends in time.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import FailureReason, Job
from tests.adapters.spark.lakes import (
    Lake,
    daemon_at_work,
    job_on,
    one_by_one,
    outcome_of,
    runner_on,
    wait_until,
)

pytestmark = [pytest.mark.spark, pytest.mark.slow]

FILES, PARTITIONS = 240, 120  # of a rewrite that outlives two daemons


@pytest.fixture
def own_lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


def the_job(owner: str = "daemon-1") -> Job:
    return job_on(TableIdentifier("lake", ("db",), "t"), "job-1", one_by_one(), owner=owner)


def test_a_job_is_adopted_from_one_daemon_after_another_and_its_rewrite_runs_once(
    own_lake: Lake,
) -> None:
    """The second daemon goes on with it; how it ended nobody sees, and the third reports it, with its
    time. Its Spark serves on and ends with the third.
    """
    table = own_lake.create("t", files=FILES, partitions=PARTITIONS)
    run_dir = own_lake.root / "run"
    with daemon_at_work(own_lake.root) as first:
        third = runner_on([own_lake], run_dir, "daemon-3")
        assert third.report(the_job()) is None, "its owner lives"
        assert third.lives("daemon-1")
        first.kill()
        with daemon_at_work(own_lake.root, "daemon-2", adopts_from="daemon-1") as second:
            assert (second.driver_pid, second.java_pid) == (first.driver_pid, first.java_pid)
            assert third.report(the_job()) is None, "another process looks after its Spark"
            assert third.report(the_job("daemon-2")) is None
            assert third.lives("daemon-1"), "as good as: the owner of its Spark has all of its jobs"
            second.kill()
        wait_until(lambda: len(own_lake.summaries(table)) == 2)
        assert third.lives("daemon-2") is False, "it is followed from here"
        assert third.driver_pid == first.driver_pid
        committed_at = own_lake.load(table).snapshots()[-1].timestamp_ms / 1000
        wait_until(lambda: time.time() > committed_at + 3)
        adopted = third.report(the_job("daemon-2"))
        assert adopted is not None
        assert adopted.adopted
        assert "statement.started" not in [event.name for event in adopted.events], (
            "that was reported, and stored, long ago"
        )
        outcome = outcome_of(third, the_job("daemon-2"))
        assert (outcome.kind, outcome.result["rewritten_data_files_count"]) == (
            "finished",
            FILES,
        ), outcome
        assert 0 <= outcome.ended_at.timestamp() - committed_at < 3
        assert third.driver_pid == first.driver_pid, "a Spark of the same kind goes on taking jobs"
        following = job_on(own_lake.create("following", files=6), "following", owner="daemon-3")
        third.submit(following)
        assert outcome_of(third, following).kind == "finished"
        third.close()
        assert first.has_left_nothing
    assert own_lake.data_files(table) == PARTITIONS
    assert len(own_lake.summaries(table)) == 2, "one commit: the rewrite ran once"
    assert not list(run_dir.glob("*.spark-*[0-9]")), "only its log is kept"


def test_what_nobody_renews_is_cancelled_before_its_fence_and_commits_nothing(
    own_lake: Lake,
) -> None:
    table = own_lake.create("t", files=400, partitions=200)
    with daemon_at_work(own_lake.root, abandoned_seconds=2, valid_seconds=12) as daemon:
        fence = time.monotonic() + 12
        daemon.kill()
        wait_until(lambda: daemon.has_left_nothing, seconds=20)
        assert time.monotonic() < fence, (
            "it was cancelled in time, and nobody asked for it for two seconds more"
        )
    log = (own_lake.root / "run" / "daemon-1.spark-1.log").read_text(errors="replace")
    assert "job job-1 was not renewed in time and is cancelled" in log
    find_lost(own_lake, table)


def test_what_cannot_be_cancelled_is_killed_at_its_fence(own_lake: Lake) -> None:
    """A JVM that answers nothing; its daemon never renewed the job, so that the fence is so long
    after the daemon's end.
    """
    seconds = 4.0
    table = own_lake.create("t", files=400, partitions=200)
    with daemon_at_work(own_lake.root, abandoned_seconds=seconds) as daemon:
        os.kill(daemon.java_pid, signal.SIGSTOP)
        begun = time.monotonic()
        daemon.kill()
        wait_until(lambda: daemon.has_left_nothing, seconds=seconds + 3)
        assert time.monotonic() - begun > seconds - 1, "until then its time was its own"
    find_lost(own_lake, table)


def find_lost(lake: Lake, table: TableIdentifier) -> None:
    """The next daemon finds the job lost, and the table as it was."""
    runner = runner_on([lake], lake.root / "run", "daemon-2")
    found = outcome_of(runner, the_job())
    assert (found.kind, found.reason) == ("lost", FailureReason.LOST_RUNNER)
    assert len(lake.summaries(table)) == 1
    runner.close()


def test_an_orderly_end_leaves_no_spark_of_a_daemon_that_was_killed_before(own_lake: Lake) -> None:
    """Nobody has asked for its jobs since: they were settled, and it would have waited for a minute
    for somebody to come back.
    """
    table = own_lake.create("t", files=40, partitions=2)
    run_dir = own_lake.root / "run"
    with daemon_at_work(own_lake.root) as killed:
        live = runner_on([own_lake], run_dir, "daemon-2")
        killed.kill()
        wait_until(lambda: len(own_lake.summaries(table)) == 2)
        following = runner_on([own_lake], run_dir, "daemon-3")
        following.close()
        assert Path(f"/proc/{killed.driver_pid}").exists(), (
            "daemon-2 lives: it may go on with that Spark"
        )
        live.close()
        assert killed.has_left_nothing
    assert not list(run_dir.glob("*.spark-*[0-9]")), "only its log is kept"
