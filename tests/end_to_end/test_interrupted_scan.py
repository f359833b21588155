"""A scan that is killed, and the one after it."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog

from maintainer.adapters.store import open_store
from tests.end_to_end.programs import MAINTAINER, environment, run, run_json, wait_for

TABLES = 60


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A lake of small tables, not yet scanned."""
    catalog = load_catalog("lake", type="sql", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}/warehouse")
    catalog.create_namespace("sales")
    rows = pa.table({"id": [1, 2, 3]})
    first = catalog.create_table("sales.t00", rows.schema)
    first.append(rows)
    for number in range(1, TABLES):
        catalog.register_table(f"sales.t{number:02}", first.metadata_location)
    catalog.close()
    lake = f"{{type: sql, uri: 'sqlite:///{tmp_path}/catalog.db', warehouse: 'file://{tmp_path}/warehouse'}}"
    (tmp_path / "maintainer.yaml").write_text(f"catalogs: {{lake: {lake}}}\nstore: sqlite:///store.db\nscan: {{rechecks: 0}}\n")
    (tmp_path / "policies").mkdir()
    return tmp_path


def count_marks(home: Path) -> int:
    if not (home / "store.db").exists():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{home}/store.db?mode=ro", uri=True)) as connection:
            return int(connection.execute("select count(*) from scan_marks").fetchone()[0])
    except sqlite3.OperationalError:  # not made yet
        return 0


@pytest.mark.slow
def test_a_killed_scan_is_continued_and_nothing_is_counted_twice(home: Path) -> None:
    process = subprocess.Popen([MAINTAINER, "scan"], cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
    try:
        wait_for(lambda: count_marks(home) >= 3, 60, "the first tables to be measured")
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=30)
    done = count_marks(home)
    assert 3 <= done < TABLES, "killed in the middle"

    second = run("scan", cwd=home)
    assert second.returncode == 0, second.stderr
    assert f"{TABLES - done} tables measured, {done} unchanged" in " ".join(second.stderr.split())
    scanned = run_json("scan", "--explain", cwd=home)
    assert [one["data_files"] for one in scanned] == [1] * TABLES
    assert all(one["cost"] == {"is_unchanged": True} for one in scanned)
    deep = run_json("scan", "--deep", "--explain", cwd=home)
    assert [(one["cost"]["manifests_read"], one["cost"]["entries_read"], one["cost"]["manifests_reused"]) for one in deep] == [(1, 1, 0)] * TABLES

    store = open_store(f"sqlite:///{home}/store.db")
    overview = store.overview()
    store.close()
    assert (overview.tables, overview.data_files, overview.snapshots) == (TABLES, TABLES, TABLES)
