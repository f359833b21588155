"""`maintainer policies` in a simulated world, and on files and a store of its own."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from maintainer.adapters.store import open_store
from maintainer.cli import commands
from maintainer.cli.setup import diagnose
from maintainer.cli.setup import policies as policy_commands
from maintainer.decide.grading.bands import grade
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.policy import PolicyProblem
from maintainer.measure.health import measure
from maintainer.policy.effective import effective
from maintainer.steps.plan import plan
from maintainer.steps.scan import scan
from tests.cli.conftest import open_instead
from tests.samples import NOW, inventory
from tests.steps.world import ENFORCE, World, layer


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()
    open_instead(monkeypatch, made, policy_commands)
    return made


def call(*words: str) -> Result:
    return CliRunner().invoke(commands.application, list(words))


def write_home(home: Path, **files: str) -> Path:
    """A configuration with policy files; returns its path."""
    (home / "policies").mkdir()
    for name, text in files.items():
        (home / "policies" / f"{name}.yaml").write_text(text)
    config = home / "maintainer.yaml"
    config.write_text(
        "catalogs:\n  lake: {type: sql, uri: 'sqlite:///catalog.db', warehouse: warehouse}\n"
    )
    return config


def know_table(home: Path) -> None:
    """What a scan leaves behind."""
    health = measure(inventory(()))
    store = open_store(f"sqlite:///{home / 'maintainer.db'}")
    store.record_health(health, grade(health, effective((), health.table, {}), NOW))
    store.close()


def test_explain_tells_where_each_value_comes_from(world: World) -> None:
    table = world.put("orders")
    world.policies.layers = (
        layer(ENFORCE),
        layer("tables: lake.sales.*\nrules: {expire_snapshots: {keep: 4}}", "sales.yaml"),
    )
    done = call("policies", "explain", str(table), "--format", "json")
    assert done.exit_code == 0, done.stderr
    reported = {line["path"]: (line["value"], line["source"]) for line in json.loads(done.stdout)}
    assert reported["rules.expire_snapshots.keep"] == ("4", "sales.yaml:2")
    assert reported["rules.expire_snapshots.max_age"] == ("5d", "all.yaml:7")
    assert reported["target_file_size"] == ("512MiB", "Iceberg's default")


def test_explain_names_both_files_that_disagree_and_fails(world: World) -> None:
    table = world.put("orders")
    world.policies.layers = (
        layer(ENFORCE, "a.yaml"),
        layer("tables: '*'\nrules: {expire_snapshots: {keep: 4}}", "b.yaml"),
    )
    done = call("policies", "explain", str(table))
    assert done.exit_code == 2
    assert (
        "error: a.yaml:7: rules.expire_snapshots.keep is 10 here and 4 at b.yaml:2" in done.stderr
    )
    assert "rules.expire_snapshots.max_age" in done.stdout


def test_a_check_names_files_of_one_pattern_that_disagree(tmp_path: Path) -> None:
    write_home(tmp_path, a="tables: lake.*\npriority: 1\n", b="tables: lake.*\npriority: 2\n")
    done = call("policies", "check", str(tmp_path / "policies"))
    assert done.exit_code == 2
    assert done.stderr.startswith(
        "policies/a.yaml:2: priority is 1 here and 2 at policies/b.yaml:2"
    )


def test_a_check_holds_crossing_patterns_against_the_known_tables(tmp_path: Path) -> None:
    table = inventory(()).table
    assert str(table) == "lake.sales.orders"
    config = write_home(
        tmp_path, a="tables: lake.s*.*\npriority: 1\n", b="tables: lake.*.o*\npriority: 2\n"
    )
    done = call("policies", "check", "--config", str(config))
    assert done.exit_code == 0, done.stderr
    assert not (tmp_path / "maintainer.db").exists(), "checking files makes no store"
    know_table(tmp_path)
    done = call("policies", "check", "--config", str(config))
    assert done.exit_code == 2
    assert f"(as for {table})" in done.stderr


def test_a_check_goes_without_a_store_that_cannot_be_read(tmp_path: Path) -> None:
    config = write_home(tmp_path, a="tables: lake.*\npriority: 1\n")
    (tmp_path / "maintainer.db").write_text(
        "this is no database, but a text that is long enough to be looked at as one"
    )
    done = call("policies", "check", "--config", str(config))
    assert done.exit_code == 0
    assert "only equal patterns were compared" in done.stderr
    assert done.stdout == "1 policy file is valid: a.yaml\n"


def test_an_ambiguous_table_is_planned_for_nothing(world: World) -> None:
    table = world.put("orders")
    world.policies.layers = (
        layer(ENFORCE, "a.yaml"),
        replace(layer(ENFORCE.replace("keep: 10", "keep: 11"), "b.yaml")),
    )
    done = call("plan", str(table), "--format", "json")
    (plan,) = json.loads(done.stdout)
    assert plan["planned"] == []
    assert {skipped["code"] for skipped in plan["skipped"]} == {"ambiguous_policy"}


def put_and_scan(world: World, *names: str) -> None:
    for name in names:
        world.put(name)
    scan(world.ports)


def test_versions_are_listed_and_compared(world: World) -> None:
    put_and_scan(world, "orders")
    plan(world.ports)
    first = world.policies.current().version
    world.clock.advance(timedelta(minutes=5))
    world.policies.layers = (layer(ENFORCE.replace("keep: 10", "keep: 11")),)
    plan(world.ports)
    listed = json.loads(call("policies", "versions", "--format", "json").stdout)
    assert [one["version"] for one in listed] == [world.policies.current().version, first]
    assert first in call("policies", "versions").stdout
    (change,) = json.loads(call("policies", "diff", first, "--format", "json").stdout)
    assert (change["path"], change["before"], change["after"]) == (
        "rules.expire_snapshots.keep",
        "10",
        "11",
    )
    assert (
        "rules.expire_snapshots.keep"
        in call("policies", "diff", first, listed[0]["version"]).stdout
    )
    assert "no difference" in call("policies", "diff", "current").stderr
    unknown = call("policies", "diff", "nonsense")
    assert (unknown.exit_code, unknown.stderr) == (
        2,
        (
            "error: no policy version 'nonsense' is kept; `maintainer policies versions` lists "
            "those "
            "that are\n"
        ),
    )


def test_a_policy_file_is_tried_out_on_the_known_tables(world: World, tmp_path: Path) -> None:
    put_and_scan(world, "orders", "returns")
    file = tmp_path / "hold.yaml"
    file.write_text("tables: lake.sales.ord*\nmode: observe\n")
    done = call("plan", "--policy", str(file), "--format", "json")
    assert done.exit_code == 0, done.stderr
    (reported,) = json.loads(done.stdout)
    assert reported["table"] == "lake.sales.orders"
    assert [
        (change["rule"], change["before"], change["after"]) for change in reported["changes"]
    ] == [("rewrite_data_files", "planned", "observe_only")]
    assert "2 tables known, 1 concerned, 1 would get other verdicts" in done.stderr
    assert "observe_only" in call("plan", "--policy", str(file)).stdout
    assert (
        json.loads(
            call("plan", "lake.sales.returns", "--policy", str(file), "--format", "json").stdout
        )
        == []
    )
    assert call("plan", "lake.sales.nothing", "--policy", str(file)).exit_code == 2
    assert call("plan", "*.nothing", "--policy", str(file)).exit_code == 2


def test_a_policy_from_standard_input_overrides_an_equally_narrow_file(
    world: World, tmp_path: Path
) -> None:
    put_and_scan(world, "orders")
    text = "tables: '*'\nmode: observe\n"
    done = CliRunner().invoke(
        commands.application, ["plan", "--policy", "-", "--format", "json"], input=text
    )
    assert [change["after"] for change in json.loads(done.stdout)[0]["changes"]] == ["observe_only"]
    (tmp_path / "b.yaml").write_text(text)
    done = call("plan", "--policy", str(tmp_path / "b.yaml"), "--format", "json")
    assert {change["after"] for change in json.loads(done.stdout)[0]["changes"]} == {
        "ambiguous_policy"
    }
    assert "mode is observe here and enforce at" in done.stderr


def test_a_whole_directory_is_tried_out_in_the_place_of_all_files(
    world: World, tmp_path: Path
) -> None:
    put_and_scan(world, "orders")
    done = call("plan", "--policy", str(tmp_path), "--format", "json")
    assert {change["after"] for change in json.loads(done.stdout)[0]["changes"]} == {
        "observe_only"
    }, "only the built-in default is left"
    (tmp_path / "bad.yaml").write_text("priority: 1")
    assert call("plan", "--policy", str(tmp_path)).exit_code == 2


def test_another_target_is_measured_when_asked_to(world: World, tmp_path: Path) -> None:
    put_and_scan(world, "orders")
    (tmp_path / "small.yaml").write_text("tables: '*'\ntarget_file_size: 1MiB\n")
    stored, fresh = (
        json.loads(
            call("plan", "--policy", str(tmp_path / "small.yaml"), "--format", "json", *more).stdout
        )[0]["changes"]
        for more in ((), ("--measure",))
    )
    assert [change["after"] for change in stored] == ["not_measured"]
    assert [change["after"] for change in fresh] == ["planned"]


@pytest.mark.parametrize(
    ("text", "reported"),
    [("tables: '*'\npriority: 101\n", "priority is 101"), (None, "cannot be read")],
)
def test_a_policy_that_cannot_be_used_is_refused(
    world: World, tmp_path: Path, text: str | None, reported: str
) -> None:
    assert world.store.table_names() == ()
    if text is not None:
        (tmp_path / "x.yaml").write_text(text)
    done = call("plan", "--policy", str(tmp_path / "x.yaml"))
    assert done.exit_code == 2
    assert reported in done.stderr


def test_a_table_without_health_is_named(world: World, tmp_path: Path) -> None:
    world.store.record_fault(
        TableFault(
            TableIdentifier.parse("lake.sales.broken"), FaultKind.METADATA_CORRUPT, "cut off", NOW
        )
    )
    (tmp_path / "x.yaml").write_text("tables: '*'\npriority: 1\n")
    assert (
        "lake.sales.broken is not measured: cut off"
        in call("plan", "--policy", str(tmp_path / "x.yaml")).stderr
    )


def test_polaris_policies_are_written_as_a_file_that_the_check_accepts(tmp_path: Path) -> None:
    content = json.dumps(
        {
            "version": "2025-02-03",
            "enable": True,
            "config": {"min_snapshot_to_keep": 1, "max_snapshot_age_days": 2},
        }
    )
    answer = {
        "applicable-policies": [
            {
                "name": "expiry",
                "policy-type": "system.snapshot-expiry",
                "content": content,
                "inherited": False,
            }
        ]
    }
    (tmp_path / "answer.json").write_text(json.dumps(answer))
    done = call(
        "policies",
        "import",
        "polaris-json",
        str(tmp_path / "answer.json"),
        "--tables",
        "lake.finance.*",
        "--tables",
        "lake.hr.people",
    )
    assert done.exit_code == 0, done.stderr
    assert (
        "# expiry (system.snapshot-expiry): config.min_snapshot_to_keep is 1, under the "
        "floor of 2; the floor is used\n"
    ) in done.stdout
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "finance.yaml").write_text(done.stdout)
    assert (
        call("policies", "check", str(tmp_path / "policies")).stdout
        == "1 policy file is valid: finance.yaml\n"
    )
    piped = CliRunner().invoke(
        commands.application,
        ["policies", "import", "polaris-json", "-", "--tables", "lake.finance.*"],
        input=json.dumps(answer),
    )
    assert "keep: 2" in piped.stdout


@pytest.mark.parametrize(
    ("text", "tables"), [("{", "lake.*"), ("7", "lake.*"), ("[]", "lake..x"), (None, "lake.*")]
)
def test_what_is_no_polaris_policy_is_refused(
    tmp_path: Path, text: str | None, tables: str
) -> None:
    if text is not None:
        (tmp_path / "answer.json").write_text(text)
    done = call(
        "policies", "import", "polaris-json", str(tmp_path / "answer.json"), "--tables", tables
    )
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")


def test_the_doctor_finds_files_that_disagree_and_lets_notes_pass(world: World) -> None:
    def examine() -> dict[str, bool]:
        return {
            f"{what} {sentence}"[:40]: is_fine
            for what, is_fine, sentence in diagnose.judge_policies(
                world.policies.current(), Path("policies")
            )
        }

    world.policies.problems = (
        PolicyProblem("Polaris policy x", "config.key is not used", is_note=True),
    )
    reported = examine()
    assert reported["policy Polaris policy x: config.key is n"]
    assert reported["policies 1 layer, those of files from po"]
    world.policies.layers = (
        layer(ENFORCE, "a.yaml"),
        layer("tables: '*'\nmode: observe", "b.yaml"),
    )
    assert [
        is_fine
        for reported, is_fine in examine().items()
        if reported.startswith("policy a.yaml:3: mode is enforce")
    ] == [False]
