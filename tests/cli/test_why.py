from __future__ import annotations

import json
from datetime import timedelta

import pytest
from typer.testing import CliRunner, Result

from maintainer.cli import commands
from maintainer.cli.output.show import weigh
from maintainer.cli.tables import why
from maintainer.domain.cost import Cost, CostBasis, Score
from maintainer.requests.run import request_run
from maintainer.steps.plan import plan
from maintainer.steps.scan import scan
from tests.cli.conftest import open_instead
from tests.steps.world import World

TABLE = "lake.sales.orders"


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()
    open_instead(monkeypatch, made, why)
    return made


def call(*words: str) -> Result:
    return CliRunner().invoke(commands.application, list(words))


def test_why_answers_for_a_table_that_nobody_has_measured_yet(world: World) -> None:
    world.put("orders", small_files=60)
    result = call("why", TABLE)
    assert result.exit_code == 0, result.output
    assert f"{TABLE} is critical since 2026-03-04 12:00:00 UTC" in result.output
    assert "Rewriting manifests is not due: manifests 1, threshold above 100." in result.output
    assert json.loads(call("why", TABLE, "--format", "json").output)["plan"]["planned"][0][
        "sentence"
    ] == (
        "Compacting data files is worth doing: average file size 1000 B, threshold below 32 MiB; "
        "60 files in 1 group would become 1."
    )
    assert "What ran last" not in result.output
    assert world.store.plans() == ()


def test_why_tells_the_jobs_and_how_the_verdicts_changed(world: World) -> None:
    table = world.put("orders", small_files=60)
    scan(world.ports)
    plan(world.ports)
    world.clock.advance(timedelta(hours=1))
    request_run(world.ports, table, (), "person")
    plan(world.ports)
    answer = json.loads(call("why", TABLE, "--format", "json").output)
    assert [
        (verdict["code"], verdict["at"], verdict["until"])
        for verdict in answer["verdicts"]
        if verdict["rule"] == "rewrite_data_files"
    ] == [
        ("in_flight", "2026-03-04T13:00:00Z", None),
        ("planned", "2026-03-04T12:00:00Z", "2026-03-04T13:00:00Z"),
    ]
    assert (answer["band"], answer["band_since"], answer["previous_band"]) == (
        "critical",
        "2026-03-04T12:00:00Z",
        None,
    )
    assert [job["state"] for job in answer["jobs"]] == ["pending"]
    assert answer["plan"]["skipped"][0]["sentence"].startswith(
        "Compacting data files is due and waits for the running job: job m-1"
    )
    shown = call("why", TABLE).output
    assert "Recent jobs and their results" in shown
    assert "Earlier decisions" in shown


def test_why_says_why_what_is_planned_waits(world: World) -> None:
    for name in ("orders", "lines", "stock"):
        world.put(name, small_files=60)
    scan(world.ports)
    plan(world.ports)
    answers = [
        json.loads(call("why", f"lake.sales.{name}", "--format", "json").output)["plan"]["planned"][
            0
        ]["admission"]
        for name in ("orders", "lines", "stock")
    ]
    assert sorted((answer["is_admitted"], answer["code"]) for answer in answers) == [
        (False, "queued"),
        (True, None),
        (True, None),
    ]
    waiting = next(answer for answer in answers if not answer["is_admitted"])
    assert waiting["sentence"] == "Compacting data files waits: no free slot; 2 ahead in the queue."


def test_why_of_a_table_that_is_not_there_is_a_usage_error(world: World) -> None:
    assert world.store.table_names() == ()
    result = call("why", TABLE)
    assert result.exit_code == 2
    assert "does not exist" in result.stderr


def test_what_an_action_takes_and_its_rank_are_reported_where_they_are_known() -> None:
    cost = Cost(0.5, 0.8, 90.0, CostBasis.CATALOG, 7)
    assert weigh(cost, Score("ours", 1234.5, (), "chance 0.9 x benefit 98")) == [
        "expected: 90 s and 0.5 GB-hours, from jobs of its catalog",
        "priority by ours: chance 0.9 x benefit 98",
    ]
    assert weigh(None, None) == []
