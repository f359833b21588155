"""The main job as a newcomer meets it, with the installed wheel, on one lake and in this order:
build, scan, plan, serve, kill, restart, once.

The order is the story; each test leaves the lake to the next one.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.programs import (
    Daemon,
    Server,
    descendants,
    environment,
    is_alive,
    run,
    serving,
    wait_for,
)
from tests.end_to_end.wheel import build_wheel, install, link_jars
from tests.lake_contents import Contents, contents, list_files, list_tables

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(900)]

STREAM = "lake.streaming.page_views"
ARCHIVE = "lake.archive.sensor_daily"
OBSERVED = "lake.logs.gateway.`access log`"
FINAL = {"succeeded", "failed", "cancelled"}


@dataclass(frozen=True)
class Demo:
    """The lake, and the program of a wheel on it."""

    directory: Path
    program: str

    def run(self, *arguments: str, timeout: float = 240) -> subprocess.CompletedProcess[str]:
        return run(
            *arguments,
            cwd=self.directory.parent if arguments[0] == "demo" else self.directory,
            timeout=timeout,
            env=environment(PYTHONPATH=""),
            program=self.program,
        )

    def run_json(self, *arguments: str) -> Any:
        done = self.run(*arguments, "--format", "json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def serving(self) -> AbstractContextManager[Daemon]:
        return serving(self.directory, program=self.program, PYTHONPATH="", **FAST)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    place = tmp_path_factory.mktemp("end-to-end")
    installed = install(build_wheel(place), tmp_path_factory.mktemp("installed"), "spark")
    link_jars(installed)
    made = Demo(place / "lake", str(installed / "bin/maintainer"))
    built = made.run("demo", "--build-only", "--dir", str(made.directory), timeout=600)
    assert built.returncode == 0, built.stderr
    return made


@pytest.fixture(scope="module")
def before(demo: Demo) -> dict[str, Contents]:
    return contents(demo.directory)


def test_scan_measures_what_an_independent_reader_counts(
    demo: Demo, before: dict[str, Contents]
) -> None:
    scanned = {one["table"]: one for one in demo.run_json("scan")}
    assert scanned.keys() == {_quoted(name) for name in before}
    for name, _, _, metadata in list_tables(demo.directory):
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


def test_plan_says_what_why_and_why_not(demo: Demo) -> None:
    plans = {one["table"]: one for one in demo.run_json("plan")}
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


def test_check_fails_while_a_table_is_critical(demo: Demo) -> None:
    done = demo.run("check", "--fail-on", "critical")
    assert done.returncode == 1
    assert STREAM in done.stdout
    assert demo.run("check", "lake.sales.*", "--fail-on", "warning").returncode == 0


def test_run_carries_out_a_named_action_on_one_table(
    demo: Demo, before: dict[str, Contents]
) -> None:
    refused = demo.run("run", "lake.logs.raw_requests")
    assert refused.returncode == 2
    assert (
        "error: there is no terminal for questions; give --yes to carry this out" in refused.stderr
    )
    done = demo.run("run", "lake.logs.raw_requests", "--action", "rewrite_data_files", "--yes")
    assert done.returncode == 0, done.stderr
    assert "rewrite_data_files on lake.logs.raw_requests: succeeded" in done.stdout
    assert "400 data files became 1" in done.stdout
    assert "rows unchanged (totals equal)" in done.stdout
    assert contents(demo.directory) == before
    again = demo.run("run", "lake.logs.raw_requests", "--action", "rewrite_data_files", "--yes")
    assert again.returncode == 0
    assert "nothing_to_gain" in again.stderr


def test_the_job_of_a_killed_daemon_is_adopted_by_the_next_one_and_nothing_is_lost_or_repeated(
    demo: Demo, before: dict[str, Contents]
) -> None:
    with demo.serving() as daemon:
        killed = wait_for(lambda: running_job(daemon, STREAM), 180, "a running job on the stream")
        left_behind = descendants(daemon.process.pid)
        daemon.kill()
        assert any(is_alive(pid) for pid in left_behind), "Spark goes on without its daemon"
    assert integrity(demo.directory) == "ok"
    assert contents(demo.directory) == before
    with demo.serving() as daemon:
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
    assert contents(demo.directory) == before


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


def all_done(daemon: Server) -> list[dict[str, Any]] | None:
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
    wait_for(
        lambda: daemon.get("/api/v1/overview")["bands"]["healthy"] == 8,
        60,
        "sums that are newer than the last job",
    )
    overview = daemon.get("/api/v1/overview")
    assert overview["tables"] == 9
    assert overview["files_removed"] > 1500
    history = daemon.get("/api/v1/tables/lake/streaming/page_views/history?metric=data_files")[
        "samples"
    ]
    assert [history[0]["value"], history[-1]["value"]] == [1631.0, 48.0]
    assert "<!doctype html>" in daemon.get("/").lower()


def integrity(lake: Path) -> str:
    with closing(sqlite3.connect(lake / "maintainer.db")) as connection:
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])


def test_once_does_what_is_left_and_says_for_each_table_why_nothing_more_is_done(
    demo: Demo, before: dict[str, Contents]
) -> None:
    policy = "tables: lake.logs.gateway.*\nmode: enforce\n"  # it was observed only
    (demo.directory / "policies" / "gateway.yaml").write_text(policy)
    done = demo.run("demo", "--once", "--dir", str(demo.directory))
    assert done.returncode == 0, done.stderr
    assert "succeeded" in done.stdout
    assert "Why no more jobs are needed:" in done.stdout
    for name in before:
        assert _quoted(name) in done.stdout
    assert "nothing_to_gain" in done.stdout
    files = {name: list_files(metadata) for name, _, _, metadata in list_tables(demo.directory)}
    assert len(files["lake.logs.gateway.access log"].data) == 1
    assert contents(demo.directory) == before
