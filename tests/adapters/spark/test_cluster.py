"""Jobs whose tasks run in the executors of a standalone cluster: as large as the size says, gone
with the driver, and replaced when they die.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from maintainer.adapters.policies import parse_policy
from maintainer.adapters.spark.launcher.process import DriverProcess
from maintainer.adapters.spark.local import LocalRunner
from maintainer.adapters.spark.options import DriverSize, Executors
from maintainer.domain.action import RemoveOrphanFiles, RewriteDataFiles
from maintainer.domain.job import FailureReason, JobState
from maintainer.domain.job_size import JobSize
from maintainer.domain.orphan import FoundFile, OrphanListState
from maintainer.domain.policy import PolicyLayer, RuleName
from tests.adapters.spark.lakes import (
    APPLICATION,
    QUICK_OPTIONS,
    Lake,
    WallClock,
    one_by_one,
    runner_on,
    wait_for_tasks,
    wait_until,
)
from tests.adapters.spark.standalone import Cluster, open_cluster
from tests.adapters.spark.workshop import Workshop, open_workshop
from tests.fakes.adapters.policies import FakePolicies

pytestmark = [pytest.mark.spark, pytest.mark.slow]

AT_ONCE = RewriteDataFiles(
    options=(("min-input-files", "2"), ("partial-progress.enabled", "false"))
)


ORPHANS = """
tables: "*"
mode: enforce
rules:
  remove_orphan_files: {older_than: 3d, approval: automatic, quarantine: off}
"""


@dataclass
class Site:
    cluster: Cluster
    runner: LocalRunner
    workshop: Workshop
    run_dir: Path


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    root = tmp_path_factory.mktemp("cluster")
    lake = Lake(root)
    with open_cluster(root, cores=2, memory="2g") as cluster:
        drivers = {JobSize.MEDIUM: DriverSize("640m", 1, Executors(1, "700m", 2))}
        options = replace(
            QUICK_OPTIONS, master=cluster.master, driver_memory="600m", drivers=drivers
        )
        with (
            closing(runner_on([lake], root / "run", "cluster-1", options)) as runner,
            open_workshop(lake, runner) as workshop,
        ):
            yield Site(cluster, runner, workshop, root / "run")
        wait_until(lambda: cluster.applications == [])


def test_a_medium_job_runs_in_executors_of_its_size_and_is_proved(site: Site) -> None:
    table = site.workshop.lake.create("sized", files=6)
    done = site.workshop.finish(site.workshop.begin(table, AT_ONCE, size=JobSize.MEDIUM))
    assert (done.state, done.failure_message) == (JobState.SUCCEEDED, "")
    assert (site.workshop.lake.data_files(table), site.workshop.lake.rows(table)) == (1, 6000)
    assert site.cluster.applications == [(APPLICATION, 700, 2)]
    assert site.workshop.lake.summaries(table)[-1]["app-id"].startswith("app-"), (
        "the master's name for it"
    )


def test_a_job_outlives_an_executor_that_dies(site: Site) -> None:
    table = site.workshop.lake.create("orphaned", files=40, partitions=20)
    job = site.workshop.begin(table, one_by_one(), size=JobSize.MEDIUM)
    wait_for_tasks(site.runner, job, 2)
    executors = site.cluster.executor_pids()
    assert executors
    for executor in executors:
        os.kill(executor, signal.SIGKILL)
    done = site.workshop.finish(job)
    assert (done.state, done.failure_message) == (JobState.SUCCEEDED, "")
    assert not set(executors) & set(site.cluster.executor_pids())
    assert (site.workshop.lake.data_files(table), site.workshop.lake.rows(table)) == (20, 40_000)


def test_orphans_are_found_and_removed_by_executors_that_share_no_directory(site: Site) -> None:
    layer = parse_policy(ORPHANS, "all.yaml")
    assert isinstance(layer, PolicyLayer)
    ports = replace(site.workshop.ports, policies=FakePolicies(layer))
    workshop = replace(site.workshop, ports=ports)
    rows = ("SELECT id FROM range(50000)",) * 4
    table = workshop.create("littered", "id bigint", rows=rows)
    location = workshop.look(table).location
    place, old = Path(location.removeprefix("file:")), timedelta(days=30)
    stray = place / "data" / "it's a {stray}.parquet"
    stray.write_bytes(b"left over")
    before = (WallClock().now() - old).timestamp()
    os.utime(stray, (before, before))
    files = list(place.rglob("*.parquet"))
    workshop.grow_old(table, old)
    action = RemoveOrphanFiles(WallClock().now() - timedelta(days=3), location, is_listed=True)
    page = [FoundFile(f"{location}/data/{path.name}", 1) for path in files]
    workshop.runner.bring_listing("listed-1", action, [page])
    scan = workshop.finish(workshop.begin(table, action, job_id="listed-1"))
    assert (scan.state, scan.failure_message) == (JobState.SUCCEEDED, "")
    (orphans,) = workshop.store.orphan_lists(table)
    assert (orphans.files, orphans.state) == (1, OrphanListState.APPROVED)
    removal = workshop.run(table, RuleName.REMOVE_ORPHAN_FILES)
    assert (removal.state, removal.failure_message) == (JobState.SUCCEEDED, "")
    assert not stray.exists()
    assert all(path.exists() for path in files if path != stray)
    assert site.cluster.executor_pids(), "its tasks did not run in the driver"
    statements = [
        str(event.fields["statement"])
        for job in (scan, removal)
        for event in workshop.store.events(job.job_id)
        if event.name == "statement.started"
    ]
    assert sum(statement.startswith("SHOW FILES") for statement in statements) == 2
    assert not any(str(site.run_dir) in statement for statement in statements)
    assert all(path.name.startswith("cluster-1.") for path in site.run_dir.iterdir()), (
        "of the daemon there are its locks, its log, and the driver's own directory alone"
    )


def test_executors_end_with_a_driver_that_is_killed_and_nothing_is_committed(site: Site) -> None:
    table = site.workshop.lake.create("beheaded", files=60, partitions=30)
    job = site.workshop.begin(table, one_by_one(), size=JobSize.MEDIUM)
    wait_for_tasks(site.runner, job, 2)
    driver = site.runner.warm(JobSize.MEDIUM)
    assert isinstance(driver, DriverProcess)
    os.kill(driver.pid, signal.SIGKILL)
    assert site.workshop.await_end_of_work(job).kind == "lost"
    wait_until(lambda: (site.cluster.applications, site.cluster.executor_pids()) == ([], []))
    ended = site.workshop.settle(job)
    assert (ended.state, ended.failure_reason) == (JobState.FAILED, FailureReason.OTHER)
    assert len(site.workshop.lake.load(table).snapshots()) == 1
