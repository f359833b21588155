"""A command that is killed in the middle of a rewrite: the daemon that starts next goes on with its
Spark.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from maintainer.adapters.store import open_store
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import JobState
from tests.adapters.spark.lakes import Lake
from tests.end_to_end.programs import (
    MAINTAINER,
    descendants,
    environment,
    is_alive,
    serving,
    wait_for,
)

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(300)]

POLICY = """
tables: "*"
mode: enforce
rules:
  rewrite_data_files:
    when: {average_file_size_below: 32MiB}
    options: {max-concurrent-file-group-rewrites: "1", min-input-files: "2"}
"""
FAST = {
    f"MAINTAINER_{step}__INTERVAL": "500ms" for step in ("PLAN", "SUBMIT", "WATCH", "REVIEW")
} | {"MAINTAINER_SCAN__INTERVAL": "1h"}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    made = Lake(tmp_path)
    made.create("t", files=400, partitions=200)
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "all.yaml").write_text(POLICY)
    catalog = (
        f"{{type: sql, uri: 'sqlite:///{tmp_path}/catalog.db', warehouse: "
        f"'file://{tmp_path}/warehouse'}}"
    )
    (tmp_path / "maintainer.yaml").write_text(
        f"catalogs: {{lake: {catalog}}}\nstore: sqlite:///store.db\nspark: {{driver_memory: 1g}}\n"
    )
    return made


def running_job(home: Path) -> str | None:
    """The id of the job whose Spark work has begun."""
    if not (home / "store.db").exists():
        return None
    store = open_store(f"sqlite:///{home}/store.db")
    jobs = [
        job.job_id
        for job in store.unfinished_jobs()
        if job.state is JobState.RUNNING and job.progress.tasks_done
    ]
    store.close()
    return jobs[0] if jobs else None


def test_a_rewrite_of_a_killed_command_is_adopted_by_the_daemon_runs_once_and_is_proved(
    lake: Lake,
) -> None:
    home = lake.root
    command = [MAINTAINER, "run", "lake.db.t", "--action", "rewrite_data_files", "--yes"]
    with (
        (home / "run.log").open("wb") as log,
        subprocess.Popen(command, cwd=home, env=environment(), stdout=log, stderr=log) as running,
    ):
        job_id = wait_for(lambda: running_job(home), 120, "Spark to work on the job")
        spark = descendants(running.pid)
        running.kill()
    assert any(is_alive(pid) for pid in spark), "Spark goes on without it"
    with serving(home, **FAST) as daemon:
        job: dict[str, Any] = wait_for(
            lambda: finished(daemon.get(f"/api/v1/jobs/{job_id}")), 120, "the job to end"
        )
        assert (job["state"], job["effect"]["own_commits"], job["effect"]["rows"]) == (
            "succeeded",
            1,
            "equal",
        ), job
        story = daemon.story(job_id)
        assert (
            story.count("job.submitted"),
            story.count("job.adopted"),
            story.count("spark.submitted"),
        ) == (1, 1, 1), story
        assert daemon.stop() == 0, daemon.said()
        assert not any(is_alive(pid) for pid in spark)
    assert len(lake.summaries(TableIdentifier("lake", ("db",), "t"))) == 2


def finished(job: dict[str, Any]) -> dict[str, Any] | None:
    return job if job["state"] in {"succeeded", "failed", "cancelled"} else None
