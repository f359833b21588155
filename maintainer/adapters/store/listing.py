"""Pages of the table list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, and_, func, or_, select, type_coerce

from maintainer.adapters.store import documents
from maintainer.adapters.store.fleet import BANDS, RECORD_COLUMNS, build_record
from maintainer.adapters.store.paging import Position, check_limit, read_cursor, write_cursor
from maintainer.adapters.store.schema import table_health, tables
from maintainer.adapters.store.types import AnyRow
from maintainer.domain.errors import InvalidValueError
from maintainer.ports.store import TABLE_SORTS, Page, TableQuery, TableRecord

_FLOATS = frozenset({"average_file_size_bytes", "small_file_ratio"})


def read_page(connection: Connection, query: TableQuery, *, is_sqlite: bool) -> Page[TableRecord]:
    """One page; tables without a value come last, whichever way it is sorted, and names break ties."""
    check_limit(query.limit)
    key = _sort_key(query.sort)
    order = f"tables:{query.sort}:{'desc' if query.descending else 'asc'}"
    kind = str if query.sort == "name" else float if query.sort in _FLOATS else int
    after = read_cursor(query.cursor, order, kind)
    filters = _filters(query, is_sqlite=is_sqlite)
    total = connection.execute(select(func.count()).select_from(tables).where(*filters)).scalar_one()
    rows = _read_rows(connection, query, key, filters, after)
    shown = rows[: query.limit]
    cursor = write_cursor(order, Position(shown[-1].sort_key, shown[-1].full_name)) if len(rows) > query.limit else None
    return Page(tuple(_build_item(row) for row in shown), cursor, total)


def _build_item(row: AnyRow) -> TableRecord:
    return build_record(row, documents.read_summary(row.summary) if row.summary is not None else None, None)


def _sort_key(sort: str) -> ColumnElement[Any]:
    if sort not in TABLE_SORTS:
        message = f"sort {sort!r} is unknown; sort by one of {', '.join(TABLE_SORTS)}"
        raise InvalidValueError(message)
    if sort == "name":
        return tables.c.full_name
    return type_coerce(tables.c.measured_at, BigInteger) if sort == "measured_at" else tables.c[sort]


def _filters(query: TableQuery, *, is_sqlite: bool) -> list[ColumnElement[bool]]:
    filters: list[ColumnElement[bool]] = []
    if query.search:
        # A position, not LIKE: nothing in the text is special, and it may be of any length.
        find = func.instr if is_sqlite else func.strpos
        filters.append(find(tables.c.search_name, query.search.casefold()) > 0)
    if query.catalog is not None:
        filters.append(tables.c.catalog == query.catalog)
    if query.namespace is not None:
        # "a.b" and all that starts with "a.b."; "/" is the character after ".".
        nested = and_(tables.c.namespace >= f"{query.namespace}.", tables.c.namespace < f"{query.namespace}/")
        filters.append(or_(tables.c.namespace == query.namespace, nested))
    if query.band is not None:
        filters.append(tables.c.band == BANDS.index(query.band))
    return filters


def _read_rows(
    connection: Connection, query: TableQuery, key: ColumnElement[Any], filters: Sequence[ColumnElement[bool]], after: Position | None
) -> Sequence[AnyRow]:
    """One row more than the page has, when there is one: first from those with a value, then from those without; each part walks an index."""
    wanted = query.limit + 1
    page = select(*RECORD_COLUMNS, tables.c.full_name, key.label("sort_key")).select_from(tables.outerjoin(table_health)).where(*filters)
    rows: list[AnyRow] = []
    if after is None or after.value is not None:
        beyond = _beyond(key, after, descending=query.descending)
        ordered = page.where(key.is_not(None), *beyond).order_by(key.desc() if query.descending else key, tables.c.full_name)
        rows += connection.execute(ordered.limit(wanted)).all()
    if len(rows) < wanted:
        beyond_name = [tables.c.full_name > after.row_id] if after is not None and after.value is None else []
        without = page.where(key.is_(None), *beyond_name).order_by(tables.c.full_name)
        rows += connection.execute(without.limit(wanted - len(rows))).all()
    return rows


def _beyond(key: ColumnElement[Any], after: Position | None, *, descending: bool) -> list[ColumnElement[bool]]:
    if after is None:
        return []
    reached, passed = (key <= after.value, key < after.value) if descending else (key >= after.value, key > after.value)
    return [reached, or_(passed, tables.c.full_name > after.row_id)]
