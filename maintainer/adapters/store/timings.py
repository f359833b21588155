"""Users' own timings of queries on a table."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, delete, func, select, tuple_

from maintainer.adapters.store.database import Database
from maintainer.adapters.store.paging import Position, check_limit, read_cursor, write_cursor
from maintainer.adapters.store.schema import query_timings, tables
from maintainer.adapters.store.types import read_instant, write_instant
from maintainer.domain.errors import UnknownTableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.timing import QueryTiming
from maintainer.ports.store import Page

_ORDER = "timings:at:desc"
_FIGURES = ("name", "seconds", "at", "data_files", "average_file_size_bytes", "cost")


def record_timing(
    database: Database, connection: Connection, table: TableIdentifier, timing: QueryTiming
) -> None:
    """Record it under the table's current UUID."""
    table_uuid = connection.execute(
        select(tables.c.table_uuid).where(tables.c.full_name == str(table))
    ).scalar_one_or_none()
    if table_uuid is None:
        message = (
            f"table {table} was never measured here: there is nothing to hold a query's time "
            f"against"
        )
        raise UnknownTableError(message)
    connection.execute(
        database.upsert(
            query_timings,
            {"table_uuid": table_uuid, **{name: getattr(timing, name) for name in _FIGURES}},
        )
    )


def read_timings(
    connection: Connection, table: TableIdentifier, limit: int, cursor: str | None
) -> Page[QueryTiming]:
    """Read a page, newest first; timings of the same time by name, descending."""
    check_limit(limit)
    after = read_cursor(cursor, _ORDER, int)
    is_wanted = (
        query_timings.c.table_uuid
        == select(tables.c.table_uuid).where(tables.c.full_name == str(table)).scalar_subquery()
    )
    total = int(
        connection.execute(
            select(func.count()).select_from(query_timings).where(is_wanted)
        ).scalar_one()
    )
    page = select(*(query_timings.c[name] for name in _FIGURES)).where(is_wanted)
    if after is not None:
        page = page.where(
            tuple_(query_timings.c.at, query_timings.c.name)
            < (read_instant(int(after.value or 0)), after.row_id)
        )
    rows = connection.execute(
        page.order_by(query_timings.c.at.desc(), query_timings.c.name.desc()).limit(limit + 1)
    ).all()
    shown = rows[:limit]
    following = (
        write_cursor(_ORDER, Position(write_instant(shown[-1].at), shown[-1].name))
        if len(rows) > limit
        else None
    )
    # SQLAlchemy's public name.
    return Page(tuple(QueryTiming(**row._mapping) for row in shown), following, total)  # noqa: SLF001


def prune_timings(connection: Connection, before: datetime) -> int:
    """Delete older timings."""
    return connection.execute(delete(query_timings).where(query_timings.c.at < before)).rowcount
