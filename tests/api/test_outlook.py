"""What a table's page says of now and next."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from maintainer.domain.admission import ScopePause
from maintainer.domain.driver import Progress, Stage
from maintainer.domain.health import PartitionHealth
from maintainer.domain.inventory import PartitionField, PartitionSpec
from maintainer.domain.job import Job, JobState
from maintainer.domain.units import MIB
from maintainer.ports.store.tables import Pause
from tests.api.nouns import GRADE, HEALTH, NOW, ORDERS, PLAN, finish_job, make_job, run_job
from tests.api.serving import Client, path_of


def outlook_of(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get(path_of(ORDERS)).json()["outlook"]
    return found


@pytest.fixture
def idle(client: Client) -> Client:
    """A table with a plan and without an unfinished job."""
    for job in client.daemon.store.unfinished_jobs():
        client.daemon.store.update_job(finish_job(job), job)
    client.daemon.store.record_plan(PLAN)
    return client


def start(client: Client) -> Job:
    job = replace(make_job("job-7"), table_uuid=HEALTH.table_uuid)
    assert client.daemon.store.add_job(job)
    running = replace(
        run_job(job), progress=Progress(47, 48, "running on Spark", 3, 4, stage=Stage.WORKING)
    )
    assert client.daemon.store.update_job(replace(job, state=JobState.SUBMITTED), job)
    assert client.daemon.store.update_job(running, JobState.SUBMITTED)
    return running


def test_a_running_job_is_what_happens_now_with_its_progress_and_its_id(idle: Client) -> None:
    start(idle)
    outlook = outlook_of(idle)
    assert (outlook["kind"], outlook["why"]) == ("running", "")
    assert outlook["sentence"] == "Compacting data files is running (3 of 4 file groups)."
    assert (outlook["job"]["job_id"], outlook["job"]["rule"], outlook["job"]["state"]) == (
        "job-7",
        "rewrite_data_files",
        "running",
    )
    assert outlook["job"]["progress"]["share"] == pytest.approx(0.7)
    assert (outlook["job"]["progress"]["stage"], outlook["job"]["progress"]["is_counted"]) == (
        "working",
        True,
    )


def test_a_paused_table_says_so_and_not_that_nothing_is_due(idle: Client) -> None:
    idle.daemon.store.set_pause(ORDERS, Pause("ann", NOW, "we look into it"))
    outlook = outlook_of(idle)
    assert (outlook["kind"], outlook["job"]) == ("paused", None)
    assert (
        "ann paused lake.sales.orders at 2026-03-01 12:00 UTC: we look into it. Due until "
        "then: compacting data files"
    ) in outlook["sentence"]


def test_a_pause_of_the_namespace_counts_like_the_tables_own(idle: Client) -> None:
    idle.daemon.store.set_scope_pause(ScopePause("lake.sales.*", "ann", NOW))
    assert outlook_of(idle)["kind"] == "paused"
    start(idle)
    outlook = outlook_of(idle)
    assert outlook["kind"] == "running"
    assert "After that nothing starts: ann paused lake.sales.*" in outlook["sentence"]


def test_a_table_without_job_and_pause_says_what_its_plan_wants(idle: Client) -> None:
    assert outlook_of(idle) == {
        "kind": "planned",
        "sentence": "Compacting data files is planned.",
        "why": "",
        "next_at": None,
        "job": None,
    }


def test_a_table_whose_partitions_are_too_fine_says_what_would_help(idle: Client) -> None:
    assert idle.get(path_of(ORDERS)).json()["partition_advice"] is None
    days = tuple(
        PartitionHealth(0, f"day=2026-01-{day:02}", 4, 20 * MIB, 4, 20 * MIB, 0, 0, 0)
        for day in range(1, 32)
    )
    spec = PartitionSpec(0, (PartitionField("day", "day", ("ts",), "timestamp"),))
    idle.daemon.store.record_health(replace(HEALTH, partitions=days, specs=(spec,)), GRADE)
    advice = idle.get(path_of(ORDERS)).json()["partition_advice"]
    assert (
        advice["partitions"],
        advice["files_left"],
        advice["better"],
        advice["better_partitions"],
    ) == (31, 31, "month(ts)", 1)
    assert advice["sentence"].endswith(
        "Partitioned by month(ts) instead of day(ts) the data would be in 1 partition of 620 MiB."
    )
