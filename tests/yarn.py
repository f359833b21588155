"""A resource manager and a node manager on the loopback: Hadoop's own; and the jars for them."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen
from xml.etree import ElementTree as ET

from maintainer.adapters.spark.jars import resolve, spark_home
from maintainer.adapters.spark.java import find_java
from maintainer.adapters.spark.pins import Jar
from tests.kdc import SERVICE, Kerberos

START_SECONDS = 240  # a busy machine; alone it takes ten
QUEUE = "maintenance"
# The nodes need a Python and none of our packages.
PLAIN_PYTHON = Path(sys.base_prefix) / "bin" / "python3"
_HOST = "127.0.0.1"
_ASK_SECONDS = 10
# Unlike the shaded jars of Hadoop's small cluster these answer over REST as a cluster does.
_JARS = tuple(
    Jar("org.apache.hadoop", artifact, "3.4.2", "")
    for artifact in (
        "hadoop-common",
        "hadoop-yarn-server-resourcemanager",
        "hadoop-yarn-server-nodemanager",
        "hadoop-yarn-server-timelineservice",
    )
)
# of the list of all jars that these need, as sha256sum writes it
_SHA256 = "3e25f09b6fd627dcbccb2c33a2a7fd540315cb313ded4e5d78de96793cf22b83"
_DIRECTORY = Path(sys.prefix) / "share" / "iceberg-maintainer" / "test-jars" / "yarn"
_DAEMONS = "org.apache.hadoop.yarn.server"
_LOGGING = """\
log4j.rootLogger=WARN,stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=%d %p %c: %m%n
"""
_QUEUES = {
    "yarn.scheduler.capacity.root.queues": "default,maintenance,stopped",
    "yarn.scheduler.capacity.root.default.capacity": "50",
    "yarn.scheduler.capacity.root.maintenance.capacity": "50",
    "yarn.scheduler.capacity.root.maintenance.maximum-capacity": "100",
    "yarn.scheduler.capacity.root.maintenance.user-limit-factor": "10",
    "yarn.scheduler.capacity.root.stopped.capacity": "0",
    "yarn.scheduler.capacity.root.stopped.state": "STOPPED",
    "yarn.scheduler.capacity.maximum-am-resource-percent": "0.9",
}

# An application is seen and ended by its own user only, who says a name to the web addresses.
_SECURE = {
    "hadoop.security.authentication": "kerberos",
    "hadoop.http.filter.initializers": "org.apache.hadoop.security.AuthenticationFilterInitializer",
}
_OWN_ONLY = {"yarn.scheduler.capacity.root.acl_administer_queue": " "}


@dataclass(frozen=True)
class Yarn:
    """A cluster that runs; its configuration is what HADOOP_CONF_DIR names."""

    root: Path
    url: str

    @property
    def configuration(self) -> Path:
        return self.root / "conf"

    def ask(self, path: str) -> Any:
        with urlopen(f"{self.url}/ws/v1/cluster/{path}", timeout=_ASK_SECONDS) as answer:  # noqa: S310
            return json.load(answer)

    def applications(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (self.ask("apps")["apps"] or {}).get("app", [])
        return found

    def kill(self, name: str) -> None:
        """End an application as an administrator does."""
        for found in self.applications():
            if found["name"] == name:
                request = Request(  # noqa: S310 - our own
                    f"{self.url}/ws/v1/cluster/apps/{found['id']}/state",
                    b'{"state": "KILLED"}',
                    {"Content-Type": "application/json"},
                    method="PUT",
                )
                urlopen(request, timeout=_ASK_SECONDS).close()  # noqa: S310 - as above

    def logs(self) -> list[Path]:
        """What containers have written, in files of their own."""
        return list((self.root / "logs").glob("*/*/std*"))

    def living(self) -> list[str]:
        """The names of those that have not ended."""
        ended = {"FINISHED", "FAILED", "KILLED"}
        return [each["name"] for each in self.applications() if each["state"] not in ended]


@contextmanager
def serve_yarn(root: Path, memory: int = 8192, kerberos: Kerberos | None = None) -> Iterator[Yarn]:
    """A cluster of one node with so many MiB; both daemons end with the context."""
    ports = _find_free_ports(5)
    cluster = Yarn(root, f"http://{_HOST}:{ports[0]}")
    configuration = cluster.configuration
    configuration.mkdir(parents=True)
    core, limits, java = {"fs.defaultFS": "file:///"}, _QUEUES, ""
    settings = _settings(root, ports, memory)
    if kerberos is not None:
        core, limits, java = core | _SECURE, limits | _OWN_ONLY, kerberos.java_option
        settings |= _identities(kerberos)
    _write(configuration / "core-site.xml", core)
    _write(configuration / "capacity-scheduler.xml", limits)
    _write(configuration / "yarn-site.xml", settings)
    (configuration / "log4j.properties").write_text(_LOGGING)
    with ExitStack() as stack:
        master = stack.enter_context(
            _daemon(root, "resourcemanager.ResourceManager", configuration, java)
        )
        node = stack.enter_context(_daemon(root, "nodemanager.NodeManager", configuration, java))
        _wait_for_node(cluster, [master, node], root)
        yield cluster


def spark_on(root: Path) -> dict[str, str]:
    """Spark's settings on a cluster whose nodes have the files of this machine."""
    quick = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
    return {
        "spark.yarn.jars": f"local:{spark_home() / 'jars'}/*",
        "spark.yarn.stagingDir": f"file://{root / 'staging'}",
        "spark.yarn.appMasterEnv.SPARK_LOCAL_IP": _HOST,
        "spark.executorEnv.SPARK_LOCAL_IP": _HOST,
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        "spark.executor.extraJavaOptions": quick,
    }


def _settings(root: Path, ports: list[int], memory: int) -> dict[str, str]:
    here = f"{_HOST}:0"
    return {
        "yarn.resourcemanager.hostname": _HOST,
        "yarn.resourcemanager.webapp.address": f"{_HOST}:{ports[0]}",
        "yarn.resourcemanager.address": f"{_HOST}:{ports[1]}",
        "yarn.resourcemanager.scheduler.address": f"{_HOST}:{ports[2]}",
        "yarn.resourcemanager.resource-tracker.address": f"{_HOST}:{ports[3]}",
        "yarn.resourcemanager.admin.address": f"{_HOST}:{ports[4]}",
        "yarn.scheduler.minimum-allocation-mb": "128",
        "yarn.nodemanager.hostname": _HOST,
        "yarn.nodemanager.address": here,
        "yarn.nodemanager.localizer.address": here,
        "yarn.nodemanager.collector-service.address": here,
        "yarn.nodemanager.webapp.address": here,
        "yarn.nodemanager.resource.memory-mb": str(memory),
        "yarn.nodemanager.resource.cpu-vcores": "8",
        "yarn.nodemanager.vmem-check-enabled": "false",
        "yarn.nodemanager.disk-health-checker.enable": "false",
        # which is checked once nevertheless; the disk is the machine's
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "100",
        "yarn.nodemanager.local-dirs": str(root / "local"),
        "yarn.nodemanager.log-dirs": str(root / "logs"),
    }


def _identities(kerberos: Kerberos) -> dict[str, str]:
    return {"yarn.acl.enable": "true", "yarn.admin.acl": "yarn"} | {
        f"yarn.{role}manager.{name}": value
        for role in ("resource", "node")
        for name, value in (("principal", SERVICE), ("keytab", str(kerberos.keytab)))
    }


def _write(file: Path, settings: Mapping[str, str]) -> None:
    document = ET.Element("configuration")
    for name, value in settings.items():
        entry = ET.SubElement(document, "property")
        ET.SubElement(entry, "name").text = name
        ET.SubElement(entry, "value").text = value
    file.write_bytes(ET.tostring(document))


@contextmanager
def _daemon(
    root: Path, name: str, configuration: Path, java_option: str
) -> Iterator[subprocess.Popen[bytes]]:
    java = find_java(None, os.environ).home
    command = [
        str(java / "bin" / "java"),
        "-Xmx256m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "--add-opens=java.base/java.lang=ALL-UNNAMED",
        *filter(None, [java_option]),
        "-cp",
        os.pathsep.join([str(configuration), str(_find_jars() / "*")]),
        f"{_DAEMONS}.{name}",
    ]
    environment = os.environ | {"JAVA_HOME": str(java), "HADOOP_CONF_DIR": str(configuration)}
    with (
        (root / f"{name}.log").open("wb") as log,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=root, env=environment
        ) as process,
    ):
        try:
            yield process
        finally:
            process.terminate()  # a node manager ends its containers
            process.wait()


def _wait_for_node(cluster: Yarn, daemons: list[subprocess.Popen[bytes]], root: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and all(each.poll() is None for each in daemons):
        try:
            if cluster.ask("nodes?states=RUNNING").get("nodes"):
                return
        except (URLError, OSError):
            pass  # it does not listen yet
        time.sleep(0.1)
    words = "\n".join(log.read_text()[-2000:] for log in sorted(root.glob("*Manager.log")))
    message = f"YARN did not start within {START_SECONDS} s; its last words: {words}"
    raise TimeoutError(message)


def _find_free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind((_HOST, 0))
        return [int(probe.getsockname()[1]) for probe in probes]


def _find_jars() -> Path:
    """The directory of Hadoop's jars; an error says how to fetch them."""
    if not _DIRECTORY.is_dir() or _digest(_DIRECTORY) != _SHA256:
        message = f"Hadoop's jars are missing; fetch them with: {sys.executable} -m {__name__}"
        raise FileNotFoundError(message)
    return _DIRECTORY


def fetch() -> Path:
    """Fetch the jars with their dependencies; an error if the repository serves other ones."""
    if _DIRECTORY.is_dir() and _digest(_DIRECTORY) == _SHA256:
        return _DIRECTORY
    _DIRECTORY.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=_DIRECTORY.parent, prefix=".fetch-") as work:
        resolve(_JARS, Path(work))
        found = Path(work) / "ivy" / "jars"
        digest = _digest(found)
        if digest != _SHA256:
            message = f"Hadoop's jars did not arrive as SHA-256 {_SHA256} but as {digest}"
            raise ValueError(message)
        shutil.rmtree(_DIRECTORY, ignore_errors=True)
        found.rename(_DIRECTORY)
    return _DIRECTORY


@cache
def _digest(directory: Path) -> str:
    whole = sha256()
    for jar in sorted(directory.iterdir()):
        whole.update(f"{sha256(jar.read_bytes()).hexdigest()}  {jar.name}\n".encode())
    return whole.hexdigest()


if __name__ == "__main__":
    sys.stdout.write(f"{fetch()}\n")
