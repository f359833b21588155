"""The driver as a child process of the daemon: started, spoken to, listened to, ended."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from maintainer.adapters.spark import jars
from maintainer.adapters.spark.ownership import ProcessIdentity, end_processes, identify

_STOP_SECONDS = 30  # the driver gives its jobs 10 s and Spark 10 s
_TERMINATE_SECONDS = 5
_MAX_COMPLAINT_BYTES = 256 * 1024
_COMPLAINT = re.compile(r"^(Exception in thread|Error: |Error occurred|Caused by: |[\w.]+(Exception|Error): )")
_MAX_LOG_BYTES = 16 * 1024 * 1024
# Whoever starts the daemon may use a Spark of another version; the driver must not meet its settings.
_FOREIGN_VARIABLES = ("SPARK_", "PYSPARK_", "_PYSPARK_")


class Listener(Protocol):
    """Whom the driver's words go to, on a thread of their own."""

    def heard(self, process: DriverProcess, message: Mapping[str, object]) -> None:
        """The driver said something."""
        ...

    def ended(self, process: DriverProcess) -> None:
        """The driver is gone and its JVM too: nothing can commit any more."""
        ...


class DriverProcess:
    """One driver with its JVM; it never comes back once it has ended."""

    def __init__(
        self, directory: Path, java_home: Path, settings: Mapping[str, object], listener: Listener, record: Callable[[list[ProcessIdentity]], None]
    ) -> None:
        """Start it; ``settings`` go over its standard input, since they hold secrets. ``directory`` is its own and is emptied."""
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True, mode=0o700)
        self.directory = directory
        self.log = directory.with_name(directory.name.rpartition("-")[0] + ".log")
        self.is_started = False
        self.is_worn = False  # good for the jobs that it has, to be replaced after them
        self.is_ended = threading.Event()
        self.last_words: Mapping[str, object] = {}
        self._listener = listener
        self._record = record
        self._writing = threading.Lock()
        command = [sys.executable, "-P", "-u", str(Path(__file__).with_name("driver.py"))]
        _rotate(self.log)
        with self.log.open("ab") as log:
            self._log_start = log.tell()
            self._process = subprocess.Popen(  # noqa: S603 - our own driver
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=_environment(java_home), cwd=directory, start_new_session=True
            )
        self._identities = [found for found in [identify(self._process.pid)] if found is not None]
        record(self._identities)
        self.send({"start": dict(settings)})
        self._reader = threading.Thread(target=self._listen, name="spark-driver-reader", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The driver's process number."""
        return self._process.pid

    @property
    def java_pid(self) -> int | None:
        """The JVM's process number; None until the driver has named it."""
        return self._identities[1].pid if len(self._identities) > 1 else None

    def send(self, message: Mapping[str, object]) -> bool:
        """Say something to the driver; False when it does not listen any more."""
        stdin = self._process.stdin
        if stdin is None or self.is_ended.is_set():
            return False
        with self._writing:
            try:
                stdin.write(json.dumps(message).encode() + b"\n")
                stdin.flush()
            except (OSError, ValueError):
                return False
        return True

    def kill(self) -> None:
        """End it at once; the listener hears of it."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    def give_up(self, reason: str) -> None:
        """End it at once, with the reason as its last words."""
        self.last_words = {"reason": reason, "causes": [{"class": "RunnerUnavailableError", "message": reason}]}
        self.kill()

    def stop(self) -> None:
        """Ask it to end, insist, force it; returns when driver and JVM are gone."""
        self.send({"stop": True})
        if not self.is_ended.wait(_STOP_SECONDS):
            self._process.terminate()
            if not self.is_ended.wait(_TERMINATE_SECONDS):
                self.kill()
        self.is_ended.wait()
        if threading.current_thread() is not self._reader:
            self._reader.join()

    def find_complaint(self) -> str:
        """The first line of this process's log that looks like an error; empty when there is none."""
        with contextlib.suppress(OSError), self.log.open("rb") as log:
            log.seek(self._log_start)
            lines = log.read(_MAX_COMPLAINT_BYTES).decode(errors="replace").splitlines()
            return next((line.strip() for line in lines if _COMPLAINT.search(line)), "")
        return ""

    def _listen(self) -> None:
        if self._process.stdout is not None:
            for line in self._process.stdout:
                try:
                    message = json.loads(line)
                except ValueError:
                    continue
                self._note(message)
                self._listener.heard(self, message)
        self._bury()
        self._listener.ended(self)

    def _note(self, message: Mapping[str, object]) -> None:
        match message:
            case {"event": "application.starting", "java_pid": int(pid)}:
                java = identify(pid)
                if java is not None:
                    self._identities.append(java)
                    self._record(self._identities)
            case {"event": "application.started"}:
                self.is_started = True
            case {"event": "application.failed" | "application.ended"}:
                self.last_words = message
            case {"event": "application.worn"}:
                self.is_worn = True
            case _:
                pass  # of a job: the listener's

    def _bury(self) -> None:
        """The pipe is closed: make sure that both processes are gone, and leave nothing of them behind."""
        self.kill()
        self._process.wait()
        while not end_processes(self._identities):  # a process in an uninterruptible wait ends later, and may not be called gone before
            continue
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._record([])
        shutil.rmtree(self.directory, ignore_errors=True)
        self.is_ended.set()


def _environment(java_home: Path) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN_VARIABLES)}
    return inherited | {
        "JAVA_HOME": str(java_home),
        "SPARK_HOME": str(jars.spark_home()),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_HOSTNAME": "localhost",
        "PYSPARK_PYTHON": sys.executable,
        "MALLOC_ARENA_MAX": "2",
    }


def _rotate(log: Path) -> None:
    if log.exists() and log.stat().st_size > _MAX_LOG_BYTES:
        log.replace(log.with_suffix(".log.1"))
