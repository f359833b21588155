"""`maintainer rollback` on a store that has jobs: what it refuses, and that nothing is changed by
that.
"""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner, Result

from maintainer.adapters.store import open_store
from maintainer.cli.commands import application
from maintainer.domain.identifier import TableIdentifier

RUNNER = CliRunner()


def call(configuration: Path, *words: str) -> Result:
    return RUNNER.invoke(application, ["rollback", *words, "--config", str(configuration)])


def test_a_job_that_nobody_knows_is_said_so(configuration: Path) -> None:
    refused = call(configuration, "m-none", "--yes")
    assert refused.exit_code != 0
    assert "no job 'm-none' is known" in refused.stderr


def test_without_a_terminal_it_needs_the_option_yes(configuration: Path) -> None:
    refused = call(configuration, "job-a")
    assert refused.exit_code != 0
    assert "give --yes" in refused.stderr


def test_what_cannot_be_undone_is_refused_with_the_reason_and_changes_nothing(
    configuration: Path,
) -> None:
    refused = call(configuration, "job-a", "--yes")
    assert refused.exit_code != 0
    assert "job job-a cannot be rolled back: " in refused.stderr
    store = open_store(f"sqlite:///{configuration.parent}/maintainer.db")
    record = store.table(TableIdentifier("lake", ("sales",), "orders"))
    store.close()
    assert record is not None
    assert record.pause is None
