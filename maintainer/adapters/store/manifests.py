"""Digests of manifests. A manifest never changes, so it is read from storage only once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice

from sqlalchemy import Connection, delete, exists, select

from maintainer.adapters.store import documents
from maintainer.adapters.store.database import MAX_SQL_VARIABLES, Database, insert_on
from maintainer.adapters.store.schema import manifest_digests, tables, unfinished_readings
from maintainer.domain.inventory import ManifestDigest

# digests that are unpacked at the same time: with 400 partitions each they take 36 MB
_PORTION = 100


class SqlDigests:
    """Implements DigestStore."""

    _database: Database

    def digests(
        self, table_uuid: str, paths: Iterable[str], target_bytes: int
    ) -> Mapping[str, ManifestDigest]:
        """Return the known digests of these paths, which are read in portions when they are used.

        All digests of a very large table would take a gigabyte of memory.
        """
        columns = select(manifest_digests.c.path).where(
            manifest_digests.c.table_uuid == table_uuid,
            manifest_digests.c.target_bytes == target_bytes,
            manifest_digests.c.shape == documents.DIGEST_SHAPE,
        )

        def read(some: Sequence[str]) -> dict[str, ManifestDigest]:
            with self._database.read() as connection:
                rows = connection.execute(
                    columns.add_columns(manifest_digests.c.document).where(
                        manifest_digests.c.path.in_(some)
                    )
                )
                return {row.path: documents.read(ManifestDigest, row.document) for row in rows}

        wanted = list(dict.fromkeys(paths))
        if len(wanted) <= _PORTION:
            return read(wanted) if wanted else {}
        with self._database.read() as connection:
            known = set(connection.execute(columns).scalars())
        return _LateDigests([path for path in wanted if path in known], read)

    def record_digests(
        self, table_uuid: str, target_bytes: int, digests: Iterable[ManifestDigest]
    ) -> None:
        """Add new digests, keep known digests, and at the end delete the table's other digests.

        A known digest is replaced if more of the manifest's contents are needed than before. Each
        portion is a transaction: all digests of a very large table would block other writers for a
        minute.
        """
        named: set[str] = set()
        portions = _split_digests(digests)
        portion = next(portions, {})
        while True:
            named.update(portion)
            following = next(portions, None)
            with self._database.write() as connection:
                _record_portion(connection, table_uuid, target_bytes, portion)
                if following is None:
                    connection.execute(
                        delete(unfinished_readings).where(
                            unfinished_readings.c.table_uuid == table_uuid
                        )
                    )
                    known = connection.execute(
                        select(manifest_digests.c.path).where(
                            manifest_digests.c.table_uuid == table_uuid
                        )
                    ).scalars()
                    _delete(connection, table_uuid, [path for path in known if path not in named])
                    return
            portion = following

    def add_digests(
        self, table_uuid: str, target_bytes: int, digests: Iterable[ManifestDigest], at: datetime
    ) -> None:
        """Add digests in one transaction; other writers of the table wait for its end."""
        named = {digest.path: digest for digest in digests}
        with self._database.write() as connection:
            connection.execute(
                self._database.upsert(
                    unfinished_readings, {"table_uuid": table_uuid, "kept_at": at}
                )
            )
            _delete(connection, table_uuid, named)
            _insert(connection, table_uuid, target_bytes, named.values())

    def prune_digests(self, before: datetime) -> int:
        """Delete digests that were added but never recorded."""
        old = select(unfinished_readings.c.table_uuid).where(unfinished_readings.c.kept_at < before)
        is_known = exists().where(tables.c.table_uuid == manifest_digests.c.table_uuid)
        with self._database.write() as connection:
            gone = connection.execute(
                delete(manifest_digests).where(manifest_digests.c.table_uuid.in_(old), ~is_known)
            ).rowcount
            connection.execute(
                delete(unfinished_readings).where(unfinished_readings.c.kept_at < before)
            )
        return gone


class _LateDigests(Mapping[str, ManifestDigest]):
    """Digests of which one portion is in memory: the last requested digest and those after it."""

    def __init__(
        self, paths: Sequence[str], read: Callable[[Sequence[str]], dict[str, ManifestDigest]]
    ) -> None:
        self._paths = paths
        self._positions = {path: position for position, path in enumerate(paths)}
        self._read = read
        self._portion: dict[str, ManifestDigest] = {}

    def __getitem__(self, path: str) -> ManifestDigest:
        """Return a digest; KeyError also if another process has deleted the digest meanwhile."""
        if path not in self._portion:
            position = self._positions[path]
            self._portion = self._read(self._paths[position : position + _PORTION])
        return self._portion[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


def _split_digests(digests: Iterable[ManifestDigest]) -> Iterator[dict[str, ManifestDigest]]:
    source = iter(digests)
    while some := {digest.path: digest for digest in islice(source, _PORTION)}:
        yield some


def _record_portion(
    connection: Connection, table_uuid: str, target_bytes: int, named: Mapping[str, ManifestDigest]
) -> None:
    is_named = (
        manifest_digests.c.table_uuid == table_uuid,
        manifest_digests.c.path.in_(list(named)),
    )
    is_usable = (
        manifest_digests.c.target_bytes == target_bytes,
        manifest_digests.c.shape == documents.DIGEST_SHAPE,
    )
    usable = set(
        connection.execute(select(manifest_digests.c.path).where(*is_named, *is_usable)).scalars()
    )
    # the other digests are known
    read = {path: named[path] for path in usable if named[path].entries_read > 0}
    kept = usable - set(_find_changed(connection, table_uuid, read))
    new = [digest for path, digest in named.items() if path not in kept]
    _delete(connection, table_uuid, [digest.path for digest in new])
    _insert(connection, table_uuid, target_bytes, new)


def _find_changed(
    connection: Connection, table_uuid: str, read: Mapping[str, ManifestDigest]
) -> Iterator[str]:
    """Yield the paths of newly read digests that differ from the stored digests."""
    columns = select(manifest_digests.c.path, manifest_digests.c.document).where(
        manifest_digests.c.table_uuid == table_uuid
    )
    for row in (
        connection.execute(columns.where(manifest_digests.c.path.in_(list(read)))) if read else ()
    ):
        if documents.write_bytes(read[row.path]) != row.document:
            yield row.path


def _split(paths: Iterable[str]) -> Iterator[list[str]]:
    source = iter(paths)
    while some := list(islice(source, MAX_SQL_VARIABLES)):
        yield some


def _delete(connection: Connection, table_uuid: str, paths: Iterable[str]) -> None:
    for some in _split(paths):
        connection.execute(
            delete(manifest_digests).where(
                manifest_digests.c.table_uuid == table_uuid, manifest_digests.c.path.in_(some)
            )
        )


def _insert(
    connection: Connection, table_uuid: str, target_bytes: int, digests: Iterable[ManifestDigest]
) -> None:
    """Insert some digests at a time: all documents would take hundreds of megabytes of memory."""
    rows = (
        {
            "table_uuid": table_uuid,
            "path": digest.path,
            "target_bytes": target_bytes,
            "shape": documents.DIGEST_SHAPE,
            "document": documents.write_bytes(digest),
        }
        for digest in digests
    )
    # Another daemon that measures the same table may insert the same digest at the same time.
    unless_present = insert_on(connection.dialect.name, manifest_digests).on_conflict_do_nothing()
    while some := list(islice(rows, _PORTION)):
        connection.execute(unless_present, some)
