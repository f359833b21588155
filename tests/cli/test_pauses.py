"""`maintainer pause`, `resume`, `drain` and `pauses` write what the daemon reads."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner, Result

from maintainer.adapters.store import open_store
from maintainer.cli.commands import application
from maintainer.cli.output.show import describe_error
from maintainer.domain.audit import AuditQuery
from maintainer.domain.cost import (
    EstimateError,
)
from maintainer.domain.effect import Quantity

RUNNER = CliRunner()


def call(configuration: Path, *words: str) -> Result:
    return RUNNER.invoke(application, [*words, "--config", str(configuration)])


def listed(configuration: Path) -> dict[str, object]:
    shown: dict[str, object] = json.loads(call(configuration, "pauses", "--format", "json").stdout)
    return shown


def test_a_catalog_is_paused_with_its_reason_and_resumed(configuration: Path) -> None:
    assert call(configuration, "pauses").stdout == "nothing is paused\n"
    paused = call(configuration, "pause", "lake", "--reason", "a migration", "--by", "ann")
    assert (paused.exit_code, paused.stdout) == (
        0,
        "paused lake.*; still running there: 1 job\n",
    )
    (item,) = listed(configuration)["items"]  # type: ignore[misc]
    assert (item["scope"], item["by"], item["reason"]) == ("lake.*", "ann", "a migration")  # type: ignore[has-type]
    shown = call(configuration, "pauses").stdout
    assert "a migration" in shown
    assert "still running: rewrite_data_files on lake.sales.orders (job-a)" in shown
    assert call(configuration, "resume", "lake").stdout == "resumed lake.*\n"
    again = call(configuration, "resume", "lake")
    assert again.exit_code == 2
    assert "there is no pause of lake.*" in again.output


def test_one_table_is_paused_and_the_log_says_who_did_it(configuration: Path) -> None:
    call(configuration, "pause", "lake.sales.orders", "--by", "ann")
    store = open_store(f"sqlite:///{configuration.parent}/maintainer.db")
    assert [pause.by for pause in store.paused_tables().values()] == ["ann"]
    assert "person ann" in {entry.actor for entry in store.audit(AuditQuery()).items}
    store.close()


def test_the_kill_switch_ends_what_has_not_started_at_once(configuration: Path) -> None:
    assert call(configuration, "pause", "--cancel").stdout == "paused everything; 1 job cancelled\n"
    assert listed(configuration)["running_jobs"] == []


def test_a_drain_says_what_still_runs_and_fails_when_it_takes_too_long(configuration: Path) -> None:
    begun = call(configuration, "drain")
    assert (begun.exit_code, begun.stdout) == (0, "draining: 1 running job left\n")
    late = call(configuration, "drain", "--wait", "1ms")
    assert late.exit_code == 1
    assert "not drained within" in late.output
    call(configuration, "pause", "lake.sales.orders", "--cancel")
    done = call(configuration, "drain", "--wait", "5s")
    assert (done.exit_code, done.stdout) == (0, "drained: nothing runs\n")


def test_what_is_no_scope_is_refused(configuration: Path) -> None:
    refused = call(configuration, "pause", "a b")
    assert refused.exit_code == 2
    assert "is no table, namespace, catalog or glob" in refused.output


def test_a_mistyped_table_is_refused_with_the_names_that_look_like_it(configuration: Path) -> None:
    refused = call(configuration, "pause", "lake.sales.order")
    assert refused.exit_code == 2
    assert "table lake.sales.order is not known; did you mean lake.sales.orders?" in refused.output


def test_a_prediction_is_shown_beside_what_came_of_it() -> None:
    assert (
        describe_error(EstimateError(Quantity.FILES_REMOVED, 1280.0, 1000.0))
        == "files removed 1,280, was 1,000 (+28%)"
    )
    assert (
        describe_error(EstimateError(Quantity.BYTES_REWRITTEN, 2048.0, 4096.0))
        == "bytes rewritten 2 KiB, was 4 KiB (-50%)"
    )
    assert describe_error(EstimateError(Quantity.GB_HOURS, 0.0123, 0.0)) == "gb hours 0.0123, was 0"
    assert (
        describe_error(EstimateError(Quantity.DURATION_SECONDS, 30.0, 60.0, "first run"))
        == "duration seconds 30, was 60 (first run)"
    )
