"""The sums of each namespace."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from maintainer.api.access import on_any
from maintainer.api.auth import PersonIn
from maintainer.api.deps import PortsIn
from maintainer.api.schemas import PageOf, Sums
from maintainer.api.tables import DEFAULT_PAGE, Cursor, Limit, Text
from maintainer.domain.access import Role

router = APIRouter(tags=["catalogs"])


class NamespaceOut(Sums):
    """A namespace without its nested namespaces."""

    catalog: str
    namespace: str


class NamespacePage(PageOf[NamespaceOut]):
    """A page of namespaces, by catalog and name."""


@router.get("/namespaces", summary="The namespaces in figures", dependencies=[on_any(Role.VIEWER)])
def get_namespaces(
    ports: PortsIn,
    person: PersonIn,
    catalog: Annotated[Text | None, Query(description="Only this catalog.")] = None,
    limit: Limit = DEFAULT_PAGE,
    cursor: Cursor = None,
) -> NamespacePage:
    """Each namespace that has tables: how many, their files, bytes, average file size and bands.

    The sums are at most 5 seconds old.
    """
    page = ports.store.namespaces(catalog, limit, cursor, person.sees)
    items = [
        NamespaceOut.of(item.counters, catalog=item.catalog, namespace=item.namespace)
        for item in page.items
    ]
    return NamespacePage.of(page, items=items)
