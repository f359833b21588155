"""The queue: the planned actions in their order, and why they wait."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from fastapi import APIRouter
from pydantic import Field

from maintainer.api.access import on_any
from maintainer.api.auth import PersonIn
from maintainer.api.deps import ContextIn
from maintainer.api.health_schemas import Schema, Written
from maintainer.api.plan_schemas import AdmissionOut, CostOut
from maintainer.api.plan_wire import hide_others, write_admission
from maintainer.api.tables import DEFAULT_PAGE, Limit
from maintainer.domain.access import Role, is_within
from maintainer.domain.admission import WaitCode
from maintainer.domain.policy import RuleName


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


router = APIRouter(tags=["jobs"])


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
