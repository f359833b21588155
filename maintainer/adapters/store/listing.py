"""Pages of the table list.

Few matches are sorted in Python. Many matches are read from an index in the requested order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    func,
    literal,
    or_,
    select,
    true,
    tuple_,
    type_coerce,
)

from maintainer.adapters.store import documents
from maintainer.adapters.store.database import MAX_SQL_VARIABLES
from maintainer.adapters.store.fleet import RECORD_COLUMNS, build_record
from maintainer.adapters.store.paging import (
    Position,
    check_limit,
    is_named_within,
    read_cursor,
    write_cursor,
)
from maintainer.adapters.store.schema import BANDS, plans, table_health, tables
from maintainer.adapters.store.sums import Sums
from maintainer.adapters.store.types import AnyRow
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.health import TableHealth
from maintainer.domain.plan import Plan
from maintainer.ports.store.pages import Page
from maintainer.ports.store.tables import TABLE_SORTS, TableQuery, TableRecord

# matches; with more, at least every fiftieth of 100,000 rows in the index is a match
SORTED_AT_MOST = 2000
# A search counts at most so many matches. If there are no more, the matches are sorted.
SEARCH_COUNTED_AT_MOST = MAX_SQL_VARIABLES
_BAND = "band"
_FLOATS = frozenset({"average_file_size_bytes", "small_file_ratio"})


@dataclass(frozen=True, slots=True)
class _Matches:
    """The filters of a page, and the number of tables that match, as far as it is known."""

    filters: tuple[ColumnElement[bool], ...]
    total: int
    total_is_exact: bool
    are_sorted: bool  # True: sorted in Python; False: read from an index in the list's order


def read_page(
    connection: Connection, query: TableQuery, sums: Sums, *, is_sqlite: bool
) -> Page[TableRecord]:
    """Read one page; tables without a value come last in both directions, and names break ties.

    The total is counted if this page has the whole list or a search finds few tables. Otherwise it
    comes from the sums, and is never less than the number of tables that were read.
    """
    check_limit(query.limit)
    _sort_key(query.sort)
    order = f"tables:{query.sort}:{'desc' if query.descending else 'asc'}"
    kind = str if query.sort == "name" else float if query.sort in _FLOATS else int
    after = read_cursor(query.cursor, order, kind)
    matches = _find_matches(connection, query, sums, is_sqlite=is_sqlite)
    rows = _read_rows(connection, query, matches, after)
    shown = rows[: query.limit]
    cursor = (
        write_cursor(order, Position(shown[-1].sort_key, shown[-1].full_name))
        if len(rows) > query.limit
        else None
    )
    items = tuple(_build_item(row, with_plan=query.with_plans) for row in shown)
    if after is None and cursor is None:
        return Page(items, None, len(items))
    return Page(items, cursor, max(matches.total, len(rows)), matches.total_is_exact)


def _build_item(row: AnyRow, *, with_plan: bool) -> TableRecord:
    plan = documents.read_or_none(Plan, row.plan) if with_plan else None
    return build_record(row, documents.read_or_none(TableHealth, row.summary), plan)


def _sort_key(sort: str) -> ColumnElement[Any]:
    """Return the sort column; InvalidValueError for an unknown sort."""
    if sort not in TABLE_SORTS:
        raise InvalidValueError(
            f"sort {sort!r} is unknown; sort by one of {', '.join(TABLE_SORTS)}"
        )
    if sort == "name":
        return tables.c.full_name
    if sort == _BAND:
        return tables.c.need
    return (
        type_coerce(tables.c.measured_at, BigInteger) if sort == "measured_at" else tables.c[sort]
    )


def _is_descending(query: TableQuery) -> bool:
    """Return whether greater keys come first; for `need` the lowest value is the worst."""
    return query.descending != (query.sort == _BAND)


def _find_matches(
    connection: Connection, query: TableQuery, sums: Sums, *, is_sqlite: bool
) -> _Matches:
    counted = sums.count_tables(query.catalog, query.namespace, query.band)
    # The filter on the name can use the index of names.
    is_named = (
        query.catalog is not None and (query.sort != "name" or query.band is not None)
    ) or query.namespace is not None
    are_few = is_named and counted <= SORTED_AT_MOST
    # SQLite has no statistics here: it would find and sort half of all tables instead of reading
    # the index in its order.
    filters = _filters(query, is_walked=is_sqlite and is_named and not are_few, is_named=is_named)
    if not query.search and query.within is None and query.only is None:
        return _Matches(filters, counted, total_is_exact=True, are_sorted=are_few)
    # Every name is read: 100,000 names take about 30 ms (docs/benchmarks.md). A search for the
    # position has no special characters and no limit of length, unlike LIKE.
    find = func.instr if is_sqlite else func.strpos
    searched = query.search.casefold()
    is_found = and_(
        find(tables.c.search_name, searched) > 0 if query.search else true(),
        is_named_within(tables.c.full_name, query.within),
    )
    names = select(tables.c.full_name).where(*filters, is_found)
    if query.only is not None:
        known = connection.execute(names).scalars()
        return _Matches(
            (*filters, is_found),
            sum(name in query.only for name in known),
            total_is_exact=True,
            are_sorted=True,
        )
    found = connection.execute(names.limit(SEARCH_COUNTED_AT_MOST + 1)).scalars().all()
    if len(found) > SEARCH_COUNTED_AT_MOST:
        return _Matches(
            (*filters, is_found), SEARCH_COUNTED_AT_MOST, total_is_exact=False, are_sorted=False
        )
    return _Matches(
        (tables.c.full_name.in_(found),), len(found), total_is_exact=True, are_sorted=True
    )


def _filters(
    query: TableQuery, *, is_walked: bool, is_named: bool
) -> tuple[ColumnElement[bool], ...]:
    def unless_walked(column: ColumnElement[str]) -> ColumnElement[str]:
        return column.concat("") if is_walked else column  # an expression has no index

    filters: list[ColumnElement[bool]] = []
    if query.catalog is not None:
        filters.append(unless_walked(tables.c.catalog) == query.catalog)
    if query.namespace is not None:
        filters.append(_is_within(unless_walked(tables.c.namespace), query.namespace))
    if query.band is not None:
        band = tables.c.band + 0 if is_named and not is_walked else tables.c.band
        filters.append(band == BANDS.index(query.band))
    return tuple(filters)


def _is_within(column: ColumnElement[str], namespace: str) -> ColumnElement[bool]:
    """Match the namespace "a.b" and all namespaces under it, as one range of an index.

    "/" is the character after ".".
    """
    return and_(
        column >= namespace,
        column < f"{namespace}/",
        or_(column == namespace, column >= f"{namespace}."),
    )


def _read_rows(
    connection: Connection, query: TableQuery, matches: _Matches, after: Position | None
) -> Sequence[AnyRow]:
    """Read the names of the page and of one more row, then the documents of these names alone."""
    wanted = query.limit + 1
    places = (
        _sort_few(connection, query, matches, after)
        if matches.are_sorted
        else _walk(connection, query, matches, after)
    )[:wanted]
    rows: dict[str, AnyRow] = {}
    names = [place.full_name for place in places]
    page = _select_named(query.sort, with_plans=query.with_plans)
    for start in range(0, wanted, MAX_SQL_VARIABLES):
        found = connection.execute(page, {"names": names[start : start + MAX_SQL_VARIABLES]})
        rows |= {row.full_name: row for row in found}
    return [rows[name] for name in names if name in rows]


@cache
def _select_named(sort: str, *, with_plans: bool) -> Select[Any]:
    """Build the query of the records with given names; building it takes longer than running it."""
    names: BindParameter[str] = bindparam("names", expanding=True)
    found = select(*RECORD_COLUMNS, tables.c.full_name, _sort_key(sort).label("sort_key"))
    source = tables.outerjoin(table_health)
    if with_plans:
        source = source.outerjoin(plans, plans.c.full_name == tables.c.full_name)
        found = found.add_columns(plans.c.document.label("plan"))
    return found.select_from(source).where(tables.c.full_name.in_(names))


def _sort_few(
    connection: Connection, query: TableQuery, matches: _Matches, after: Position | None
) -> Sequence[AnyRow]:
    """Sort all matches in Python, which compares names by code points as both databases do."""
    key, descending = _sort_key(query.sort), _is_descending(query)
    # A list of names is compared here: it may be longer than an IN list can be.
    rows = [
        row
        for row in connection.execute(
            select(tables.c.full_name, key.label("sort_key")).where(*matches.filters)
        )
        if query.only is None or row.full_name in query.only
    ]
    valued = sorted(
        ((row.sort_key, row.full_name, row) for row in rows if row.sort_key is not None),
        key=lambda item: item[:2],
        reverse=descending,
    )
    unknown = sorted(
        (row for row in rows if row.sort_key is None), key=lambda row: str(row.full_name)
    )
    if after is not None:
        place = (after.value, after.row_id)
        valued = [
            item
            for item in valued
            if after.value is not None and (item[:2] < place if descending else item[:2] > place)
        ]
        unknown = [
            row for row in unknown if after.value is not None or row.full_name > after.row_id
        ]
    return [*(item[2] for item in valued), *unknown]


def _walk(
    connection: Connection, query: TableQuery, matches: _Matches, after: Position | None
) -> Sequence[AnyRow]:
    """Read an index in its order until the page is full: first rows with a value, then others."""
    key, name, wanted = _sort_key(query.sort), tables.c.full_name, query.limit + 1
    descending = _is_descending(query)
    directions = (key.desc(), name.desc()) if descending else (key, name)
    rows: list[AnyRow] = []
    if after is None or after.value is not None:
        beyond = [] if after is None else [_beyond(key, after, descending=descending)]
        valued = select(name, key.label("sort_key")).where(
            *matches.filters, key.is_not(None), *beyond
        )
        rows += connection.execute(
            valued.order_by(*directions[: 1 if query.sort == "name" else 2]).limit(wanted)
        ).all()
    if len(rows) < wanted and query.sort != "name":
        beyond_name = [name > after.row_id] if after is not None and after.value is None else []
        without = select(name, key.label("sort_key")).where(
            *matches.filters, key.is_(None), *beyond_name
        )
        rows += connection.execute(without.order_by(name).limit(wanted - len(rows))).all()
    return rows


def _beyond(key: ColumnElement[Any], after: Position, *, descending: bool) -> ColumnElement[bool]:
    if key is tables.c.full_name:
        return key < after.row_id if descending else key > after.row_id
    pair, place = (
        tuple_(key, tables.c.full_name),
        tuple_(literal(after.value, key.type), literal(after.row_id, tables.c.full_name.type)),
    )
    return pair < place if descending else pair > place
