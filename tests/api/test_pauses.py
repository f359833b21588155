from __future__ import annotations

from dataclasses import replace

import pytest

from maintainer.requests.run import request_run
from maintainer.steps.scan import scan
from maintainer.steps.submit import start_pending
from tests.api.serving import Client, expect_problem
from tests.steps.world import World

PAUSES = "/api/v1/pauses"


@pytest.fixture
def world(client: Client) -> World:
    """What the API pauses."""
    made = World()
    made.put("orders")
    scan(made.ports)
    client.daemon.ports = replace(made.ports, clock=client.daemon.ports.clock)
    return made


def test_nothing_is_paused_at_first(client: Client, world: World) -> None:
    assert client.get(PAUSES).json() == {
        "items": [],
        "is_draining": False,
        "is_drained": False,
        "running_jobs": [],
    }
    assert world.store.scope_pauses() == ()


def test_a_scope_is_paused_listed_and_resumed(client: Client, world: World) -> None:
    made = client.post(PAUSES, {"scope": "lake.sales", "reason": "a migration"})
    assert made.status_code == 201
    assert made.json() == {
        "scope": "lake.sales.*",
        "by": "person",
        "at": "2026-03-01T12:00:00Z",
        "reason": "a migration",
        "is_drain": False,
    }
    client.post(PAUSES, {"scope": "lake.sales.orders"})
    assert [item["scope"] for item in client.get(PAUSES).json()["items"]] == [
        "lake.sales.*",
        "lake.sales.orders",
    ]
    assert client.send("DELETE", PAUSES, query={"scope": "lake.sales"}).status_code == 204
    assert client.send("DELETE", PAUSES, query={"scope": "lake.sales.orders"}).status_code == 204
    assert "there is no pause of 'lake.sales.*'" in expect_problem(
        client.send("DELETE", PAUSES, query={"scope": "lake.sales"}), 404
    )
    assert world.store.scope_pauses() == ()


def test_a_drain_shows_what_still_runs(client: Client, world: World) -> None:
    request_run(world.ports, next(iter(world.store.table_names())), (), "person")
    start_pending(world.ports)
    (job,) = world.store.unfinished_jobs()
    assert client.post(PAUSES, {"drain": True}).json()["is_drain"] is True
    shown = client.get(PAUSES).json()
    assert (shown["is_draining"], shown["is_drained"], shown["running_jobs"]) == (
        True,
        False,
        [job.job_id],
    )
    assert client.send("DELETE", PAUSES).status_code == 204


def test_the_kill_switch_asks_what_runs_to_end(client: Client, world: World) -> None:
    request_run(world.ports, next(iter(world.store.table_names())), (), "person")
    start_pending(world.ports)
    client.post(PAUSES, {"scope": "*", "cancel": True})
    assert [job.cancel_requested_by for job in world.store.unfinished_jobs()] == ["person"]


@pytest.mark.parametrize(
    "body",
    [
        {"scope": "a b"},
        {"scope": "lake.*", "drain": True},
        {"scope": "x" * 501},
        {"reason": "x" * 1001},
    ],
)
def test_what_names_no_scope_is_refused(
    client: Client, world: World, body: dict[str, object]
) -> None:
    assert client.post(PAUSES, body).status_code in {400, 422}
    assert world.store.scope_pauses() == ()


def test_a_table_that_is_not_known_cannot_be_paused(client: Client, world: World) -> None:
    expect_problem(client.post(PAUSES, {"scope": "lake.sales.nobody"}), 404)
    assert world.store.paused_tables() == {}
