"""Which process owns which Spark, on one machine: a lock that dies with its holder, and the processes that must not outlive it."""

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
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from maintainer.domain.errors import InvalidValueError, RunnerUnavailableError

_OWNER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_END_SECONDS = 10
_POLL_SECONDS = 0.02
_PROC = Path("/proc")
_START_TIME_FIELD = 21 - 2  # field 22 of /proc/PID/stat, counted behind the name in brackets


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A process that cannot be mistaken for a later one with the same number."""

    pid: int
    started: str  # as the system writes it: clock ticks since boot, or a date

    @property
    def is_alive(self) -> bool:
        """True while this very process runs; a zombie does not."""
        return read_start_time(self.pid) == self.started


def read_start_time(pid: int) -> str | None:
    """When the process with that number started, as text to compare; None when there is none or only a zombie."""
    if (_PROC / "self" / "stat").exists():  # Linux
        try:
            state, *fields = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except (OSError, ValueError):
            return None
        return None if state in "ZX" else fields[_START_TIME_FIELD - 1]
    done = subprocess.run(["ps", "-o", "lstart=,stat=", "-p", str(pid)], capture_output=True, text=True, check=False)  # noqa: S603, S607 - the system's own
    started, _, state = done.stdout.strip().rpartition(" ")
    return None if not started or state.startswith("Z") else started.strip()


def identify(pid: int) -> ProcessIdentity | None:
    """The process with that number, to be recognised later; None when it is gone."""
    started = read_start_time(pid)
    return None if started is None else ProcessIdentity(pid, started)


def end_processes(processes: Sequence[ProcessIdentity], within_seconds: float = _END_SECONDS) -> bool:
    """Kill those that still are what they were; True when none is left."""
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


class Ownership:
    """Holds ``<owner>.lock`` in the run directory for as long as this process lives, and keeps the owner's processes beside it."""

    def __init__(self, run_dir: Path, owner: str) -> None:
        """RunnerUnavailableError when another live process has the same owner name; processes that an earlier life left behind are ended."""
        self._run_dir = run_dir
        run_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock = _lock(_lock_path(run_dir, owner))
        if self._lock is None:
            message = f"another live process uses the owner name {owner!r} in {run_dir}"
            raise RunnerUnavailableError(message)
        _HELD.add(self)
        self._record = _record_path(run_dir, owner)
        end_processes(_read_record(self._record))
        self._processes: dict[str, list[ProcessIdentity]] = {}
        self.record("", ())

    def record(self, group: str, processes: Sequence[ProcessIdentity]) -> None:
        """Replace the list of one group of this owner's processes."""
        self._processes[group] = list(processes)
        known = [process for members in self._processes.values() for process in members]
        fresh = self._record.with_suffix(".new")
        fresh.write_text(json.dumps([[process.pid, process.started] for process in known]), encoding="utf-8")
        fresh.replace(self._record)

    def release(self) -> None:
        """Give the name free."""
        self.forget()
        self._record.unlink(missing_ok=True)

    def forget(self) -> None:
        """Close the lock's file; in a forked child, so that it does not keep the parent's lock alive."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def is_abandoned(self, owner: str) -> bool:
        """True when no live process holds that owner name and none of its processes is left; those that are left are ended first."""
        descriptor = _lock(_lock_path(self._run_dir, owner))
        if descriptor is None:
            return False
        try:
            return end_processes(_read_record(_record_path(self._run_dir, owner)))
        finally:
            os.close(descriptor)


_HELD: weakref.WeakSet[Ownership] = weakref.WeakSet()


def _forget_all() -> None:
    for held in list(_HELD):
        held.forget()


os.register_at_fork(after_in_child=_forget_all)


def _lock(path: Path) -> int | None:
    """A descriptor that holds the lock; None when another holds it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _lock_path(run_dir: Path, owner: str) -> Path:
    if _OWNER.fullmatch(owner) is None:
        message = f"owner {owner!r} is not a file name; use at most 128 letters, digits, dots, dashes and underscores"
        raise InvalidValueError(message)
    return run_dir / f"{owner}.lock"


def _record_path(run_dir: Path, owner: str) -> Path:
    return run_dir / f"{owner}.processes.json"


def _read_record(path: Path) -> list[ProcessIdentity]:
    try:
        return [ProcessIdentity(int(pid), str(started)) for pid, started in json.loads(path.read_text(encoding="utf-8"))]
    except (FileNotFoundError, ValueError):
        return []
