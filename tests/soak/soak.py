"""Runs the daemon on a hostile lake, and measures the memory of all its processes."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.end_to_end.programs import Daemon, descendants, serving, wait_for

MIB = 1024**2
SAMPLE_SECONDS = 0.05
SECONDS_FOR_THE_FIRST = 120
_SCANS = re.compile(r"^maintainer_scan_duration_seconds_count (\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Soaked:
    """The memory of the daemon with all its processes, and the state of each table at the end."""

    scans: int
    peak_bytes: int
    first_bytes: int  # after a quarter of the scans
    last_bytes: int
    cpu_seconds: float
    healths: dict[str, str]

    def describe(self) -> str:
        return (
            f"{self.scans} scans: peak {self.peak_bytes / MIB:.0f} MiB, after a quarter of them "
            f"{self.first_bytes / MIB:.0f} MiB, at the end {self.last_bytes / MIB:.0f} MiB, "
            f"{self.cpu_seconds:.1f} s of CPU"
        )


@dataclass(slots=True)
class Memory:
    """Samples the memory of a process and of all below it."""

    pid: int
    peak_bytes: int = 0
    _stopping: threading.Event = field(default_factory=threading.Event)

    def sample(self) -> int:
        now = sum(map(resident_bytes, {self.pid} | descendants(self.pid)))
        self.peak_bytes = max(self.peak_bytes, now)
        return now

    def watch(self) -> None:
        while not self._stopping.wait(SAMPLE_SECONDS):
            self.sample()

    def stop(self) -> None:
        self._stopping.set()


def resident_bytes(pid: int) -> int:
    """What the process has for itself, without the pages that it shares with others."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


@contextmanager
def watching(daemon: Daemon) -> Iterator[Memory]:
    memory = Memory(daemon.process.pid)
    thread = threading.Thread(target=memory.watch, daemon=True)
    thread.start()
    try:
        yield memory
    finally:
        memory.stop()
        thread.join()


def soak(directory: Path, scans: int) -> Soaked:
    """Let the daemon scan so many times."""
    with serving(directory) as daemon, watching(daemon) as memory:
        wait_for_scans(daemon, max(1, scans // 4))
        first = memory.sample()
        wait_for_scans(daemon, scans)
        last, cpu = memory.sample(), cpu_seconds(daemon.process.pid)
        tables = daemon.get("/api/v1/tables?limit=100")["items"]
    healths = {
        one["table"]: one["fault"]["kind"] if one["fault"] else one["band"] for one in tables
    }
    return Soaked(scans, memory.peak_bytes, first, last, cpu, healths)


def wait_for_scans(daemon: Daemon, scans: int) -> None:
    wait_for(
        lambda: count_scans(daemon) >= scans, SECONDS_FOR_THE_FIRST + 10 * scans, f"{scans} scans"
    )


def cpu_seconds(pid: int) -> float:
    """Of the process itself and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def count_scans(daemon: Daemon) -> float:
    return sum(float(text) for text in _SCANS.findall(daemon.get("/metrics")))
