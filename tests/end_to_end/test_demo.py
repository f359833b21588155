"""The main job as a newcomer meets it, on one lake and in this order: build, scan, plan, serve,
kill, restart, once.

The order is the story; each test leaves the lake to the next one.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.programs import (
    Daemon,
    descendants,
    is_alive,
    run,
    run_json,
    serving,
    wait_for,
)
from tests.lake_contents import Contents, contents, list_files, list_tables

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(900)]

STREAM = "lake.streaming.page_views"
ARCHIVE = "lake.archive.sensor_daily"
OBSERVED = "lake.logs.gateway.`access log`"
FINAL = {"succeeded", "failed", "cancelled"}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("end-to-end") / "lake"
    built = run("demo", "--build-only", "--dir", str(directory), cwd=directory.parent, timeout=600)
    assert built.returncode == 0, built.stderr
    return directory


@pytest.fixture(scope="module")
def before(lake: Path) -> dict[str, Contents]:
    return contents(lake)


def test_scan_measures_what_an_independent_reader_counts(
    lake: Path, before: dict[str, Contents]
) -> None:
    scanned = {one["table"]: one for one in run_json("scan", cwd=lake)}
    assert scanned.keys() == {_quoted(name) for name in before}
    for name, _, _, metadata in list_tables(lake):
        files, health = list_files(metadata), scanned[_quoted(name)]
        assert health["data_files"] == len(files.data), name
        assert health["data_bytes"] == sum(file["file_size_in_bytes"] for file in files.data), name
        assert health["records"] == sum(file["record_count"] for file in files.data), name
        deletes = (
            health["position_delete_files"]
            + health["equality_delete_files"]
            + health["deletion_vectors"]
        )
        assert deletes == len(files.deletes), name
        assert (health["manifests"], health["snapshots"]) == (files.manifests, files.snapshots), (
            name
        )
        assert health["average_file_size_bytes"] == health["data_bytes"] / health["data_files"], (
            name
        )


def _quoted(name: str) -> str:
    return OBSERVED if name == "lake.logs.gateway.access log" else name


def test_plan_says_what_why_and_why_not(lake: Path) -> None:
    plans = {one["table"]: one for one in run_json("plan", cwd=lake)}
    planned = {name: [action["rule"] for action in one["planned"]] for name, one in plans.items()}
    assert planned == {
        ARCHIVE: [],
        "lake.cdc.accounts": ["rewrite_data_files", "rewrite_manifests"],
        "lake.cdc.balances": ["rewrite_data_files"],
        OBSERVED: [],
        "lake.logs.raw_requests": ["rewrite_data_files"],
        "lake.reference.exchange_rates": ["expire_snapshots"],
        "lake.sales.orders": [],
        STREAM: ["rewrite_data_files", "rewrite_manifests"],
        "lake.warehouse.events_by_day": ["rewrite_manifests"],
    }
    for one in plans.values():
        rules = [verdict["rule"] for verdict in one["planned"] + one["skipped"]]
        assert sorted(rules) == [
            "expire_snapshots",
            "rewrite_data_files",
            "rewrite_manifests",
            "rewrite_position_delete_files",
        ]
    left_alone = next(
        skipped for skipped in plans[ARCHIVE]["skipped"] if skipped["rule"] == "rewrite_data_files"
    )
    assert left_alone["code"] == "nothing_to_gain"
    assert left_alone["reason"].startswith("240 small files are in 60 partitions, at most 4 in one")
    stream = plans[STREAM]["planned"][0]
    assert stream["estimate"]["items_removed"] == stream["estimate"]["items_before"] - 48
    assert stream["action"].startswith("CALL `lake`.system.rewrite_data_files(")
    observed = next(
        skipped for skipped in plans[OBSERVED]["skipped"] if skipped["rule"] == "rewrite_data_files"
    )
    assert (observed["code"], observed["estimate"]["items_after"]) == ("observe_only", 1)


def test_check_fails_while_a_table_is_critical(lake: Path) -> None:
    done = run("check", "--fail-on", "critical", cwd=lake)
    assert done.returncode == 1
    assert STREAM in done.stdout
    assert run("check", "lake.sales.*", "--fail-on", "warning", cwd=lake).returncode == 0


def test_run_carries_out_a_named_action_on_one_table(
    lake: Path, before: dict[str, Contents]
) -> None:
    refused = run("run", "lake.logs.raw_requests", cwd=lake)
    assert refused.returncode == 2
    assert "error: there is no terminal to ask on; give --yes to carry this out" in refused.stderr
    done = run("run", "lake.logs.raw_requests", "--action", "rewrite_data_files", "--yes", cwd=lake)
    assert done.returncode == 0, done.stderr
    assert "rewrite_data_files on lake.logs.raw_requests: succeeded" in done.stdout
    assert "400 data files became 1" in done.stdout
    assert "rows unchanged (totals equal)" in done.stdout
    assert contents(lake) == before
    again = run(
        "run", "lake.logs.raw_requests", "--action", "rewrite_data_files", "--yes", cwd=lake
    )
    assert again.returncode == 0
    assert "nothing_to_gain" in again.stderr


def test_the_job_of_a_killed_daemon_is_adopted_by_the_next_one_and_nothing_is_lost_or_repeated(
    lake: Path, before: dict[str, Contents]
) -> None:
    with serving(lake, **FAST) as daemon:
        killed = wait_for(lambda: running_job(daemon, STREAM), 180, "a running job on the stream")
        left_behind = descendants(daemon.process.pid)
        daemon.kill()
        assert any(is_alive(pid) for pid in left_behind), "Spark goes on without its daemon"
    assert integrity(lake) == "ok"
    assert contents(lake) == before
    with serving(lake, **FAST) as daemon:
        jobs = wait_for(
            lambda: all_done(daemon), 420, "every job to end and every enforced table to be healthy"
        )
        one = next(job for job in jobs if job["job_id"] == killed["job_id"])
        assert (one["state"], one["effect"]["rows"] in {"equal", "counted"}) == (
            "succeeded",
            True,
        ), one
        story = daemon.story(killed["job_id"])
        assert (story.count("job.adopted"), story.count("job.submitted")) == (1, 1)
        done = [
            (job["table"], job["rule"])
            for job in jobs
            if job["state"] == "succeeded" and job["effect"]["own_commits"]
        ]
        assert len(done) == len(set(done)), "no work was done twice"
        assert {job["effect"]["rows"] for job in jobs if job["state"] == "succeeded"} <= {
            "equal",
            "counted",
            "not_needed",
        }
        assert not [job for job in jobs if job["state"] == "failed"]
        check_pages(daemon)
        below = left_behind | descendants(daemon.process.pid)
        assert daemon.stop() == 0, daemon.said()
        assert not any(is_alive(pid) for pid in below)
        assert "Traceback" not in daemon.said()
    assert contents(lake) == before


FAST = {
    "MAINTAINER_SCAN__INTERVAL": "10s",
    "MAINTAINER_PLAN__INTERVAL": "2s",
    "MAINTAINER_SUBMIT__INTERVAL": "500ms",
    "MAINTAINER_WATCH__INTERVAL": "200ms",
    "MAINTAINER_REVIEW__INTERVAL": "500ms",
}


def running_job(daemon: Daemon, table: str) -> dict[str, Any] | None:
    """A job whose Spark work has begun: tasks are known."""
    jobs = daemon.get("/api/v1/jobs?state=running")["items"]
    return next(
        (job for job in jobs if job["table"] == table and job["progress"]["tasks_total"]), None
    )


def all_done(daemon: Daemon) -> list[dict[str, Any]] | None:
    jobs: list[dict[str, Any]] = daemon.get("/api/v1/jobs?limit=1000")["items"]
    tables = daemon.get("/api/v1/tables?limit=1000")["items"]
    bands = {one["table"]: one["band"] for one in tables}
    is_healthy = all(band == "healthy" for name, band in bands.items() if name != OBSERVED)
    is_over = (
        all(job["state"] in FINAL for job in jobs) and daemon.get("/api/v1/queue")["total"] == 0
    )  # a healthy table may have something to do still
    return jobs if is_healthy and bands and is_over else None


def check_pages(daemon: Daemon) -> None:
    assert daemon.get("/livez")
    assert daemon.get("/readyz")
    metrics = daemon.get("/metrics")
    assert f'maintainer_table_data_files{{table="{STREAM}"}} 48.0' in metrics
    assert 'maintainer_files_removed_total{action="rewrite_data_files"}' in metrics
    overview = daemon.get("/api/v1/overview")
    assert overview["tables"] == 9
    assert overview["files_removed"] > 1500
    assert overview["bands"]["healthy"] == 8
    history = daemon.get("/api/v1/tables/lake/streaming/page_views/history?metric=data_files")[
        "samples"
    ]
    assert [history[0]["value"], history[-1]["value"]] == [1631.0, 48.0]
    assert "<!doctype html>" in daemon.get("/").lower()


def integrity(lake: Path) -> str:
    with closing(sqlite3.connect(lake / "maintainer.db")) as connection:
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])


def test_once_finds_nothing_left_to_do_and_says_for_each_table_why(
    lake: Path, before: dict[str, Contents]
) -> None:
    done = run("demo", "--once", "--dir", str(lake), cwd=lake.parent)
    assert done.returncode == 0, done.stderr
    assert "No job was needed." in done.stdout
    for name in before:
        assert _quoted(name) in done.stdout
    assert "nothing_to_gain" in done.stdout
    assert contents(lake) == before
