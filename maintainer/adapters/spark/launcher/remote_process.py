"""Starts drivers as processes of this machine that poll over HTTP."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from maintainer.adapters.spark.driver import surroundings
from maintainer.adapters.spark.driver.link import polling
from maintainer.adapters.spark.java import find_java, prepare_home
from maintainer.adapters.spark.launcher import DriverSpec, LaunchPhase, LaunchState
from maintainer.adapters.spark.launcher.log_files import read_file, write_privately
from maintainer.adapters.spark.launcher.ownership import (
    ProcessIdentity,
    end_processes,
    start_process,
)
from maintainer.adapters.spark.launcher.process import driver_environment
from maintainer.adapters.spark.link import LogPart
from maintainer.adapters.spark.options import LocalSparkOptions
from maintainer.adapters.spark.prerequisites import find_prerequisites
from maintainer.domain.errors import RunnerUnavailableError

_HANDLE, _LOG, _TOKEN, _AUTHORITY = "handle", "driver.log", "token", "authority.pem"


class ProcessLauncher:
    """Implements Launcher. Each driver has its own directory, which is removed when it ends.

    The state of a driver on another machine is unknown; such a driver counts as running.
    """

    def __init__(self, options: LocalSparkOptions, run_dir: Path) -> None:
        self._options = options
        self._run_dir = run_dir.absolute()
        self._host = socket.gethostname()
        self._children: dict[str, subprocess.Popen[bytes]] = {}

    def launch(self, spec: DriverSpec) -> str:
        directory = self._run_dir / spec.name
        with contextlib.suppress(OSError):  # the driver was not launched yet, or cannot be launched
            return (directory / _HANDLE).read_text(encoding="utf-8")
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            environment = self._write_environment(spec, directory)
            command = [sys.executable, "-P", "-u", "-m", "maintainer.adapters.spark.driver"]
            child, process = start_process(command, directory / _LOG, environment, directory)
        except OSError as error:
            raise RunnerUnavailableError(
                f"driver {spec.name} cannot be started in {directory}: {error}"
            ) from error
        handle = json.dumps([spec.name, self._host, process.pid, process.started])
        self._children[handle] = child
        (directory / _HANDLE).write_text(handle, encoding="utf-8")
        return handle

    def state(self, handle: str) -> LaunchState:
        name, host, process = _read(handle)
        if host != self._host:
            return LaunchState(LaunchPhase.RUNNING, f"it runs on {host}")
        child = self._children.get(handle)
        if child is not None:
            child.poll()  # otherwise an ended child would remain as a zombie
        if process.is_alive:
            return LaunchState(LaunchPhase.RUNNING)
        code = "" if child is None else f" with exit code {child.returncode}"
        return LaunchState(LaunchPhase.ENDED, f"process {process.pid} of {name} has ended{code}")

    def log(self, handle: str, since: int) -> LogPart:
        name, _, _ = _read(handle)
        return read_file(self._run_dir / name / _LOG, since)

    def end(self, handle: str) -> None:
        """See Launcher; the kernel kills the JVM when the driver ends."""
        name, host, process = _read(handle)
        if host != self._host:
            return
        end_processes([process])
        child = self._children.pop(handle, None)
        if child is not None:
            child.wait()
        shutil.rmtree(self._run_dir / name, ignore_errors=True)

    def find(self) -> Sequence[str]:
        found = [path.read_text(encoding="utf-8") for path in self._run_dir.glob(f"*/{_HANDLE}")]
        return [handle for handle in found if _read(handle)[1] == self._host]

    def describe(self) -> Sequence[tuple[str, bool, str]]:
        return tuple(
            find_prerequisites(
                self._options.java_home,
                self._options.jars_dir,
                given=self._options.given_jars,
            )
        )

    def _write_environment(self, spec: DriverSpec, directory: Path) -> Mapping[str, str]:
        """Write the token's file, and return the environment, which contains no secret."""
        java_home = prepare_home(find_java(self._options.java_home, os.environ), self._run_dir)
        token = directory / _TOKEN
        write_privately(token, spec.start_token)
        environment = driver_environment(java_home, self._options.driver_host) | {
            polling.ADDRESS: spec.address,
            polling.NAME: spec.name,
            polling.TOKEN_FILE: str(token),
            surroundings.WORK: str(directory),
            surroundings.JARS: str(self._options.jars_dir),
        }
        if spec.authority:
            (directory / _AUTHORITY).write_text(spec.authority, encoding="utf-8")
            environment[polling.AUTHORITY_FILE] = str(directory / _AUTHORITY)
        return environment


def _read(handle: str) -> tuple[str, str, ProcessIdentity]:
    """Read a handle; a handle of another launcher refers to no process."""
    try:
        name, host, pid, started = json.loads(handle)
        return str(name), str(host), ProcessIdentity(int(pid), str(started))
    except (ValueError, TypeError):
        return "unknown", "", ProcessIdentity(0, "")
