"""A table's activity: the history of its verdicts."""

from __future__ import annotations

from fastapi import APIRouter

from maintainer.api.access import on_table
from maintainer.api.auth import PersonIn
from maintainer.api.deps import PortsIn
from maintainer.api.paths import RecordIn
from maintainer.api.plan_schemas import VerdictPage
from maintainer.api.plan_wire import write_verdicts
from maintainer.api.tables import DEFAULT_PAGE, NOT_FOUND, ONE_TABLE, Cursor, Limit
from maintainer.domain.access import Role

router = APIRouter(tags=["tables"])


@router.get(
    f"{ONE_TABLE}/verdicts",
    summary="The history of verdicts",
    responses=NOT_FOUND,
    dependencies=[on_table(Role.VIEWER)],
)
def get_verdicts(
    record: RecordIn,
    ports: PortsIn,
    person: PersonIn,
    limit: Limit = DEFAULT_PAGE,
    cursor: Cursor = None,
) -> VerdictPage:
    """The verdicts on each rule with their start and end, newest first.

    An entry begins with each change of a verdict, not with changing figures.
    """
    return write_verdicts(ports.store.verdicts(record.table, limit, cursor), person)
