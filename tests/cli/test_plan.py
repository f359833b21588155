"""`maintainer plan`: what is planned, what it waits for, and until when."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from maintainer.cli import commands
from maintainer.domain.admission import AdmissionRules
from maintainer.domain.policy import Window
from maintainer.steps.plan import plan
from maintainer.steps.scan import scan
from tests.cli.conftest import open_instead
from tests.steps.world import ENFORCE, World, layer


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()
    open_instead(monkeypatch, made)
    return made


def call(*words: str) -> Result:
    result = CliRunner().invoke(commands.application, ["plan", *words], env={"COLUMNS": "300"})
    assert result.exit_code == 0, result.output
    return result


def admissions(*tables: str) -> dict[str, Any]:
    return {
        made["table"]: made["planned"][0]["admission"]
        for made in json.loads(call(*tables, "--format", "json").output)
    }


def test_what_is_planned_says_whether_it_starts_and_what_it_waits_for(world: World) -> None:
    for name in ("lines", "orders", "stock"):
        world.put(name)
    scan(world.ports)
    plan(world.ports)
    found = admissions()
    assert [
        found[f"lake.sales.{name}"]["is_admitted"] for name in ("lines", "orders", "stock")
    ] == [True, True, False]
    waiting = {
        "is_admitted": False,
        "code": "queued",
        "sentence": "Compacting data files waits: no free slot; 2 ahead in the queue.",
        "next_at": None,
        "ahead": 2,
    }
    assert waiting.items() <= found["lake.sales.stock"].items()
    shown = call().output
    assert shown.count("Compacting data files waits: no free slot; 2 ahead in the queue.") == 1
    assert shown.count("when its turn comes") == 1


def test_a_blackout_of_all_tables_is_reported_with_its_end(world: World) -> None:
    world.put("orders")
    scan(world.ports)
    plan(world.ports)
    world.ports = replace(
        world.ports, admission=AdmissionRules(blackouts=(Window("0 12 * * *", timedelta(hours=1)),))
    )
    (waits,) = admissions("lake.sales.orders").values()
    assert (waits["code"], waits["next_at"]) == ("blackout", "2026-03-04T13:00:00Z")
    shown = call("lake.sales.orders").output
    assert "Compacting data files waits, until 2026-03-04 13:00 UTC" in shown
    assert shown.count("2026-03-04 13:00 UTC") == 2, "in the sentence, and as the next look"


def test_of_what_no_stored_plan_wants_admission_says_nothing_yet(world: World) -> None:
    world.put("orders")
    assert admissions("lake.sales.orders") == {"lake.sales.orders": None}
    assert world.store.plans() == ()


def two_tables(world: World) -> None:
    """One that is to be compacted, and one where no rule has anything to do."""
    world.put("orders")
    world.put("quiet", small_files=1)
    scan(world.ports)


def test_a_plan_of_the_fleet_is_short(world: World) -> None:
    two_tables(world)
    shown = call()
    assert shown.stdout.splitlines() == [
        "table              rule                starts",
        "lake.sales.orders  rewrite_data_files  now",
        "    average file size 1000 B, threshold below 32 MiB; 60 files in 1 group would become 1",
        "lake.sales.quiet   nothing planned     -",
        (
            "    nothing_to_gain: rewrite_data_files; below_threshold: "
            "rewrite_position_delete_files, rewrite_manifests, expire_snapshots"
        ),
    ]
    assert shown.stderr == "details: name a table, or give -v\n"


@pytest.mark.parametrize(
    "words", [("-v",), ("lake.sales.*",), ("lake.sales.orders",)], ids=" ".join
)
def test_a_plan_has_its_details_when_they_are_asked_for_or_tables_are_named(
    world: World, words: tuple[str, ...]
) -> None:
    two_tables(world)
    shown = call(*words)
    assert "CALL `lake`.system.rewrite_data_files(" in shown.stdout
    assert "below_threshold" in shown.stdout
    assert shown.stderr == ""


def test_in_observe_mode_the_plan_says_what_would_run_and_at_what_cost(world: World) -> None:
    world.put("orders")
    world.policies.layers = (layer(ENFORCE.replace("enforce", "observe")),)
    scan(world.ports)
    for shown in (call().output, call("lake.sales.orders").output):
        assert "enforce mode would start it, because 60 files in 1 group would become 1" in shown
        assert "expected: " in shown
        assert "GB-hours" in shown
    assert "would, if enforced" in call().output
