"""How much a daemon grows when it measures a table of 10,000,000 files: its own peak and that of
its decoding processes; and the CPU time of all of them.

Once a table without deletes and of few partitions, and once one of 10,000 partitions whose every
file has deletes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeVar

from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.adapters.catalog.reader import MetadataReader
from maintainer.adapters.clock import SystemClock
from maintainer.adapters.store import open_store
from maintainer.domain.units import GIB, MIB
from maintainer.ports import Ports
from maintainer.steps.scan import scan
from tests.benchmarks import deleted_table
from tests.benchmarks.bench_readers import inspect_files
from tests.benchmarks.copied_table import FILES_A_MANIFEST, make_table
from tests.benchmarks.harness import Measured, less_is_better, peak_memory
from tests.fakes.adapters.clock import FakeClock
from tests.fakes.adapters.policies import FakePolicies
from tests.fakes.adapters.spark import FakeRunner
from tests.fakes.adapters.telemetry import FakeTelemetry

FILES: Final = 10_000_000
PARTITIONS_A_MANIFEST: Final = 50
FILES_FOR_PEER: Final = 20_000  # inspect.files() would need a hundred gigabytes for all of them
BOUND_BYTES: Final = 3 * GIB // 2
DELETED_PARTITIONS: Final = 10_000

T = TypeVar("T")


def run(scale: float) -> list[Measured]:
    """Scan and record a table of this share of ten million files, as the daemon does, and set it
    against PyIceberg by the file.
    """
    manifests = max(1, round(FILES * scale / FILES_A_MANIFEST))
    files = manifests * FILES_A_MANIFEST
    with TemporaryDirectory(prefix="bench-memory-") as directory:
        whole = make_table(Path(directory, "whole"), manifests, PARTITIONS_A_MANIFEST)
        part = make_table(
            Path(directory, "part"),
            min(manifests, FILES_FOR_PEER // FILES_A_MANIFEST),
            PARTITIONS_A_MANIFEST,
        )
        children = Path(directory, "children")
        seconds, (_, growth) = _time(peak_memory, scan_files, whole, files, children)
        total = growth + int(children.read_text(encoding="utf-8"))
        peer_files = min(files, FILES_FOR_PEER)
        by_peer = peak_memory(inspect_files, part)[1] / peer_files
    return [
        *run_deleted(scale),
        less_is_better(
            f"growth, daemon and its processes, {files:,} files",
            total / MIB,
            BOUND_BYTES / MIB,
            "the bound",
            "MiB",
            reach=1.0 if scale >= 1 else None,
        ),
        Measured(f"scan, {files:,} files", seconds, None, "nobody", "CPU s", None),
        less_is_better(
            f"growth by the file, {files:,} files",
            total / files,
            by_peer,
            f"PyIceberg inspect.files on {peer_files:,}",
            "bytes",
        ),
    ]


def run_deleted(scale: float) -> list[Measured]:
    """The same of a table where every data file is kept one by one, because deletes apply to it."""
    manifests = max(1, round(FILES * scale / FILES_A_MANIFEST))
    files = manifests * FILES_A_MANIFEST
    with TemporaryDirectory(prefix="bench-memory-") as directory:
        table = deleted_table.make_table(Path(directory, "table"), manifests, DELETED_PARTITIONS)
        children = Path(directory, "children")
        seconds, (_, growth) = _time(peak_memory, scan_files, table, files, children)
        total = growth + int(children.read_text(encoding="utf-8"))
    name = f"growth, {files:,} files with deletes in {DELETED_PARTITIONS:,} partitions"
    return [
        less_is_better(
            name,
            total / MIB,
            BOUND_BYTES / MIB,
            "the bound",
            "MiB",
            reach=1.0 if scale >= 1 else None,
        ),
        Measured(f"{name}, without the processes", growth / MIB, None, "nobody", "MiB", None),
        Measured(
            f"scan, {files:,} files with deletes in {DELETED_PARTITIONS:,} partitions",
            seconds,
            None,
            "nobody",
            "CPU s",
            None,
        ),
    ]


def _time(work: Callable[..., T], *arguments: object) -> tuple[float, T]:
    """CPU seconds of the processes that the work starts and ends, theirs included."""
    before = os.times()
    result = work(*arguments)
    after = os.times()
    return (
        after.children_user + after.children_system - before.children_user - before.children_system,
        result,
    )


def scan_files(metadata: Path, files: int, children: Path) -> None:
    """Measure the table and record it; leaves the peak of the decoding processes, in bytes, in a
    file.
    """
    directory = next(parent for parent in metadata.parents if (parent / "catalog.db").exists())
    properties = {
        "type": "sql",
        "uri": f"sqlite:///{directory}/catalog.db",
        "warehouse": f"file://{directory}",
    }
    reader = MetadataReader()
    # Their peaks are asked for at the end.
    reader.pool.end_idle = lambda: None  # type: ignore[method-assign]
    clock = SystemClock()
    with (
        closing(open_store(f"sqlite:///{directory}/store.db")) as store,
        closing(reader),
        closing(PyIcebergCatalog("bench", properties, clock, reader=reader)) as catalog,
    ):
        runner = FakeRunner(FakeClock(clock.now()))
        ports = Ports(
            {"bench": catalog}, store, FakePolicies(), runner, FakeTelemetry(), clock, lambda: "job"
        )
        result = scan(ports)
        if (result.measured, store.overview().data_files) != (1, files):
            message = f"{files} files were not measured: {result}"
            raise AssertionError(message)
        children.write_text(str(sum(map(_peak_of, reader.pool.ids()))), encoding="utf-8")


def _peak_of(process_id: int) -> int:
    status = Path(f"/proc/{process_id}/status").read_text(encoding="utf-8")
    return (
        int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])
        * 1024
    )
