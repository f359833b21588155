"""A real Spark in a driver that calls home, and processes on one store that order it about."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from maintainer.adapters.spark.driver_settings import DriverSettings
from maintainer.adapters.spark.jobs import SparkRunner
from maintainer.adapters.spark.launcher.remote_process import ProcessLauncher
from maintainer.adapters.spark.logs.copying import JobLogs
from maintainer.adapters.spark.orphans.orphan_files import OrphanFiles
from maintainer.adapters.spark.remote.drivers import LinkOptions, RemoteDrivers
from maintainer.adapters.spark.remote.heartbeats import Heartbeats
from maintainer.adapters.store import open_store
from maintainer.domain.identifier import TableIdentifier
from maintainer.ports.store import Store
from tests.adapters.spark.lakes import (
    APPLICATION,
    QUICK_OPTIONS,
    REPOSITORY,
    Lake,
    WallClock,
    job_on,
    one_by_one,
    wait_for_tasks,
)

LONGEST = timedelta(minutes=2)
DEAD_AFTER = timedelta(seconds=12)  # on a busy machine a heart may skip a beat
OPTIONS = replace(QUICK_OPTIONS, start_timeout=timedelta(minutes=4))

DAEMON = """
import sys
from datetime import timedelta
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.adapters.spark.remote.spark_sites import work_until_killed
work_until_killed(Path(sys.argv[2]), sys.argv[3])
"""


def open_store_of(root: Path) -> Store:
    return open_store(f"sqlite:///{root}/maintainer.db")


def runner_at(root: Path, lake: Lake, store: Store, owner: str, address: str) -> SparkRunner:
    """A process's runner; all those of one root share a store."""
    catalogs = {"lake": lake.spark}
    settings = DriverSettings(OPTIONS, catalogs, APPLICATION)
    place = {
        "spark.master": OPTIONS.master,
        "spark.driver.host": OPTIONS.driver_host,
        "spark.driver.bindAddress": OPTIONS.driver_host,
    }
    source = RemoteDrivers(
        ProcessLauncher(OPTIONS, root / "run"),
        store,
        WallClock(),
        owner,
        OPTIONS,
        LinkOptions("test", address, longest_validity=LONGEST),
        settings,
        lambda _, size: settings.write(size, place),
        Heartbeats(DEAD_AFTER),
    )
    files = OrphanFiles(store, owner)
    return SparkRunner(
        OPTIONS, catalogs, owner, APPLICATION, source, files, JobLogs(store, ()), WallClock()
    )


def work_until_killed(root: Path, address: str) -> None:
    """Be a daemon whose job works, and say so in a line."""
    lake = Lake(root)
    runner = runner_at(root, lake, open_store_of(root), "daemon-1", address)
    table = TableIdentifier("lake", ("db",), "t")
    job = job_on(table, "job-1", one_by_one(), owner="daemon-1")
    runner.renew(job.job_id, LONGEST)
    runner.submit(job)
    wait_for_tasks(runner, job, 1)
    sys.stdout.write("it works\n")
    sys.stdout.flush()
    sys.stdin.read()


@contextmanager
def daemon_at_work(root: Path, address: str) -> Iterator[subprocess.Popen[str]]:
    """Another process whose driver works on `lake.db.t` as `job-1`; killed at the latest."""
    command = [sys.executable, "-c", DAEMON, str(REPOSITORY), str(root), address]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline(), "the job is over already"
        try:
            yield process
        finally:
            process.kill()


@dataclass(frozen=True)
class Tree:
    """A driver's process and its JVM."""

    driver_pid: int
    java_pid: int

    @classmethod
    def of(cls, store: Store) -> Tree:
        (record,) = store.drivers()
        return cls(int(json.loads(record.handle)[2]), int(str(record.hello["java_pid"])))

    def freeze(self) -> None:
        for pid in (self.driver_pid, self.java_pid):
            os.kill(pid, signal.SIGSTOP)
