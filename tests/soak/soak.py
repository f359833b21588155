"""Runs the daemon on a hostile lake, and measures the memory of all its processes."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.end_to_end.programs import Daemon, descendants, serving, wait_for

MIB = 1024**2
SAMPLE_SECONDS = 0.05
SECONDS_FOR_A_SCAN = 120
_SCANS = re.compile(r"^maintainer_scan_duration_seconds_count (\S+)$", re.MULTILINE)


@dataclass(slots=True)
class Memory:
    """The resident memory of a process and of all below it."""

    pid: int
    peak_bytes: int = 0
    last_bytes: int = 0
    cpu_seconds: float = 0.0
    _stopping: threading.Event = field(default_factory=threading.Event)

    def sample(self) -> None:
        self.last_bytes = sum(map(resident_bytes, {self.pid} | descendants(self.pid)))
        self.peak_bytes = max(self.peak_bytes, self.last_bytes)

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


def soak(directory: Path, scans: int) -> tuple[Memory, dict[str, str]]:
    """Let the daemon scan so many times; the memory, and what it says of each table."""
    with serving(directory) as daemon, watching(daemon) as memory:
        wait_for(lambda: count_scans(daemon) >= scans, SECONDS_FOR_A_SCAN * scans, f"{scans} scans")
        tables = daemon.get("/api/v1/tables?limit=100")["items"]
    return memory, {one["table"]: str(one.get("fault") or one["band"]) for one in tables}


def count_scans(daemon: Daemon) -> float:
    return sum(float(text) for text in _SCANS.findall(daemon.get("/metrics")))
