"""Versions of the policies: one row for each content hash, even if it came into force twice."""

from __future__ import annotations

from sqlalchemy import Connection, delete, select

from maintainer.adapters.store import documents
from maintainer.adapters.store.database import Database
from maintainer.adapters.store.paging import read_newest
from maintainer.adapters.store.schema import policy_versions
from maintainer.adapters.store.types import AnyRow
from maintainer.domain.policy import PolicyProblem
from maintainer.domain.policy_version import PolicyVersion, WrittenLayer
from maintainer.ports.store.pages import Page
from maintainer.ports.store.plans import MAX_POLICY_VERSIONS

_ORDER = "policy_versions:last_seen_at:desc"
_NEWEST = (policy_versions.c.last_seen_at, policy_versions.c.version)
_NEWEST_FIRST = tuple(key.desc() for key in _NEWEST)
_SUMMARY = [column for column in policy_versions.c if column.name != "document"]


def is_in_force(connection: Connection, version: PolicyVersion) -> bool:
    """Return whether this version, with the same problems, is in force."""
    newest = connection.execute(
        select(policy_versions.c.version, policy_versions.c.problems)
        .order_by(*_NEWEST_FIRST)
        .limit(1)
    ).one_or_none()
    return newest is not None and (newest.version, newest.problems) == (
        version.version,
        documents.write(version.problems),
    )


def record_version(database: Database, connection: Connection, version: PolicyVersion) -> None:
    """Record the version in force, and delete the oldest versions beyond the store's limit."""
    known = connection.execute(
        select(policy_versions.c.first_seen_at).where(policy_versions.c.version == version.version)
    ).scalar_one_or_none()
    row = {
        "version": version.version,
        "first_seen_at": known or version.first_seen_at,
        "last_seen_at": version.last_seen_at,
        "layers": len(version.layers),
        "problems": documents.write(version.problems),
        "document": documents.write_bytes(version.layers),
    }
    connection.execute(database.upsert(policy_versions, row))
    surplus = select(policy_versions.c.version).order_by(*_NEWEST_FIRST).offset(MAX_POLICY_VERSIONS)
    old = connection.execute(surplus.limit(MAX_POLICY_VERSIONS)).scalars().all()
    if old:
        connection.execute(delete(policy_versions).where(policy_versions.c.version.in_(old)))


def read_versions(
    connection: Connection, limit: int = 100, cursor: str | None = None
) -> Page[PolicyVersion]:
    """Read a page, sorted by the time when the version last came into force, newest first."""
    return read_newest(connection, select(*_SUMMARY), _NEWEST, _ORDER, limit, cursor, _read)


def read_version(connection: Connection, version: str) -> PolicyVersion | None:
    row = connection.execute(
        select(policy_versions).where(policy_versions.c.version == version)
    ).one_or_none()
    return (
        None if row is None else _read(row, documents.read(tuple[WrittenLayer, ...], row.document))
    )


def _read(row: AnyRow, layers: tuple[WrittenLayer, ...] = ()) -> PolicyVersion:
    return PolicyVersion(
        row.version,
        row.first_seen_at,
        row.last_seen_at,
        row.layers,
        documents.read(tuple[PolicyProblem, ...], row.problems),
        layers,
    )
