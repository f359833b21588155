"""Versions of the policies: one row for each content hash, found again when it returns to force."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Select, delete, func, select, tuple_

from maintainer.adapters.store import documents
from maintainer.adapters.store.database import Database
from maintainer.adapters.store.paging import Position, check_limit, read_cursor, write_cursor
from maintainer.adapters.store.schema import policy_versions
from maintainer.adapters.store.types import AnyRow, read_instant, write_instant
from maintainer.domain.policy import PolicyProblem
from maintainer.domain.policy_version import PolicyVersion, WrittenLayer
from maintainer.ports.store.pages import Page
from maintainer.ports.store.policy_versions import MAX_POLICY_VERSIONS

_ORDER = "policy_versions:last_seen_at:desc"
_NEWEST_FIRST = (policy_versions.c.last_seen_at.desc(), policy_versions.c.version.desc())
_SUMMARY = [column for column in policy_versions.c if column.name != "document"]


def is_in_force(connection: Connection, version: PolicyVersion) -> bool:
    """Return whether the version in force is this one, with these problems."""
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
    """Record the version in force, and delete the oldest beyond the store's limit."""
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
    """Read a page by the last time each came into force, newest first."""
    check_limit(limit)
    after = read_cursor(cursor, _ORDER, int)
    page: Select[Any] = select(*_SUMMARY)
    if after is not None:
        place = (read_instant(int(after.value or 0)), after.row_id)
        page = page.where(tuple_(policy_versions.c.last_seen_at, policy_versions.c.version) < place)
    rows = connection.execute(page.order_by(*_NEWEST_FIRST).limit(limit + 1)).all()
    shown = rows[:limit]
    following = (
        write_cursor(_ORDER, Position(write_instant(shown[-1].last_seen_at), shown[-1].version))
        if len(rows) > limit
        else None
    )
    total = int(connection.execute(select(func.count()).select_from(policy_versions)).scalar_one())
    return Page(tuple(_read(row) for row in shown), following, total)


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
