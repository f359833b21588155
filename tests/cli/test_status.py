"""`maintainer status`: one sentence first, then what needs a person; exit 1 if something does."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from maintainer.cli import commands
from maintainer.cli.tables import status
from maintainer.domain.audit import BY_PROOF
from maintainer.domain.plan import Plan
from maintainer.domain.status import TableState
from maintainer.ports.store.tables import Pause
from maintainer.requests import status as status_requests
from maintainer.steps.isolation import TookTooLongError
from maintainer.steps.plan import plan
from maintainer.steps.scan import scan
from tests.cli.conftest import open_instead
from tests.samples import NOW
from tests.steps.world import ENFORCE, World, layer


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()
    open_instead(monkeypatch, made, status)
    return made


def call(*words: str) -> Result:
    done = CliRunner().invoke(commands.application, ["status", *words], env={"COLUMNS": "200"})
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    return done


def read(*words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(call(*words, "--format", "json").stdout)
    return found


def states(*words: str) -> dict[str, str]:
    return {one["table"]: one["state"] for one in read(*words)["items"]}


def test_a_fleet_that_was_never_scanned_is_not_well(world: World) -> None:
    done = call()
    assert (done.exit_code, done.stdout) == (1, "No scan has finished yet: 0 tables are known.\n")
    assert done.stderr == "`maintainer scan` measures the tables.\n"
    assert not world.store.table_names()


def test_a_fleet_without_a_problem_is_well_and_says_when_it_was_scanned(world: World) -> None:
    world.put("orders", small_files=1)
    scan(world.ports)
    world.clock.advance(timedelta(seconds=20))
    done = call()
    assert (done.exit_code, done.stderr) == (0, "")
    first, second = done.stdout.splitlines()
    assert first == "All well: 1 table, last scan 20 s ago."
    assert second == "1 small by nature"


def test_a_table_without_a_stored_plan_is_planned_for_its_status_and_nothing_is_stored(
    world: World,
) -> None:
    world.put("orders")
    scan(world.ports)
    assert states() == {"lake.sales.orders": "due"}
    assert not world.store.plans()
    plan(world.ports)
    assert states() == {"lake.sales.orders": "due"}


def test_a_plan_of_another_policy_is_made_again(world: World) -> None:
    world.put("orders")
    scan(world.ports)
    plan(world.ports)
    world.policies.layers = (layer(ENFORCE.replace("enforce", "observe")),)
    assert states() == {"lake.sales.orders": "observed"}


def test_a_plan_of_older_metadata_is_made_again(world: World) -> None:
    orders = world.put("orders", small_files=1)
    scan(world.ports)
    plan(world.ports)
    assert states() == {str(orders): "small_by_nature"}
    many = world.put("many")
    world.replace(replace(world.look(many), table=orders, table_uuid="uuid-orders"))
    world.catalog.drop(many)
    scan(world.ports)
    assert states() == {str(orders): "due"}


def test_a_plan_beyond_the_time_of_its_next_check_is_made_again(world: World) -> None:
    world.policies.layers = (layer(f"{ENFORCE}window: {{cron: '0 13 * * *', duration: 1h}}\n"),)
    orders = world.put("orders")
    scan(world.ports)
    plan(world.ports)
    (waiting,) = read()["items"]
    assert (waiting["state"], waiting["until"]) == ("waiting", "2026-03-04T13:00:00Z")
    world.clock.advance(timedelta(minutes=61))
    assert states() == {str(orders): "due"}


def test_a_plan_that_takes_too_long_stays_as_it_was(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def take_too_long(*_: object) -> Plan:
        raise TookTooLongError

    world.put("orders")
    scan(world.ports)
    monkeypatch.setattr(status_requests, "make_plan", take_too_long)
    (found,) = read()["items"]
    assert (found["state"], found["sentence"]) == ("waiting", "No plan has been made yet.")


def test_observed_tables_need_a_person_and_the_command_names_them(world: World) -> None:
    world.policies.layers = (layer(ENFORCE.replace("enforce", "observe")),)
    world.put("orders")
    scan(world.ports)
    done = call()
    assert done.exit_code == 1
    assert done.stdout.splitlines()[0] == (
        "1 table is critical: it is only observed. Last scan 0 s ago."
    )
    assert "1 table would be maintained if its policy were in mode enforce" in done.stdout
    assert "maintainer plan lake.sales.orders" in done.stdout


def test_a_table_that_no_policy_selects_is_not_covered(world: World) -> None:
    world.policies.layers = (layer(ENFORCE.replace('"*"', "lake.hr.*")),)
    world.put("orders")
    scan(world.ports)
    assert states() == {"lake.sales.orders": "not_covered"}


def test_a_job_at_work_is_maintenance_and_a_failed_proof_needs_a_person(world: World) -> None:
    world.put("orders")
    scan(world.ports)
    world.begin()
    done = call()
    assert done.exit_code == 0
    assert done.stdout.startswith("1 table is critical: it is being maintained")
    stock = world.put("stock", small_files=1)
    scan(world.ports)
    world.store.set_pause(stock, Pause(BY_PROOF, NOW, "rows differ"))
    found = call()
    assert found.exit_code == 1
    assert "1 paused, 1 being maintained" in found.stdout
    assert "rows differ.\n" in found.stdout
    assert "maintainer why lake.sales.stock" in found.stdout


def test_a_place_has_its_own_status(world: World) -> None:
    world.put("orders", small_files=1)
    stock = world.put("stock", small_files=1)
    scan(world.ports)
    world.store.set_pause(stock, Pause(BY_PROOF, NOW, "rows differ"))
    assert [call(place).exit_code for place in ("lake", "lake.sales", "lake.sales.stock")] == [
        1
    ] * 3
    assert call("lake.sales.orders").stdout.startswith("All well: 1 table, last scan ")
    assert list(states("lake.sales.stock")) == ["lake.sales.stock"]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("lake.slaes", "no known table is in lake.slaes; did you mean lake.sales"),
        (
            "lake.sales.order",
            "no known table is in lake.sales.order; did you mean lake.sales.orders",
        ),
        ("lake.*", "scope 'lake.*' is a glob; write a catalog, a namespace, or * for all"),
    ],
)
def test_an_unknown_place_is_refused_with_similar_names(
    world: World, place: str, message: str
) -> None:
    world.put("orders")
    world.put("orders_2")
    scan(world.ports)
    done = call(place)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr


def test_the_json_has_the_sentence_the_tables_by_state_and_each_table(world: World) -> None:
    world.put("orders")
    world.put("stock", small_files=1)
    scan(world.ports)
    plan(world.ports)
    found = read()
    assert found["sentence"].startswith("1 table is critical: it is due. Last scan ")
    assert list(found["states"]) == [state.value for state in TableState]
    assert sum(found["states"].values()) == found["tables"] == 2
    assert (found["is_well"], found["needs"], found["needs_total"]) == (True, [], 0)
    assert [one["table"] for one in found["items"]] == ["lake.sales.orders", "lake.sales.stock"]
    assert found["items"][0]["command"] == "maintainer plan lake.sales.orders"


def test_the_status_of_a_real_lake_needs_no_daemon(real_lake: Path) -> None:
    config = real_lake / "maintainer.yaml"
    before = call("--config", str(config))
    assert (before.exit_code, before.stdout.splitlines()[0]) == (
        1,
        "No scan has finished yet: 0 tables are known.",
    )
    CliRunner().invoke(commands.application, ["scan", "--config", str(config)])
    after = call("--config", str(config))
    assert after.exit_code == 0, after.output
    assert after.stdout.startswith("All well: 1 table, last scan ")
    assert after.stdout.splitlines()[1] == "1 not covered"
