"""The history of a table's verdicts."""

from __future__ import annotations

from fastapi import APIRouter

from maintainer.api.access import RecordIn, on_table
from maintainer.api.deps import PersonIn, PortsIn
from maintainer.api.plan_schemas import VerdictPage
from maintainer.api.spans import DEFAULT_PAGE, Cursor, Limit
from maintainer.api.tables import ONE_TABLE
from maintainer.api.wire import write_verdicts
from maintainer.domain.access import Role

router = APIRouter(tags=["tables"])


@router.get(
    f"{ONE_TABLE}/verdicts", summary="The history of verdicts", dependencies=[on_table(Role.VIEWER)]
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
