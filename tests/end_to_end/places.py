"""Where a daemon's drivers run: lines of its configuration, and what an outsider sees there."""

from __future__ import annotations

import json
import os
import signal
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from maintainer.adapters.spark.jars import default_directory
from maintainer.adapters.spark.java import find_java
from maintainer.adapters.spark.launcher.kubernetes.options import Operator
from tests.adapters.spark.launcher.kubernetes.api_server import open_api_server
from tests.adapters.spark.launcher.kubernetes.launcher_suite import IMAGE
from tests.adapters.spark.launcher.kubernetes.process_kubelet import ProcessKubelet
from tests.adapters.spark.launcher.kubernetes.test_launcher import Small
from tests.adapters.spark.standalone import open_cluster
from tests.end_to_end.programs import QUICK_JAVA
from tests.kdc import USER, Kerberos
from tests.yarn import PLAIN_PYTHON, QUEUE, Yarn, serve_yarn, spark_on


@dataclass
class Place:
    """One kind of runner."""

    spark: str  # lines of the section
    drivers: Callable[[], list[str]]  # those that run now, by name
    objects: Callable[[], dict[str, str]] = dict  # the cluster's, as text by name
    executor_pids: Callable[[], list[int]] = list
    driver_log: Callable[[], str] = str
    start_token: Callable[[], str] = str
    count_calls: Callable[[], Counter[tuple[str, str]]] = Counter  # of the cluster, by the daemon
    polls: bool = True  # its drivers
    restart: signal.Signals = signal.SIGTERM  # what ends all replicas without ending a job


@contextmanager
def on_sockets(home: Path) -> Iterator[Place]:
    """Drivers are children of the daemon: they outlive its violent end only."""
    yield Place(
        "  driver_memory: 1g\n",
        lambda: sorted(path.name for path in (home / "run").glob("*.spark-*/")),
        polls=False,
        restart=signal.SIGKILL,
    )


@contextmanager
def on_this_machine(home: Path) -> Iterator[Place]:
    """Drivers are processes of this machine that poll."""
    yield Place(
        "  driver_memory: 1g\n",
        lambda: sorted(path.name for path in (home / "run").glob("spark-*")),
        restart=signal.SIGKILL,
    )


@contextmanager
def on_standalone(home: Path) -> Iterator[Place]:
    """Drivers poll; their tasks run in the executors of a standalone cluster."""

    def read(name: str) -> str:
        (path,) = (home / "run").glob(f"spark-*/{name}")
        return path.read_text(errors="replace")

    with open_cluster(home, cores=2, memory="2g") as cluster:
        executors = "{count: 1, memory: 700m, cores: 2}"
        yield Place(
            f"  master: '{cluster.master}'\n  driver_memory: 640m\n  executors: {executors}\n",
            lambda: [name for name, *_ in cluster.applications],
            lambda: {"the master's state": json.dumps(cluster.status())},
            cluster.executor_pids,
            lambda: read("driver.log"),
            lambda: read("token"),
        )


@contextmanager
def on_kubernetes(home: Path) -> Iterator[Place]:
    """Drivers are pods of the tests' own API server; their processes and Spark are real."""
    (home / "kube").mkdir()
    image = {
        **QUICK_JAVA,
        "JAVA_HOME": str(find_java(None, os.environ).home),
        "MAINTAINER_JARS_DIR": str(default_directory()),
    }
    with open_api_server() as api:
        kubelet = ProcessKubelet(api, home / "node", IMAGE, image)
        kubeconfig = Small(api, home / "kube").daemon(Operator.NONE)

        def read_objects() -> dict[str, str]:
            return {
                f"{resource} {name}": str(api.get(resource, name))
                for resource in ("pods", "services", "configmaps", "events")
                for name in api.names(resource)
            }

        def read_log() -> str:
            (name,) = api.names("pods")
            return str(api.log_of((api.get("pods", name) or {})["metadata"]["uid"]))

        def read_token() -> str:
            (name,) = api.names("secrets")
            (token,) = (api.get("secrets", name) or {})["data"].values()
            return b64decode(token).decode()

        options = f"{{namespace: spark-jobs, image: '{IMAGE}', kubeconfig: '{kubeconfig}'}}"
        try:
            yield Place(
                f"  runner: kubernetes\n  driver_memory: 1g\n  kubernetes: {options}\n",
                lambda: api.names("pods"),
                read_objects,
                driver_log=read_log,
                start_token=read_token,
                count_calls=lambda: Counter(
                    (call.verb, call.resource) for call in api.calls if call.user == "daemon"
                ),
            )
        finally:
            kubelet.close()


@contextmanager
def on_yarn(home: Path) -> Iterator[Place]:
    """Drivers are applications of Hadoop's own resource and node manager."""
    with serve_yarn(home / "yarn") as cluster:
        yield Place(spark_lines(cluster), cluster.living)


def spark_lines(cluster: Yarn, kerberos: Kerberos | None = None) -> str:
    """Lines of the section for drivers on that cluster."""
    conf = spark_on(cluster.root)
    options = {
        "resource_manager": cluster.url,
        "hadoop_conf_dir": str(cluster.configuration),
        "queue": QUEUE,
        "python": str(PLAIN_PYTHON),
    }
    if kerberos is not None:
        options |= {"principal": USER, "keytab": str(kerberos.keytab)}
        for role in ("driver", "executor"):
            conf[f"spark.{role}.extraJavaOptions"] += f" {kerberos.java_option}"
    executors = "{count: 1, memory: 640m, cores: 2}"
    return (
        f"  runner: yarn\n  driver_memory: 640m\n  executors: {executors}\n"
        f"  yarn: {json.dumps(options)}\n  conf: {json.dumps(conf)}\n"
    )
