"""Entries and bytes of manifests that are read over a history of commits: each manifest once, against all of them after every commit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

from maintainer.adapters.catalog import PyIcebergCatalog
from maintainer.adapters.clock import SystemClock
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import ManifestDigest, TableInventory
from maintainer.domain.units import MIB
from tests.benchmarks.harness import Measured, less_is_better

COMMITS: Final = 150
PARTITIONS: Final = 10  # files of a commit
REACH: Final = 8.0
_TABLE: Final = TableIdentifier("lake", ("bench",), "events")


class _Reading:
    """Scans after each commit, and what they read of manifests."""

    def __init__(self, catalog: PyIcebergCatalog, *, remembers: bool) -> None:
        self._catalog = catalog
        self._remembers = remembers
        self._digests: dict[str, ManifestDigest] = {}
        self.entries = 0
        self.bytes = 0

    def scan(self) -> int:
        """Read the table as it is now; the number of its data files."""
        inventory = self._catalog.inventory(_TABLE, lambda _table, _properties: 512 * MIB, self._known)
        if not isinstance(inventory, TableInventory):
            message = f"{_TABLE} cannot be read: {inventory.reason}"
            raise TypeError(message)
        read = [digest for digest in inventory.manifests if not self._remembers or digest.path not in self._digests]
        self.entries += sum(sum(share.file_count for share in digest.partitions) for digest in read)
        self.bytes += sum(digest.length_bytes for digest in read)
        self._digests.update({digest.path: digest for digest in inventory.manifests})
        return sum(share.file_count for digest in inventory.manifests for share in digest.partitions)

    def _known(self, _uuid: str, paths: Iterable[str], _target: int) -> Mapping[str, ManifestDigest]:
        return {path: self._digests[path] for path in paths if path in self._digests} if self._remembers else {}


def run(scale: float) -> list[Measured]:
    """One commit of ten files after another by PyIceberg, manifests merged at a hundred as Iceberg's writers do; both read after each commit."""
    commits = max(2, round(COMMITS * scale))
    with TemporaryDirectory() as directory:
        ours, peer = _read_history(Path(directory), commits)
    name = f"{commits} commits"
    return [
        less_is_better(f"{name}: entries read", ours.entries, peer.entries, "re-scan after each commit", "entries", reach=REACH if scale >= 1 else None),
        less_is_better(f"{name}: bytes read", ours.bytes, peer.bytes, "re-scan after each commit", "bytes of manifests"),
    ]


def _read_history(directory: Path, commits: int) -> tuple[_Reading, _Reading]:
    properties = {"type": "sql", "uri": f"sqlite:///{directory}/catalog.db", "warehouse": f"file://{directory}/warehouse"}
    writer = SqlCatalog("lake", **properties)
    catalog = PyIcebergCatalog("lake", properties, SystemClock())
    try:
        writer.create_namespace("bench")
        schema = pa.schema([("part", pa.int64()), ("id", pa.int64())])
        table = writer.create_table("bench.events", schema, properties={"commit.manifest-merge.enabled": "true"})
        with table.update_spec() as update:
            update.add_identity("part")
        ours, peer = _Reading(catalog, remembers=True), _Reading(catalog, remembers=False)
        for commit in range(commits):
            table.append(pa.table({"part": list(range(PARTITIONS)), "id": [commit] * PARTITIONS}, schema=schema))
            if ours.scan() != peer.scan():
                message = f"after commit {commit} the two readings disagree"
                raise AssertionError(message)
        return ours, peer
    finally:
        catalog.close()
        writer.close()
