"""What a person reads after a slip: a mistyped table, a folder without policies, a count of one."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from maintainer.cli import commands
from maintainer.cli.jobs import pins
from maintainer.cli.setup import policies as policy_commands
from maintainer.cli.tables import why
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.steps.scan import scan
from tests.cli.conftest import open_instead
from tests.samples import NOW
from tests.steps.world import World


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()
    open_instead(monkeypatch, made, pins, why, policy_commands)
    return made


def call(*words: str) -> Result:
    return CliRunner().invoke(commands.application, list(words))


MISTYPED = "lake.sales.order"
NAMING_COMMANDS = [
    ("scan",),
    ("check",),
    ("plan",),
    ("run",),
    ("why",),
    ("policies", "explain"),
    ("pin",),
    ("unpin",),
]


@pytest.mark.parametrize("command", NAMING_COMMANDS, ids=" ".join)
@pytest.mark.parametrize("is_scanned", [True, False], ids=["scanned", "new store"])
def test_a_mistyped_table_does_not_exist_and_the_nearest_name_is_offered(
    world: World, command: tuple[str, ...], is_scanned: bool
) -> None:
    world.put("orders")
    if is_scanned:
        scan(world.ports)
    result = call(*command, MISTYPED)
    assert result.exit_code == 2
    assert (
        result.stderr.splitlines()[-1]
        == f"error: table {MISTYPED} does not exist; did you mean lake.sales.orders?"
    )


def test_a_name_unlike_all_others_gets_no_suggestion(world: World) -> None:
    world.put("orders")
    assert call("why", "lake.zoo.quagga").stderr == "error: table lake.zoo.quagga does not exist\n"


def test_a_table_that_was_known_and_is_gone_was_dropped(world: World) -> None:
    table = world.put("orders")
    scan(world.ports)
    world.catalog.drop(table)
    result = call("why", str(table))
    assert (result.exit_code, result.stderr) == (
        2,
        ("error: table lake.sales.orders no longer exists: its catalog had it at the last scan\n"),
    )


def test_a_catalog_that_cannot_be_listed_gives_no_suggestion_and_no_second_error(
    world: World,
) -> None:
    world.put("orders")
    world.catalog.fail_namespace(("sales",), "not for you")
    assert call("why", MISTYPED).stderr == f"error: table {MISTYPED} does not exist\n"


def test_a_table_that_exists_and_cannot_be_read_says_why(world: World) -> None:
    table = world.put("orders")
    world.catalog.put(TableFault(table, FaultKind.METADATA_CORRUPT, "not JSON", NOW))
    result = call("why", str(table))
    assert (result.exit_code, result.stderr) == (
        2,
        "error: table lake.sales.orders cannot be measured (metadata_corrupt): not JSON\n",
    )


@pytest.mark.parametrize("files", [(), ("notes.txt", ".hidden.yaml")], ids=["empty", "other files"])
def test_a_check_of_a_folder_without_policies_fails(tmp_path: Path, files: tuple[str, ...]) -> None:
    for name in files:
        (tmp_path / name).write_text("tables: lake.*\n")
    result = call("policies", "check", str(tmp_path))
    assert (result.exit_code, result.output) == (
        2,
        f"error: {tmp_path} has no policy files; they are named *.yaml or *.yml\n",
    )


def test_a_check_of_a_folder_that_is_not_there_fails(tmp_path: Path) -> None:
    result = call("policies", "check", str(tmp_path / "polices"))
    assert (result.exit_code, "cannot be read (No such file or directory)" in result.output) == (
        2,
        True,
    )


def test_one_table_is_not_one_tables(world: World) -> None:
    world.put("orders")
    assert call("check").stderr.splitlines()[-1] == "1 table measured, 1 at critical or worse"
    assert (
        call("plan", "lake.nothing.*").stderr
        == "error: no table matches 'lake.nothing.*'; there is 1 table\n"
    )
    world.put("returns")
    assert call("check").stderr.splitlines()[-1] == "2 tables measured, 2 at critical or worse"
    assert (
        call("plan", "lake.nothing.*").stderr
        == "error: no table matches 'lake.nothing.*'; there are 2 tables\n"
    )
