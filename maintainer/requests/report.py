"""Reports from the latest health of each table in the store: small files, and storage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from maintainer.domain.health import TableHealth
from maintainer.measure.catalog_storage import CatalogStorage, describe_storage
from maintainer.measure.impact import ImpactModels, StorageProfile
from maintainer.measure.report import Report, build_report
from maintainer.ports.store import Store
from maintainer.ports.store.pages import MAX_PAGE
from maintainer.ports.store.tables import TableQuery


@dataclass(frozen=True, slots=True)
class ReportQuestion:
    """The question that a report on small files answers."""

    within: tuple[str, ...] | None = None  # prefixes of the tables' names; None: all tables
    storage: StorageProfile | None = None  # of all tables; None: the storage of each table
    scans_per_day: float = 1.0  # full reads of each table


def report_small_files(store: Store, models: ImpactModels, asked: ReportQuestion) -> Report:
    """Report on the tables in question; InvalidValueError for impossible scans_per_day."""
    if asked.storage is not None:
        models = models.on(asked.storage)
    return build_report(_read(store, TableQuery(within=asked.within)), models, asked.scans_per_day)


def report_storage(
    store: Store, models: ImpactModels, catalogs: Sequence[str], within: tuple[str, ...] | None
) -> tuple[CatalogStorage, ...]:
    """The storage of each catalog, by the tables whose names have one of the prefixes."""
    return describe_storage(_read(store, TableQuery(within=within)), models, catalogs)


def _read(store: Store, query: TableQuery) -> Iterator[TableHealth]:
    """Read the latest health of the tables, page by page."""
    query = replace(query, limit=MAX_PAGE)
    while True:
        page = store.tables(query)
        yield from (record.health for record in page.items if record.health is not None)
        if page.next_cursor is None:
            return
        query = replace(query, cursor=page.next_cursor)
