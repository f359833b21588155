"""Manifest entries per CPU second: our digests against PyIceberg and a warm local Spark, on a table
of 1,000,000 files with statistics of 20 columns.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from pyiceberg.table import StaticTable

from maintainer.adapters.catalog.manifests.fast_reader import digest_manifest, read_manifest_list
from maintainer.adapters.catalog.manifests.metadata import parse_metadata
from maintainer.domain.inventory import ManifestDigest, SizeClasses
from tests.benchmarks import spark_files
from tests.benchmarks.copied_table import FILES_A_MANIFEST, make_table
from tests.benchmarks.harness import (
    Measured,
    Timed,
    less_is_better,
    measure,
    more_is_better,
    peak_memory,
)
from tests.benchmarks.manifest_files import path_of

FILES: Final = 1_000_000
MANIFESTS_FOR_PEERS: Final = (
    5  # inspect.files() would need hours and tens of gigabytes for all of them
)
TARGET: Final = SizeClasses.around(512 << 20)


def run(scale: float) -> list[Measured]:
    """Measure at this share of a million files; the peers read 20,000 of them at most."""
    manifests = max(1, round(FILES * scale / FILES_A_MANIFEST))
    with tempfile.TemporaryDirectory(prefix="bench-readers-") as directory:
        whole = make_table(Path(directory, "whole"), manifests)
        part = make_table(Path(directory, "part"), min(manifests, MANIFESTS_FOR_PEERS))
        ours = measure(lambda: digest_all(whole))
        if ours.result != manifests * FILES_A_MANIFEST:
            message = f"{ours.result} entries were read, not {manifests * FILES_A_MANIFEST}"
            raise AssertionError(message)
        rate = ours.result / ours.cpu_seconds
        inspected = measure(lambda: inspect_files(part), repeats=1)
        fetched = measure(lambda: fetch_entries(part))
        counted = spark_files.count_files(whole)
        memory, peer_memory = peak_memory(digest_all, part)[1], peak_memory(inspect_files, part)[1]
        rows = f"{ours.result:,} files"
        peer_rows = f"on {inspected.result:,}"
        spark = f"warm, {spark_files.MASTER}"
        lean, whole_rows = (counted.aggregate, counted.rows) if counted else (None, None)
        return [
            more_is_better(
                f"entries, {rows}",
                rate,
                inspected.result / inspected.cpu_seconds,
                f"PyIceberg inspect.files {peer_rows}",
                "/CPU s",
                reach=25,
            ),
            more_is_better(
                f"entries, {rows}",
                rate,
                fetched.result / fetched.cpu_seconds,
                f"PyIceberg fetch_manifest_entry {peer_rows}",
                "/CPU s",
                reach=4,
            ),
            more_is_better(
                f"entries, {rows}",
                rate,
                _rate(lean),
                f"Spark .files without statistics, {spark}",
                "/CPU s",
                reach=1.2,
            ),
            more_is_better(
                f"entries, {rows}",
                rate,
                _rate(whole_rows),
                f"Spark .files, all columns, {spark}",
                "/CPU s",
                reach=1.2,
            ),
            more_is_better(
                f"entries by one process, {rows}",
                ours.result / ours.wall_seconds,
                _wall_rate(lean),
                f"Spark .files, {spark}",
                "/s",
            ),
            less_is_better(
                f"peak memory, {inspected.result:,} files",
                memory / 1e6,
                peer_memory / 1e6,
                "PyIceberg inspect.files",
                "MB beyond start",
                reach=5,
            ),
        ]


def _rate(timed: Timed[int] | None) -> float | None:
    return timed.result / timed.cpu_seconds if timed else None


def _wall_rate(timed: Timed[int] | None) -> float | None:
    return timed.result / timed.wall_seconds if timed else None


def digest_all(metadata: Path) -> int:
    """Entries read by our readers, from metadata.json down."""
    table = parse_metadata(metadata.read_bytes())
    source = table.sources[table.current_snapshot_id or 0]
    digests: list[ManifestDigest] = []
    for listed in read_manifest_list(path_of(source.list_path or "").read_bytes()):
        digests.append(  # noqa: PERF401 - the bytes of one at a time
            digest_manifest(path_of(listed.path).read_bytes(), listed, table.specs, TARGET)
        )
    return sum(digest.entries_read for digest in digests)


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
