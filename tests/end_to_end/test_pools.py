"""One daemon with two pools: a small one on this machine and a cluster, and a table on each."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from maintainer.domain.identifier import TableIdentifier
from tests.adapters.spark.lakes import Lake, wait_until
from tests.adapters.spark.standalone import Cluster, open_cluster
from tests.end_to_end.outliving import POLICY, write_head, write_policies
from tests.end_to_end.programs import Daemon, run, serving, wait_for

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.cluster, pytest.mark.timeout(400)]

SPARK = """\
spark:
  master: local[1]
  driver_memory: 600m
  pools:
    cluster:
      master: '{master}'
      executors: {{memory: 700m, cores: 2}}
      dynamic_allocation: {{max_executors: 1}}
"""
NEAR, FAR = (TableIdentifier("lake", ("db",), name) for name in ("near", "far"))
NOWHERE = "tables: lake.db.lost\nruns_on: nowhere\n"


@pytest.fixture
def lake(empty_lake: Lake) -> Lake:
    for name in ("near", "far", "lost"):
        empty_lake.create(name, files=6)
    return empty_lake


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with open_cluster(tmp_path, cores=2, memory="1g") as opened:
        yield opened


def configure(lake: Lake, master: str) -> None:
    (lake.root / "maintainer.yaml").write_text(write_head(lake) + SPARK.format(master=master))
    write_policies(
        lake,
        all=POLICY.format(mode="enforce"),
        far="tables: lake.db.far\nruns_on: cluster\n",
        lost=NOWHERE,
    )


def find_jobs(daemon: Daemon) -> dict[str, dict[str, Any]] | None:
    """The jobs by table, once two have ended."""
    jobs = daemon.get("/api/v1/jobs")["items"]
    ended = {
        job["table"].rpartition(".")[2]: job
        for job in jobs
        if job["state"] in {"succeeded", "failed", "cancelled"}
    }
    return ended if len(ended) > 1 else None


def test_each_table_is_rewritten_in_the_pool_of_its_policy(lake: Lake, cluster: Cluster) -> None:
    configure(lake, cluster.master)
    with serving(lake.root) as daemon:
        jobs = wait_for(lambda: find_jobs(daemon), 200, f"two jobs; said:\n{daemon.said()}")
        assert {name: (job["pool"], job["state"]) for name, job in jobs.items()} == {
            "near": ("default", "succeeded"),
            "far": ("cluster", "succeeded"),
        }
        assert jobs["near"]["executor_seconds"] is None
        assert_cost(jobs["far"])
        lost = daemon.get("/api/v1/tables/lake/db/lost/plan")
        problems = daemon.get("/api/v1/policies")["problems"]
        assert daemon.stop() == 0, daemon.said()
    near, far = (lake.summaries(table)[-1]["app-id"] for table in (NEAR, FAR))
    assert near.startswith("local-")
    assert far.startswith("app-"), "the master's name for it"
    assert (lake.rows(NEAR), lake.data_files(FAR)) == (6000, 1)
    assert lost["pool"] == "nowhere"
    assert {skipped["code"] for skipped in lost["skipped"]} >= {"no_runner"}
    assert any("runs_on is 'nowhere'" in problem["message"] for problem in problems)
    wait_until(lambda: cluster.applications == [])
    checked = run("policies", "check", cwd=lake.root)
    assert (checked.returncode, "(there is cluster, default)" in checked.stderr) == (2, True)


def assert_cost(job: dict[str, Any]) -> None:
    """Its share of the driver for all of the time, and one executor for as long as it had it."""
    begun, ended = (datetime.fromisoformat(job[name]) for name in ("started_at", "ended_at"))
    seconds, used = (ended - begun).total_seconds(), job["executor_seconds"]
    assert 0 < used < seconds + 5, job
    gb_hours = (600 / 1024 / 2 * seconds + 700 / 1024 * used) / 3600
    assert job["gb_hours"] == pytest.approx(gb_hours, rel=0.01)
