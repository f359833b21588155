"""The configured catalogs."""

from __future__ import annotations

from collections import defaultdict

from fastapi import APIRouter

from maintainer.api import schemas
from maintainer.api.deps import ServicesIn
from maintainer.domain.identifier import TableIdentifier

router = APIRouter(tags=["catalogs"])


@router.get("/catalogs", summary="The configured catalogs")
def get_catalogs(services: ServicesIn) -> list[schemas.CatalogOut]:
    """Each catalog by name, with how many tables it has and what could not be listed."""
    faults: dict[str, list[schemas.CatalogFaultOut]] = defaultdict(list)
    for fault in services.store.catalog_faults():
        namespace = TableIdentifier(fault.catalog, fault.namespace, "").namespace_text
        faults[fault.catalog].append(schemas.CatalogFaultOut(namespace=namespace, reason=fault.reason, seen_at=fault.seen_at))
    return [
        schemas.CatalogOut(name=name, type=kind, tables=services.store.counters(name).tables, faults=faults[name])
        for name, kind in sorted(services.catalogs.items())
    ]
