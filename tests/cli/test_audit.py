"""`maintainer audit` prints the log, and exports it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from maintainer.adapters.store import open_store
from maintainer.cli.commands import application
from maintainer.domain.audit import AuditEntry, Deed
from maintainer.domain.identifier import TableIdentifier

RUNNER = CliRunner()
ORDERS = TableIdentifier("lake", ("sales",), "orders")


@pytest.fixture
def configuration(tmp_path: Path) -> Path:
    file = tmp_path / "maintainer.yaml"
    file.write_text(
        f"catalogs: {{lake: {{type: sql, uri: 'sqlite:///{tmp_path}/catalog.db', warehouse: "
        f"'file://{tmp_path}'}}}}\n"
    )
    store = open_store(f"sqlite:///{tmp_path}/maintainer.db")
    now = datetime.now(UTC)
    store.record_audit(
        [
            AuditEntry(
                now - timedelta(days=40),
                "person eve",
                Deed.WORK_PAUSED,
                fields={"reason": "freeze"},
            ),
            AuditEntry(
                now,
                "policy 1a2b",
                Deed.JOB_REQUESTED,
                ORDERS,
                "uuid-1",
                "m-1",
                {"reason": "average file size 3 KiB"},
            ),
        ]
    )
    store.close()
    return file


def run(configuration: Path, *options: str) -> str:
    result = RUNNER.invoke(application, ["audit", "--config", str(configuration), *options])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_log_is_shown_oldest_first(configuration: Path) -> None:
    shown = run(configuration)
    assert shown.index("freeze") < shown.index("average file size 3 KiB")
    assert "policy 1a2b" in shown


def test_an_export_is_one_entry_a_line(configuration: Path) -> None:
    entries = [json.loads(line) for line in run(configuration, "--format", "jsonl").splitlines()]
    assert [(entry["deed"], entry["table"], entry["job_id"]) for entry in entries] == [
        ("work.paused", None, ""),
        ("job.requested", "lake.sales.orders", "m-1"),
    ]


@pytest.mark.parametrize(
    ("options", "actors"),
    [
        (["--within", "30d"], ["policy 1a2b"]),
        (["--actor", "person eve"], ["person eve"]),
        (["--table", "lake.sales.orders"], ["policy 1a2b"]),
        (["--job", "m-1"], ["policy 1a2b"]),
        (["--limit", "1"], ["policy 1a2b"]),
    ],
)
def test_the_log_is_sifted(configuration: Path, options: list[str], actors: list[str]) -> None:
    assert [
        entry["actor"] for entry in json.loads(run(configuration, "--format", "json", *options))
    ] == actors
