"""Records which process owns which driver on one machine.

An owner holds a lock that ends with its process. After an owner has ended, its drivers are adopted
or ended, and its files are removed after a while.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import signal
import subprocess
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from maintainer.adapters.spark.launcher.log_files import open_log
from maintainer.domain.errors import InvalidValueError, RunnerUnavailableError

_OWNER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_END_SECONDS = 10
KEPT_FOR = timedelta(days=7)  # files of a process that has ended
_POLL_SECONDS = 0.02
_PROC = Path("/proc")
_START_TIME_FIELD = 21 - 2  # field 22 of /proc/PID/stat, counted from behind the name in brackets


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A process, with its start time: it is never confused with a later process of its number."""

    pid: int
    started: str  # in the format of the system: clock ticks since boot, or a date

    @property
    def is_alive(self) -> bool:
        """Return True while this process runs; a zombie does not run."""
        return read_start_time(self.pid) == self.started


def read_start_time(pid: int) -> str | None:
    """Return the start time of a process as text; None if there is no process or only a zombie."""
    if (_PROC / "self" / "stat").exists():  # Linux
        try:
            state, *fields = (
                (_PROC / str(pid) / "stat")
                .read_text(encoding="utf-8", errors="replace")
                .rpartition(")")[2]
                .split()
            )
        except (OSError, ValueError):
            return None
        return None if state in "ZX" else fields[_START_TIME_FIELD - 1]
    done = subprocess.run(  # noqa: S603 - a program of the system
        ["ps", "-o", "lstart=,stat=", "-p", str(pid)],  # noqa: S607 - a program of the system
        capture_output=True,
        text=True,
        check=False,
    )
    started, _, state = done.stdout.strip().rpartition(" ")
    return None if not started or state.startswith("Z") else started.strip()


def identify(pid: int) -> ProcessIdentity | None:
    """Identify the process with this number; None if it has ended."""
    started = read_start_time(pid)
    return None if started is None else ProcessIdentity(pid, started)


def start_process(
    command: Sequence[str],
    log: Path,
    environment: Mapping[str, str],
    directory: Path,
    files: Sequence[int] = (),
) -> tuple[subprocess.Popen[bytes], ProcessIdentity]:
    """Start a process in a new session; it writes to the log and inherits the files."""
    with open_log(log) as output:
        child = subprocess.Popen(  # noqa: S603 - programs of this package and of Spark
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            cwd=directory,
            start_new_session=True,
            pass_fds=files,
        )
    return child, identify(child.pid) or ProcessIdentity(child.pid, "ended already")


def end_processes(
    processes: Sequence[ProcessIdentity], within_seconds: float = _END_SECONDS
) -> bool:
    """Kill the processes, if they are still the same; True if all have ended."""
    deadline = time.monotonic() + within_seconds
    for process in processes:
        if process.is_alive:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, signal.SIGKILL)
    while any(process.is_alive for process in processes):
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


class HeldLock:
    """A file's lock, held until it is released or this process ends.

    A forked child does not continue to hold the lock.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor
        forget_in_children(self)

    def forget(self) -> None:
        """Release the lock by closing its file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def take_lock(path: Path) -> HeldLock | None:
    """Take the file's lock; None if another process holds the lock.

    FileNotFoundError if the directory does not exist.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return HeldLock(descriptor)


class Ownership:
    """Holds ``<owner>.lock`` in the run directory while this process lives.

    A file beside the lock records the drivers of the owner and their processes.
    """

    def __init__(self, run_dir: Path, owner: str) -> None:
        """Take the owner's lock; drivers of an earlier process are ended, unless they were adopted.

        RunnerUnavailableError if another running process has the same owner name, or if the
        directory cannot be written.
        """
        self.run_dir = run_dir
        self._owner = owner
        try:
            run_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = take_lock(_lock_path(run_dir, owner))
        except OSError as error:
            raise RunnerUnavailableError(
                f"spark.run_dir {run_dir} cannot be written: {error.strerror or error}; name "
                f"another directory"
            ) from error
        if self._lock is None:
            raise RunnerUnavailableError(
                f"another live process uses the owner name {owner!r} in {run_dir}"
            )
        self._record = _record_path(run_dir, owner)
        for driver, processes in _read_record(self._record).items():
            if not self.is_adopted(driver):
                end_processes(processes)
        self._drivers: dict[str, list[ProcessIdentity]] = {}
        self._write()

    def record(self, driver: str, processes: Sequence[ProcessIdentity]) -> None:
        """Replace the list of one driver's processes; an empty list removes the record."""
        self._drivers[driver] = list(processes)
        if not processes:
            del self._drivers[driver]
        self._write()

    def _write(self) -> None:
        known = {
            driver: [[process.pid, process.started] for process in processes]
            for driver, processes in self._drivers.items()
        }
        fresh = self._record.with_suffix(".new")
        fresh.write_text(json.dumps(known), encoding="utf-8")
        fresh.replace(self._record)

    def release(self) -> None:
        """Release the owner name."""
        self.forget()
        self._record.unlink(missing_ok=True)

    def forget(self) -> None:
        """Release the lock, as the system does when this process ends; the record is kept."""
        if self._lock is not None:
            self._lock.forget()

    def left_behind(self, owner: str) -> Mapping[str, Sequence[ProcessIdentity]] | None:
        """Return the running drivers of an owner that has ended; None while the owner lives."""
        path = _lock_path(self.run_dir, owner)
        if not path.exists():
            # The owner never ran on this machine. Taking its lock would create the file, and the
            # owner would look dead.
            return {}
        lock = take_lock(path)
        if lock is None:
            return None
        lock.forget()
        recorded = _read_record(_record_path(self.run_dir, owner))
        return {
            driver: processes
            for driver, processes in recorded.items()
            if any(process.is_alive for process in processes)
        }

    def find_orphaned(self) -> Sequence[str]:
        """Return the owners that have ended and may have running drivers.

        No owner is returned while another process on this machine lives, because that process
        adopts the drivers.
        """
        others = [
            path.stem
            for path in self.run_dir.glob("*.lock")
            if path != _lock_path(self.run_dir, self._owner)
        ]
        gone = [owner for owner in others if owner_lives(self.run_dir, owner) is False]
        return gone if len(gone) == len(others) else ()

    def is_adopted(self, driver: str) -> bool:
        """Return True while a live process has adopted the driver."""
        try:
            lock = take_lock(driver_lock(self.run_dir / driver))
        except FileNotFoundError:
            return False
        if lock is not None:
            lock.forget()
        return lock is None


def driver_lock(directory: Path) -> Path:
    """Return the file of the lock whose holder owns the driver in this directory."""
    return directory / "adopter.lock"


class _Forgettable(Protocol):
    def forget(self) -> None: ...


_FORGOTTEN: weakref.WeakSet[_Forgettable] = weakref.WeakSet()


def forget_in_children(held: _Forgettable) -> None:
    """Release the lock in forked children, which would otherwise hold it after this process."""
    _FORGOTTEN.add(held)


def _forget_all() -> None:
    for held in list(_FORGOTTEN):
        held.forget()


os.register_at_fork(after_in_child=_forget_all)


def _lock_path(run_dir: Path, owner: str) -> Path:
    if _OWNER.fullmatch(owner) is None:
        raise InvalidValueError(
            f"owner {owner!r} is not a file name; use at most 128 letters, digits, dots, dashes "
            f"and underscores"
        )
    return run_dir / f"{owner}.lock"


def _record_path(run_dir: Path, owner: str) -> Path:
    return run_dir / f"{owner}.processes.json"


def _read_record(path: Path) -> dict[str, list[ProcessIdentity]]:
    try:
        recorded = json.loads(path.read_text(encoding="utf-8"))
        return {
            driver: [ProcessIdentity(int(pid), str(started)) for pid, started in processes]
            for driver, processes in recorded.items()
        }
    except (
        FileNotFoundError,
        ValueError,
        AttributeError,
    ):  # no record, or the record of an earlier version, whose drivers end with their owner
        return {}


def owner_lives(run_dir: Path, owner: str) -> bool | None:
    """Return True while a process holds the owner's lock.

    None if the owner was never seen on this machine: it may live on another machine.
    """
    try:
        descriptor = os.open(run_dir / f"{owner.replace('/', '_')}.lock", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def prune_leftovers(run_dir: Path, now: datetime) -> int:
    """Remove files of processes that ended long ago and have no running Spark; return how many."""
    oldest = (now - KEPT_FOR).timestamp()
    owners = [lock.stem for lock in run_dir.glob("*.lock") if _is_older(lock, oldest)]
    return sum(
        _remove(run_dir, owner, oldest) for owner in owners if owner_lives(run_dir, owner) is False
    )


def _remove(run_dir: Path, owner: str, oldest: float) -> bool:
    files = [
        path
        for path in run_dir.iterdir()
        if path.name.startswith((f"{owner}.spark", f"{owner}.processes."))
        or path.name == f"{owner}.lock"
    ]
    if any(path.is_dir() for path in files) or not all(_is_older(path, oldest) for path in files):
        # Another process may use its Spark, or its log was written recently.
        return False
    # The lock is removed last, so that the other files can be found again until then.
    for path in sorted(files, key=lambda path: path.suffix == ".lock"):
        path.unlink(missing_ok=True)
    return True


def _is_older(path: Path, oldest: float) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return path.stat().st_mtime < oldest
    return False
