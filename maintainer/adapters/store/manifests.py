"""Manifest digests: what an immutable manifest said is read from storage once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, delete, insert, select

from maintainer.adapters.store import documents
from maintainer.adapters.store.database import MAX_SQL_VARIABLES
from maintainer.adapters.store.schema import manifest_digests
from maintainer.domain.inventory import ManifestDigest

_ROWS_PER_INSERT = 500


def read_digests(connection: Connection, table_uuid: str, paths: Iterable[str], target_bytes: int) -> Mapping[str, ManifestDigest]:
    """All that are known and wanted: asking for a table's digests is asking for nearly all of them."""
    wanted = set(paths)
    if not wanted:
        return {}
    columns = select(manifest_digests.c.path, manifest_digests.c.document)
    rows = connection.execute(
        columns.where(
            manifest_digests.c.table_uuid == table_uuid,
            manifest_digests.c.target_bytes == target_bytes,
            manifest_digests.c.shape == documents.DIGEST_SHAPE,
        )
    )
    return {row.path: documents.read_digest(row.document) for row in rows if row.path in wanted}


def record_digests(connection: Connection, table_uuid: str, target_bytes: int, digests: Iterable[ManifestDigest]) -> None:
    """Add the new, drop the rest, leave alone what is there: a manifest never changes."""
    named = {digest.path: digest for digest in digests}
    is_of_table = manifest_digests.c.table_uuid == table_uuid
    known = connection.execute(select(manifest_digests.c.path, manifest_digests.c.target_bytes, manifest_digests.c.shape).where(is_of_table)).all()
    kept = {row.path for row in known if row.path in named and row.target_bytes == target_bytes and row.shape == documents.DIGEST_SHAPE}
    dropped = [row.path for row in known if row.path not in kept]
    _delete(connection, table_uuid, dropped)
    _insert(connection, table_uuid, target_bytes, [digest for path, digest in named.items() if path not in kept])


def add_digests(connection: Connection, table_uuid: str, target_bytes: int, digests: Iterable[ManifestDigest]) -> None:
    """Put these in the place of older ones of the same manifests."""
    named = {digest.path: digest for digest in digests}
    _delete(connection, table_uuid, list(named))
    _insert(connection, table_uuid, target_bytes, list(named.values()))


def _delete(connection: Connection, table_uuid: str, paths: Sequence[str]) -> None:
    for start in range(0, len(paths), MAX_SQL_VARIABLES):
        some = manifest_digests.c.path.in_(paths[start : start + MAX_SQL_VARIABLES])
        connection.execute(delete(manifest_digests).where(manifest_digests.c.table_uuid == table_uuid, some))


def _insert(connection: Connection, table_uuid: str, target_bytes: int, digests: Sequence[ManifestDigest]) -> None:
    added = [
        {
            "table_uuid": table_uuid,
            "path": digest.path,
            "target_bytes": target_bytes,
            "shape": documents.DIGEST_SHAPE,
            "document": documents.write_digest(digest),
        }
        for digest in digests
    ]
    for start in range(0, len(added), _ROWS_PER_INSERT):
        connection.execute(insert(manifest_digests), added[start : start + _ROWS_PER_INSERT])
