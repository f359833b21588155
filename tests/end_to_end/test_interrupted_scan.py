"""A scan that is killed, and the one after it."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog, load_catalog

from maintainer.adapters.store import open_store
from tests.benchmarks.copied_table import FILES_A_MANIFEST, write_copies
from tests.end_to_end.programs import MAINTAINER, environment, run, run_json, serving, wait_for

TABLES = 60
MANIFESTS = 50  # of each large table: more than a second of one core
LARGE = ("large_a", "large_b")
SMALL = ("small_a", "small_b", "small_c")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A lake of small tables, not yet scanned."""
    catalog = load_catalog(
        "lake",
        type="sql",
        uri=f"sqlite:///{tmp_path}/catalog.db",
        warehouse=f"file://{tmp_path}/warehouse",
    )
    catalog.create_namespace("sales")
    rows = pa.table({"id": [1, 2, 3]})
    # Each is a table of its own: a scan measures a table again when it has got a second name.
    for number in range(TABLES):
        catalog.create_table(f"sales.t{number:02}", rows.schema).append(rows)
    catalog.close()
    configure(tmp_path, tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def distinct(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of their own, large ones of many manifests and small ones of two, and a store that has
    seen them undisturbed.
    """
    lake = tmp_path_factory.mktemp("distinct")
    catalog = load_catalog(
        "lake", type="sql", uri=f"sqlite:///{lake}/catalog.db", warehouse=f"file://{lake}/warehouse"
    )
    catalog.create_namespace("sales")
    for name in (*LARGE, *SMALL):
        make_table(catalog, name)
    catalog.close()
    configure(lake, lake)
    return lake


def make_table(catalog: Catalog, name: str) -> None:
    rows = pa.table({"id": [1, 2, 3]})
    table = catalog.create_table(f"sales.{name}", rows.schema)
    table.append(rows)
    if name in LARGE:
        write_copies(table.metadata_location, MANIFESTS)
    else:
        table.append(rows)


def configure(home: Path, lake: Path) -> None:
    catalog = (
        f"{{type: sql, uri: 'sqlite:///{lake}/catalog.db', warehouse: 'file://{lake}/warehouse'}}"
    )
    (home / "maintainer.yaml").write_text(
        f"catalogs: {{lake: {catalog}}}\nstore: sqlite:///store.db\nscan: {{rechecks: 0}}\n"
    )
    (home / "policies").mkdir()


@pytest.fixture(scope="module")
def undisturbed(distinct: Path) -> list[dict[str, Any]]:
    """What a scan that nobody interrupts tells of the distinct tables."""
    return figures(run_json("scan", "--explain", cwd=distinct))


def figures(scanned: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What is reported of each table, but for when and at what cost."""
    return [
        {
            name: value
            for name, value in one.items()
            if name not in {"cost", "measured_at", "band_since"}
        }
        for one in scanned
    ]


def count_marks(home: Path) -> int:
    return count_rows(home, "scan_marks")


def count_rows(home: Path, source: str) -> int:
    if not (home / "store.db").exists():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{home}/store.db?mode=ro", uri=True)) as connection:
            return int(connection.execute(f"select count(*) from {source}").fetchone()[0])
    except sqlite3.OperationalError:  # not made yet
        return 0


def count_unfinished(home: Path) -> int:
    """Manifests that are known of tables that are not."""
    return count_rows(
        home, "manifest_digests where table_uuid in (select table_uuid from unfinished_readings)"
    )


@pytest.mark.slow
def test_a_killed_scan_is_continued_and_nothing_is_counted_twice(home: Path) -> None:
    process = subprocess.Popen(
        [MAINTAINER, "scan"],
        cwd=home,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
    )
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
    assert [
        (
            one["cost"]["manifests_read"],
            one["cost"]["entries_read"],
            one["cost"]["manifests_reused"],
        )
        for one in deep
    ] == [(1, 1, 0)] * TABLES

    store = open_store(f"sqlite:///{home}/store.db")
    overview = store.overview()
    store.close()
    assert (overview.tables, overview.data_files, overview.snapshots) == (TABLES, TABLES, TABLES)


def kill_in_the_middle_of_a_table(home: Path, program: str) -> int:
    """Leaves a store that knows so many manifests of a table that it does not know."""
    if program == "daemon":
        with serving(home) as daemon:
            wait_for(
                lambda: count_unfinished(home) > 0,
                120,
                f"the first portions; the daemon said:\n{daemon.said()}",
            )
            daemon.kill()
    else:
        process = subprocess.Popen(
            [MAINTAINER, "scan"],
            cwd=home,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment(),
        )
        try:
            wait_for(lambda: count_unfinished(home) > 0, 120, "the first portions")
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(timeout=30)
    return count_unfinished(home)


@pytest.mark.slow
@pytest.mark.parametrize("program", ["scan", "daemon"])
def test_what_was_read_of_a_large_table_is_not_read_again_after_a_kill(
    tmp_path: Path, distinct: Path, undisturbed: list[dict[str, Any]], program: str
) -> None:
    configure(tmp_path, distinct)
    known = kill_in_the_middle_of_a_table(tmp_path, program)
    assert known > 0, "killed in the middle"
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    assert store.overview().data_files < len(LARGE) * MANIFESTS * FILES_A_MANIFEST, (
        "half a table counts for nothing"
    )
    store.close()

    scanned = run_json("scan", "--explain", cwd=tmp_path)
    costs = [
        one["cost"]
        for one in scanned
        if one["table"].startswith("lake.sales.large") and not one["cost"]["is_unchanged"]
    ]
    assert sum(cost["manifests_reused"] for cost in costs) == known
    assert sum(cost["manifests_read"] for cost in costs) == len(costs) * MANIFESTS - known > 0
    assert count_rows(tmp_path, "unfinished_readings") == 0
    assert figures(scanned) == undisturbed
    assert sum(one["data_files"] for one in scanned) == len(
        LARGE
    ) * MANIFESTS * FILES_A_MANIFEST + 2 * len(SMALL)
