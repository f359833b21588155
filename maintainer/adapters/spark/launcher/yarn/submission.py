"""Runs spark-submit for a driver, with the driver's files and settings in its own directory.

The start token is in a file that only the daemon's user may read. Spark copies this file into the
application's staging directory, which has the same permissions.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from maintainer.adapters.spark import driver, jars
from maintainer.adapters.spark.driver import surroundings
from maintainer.adapters.spark.driver.link import polling
from maintainer.adapters.spark.java import find_java, prepare_home
from maintainer.adapters.spark.launcher import DriverSpec
from maintainer.adapters.spark.launcher.log_files import OWNER_ONLY, find_complaint, write_privately
from maintainer.adapters.spark.launcher.ownership import (
    ProcessIdentity,
    end_processes,
    start_process,
)
from maintainer.adapters.spark.launcher.process import driver_environment
from maintainer.adapters.spark.launcher.yarn.options import YarnOptions
from maintainer.adapters.spark.options import (
    DriverSize,
    LocalSparkOptions,
    RunnerOptions,
    executor_settings,
    overhead_megabytes,
)
from maintainer.domain.errors import RunnerUnavailableError

TOKEN_FILE, AUTHORITY_FILE = "token", "authority.pem"
_MASTER = "yarn"
# The settings of spark.conf that are needed before the driver has its start order.
_SUBMITTED = re.compile(r"spark\.((yarn\.|kerberos\.|driver\.extra).*|authenticate)", re.DOTALL)
_SECRET = re.compile(r"secret|password|token|credential", re.IGNORECASE)


def tag_of(installation: str) -> str:
    """Return the tag of an installation's applications; YARN's tags are in lower case."""
    return f"iceberg-maintainer-{installation}".lower()


def start_settings(size: DriverSize, options: YarnOptions) -> dict[str, str]:
    """Return the settings that are added to the start order."""
    settings = {"spark.master": _MASTER, "spark.submit.deployMode": "cluster"}
    if size.executors is None:
        return settings
    overhead = overhead_megabytes(size.executors.memory, options.executor_overhead)
    return (
        settings
        | executor_settings(_MASTER, size.executors)
        | {"spark.executor.memoryOverhead": f"{overhead}m"}
    )


def submit_settings(
    spec: DriverSpec, runner: RunnerOptions, options: YarnOptions, class_path: Sequence[Path]
) -> dict[str, str]:
    """Return the settings that spark-submit reads; none of them is a secret."""
    seconds = int(runner.start_timeout.total_seconds())
    chosen = {
        name: value
        for name, value in runner.conf.items()
        if _SUBMITTED.fullmatch(name) and _SECRET.search(name) is None
    }
    fixed = {
        "spark.app.name": spec.name,
        "spark.yarn.queue": options.queue,
        "spark.yarn.tags": f"{tag_of(spec.installation)},{spec.name}",
        "spark.yarn.submit.waitAppCompletion": "false",
        # Another attempt would be a second driver; the daemon itself starts a new driver.
        "spark.yarn.maxAppAttempts": "1",
        # Failed tasks end only their job; the lost executors of a job must not end other jobs.
        "spark.executor.maxNumFailures": "1000",
        "spark.yarn.am.waitTime": f"{seconds}s",
        "spark.yarn.preserve.staging.files": "false",
        "spark.driver.memory": spec.memory,
        "spark.driver.cores": str(options.driver_cores),
        "spark.driver.memoryOverhead": (
            f"{overhead_megabytes(spec.memory, options.driver_overhead)}m"
        ),
        "spark.jars": ",".join(path.as_uri() for path in class_path),
        "spark.pyspark.python": options.python,
        "spark.ui.enabled": "false",
    }
    java_options = " ".join(
        filter(None, [runner.java_options, chosen.get("spark.driver.extraJavaOptions", "")])
    )
    if options.principal and options.keytab is not None:
        fixed |= {
            "spark.kerberos.principal": options.principal,
            "spark.kerberos.keytab": str(options.keytab),
        }
    variables = {
        polling.ADDRESS: spec.address,
        polling.NAME: spec.name,
        polling.TOKEN_FILE: TOKEN_FILE,  # in the directory of the container
        surroundings.WORK: ".",
    } | ({polling.AUTHORITY_FILE: AUTHORITY_FILE} if spec.authority else {})
    environment = {f"spark.yarn.appMasterEnv.{name}": value for name, value in variables.items()}
    return chosen | {"spark.driver.extraJavaOptions": java_options} | fixed | environment


_PROGRAM = "maintainer_driver"  # the driver program's package on the cluster
_START = f'import runpy\n\nrunpy.run_module("{_PROGRAM}", run_name="__main__")\n'
_LOG, _PROCESS, _SETTINGS = "submit.log", "process.json", "submit.properties"


class Submissions:
    """The submissions of this machine, by the names of their drivers."""

    def __init__(self, options: LocalSparkOptions, yarn: YarnOptions, directory: Path) -> None:
        """``directory`` is for all submissions, and is created at the first use."""
        self._options = options
        self._yarn = yarn
        self._directory = directory
        self._children: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, spec: DriverSpec) -> None:
        """Begin to submit the driver; do nothing if its submission has already begun.

        RunnerUnavailableError if the submission cannot begin.
        """
        directory = self._directory / spec.name
        if (directory / _PROCESS).exists():
            return
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=OWNER_ONLY | 0o100)
            command = self._write(spec, directory)
            log = directory / _LOG
            child, process = start_process(command, log, self._environment(), directory)
        except OSError as error:
            raise RunnerUnavailableError(
                f"driver {spec.name} cannot be submitted from {directory}: {error}"
            ) from error
        self._children[spec.name] = child
        (directory / _PROCESS).write_text(json.dumps([process.pid, process.started]))

    def is_known(self, name: str) -> bool:
        """Return whether the driver was submitted from this machine."""
        return (self._directory / name / _PROCESS).exists()

    def is_running(self, name: str) -> bool:
        """Return whether spark-submit still runs for the driver."""
        child = self._children.get(name)
        if child is not None:
            return child.poll() is None
        process = self._process(name)
        return process is not None and process.is_alive

    def find_complaint(self, name: str) -> str:
        """Return the line of spark-submit's log with the reason of the failure."""
        with contextlib.suppress(OSError):
            log = (self._directory / name / _LOG).read_text(encoding="utf-8", errors="replace")
            lines = [line.strip() for line in log.splitlines() if line.strip()]
            return find_complaint(log) or (lines[-1] if lines else "")
        return ""

    def end(self, name: str) -> None:
        """End the submission, and remove its files."""
        process = self._process(name)
        if process is not None:
            end_processes([process])
        child = self._children.pop(name, None)
        if child is not None:
            child.wait()
        shutil.rmtree(self._directory / name, ignore_errors=True)

    def drop_secrets(self, name: str) -> None:
        """Remove the token's file; the cluster has accepted the application."""
        (self._directory / name / TOKEN_FILE).unlink(missing_ok=True)

    def find_configuration(self) -> Path:
        """Return the directory of Hadoop's configuration; RunnerUnavailableError without one."""
        named = self._yarn.hadoop_conf_dir or os.environ.get("HADOOP_CONF_DIR") or ""
        if not named or not (Path(named) / "yarn-site.xml").is_file():
            raise RunnerUnavailableError(
                f"there is no yarn-site.xml in {named}"
                if named
                else "no directory of Hadoop's configuration is set; write "
                "spark.yarn.hadoop_conf_dir or set HADOOP_CONF_DIR"
            )
        return Path(named)

    def _process(self, name: str) -> ProcessIdentity | None:
        try:
            pid, started = json.loads((self._directory / name / _PROCESS).read_text())
            return ProcessIdentity(int(pid), str(started))
        except (OSError, ValueError, TypeError):
            return None

    def _environment(self) -> Mapping[str, str]:
        home = prepare_home(find_java(self._options.java_home, os.environ), self._directory)
        user = {"HADOOP_USER_NAME": self._yarn.user} if self._yarn.user else {}
        return (
            driver_environment(home, self._options.driver_host)
            | {"HADOOP_CONF_DIR": str(self.find_configuration())}
            | user
        )

    def _write(self, spec: DriverSpec, directory: Path) -> list[str]:
        """Write the files, and return the command, which contains no secret."""
        # What is there is enough: the prerequisites were checked with the catalogs.
        given = self._options.given_jars
        class_path = jars.find_jars(self._options.jars_dir, given=given, databases=())
        settings = submit_settings(spec, self._options, self._yarn, class_path)
        write_privately(directory / TOKEN_FILE, spec.start_token)
        write_privately(
            directory / _SETTINGS,
            "".join(f"{name}={_escape(value)}\n" for name, value in settings.items()),
        )
        files = [TOKEN_FILE]
        if spec.authority:
            write_privately(directory / AUTHORITY_FILE, spec.authority)
            files.append(AUTHORITY_FILE)
        (directory / "start.py").write_text(_START, encoding="utf-8")
        _pack_driver(directory / "driver.zip")
        return [
            str(jars.spark_home() / "bin" / "spark-submit"),
            *("--master", "yarn", "--deploy-mode", "cluster"),
            *("--properties-file", str(directory / _SETTINGS)),
            *("--py-files", str(directory / "driver.zip")),
            *("--files", ",".join(str(directory / name) for name in files)),
            str(directory / "start.py"),
        ]


def _pack_driver(archive: Path) -> None:
    """Write the driver program as a package that needs no other module of maintainer."""
    root = Path(str(driver.__file__)).parent
    with zipfile.ZipFile(archive, "w") as packed:
        for source in sorted(root.rglob("*.py")):
            packed.write(source, f"{_PROGRAM}/{source.relative_to(root)}")


def _escape(value: str) -> str:
    """Escape a value for a file of Java properties."""
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return f"\\{escaped}" if escaped.startswith(" ") else escaped
