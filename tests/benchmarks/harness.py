"""How benchmarks are measured and shown: CPU seconds rather than wall time, medians of repeated
runs, and always a named peer in the same run.

A benchmark is a module `bench_<subject>.py` beside this file with `run(scale)`, which returns what
it measured. All of them: `python -m tests.benchmarks.harness --scale 0.1 --only readers`.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, Protocol, TypeVar, cast

REPEATS: Final = 3
_HERE: Final = Path(__file__).parent
_PREFIX: Final = "bench_"
_KIB: Final = 1024
_FEW: Final = 100  # numbers from here on are shown without decimals

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Measured:
    """One line of the table: `ratio` says how many times better than the peer we are, `reach` what
    it is meant to be at least.
    """

    name: str
    ours: float
    peer: float | None  # None: there is nobody to compare with, or the peer could not be run
    peer_name: str
    unit: str
    ratio: float | None
    reach: float | None = None

    @property
    def is_reached(self) -> bool | None:
        """None where nothing is promised or nothing could be compared."""
        return None if self.ratio is None or self.reach is None else self.ratio >= self.reach


def more_is_better(
    name: str,
    ours: float,
    peer: float | None,
    peer_name: str,
    unit: str,
    *,
    reach: float | None = None,
) -> Measured:
    """For rates: the ratio is ours / peer."""
    return Measured(name, ours, peer, peer_name, unit, ours / peer if peer else None, reach)


def less_is_better(
    name: str,
    ours: float,
    peer: float | None,
    peer_name: str,
    unit: str,
    *,
    reach: float | None = None,
) -> Measured:
    """For seconds, bytes and reads: the ratio is peer / ours."""
    return Measured(
        name, ours, peer, peer_name, unit, peer / ours if peer is not None and ours else None, reach
    )


@dataclass(frozen=True, slots=True)
class Timed(Generic[T]):
    """Medians over the runs, and what the last run returned."""

    cpu_seconds: float  # of this process and of children that ended, and of the processes asked for
    wall_seconds: float
    result: T


def measure(
    work: Callable[[], T], repeats: int = REPEATS, processes: Sequence[int] = ()
) -> Timed[T]:
    """Run the work several times; `processes` are ids of others (a JVM, a server, a pool's workers)
    whose CPU counts too.
    """
    if repeats < 1:
        message = f"a measurement needs at least 1 run, not {repeats}"
        raise ValueError(message)
    cpu, wall, results = [], [], []
    for _ in range(repeats):
        cpu_before, wall_before = cpu_clock(processes), time.perf_counter()
        results = [work()]
        cpu.append(cpu_clock(processes) - cpu_before)
        wall.append(time.perf_counter() - wall_before)
    return Timed(statistics.median(cpu), statistics.median(wall), results[0])


def cpu_seconds(
    work: Callable[[], object], repeats: int = REPEATS, processes: Sequence[int] = ()
) -> float:
    """The median CPU time of the work, user and system."""
    return measure(work, repeats, processes).cpu_seconds


def cpu_clock(processes: Sequence[int] = ()) -> float:
    """CPU seconds so far of this process, of its children that have ended, and of the processes
    named.
    """
    return sum(os.times()[:4]) + sum(map(_cpu_of, processes))


def _cpu_of(process_id: int) -> float:
    fields = Path(f"/proc/{process_id}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def peak_memory(work: Callable[..., object], *arguments: object) -> tuple[int, int]:
    """(peak, peak beyond the start) in bytes of a fresh process that calls `work`, a function of a
    module, with these arguments.
    """
    context = multiprocessing.get_context("spawn")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_report_peak, args=(send, work, arguments))
    process.start()
    send.close()
    try:
        peak, start = cast("tuple[int, int]", receive.recv())
    finally:
        process.join()
    return peak, peak - start


class _Sender(Protocol):
    def send(self, obj: tuple[int, int]) -> None: ...


def _report_peak(send: _Sender, work: Callable[..., object], arguments: tuple[object, ...]) -> None:
    start = _peak_bytes()
    work(*arguments)
    send.send((_peak_bytes(), start))


def _peak_bytes() -> int:
    """VmHWM of this process: unlike ru_maxrss it does not begin with the parent's."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIB
    line = next(
        line for line in status.read_text(encoding="utf-8").splitlines() if line.startswith("VmHWM")
    )
    return int(line.split()[1]) * _KIB


def subjects() -> list[str]:
    """The benchmarks that there are, by name."""
    return sorted(path.stem.removeprefix(_PREFIX) for path in _HERE.glob(f"{_PREFIX}*.py"))


def run_subject(subject: str, scale: float) -> list[Measured]:
    """Run one benchmark; 1 is the full size."""
    module = importlib.import_module(f"tests.benchmarks.{_PREFIX}{subject}")
    return cast("list[Measured]", module.run(scale))


def render(lines: Sequence[Measured]) -> str:
    """The table as text."""
    header = ("benchmark", "ours", "peer", "unit", "against", "ratio", "reach", "")
    rows = [header, *(_row(line) for line in lines)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if 0 < column < 3 or column in {5, 6} else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _row(line: Measured) -> tuple[str, ...]:
    verdict = {None: "", True: "reached", False: "MISSED"}[line.is_reached]
    ratio = "-" if line.ratio is None else f"{line.ratio:,.2f}x"
    reach = "-" if line.reach is None else f"{line.reach:g}x"
    return (
        line.name,
        _number(line.ours),
        "-" if line.peer is None else _number(line.peer),
        line.unit,
        line.peer_name,
        ratio,
        reach,
        verdict,
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= _FEW else f"{value:,.4g}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks that were asked for and print one table."""
    parser = argparse.ArgumentParser(
        description="Benchmarks, each against a named peer in the same run."
    )
    parser.add_argument(
        "--scale", type=float, default=1.0, help="1 is the full size; 0.1 takes a minute or two"
    )
    parser.add_argument(
        "--only", default="", help=f"names, separated by commas: {', '.join(subjects())}"
    )
    asked = parser.parse_args(arguments)
    wanted = [name for name in asked.only.split(",") if name] or subjects()
    unknown = [name for name in wanted if name not in subjects()]
    if unknown:
        parser.error(
            f"there is no benchmark {', '.join(unknown)}; there are "
            f"{', '.join(subjects()) or 'none'}"
        )
    lines: list[Measured] = []
    for subject in wanted:
        sys.stderr.write(f"bench: {subject} at scale {asked.scale:g}\n")
        lines += run_subject(subject, asked.scale)
    sys.stdout.write(render(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
