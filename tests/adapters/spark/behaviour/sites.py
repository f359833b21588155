"""Every kind of runner on a real Spark, and what a test can do to its drivers from outside.

A new kind is a Ground, a function that opens its site, and a module of tests beside this one.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Protocol
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from maintainer.adapters.spark.jars import default_directory
from maintainer.adapters.spark.java import find_java
from maintainer.adapters.spark.jobs import SparkRunner
from maintainer.adapters.spark.launcher.kubernetes.options import Operator
from maintainer.adapters.spark.launcher.process import DriverProcess
from maintainer.adapters.spark.link import Driver
from maintainer.adapters.spark.link.http.endpoint import make_endpoint
from maintainer.adapters.spark.remote import drivers as source
from maintainer.adapters.spark.remote.strays import Heartbeats
from maintainer.ports.store import Store
from tests.adapters.spark.behaviour.places import LONGEST, Place
from tests.adapters.spark.lakes import Lake, WallClock, wait_until
from tests.adapters.spark.launcher.kubernetes.api_server import ApiServer, open_api_server
from tests.adapters.spark.launcher.kubernetes.launcher_suite import IMAGE
from tests.adapters.spark.launcher.kubernetes.process_kubelet import ProcessKubelet
from tests.adapters.spark.launcher.kubernetes.test_launcher import Small
from tests.adapters.spark.link.serving import served
from tests.adapters.spark.standalone import Cluster, open_cluster
from tests.adapters.spark.workshop import Workshop, await_driver, open_workshop
from tests.torture.proxy import Proxy
from tests.yarn import Yarn

DEAD_AFTER = timedelta(seconds=12)  # on a busy machine a heart may skip a beat


@dataclass(frozen=True)
class Tree:
    """A driver's process and its JVM, and its executors."""

    driver_pid: int
    java_pid: int
    executor_pids: tuple[int, ...] = ()

    @property
    def pids(self) -> tuple[int, ...]:
        return (self.driver_pid, self.java_pid, *self.executor_pids)


class Ground(Protocol):
    """What drivers of one kind run on."""

    ended_by_hand: str  # pattern of why a job fails whose application was ended by hand

    def read_logs(self, driver: Driver) -> dict[str, str]:
        """What the driver and its executors have written, each in logs of its own."""

    def driver_pid(self, java_pid: int) -> int:
        """The driver program of that JVM."""

    def executor_pids(self) -> list[int]:
        """The JVMs that carry out tasks, besides the driver's."""

    def end_by_hand(self, driver: Driver, tree: Tree) -> None:
        """End the driver's application as an administrator does, behind the daemon's back."""


@dataclass
class Site:
    """One kind of runner, this process's runner, and the steps on it."""

    place: Place
    ground: Ground
    store: Store
    lake: Lake
    workshop: Workshop
    proxy: Proxy | None = None  # all that drivers poll goes through it

    @property
    def runner(self) -> SparkRunner:
        return self.workshop.runner

    def driver(self) -> Driver:
        """The one that takes jobs, once it has started."""
        driver = await_driver(self.runner)
        wait_until(lambda: driver.is_started)
        return driver

    def tree(self) -> Tree:
        """The processes of the driver that takes jobs."""
        driver, executors = self.driver(), tuple(self.ground.executor_pids())
        if isinstance(driver, DriverProcess):
            assert driver.java_pid is not None
            return Tree(driver.pid, driver.java_pid, executors)
        record = self.store.driver(driver.name)
        assert record is not None
        java_pid = int(str(record.hello["java_pid"]))
        return Tree(self.ground.driver_pid(java_pid), java_pid, executors)

    def dump_threads(self) -> None:
        """Let each JVM write its threads into its log."""
        for pid in self.tree().pids[1:]:
            os.kill(pid, signal.SIGQUIT)

    def read_logs(self) -> dict[str, str]:
        return self.ground.read_logs(self.driver())


def read_files(logs: Iterable[Path]) -> dict[str, str]:
    return {str(log): log.read_text(errors="replace") for log in logs}


def parent_of(pid: int) -> int:
    stat = (Path("/proc") / str(pid) / "stat").read_text(errors="replace")
    return int(stat.rpartition(")")[2].split()[1])


@dataclass
class Here:
    """Processes of this machine."""

    run_dir: Path
    ended_by_hand: str = "SIGTERM"

    def read_logs(self, driver: Driver) -> dict[str, str]:
        log = (
            driver.log
            if isinstance(driver, DriverProcess)
            else self.run_dir / driver.name / "driver.log"
        )
        return read_files([log])

    def driver_pid(self, java_pid: int) -> int:
        return parent_of(java_pid)

    def executor_pids(self) -> list[int]:
        return []

    def end_by_hand(self, driver: Driver, tree: Tree) -> None:
        del driver
        os.kill(tree.driver_pid, signal.SIGTERM)


@dataclass
class OnStandalone(Here):
    """Drivers here, executors of a standalone cluster."""

    cluster: Cluster = field(kw_only=True)
    work: Path = field(kw_only=True)

    def read_logs(self, driver: Driver) -> dict[str, str]:
        return super().read_logs(driver) | read_files(self.work.glob("app-*/*/stdout"))

    def executor_pids(self) -> list[int]:
        return self.cluster.executor_pids()

    def end_by_hand(self, driver: Driver, tree: Tree) -> None:
        del driver, tree
        page = self.cluster.status_url.removesuffix("json/")
        with urlopen(page, timeout=10) as answer:  # noqa: S310 - our own
            # Spark 3.5's form has no token.
            tokens = re.findall(r'name="(csrfToken)" value="(\w+)"', answer.read().decode())
        for application in self.cluster.status()["activeapps"]:
            form = {"id": application["id"], "terminate": "true", **dict(tokens)}
            urlopen(f"{page}app/kill/", urlencode(form).encode(), timeout=10).close()  # noqa: S310


@dataclass
class Pods:
    """Pods of a small API server, which are processes here."""

    api: ApiServer
    kubelet: ProcessKubelet
    ended_by_hand: str = "SIGTERM"

    def read_logs(self, driver: Driver) -> dict[str, str]:
        pod = self.api.get("pods", driver.name)
        assert pod is not None
        lines = [line for _, line in self.api.log_of(pod["metadata"]["uid"])]
        return {driver.name: b"\n".join(lines).decode(errors="replace")}

    def driver_pid(self, java_pid: int) -> int:
        return parent_of(java_pid)

    def executor_pids(self) -> list[int]:
        return []

    def end_by_hand(self, driver: Driver, tree: Tree) -> None:
        del tree
        self.api.delete("pods", driver.name)


@dataclass
class OnYarn:
    """Containers of YARN on this machine."""

    cluster: Yarn
    ended_by_hand: str = "killed by "

    def read_logs(self, driver: Driver) -> dict[str, str]:
        del driver
        return read_files(self.cluster.logs())

    def driver_pid(self, java_pid: int) -> int:
        [pid] = [pid for pid in find_processes("start.py") if parent_of(pid) == java_pid]
        return pid

    def executor_pids(self) -> list[int]:
        mine = f"-Djava.io.tmpdir={self.cluster.root}"
        return [pid for pid in find_processes("YarnCoarseGrained") if mine in _command_of(pid)]

    def end_by_hand(self, driver: Driver, tree: Tree) -> None:
        del tree
        self.cluster.kill(driver.name)


def find_processes(part: str) -> list[int]:
    """Java's and Python's processes whose command contains the text."""
    found = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return [
        pid
        for pid in found
        if part in _command_of(pid) and not _command_of(pid).startswith(("bash", "/bin/bash"))
    ]


def _command_of(pid: int) -> str:
    try:
        return (Path("/proc") / str(pid) / "cmdline").read_text(errors="replace").replace("\0", " ")
    except OSError:
        return ""


@contextmanager
def open_socket_site(root: Path) -> Iterator[Site]:
    """The driver is a child of the daemon, which talks to it over a Unix socket."""
    place = Place(str(root))
    with _opened(place, Here(place.run_dir)) as site:
        yield site


@contextmanager
def open_http_site(root: Path) -> Iterator[Site]:
    """The driver is a process of this machine that polls."""
    place = Place(str(root))
    with _opened(place, Here(place.run_dir), polls=True) as site:
        yield site


@contextmanager
def open_standalone_site(root: Path) -> Iterator[Site]:
    """The driver polls, and its tasks run on a standalone cluster."""
    with open_cluster(root, cores=4, memory="3g") as cluster:
        place = Place(str(root), master=cluster.master)
        ground = OnStandalone(
            place.run_dir, "Spark was stopped", cluster=cluster, work=root / "work"
        )
        with _opened(place, ground, polls=True) as site:
            yield site
        wait_until(lambda: cluster.applications == [])


@contextmanager
def open_kubernetes_site(root: Path) -> Iterator[Site]:
    """The driver is a pod that polls."""
    with open_api_server() as api:
        image = {
            "JAVA_HOME": str(find_java(None, os.environ).home),
            "MAINTAINER_JARS_DIR": str(default_directory()),
        }
        kubelet = ProcessKubelet(api, root / "node", IMAGE, image)
        (root / "kube").mkdir()
        place = Place(str(root), kubeconfig=str(Small(api, root / "kube").daemon(Operator.NONE)))
        try:
            with _opened(place, Pods(api, kubelet), polls=True) as site:
                yield site
        finally:
            kubelet.close()


@contextmanager
def open_yarn_site(root: Path, cluster: Yarn) -> Iterator[Site]:
    """The driver is an application of YARN that polls, and so are its executors."""
    place = Place(str(root), resource_manager=cluster.url, yarn=str(cluster.root))
    with _opened(place, OnYarn(cluster), polls=True) as site:
        yield site
    wait_until(lambda: cluster.living() == [])


@contextmanager
def open_yarn_client_site(root: Path, cluster: Yarn) -> Iterator[Site]:
    """The driver is a process of this machine, and its executors are containers of YARN, which has
    no other application.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HADOOP_CONF_DIR", str(cluster.configuration))
        place = Place(str(root), master="yarn", yarn=str(cluster.root))
        with _opened(place, Here(place.run_dir), polls=True) as site:
            yield site
        wait_until(lambda: cluster.living() == [])
        [application] = cluster.applications()
        assert application["finalStatus"] == "SUCCEEDED"


def _close(runner: SparkRunner, store: Store) -> None:
    runner.close()
    assert store.drivers() == ()


@contextmanager
def _opened(place: Place, ground: Ground, *, polls: bool = False) -> Iterator[Site]:
    place.events.directory.mkdir()
    with ExitStack() as stack:
        lake, store = place.open_lake(), place.open_store()
        stack.callback(lake.catalog.close)
        stack.callback(store.close)
        proxy = None
        if polls:
            url = stack.enter_context(served(make_endpoint(store, WallClock(), LONGEST)))
            proxy = Proxy(int(url.rpartition(":")[2]))
            proxy.start()
            stack.callback(proxy.stop)
            place = replace(place, address=f"http://127.0.0.1:{proxy.port}")
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(source, "Heartbeats", partial(Heartbeats, DEAD_AFTER))
        runner = place.open_runner("site-1", store)
        stack.callback(_close, runner, store)
        workshop = stack.enter_context(open_workshop(lake, runner))
        yield Site(place, ground, store, lake, workshop, proxy)
