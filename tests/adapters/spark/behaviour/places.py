"""Where drivers of one kind start: enough for any process to open a runner there.

A daemon that a test kills is another process of this machine, with the same place.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path

from maintainer.adapters.spark.jobs import SparkRunner
from maintainer.adapters.spark.launcher.kubernetes.options import KubernetesOptions
from maintainer.adapters.spark.launcher.yarn.options import YarnOptions
from maintainer.adapters.spark.local import LocalRunner
from maintainer.adapters.spark.options import DriverSize, Executors, LocalSparkOptions
from maintainer.adapters.spark.remote.drivers import LinkOptions
from maintainer.adapters.spark.remote.runners import (
    RemoteParts,
    kubernetes_runner,
    process_runner,
    yarn_runner,
)
from maintainer.adapters.store import open_store
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job
from maintainer.domain.pool import JobSize
from maintainer.ports.store import Store
from tests.adapters.spark.gates import SparkEvents
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
from tests.adapters.spark.launcher.kubernetes.launcher_suite import IMAGE, NAMESPACE
from tests.yarn import PLAIN_PYTHON, QUEUE, spark_on

# a job's time without a renewal, which no test gives it again
LONGEST = timedelta(minutes=10)
ON_CLUSTER = DriverSize("640m", 2, Executors(1, "700m", 2))
ADOPTED = TableIdentifier("lake", ("db",), "adopted")

DAEMON = """
import json, sys
sys.path.insert(0, sys.argv[1])
from tests.adapters.spark.behaviour.places import Place, work_until_killed
work_until_killed(Place(**json.loads(sys.argv[2])))
"""


@dataclass(frozen=True)
class Place:
    """One kind of runner on one lake. All its processes share a store."""

    root: str
    address: str = ""  # of the link; empty: drivers talk over a Unix socket
    master: str = "local[2]"
    kubeconfig: str = ""  # drivers are pods of this cluster
    resource_manager: str = ""  # drivers are applications of this YARN
    yarn: str = ""  # the directory of a YARN that carries out tasks

    @property
    def run_dir(self) -> Path:
        return Path(self.root) / "run"

    @property
    def events(self) -> SparkEvents:
        """What Spark itself says of its work."""
        return SparkEvents(Path(self.root) / "events")

    @property
    def options(self) -> LocalSparkOptions:
        is_cluster = not self.master.startswith("local") or self.yarn
        on_yarn = spark_on(Path(self.yarn)) if self.yarn else {}
        return replace(
            QUICK_OPTIONS,
            master=self.master,
            start_timeout=timedelta(minutes=4),
            drivers=dict.fromkeys(JobSize, ON_CLUSTER) if is_cluster else {},
            conf={**QUICK_OPTIONS.conf, **self.events.settings, **on_yarn},
        )

    def open_lake(self) -> Lake:
        return Lake(Path(self.root))

    def open_store(self) -> Store:
        return open_store(f"sqlite:///{self.root}/maintainer.db")

    def open_runner(self, owner: str, store: Store) -> SparkRunner:
        """A process's runner."""
        catalogs, clock = {"lake": self.open_lake().spark}, WallClock()
        if not self.address:
            return LocalRunner(
                self.options, catalogs, owner, APPLICATION, self.run_dir, store, clock
            )
        link = LinkOptions("test", self.address, longest_validity=LONGEST)
        parts = RemoteParts(catalogs, owner, APPLICATION, link, store, self.run_dir, clock)
        if self.resource_manager:
            yarn = YarnOptions(
                (self.resource_manager,), Path(self.yarn) / "conf", QUEUE, python=str(PLAIN_PYTHON)
            )
            return yarn_runner(parts, self.options, yarn)
        if not self.kubeconfig:
            return process_runner(parts, self.options)
        pods = KubernetesOptions(NAMESPACE, IMAGE, kubeconfig=Path(self.kubeconfig))
        return kubernetes_runner(parts, self.options, pods)


def adopted_job(owner: str) -> Job:
    """The job that a killed daemon leaves behind."""
    return job_on(ADOPTED, "adopted-1", one_by_one(), owner=owner)


def work_until_killed(place: Place) -> None:
    """Be a daemon whose job works, and say so in a line."""
    runner = place.open_runner("killed-1", place.open_store())
    job = adopted_job("killed-1")
    runner.renew(job.job_id, LONGEST)
    runner.submit(job)
    wait_for_tasks(runner, job, 1)
    sys.stdout.write("it works\n")
    sys.stdout.flush()
    sys.stdin.read()


@contextmanager
def daemon_at_work(place: Place) -> Iterator[subprocess.Popen[str]]:
    """Another process whose driver works on ADOPTED; killed at the latest."""
    command = [sys.executable, "-c", DAEMON, str(REPOSITORY), json.dumps(asdict(place))]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline(), "the job is over already"
            yield process
        finally:
            process.kill()
