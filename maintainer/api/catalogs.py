"""The configured catalogs."""

from __future__ import annotations

from collections import defaultdict

from fastapi import APIRouter

from maintainer.api import schemas
from maintainer.api.deps import ContextIn, PortsIn
from maintainer.domain.identifier import TableIdentifier

router = APIRouter(tags=["catalogs"])


@router.get("/catalogs", summary="The configured catalogs")
def get_catalogs(ports: PortsIn, context: ContextIn) -> list[schemas.CatalogOut]:
    """Each catalog by name, with its sums, its average file size and what could not be listed.

    The sums are kept up to date, not computed for the request.
    """
    faults: dict[str, list[schemas.CatalogFaultOut]] = defaultdict(list)
    for fault in ports.store.catalog_faults():
        namespace = TableIdentifier(fault.catalog, fault.namespace, "").namespace_text
        faults[fault.catalog].append(
            schemas.CatalogFaultOut(namespace=namespace, reason=fault.reason, seen_at=fault.seen_at)
        )
    return [
        schemas.CatalogOut.of(ports.store.counters(name), name=name, type=kind, faults=faults[name])
        for name, kind in sorted(context.catalogs.items())
    ]
