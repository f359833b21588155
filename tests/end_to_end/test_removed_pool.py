"""A daemon restarts without the pool in which a job is at work: the job and its driver end by
themselves, and the table says what the job did.
"""

from __future__ import annotations

import json

import pytest

from maintainer.adapters.spark.launcher.ownership import ProcessIdentity
from maintainer.adapters.store import open_store
from tests.adapters.spark.lakes import Lake
from tests.end_to_end.outliving import (
    POLICY,
    TABLE,
    find_ended,
    find_running,
    find_store,
    write_head,
    write_policies,
)
from tests.end_to_end.programs import serving, wait_for

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.cluster,
    pytest.mark.timeout(500),
]

SPARK = """\
lease: {duration: 30s, clock_margin: 1s}
spark:
  master: local[1]
  driver_memory: 1g
"""
LASTING = "  pools: {lasting: {link: {port: 0}}}\n"


def configure(lake: Lake, pools: str) -> None:
    (lake.root / "maintainer.yaml").write_text(write_head(lake) + SPARK + pools)


def find_driver(store_url: str) -> ProcessIdentity | None:
    store = open_store(store_url)
    try:
        handles = [json.loads(driver.handle) for driver in store.drivers()]
        assert len(handles) < 2
        return ProcessIdentity(handles[0][2], handles[0][3]) if handles else None
    finally:
        store.close()


def test_a_job_of_a_removed_pool_ends_with_its_fence_and_is_judged_by_its_table(
    lake: Lake,
) -> None:
    home, rows, store = lake.root, lake.rows(TABLE), find_store(lake)
    write_policies(lake, all=POLICY.format(mode="enforce") + "runs_on: lasting\n")
    configure(lake, LASTING)
    with serving(home) as first:
        job, _ = wait_for(lambda: find_running(store), 180, f"a job; said:\n{first.said()}")
        driver = find_driver(store)
        assert driver is not None
        assert first.stop() == 0, first.said()
        assert driver.is_alive, "its pool outlives the daemon"
    configure(lake, "")
    with serving(home) as second:
        ended = wait_for(
            lambda: find_ended(second, job.job_id), 200, f"its end; said:\n{second.said()}"
        )
        wait_for(lambda: not driver.is_alive, 90, "the end of its driver")
        assert find_driver(store) is None, "its polls would be refused"
        story = second.story(job.job_id)
        plan = second.get("/api/v1/tables/lake/db/t/plan")
    assert ended["state"] == "failed"
    assert ended["failure_reason"] == "lost_runner"
    assert [story.count(name) for name in ("spark.submitted", "spark.lost")] == [1, 1]
    assert {one["code"] for one in plan["skipped"]} >= {"no_runner"}
    assert lake.rows(TABLE) == rows
