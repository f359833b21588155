"""The configured catalogs and their namespaces: sums, scans and storage."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Final, TypeVar

from fastapi import APIRouter, Query
from pydantic import Field

from maintainer.api.access import on_any
from maintainer.api.deps import ApiContext, ContextIn, PersonIn, PortsIn
from maintainer.api.health_schemas import NameServiceOut, PageOf, Schema, StorageOut
from maintainer.api.schemas import Sums
from maintainer.api.spans import DEFAULT_PAGE, Cursor, Limit, Text
from maintainer.domain.access import Person, Role, is_within
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.scan_cost import ScanCost
from maintainer.domain.status import TableState
from maintainer.ports import Ports
from maintainer.ports.store.figures import Counters
from maintainer.ports.store.tables import TableQuery

router = APIRouter(tags=["catalogs"])

_JITTER = 1.1  # of the interval; a scan is late after this time


class CatalogFaultOut(Schema):  # noqa: D101 - as in schemas.py
    namespace: str
    reason: str
    seen_at: datetime


class ScanCostOut(Schema):
    """The work and the cost of one scan of a catalog."""

    started_at: datetime
    seconds: float
    measured: int = Field(description="Tables that were read.")
    unchanged: int = Field(description="Tables that were not read again.")
    faults: int = Field(description="Tables and namespaces that could not be read.")
    manifests_read: int
    manifests_reused: int = Field(description="Known from earlier scans.")
    bytes_read: int = Field(description="Of manifests.")
    is_complete: bool = Field(
        description="False: stopped, or changed tables are left for the next scan."
    )


STATES: Final = "The number of tables in each state that has any."


class CatalogOut(Sums):
    """A configured catalog."""

    name: str
    type: str
    is_reachable: bool | None = Field(
        description="The last scan could list the catalog; null before the first scan."
    )
    faults: list[CatalogFaultOut]
    scans: list[ScanCostOut] = Field(description="The last scans, the newest first.")
    oldest_measured_at: datetime | None = Field(
        description="The table that was measured longest ago."
    )
    behind_seconds: float | None = Field(
        description="Time since the next scan was due; null before the first scan."
    )
    states: dict[TableState, int] = Field(description=STATES)


class CatalogStorageOut(Schema):
    """The storage of a catalog's tables, and the objects of its name services."""

    catalog: str
    storages: list[StorageOut] = Field(
        description="One for each kind of storage; empty before the first measured table."
    )
    name_services: list[NameServiceOut]


@router.get("/catalogs", summary="The configured catalogs", dependencies=[on_any(Role.VIEWER)])
def get_catalogs(ports: PortsIn, context: ContextIn, person: PersonIn) -> list[CatalogOut]:
    """Each catalog by name, with its sums, its scans, and the namespaces that could not be listed.

    The sums are at most 5 seconds old. A person who sees only some tables of a catalog gets no
    costs of its scans.
    """
    faults: dict[str, list[CatalogFaultOut]] = defaultdict(list)
    unreachable: set[str] = set()
    for fault in ports.store.catalog_faults():
        if not fault.namespace:
            unreachable.add(fault.catalog)
        place = TableIdentifier(fault.catalog, fault.namespace, "t")
        if not is_within(place, person.sees):
            continue
        namespace = place.namespace_text
        faults[fault.catalog].append(
            CatalogFaultOut(namespace=namespace, reason=fault.reason, seen_at=fault.seen_at)
        )
    costs = ports.store.scan_costs()
    states = _count_states(context, person, lambda table: table.catalog)
    return [
        CatalogOut.of(
            _sum(ports, person, name),
            name=name,
            type=kind,
            is_reachable=None if name not in costs else name not in unreachable,
            faults=faults[name],
            scans=[ScanCostOut.of(cost) for cost in costs.get(name, ())]
            if _sees_whole(person, name)
            else [],
            oldest_measured_at=_date_oldest(ports, person, name),
            behind_seconds=_find_delay(context, costs[name][0]) if name in costs else None,
            states=states[name],
        )
        for name, kind in sorted(context.catalogs.items())
        if person.sees_catalog(name)
    ]


@router.get(
    "/catalogs/storage",
    summary="The storage of the configured catalogs",
    dependencies=[on_any(Role.VIEWER)],
)
def get_catalog_storage(context: ContextIn, person: PersonIn) -> list[CatalogStorageOut]:
    """The prices and the speed of each catalog's storage, and the load of its name services.

    All measured tables are read, at most once a minute.
    """
    return [
        CatalogStorageOut.model_validate(storage)
        for storage in context.storage(person.sees)
        if person.sees_catalog(storage.catalog)
    ]


_Place = TypeVar("_Place")


def _count_states(
    context: ApiContext, person: Person, place_of: Callable[[TableIdentifier], _Place]
) -> Mapping[_Place, Counter[TableState]]:
    """The visible tables of each place by state."""
    counts: dict[_Place, Counter[TableState]] = defaultdict(Counter)
    for one in context.statuses(person.sees):
        counts[place_of(one.table)][one.state] += 1
    return counts


def _sum(ports: Ports, person: Person, catalog: str) -> Counters:
    """The sums of the catalog's tables that the person may see."""
    if person.sees_all:
        return ports.store.counters(catalog)
    return ports.store.overview(person.seen_in(catalog))


def _sees_whole(person: Person, catalog: str) -> bool:
    return person.sees_all or f"{catalog}." in person.seen_in(catalog)


def _date_oldest(ports: Ports, person: Person, catalog: str) -> datetime | None:
    query = TableQuery(catalog=catalog, sort="measured_at", limit=1, within=person.sees)
    record = next(iter(ports.store.tables(query).items), None)
    return record.health.measured_at if record is not None and record.health else None


def _find_delay(context: ApiContext, last: ScanCost) -> float:
    """The seconds since the next scan was due; 0 when it is not due yet."""
    since_start = (context.ports.clock.now() - last.started_at).total_seconds()
    return max(0.0, since_start - last.seconds - context.scan_interval.total_seconds() * _JITTER)


class NamespaceOut(Sums):
    """A namespace without its nested namespaces."""

    catalog: str
    namespace: str
    states: dict[TableState, int] = Field(description=STATES)


class NamespacePage(PageOf[NamespaceOut]):
    """A page of namespaces, by catalog and name."""


@router.get("/namespaces", summary="The namespaces in figures", dependencies=[on_any(Role.VIEWER)])
def get_namespaces(  # noqa: PLR0913, PLR0917 - query parameters are arguments, given by name
    ports: PortsIn,
    context: ContextIn,
    person: PersonIn,
    catalog: Annotated[Text | None, Query(description="Only this catalog.")] = None,
    limit: Limit = DEFAULT_PAGE,
    cursor: Cursor = None,
) -> NamespacePage:
    """Each namespace that has tables: how many, in which states, their files, bytes and bands.

    The sums and states are some seconds old, in a large fleet ten times as long as it takes to read
    them.
    """
    page = ports.store.namespaces(catalog, limit, cursor, person.sees)
    states = _count_states(context, person, lambda table: (table.catalog, table.namespace_text))
    items = [
        NamespaceOut.of(
            item.counters,
            catalog=item.catalog,
            namespace=item.namespace,
            states=states[item.catalog, item.namespace],
        )
        for item in page.items
    ]
    return NamespacePage.of(page, items=items)
