"""Many small tables, each a job of its own, in one Spark that is started once; what is wrong with
one of them is its own matter.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from maintainer.adapters.spark.local import LocalRunner
from maintainer.domain.effect import RowProof
from maintainer.domain.job import FailureReason, JobState
from maintainer.ports.store.jobs import JobQuery
from maintainer.steps.plan import plan
from maintainer.steps.review import review
from maintainer.steps.submit import submit
from maintainer.steps.table import measure_table
from maintainer.steps.watch import watch
from tests.adapters.spark.lakes import Lake, wait_until
from tests.adapters.spark.workshop import open_workshop

TABLES = 20
BROKEN = 7
POLICY = """
tables: "*"
mode: enforce
rules:
  rewrite_data_files: {when: {small_file_count_above: 1}, options: {min-input-files: 2}}
"""


@pytest.mark.spark
@pytest.mark.slow
def test_twenty_small_tables_share_one_spark_and_a_broken_one_hurts_no_other(
    lake: Lake, warm: LocalRunner
) -> None:
    tables = [
        lake.create(f"small_{number:02}", namespace="batch", files=3) for number in range(TABLES)
    ]
    broken = tables[BROKEN]
    path = Path(
        min(task.file.file_path for task in lake.load(broken).scan().plan_files()).removeprefix(
            "file://"
        )
    )
    path.write_bytes(b"x" * path.stat().st_size)
    with open_workshop(lake, warm, POLICY) as workshop:
        workshop.sql("SELECT 1")
        driver_pid = warm.driver_pid
        for table in tables:
            measure_table(workshop.ports, table)
        plan(workshop.ports)

        def is_done() -> bool:
            """A round of the daemon's steps."""
            submit(workshop.ports)
            watch(workshop.ports)
            review(workshop.ports)
            ended = workshop.store.jobs(JobQuery(limit=100)).items
            return len(ended) == TABLES and all(job.state.is_final for job in ended)

        wait_until(is_done)
        jobs = {job.table: job for job in workshop.store.jobs(JobQuery(limit=100)).items}
    assert set(jobs) == set(tables), "one each"
    failed = jobs.pop(broken)
    assert (failed.state, failed.failure_reason) == (JobState.FAILED, FailureReason.OTHER)
    assert "is not a Parquet file" in failed.failure_message
    assert lake.data_files(broken) == 3
    for table, job in jobs.items():
        assert (job.state, job.failure_message) == (JobState.SUCCEEDED, "")
        assert job.outcome is not None
        assert job.outcome.result["rewritten_data_files_count"] == 3
        assert job.effect is not None
        assert (job.effect.rows, job.effect.own_commits, job.effect.files_removed) == (
            RowProof.EQUAL,
            1,
            2,
        )
        assert lake.data_files(table) == 1
    assert len({lake.summaries(table)[-1]["app-id"] for table in jobs}) == 1
    assert warm.driver_pid == driver_pid, "nothing was started for them"
