"""A catalog in memory: tables are inventories that a test puts there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from maintainer.domain.effect import CanaryResult
from maintainer.domain.errors import CatalogUnavailableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import (
    CatalogFault,
    FaultKind,
    SizeClasses,
    Snapshot,
    TableFault,
    TableInventory,
)
from maintainer.domain.location import TableLocation, normalise_path, overlap
from maintainer.domain.orphan import FoundFile, StoredFile
from maintainer.ports.catalog import KeepDigests, KnownDigests, Polled, Taken, TargetOf
from maintainer.ports.clock import Clock


class FakeCatalog:
    def __init__(self, name: str, clock: Clock) -> None:
        self._name = name
        self._clock = clock
        self._tables: dict[TableIdentifier, TableInventory | TableFault] = {}
        self._rows: dict[tuple[TableIdentifier, int], int] = {}
        self._failing_namespaces: dict[tuple[str, ...], str] = {}
        self._outage: str | None = None
        self.broken_listing: Exception | None = None
        self._files: dict[str, int] = {}
        self._spoilt: dict[int, list[str]] = {}
        self._written: dict[str, datetime | None] = {}
        self._foreign: dict[str, str] = {}
        self.closed = False
        self.tells_locations = True  # False: a listing says that a table changed, and not to what
        self.polled: dict[
            TableIdentifier, str
        ] = {}  # the tokens that the last polls were asked with
        self.canaries: list[bool] = []  # for each canary, whether the rows had row ids before
        self.asked: list[TableIdentifier] = []  # the tables that were read, or tried to be
        self._answers: dict[TableIdentifier, tuple[datetime, str]] = {}

    def put(self, entry: TableInventory | TableFault) -> None:
        """Add a table, or replace what it is."""
        if entry.table.catalog != self._name:
            message = f"{entry.table} does not belong in catalog {self._name}"
            raise ValueError(message)
        self._tables[entry.table] = entry

    def drop(self, table: TableIdentifier) -> None:
        del self._tables[table]

    def set_rows(self, table: TableIdentifier, snapshot_id: int, rows: int) -> None:
        self._rows[table, snapshot_id] = rows

    def put_file(self, path: str, size_bytes: int, modified_at: datetime | None = None) -> None:
        """A file that file_bytes and stat_files find."""
        self._files[path] = size_bytes
        self._written[path] = modified_at

    def put_foreign(self, name: str, location: str) -> None:
        """A table that is none of Iceberg's."""
        self._foreign[name] = location

    def delete_file(self, path: str) -> None:
        self._files.pop(path, None)

    def fail(self, reason: str) -> None:
        """Nothing answers any more, until recover()."""
        self._outage = reason

    def recover(self) -> None:
        self._outage = None
        self._failing_namespaces.clear()

    def fail_namespace(self, namespace: tuple[str, ...], reason: str) -> None:
        """Listing this namespace fails, until recover()."""
        self._failing_namespaces[namespace] = reason

    @property
    def name(self) -> str:
        return self._name

    def tables(self) -> Iterator[TableIdentifier | CatalogFault]:
        if self._outage is not None:
            yield CatalogFault(self._name, (), self._outage, self._clock.now())
            return
        for namespace, reason in sorted(self._failing_namespaces.items()):
            yield CatalogFault(self._name, namespace, reason, self._clock.now())
        for table, entry in sorted(self._tables.items(), key=lambda item: item[0]):
            is_view = isinstance(entry, TableFault) and entry.kind is FaultKind.VIEW
            if table.namespace not in self._failing_namespaces and not is_view:
                yield table

    def foreign_locations(
        self, paths: Sequence[str], within: timedelta
    ) -> Iterator[TableLocation | CatalogFault]:
        """What put_foreign said; a fake asks anew each time."""
        del within
        if self._outage is not None:
            yield CatalogFault(self._name, (), self._outage, self._clock.now())
            return
        for namespace, reason in sorted(self._failing_namespaces.items()):
            yield CatalogFault(self._name, namespace, reason, self._clock.now())
        for name, location in sorted(self._foreign.items()):
            path = normalise_path(location)
            if any(overlap(path, own) for own in paths):
                yield TableLocation(path, name, "", seen_at=self._clock.now())

    def poll(
        self,
        known: Mapping[TableIdentifier, str],
        should_stop: Callable[[], bool] = lambda: False,
        within: timedelta | None = None,
    ) -> Iterator[Polled | TableFault | CatalogFault]:
        """Without `within` each table is asked; else a known one is asked again only when its last
        answer is older, as a REST catalog is.
        """
        now = self._clock.now()
        for listed in self.tables():
            if should_stop():
                return
            if isinstance(listed, CatalogFault):
                yield listed
                continue
            asked_at, answer = self._answers.get(listed, (datetime.min.replace(tzinfo=UTC), ""))
            if within is not None and now - asked_at < within and known.get(listed) == answer:
                yield Polled(listed, answer, is_changed=False, metadata_location="")
                continue
            entry = self._tables[listed]
            token = "" if isinstance(entry, TableFault) else entry.metadata_location
            self.polled[listed] = known.get(listed, "")
            self._answers[listed] = now, token
            location = token if self.tells_locations else ""
            yield Polled(listed, token, not token or known.get(listed) != token, location)

    def inventory(
        self, table: TableIdentifier, target_of: TargetOf, known: KnownDigests
    ) -> TableInventory | TableFault:
        entry = self._find(table)
        if isinstance(entry, TableFault):
            return entry
        classes = SizeClasses.around(target_of(table, entry.properties))
        paths = [digest.path for digest in entry.manifests]
        recalled = known(entry.table_uuid, paths, classes.target_bytes) if paths else {}
        manifests = tuple(
            replace(recalled[digest.path], entries_read=0)
            if digest.path in recalled and recalled[digest.path].length_bytes == digest.length_bytes
            else digest
            for digest in entry.manifests
        )
        return replace(entry, size_classes=classes, manifests=manifests, read_at=self._clock.now())

    def inventories(
        self,
        tables: Iterable[TableIdentifier],
        target_of: TargetOf,
        known: KnownDigests,
        should_stop: Callable[[], bool] = lambda: False,
        keep: KeepDigests | None = None,
    ) -> Iterator[Taken]:
        source = iter(tables)
        while not should_stop() and (table := next(source, None)) is not None:
            try:
                outcome: TableInventory | TableFault | Exception = self._take(
                    table, target_of, known, keep
                )
            except Exception as error:  # noqa: BLE001 - as the port says
                outcome = error
            yield Taken(table, outcome)

    def _take(
        self,
        table: TableIdentifier,
        target_of: TargetOf,
        known: KnownDigests,
        keep: KeepDigests | None,
    ) -> TableInventory | TableFault:
        taken = self.inventory(table, target_of, known)
        if isinstance(taken, TableFault):
            return taken
        unread = [digest for digest in taken.manifests if digest.entries_read > 0]
        if keep is not None and len(unread) > 1:
            for digest in unread:
                keep(taken.table_uuid, taken.size_classes.target_bytes, [digest])
        return taken

    def snapshots(self, table: TableIdentifier) -> tuple[Snapshot, ...] | TableFault:
        entry = self._find(table)
        return entry if isinstance(entry, TableFault) else entry.snapshots

    def count_rows(self, table: TableIdentifier, snapshot_id: int, limit_bytes: int) -> int | None:
        """What set_rows said, else the snapshot's records where no deletes apply to them; a fake
        has no files, so limit_bytes never stands in the way.
        """
        del limit_bytes
        entry = self._find(table)
        summaries = (
            {snapshot.snapshot_id: snapshot.summary for snapshot in entry.snapshots}
            if not isinstance(entry, TableFault)
            else {}
        )
        if snapshot_id not in summaries:
            return None
        summary = summaries[snapshot_id]
        has_deletes = summary.get("total-delete-files") != "0"
        records = None if has_deletes else int(summary.get("total-records", "0"))
        return self._rows.get((table, snapshot_id), records)

    def file_bytes(self, table: TableIdentifier, path: str) -> int | None:
        return None if isinstance(self._find(table), TableFault) else self._files.get(path)

    def stat_files(
        self, table: TableIdentifier, paths: Sequence[str]
    ) -> Sequence[StoredFile | None]:
        sizes = [self.file_bytes(table, path) for path in paths]
        return [
            None if size is None else StoredFile(size, self._written.get(path))
            for path, size in zip(paths, sizes, strict=True)
        ]

    def list_files(
        self, table: TableIdentifier, location: str
    ) -> Iterator[Sequence[FoundFile]] | None:
        """What put_file has put under a location that is no local one, file by file; broken_listing
        comes in the middle.
        """
        if isinstance(self._find(table), TableFault) or location.startswith(("file:", "/")):
            return None
        own = [
            FoundFile(path, size, self._written.get(path))
            for path, size in self._files.items()
            if path.startswith(location.rstrip("/") + "/")
        ]
        return self._list(own)

    def _list(self, files: Sequence[FoundFile]) -> Iterator[Sequence[FoundFile]]:
        for file in files:
            yield [file]
        if self.broken_listing is not None:
            raise self.broken_listing

    def spoil(self, snapshot_id: int, problem: str) -> None:
        """What read_canary finds among the files that a snapshot added."""
        self._spoilt.setdefault(snapshot_id, []).append(problem)

    def read_canary(
        self,
        table: TableIdentifier,
        snapshot_ids: Sequence[int],
        failure: str = "",
        *,
        had_row_ids: bool = True,
    ) -> CanaryResult | None:
        """One file a snapshot, named by its id, and what is wrong with it by spoil()."""
        self.canaries.append(had_row_ids)
        entry = self._find(table)
        if isinstance(entry, TableFault):
            return None
        there = [
            snapshot_id
            for snapshot_id in snapshot_ids
            if any(snapshot.snapshot_id == snapshot_id for snapshot in entry.snapshots)
        ]
        return CanaryResult(
            len(there),
            tuple(
                problem for snapshot_id in there for problem in self._spoilt.get(snapshot_id, ())
            ),
            older=tuple(
                name
                for snapshot in entry.snapshots
                for name in [f"data/{snapshot.snapshot_id}.parquet"]
                if name in failure and snapshot.snapshot_id not in snapshot_ids
            ),
        )

    def ping(self) -> str:
        if self._outage is not None:
            raise CatalogUnavailableError(self._outage)
        return f"Fake catalog {self._name} answers, with {len(self._tables)} tables."

    def close(self) -> None:
        self.closed = True

    def _find(self, table: TableIdentifier) -> TableInventory | TableFault:
        self.asked.append(table)
        if self._outage is not None:
            return TableFault(table, FaultKind.CATALOG_UNAVAILABLE, self._outage, self._clock.now())
        entry = self._tables.get(table)
        if entry is None:
            return TableFault(
                table, FaultKind.DROPPED, "the catalog no longer has it", self._clock.now()
            )
        return replace(entry, seen_at=self._clock.now()) if isinstance(entry, TableFault) else entry
