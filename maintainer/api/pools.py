"""The pools of Spark with what their drivers reported, and the replicas with their duties."""

from __future__ import annotations

from collections import defaultdict

from fastapi import APIRouter

from maintainer.api import schemas
from maintainer.api.access import on_any
from maintainer.api.deps import PersonIn, PortsIn
from maintainer.decide.spark_fitness import find_faults, find_old_versions
from maintainer.domain.access import Person, Role
from maintainer.domain.driver import SparkFacts
from maintainer.domain.replica import Duty, DutyKind
from maintainer.ports import Ports

router = APIRouter()


@router.get(
    "/pools", tags=["pools"], summary="The pools of Spark", dependencies=[on_any(Role.VIEWER)]
)
def get_pools(ports: PortsIn, person: PersonIn) -> list[schemas.PoolOut]:
    """Each pool with the versions and catalogs of its newest driver, and why it cannot run jobs."""
    known = ports.store.spark_facts()
    return [
        _write(ports, person, name, max_jobs, known.get(name))
        for name, max_jobs in sorted(ports.runner.capacities.items())
    ]


def _write(
    ports: Ports, person: Person, name: str, max_jobs: int, facts: SparkFacts | None
) -> schemas.PoolOut:
    obstacle = ports.runner.obstacles.get(name)
    catalogs = {**({} if facts is None else facts.catalogs), **ports.no_runner}
    return schemas.PoolOut(
        name=name,
        max_jobs=max_jobs,
        reported_at=None if facts is None else facts.at,
        spark=(facts and facts.spark) or None,
        scala=(facts and facts.scala) or None,
        java=(facts and facts.java) or None,
        iceberg=(facts and facts.iceberg) or None,
        catalogs=[
            schemas.PoolCatalogOut(name=catalog, error=error or None)
            for catalog, error in sorted(catalogs.items())
            if person.sees_catalog(catalog)
        ],
        obstacles=[
            *(() if obstacle is None else (obstacle,)),
            *(() if facts is None else find_old_versions(facts)),
        ],
        restrictions=[f"{rule}: {fault.sentence}" for rule, fault in find_faults(facts)],
    )


@router.get(
    "/replicas",
    tags=["replicas"],
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
