"""Schemas of the status of tables and of the fleet."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pydantic import Field

from maintainer.api.health_schemas import Schema
from maintainer.domain.health import Band
from maintainer.domain.notice import InboxEntry, InboxKind
from maintainer.domain.status import FleetStatus, Need, TableState, TableStatus

_BANDS = (None, *Band)
_STATES = tuple(TableState)


class TableStatusOut(Schema):
    """The one state of a table, and the next action."""

    table: str = Field(description="catalog.namespace.table")
    state: TableState
    sentence: str
    since: datetime | None
    until: datetime | None = Field(
        description="The earliest start of what waits, or the estimated end of the job."
    )
    command: str = Field(description="The next action on the command line; empty: none.")
    band: Band | None = Field(description="null: not measured.")
    needs_person: bool = Field(description="Nothing improves before a person acts.")


class InboxEntryOut(Schema):
    """One problem that only a person can resolve."""

    kind: InboxKind
    subject: str = Field(description="The name of a table or a catalog, or the source of a policy.")
    sentence: str
    since: datetime | None
    table: str | None = Field(description="catalog.namespace.table")
    reference: str = Field(description="The id of an orphan list or a job, or empty.")


class NeedOut(InboxEntryOut):
    """One problem that only a person can resolve, and the command that helps with it."""

    command: str


class StatusOut(Schema):
    """Is all well, what is being done, and what needs a person."""

    sentence: str
    is_well: bool = Field(description="A scan has finished, and nothing needs a person.")
    tables: int
    states: dict[TableState, int] = Field(description="The number of tables in each state.")
    last_scan_at: datetime | None = Field(
        description="The end of the last scan, of several catalogs of the one that was scanned "
        "longest ago."
    )
    needs: list[NeedOut] = Field(description="The first ones, the most urgent kind first.")
    needs_total: int
    items: list[TableStatusOut] = Field(
        description="The first tables, the most urgent state and the worst band first."
    )


def write_fleet_status(
    found: FleetStatus, statuses: Sequence[TableStatus], limit: int | None = None
) -> StatusOut:
    """Convert the status with at most `limit` needs and tables; None: all of them."""
    ordered = sorted(
        statuses,
        key=lambda one: (_STATES.index(one.state), -_BANDS.index(one.band), str(one.table)),
    )
    return StatusOut.of(
        found,
        needs=[_write_need(need) for need in found.needs[:limit]],
        needs_total=len(found.needs),
        items=[write_status(one) for one in ordered[:limit]],
    )


def write_status(status: TableStatus) -> TableStatusOut:
    """Convert the status of one table."""
    return TableStatusOut.of(status, table=str(status.table))


def write_entry(entry: InboxEntry) -> InboxEntryOut:
    """Convert one entry of the inbox."""
    return InboxEntryOut.of(entry, table=_name(entry))


def _write_need(need: Need) -> NeedOut:
    return NeedOut.of(need.entry, table=_name(need.entry), command=need.command)


def _name(entry: InboxEntry) -> str | None:
    return None if entry.table is None else str(entry.table)
