"""The inbox: what needs a person."""

from __future__ import annotations

from datetime import datetime

from fastapi import APIRouter
from pydantic import Field

from maintainer.api.access import on_any
from maintainer.api.auth import PersonIn
from maintainer.api.deps import PortsIn
from maintainer.api.health_schemas import Schema
from maintainer.api.tables import DEFAULT_PAGE, Limit
from maintainer.domain.access import Person, Role, is_within
from maintainer.domain.inbox import InboxEntry, InboxKind
from maintainer.requests.inbox import find_inbox


class InboxEntryOut(Schema):
    """One problem that only a person can resolve."""

    kind: InboxKind
    subject: str = Field(description="The name of a table or a catalog, or the source of a policy.")
    sentence: str
    since: datetime | None
    table: str | None = Field(description="catalog.namespace.table")
    reference: str = Field(description="The id of an orphan list or a job, or empty.")


class InboxOut(Schema):
    """The first entries, the most urgent kind first; total is the number of all."""

    items: list[InboxEntryOut]
    total: int


router = APIRouter(tags=["overview"])


@router.get("/inbox", summary="What needs a person", dependencies=[on_any(Role.VIEWER)])
def get_inbox(ports: PortsIn, person: PersonIn, limit: Limit = DEFAULT_PAGE) -> InboxOut:
    """Tables that are paused, unreadable or keep failing, lists to approve, mistakes in policies.

    Of each kind at most 200 are found. Entries about more than one table are shown only to
    people who may see all tables.
    """
    entries = [entry for entry in find_inbox(ports) if _is_visible(entry, person)]
    items = [
        InboxEntryOut.of(entry, table=None if entry.table is None else str(entry.table))
        for entry in entries[:limit]
    ]
    return InboxOut(items=items, total=len(entries))


def _is_visible(entry: InboxEntry, person: Person) -> bool:
    if entry.table is None or entry.kind is InboxKind.SHARED:
        return person.sees_all
    return is_within(entry.table, person.sees)
