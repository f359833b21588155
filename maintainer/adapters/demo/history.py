"""Tables with a history: the caller sets the timestamps of commits."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal
from uuid import uuid4

from pyiceberg.catalog import Catalog
from pyiceberg.io import FileIO
from pyiceberg.manifest import (
    DataFile,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    write_manifest,
    write_manifest_list,
)
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.locations import LocationProvider, load_location_provider
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.refs import MAIN_BRANCH, SnapshotRefType
from pyiceberg.table.snapshots import (
    Operation,
    Snapshot,
    SnapshotSummaryCollector,
    Summary,
    update_snapshot_summaries,
)
from pyiceberg.table.update import (
    AddSnapshotUpdate,
    RemoveSnapshotsUpdate,
    SetSnapshotRefUpdate,
    TableUpdate,
)

_FORMAT_VERSION: Literal[2] = 2
_COMPRESSION: Literal["deflate"] = "deflate"  # Avro's name for gzip, Iceberg's default
# Each commit to the catalog parses and writes the whole metadata.json. With a commit for each of
# 300 snapshots, this would take a minute.
SNAPSHOTS_PER_COMMIT = 25


@dataclass(frozen=True, slots=True)
class NewTable:
    """A table before its first commit; the name's last level is the table."""

    name: tuple[str, ...]
    schema: Schema
    spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC
    properties: tuple[tuple[str, str], ...] = ()
    location: str | None = None

    @property
    def identifier(self) -> tuple[str, str]:
        """Return the name in two levels.

        PyIceberg's SQL catalog cannot stage tables with more levels, and joins a namespace by dots
        anyway.
        """
        return ".".join(self.name[:-1]), self.name[-1]


@dataclass(frozen=True, slots=True)
class DatedCommit:
    """Files that one writer added at once; with is_overwrite they replace all earlier files."""

    at: datetime
    files: tuple[DataFile, ...]
    is_overwrite: bool = False


@dataclass(frozen=True, slots=True)
class _Head:
    """The end of the history: the newest snapshot and its files."""

    snapshot: Snapshot | None = None
    manifests: tuple[ManifestFile, ...] = ()
    live: tuple[
        tuple[int, int, DataFile], ...
    ] = ()  # the snapshot that added a file, its sequence number, the file

    @property
    def sequence_number(self) -> int:
        return (self.snapshot.sequence_number or 0) if self.snapshot else 0


class _Writer:
    """Writes the manifests and manifest lists of commits; the catalog gets them later."""

    def __init__(self, metadata: TableMetadata, io: FileIO) -> None:
        self._metadata = metadata
        self._io = io
        self._locations: LocationProvider = load_location_provider(
            metadata.location, metadata.properties
        )

    def write(self, head: _Head, commit: DatedCommit) -> _Head:
        snapshot_id = self._metadata.new_snapshot_id()
        sequence_number = head.sequence_number + 1
        commit_id = str(uuid4())
        added = [
            ManifestEntry.from_args(
                status=ManifestEntryStatus.ADDED,
                snapshot_id=snapshot_id,
                sequence_number=None,
                file_sequence_number=None,
                data_file=file,
            )
            for file in commit.files
        ]
        manifests = [
            self._write_manifest(f"{commit_id}-m0.avro", snapshot_id, sequence_number, added)
        ]
        if not commit.is_overwrite:
            manifests += [
                manifest
                for manifest in head.manifests
                if manifest.has_added_files() or manifest.has_existing_files()
            ]
        elif head.live:
            manifests.append(
                self._write_manifest(
                    f"{commit_id}-m1.avro",
                    snapshot_id,
                    sequence_number,
                    _delete_all(head, snapshot_id),
                )
            )
        path = self._locations.new_metadata_location(f"snap-{snapshot_id}-0-{commit_id}.avro")
        parent_id = head.snapshot.snapshot_id if head.snapshot else None
        with write_manifest_list(
            _FORMAT_VERSION,
            self._io.new_output(path),
            snapshot_id,
            parent_id,
            sequence_number,
            _COMPRESSION,
        ) as writer:
            writer.add_manifests(manifests)
        snapshot = Snapshot.model_validate(
            {
                "snapshot-id": snapshot_id,
                "parent-snapshot-id": parent_id,
                "sequence-number": sequence_number,
                "timestamp-ms": int(commit.at.timestamp() * 1000),
                "manifest-list": path,
                "summary": self._summarize(head, commit),
                "schema-id": self._metadata.current_schema_id,
            }
        )
        live = tuple((snapshot_id, sequence_number, file) for file in commit.files)
        return _Head(snapshot, tuple(manifests), live if commit.is_overwrite else head.live + live)

    def _write_manifest(
        self, name: str, snapshot_id: int, sequence_number: int, entries: Iterable[ManifestEntry]
    ) -> ManifestFile:
        output = self._io.new_output(self._locations.new_metadata_location(name))
        with write_manifest(
            _FORMAT_VERSION,
            self._metadata.spec(),
            self._metadata.schema(),
            output,
            snapshot_id,
            _COMPRESSION,
        ) as writer:
            for entry in entries:
                writer.add_entry(entry)
        manifest = writer.to_manifest_file()
        manifest.sequence_number = sequence_number
        if manifest.min_sequence_number < 0:  # the value for a number that the commit assigns
            manifest.min_sequence_number = sequence_number
        return manifest

    def _summarize(self, head: _Head, commit: DatedCommit) -> Summary:
        collector = SnapshotSummaryCollector()
        for file in commit.files:
            collector.add_file(file, self._metadata.schema(), self._metadata.spec())
        if commit.is_overwrite:
            for _, _, file in head.live:
                collector.remove_file(file, self._metadata.schema(), self._metadata.spec())
        operation = Operation.OVERWRITE if commit.is_overwrite else Operation.APPEND
        previous = head.snapshot.summary if head.snapshot else None
        return update_snapshot_summaries(
            Summary(operation, **collector.build()),
            previous.additional_properties if previous else None,
        )


def _delete_all(head: _Head, snapshot_id: int) -> list[ManifestEntry]:
    return [
        ManifestEntry.from_args(
            status=ManifestEntryStatus.DELETED,
            snapshot_id=snapshot_id,
            sequence_number=sequence_number,
            file_sequence_number=sequence_number,
            data_file=file,
        )
        for _, sequence_number, file in head.live
    ]


def describe_table(catalog: Catalog, new: NewTable) -> tuple[TableMetadata, FileIO]:
    """Return the table's future metadata and the IO of its location; writes nothing."""
    transaction = catalog.create_table_transaction(
        new.identifier, new.schema, new.location, new.spec, properties=dict(new.properties)
    )
    # PyIceberg has no public access to the staged table.
    return transaction.table_metadata, transaction._table.io  # noqa: SLF001


def create_with_history(
    catalog: Catalog, new: NewTable, commits: Sequence[DatedCommit], keep: int | None = None
) -> Table:
    """Create the table with its first commits and add the others in order.

    With `keep`, older snapshots are expired with each group of commits after the first. The
    creation contains the first snapshots: a table created now with older snapshots would have a
    metadata log that Iceberg calls out of order.
    """
    transaction = catalog.create_table_transaction(
        new.identifier, new.schema, new.location, new.spec, properties=dict(new.properties)
    )
    staged = transaction._table  # noqa: SLF001 - as above
    writer = _Writer(transaction.table_metadata, staged.io)
    head = _Head()
    written: list[Snapshot] = []
    table: Table | None = None
    for start in range(0, len(commits), SNAPSHOTS_PER_COMMIT):
        updates: list[TableUpdate] = []
        for commit in commits[start : start + SNAPSHOTS_PER_COMMIT]:
            head = writer.write(head, commit)
            if head.snapshot:
                updates += _advance_main(head.snapshot)
                written.append(head.snapshot)
        if table is None:
            # A transaction has no other way to add snapshots with a date.
            transaction._apply(tuple(updates))  # noqa: SLF001
            transaction.commit_transaction()
            table = catalog.load_table(new.identifier)
            # A commit that only expires snapshots would add today's time to the log. So the
            # commit of the next group expires them too.
            continue
        expired = written[:-keep] if keep else []
        written = written[len(expired) :]
        if expired:
            updates.append(
                RemoveSnapshotsUpdate.model_validate(
                    {"snapshot-ids": [snapshot.snapshot_id for snapshot in expired]}
                )
            )
        catalog.commit_table(table, (), tuple(updates))
        _remove_manifest_lists(expired)
    return catalog.load_table(new.identifier)


def _advance_main(snapshot: Snapshot) -> list[TableUpdate]:
    reference = SetSnapshotRefUpdate.model_validate(
        {
            "ref-name": MAIN_BRANCH,
            "type": SnapshotRefType.BRANCH,
            "snapshot-id": snapshot.snapshot_id,
        }
    )
    return [AddSnapshotUpdate(snapshot=snapshot), reference]


def _remove_manifest_lists(expired: Iterable[Snapshot]) -> None:
    """Delete manifest lists, as expire_snapshots does after its commit.

    After appends all manifests are still live, so only the lists are deleted.
    """
    for snapshot in expired:
        with contextlib.suppress(FileNotFoundError):
            Path(snapshot.manifest_list.removeprefix("file://")).unlink()
