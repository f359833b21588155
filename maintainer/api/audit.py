"""The audit log: who asked for what, what ran, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query

from maintainer.api.access import on_any
from maintainer.api.deps import PersonIn, PortsIn
from maintainer.api.health_schemas import PageOf, Schema, Written
from maintainer.api.spans import DEFAULT_PAGE, Cursor, Limit, Text, Time, in_utc
from maintainer.domain.access import Role
from maintainer.domain.audit import AuditQuery, Deed
from maintainer.domain.identifier import TableIdentifier

router = APIRouter(tags=["audit"])


class AuditEntryOut(Schema):
    """One entry of the log; `table` is null when the entry concerns several tables."""

    sequence: int
    at: datetime
    actor: str
    deed: Deed
    table: Written | None
    table_uuid: str
    job_id: str
    fields: Mapping[str, object]


class AuditPage(PageOf[AuditEntryOut]):
    """A page of the log, newest first."""


@router.get("/audit", summary="The audit log", dependencies=[on_any(Role.VIEWER)])
def get_audit(  # noqa: PLR0913, PLR0917 - query parameters are arguments, given by name
    ports: PortsIn,
    person: PersonIn,
    table: Annotated[Text | None, Query(description="catalog.namespace.table")] = None,
    job: Annotated[Text, Query(description="A job's id.")] = "",
    actor: Annotated[Text, Query(description="As the log has it, such as `person ada`.")] = "",
    since: Annotated[Time | None, Query(description="RFC 3339, inclusive.")] = None,
    until: Annotated[Time | None, Query(description="RFC 3339, exclusive.")] = None,
    limit: Limit = DEFAULT_PAGE,
    cursor: Cursor = None,
) -> AuditPage:
    """Who asked (or which version of the policies), which statement ran, and with what result.

    Entries name the snapshots that the job committed. No entry is ever deleted. Entries about
    several tables are shown only to people who see all tables.
    """
    asked = AuditQuery(
        table=TableIdentifier.parse(table) if table is not None else None,
        job_id=job,
        actor=actor,
        since=None if since is None else in_utc(since),
        until=None if until is None else in_utc(until),
        limit=limit,
        cursor=cursor,
        within=person.sees,
    )
    page = ports.store.audit(asked)
    return AuditPage.model_validate(page)
