"""The fleet: its status, its sums, its work by day, and the inbox."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from maintainer.api import schemas, status_schemas, wire
from maintainer.api.access import on_any, on_scope, require_scope
from maintainer.api.deps import ContextIn, PersonIn, PortsIn
from maintainer.api.health_schemas import Schema
from maintainer.api.spans import DEFAULT_PAGE, Limit, Since, Text, Until, read_span, thin
from maintainer.domain.access import Person, Role, is_within, write_scope
from maintainer.domain.admission import EVERYTHING
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.notice import InboxEntry, InboxKind
from maintainer.domain.policy import Resource, day_of
from maintainer.requests.inbox import find_inbox
from maintainer.requests.status import find_place_status, is_in_place

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
    )


def require_place(person: Person, catalog: str | None, namespace: str | None) -> None:
    """Refuse who may not see the namespace, the catalog or, without both, the whole fleet.

    InvalidValueError for a namespace without its catalog.
    """
    _require_catalog(catalog, namespace)
    require_scope(person, Role.VIEWER, write_scope(catalog, namespace))


def _require_catalog(catalog: str | None, namespace: str | None) -> None:
    if namespace is not None and catalog is None:
        raise InvalidValueError(f"namespace {namespace!r} needs the parameter catalog")


class DayOut(Schema):
    """One day in UTC. A job counts for the day on which it was admitted."""

    day: str = Field(description="Such as 2026-11-21.")
    files_removed: int = Field(description="Data files, net.")
    requests_saved: int = Field(
        description="Requests that one full read of each maintained table no longer makes: for "
        "data files, delete files and manifests."
    )
    bytes_rewritten: float
    gb_hours: float = Field(description="Predicted for unfinished jobs, actual for finished ones.")


class BudgetOut(Schema):
    """A daily limit and what was spent of it today."""

    name: str
    resource: Resource
    limit: float
    spent: float


class DailyWorkOut(Schema):
    """The days that had jobs, oldest first."""

    catalog: str | None
    namespace: str | None
    days: list[DayOut]
    budgets: list[BudgetOut] = Field(
        description="The limits of the fleet and of catalogs; empty for a person who does not "
        "see all tables."
    )


@router.get(
    "/overview/days", summary="Cost and savings by day", dependencies=[on_scope(Role.VIEWER)]
)
def get_daily_work(  # noqa: PLR0913, PLR0917 - query parameters are arguments, given by name
    ports: PortsIn,
    person: PersonIn,
    catalog: CatalogIn = None,
    namespace: NamespaceIn = None,
    since: Since = None,
    until: Until = None,
) -> DailyWorkOut:
    """The cost and savings of the jobs of the fleet, a catalog or a namespace on each day.

    A day counts as long as its jobs are kept.
    """
    require_place(person, catalog, namespace)
    now = ports.clock.now()
    first, last = read_span(since, until, now)
    work = ports.store.daily_work(catalog, namespace, day_of(first), day_of(last))
    spending = ports.store.spending(day_of(now))
    budgets = ports.admission.list_budgets(spending) if person.sees is None else ()
    return DailyWorkOut(
        catalog=catalog,
        namespace=namespace,
        days=[
            DayOut.of(one, bytes_rewritten=one.cost.bytes, gb_hours=one.cost.gb_hours)
            for one in work
        ],
        budgets=[BudgetOut.model_validate(one) for one in budgets],
    )


PlaceNamespace = Annotated[
    Text | None, Query(description="Only this namespace of the catalog and those nested in it.")
]


@router.get(
    "/status", summary="Is all well, and what needs a person", dependencies=[on_any(Role.VIEWER)]
)
def get_status(  # noqa: PLR0913, PLR0917 - query parameters are arguments, given by name
    ports: PortsIn,
    person: PersonIn,
    context: ContextIn,
    catalog: CatalogIn = None,
    namespace: PlaceNamespace = None,
    limit: Limit = DEFAULT_PAGE,
) -> status_schemas.StatusOut:
    """One sentence, the number of tables in each state, what needs a person, and the tables.

    Each table is in exactly one state. The states are at most a few seconds old. Problems of more
    than one table are shown only to people who may see all tables.
    """
    _require_catalog(catalog, namespace)
    prefix = write_scope(catalog, namespace).removesuffix(EVERYTHING)
    statuses = [one for one in context.statuses(person.sees) if is_in_place(one.table, prefix)]
    found = find_place_status(ports, statuses, prefix, person.sees)
    return status_schemas.write_fleet_status(found, statuses, limit)


class InboxOut(Schema):
    """The first entries, the most urgent kind first; total is the number of all."""

    items: list[status_schemas.InboxEntryOut]
    total: int


@router.get("/inbox", summary="What needs a person", dependencies=[on_any(Role.VIEWER)])
def get_inbox(
    ports: PortsIn, person: PersonIn, context: ContextIn, limit: Limit = DEFAULT_PAGE
) -> InboxOut:
    """Tables that need a person, lists of orphan files to approve, and mistakes in policies.

    Of each kind at most 200 are found. Entries about more than one table are shown only to
    people who may see all tables.
    """
    found = find_inbox(ports, context.statuses(person.sees))
    entries = [entry for entry in found if _is_visible(entry, person)]
    items = [status_schemas.write_entry(entry) for entry in entries[:limit]]
    return InboxOut(items=items, total=len(entries))


def _is_visible(entry: InboxEntry, person: Person) -> bool:
    if entry.table is None or entry.kind is InboxKind.SHARED:
        return person.sees_all
    return is_within(entry.table, person.sees)
