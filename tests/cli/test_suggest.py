"""`maintainer suggest` writes a policy that the daemon accepts, and says what it would do now."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from typer.testing import CliRunner, Result

from maintainer.adapters.policies.reading import parse_policy
from maintainer.cli import commands
from maintainer.cli.tables import suggest
from maintainer.domain.policy import PolicyLayer
from maintainer.steps.scan import scan
from tests.cli.conftest import open_instead
from tests.steps.world import World

TABLE = "lake.sales.orders"


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()
    open_instead(monkeypatch, made, suggest)
    return made


def call(*words: str) -> Result:
    return CliRunner().invoke(commands.application, ["suggest", *words])


def test_the_policy_is_printed_and_what_it_would_do_is_said_beside_it(world: World) -> None:
    world.put("orders", small_files=60)
    result = call(TABLE)
    assert result.exit_code == 0, result.output
    assert isinstance(parse_policy(result.stdout, "suggested.yaml"), PolicyLayer)
    assert 'tables: "lake.sales.orders"\nmode: observe\n' in result.stdout
    assert "rewrite_data_files would run now: average file size 1000 B" in result.stderr
    assert "rewrite_manifests would not run now (below_threshold): manifests 1" in result.stderr
    assert world.store.plans() == (), "nothing is stored but the measurement"


def test_the_history_that_was_measured_decides(world: World) -> None:
    for files in (10, 500):
        world.put("orders", small_files=files)
        scan(world.ports)
        world.clock.advance(timedelta(hours=12))
    answer = json.loads(call(TABLE, "--format", "json").stdout)
    values = {value["path"]: value for value in answer["values"]}
    assert answer["table"] == TABLE
    assert values["rules.rewrite_data_files.cooldown"]["text"] == "3h"
    assert (
        "files of 1000 B arrive in a day"
        in (values["rules.rewrite_data_files.when.small_file_count_above"]["reason"])
    )


def test_an_unknown_table_is_named(world: World) -> None:
    world.put("orders")
    result = call("lake.sales.nothing")
    assert result.exit_code == 2
    assert "lake.sales.nothing does not exist" in result.output
