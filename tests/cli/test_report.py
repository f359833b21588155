"""`maintainer report` sums up what the store knows of the tables."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from maintainer.adapters.store import open_store
from maintainer.cli.commands import application
from maintainer.domain.health import Band, Compaction, Grade
from maintainer.domain.units import MIB
from maintainer.measure.health import measure
from tests.samples import inventory, manifest, share

RUNNER = CliRunner()


@pytest.fixture
def configuration(tmp_path: Path) -> Path:
    file = tmp_path / "maintainer.yaml"
    file.write_text(
        f"catalogs: {{lake: {{type: sql, uri: 'sqlite:///{tmp_path}/catalog.db', warehouse: "
        f"'file://{tmp_path}'}}}}\nimpact: {{get_price_per_million: 5, round_trip: 1ms}}\n"
    )
    return file


def fill(configuration: Path) -> None:
    store = open_store(f"sqlite:///{configuration.parent}/maintainer.db")
    measured = measure(inventory((manifest("m1", [share([MIB] * 97)]),)))
    health = replace(measured, histogram=(0, 0, 0, 0, 97, *[0] * 9))
    grade = Grade(Band.CRITICAL, compaction=Compaction(96, applies_deletes=False))
    store.record_health(health, grade)
    store.close()


def run(configuration: Path, *options: str) -> str:
    result = RUNNER.invoke(application, ["report", "--config", str(configuration), *options])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_report_names_the_namespace_the_first_table_and_the_costs(configuration: Path) -> None:
    fill(configuration)
    text = run(configuration, "--scans-per-day", "1000")
    assert "By namespace:" in text
    assert "Compact first:" in text
    assert "all tables" in text
    assert "Requests a day (scans of each table a day: 1000): 100,000, of which" in text
    assert "Cost of these requests a day: 0.5, of which 0.48 is avoidable." in text
    assert "0.1 s with 1 in parallel and 0.0016 s with 64 in parallel." in text


def test_another_kind_of_storage_has_other_slowdowns(configuration: Path) -> None:
    fill(configuration)
    here = json.loads(run(configuration, "--format", "json"))
    there = json.loads(run(configuration, "--to", "hdfs", "--format", "json"))
    assert (here["profiles"], there["profiles"]) == (["object_store"], ["hdfs"])
    assert here["total"]["slowdown_high"] > there["total"]["slowdown_high"] > 1
    assert there["total"]["files_under"] == {"65536": 0, "1048576": 0, "10485760": 97}
    assert [line["name"] for line in there["first"]] == [there["namespaces"][0]["name"] + ".orders"]


def test_an_empty_store_is_no_mistake(configuration: Path) -> None:
    done = RUNNER.invoke(application, ["report", "--config", str(configuration)])
    assert (done.exit_code, "No measured table has data files." in done.stderr) == (0, True)


def neglect(configuration: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stored table that is also what a scan would find, under a policy that rewrites it."""
    fill(configuration)
    policies = configuration.parent / "policies"
    policies.mkdir(exist_ok=True)
    (policies / "default.yaml").write_text(
        'tables: "*"\nrules: {rewrite_data_files: {when: {small_file_count_above: 50}}}\n'
    )
    health = measure(inventory((manifest("m1", [share([MIB] * 97)]),)))
    measured = SimpleNamespace(health=health)
    monkeypatch.setattr(
        "maintainer.cli.tables.report.measure_named", lambda _ports, _table: measured
    )


def test_the_rescue_plan_has_the_jobs_until_the_table_is_healthy(
    configuration: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    neglect(configuration, monkeypatch)
    text = run(configuration, "--rescue", "lake.sales.orders")
    assert "rewrite_data_files" in text
    assert "Healthy after 1 job, " in text
    found = json.loads(run(configuration, "--rescue", "lake.sales.orders", "--format", "json"))
    assert (found["table"], found["band"], found["is_healthy"]) == (
        "lake.sales.orders",
        "critical",
        True,
    )
    assert [step["data_files"] for step in found["steps"]] == [1]
    assert found["steps"][0]["ends_at"] == found["ends_at"]


def test_a_table_without_a_plan_says_why(
    configuration: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    neglect(configuration, monkeypatch)
    (configuration.parent / "policies" / "default.yaml").write_text(
        'tables: "*"\nrules: {rewrite_data_files: {enabled: false}}\n'
    )
    text = run(configuration, "--rescue", "lake.sales.orders")
    assert text.startswith("no rule of the policy improves it further.")
