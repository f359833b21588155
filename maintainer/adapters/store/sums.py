"""Sums over the rows of tables and jobs.

One query sums up the tables, and one the jobs. Readers share the result for a few seconds, because
summing up a hundred thousand tables takes a tenth of a second.
"""

from __future__ import annotations

import json
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from threading import Lock
from typing import Any

from sqlalchemy import ColumnElement, Connection, case, func, select

from maintainer.adapters.store.database import Database
from maintainer.adapters.store.job_schema import jobs
from maintainer.adapters.store.paging import (
    Position,
    check_limit,
    is_named_within,
    read_cursor,
    write_cursor,
)
from maintainer.adapters.store.schema import BANDS, HAS_TROUBLE, SUMMED_FIGURES, tables
from maintainer.domain.errors import StoreUnavailableError
from maintainer.domain.health import Band
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import JobState
from maintainer.ports.store.figures import Counters, NamespaceCounters
from maintainer.ports.store.pages import Page

# The greatest age of the sums that the daemon returns. Reading them again at this interval takes
# 1.3 % of a core for a hundred thousand tables (docs/benchmarks.md).
MAX_AGE = timedelta(seconds=5)
EXACT = timedelta(0)
LONGEST_WAIT_SECONDS = 15

_PLAIN = tuple(field.name for field in fields(Counters) if field.name != "bands")
_ORDER = "namespaces"

Scope = tuple[str | None, str | None]  # catalog and namespace; None: all of them


@dataclass(frozen=True, slots=True)
class Sums:
    """The sums at one moment; the sums of a namespace exclude nested namespaces."""

    by_scope: Mapping[Scope, Counters]
    # For each catalog and namespace, in this order: the beginning of its tables' full names.
    namespaces: Mapping[tuple[str, str], str]
    jobs: Mapping[JobState, int]

    def of(self, catalog: str | None = None, namespace: str | None = None) -> Counters:
        """Return the sums of the fleet, of a catalog or of a namespace; zeros if it is unknown."""
        return self.by_scope.get((catalog, namespace)) or add_up(())

    def within(self, prefixes: tuple[str, ...]) -> Counters:
        """Return the sums over the namespaces whose tables' names have one of the prefixes."""
        return add_up(self.by_scope[key] for key in self._list(None, prefixes))

    def count_tables(self, catalog: str | None, namespace: str | None, band: Band | None) -> int:
        """Count tables in a namespace with its nested namespaces, in a catalog or in the fleet."""
        if namespace is None:
            found = [self.of(catalog)]
        else:
            nested = f"{namespace}."
            found = [
                counters
                for (one, name), counters in self.by_scope.items()
                if name is not None
                and (name == namespace or name.startswith(nested))
                and catalog in {None, one}
            ]
        return sum(one.tables if band is None else one.bands[band] for one in found)

    def page(
        self,
        catalog: str | None,
        limit: int,
        cursor: str | None,
        within: tuple[str, ...] | None,
    ) -> Page[NamespaceCounters]:
        """Return a page of namespaces, sorted by catalog and name."""
        check_limit(limit)
        order = f"{_ORDER}:{'' if catalog is None else json.dumps(catalog)}"
        after = read_cursor(cursor, order, str)
        found = self._list(catalog, within)
        start = 0 if after is None else bisect_right(found, (str(after.value or ""), after.row_id))
        end = start + limit
        return Page(
            tuple(NamespaceCounters(*key, self.by_scope[key]) for key in found[start:end]),
            write_cursor(order, Position(*found[end - 1])) if end < len(found) else None,
            len(found),
        )

    def _list(self, catalog: str | None, within: tuple[str, ...] | None) -> list[tuple[str, str]]:
        return [
            key
            for key, beginning in self.namespaces.items()
            if catalog in {None, key[0]} and (within is None or beginning.startswith(within))
        ]


class SharedSums:
    """Reads the sums once for all readers, and reads them again after the maximum age."""

    def __init__(
        self,
        database: Database,
        max_age: timedelta = EXACT,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._seconds = max_age.total_seconds()
        self._clock = clock
        self._lock = Lock()  # one reader sums up, and the others wait for the result
        self._read_at = float("-inf")
        self._sums: Sums | None = None

    def read(self, *, exactly: bool = False) -> Sums:
        """Return the sums of now (`exactly`), or sums that are at most the maximum age old.

        StoreUnavailableError after a long wait for another reader: otherwise a database that does
        not answer would block all readers.
        """
        if not self._lock.acquire(timeout=LONGEST_WAIT_SECONDS):
            raise StoreUnavailableError(f"the sums were not read within {LONGEST_WAIT_SECONDS} s")
        try:
            now = self._clock()
            if self._sums is None or exactly or now - self._read_at >= self._seconds:
                with self._database.read() as connection:
                    self._sums = read_sums(connection)
                self._read_at = now
            return self._sums
        finally:
            self._lock.release()


def read_sums(connection: Connection) -> Sums:
    """Sum up all tables by namespace, and add these sums up to catalogs and the fleet."""
    place = (tables.c.catalog, tables.c.namespace)
    numbers = _numbers(is_sqlite=connection.dialect.name == "sqlite")
    figures: dict[tuple[str, str], dict[str, Any]] = {
        (row[0], row[1]): dict(zip(numbers, row[2:], strict=True))
        for row in connection.execute(select(*place, *numbers.values()).group_by(*place))
    }
    # Faults and pauses are long texts and in no index. A partial index finds the few rows that have
    # one of them.
    trouble = select(*place, func.count(tables.c.fault), func.count(tables.c.pause))
    for row in connection.execute(trouble.where(HAS_TROUBLE).group_by(*place)):
        figures[row[0], row[1]] |= {"faulty_tables": row[2], "paused_tables": row[3]}
    by_scope: dict[Scope, Counters] = {key: build_counters(one) for key, one in figures.items()}
    catalogs = sorted({catalog for catalog, _ in figures})
    for catalog in catalogs:
        by_scope[catalog, None] = add_up(by_scope[key] for key in figures if key[0] == catalog)
    by_scope[None, None] = add_up(by_scope[catalog, None] for catalog in catalogs)
    beginnings = {key: _begin_names(*key) for key in sorted(figures)}
    return Sums(by_scope, beginnings, count_jobs(connection))


def _begin_names(catalog: str, namespace: str) -> str:
    """Return the beginning of the full names of a namespace's tables."""
    of_catalog = str(TableIdentifier(catalog, (), "t")).removesuffix("t")
    return f"{of_catalog}{namespace}." if namespace else of_catalog


def _numbers(*, is_sqlite: bool) -> dict[str, ColumnElement[Any]]:
    # SQLite's `sum` fails if the result exceeds 64 bits. `total` rounds such a result, and is exact
    # up to 8 PiB. PostgreSQL's `sum` has no limit.
    total = func.total if is_sqlite else func.sum
    columns = tables.c
    return {
        "tables": func.count(),
        "measured_tables": func.count(columns.measured_at),
        **{name: total(columns[name]) for name in SUMMED_FIGURES},
        "live_data_files": total(case((columns.kept_data_files.is_not(None), columns.data_files))),
        "kept_data_files": total(case((columns.data_files.is_not(None), columns.kept_data_files))),
        **{
            band.value: func.count(case((columns.band == index, 1)))
            for index, band in enumerate(BANDS)
        },
    }


def add_up(parts: Iterable[Counters]) -> Counters:
    every = list(parts)
    plain = {name: sum(getattr(one, name) for one in every) for name in _PLAIN}
    return Counters(**plain, bands={band: sum(one.bands[band] for one in every) for band in BANDS})


def build_counters(figures: Mapping[str, Any]) -> Counters:
    """Return the sums with these figures; a missing figure or None counts as zero."""
    plain = {name: int(figures.get(name) or 0) for name in _PLAIN}
    return Counters(**plain, bands={band: int(figures.get(band.value) or 0) for band in BANDS})


def write_figures(counters: Counters) -> dict[str, int]:
    """Return the figures by name, without those that are zero."""
    figures = {name: getattr(counters, name) for name in _PLAIN}
    figures |= {band.value: counters.bands[band] for band in BANDS}
    return {name: number for name, number in figures.items() if number}


def count_jobs(
    connection: Connection, within: tuple[str, ...] | None = None
) -> dict[JobState, int]:
    """Return the number of jobs in each state, on all tables or on those within the prefixes."""
    counted = (
        select(jobs.c.state, func.count().label("jobs"))
        .where(is_named_within(jobs.c.full_name, within))
        .group_by(jobs.c.state)
    )
    found = {row.state: row.jobs for row in connection.execute(counted)}
    return {state: found.get(state.value, 0) for state in JobState}
