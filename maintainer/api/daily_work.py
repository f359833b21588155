"""The cost and savings of maintenance by day, and the rest of the budgets."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import Field

from maintainer.api.access import on_scope
from maintainer.api.auth import PersonIn
from maintainer.api.deps import PortsIn
from maintainer.api.health_schemas import Schema
from maintainer.api.overview import CatalogIn, NamespaceIn, require_place
from maintainer.api.spans import Since, Until, read_span
from maintainer.domain.access import Role
from maintainer.domain.budget import Resource, day_of

router = APIRouter(tags=["overview"])


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
    "/overview/days",
    summary="Cost and savings by day",
    dependencies=[on_scope(Role.VIEWER)],
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
