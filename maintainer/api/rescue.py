"""The rescue plan: how one table becomes healthy."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus

from fastapi import APIRouter
from pydantic import Field

from maintainer.api.access import RecordIn, on_table
from maintainer.api.deps import PortsIn
from maintainer.api.errors import ProblemError
from maintainer.api.health_schemas import Schema, Written
from maintainer.api.tables import ONE_TABLE
from maintainer.domain.access import Role
from maintainer.domain.health import Band
from maintainer.domain.policy import RuleName
from maintainer.requests.preview import rescue

router = APIRouter(tags=["tables"])


class RescueStepOut(Schema):
    """One job, and the predicted table after it."""

    rule: RuleName
    starts_at: datetime
    ends_at: datetime
    gb_hours: float
    gb_hours_p90: float
    reason: str
    waited_for: str = Field(description="Why it does not start directly after the step before.")
    band: Band
    data_files: int | None
    average_file_size_bytes: float | None
    delete_files: int | None
    manifests: int | None
    snapshots: int


class RescuePlanOut(Schema):
    """The jobs until a table is healthy, as far as they are predictable."""

    table: Written
    begins_at: datetime
    ends_at: datetime
    band: Band = Field(description="Now.")
    is_healthy: bool = Field(description="After the last step.")
    days: float
    gb_hours: float
    gb_hours_p90: float = Field(description="90 % of such plans cost at most this.")
    sentence: str
    steps: list[RescueStepOut]


@router.get(
    f"{ONE_TABLE}/rescue",
    summary="How a table becomes healthy",
    dependencies=[on_table(Role.VIEWER)],
)
def get_rescue(record: RecordIn, ports: PortsIn) -> RescuePlanOut:
    """The jobs, the days and the GB-hours until the table is healthy; nothing is started.

    The real decision is repeated on the predicted table. It assumes that the policy
    is in mode enforce, that nothing is paused, that no other table needs the budgets, and that
    nobody writes meanwhile.
    """
    if record.health is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"{record.table} has not been measured yet")
    return RescuePlanOut.model_validate(rescue(ports, record, record.health))
