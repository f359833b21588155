"""Two daemons as on two machines, with one store and a directory for running each: one of them dies
with a job in its Spark, and the other sees it through.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from maintainer.adapters.spark.launcher.ownership import end_processes, identify
from tests.adapters.spark.lakes import Lake
from tests.end_to_end.outliving import POLICY, TABLE, find_ended, find_running, write_head
from tests.end_to_end.programs import descendants, serving, wait_for
from tests.postgres import PostgresServer

pytestmark = [pytest.mark.spark, pytest.mark.postgres, pytest.mark.slow, pytest.mark.timeout(400)]

LEASE = "lease: {duration: 30s, clock_margin: 1s}\nspark: {driver_memory: 1g, run_dir: run}\n"


def set_mode(home: Path, mode: str) -> None:
    """Both daemons see it by themselves."""
    (home / "policies").mkdir(exist_ok=True)
    fresh = home / "fresh"
    fresh.write_text(POLICY.format(mode=mode))
    fresh.replace(home / "policies" / "all.yaml")


def configure(lake: Lake, name: str, store: str) -> Path:
    home = lake.root / name
    home.mkdir()
    (home / "maintainer.yaml").write_text(write_head(lake, store) + LEASE)
    return home


def test_guard_22_the_job_of_a_dead_daemon_on_another_machine_is_taken_over_and_runs_once(
    lake: Lake, postgres_server: PostgresServer
) -> None:
    home, store_url = lake.root, postgres_server.create_database()
    set_mode(home, "observe")
    homes = [configure(lake, name, store_url) for name in ("a", "b")]
    with ExitStack() as stack:
        first, second = (stack.enter_context(serving(place)) for place in homes)
        set_mode(home, "enforce")
        job, holder = wait_for(lambda: find_running(store_url), 120, "Spark to work on a job")
        set_mode(home, "observe")  # nothing more begins
        for daemon in (first, second):
            assert daemon.get(f"/api/v1/jobs/{job.job_id}")["state"] == "running"
        of = {
            lock.stem: daemon
            for place, daemon in zip(homes, (first, second), strict=True)
            for lock in (place / "run").glob("*.lock")
        }
        dead, heir = of[holder], next(daemon for owner, daemon in of.items() if owner != holder)
        spark = [
            process
            for pid in descendants(dead.process.pid)
            if (process := identify(pid)) is not None
        ]
        stack.callback(
            end_processes,
            spark,
            # with nothing to do it would end itself, a minute later:
            # tests/adapters/spark/test_adoption.py waits for that
        )
        assert spark, "it lives on beyond its daemon"
        assert all("java" not in _read_command(pid) for pid in descendants(heir.process.pid)), (
            "one Spark works"
        )
        dead.kill()
        ended = wait_for(
            lambda: find_ended(heir, job.job_id),
            120,
            f"the job to end; the other said:\n{heir.said()}",
        )
        commits = len(lake.summaries(TABLE)) - 1
        assert commits in {0, 1}
        assert (ended["state"], ended["failure_reason"]) == (
            ("succeeded", None) if commits else ("failed", "lost_runner")
        ), ended
        assert ended["effect"]["own_commits"] == commits
        story = heir.story(job.job_id)
        assert [
            story.count(name)
            for name in ("job.submitted", "spark.submitted", "job.taken_over", "job.adopted")
        ] == [1, 1, 1, 0], story
        assert [one["job_id"] for one in heir.get("/api/v1/jobs")["items"]] == [job.job_id]
        said = "".join(log.read_text(errors="replace") for log in home.glob(f"?/run/{holder}*.log"))
        assert commits or f"job {job.job_id} was not renewed in time and is cancelled" in said, (
            "its work had ended before another took it over"
        )
        assert len(lake.summaries(TABLE)) - 1 == commits, "it committed nothing after the job's end"
        assert heir.stop() == 0, heir.said()


def _read_command(pid: int) -> str:
    try:
        return (Path("/proc") / str(pid) / "cmdline").read_text(errors="replace")
    except OSError:
        return ""
