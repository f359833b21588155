"""A very large table, left to Spark or read there because somebody asked; the bound is small, so
that the table need not be very large.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

from maintainer.adapters.store import open_store
from maintainer.domain.job import Job, JobState
from maintainer.domain.reading import Reading
from maintainer.ports.store import JobQuery
from tests.end_to_end import extreme_lake
from tests.end_to_end.extreme_lake import BY_ID, FILE_BYTES, ROWS
from tests.end_to_end.programs import environment, run, serving, wait_for

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(300)]
TABLE = "lake.x.large"
FILES, PARTITIONS, MANIFESTS = 4_000, 40, 5


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A table of 4,000 files, which is above the bound, beside a small one; neither is scanned."""
    catalog = load_catalog(
        "lake",
        type="sql",
        uri=f"sqlite:///{tmp_path}/catalog.db",
        warehouse=f"file://{tmp_path}/warehouse",
    )
    assert isinstance(catalog, SqlCatalog)
    catalog.create_namespace("x")
    large = catalog.create_table(
        "x.large", Schema(NestedField(1, "id", LongType())), partition_spec=BY_ID
    )
    large.append(ROWS.slice(0, 1))
    extreme_lake.change_entries(
        large,
        lambda entry: [extreme_lake.spread(entry, number % PARTITIONS) for number in range(FILES)],
        MANIFESTS,
    )
    extreme_lake.change_metadata(large, extreme_lake.forget_totals)
    extreme_lake.plain(catalog)
    catalog.close()
    lake = (
        f"{{type: sql, uri: 'sqlite:///{tmp_path}/catalog.db', warehouse: "
        f"'file://{tmp_path}/warehouse'}}"
    )
    (tmp_path / "maintainer.yaml").write_text(
        f"catalogs: {{lake: {lake}}}\nstore: sqlite:///store.db\nscan: "
        f"{{spark_digest_above_files: 1000}}\n"
    )
    (tmp_path / "policies").mkdir()
    return tmp_path


def scan_json(home: Path, *arguments: str, **changes: str) -> tuple[Any, str]:
    done = run(
        "scan", *arguments, "--format", "json", "--explain", cwd=home, env=environment(**changes)
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def jobs_of(home: Path) -> tuple[Job, ...]:
    store = open_store(f"sqlite:///{home}/store.db")
    found = store.jobs(JobQuery()).items
    store.close()
    return found


def test_spark_reads_the_table_that_is_named_and_the_scan_reads_no_entry(home: Path) -> None:
    (scanned,), said = scan_json(home, TABLE, "--with-spark")
    assert (
        f"{FILES:,} files in {MANIFESTS} manifests are to be read to measure the table: "
        f"SELECT manifest"
    ) in said
    assert "read them on Spark in" in said
    assert (scanned["cost"]["entries_read"], scanned["cost"]["manifests_reused"]) == (0, MANIFESTS)
    assert (scanned["data_files"], scanned["partitions"], scanned["data_bytes"]) == (
        FILES,
        PARTITIONS,
        FILES * FILE_BYTES,
    )
    (job,) = jobs_of(home)
    assert (job.rule, job.state, job.requested_by) == (
        Reading.DIGEST_MANIFESTS,
        JobState.SUCCEEDED,
        "person",
    )
    assert list((home / "run" / "findings").iterdir()) == []
    (again,), said = scan_json(home, TABLE, "--with-spark")
    assert f"{TABLE}: nothing is unread that Spark could read" in said
    assert again["data_files"] == FILES


def test_without_spark_that_is_said_and_the_table_is_read_here(home: Path) -> None:
    (scanned,), said = scan_json(
        home, TABLE, "--with-spark", MAINTAINER_SPARK__JAVA_HOME=str(home / "no-java")
    )
    assert f"warning: {TABLE}: Spark did not read them (failed:" in said
    assert "what is unread is read here" in said
    assert (scanned["cost"]["entries_read"], scanned["data_files"]) == (FILES, FILES)
    (job,) = jobs_of(home)
    assert job.state is JobState.FAILED


def test_spark_takes_no_table_that_is_not_named(home: Path) -> None:
    for arguments, reason in (((), "name at least one"), ((TABLE, "--deep"), "exclude each other")):
        done = run("scan", *arguments, "--with-spark", cwd=home)
        assert (done.returncode, reason in done.stderr) == (2, True)


def test_the_daemon_leaves_the_large_table_to_a_job_and_measures_it_from_what_that_found(
    home: Path,
) -> None:
    fast = {
        f"MAINTAINER_{step}__INTERVAL": "500ms" for step in ("PLAN", "SUBMIT", "WATCH", "REVIEW")
    }
    with serving(home, **fast, MAINTAINER_SCAN__INTERVAL="1s") as daemon:
        tables = wait_for(
            lambda: daemon.get("/api/v1/tables")["items"], 60, "the small table to be measured"
        )
        assert [one["table"] for one in tables] == ["lake.x.plain"]
        job = wait_for(
            lambda: next(iter(daemon.get("/api/v1/jobs?state=succeeded")["items"]), None),
            120,
            "Spark to have read the large one",
        )
        assert (job["table"], job["rule"], job["effect"]) == (TABLE, "digest_manifests", None)
        assert job["action"].startswith("SELECT manifest, spec, partition")
        large = wait_for(
            lambda: next(
                (one for one in daemon.get("/api/v1/tables")["items"] if one["table"] == TABLE),
                None,
            ),
            60,
            "the large table",
        )
        assert large["data_files"] == FILES
        assert len(daemon.get("/api/v1/jobs")["items"]) == 1
        assert daemon.stop() == 0
        assert "Traceback" not in daemon.said()
