"""The configured catalogs."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime

from fastapi import APIRouter

from maintainer.api.access import on_any
from maintainer.api.auth import PersonIn
from maintainer.api.catalog_schemas import (
    CatalogFaultOut,
    CatalogOut,
    CatalogStorageOut,
    ScanCostOut,
)
from maintainer.api.deps import ApiContext, ContextIn, PortsIn
from maintainer.domain.access import Person, Role, is_within
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.scan_cost import ScanCost
from maintainer.ports import Ports
from maintainer.ports.store.figures import Counters
from maintainer.ports.store.tables import TableQuery

router = APIRouter(tags=["catalogs"])

_JITTER = 1.1  # of the interval; a scan is late after this time


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
