"""A job that outlives its daemons: what a runner must keep whose drivers do not depend on them."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack

from tests.adapters.spark.lakes import Lake
from tests.end_to_end.programs import serving, wait_for
from tests.end_to_end.test_two_daemons import POLICY, TABLE, find_ended, find_running

CONFIGURATION = """
catalogs: {{lake: {catalog}}}
store: 'sqlite:///{home}/store.db'
policies: {home}/policies
scan: {{interval: 1s}}
plan: {{interval: 500ms}}
submit: {{interval: 500ms}}
watch: {{interval: 500ms}}
review: {{interval: 500ms}}
spark:
  max_jobs: 1
  idle_timeout: 2s
  link: {link}
"""
FILES, PARTITIONS = 800, 400
SECONDS_TO_LEAVE = 30  # under ten on a machine that has nothing else to do


def configure(
    lake: Lake,
    spark: str,
    link: Mapping[str, str] | None = None,
    policies: Mapping[str, str] | None = None,
) -> None:
    """Write the configuration and the policies; ``spark`` are lines of that section.

    The link has a port that stays the same for the next daemon.
    """
    home, link = lake.root, link or {"host": "127.0.0.1"}
    (home / "policies").mkdir()
    for name, policy in (policies or {"all": POLICY.format(mode="enforce")}).items():
        (home / "policies" / f"{name}.yaml").write_text(policy)
    port = _find_free_port(link["host"])
    common = CONFIGURATION.format(
        home=home, catalog=json.dumps(lake.properties), link=json.dumps({**link, "port": port})
    )
    (home / "maintainer.yaml").write_text(common + spark)


def end_two_daemons(
    lake: Lake, drivers: Callable[[], list[str]], seconds_to_start: float = 180
) -> None:
    """End one daemon in an orderly way and kill the next, in the middle of a job; a third proves
    the job. ``drivers`` names what runs now.
    """
    home = lake.root
    store = f"sqlite:///{home}/store.db"
    rows = lake.rows(TABLE)
    with ExitStack() as stack:
        first = stack.enter_context(serving(home))
        job, _ = wait_for(
            lambda: find_running(store),
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
        ended = wait_for(
            lambda: find_ended(third, job.job_id), 200, f"its end; said:\n{third.said()}"
        )
        assert ended["state"] == "succeeded", ended
        story = third.story(job.job_id)
        assert [
            story.count(name) for name in ("job.submitted", "spark.submitted", "spark.finished")
        ] == [1, 1, 1], story
        assert "spark.cancelling" not in story
        jobs = third.get("/api/v1/jobs")["items"]
        assert [each["job_id"] for each in jobs if each["rule"] == "rewrite_data_files"] == [
            job.job_id
        ], "nothing is repeated"
        wait_for(lambda: not drivers(), 120, "the idle driver to end")
    assert lake.rows(TABLE) == rows
    assert lake.data_files(TABLE) == PARTITIONS
    assert len(lake.summaries(TABLE)) == 2, "one commit beside the table's first"


def _find_free_port(host: str) -> int:
    with socket.socket() as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port
