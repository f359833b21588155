"""The tables that need a new plan: their data has changed, or the time of their plan has come."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select, update

from maintainer.adapters.store import documents
from maintainer.adapters.store.schema import tables
from maintainer.adapters.store.types import AnyRow
from maintainer.domain.units import CLOCK_TOLERANCE
from maintainer.ports.store.plans import LONGEST_TRUST, PlanDue


def want_plan(connection: Connection, is_changed: ColumnElement[bool]) -> None:
    """Request new plans for the tables with changed data.

    A plan that is being made now does not satisfy the request.
    """
    connection.execute(
        update(tables)
        .where(is_changed)
        .values(plan_wanted=tables.c.plan_wanted + 1, planned_under=None, plan_at=None)
    )


def read_due(
    connection: Connection, now: datetime, version: str, catalogs: Collection[str] | None = None
) -> Sequence[PlanDue]:
    """Read the due tables, sorted by name.

    Each part of the condition is a range of one index, so the query does not read the tables that
    need no plan or belong to another catalog.
    """
    under = tables.c.planned_under
    is_same, furthest = under == version, now + LONGEST_TRUST + CLOCK_TOLERANCE
    changed = (
        under.is_(None),
        under < version,
        under > version,
        and_(is_same, tables.c.plan_at <= now),
        and_(is_same, tables.c.plan_at > furthest),
    )
    columns = (tables.c.full_name, tables.c.levels, tables.c.plan_wanted, tables.c.measured_at)
    rows: list[AnyRow] = []
    for catalog in sorted(_read_catalogs(connection) if catalogs is None else catalogs):
        rows += connection.execute(
            select(*columns).where(
                or_(*(and_(tables.c.catalog == catalog, one) for one in changed))
            )
        )
    # Python sorts and filters the rows: the database might scan all tables in the order of their
    # names.
    measured = sorted(
        (row for row in rows if row.measured_at is not None), key=lambda row: str(row.full_name)
    )
    return tuple(PlanDue(documents.read_levels(row.levels), row.plan_wanted) for row in measured)


def _read_catalogs(connection: Connection) -> Sequence[str]:
    """List the catalogs that have tables, with one step on the index for each catalog."""
    found: list[str] = []
    following = select(func.min(tables.c.catalog))
    last = connection.execute(following).scalar_one()
    while last is not None:
        found.append(last)
        last = connection.execute(following.where(tables.c.catalog > last)).scalar_one()
    return found


def mark_planned(
    connection: Connection, due: PlanDue, version: str, next_at: datetime | None
) -> None:
    """Record that the table is planned, unless a newer plan was requested meanwhile."""
    is_unchanged = and_(tables.c.full_name == str(due.table), tables.c.plan_wanted == due.wanted)
    connection.execute(
        update(tables).where(is_unchanged).values(planned_under=version, plan_at=next_at)
    )
