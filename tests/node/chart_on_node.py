"""The chart on a real node: make test-node.

The replicas, the migration, Helm's test, drivers and executors are pods; PostgreSQL, the object
store and the REST catalog run on this machine.
"""

from __future__ import annotations

from contextlib import closing, suppress
from pathlib import Path

import pytest

from maintainer.adapters.store import open_store
from maintainer.domain.identifier import TableIdentifier
from tests.end_to_end.programs import wait_for
from tests.end_to_end.test_demo import all_done
from tests.helm.charts import CHART, RELEASE, unpack_former_chart
from tests.node.cluster import open_cluster
from tests.node.lake import open_lake
from tests.node.release import NodeRelease, install
from tests.postgres import end_postgres, start_postgres

pytestmark = pytest.mark.timeout(3600)

JOB_SECONDS = 1200
POLICY = """\
tables: lake.db.*
mode: {mode}
rules:
  rewrite_data_files:
    when: {{average_file_size_below: 32MiB}}
    hot_partition_age: 0s
    options: {{min-input-files: 2}}
  expire_snapshots: {{when: {{snapshot_count_above: 5}}, max_age: 24h, keep: 2}}
"""
OBSERVED, ENFORCED = ({"all.yaml": POLICY.format(mode=mode)} for mode in ("observe", "enforce"))
PARTITIONS = 2


def begin(release: NodeRelease, table: TableIdentifier) -> str:
    """The id of the table's job, once Spark has done a part of it."""

    def find() -> str | None:
        jobs = release.get("/api/v1/jobs?state=running")["items"]
        found = (
            job for job in jobs if job["table"] == str(table) and job["progress"]["tasks_done"]
        )
        return next((str(job["job_id"]) for job in found), None)

    return wait_for(find, JOB_SECONDS, f"the job of {table}")


def await_health(release: NodeRelease) -> None:
    wait_for(lambda: all_done(release), JOB_SECONDS, "healthy tables")


def find_jobs(release: NodeRelease) -> set[str]:
    return {each["job_id"] for each in release.get("/api/v1/jobs")["items"]}


def find_holder(store_url: str, job_id: str, pods: set[str]) -> str:
    """The pod that watches the job."""
    with closing(open_store(store_url)) as store:
        [holder] = [lease.holder for lease in store.leases() if lease.job_id == job_id]
    return next(pod for pod in pods if holder.startswith(f"{pod}-"))


def await_one_scanner(release: NodeRelease) -> None:
    """The lake is scanned by one replica alone."""

    def find() -> bool:
        replicas = release.replicas("worker").values()
        with suppress(OSError):  # one has only begun
            return sum(each.count_duties("scan") for each in replicas) == 1
        return False

    wait_for(find, 120, "one replica to scan the catalog")


def test_a_release_follows_its_policies_and_outlives_upgrades_deaths_and_a_rollback(
    tmp_path: Path,
) -> None:
    former = unpack_former_chart(tmp_path)
    with open_cluster(tmp_path) as cluster, open_lake(tmp_path, cluster.host) as lake:
        server = start_postgres(cluster.host)
        before = {}

        def create(name: str, commits: int = 1) -> TableIdentifier:
            table = lake.create(name, files=24, partitions=PARTITIONS, commits=commits)
            before[table] = lake.contents(table)
            return table

        try:
            create("stream", commits=10)
            store = server.create_database()
            with install(cluster, lake, store, OBSERVED, former) as release:
                release.helm.test(RELEASE, timeout=300)
                first = release.pods()
                assert {name: len(pods) for name, pods in first.items()} == {"api": 2, "worker": 3}
                await_one_scanner(release)
                assert release.get("/api/v1/jobs")["items"] == []
                release.upgrade(policies=ENFORCED)
                await_health(release)
                assert release.pods() == first, "a changed policy replaces no pod"

                with lake.holding("upgraded"):
                    job = begin(release, create("upgraded"))
                    release.chart = CHART
                    # The driver would stay behind in the namespace that the former chart used.
                    release.upgrade(
                        config={"drain_timeout": "30s"}, jobs={"inReleaseNamespace": True}
                    )
                    second = release.pods()
                    assert not any(first[component] & second[component] for component in first)
                await_health(release)
                story = release.story(job)
                assert "job.adopted" in story, story
                once = ("job.submitted", "spark.submitted", "spark.finished")
                assert [story.count(name) for name in once] == [1, 1, 1], story

                with lake.holding("killed"):
                    job = begin(release, create("killed"))
                    release.kill(find_holder(store, job, second["worker"]))
                await_health(release)
                assert "job.taken_over" in release.story(job)
                assert release.get(f"/api/v1/jobs/{job}")["state"] == "succeeded"
                await_one_scanner(release)

                jobs = find_jobs(release)
                with release.always_answering():
                    release.roll_back()
                assert find_jobs(release) >= jobs
                assert release.restarts() == []
                assert cluster.incidents(are_probed=True) == []
        finally:
            end_postgres(server)
        assert {table: lake.contents(table) for table in before} == before
        assert [lake.data_files(table) for table in before] == [PARTITIONS] * len(before)
