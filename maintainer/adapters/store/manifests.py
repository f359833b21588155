"""Manifest digests: what an immutable manifest said is read from storage once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice

from sqlalchemy import Connection, delete, exists, insert, select

from maintainer.adapters.store import documents
from maintainer.adapters.store.database import MAX_SQL_VARIABLES, Database
from maintainer.adapters.store.schema import manifest_digests, tables, unfinished_readings
from maintainer.domain.inventory import ManifestDigest

_ROWS_PER_INSERT = 500


class SqlDigests:
    """Implements DigestStore."""

    _database: Database

    def digests(self, table_uuid: str, paths: Iterable[str], target_bytes: int) -> Mapping[str, ManifestDigest]:
        """All that are known and wanted: asking for a table's digests is asking for nearly all of them."""
        wanted = set(paths)
        if not wanted:
            return {}
        is_usable = (
            manifest_digests.c.table_uuid == table_uuid,
            manifest_digests.c.target_bytes == target_bytes,
            manifest_digests.c.shape == documents.DIGEST_SHAPE,
        )
        with self._database.read() as connection:
            rows = connection.execute(select(manifest_digests.c.path, manifest_digests.c.document).where(*is_usable))
            return {row.path: documents.read_digest(row.document) for row in rows if row.path in wanted}

    def record_digests(self, table_uuid: str, target_bytes: int, digests: Iterable[ManifestDigest]) -> None:
        """Add the new, drop the rest, leave alone what is there: a manifest never changes, though more may be wanted of it than before."""
        named = {digest.path: digest for digest in digests}
        columns = select(manifest_digests.c.path, manifest_digests.c.target_bytes, manifest_digests.c.shape)
        with self._database.write() as connection:
            connection.execute(delete(unfinished_readings).where(unfinished_readings.c.table_uuid == table_uuid))
            known = connection.execute(columns.where(manifest_digests.c.table_uuid == table_uuid)).all()
            usable = {row.path for row in known if row.path in named and row.target_bytes == target_bytes and row.shape == documents.DIGEST_SHAPE}
            kept = usable - set(_find_changed(connection, table_uuid, [named[path] for path in usable]))
            _delete(connection, table_uuid, [row.path for row in known if row.path not in kept])
            _insert(connection, table_uuid, target_bytes, (digest for path, digest in named.items() if path not in kept))

    def add_digests(self, table_uuid: str, target_bytes: int, digests: Iterable[ManifestDigest], at: datetime) -> None:
        """Whoever else adds to the same table waits at its row for the end of this transaction."""
        named = {digest.path: digest for digest in digests}
        with self._database.write() as connection:
            connection.execute(self._database.upsert(unfinished_readings, {"table_uuid": table_uuid, "kept_at": at}))
            _delete(connection, table_uuid, named)
            _insert(connection, table_uuid, target_bytes, named.values())

    def prune_digests(self, before: datetime) -> int:
        """Only what was added and never recorded is looked at."""
        old = select(unfinished_readings.c.table_uuid).where(unfinished_readings.c.kept_at < before)
        is_known = exists().where(tables.c.table_uuid == manifest_digests.c.table_uuid)
        with self._database.write() as connection:
            gone = connection.execute(delete(manifest_digests).where(manifest_digests.c.table_uuid.in_(old), ~is_known)).rowcount
            connection.execute(delete(unfinished_readings).where(unfinished_readings.c.kept_at < before))
        return gone


def _find_changed(connection: Connection, table_uuid: str, digests: Sequence[ManifestDigest]) -> Iterator[str]:
    """Of those that were read anew, the paths under which something else is kept."""
    read = {digest.path: digest for digest in digests if digest.entries_read > 0}
    columns = select(manifest_digests.c.path, manifest_digests.c.document).where(manifest_digests.c.table_uuid == table_uuid)
    for some in _split(read):
        for row in connection.execute(columns.where(manifest_digests.c.path.in_(some))):
            if documents.write_digest(read[row.path]) != row.document:
                yield row.path


def _split(paths: Iterable[str]) -> Iterator[list[str]]:
    source = iter(paths)
    while some := list(islice(source, MAX_SQL_VARIABLES)):
        yield some


def _delete(connection: Connection, table_uuid: str, paths: Iterable[str]) -> None:
    for some in _split(paths):
        connection.execute(delete(manifest_digests).where(manifest_digests.c.table_uuid == table_uuid, manifest_digests.c.path.in_(some)))


def _insert(connection: Connection, table_uuid: str, target_bytes: int, digests: Iterable[ManifestDigest]) -> None:
    """A few at a time: all documents of a very large table together would take hundreds of megabytes."""
    rows = (
        {
            "table_uuid": table_uuid,
            "path": digest.path,
            "target_bytes": target_bytes,
            "shape": documents.DIGEST_SHAPE,
            "document": documents.write_digest(digest),
        }
        for digest in digests
    )
    while some := list(islice(rows, _ROWS_PER_INSERT)):
        connection.execute(insert(manifest_digests), some)
