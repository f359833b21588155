"""A table's owner switches it off by a property; that holds for what a person asks for as well."""

from __future__ import annotations

from dataclasses import replace

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import JobState
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import RuleName
from maintainer.requests.run import request_run
from maintainer.steps.scan import scan
from maintainer.steps.submit import start_pending
from tests.steps.world import World

REWRITE = (RuleName.REWRITE_DATA_FILES,)


def switch(world: World, table: TableIdentifier, text: str) -> None:
    entry = world.look(table)
    properties = {**entry.properties, "maintainer.enabled": text}
    world.replace(
        replace(entry, properties=properties, metadata_location=f"{entry.metadata_location}-{text}")
    )


def test_a_person_gets_no_job_on_a_table_that_its_owner_has_switched_off() -> None:
    world = World()
    table = world.put("orders")
    scan(world.ports)
    switch(world, table, "false")
    for rules in (REWRITE, ()):
        made, job = request_run(world.ports, table, rules, "person")
        assert job is None
        assert {skipped.code for skipped in made.skipped} == {SkipCode.DISABLED}
    switch(world, table, "true")
    assert request_run(world.ports, table, REWRITE, "person")[1] is not None


def test_an_owner_who_switches_a_table_off_stops_what_a_person_asked_for() -> None:
    world = World()
    table = world.put("orders")
    scan(world.ports)
    _, job = request_run(world.ports, table, REWRITE, "person")
    assert job is not None
    switch(world, table, "false")
    assert start_pending(world.ports) == 0
    ended = world.stored(job)
    assert ended.state is JobState.CANCELLED
    assert "table property maintainer.enabled=false" in (ended.failure_message or "")
