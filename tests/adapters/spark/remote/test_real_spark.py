"""Jobs on a real Spark whose driver calls home: their ends, another process, a frozen driver."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from maintainer.adapters.spark.jobs import SparkRunner
from maintainer.adapters.spark.launcher.ownership import read_start_time
from maintainer.adapters.spark.link.http.endpoint import make_endpoint
from maintainer.adapters.spark.remote import driver as remote
from maintainer.adapters.spark.remote import drivers as source
from maintainer.domain.identifier import TableIdentifier
from maintainer.ports.store import Store
from tests.adapters.spark.lakes import (
    Lake,
    WallClock,
    job_on,
    one_by_one,
    outcome_of,
    wait_for_tasks,
    wait_until,
)
from tests.adapters.spark.link.serving import served
from tests.adapters.spark.remote.spark_sites import (
    LONGEST,
    Tree,
    daemon_at_work,
    open_store_of,
    runner_at,
)

pytestmark = [pytest.mark.spark, pytest.mark.slow]
TABLE = TableIdentifier("lake", ("db",), "t")


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


@pytest.fixture
def store(tmp_path: Path, lake: Lake) -> Iterator[Store]:
    del lake
    opened = open_store_of(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def address(store: Store) -> Iterator[str]:
    with served(make_endpoint(store, WallClock(), LONGEST)) as url:
        yield url


@pytest.fixture
def runner(tmp_path: Path, lake: Lake, store: Store, address: str) -> Iterator[SparkRunner]:
    opened = runner_at(tmp_path, lake, store, "daemon-2", address)
    yield opened
    opened.close()


def test_a_job_finishes_another_is_cancelled_and_spark_ends(
    lake: Lake, store: Store, runner: SparkRunner, tmp_path: Path
) -> None:
    table, long = lake.create("t", files=6), lake.create("long", files=400, partitions=200)
    job = job_on(table, "job-1", owner="daemon-2")
    runner.renew(job.job_id, LONGEST)
    runner.submit(job)
    outcome = outcome_of(runner, job)
    assert (outcome.kind, outcome.result["rewritten_data_files_count"]) == ("finished", 6), outcome
    tree = Tree.of(store)
    following = job_on(long, "job-2", one_by_one(), owner="daemon-2")
    runner.renew(following.job_id, LONGEST)
    runner.submit(following)
    wait_for_tasks(runner, following, 1)
    runner.cancel(following.job_id)
    assert outcome_of(runner, following).kind == "cancelled"
    assert Tree.of(store) == tree, "one driver for both"
    assert len(lake.summaries(long)) == 1
    runner.close()
    assert store.drivers() == ()
    wait_until(lambda: read_start_time(tree.java_pid) is None)
    wait_until(lambda: not list((tmp_path / "run").glob("spark-*")))


def test_a_job_of_a_killed_daemon_is_adopted_and_runs_once(
    lake: Lake, store: Store, runner: SparkRunner, address: str, tmp_path: Path
) -> None:
    """The address is answered by this process, as any replica would."""
    lake.create("t", files=400, partitions=200)
    job = job_on(TABLE, "job-1", one_by_one(), owner="daemon-1")
    with daemon_at_work(tmp_path, address) as daemon:
        wait_until(lambda: runner.lives("daemon-1") is True)
        assert runner.report(job) is None, "its owner lives"
        tree = Tree.of(store)
        daemon.kill()
        wait_until(lambda: runner.lives("daemon-1") is False)
    runner.renew(job.job_id, LONGEST)
    report = runner.report(job)
    assert report is not None
    assert report.adopted
    outcome = outcome_of(runner, job)
    assert (outcome.kind, outcome.result["rewritten_data_files_count"]) == ("finished", 400), (
        outcome
    )
    assert Tree.of(store) == tree
    assert lake.data_files(TABLE) == 200
    assert len(lake.summaries(TABLE)) == 2, "one commit: the rewrite ran once"


def test_a_job_that_nobody_renews_is_cancelled_before_its_fence(
    lake: Lake, runner: SparkRunner
) -> None:
    lake.create("t", files=400, partitions=200)
    warm_up = job_on(lake.create("small", files=6), "job-0", owner="daemon-2")
    runner.renew(warm_up.job_id, LONGEST)
    runner.submit(warm_up)
    assert outcome_of(runner, warm_up).kind == "finished"
    job = job_on(TABLE, "job-1", one_by_one(), owner="daemon-2")
    runner.renew(job.job_id, timedelta(seconds=14))
    fence = WallClock().now() + timedelta(seconds=14)
    runner.submit(job)
    outcome = outcome_of(runner, job)
    assert outcome.kind == "lost"
    assert "not renewed in time" in outcome.message
    assert WallClock().now() < fence + timedelta(seconds=5)
    assert len(lake.summaries(TABLE)) == 1


def test_a_driver_that_is_frozen_past_its_fence_commits_nothing(
    lake: Lake, store: Store, runner: SparkRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "SILENT_SECONDS", 2.0)
    monkeypatch.setattr(source, "FENCE_MARGIN", timedelta(seconds=2))
    monkeypatch.setattr(remote, "STOP_SECONDS", 5.0)
    lake.create("t", files=400, partitions=200)
    job = job_on(TABLE, "job-1", one_by_one(), owner="daemon-2")
    runner.renew(job.job_id, timedelta(seconds=90))
    runner.submit(job)
    wait_for_tasks(runner, job, 1)
    tree = Tree.of(store)
    (record,) = store.drivers()
    tree.freeze()
    runner.renew(job.job_id, timedelta(seconds=1))  # it never hears of it
    outcome = outcome_of(runner, job)
    assert outcome.kind == "lost", outcome
    assert record.fence is not None
    assert WallClock().now() > record.fence, "until then its time was its own"
    wait_until(lambda: read_start_time(tree.driver_pid) is None)
    wait_until(lambda: read_start_time(tree.java_pid) is None)
    assert len(lake.summaries(TABLE)) == 1
