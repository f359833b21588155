"""Sums over tables and jobs.

Each change updates them in its own transaction, so reading them costs the same for any size of
fleet. A change locks the rows of the tables first and those of the counters last, both in order:
two writers never deadlock.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    case,
    delete,
    false,
    func,
    insert,
    or_,
    select,
    text,
    true,
    tuple_,
    update,
)

from maintainer.adapters.store.database import MAX_SQL_VARIABLES, Database
from maintainer.adapters.store.job_counters import recount_jobs
from maintainer.adapters.store.paging import Position, check_limit, read_cursor, write_cursor
from maintainer.adapters.store.schema import fleet_counters, tables
from maintainer.adapters.store.types import AnyRow
from maintainer.domain.health import Band
from maintainer.domain.identifier import TableIdentifier, split_levels
from maintainer.ports.store.figures import Counters, NamespaceCounters
from maintainer.ports.store.pages import Page

BANDS = tuple(Band)
SUMMED = ("data_files", "data_bytes", "small_files", "delete_files", "manifests", "snapshots")
_COUNTED = {"measured_tables": "measured_at", "faulty_tables": "fault", "paused_tables": "pause"}
_KEY = (fleet_counters.c.level, fleet_counters.c.catalog, fleet_counters.c.namespace)
_SUMS = (*SUMMED, "live_data_files", "kept_data_files")
_ROW = ("full_name", "catalog", "namespace", "band", "kept_data_files", *_COUNTED.values(), *SUMMED)
_COLUMNS = tuple(tables.c[name] for name in _ROW)
_NAMESPACE_ORDER = "namespaces"
_HALF = 2**32
_KEYS_PER_STATEMENT = MAX_SQL_VARIABLES // 4

Figures = Mapping[str, int]
Key = tuple[int, str, str]


FLEET_LEVEL, CATALOG_LEVEL, NAMESPACE_LEVEL = range(3)


class Changes:
    """The changes of the sums by one transaction so far."""

    def __init__(self) -> None:
        self._by_key: dict[Key, Counter[str]] = defaultdict(Counter)

    def add(self, row: AnyRow) -> None:
        """Add a new row of a table."""
        for key in _keys(row):
            self._by_key[key].update(_figures(row))

    def add_sums(self, place: AnyRow, figures: Figures) -> None:
        """Add the sums of all new rows of a namespace."""
        for key in _keys(place):
            self._by_key[key].update(figures)

    def subtract(self, row: AnyRow) -> None:
        """Subtract a row that is gone, or that is replaced by an added one."""
        for key in _keys(row):
            self._by_key[key].subtract(_figures(row))

    def by_key(self) -> dict[Key, dict[str, int]]:
        """Return the differences that are not zero."""
        found = {
            key: {name: change for name, change in changes.items() if change}
            for key, changes in sorted(self._by_key.items())
        }
        return {key: changes for key, changes in found.items() if changes}


def _keys(row: AnyRow) -> tuple[Key, ...]:
    return (
        (FLEET_LEVEL, "", ""),
        (CATALOG_LEVEL, row.catalog, ""),
        (NAMESPACE_LEVEL, row.catalog, row.namespace),
    )


def _figures(row: AnyRow) -> Figures:
    figures = {
        "tables": 1,
        **{name: int(getattr(row, column) is not None) for name, column in _COUNTED.items()},
    }
    figures |= {name: getattr(row, name) or 0 for name in SUMMED}
    if row.kept_data_files is not None and row.data_files is not None:
        figures |= {"live_data_files": row.data_files, "kept_data_files": row.kept_data_files}
    if row.band is not None:
        figures[BANDS[row.band].value] = 1
    return figures


@contextmanager
def counted(
    database: Database, connection: Connection, full_names: Sequence[str], *, is_new: bool = False
) -> Iterator[Sequence[str]]:
    """Lock the named tables' rows, and update the sums after the body has run.

    The body may change the tables that it is given. is_new: this transaction created them. A row
    that another transaction adds after the locks were taken is not given, and must not be changed:
    it was never counted here.
    """
    changes = Changes()
    present = list(full_names)
    if not is_new:
        rows = list(_read_rows(connection, full_names))
        present = [row.full_name for row in rows]
        for row in rows:
            changes.subtract(row)
    yield present
    for row in _read_rows(connection, present):
        changes.add(row)
    _apply(database, connection, changes.by_key())


def _read_rows(connection: Connection, full_names: Sequence[str]) -> Iterator[AnyRow]:
    ordered = sorted(full_names)
    for start in range(0, len(ordered), MAX_SQL_VARIABLES):
        some = ordered[start : start + MAX_SQL_VARIABLES]
        yield from connection.execute(
            select(*_COLUMNS)
            .where(tables.c.full_name.in_(some))
            .order_by(tables.c.full_name)
            .with_for_update()
        ).all()


def _apply(
    database: Database, connection: Connection, changes: Mapping[Key, Mapping[str, int]]
) -> None:
    keys = list(changes)
    for start in range(0, len(keys), _KEYS_PER_STATEMENT):
        some = keys[start : start + _KEYS_PER_STATEMENT]
        present = {
            (row.level, row.catalog, row.namespace)
            for row in connection.execute(select(*_KEY).where(tuple_(*_KEY).in_(some)))
        }
        for key in some:
            if key not in present:  # all are created before any is locked: creating also waits
                connection.execute(database.insert_unless_present(fleet_counters, _row(key, {})))
    for start in range(0, len(keys), _KEYS_PER_STATEMENT):
        some = keys[start : start + _KEYS_PER_STATEMENT]
        rows = connection.execute(
            select(fleet_counters).where(tuple_(*_KEY).in_(some)).order_by(*_KEY).with_for_update()
        ).all()
        for row in rows:
            figures = Counter(json.loads(row.figures))
            figures.update(changes[row.level, row.catalog, row.namespace])
            is_this = and_(*(column == row[index] for index, column in enumerate(_KEY)))
            connection.execute(
                update(fleet_counters).where(is_this).values(figures=_write(figures))
            )


def _row(key: Key, figures: Figures) -> dict[str, Any]:
    level, catalog, namespace = key
    return {"level": level, "catalog": catalog, "namespace": namespace, "figures": _write(figures)}


def _write(figures: Figures) -> str:
    return json.dumps({name: number for name, number in figures.items() if number}, sort_keys=True)


def read_counters(
    connection: Connection, catalog: str | None = None, namespace: str | None = None
) -> Counters:
    """Return the sums of one row, all zero if there is no such row."""
    is_this = tuple_(*_KEY) == key_of(catalog, namespace)
    document = connection.execute(
        select(fleet_counters.c.figures).where(is_this)
    ).scalar_one_or_none()
    return build_counters(json.loads(document or "{}"))


def key_of(catalog: str | None, namespace: str | None) -> Key:
    """Return the key of the fleet, of a catalog, or of a namespace without its nested ones."""
    if catalog is None:
        return FLEET_LEVEL, "", ""
    return (
        (CATALOG_LEVEL, catalog, "") if namespace is None else (NAMESPACE_LEVEL, catalog, namespace)
    )


def read_counters_within(connection: Connection, within: tuple[str, ...]) -> Counters:
    """Return the sums of all namespaces whose tables' names begin with one of the prefixes."""
    figures: Counter[str] = Counter()
    for row in connection.execute(
        select(fleet_counters.c.figures).where(
            fleet_counters.c.level == NAMESPACE_LEVEL, _has_tables_within(within)
        )
    ):
        figures.update(json.loads(row.figures))
    return build_counters(figures)


def _has_tables_within(within: tuple[str, ...]) -> ColumnElement[bool]:
    places = [split_levels(prefix.removesuffix(".")) for prefix in within]
    return or_(
        false(),
        *(
            and_(
                fleet_counters.c.catalog == catalog,
                is_within(
                    fleet_counters.c.namespace, TableIdentifier(catalog, rest, "").namespace_text
                )
                if rest
                else true(),
            )
            for catalog, *levels in places
            for rest in [tuple(levels)]
        ),
    )


def read_catalogs(connection: Connection) -> list[str]:
    """List the catalogs that have or had tables."""
    return list(
        connection.execute(
            select(fleet_counters.c.catalog).where(fleet_counters.c.level == CATALOG_LEVEL)
        ).scalars()
    )


def build_counters(figures: Figures) -> Counters:
    """Return the sums of these figures; a missing figure is zero."""
    plain = {name: figures.get(name, 0) for name in ("tables", *_COUNTED, *_SUMS)}
    return Counters(**plain, bands={band: figures.get(band.value, 0) for band in BANDS})


def count_tables(
    connection: Connection, catalog: str | None, namespace: str | None, band: Band | None
) -> int:
    """Count tables, of one band or all, in a namespace with its nested ones, or wider."""
    name = "tables" if band is None else band.value
    if namespace is None:
        counters = read_counters(connection, catalog, None)
        return counters.tables if band is None else counters.bands[band]
    filters = [
        fleet_counters.c.level == NAMESPACE_LEVEL,
        is_within(fleet_counters.c.namespace, namespace),
    ]
    if catalog is not None:
        filters.append(fleet_counters.c.catalog == catalog)
    return sum(
        json.loads(row.figures).get(name, 0)
        for row in connection.execute(select(fleet_counters.c.figures).where(*filters))
    )


def is_within(column: ColumnElement[str], namespace: str) -> ColumnElement[bool]:
    """Match the namespace "a.b" and all that start with "a.b.", as one range of an index.

    "/" is the character after ".".
    """
    return and_(
        column >= namespace,
        column < f"{namespace}/",
        or_(column == namespace, column >= f"{namespace}."),
    )


def read_namespaces(
    connection: Connection,
    catalog: str | None = None,
    limit: int = 100,
    cursor: str | None = None,
    within: tuple[str, ...] | None = None,
) -> Page[NamespaceCounters]:
    """Read a page of namespaces by catalog and name."""
    check_limit(limit)
    order = f"{_NAMESPACE_ORDER}:{'' if catalog is None else json.dumps(catalog)}"
    after = read_cursor(cursor, order, str)
    filters: list[ColumnElement[bool]] = [
        fleet_counters.c.level == NAMESPACE_LEVEL,
        fleet_counters.c.figures != "{}",
    ]
    if catalog is not None:
        filters.append(fleet_counters.c.catalog == catalog)
    if within is not None:
        filters.append(_has_tables_within(within))
    total = connection.execute(
        select(func.count()).select_from(fleet_counters).where(*filters)
    ).scalar_one()
    if after is not None:
        filters.append(
            tuple_(fleet_counters.c.catalog, fleet_counters.c.namespace)
            > (str(after.value or ""), after.row_id)
        )
    ordered = (
        select(fleet_counters)
        .where(*filters)
        .order_by(fleet_counters.c.catalog, fleet_counters.c.namespace)
    )
    rows = connection.execute(ordered.limit(limit + 1)).all()
    shown = rows[:limit]
    following = (
        write_cursor(order, Position(shown[-1].catalog, shown[-1].namespace))
        if len(rows) > limit
        else None
    )
    return Page(
        tuple(
            NamespaceCounters(row.catalog, row.namespace, build_counters(json.loads(row.figures)))
            for row in shown
        ),
        following,
        total,
    )


def recount(connection: Connection) -> int:
    """Recompute all sums and repair differences; return how many rows were wrong."""
    if connection.dialect.name == "postgresql":
        # Another transaction's changes of a table and of its sums are seen either both or not at
        # all.
        connection.execute(text("LOCK TABLE fleet_counters, job_counters IN EXCLUSIVE MODE"))
    changes = _sum_tables(connection)
    wanted = {tuple(key): _write(figures) for key, figures in changes.by_key().items()}
    found = {
        (row.level, row.catalog, row.namespace): row.figures
        for row in connection.execute(select(fleet_counters))
    }
    empty = [key for key, figures in found.items() if figures == "{}" and key not in wanted]
    wrong = [key for key in {*wanted, *found} if wanted.get(key, "{}") != found.get(key, "{}")]
    for key in {*wrong, *empty}:
        connection.execute(
            delete(fleet_counters).where(
                and_(*(column == part for column, part in zip(_KEY, key, strict=True)))
            )
        )
    added = [
        {"level": int(key[0]), "catalog": key[1], "namespace": key[2], "figures": wanted[key]}
        for key in wrong
        if key in wanted
    ]
    if added:
        connection.execute(insert(fleet_counters), added)
    return len(wrong) + recount_jobs(connection)


def _sum_tables(connection: Connection) -> Changes:
    """Sum up in the database, namespace by namespace.

    A hundred thousand rows one by one take seconds, during which no other writer can use SQLite.
    """
    is_compared = and_(tables.c.data_files.is_not(None), tables.c.kept_data_files.is_not(None))
    summed: dict[str, ColumnElement[Any]] = {name: tables.c[name] for name in SUMMED}
    summed |= {
        name: case((is_compared, tables.c[name.removeprefix("live_")]))
        for name in _SUMS[len(SUMMED) :]
    }
    numbers: dict[str, ColumnElement[Any]] = {"tables": tables.c.full_name}
    numbers |= {name: tables.c[column] for name, column in _COUNTED.items()}
    numbers |= {band.value: case((tables.c.band == index, 1)) for index, band in enumerate(BANDS)}
    columns = [func.count(column).label(name) for name, column in numbers.items()]
    for name, column in summed.items():  # in two halves: a sum of many may have more than 64 bits
        columns += [
            func.sum(column.op("/")(_HALF)).label(f"high_{name}"),
            func.sum(column % _HALF).label(f"low_{name}"),
        ]
    place = (tables.c.catalog, tables.c.namespace)
    changes = Changes()
    for row in connection.execute(select(*place, *columns).group_by(*place)):
        found = row._mapping  # noqa: SLF001 - SQLAlchemy's public name
        sums = {
            name: int(found[f"high_{name}"] or 0) * _HALF + int(found[f"low_{name}"] or 0)
            for name in summed
        }
        changes.add_sums(row, {name: int(found[name]) for name in numbers} | sums)
    return changes
