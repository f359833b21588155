"""Entries and bytes of manifests that are read over a history of commits: each manifest once,
against all of them after every commit.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.adapters.clock import SystemClock
from maintainer.adapters.store import open_store
from maintainer.steps.scan import ScanOptions, scan
from tests.benchmarks.harness import Measured, less_is_better
from tests.steps.world import World

COMMITS: Final = 150
PARTITIONS: Final = 10  # files of a commit
REACH: Final = 8.0


class _Reading:
    """The daemon's scans after each commit, into a store of their own, and what they read of
    manifests.
    """

    def __init__(self, catalog: PyIcebergCatalog, database: Path, *, is_deep: bool) -> None:
        self.store = open_store(f"sqlite:///{database}")
        self._ports = replace(World().ports, catalogs={catalog.name: catalog}, store=self.store)
        self._options = ScanOptions(is_deep=is_deep)
        self.entries = 0
        self.bytes = 0

    def scan(self) -> int:
        """Measure the table as it is now; the number of its data files."""
        result = scan(self._ports, options=self._options)
        if (result.measured, result.faults) != (1, []):
            message = (
                f"{result.measured} tables were measured instead of one, with the faults "
                f"{result.faults}"
            )
            raise ValueError(message)
        self.entries += result.entries_read
        self.bytes += result.bytes_read
        return self.store.overview().data_files


def run(scale: float) -> list[Measured]:
    """One commit of ten files after another by PyIceberg, manifests merged at a hundred as
    Iceberg's writers do; both read after each commit.
    """
    commits = max(2, round(COMMITS * scale))
    with TemporaryDirectory() as directory:
        ours, peer = _read_history(Path(directory), commits)
    name = f"{commits} commits"
    return [
        less_is_better(
            f"{name}: entries read",
            ours.entries,
            peer.entries,
            "re-scan after each commit",
            "entries",
            reach=REACH if scale >= 1 else None,
        ),
        less_is_better(
            f"{name}: bytes read",
            ours.bytes,
            peer.bytes,
            "re-scan after each commit",
            "bytes of manifests",
        ),
    ]


def _read_history(directory: Path, commits: int) -> tuple[_Reading, _Reading]:
    properties = {
        "type": "sql",
        "uri": f"sqlite:///{directory}/catalog.db",
        "warehouse": f"file://{directory}/warehouse",
    }
    writer = SqlCatalog("lake", **properties)
    catalog = PyIcebergCatalog("lake", properties, SystemClock())
    readings = ours, peer = (
        _Reading(catalog, directory / "ours.db", is_deep=False),
        _Reading(catalog, directory / "peer.db", is_deep=True),
    )
    try:
        writer.create_namespace("bench")
        schema = pa.schema([("part", pa.int64()), ("id", pa.int64())])
        table = writer.create_table(
            "bench.events", schema, properties={"commit.manifest-merge.enabled": "true"}
        )
        with table.update_spec() as update:
            update.add_identity("part")
        for commit in range(commits):
            table.append(
                pa.table(
                    {"part": list(range(PARTITIONS)), "id": [commit] * PARTITIONS}, schema=schema
                )
            )
            if ours.scan() != peer.scan():
                message = f"after commit {commit} the two readings disagree"
                raise AssertionError(message)
        return ours, peer
    finally:
        for reading in readings:
            reading.store.close()
        catalog.close()
        writer.close()
