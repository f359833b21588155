"""The laboratory's command compares policies, scorers and peers, and touches nothing real."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from maintainer.adapters.store import open_store
from maintainer.domain.cost import Cost
from maintainer.domain.job import JobState
from maintainer.domain.units import MIB
from maintainer.settings import load_settings
from tests.adapters.store.values import failed, make_effect, make_grade, make_job, succeeded
from tests.labs.simulation.__main__ import _read_fleet, application
from tests.labs.simulation.fleet import Writer
from tests.samples import health_of_partitions

RUNNER = CliRunner()
SMALL = ["--tables", "30", "--weeks", "1", "--cycle", "12h"]


def test_the_daemon_is_compared_with_its_peers() -> None:
    result = RUNNER.invoke(application, [*SMALL, "--format", "json", "--budget", "1"])
    assert result.exit_code == 0, result.output
    compared = {entry["contender"]: entry for entry in json.loads(result.stdout)}
    assert list(compared) == ["daemon (maintainer)", "autocomp (published)", "cron-everything"]
    ours = compared["daemon (maintainer)"]
    assert ours["tables"] == 30
    assert len(ours["days"]) == 9
    assert ours["files_removed"] > 0
    assert ours["days"][0]["data_files"] == compared["cron-everything"]["days"][0]["data_files"]


@pytest.mark.slow
def test_policies_and_scorers_are_compared_side_by_side(tmp_path: Path) -> None:
    for name, bound in (("eager", "128MiB"), ("lazy", "1MiB")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "default.yaml").write_text(
            f'tables: "*"\nrules: {{rewrite_data_files: {{when: {{average_file_size_below: '
            f"{bound}}}}}}}\n"
        )
    options = [
        "--policies",
        str(tmp_path / "eager"),
        "--policies",
        str(tmp_path / "lazy"),
        "--scorer",
        "maintainer",
        "--scorer",
        "autocomp",
        "--no-peers",
    ]
    result = RUNNER.invoke(application, [*SMALL, *options, "--format", "json"])
    assert result.exit_code == 0, result.output
    jobs = {
        entry["contender"].replace(str(tmp_path), ""): entry["jobs"]
        for entry in json.loads(result.stdout)
    }
    assert list(jobs) == [
        "daemon (maintainer) /eager",
        "daemon (autocomp) /eager",
        "daemon (maintainer) /lazy",
        "daemon (autocomp) /lazy",
    ]
    assert jobs["daemon (maintainer) /eager"] > jobs["daemon (maintainer) /lazy"]


def test_the_table_is_for_people() -> None:
    result = RUNNER.invoke(application, [*SMALL, "--no-peers"])
    assert result.exit_code == 0
    assert "files/GB-hour" in result.stdout
    assert "30 tables" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cycle", "1m"], "--cycle is 1m, but must be from 5 min to 7 d"),
        (["--cycle", "soon"], "soon"),
        (["--policies", "/nowhere"], "/nowhere"),
        (["--tables", "0"], "--tables"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: list[str], message: str) -> None:
    result = RUNNER.invoke(application, [*SMALL, *options])
    assert result.exit_code == 2
    assert message in result.output


DAY = timedelta(days=1)


def configure(folder: Path, admission: str = "") -> Path:
    file = folder / "maintainer.yaml"
    file.write_text(
        f"catalogs: {{lake: {{type: sql, uri: 'sqlite:///{folder}/catalog.db', warehouse: "
        f"'file://{folder}'}}}}\n{admission}"
    )
    return file


def fill_store(folder: Path) -> None:
    """Two tables measured for eight days: one that is written to and that rewrites lost to, and one
    at rest whose own property asks for small files.
    """
    store, now = open_store(f"sqlite:///{folder}/maintainer.db"), datetime.now(tz=UTC)
    busy = health_of_partitions({f"region={number}": [MIB] * 30 for number in range(4)})
    for age in range(8, -1, -1):
        files, size = 3000 - 240 * age, (3000 - 240 * age) * MIB
        grown = replace(
            busy,
            data_files=files,
            small_files=files,
            data_bytes=size,
            small_file_bytes=size,
            commits_per_hour=10.0,
        )
        store.record_health(replace(grown, measured_at=now - age * DAY), make_grade())
    for number, took in enumerate((2.0, 2.0)):  # minutes
        job = make_job(
            f"job-{number}",
            busy.table_uuid,
            now - DAY,
            table=busy.table,
            memory_gb=1.0,
            cost=Cost(0.1, 0.2, 100.0),
        )
        store.add_job(job)
        ran = replace(job, started_at=now - DAY, ended_at=now - DAY + timedelta(minutes=took))
        ended = (
            failed(ran, now)
            if number
            else succeeded(ran, now, replace(make_effect(), bytes_rewritten=12_000 * MIB))
        )
        assert store.update_job(ended, JobState.PENDING)
    rests = health_of_partitions(
        {"": [MIB] * 50},
        properties={"write.target-file-size-bytes": str(64 * MIB), "maintainer.enabled": "false"},
    )
    resting = replace(
        rests,
        table=replace(rests.table, name="rests"),
        table_uuid="uuid-rests",
        measured_at=now,
        commits_per_hour=0.0,
    )
    store.record_health(resting, make_grade())
    store.record_health(
        replace(
            health_of_partitions({}),
            table=replace(rests.table, name="empty"),
            table_uuid="uuid-empty",
            measured_at=now,
        ),
        make_grade(),
    )
    store.close()


@pytest.mark.slow
def test_a_fleet_from_the_store_is_like_what_the_store_remembers(tmp_path: Path) -> None:
    fill_store(tmp_path)
    rates = {
        traits.table.name: traits for traits in _read_fleet(load_settings(configure(tmp_path), {}))
    }
    assert set(rates) == {"orders", "rests"}
    orders, rests = rates["orders"], rates["rests"]
    assert (orders.commits_per_hour, orders.files_per_commit, orders.file_bytes) == (10.0, 1, MIB)
    assert orders.writer is Writer.MERGE, "one of its two rewrites lost"
    assert orders.bytes_per_second > 20 * MIB, "the published pace is 2 MB/s, the job's 100 MiB/s"
    assert (rests.commits_per_hour, rests.target_bytes, rests.properties["maintainer.enabled"]) == (
        0.0,
        64 * MIB,
        "false",
    )


@pytest.mark.slow
def test_a_fleet_from_the_store_is_maintained_side_by_side_under_its_configuration(
    tmp_path: Path,
) -> None:
    fill_store(tmp_path)
    (tmp_path / "tried").mkdir()
    (tmp_path / "tried" / "default.yaml").write_text('tables: "*"\ntarget_file_size: 64MiB\n')
    options = [
        "--from-store",
        "--weeks",
        "1",
        "--format",
        "json",
        "--policies",
        str(tmp_path / "tried"),
        "--config",
    ]
    result = RUNNER.invoke(application, [*options, str(configure(tmp_path))])
    assert result.exit_code == 0, result.output
    [ours, *peers] = json.loads(result.stdout)
    assert (ours["tables"], ours["days"][0]["data_files"], len(peers)) == (2, 3050, 2)
    assert 50 + 3000 / 64 < ours["days"][-1]["data_files"] < 1000, (
        "the table at rest keeps its files: its own property switches the rules off"
    )
    dark = configure(
        tmp_path, "admission: {blackouts: [{cron: '* * * * *', duration: 1h, timezone: UTC}]}\n"
    )
    held = json.loads(RUNNER.invoke(application, [*options, str(dark), "--no-peers"]).stdout)
    assert held[0]["jobs"] == 0, "a blackout without an end"


def test_a_store_without_measured_tables_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    result = RUNNER.invoke(application, ["--from-store", "--config", str(configure(tmp_path))])
    assert result.exit_code == 2
    assert (
        "the store has no measured table with files; `maintainer scan` measures them"
        in " ".join(result.output.split())
    )
