"""The sums of the fleet."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from maintainer.api import schemas, wire
from maintainer.api.access import on_any, on_scope, require_scope
from maintainer.api.auth import PersonIn
from maintainer.api.deps import PortsIn
from maintainer.api.spans import Since, Until, read_span, thin
from maintainer.api.tables import Text
from maintainer.decide.grading.findings import AVERAGE_FILE_SIZE_BOUNDS
from maintainer.domain.access import Person, Role, write_scope
from maintainer.domain.errors import InvalidValueError

MAX_SAMPLES = 500  # a longer history is thinned evenly

CatalogIn = Annotated[Text | None, Query(description="Only this catalog.")]
NamespaceIn = Annotated[
    Text | None, Query(description="Only this namespace of the catalog, without nested ones.")
]

router = APIRouter(tags=["overview"])


@router.get("/overview", summary="The fleet in figures", dependencies=[on_any(Role.VIEWER)])
def get_overview(ports: PortsIn, person: PersonIn) -> schemas.OverviewOut:
    """The sums of all tables: files, bytes, average file size, bands, jobs and savings so far.

    The sums and the numbers of jobs are at most 5 seconds old.
    """
    return wire.write_overview(ports.store.overview(person.sees))


@router.get(
    "/overview/history", summary="The fleet over time", dependencies=[on_scope(Role.VIEWER)]
)
def get_fleet_history(  # noqa: PLR0913, PLR0917 - query parameters are arguments, given by name
    ports: PortsIn,
    person: PersonIn,
    catalog: CatalogIn = None,
    namespace: NamespaceIn = None,
    since: Since = None,
    until: Until = None,
) -> schemas.FleetHistory:
    """The sums of the fleet, of a catalog or of a namespace, oldest first.

    They were recorded at the time, after each scan; equal sums in a row are one sample. A series
    of more than 500 is thinned evenly.
    """
    require_place(person, catalog, namespace)
    first, last = read_span(since, until, ports.clock.now())
    samples = ports.store.fleet_history(catalog, namespace, first, last)
    return schemas.FleetHistory(
        catalog=catalog,
        namespace=namespace,
        samples=[
            schemas.FleetSampleOut.of(sample.counters, at=sample.at)
            for sample in thin(samples, MAX_SAMPLES)
        ],
        average_file_size_bounds=[
            schemas.BandBound(band=band, below_bytes=below)
            for band, below in AVERAGE_FILE_SIZE_BOUNDS
        ],
    )


def require_place(person: Person, catalog: str | None, namespace: str | None) -> None:
    """Refuse who may not see the namespace, the catalog or, without both, the whole fleet.

    InvalidValueError for a namespace without its catalog.
    """
    if namespace is not None and catalog is None:
        raise InvalidValueError(f"namespace {namespace!r} needs the parameter catalog")
    require_scope(person, Role.VIEWER, write_scope(catalog, namespace))
