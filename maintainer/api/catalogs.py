"""The configured catalogs."""

from __future__ import annotations

from collections import defaultdict

from fastapi import APIRouter

from maintainer.api import schemas
from maintainer.api.access import on_any
from maintainer.api.auth import PersonIn
from maintainer.api.deps import ContextIn, PortsIn
from maintainer.domain.access import Person, Role, is_within
from maintainer.domain.identifier import TableIdentifier
from maintainer.ports import Ports
from maintainer.ports.store.figures import Counters

router = APIRouter(tags=["catalogs"])


@router.get("/catalogs", summary="The configured catalogs", dependencies=[on_any(Role.VIEWER)])
def get_catalogs(ports: PortsIn, context: ContextIn, person: PersonIn) -> list[schemas.CatalogOut]:
    """Each catalog by name, with its sums, its average file size and what could not be listed.

    The sums are kept up to date, not computed for the request.
    """
    faults: dict[str, list[schemas.CatalogFaultOut]] = defaultdict(list)
    for fault in ports.store.catalog_faults():
        place = TableIdentifier(fault.catalog, fault.namespace, "t")
        if not is_within(place, person.sees):
            continue
        namespace = place.namespace_text
        faults[fault.catalog].append(
            schemas.CatalogFaultOut(namespace=namespace, reason=fault.reason, seen_at=fault.seen_at)
        )
    return [
        schemas.CatalogOut.of(_sum(ports, person, name), name=name, type=kind, faults=faults[name])
        for name, kind in sorted(context.catalogs.items())
        if person.sees_catalog(name)
    ]


def _sum(ports: Ports, person: Person, catalog: str) -> Counters:
    """The sums of the catalog's tables that the person may see."""
    if person.sees_all:
        return ports.store.counters(catalog)
    return ports.store.overview(person.seen_in(catalog))
