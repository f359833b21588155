"""The queue, pauses of any scope, the kill switch, and drain."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from maintainer.api.access import on_any, on_scope, require_scope
from maintainer.api.deps import ContextIn, PersonIn, PortsIn
from maintainer.api.errors import ProblemError, declare_problems
from maintainer.api.health_schemas import Schema, Written
from maintainer.api.plan_schemas import AdmissionOut, CostOut
from maintainer.api.spans import DEFAULT_PAGE, Flag, Limit
from maintainer.api.wire import hide_others, write_admission
from maintainer.domain.access import Role, is_within
from maintainer.domain.admission import (
    EVERYTHING,
    MAX_SCOPE_CHARACTERS,
    ScopePause,
    WaitCode,
    read_scope,
)
from maintainer.domain.policy import RuleName
from maintainer.requests.pause import cancel_scope, pause_scope, read_pauses_in_force, resume_scope

router = APIRouter(tags=["jobs"])
_NOT_FOUND = declare_problems(HTTPStatus.NOT_FOUND)

Scope = Annotated[
    str,
    Field(
        max_length=MAX_SCOPE_CHARACTERS,
        description="A table, a namespace (`lake.sales`), a catalog (`lake`), a glob over whole "
        "names, or `*` for all.",
    ),
]


class QueuedOut(Schema):
    """One planned action in the queue."""

    table: Written
    rule: RuleName
    is_urgent: bool = Field(description="The table is in the critical band.")
    cost: CostOut
    admission: AdmissionOut


class QueueOut(Schema):
    """The first planned actions, best first; total is the number of all."""

    at: datetime
    items: list[QueuedOut]
    total: int
    starting: int = Field(description="The number of actions that start next.")
    waiting: dict[WaitCode, int] = Field(
        description="The number of waiting actions by reason, with every reason."
    )


@router.get("/queue", summary="What happens next", dependencies=[on_any(Role.VIEWER)])
def get_queue(context: ContextIn, person: PersonIn, limit: Limit = DEFAULT_PAGE) -> QueueOut:
    """The planned actions in the order in which they would start, and why those that wait do.

    The queue is a few seconds old at most.
    """
    queue = context.queue()
    decisions = [
        decision for decision in queue.decisions if is_within(decision.candidate.table, person.sees)
    ]
    waits = Counter(decision.wait.code for decision in decisions if decision.wait is not None)
    return QueueOut(
        at=queue.at,
        items=[
            QueuedOut.of(
                decision.candidate, admission=write_admission(hide_others(decision, person))
            )
            for decision in decisions[:limit]
        ],
        total=len(decisions),
        starting=len(decisions) - waits.total(),
        waiting={code: waits[code] for code in WaitCode},
    )


class ScopePauseRequest(Schema):
    """Pause the tables of a scope."""

    scope: Scope = EVERYTHING
    reason: str = Field(default="", max_length=1000)
    cancel: Flag = Field(
        default=False, description="Also cancel the jobs that run there (kill switch)."
    )
    drain: Flag = Field(
        default=False,
        description="A drain of everything: not even requests start; running jobs finish.",
    )


class ScopePauseOut(Schema):
    """A pause in force."""

    scope: str
    by: str
    at: datetime
    reason: str
    is_drain: bool


class PausesOut(Schema):
    """Every pause in force, and the jobs that still run under one."""

    items: list[ScopePauseOut]
    is_draining: bool
    is_drained: bool = Field(description="The drain is complete: no job runs.")
    running_jobs: list[str] = Field(description="Jobs on tables that a pause covers, oldest first.")


@router.get("/pauses", summary="What is paused", dependencies=[on_any(Role.VIEWER)])
def get_pauses(ports: PortsIn, person: PersonIn) -> PausesOut:
    """Every pause in force, also of single tables, and the jobs that still run under one."""
    found = read_pauses_in_force(ports)
    running = [job.job_id for job in found.running if is_within(job.table, person.sees)]
    pauses = [pause for pause in found.pauses if person.sees_scope(pause.scope)]
    return PausesOut.of(found, items=pauses, running_jobs=running)


@router.post(
    "/pauses",
    summary="Pause a scope",
    status_code=HTTPStatus.CREATED,
    responses=_NOT_FOUND,
    dependencies=[on_scope(Role.OPERATOR)],
)
def post_pause(ports: PortsIn, person: PersonIn, request: ScopePauseRequest) -> ScopePauseOut:
    """Start nothing more in the scope until it is resumed; `cancel` also ends its running jobs."""
    scope = read_scope(request.scope)
    require_scope(person, Role.ADMIN if request.drain else Role.OPERATOR, scope)
    pause = ScopePause(scope, person.name, ports.clock.now(), request.reason, request.drain)
    pause_scope(ports, pause)
    if request.cancel:
        cancel_scope(ports, pause.scope, person.name)
    return ScopePauseOut.model_validate(pause)


@router.delete(
    "/pauses",
    summary="Resume a scope",
    status_code=HTTPStatus.NO_CONTENT,
    responses=_NOT_FOUND,
    dependencies=[on_scope(Role.OPERATOR)],
)
def delete_pause(
    ports: PortsIn,
    person: PersonIn,
    scope: Annotated[
        str, Query(max_length=MAX_SCOPE_CHARACTERS, description="The very scope that was paused.")
    ] = EVERYTHING,
) -> None:
    """Let the policies act again."""
    wanted = read_scope(scope)
    require_scope(person, Role.OPERATOR, wanted)
    if not resume_scope(ports, wanted, person.name):
        raise ProblemError(
            HTTPStatus.NOT_FOUND,
            f"there is no pause of {wanted!r}; GET /api/v1/pauses lists all pauses",
        )
