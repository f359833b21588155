"""The daemon's side of a driver process: its start or adoption, its messages and its end."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from maintainer.adapters.spark import jars
from maintainer.adapters.spark.driver.clock import read_clock
from maintainer.adapters.spark.launcher.log_files import find_complaint, read_file
from maintainer.adapters.spark.launcher.ownership import (
    HeldLock,
    ProcessIdentity,
    driver_lock,
    end_processes,
    forget_in_children,
    identify,
    start_process,
    take_lock,
)
from maintainer.adapters.spark.link import Listener, LogPart, explain_end
from maintainer.adapters.spark.link.socket import connect, listening

_STOP_SECONDS = 30  # the driver gives its jobs 10 s and Spark 10 s
_RECONNECT_SECONDS = 5  # a live driver answers a new connection within this time
_POLL_SECONDS = 0.05
# The daemon's environment may belong to a Spark of another version; the driver must not inherit its
# settings.
_FOREIGN_VARIABLES = ("SPARK_", "PYSPARK_", "_PYSPARK_")


Record = Callable[[str, Sequence[ProcessIdentity]], None]


class DriverProcess:
    """One driver with its JVM; an ended driver never runs again."""

    def __init__(
        self,
        directory: Path,
        lock: HeldLock,
        identities: Sequence[ProcessIdentity],
        listener: Listener,
        record: Record,
    ) -> None:
        """Describe a running driver whose lock is held; `listen` begins to exchange messages."""
        self.directory = directory
        self.log = directory.with_name(f"{directory.name}.log")
        self.fingerprint = ""  # of its start settings; empty until it is known
        self.megabytes = 0  # of its JVM
        self.is_started = False
        self.is_worn = False  # the driver finishes its jobs, and takes no more
        # set when all messages from before this connection have been received
        self.is_caught_up = threading.Event()
        self.is_ended = threading.Event()
        self.last_words: Mapping[str, object] = {}
        self._lock = lock
        self._identities = list(identities)
        self._listener = listener
        self._record = record
        self._child: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None
        self._writing = threading.Lock()
        self._heard = 0  # the number of the last received message
        self._reader = threading.Thread(
            target=self._listen, name="spark-driver-reader", daemon=True
        )
        forget_in_children(self)

    @classmethod
    def start(
        cls,
        directory: Path,
        java_home: Path,
        settings: Mapping[str, object],
        listener: Listener,
        record: Record,
    ) -> DriverProcess:
        """Start a new driver in its own ``directory``, which is emptied.

        ``settings`` are sent over the socket, because they contain secrets.
        """
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True, mode=0o700)
        lock = take_lock(driver_lock(directory))
        if lock is None:
            raise OSError(f"another process has just taken {directory}")
        process = cls(directory, lock, (), listener, record)
        process.fingerprint, process.megabytes = (
            str(settings["fingerprint"]),
            int(str(settings["megabytes"])),
        )
        program = [sys.executable, "-P", "-u", "-m", "maintainer.adapters.spark.driver"]
        with listening(directory) as server:
            process._child, identity = start_process(
                [*program, str(server.fileno())],
                process.log,
                driver_environment(java_home, str(settings["host"])),
                directory,
                [server.fileno()],
            )
        process._identities = [identity]
        record(directory.name, process._identities)
        with contextlib.suppress(OSError):  # the driver ended at once; its log has the reason
            process._connection = connect(directory)
        process.send({"start": dict(settings)})
        process._reader.start()
        return process

    @classmethod
    def adopt(
        cls,
        directory: Path,
        lock: HeldLock,
        identities: Sequence[ProcessIdentity],
        listener: Listener,
        record: Record,
    ) -> DriverProcess:
        """Adopt a driver whose daemon has ended and whose lock is held now.

        The driver sends its messages as any other driver, with hello first.
        """
        process = cls(directory, lock, identities, listener, record)
        process._record(directory.name, process._identities)
        process._connection = process._reconnect()
        process._reader.start()
        return process

    @property
    def name(self) -> str:
        """Return the driver's name, which is the name of its directory."""
        return self.directory.name

    @property
    def pid(self) -> int:
        """Return the driver's process number."""
        return self._identities[0].pid

    @property
    def java_pid(self) -> int | None:
        """Return the JVM's process number; None until the driver has sent it."""
        return self._identities[1].pid if len(self._identities) > 1 else None

    @property
    def hindrance(self) -> str:
        """Return nothing: the start of a process waits for no cluster."""
        return ""

    def send(self, order: Mapping[str, object]) -> bool:
        """Send an order to the driver; False if the driver no longer listens."""
        connection = self._connection
        if connection is None or self.is_ended.is_set():
            return False
        with self._writing:
            try:
                connection.sendall(json.dumps(order).encode() + b"\n")
            except OSError:
                return False
        return True

    def run(self, order: Mapping[str, object], valid_for: timedelta | None) -> None:
        """Give the driver a job, with a fence on the clock that this machine's processes share."""
        self.send({"run": dict(order) | {"until": _until(valid_for)}})

    def renew(self, job_id: str, valid_for: timedelta) -> None:
        """Set the job's fence to this time from now; the driver ends the job by then."""
        self.send({"renew": {"id": job_id, "until": _until(valid_for)}})

    def cancel(self, job_id: str) -> None:
        """Ask the driver to end the job."""
        self.send({"cancel": job_id})

    def acknowledge(self, numbers: Sequence[int]) -> None:
        """Let the driver drop the messages with these numbers."""
        self.send({"acknowledged": list(numbers)})

    def kill(self) -> None:
        """Kill the driver at once; the listener is notified."""
        if self._identities and self._identities[0].is_alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def give_up(self, reason: str) -> None:
        """Kill the driver at once, with the reason as its last words."""
        self.last_words = explain_end(reason)
        self.kill()

    def stop(self) -> None:
        """Ask the driver to end, and later kill it; return when driver and JVM have ended."""
        self.send({"stop": True})
        if not self.is_ended.wait(_STOP_SECONDS):
            self.kill()
        self.is_ended.wait()
        if threading.current_thread() is not self._reader:
            self._reader.join()

    def forget(self) -> None:
        """Close the socket in a forked child, so that the driver notices the end of its daemon."""
        if self._connection is not None:
            with contextlib.suppress(OSError):
                os.close(self._connection.detach())

    def find_complaint(self) -> str:
        """Return the first line of the driver's log that looks like an error, or ""."""
        return find_complaint(self.read_log(0).text)

    def read_log(self, since: int) -> LogPart:
        return read_file(self.log, since)

    def _listen(self) -> None:
        while self._connection is not None:
            with contextlib.suppress(OSError), self._connection.makefile("rb") as lines:
                for line in lines:
                    if line.endswith(b"\n"):  # the last line may be incomplete
                        self._hear(json.loads(line))
            with contextlib.suppress(OSError):
                self._connection.close()
            self._connection = self._reconnect()
        self._end_and_remove()
        self._listener.ended(self)
        self.is_caught_up.set()

    def _hear(self, message: Mapping[str, object]) -> None:
        number = message.get("number")
        if isinstance(number, int):
            if number <= self._heard:
                return  # the driver sent the message again over a new connection
            self._heard = number
        self._note(message)
        self._listener.heard(self, message)
        if message.get("event") == "replayed":
            self.is_caught_up.set()

    def _note(self, message: Mapping[str, object]) -> None:
        match message:
            case {
                "event": "hello",
                "java_pid": java_pid,
                "is_started": bool(is_started),
                "is_worn": bool(is_worn),
                "fingerprint": fingerprint,
            }:
                self.is_started, self.is_worn = is_started, is_worn
                self.fingerprint = str(fingerprint or self.fingerprint)
                self.megabytes = int(str(message.get("megabytes") or self.megabytes))
                self._note_processes(self.pid, java_pid)
            case {"event": "application.starting", "java_pid": int(java_pid)}:
                self._note_processes(self.pid, java_pid)
            case {"event": "application.started"}:
                self.is_started = True
            case {"event": "application.failed" | "application.ended"}:
                self.last_words = message
            case {"event": "application.worn"}:
                self.is_worn = True
            case _:
                pass  # a message about a job, for the listener

    def _note_processes(self, *pids: object) -> None:
        known = {identity.pid for identity in self._identities}
        found = [identify(pid) for pid in pids if isinstance(pid, int) and pid not in known]
        self._identities += [identity for identity in found if identity is not None]
        self._record(self.directory.name, self._identities)

    def _reconnect(self) -> socket.socket | None:
        """Connect again to a running driver; None if it does not answer.

        The driver closes a connection if this process did not read for a while, or if another
        process adopts the driver.
        """
        deadline = time.monotonic() + _RECONNECT_SECONDS
        while self._identities and self._identities[0].is_alive and time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                return connect(self.directory)
            time.sleep(_POLL_SECONDS)
        return None

    def _end_and_remove(self) -> None:
        """End both processes of a driver that does not answer, and remove their files."""
        self.kill()
        if self._child is not None:
            self._child.wait()
        # A process in an uninterruptible wait ends later. Until then it counts as running.
        while not end_processes(self._identities):
            continue
        self._record(self.directory.name, ())
        shutil.rmtree(self.directory, ignore_errors=True)
        self._lock.forget()
        self.is_ended.set()


def _until(valid_for: timedelta | None) -> float | None:
    return None if valid_for is None else read_clock() + valid_for.total_seconds()


def driver_environment(java_home: Path, host: str) -> dict[str, str]:
    """Return the environment of a driver on this machine, without settings of another Spark."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN_VARIABLES)
    }
    return inherited | {
        "JAVA_HOME": str(java_home),
        "SPARK_HOME": str(jars.spark_home()),
        "SPARK_LOCAL_IP": host,
        "SPARK_LOCAL_HOSTNAME": "localhost" if host == "127.0.0.1" else host,
        "PYSPARK_PYTHON": sys.executable,
        "MALLOC_ARENA_MAX": "2",
    }
