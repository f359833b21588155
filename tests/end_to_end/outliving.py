"""A table whose rewrite takes so long that it is met at work, daemons on it, and what a job that
outlives them must keep.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

from maintainer.adapters.store import open_store
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, JobState
from tests.adapters.spark.lakes import Lake
from tests.end_to_end.programs import Daemon, serving, wait_for

TABLE = TableIdentifier("lake", ("db",), "t")
POLICY = """
tables: "*"
mode: {mode}
rules:
  rewrite_data_files:
    when: {{average_file_size_below: 32MiB}}
    hot_partition_age: 0s
    options: {{max-concurrent-file-group-rewrites: 1, min-input-files: 2}}
"""
# Of a daemon that does everything at once.
TIMES = """\
scan: {interval: 1s}
plan: {interval: 500ms}
submit: {interval: 500ms}
watch: {interval: 500ms}
review: {interval: 500ms}
"""
# Begins the section.
ONE_DRIVER = """\
spark:
  max_jobs: 1
  idle_timeout: 2s
"""
FILES, PARTITIONS = 800, 400
SECONDS_TO_LEAVE = 30  # under ten on a machine that has nothing else to do


def write_head(lake: Lake, store: str = "") -> str:
    """The first lines of a configuration: the lake, a store beside it or the one of that URL, the
    policies and the times.
    """
    return (
        f"catalogs: {json.dumps({'lake': lake.properties})}\n"
        f"store: '{store or find_store(lake)}'\n"
        f"policies: '{lake.root}/policies'\n{TIMES}"
    )


def find_store(lake: Lake) -> str:
    return f"sqlite:///{lake.root}/store.db"


def write_policies(lake: Lake, **policies: str) -> None:
    """A file for each; without any, everything is enforced."""
    (lake.root / "policies").mkdir()
    for name, policy in (policies or {"all": POLICY.format(mode="enforce")}).items():
        (lake.root / "policies" / f"{name}.yaml").write_text(policy)


def configure(
    lake: Lake,
    spark: str,
    link: Mapping[str, str] | None = None,
    policies: Mapping[str, str] | None = None,
) -> None:
    """Write the configuration and the policies; ``spark`` are lines of that section.

    The link has a port that stays the same for the next daemon.
    """
    link = link or {"host": "127.0.0.1"}
    write_policies(lake, **(policies or {}))
    options = json.dumps({**link, "port": find_free_port(link["host"])})
    (lake.root / "maintainer.yaml").write_text(
        f"{write_head(lake)}{ONE_DRIVER}  link: {options}\n{spark}"
    )


def find_free_port(host: str = "127.0.0.1") -> int:
    with socket.socket() as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port


def find_running(store_url: str) -> tuple[Job, str] | None:
    """The job that Spark works on, and who holds its lease."""
    store = open_store(store_url)
    try:
        holders = {lease.job_id: lease.holder for lease in store.leases()}
        running = [
            job
            for job in store.unfinished_jobs()
            if job.state is JobState.RUNNING and job.progress.tasks_done
        ]
        return next(((job, holders[job.job_id]) for job in running if job.job_id in holders), None)
    finally:
        store.close()


def find_ended(daemon: Daemon, job_id: str) -> dict[str, Any] | None:
    job: dict[str, Any] = daemon.get(f"/api/v1/jobs/{job_id}")
    return job if job["state"] in {"succeeded", "failed", "cancelled"} else None


def end_two_daemons(
    lake: Lake, drivers: Callable[[], list[str]], seconds_to_start: float = 180
) -> None:
    """End one daemon in an orderly way and kill the next, in the middle of a job; a third proves
    the job. ``drivers`` names what runs now.
    """
    home, rows = lake.root, lake.rows(TABLE)
    with ExitStack() as stack:
        first = stack.enter_context(serving(home))
        job, _ = wait_for(
            lambda: find_running(find_store(lake)),
            seconds_to_start,
            f"Spark to work on a job; said:\n{first.said()}",
        )
        running = drivers()
        assert len(running) == 1
        begun = time.monotonic()
        assert first.stop() == 0, first.said()
        assert time.monotonic() - begun < SECONDS_TO_LEAVE, first.said()
        assert drivers() == running, "nothing was ended with the daemon"
        second = stack.enter_context(serving(home))
        wait_for(
            lambda: "job.adopted" in second.story(job.job_id),
            60,
            f"the second daemon to go on with it; said:\n{second.said()}",
        )
        second.kill()
        third = stack.enter_context(serving(home))
        prove_one_run(third, job.job_id)
        wait_for(lambda: not drivers(), 120, "the idle driver to end")
    assert lake.rows(TABLE) == rows
    assert lake.data_files(TABLE) == PARTITIONS
    assert len(lake.summaries(TABLE)) == 2, "one commit beside the table's first"


def prove_one_run(daemon: Daemon, job_id: str) -> list[str]:
    """Wait for the job's success: it was submitted once, and nothing was repeated. Returns its
    story.
    """
    ended = wait_for(lambda: find_ended(daemon, job_id), 200, f"its end; said:\n{daemon.said()}")
    assert ended["state"] == "succeeded", ended
    story = daemon.story(job_id)
    assert [
        story.count(name) for name in ("job.submitted", "spark.submitted", "spark.finished")
    ] == [1, 1, 1], story
    assert "spark.cancelling" not in story
    jobs = daemon.get("/api/v1/jobs")["items"]
    assert [each["job_id"] for each in jobs if each["rule"] == "rewrite_data_files"] == [job_id], (
        "nothing is repeated"
    )
    return story
