"""The replicas that work, and which duties each of them has."""

from __future__ import annotations

from collections import defaultdict

from fastapi import APIRouter

from maintainer.api import schemas
from maintainer.api.access import on_any
from maintainer.api.deps import PersonIn, PortsIn
from maintainer.domain.access import Role
from maintainer.domain.replica import Duty, DutyKind

router = APIRouter(tags=["replicas"])


@router.get(
    "/replicas",
    summary="The replicas that work, and their duties",
    dependencies=[on_any(Role.VIEWER)],
)
def get_replicas(ports: PortsIn, person: PersonIn) -> list[schemas.ReplicaOut]:
    """Each replica that scans, plans and runs jobs; those that only serve the API have no duty."""
    found: dict[str, list[Duty]] = defaultdict(list)
    for held in ports.store.duties():
        duty, duties = held.duty, found[held.holder]
        if duty.kind is DutyKind.WORK:
            continue
        if not duty.kind.is_of_a_catalog or person.sees_catalog(duty.scope):
            duties.append(duty)
    return [
        schemas.ReplicaOut(
            name=name,
            duties=[schemas.DutyOut(kind=duty.kind, catalog=duty.scope or None) for duty in duties],
        )
        for name, duties in sorted(found.items())
    ]
