"""`maintainer orphans` on a store as the daemon leaves it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from maintainer.adapters.store import open_store
from maintainer.cli.commands import application
from maintainer.domain.audit import AuditQuery, Deed
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.orphan import FoundFile, OrphanList, OrphanListState, hash_files

TABLE = TableIdentifier("lake", ("sales",), "orders")
FILES = tuple(
    FoundFile(
        f"s3://lake/orders/data/{n}.parquet",
        n * 1024 or None,
        datetime(2026, 1, 2, tzinfo=UTC) if n else None,
    )
    for n in range(4)
)
DAY = timedelta(days=1)
MADE = datetime.now(UTC).replace(microsecond=0)
WAITING = OrphanList(
    "m-1",
    TABLE,
    "uuid",
    "s3://lake/orders",
    MADE - 7 * DAY,
    MADE,
    4,
    6144,
    hash_files(FILES),
    OrphanListState.WAITING,
    MADE + 7 * DAY,
)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "maintainer.yaml"
    path.write_text(
        f"store: sqlite:///{tmp_path}/m.db\ncatalogs: {{lake: {{type: sql, uri: "
        f"'sqlite:///{tmp_path}/c.db', warehouse: 'file://{tmp_path}/w'}}}}\n"
    )
    store = open_store(f"sqlite:///{tmp_path}/m.db")
    store.add_orphan_list(WAITING, FILES)
    store.close()
    return path


def call(config: Path, *words: str) -> Result:
    return CliRunner().invoke(application, ["--config", str(config), "orphans", *words])


def test_lists_and_their_files_are_printed(config: Path) -> None:
    listed = call(config, "list", str(TABLE)).output
    assert "m-1" in listed
    assert "waiting" in listed
    assert (
        call(config, "list", "lake.sales.other").output
        == "lake.sales.other has no list of orphan files\n"
    )
    shown = call(config, "show", str(TABLE), "--list", "m-1", "--limit", "3").output
    assert f"SHA-256 {WAITING.sha256}" in shown
    assert "1 KiB  2026-01-02 00:00  s3://lake/orders/data/1.parquet" in shown
    assert "?  ?                 s3://lake/orders/data/0.parquet" in shown
    assert "... and 1 more: --after 3" in shown
    assert (
        json.loads(call(config, "list", str(TABLE), "--format", "json").output)[0]["sha256"]
        == WAITING.sha256
    )
    assert (
        len(
            json.loads(
                call(config, "show", str(TABLE), "--list", "m-1", "--format", "json").output
            )["files"]
        )
        == 4
    )


def test_a_file_whose_name_holds_a_line_break_is_one_visible_line(config: Path) -> None:
    hostile = FoundFile("s3://lake/orders/data/x\n... and 0 more\x1b[2J.parquet", 1, None)
    store = open_store(f"sqlite:///{config.parent}/m.db")
    store.add_orphan_list(
        replace(WAITING, list_id="m-2", files=1, bytes=1, sha256=hash_files([hostile])), [hostile]
    )
    store.close()
    shown = call(config, "show", str(TABLE), "--list", "m-2").output
    assert "\\x1b[2J.parquet\n" in shown
    assert [line for line in shown.splitlines() if line.startswith("... and")] == []


def test_a_list_is_approved_and_rejected_by_name(config: Path) -> None:
    assert (
        "for another list"
        in call(config, "approve", str(TABLE), "--list", "m-1", "--sha256", "0" * 64).output
    )
    approved = call(
        config, "approve", str(TABLE), "--list", "m-1", "--by", "ada", "--sha256", WAITING.sha256
    )
    assert approved.output.startswith("4 files of 6 KiB may be removed until ")
    assert "decided by ada at" in call(config, "show", str(TABLE), "--list", "m-1").output
    assert (
        call(config, "reject", str(TABLE), "--list", "m-1", "--by", "bob").output
        == "list m-1 is rejected by bob: none of its files will be removed\n"
    )
    again = call(config, "approve", str(TABLE), "--list", "m-1")
    assert (again.exit_code, again.output) == (
        1,
        "error: list m-1 of lake.sales.orders is rejected already\n",
    )
    assert call(config, "show", str(TABLE), "--list", "m-9").exit_code == 2
    store = open_store(f"sqlite:///{config.parent}/m.db")
    deeds = [(entry.deed, entry.actor) for entry in store.audit(AuditQuery()).items]
    store.close()
    assert deeds == [(Deed.ORPHANS_REJECTED, "person bob"), (Deed.ORPHANS_APPROVED, "person ada")]


def test_what_is_in_quarantine_is_wanted_back(config: Path) -> None:
    assert (
        "is waiting, not in quarantine"
        in call(config, "restore", str(TABLE), "--list", "m-1").output
    )
    store = open_store(f"sqlite:///{config.parent}/m.db")
    store.update_orphan_list(
        replace(WAITING, state=OrphanListState.QUARANTINED, removed_files=4), WAITING
    )
    store.close()
    wanted = call(config, "restore", str(TABLE), "--list", "m-1", "--by", "bob").output
    assert (
        wanted
        == "the next job on lake.sales.orders restores the 4 files of list m-1, requested by bob\n"
    )
    assert "restoring" in call(config, "list", str(TABLE)).output


def test_what_became_of_a_list_is_reported(config: Path) -> None:
    store = open_store(f"sqlite:///{config.parent}/m.db")
    done = {"removed_by": "m-2", "removed_at": MADE, "removed_files": 3, "removed_bytes": 2048}
    store.update_orphan_list(
        replace(WAITING, state=OrphanListState.REMOVED, warning="look at it", **done),  # type: ignore[arg-type]
        WAITING,
    )
    late = replace(
        WAITING, list_id="m-3", expires_at=MADE, refusal="too many", table_uuid="another"
    )
    store.add_orphan_list(late, ())
    store.close()
    shown = call(config, "show", str(TABLE), "--list", "m-1").output
    assert "job m-2 removed 3 files of 2 KiB" in shown
    assert "look at it" in shown
    assert "waiting, expired" in call(config, "show", str(TABLE), "--list", "m-3").output
