"""`maintainer policies` in a simulated world, and on files and a store of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner, Result

from maintainer.adapters.store import open_store
from maintainer.cli import commands
from maintainer.cli import policies as policy_commands
from maintainer.health.measure import measure
from maintainer.policy.grade import grade
from maintainer.policy.effective import effective
from tests.samples import NOW, inventory
from tests.steps.world import ENFORCE, World, layer


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()

    @contextmanager
    def open_world(_: object) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(ports=made.ports)

    for module in (commands, policy_commands):
        monkeypatch.setattr(module, "load", lambda _: None)
        monkeypatch.setattr(module, "open_app", open_world)
    return made


def call(*words: str) -> Result:
    return CliRunner().invoke(commands.application, list(words))


def write_home(home: Path, **files: str) -> Path:
    """A configuration with policy files; returns its path."""
    (home / "policies").mkdir()
    for name, text in files.items():
        (home / "policies" / f"{name}.yaml").write_text(text)
    config = home / "maintainer.yaml"
    config.write_text("catalogs:\n  lake: {type: sql, uri: 'sqlite:///catalog.db', warehouse: warehouse}\n")
    return config


def know_table(home: Path) -> None:
    """What a scan leaves behind."""
    health = measure(inventory(()))
    store = open_store(f"sqlite:///{home / 'maintainer.db'}")
    store.record_health(health, grade(health, effective((), health.table, {}), NOW))
    store.close()


def test_explain_tells_where_each_value_comes_from(world: World) -> None:
    table = world.put("orders")
    world.policies.layers = (layer(ENFORCE), layer("tables: lake.sales.*\nrules: {expire_snapshots: {keep: 4}}", "sales.yaml"))
    done = call("policies", "explain", str(table), "--format", "json")
    assert done.exit_code == 0, done.stderr
    told = {line["path"]: (line["value"], line["source"]) for line in json.loads(done.stdout)}
    assert told["rules.expire_snapshots.keep"] == ("4", "sales.yaml:2")
    assert told["rules.expire_snapshots.max_age"] == ("5d", "all.yaml:7")
    assert told["target_file_size"] == ("512MiB", "Iceberg's default")


def test_explain_names_both_files_that_disagree_and_fails(world: World) -> None:
    table = world.put("orders")
    world.policies.layers = (layer(ENFORCE, "a.yaml"), layer("tables: '*'\nrules: {expire_snapshots: {keep: 4}}", "b.yaml"))
    done = call("policies", "explain", str(table))
    assert done.exit_code == 2
    assert "error: a.yaml:7: rules.expire_snapshots.keep is 10 here and 4 at b.yaml:2" in done.stderr
    assert "rules.expire_snapshots.max_age" in done.stdout


def test_a_check_names_files_of_one_pattern_that_disagree(tmp_path: Path) -> None:
    write_home(tmp_path, a="tables: lake.*\npriority: 1\n", b="tables: lake.*\npriority: 2\n")
    done = call("policies", "check", str(tmp_path / "policies"))
    assert done.exit_code == 2
    assert done.stderr.startswith("policies/a.yaml:2: priority is 1 here and 2 at policies/b.yaml:2")


def test_a_check_holds_crossing_patterns_against_the_known_tables(tmp_path: Path) -> None:
    table = inventory(()).table
    assert str(table) == "lake.sales.orders"
    config = write_home(tmp_path, a="tables: lake.s*.*\npriority: 1\n", b="tables: lake.*.o*\npriority: 2\n")
    done = call("policies", "check", "--config", str(config))
    assert done.exit_code == 0, done.stderr
    assert not (tmp_path / "maintainer.db").exists(), "checking files makes no store"
    know_table(tmp_path)
    done = call("policies", "check", "--config", str(config))
    assert done.exit_code == 2
    assert f"(as for {table})" in done.stderr


def test_a_check_goes_without_a_store_that_cannot_be_read(tmp_path: Path) -> None:
    config = write_home(tmp_path, a="tables: lake.*\npriority: 1\n")
    (tmp_path / "maintainer.db").write_text("this is no database, but a text that is long enough to be looked at as one")
    done = call("policies", "check", "--config", str(config))
    assert done.exit_code == 0
    assert "only equal patterns were compared" in done.stderr
    assert done.stdout == "1 policy files are valid: a.yaml\n"


def test_an_ambiguous_table_is_planned_for_nothing(world: World) -> None:
    table = world.put("orders")
    world.policies.layers = (layer(ENFORCE, "a.yaml"), replace(layer(ENFORCE.replace("keep: 10", "keep: 11"), "b.yaml")))
    done = call("plan", str(table), "--format", "json")
    (plan,) = json.loads(done.stdout)
    assert plan["planned"] == []
    assert {skipped["code"] for skipped in plan["skipped"]} == {"ambiguous_policy"}
