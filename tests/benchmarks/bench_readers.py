"""Manifest entries per CPU second: a whole scan of a realistic table, and the readers alone,
against PyIceberg and a warm local Spark.
"""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Final

from pyiceberg.table import StaticTable

from maintainer.adapters.catalog.manifests.fast_reader import digest_manifest, read_manifest_list
from maintainer.adapters.catalog.manifests.metadata import parse_metadata
from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.adapters.catalog.reader import MetadataReader
from maintainer.adapters.clock import SystemClock
from maintainer.adapters.garbage import collect_rarely
from maintainer.adapters.store import open_store
from maintainer.domain.inventory import SizeClasses
from maintainer.estimate.output_files import count_packed
from maintainer.ports import Ports
from maintainer.steps.scan import scan
from tests.benchmarks import spark_files
from tests.benchmarks.harness import (
    REPEATS,
    Measured,
    Timed,
    less_is_better,
    measure,
    more_is_better,
    peak_memory,
)
from tests.benchmarks.manifest_files import path_of
from tests.benchmarks.partitioned_table import make_table
from tests.fakes.adapters.clock import FakeClock
from tests.fakes.adapters.policies import FakePolicies
from tests.fakes.adapters.spark import FakeRunner
from tests.fakes.adapters.telemetry import FakeTelemetry

MANIFESTS: Final = 50  # of data, with 4,000 files each
MANIFESTS_FOR_PEERS: Final = 5  # inspect.files() takes 29 KB of memory for each file
TARGET: Final = SizeClasses.around(512 << 20)


def run(scale: float) -> list[Measured]:
    """Measure at this share of 200,000 files; the peers of one process read 20,000 at most."""
    with tempfile.TemporaryDirectory(prefix="bench-readers-") as directory:
        return [
            *_run_table(Path(directory, "plain"), scale, has_deletes=False),
            *_run_table(Path(directory, "deletes"), scale, has_deletes=True),
        ]


def _run_table(directory: Path, scale: float, *, has_deletes: bool) -> list[Measured]:
    directory.mkdir()
    manifests = max(1, round(MANIFESTS * scale))
    whole = make_table(directory / "whole", manifests, has_deletes=has_deletes)
    part = make_table(
        directory / "part", min(manifests, MANIFESTS_FOR_PEERS), has_deletes=has_deletes
    )
    with _collecting_as_the_daemon():
        scanned, read = _measure_scan(whole), measure(lambda: digest_all(whole))
    if scanned.result != read.result:
        message = f"a scan read {scanned.result} entries, the readers {read.result}"
        raise AssertionError(message)
    inspected = measure(lambda: inspect_files(part))
    peer = f"PyIceberg inspect.files on {inspected.result:,}"
    name = f"{read.result:,} entries{', with deletes' if has_deletes else ''}"
    lines = [
        more_is_better(
            f"whole scan, {name}", _rate(scanned), _rate(inspected), peer, "/CPU s", reach=25
        ),
        more_is_better(f"reading, {name}", _rate(read), _rate(inspected), peer, "/CPU s", reach=25),
    ]
    return lines if has_deletes else [*lines, *_compare_readers(whole, part, name, read)]


def _compare_readers(whole: Path, part: Path, name: str, read: Timed[int]) -> list[Measured]:
    """The readers alone against other readers."""
    fetched = measure(lambda: fetch_entries(part))
    counted = spark_files.count_files(whole)
    memory, peer_memory = peak_memory(digest_all, part)[1], peak_memory(inspect_files, part)[1]
    spark = f"warm, {spark_files.MASTER}"
    lean, whole_rows = (counted.aggregate, counted.rows) if counted else (None, None)
    peers = (
        (f"PyIceberg fetch_manifest_entry on {fetched.result:,}", fetched, 4.0),
        (f"Spark .files without statistics, {spark}", lean, None),
        (f"Spark .files, all columns, {spark}", whole_rows, 1.2),
    )
    return [
        *(
            more_is_better(
                f"reading, {name}",
                _rate(read),
                _rate(timed) if timed else None,
                peer,
                "/CPU s",
                reach=reach,
            )
            for peer, timed, reach in peers
        ),
        more_is_better(
            f"reading by one process, {name}",
            read.result / read.wall_seconds,
            lean.result / lean.wall_seconds if lean else None,
            f"Spark .files, {spark}",
            "/s",
        ),
        less_is_better(
            f"peak memory of reading {fetched.result:,} entries",
            memory / 1e6,
            peer_memory / 1e6,
            "PyIceberg inspect.files",
            "MB beyond start",
            reach=5,
        ),
    ]


@contextmanager
def _collecting_as_the_daemon() -> Iterator[None]:
    """Look for garbage as rarely as our processes do; the peers keep Python's own threshold."""
    thresholds = gc.get_threshold()
    collect_rarely()
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


def _rate(timed: Timed[int]) -> float:
    return timed.result / timed.cpu_seconds


def _measure_scan(metadata: Path) -> Timed[int]:
    """Scans that read, keep, measure and grade the table, each into a store of its own.

    The CPU time of the decoding processes counts; their start does not, because the daemon's live
    on between scans.
    """
    with closing(MetadataReader()) as reader, ExitStack() as stack:
        worlds = iter([stack.enter_context(_world(metadata, reader)) for _ in range(REPEATS + 1)])

        def scan_once() -> int:
            count_packed.cache_clear()  # another table's groups would be new
            result = scan(next(worlds))
            if result.measured != 1 or result.faults:
                message = f"the table was not measured: {result}"
                raise AssertionError(message)
            return result.entries_read

        scan_once()
        return measure(scan_once, processes=reader.pool.ids())


@contextmanager
def _world(metadata: Path, reader: MetadataReader) -> Iterator[Ports]:
    """The table's catalog, and an empty store."""
    directory = next(parent for parent in metadata.parents if (parent / "catalog.db").exists())
    properties = {
        "type": "sql",
        "uri": f"sqlite:///{directory}/catalog.db",
        "warehouse": f"file://{directory}",
    }
    clock = SystemClock()
    with (
        tempfile.TemporaryDirectory(prefix="bench-readers-") as home,
        closing(open_store(f"sqlite:///{home}/store.db")) as store,
        closing(PyIcebergCatalog("bench", properties, clock, reader=reader)) as catalog,
    ):
        runner = FakeRunner(FakeClock(clock.now()))
        yield Ports(
            {"bench": catalog}, store, FakePolicies(), runner, FakeTelemetry(), clock, lambda: "job"
        )


def digest_all(metadata: Path) -> int:
    """Entries read by our readers alone, from metadata.json down."""
    table = parse_metadata(metadata.read_bytes())
    source = table.sources[table.current_snapshot_id or 0]
    listed = read_manifest_list(path_of(source.list_path or "").read_bytes())
    return sum(
        digest_manifest(
            path_of(manifest.path).read_bytes(), manifest, table.specs, TARGET
        ).entries_read
        for manifest in listed
    )


def inspect_files(metadata: Path) -> int:
    """Rows of PyIceberg's files table."""
    return int(StaticTable.from_metadata(str(metadata)).inspect.files().num_rows)


def fetch_entries(metadata: Path) -> int:
    """Entries that PyIceberg reads itself."""
    table = StaticTable.from_metadata(str(metadata))
    snapshot = table.current_snapshot()
    assert snapshot is not None
    return sum(
        len(manifest.fetch_manifest_entry(table.io)) for manifest in snapshot.manifests(table.io)
    )
