"""No policy without an effect is passed over in silence by a command that decides."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from maintainer.cli import commands
from maintainer.cli.output import policy_warnings
from maintainer.domain.policy import PolicyProblem
from maintainer.steps.scan import scan
from tests.cli.conftest import open_instead
from tests.steps.world import World, layer

MISTYPED = "tables has 'lake.sales.ordres', which matches no table; did you mean lake.sales.orders?"
DECIDING = (
    ("scan",),
    ("check",),
    ("plan",),
    ("status",),
    ("why", "lake.sales.orders"),
    ("report",),
    ("run", "lake.sales.orders", "--yes", "--action", "rewrite_manifests"),
)


def call(*words: str) -> Result:
    return CliRunner().invoke(commands.application, list(words))


@pytest.fixture
def home(real_lake: Path) -> Path:
    """A lake with one table, and a policy whose name is mistyped."""
    (real_lake / "policies" / "orders.yaml").write_text("tables: lake.sales.ordres\n")
    return real_lake


def lines(done: Result, word: str) -> list[str]:
    return [line for line in done.stderr.splitlines() if line.startswith(f"{word}: ")]


@pytest.mark.parametrize("words", DECIDING)
def test_each_command_that_decides_names_a_pattern_without_a_table(
    home: Path, words: tuple[str, ...]
) -> None:
    config = ("--config", str(home / "maintainer.yaml"))
    assert call("scan", *config).exit_code == 0
    done = call(*words, *config)
    assert lines(done, "warning")[:1] == [f"warning: orders.yaml: {MISTYPED}"], done.stderr


@pytest.mark.parametrize("words", [words for words in DECIDING if words[0] != "run"])
def test_each_command_that_decides_names_a_refused_file_and_a_missing_folder(
    home: Path, words: tuple[str, ...]
) -> None:
    config = ("--config", str(home / "maintainer.yaml"))
    file = home / "policies" / "orders.yaml"
    file.write_text("tables: lake.*\nmdoe: enforce\n")
    refused = call(*words, *config)
    sentence = "policies/orders.yaml:2: unknown key 'mdoe', did you mean 'mode'?"
    assert lines(refused, "warning") == [f"warning: {sentence}"], refused.stderr
    file.unlink()
    file.parent.rmdir()
    (missing,) = lines(call(*words, *config), "warning")
    assert missing == (
        f"warning: policies: the policy directory {home}/policies cannot be read (No such file or "
        f"directory); only the built-in default is in force"
    )


def test_a_check_of_policies_fails_for_a_name_without_a_table(home: Path) -> None:
    config = ("--config", str(home / "maintainer.yaml"))
    assert call("policies", "check", *config).exit_code == 0, "no scan has listed the tables yet"
    call("scan", *config)
    done = call("policies", "check", *config)
    assert (done.exit_code, done.stderr) == (1, f"orders.yaml: {MISTYPED}\n")
    (home / "policies" / "orders.yaml").write_text("tables: lake.hr.*\n")
    glob = call("policies", "check", *config)
    note = "note: orders.yaml: tables has 'lake.hr.*', which matches no table\n"
    assert (glob.exit_code, glob.stderr) == (0, note)


def test_a_check_of_policies_knows_the_catalogs_before_the_first_scan(home: Path) -> None:
    (home / "policies" / "orders.yaml").write_text("tables: my.sales.orders\n")
    done = call("policies", "check", "--config", str(home / "maintainer.yaml"))
    sentence = "tables has 'my.sales.orders', and no catalog 'my' is configured (there is lake)"
    assert (done.exit_code, done.stderr) == (1, f"orders.yaml: {sentence}\n")


def test_doctor_finds_a_pattern_without_a_table(home: Path) -> None:
    config = ("--config", str(home / "maintainer.yaml"))
    call("scan", *config)
    found = json.loads(call("doctor", "--format", "json", *config).stdout)
    (policy,) = [one for one in found if one["what"] == "policy"]
    assert (policy["is_fine"], policy["finding"]) == (False, f"orders.yaml: {MISTYPED}")


def test_many_problems_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    world.put("orders")
    scan(world.ports)
    world.policies.layers = tuple(
        layer(f"tables: lake.sales.none_{number}", f"{number:02}.yaml")
        for number in range(policy_warnings.MOST_LINES + 2)
    )
    open_instead(monkeypatch, world)
    warnings = lines(call("plan"), "warning")
    assert len(warnings) == policy_warnings.MOST_LINES + 1
    assert warnings[-1] == (
        "warning: 2 more problems of policies; `maintainer policies check` lists all"
    )


def test_a_source_with_a_problem_is_named_as_the_page_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    world.put("orders")
    world.policies.problems = (PolicyProblem("team/a.yaml:3", "priority is 200, above 100"),)
    open_instead(monkeypatch, world)
    assert "warning: team/a.yaml:3: priority is 200, above 100" in lines(call("plan"), "warning")
