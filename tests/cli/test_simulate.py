"""`maintainer simulate` compares policies, scorers and peers, and touches nothing real."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from maintainer.cli.commands import application

RUNNER = CliRunner()
SMALL = ["simulate", "--tables", "30", "--weeks", "1", "--cycle", "12h"]


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
        (tmp_path / name / "default.yaml").write_text(f'tables: "*"\nrules: {{rewrite_data_files: {{when: {{average_file_size_below: {bound}}}}}}}\n')
    options = ["--policies", str(tmp_path / "eager"), "--policies", str(tmp_path / "lazy"), "--scorer", "maintainer", "--scorer", "autocomp", "--no-peers"]
    result = RUNNER.invoke(application, [*SMALL, *options, "--format", "json"])
    assert result.exit_code == 0, result.output
    jobs = {entry["contender"].replace(str(tmp_path), ""): entry["jobs"] for entry in json.loads(result.stdout)}
    assert list(jobs) == ["daemon (maintainer) /eager", "daemon (autocomp) /eager", "daemon (maintainer) /lazy", "daemon (autocomp) /lazy"]
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
