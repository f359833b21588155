"""The chart on a real node: make test-node.

The replicas, the migration, Helm's test, drivers and executors are pods; PostgreSQL, the object
store and the REST catalog run on this machine.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.programs import wait_for
from tests.end_to_end.test_demo import all_done
from tests.helm.charts import RELEASE
from tests.node.cluster import open_cluster
from tests.node.lake import open_lake
from tests.node.release import NodeRelease, install
from tests.postgres import end_postgres, start_postgres

pytestmark = pytest.mark.timeout(2400)

JOB_SECONDS = 900
POLICY = """\
tables: lake.db.*
mode: {mode}
rules:
  rewrite_data_files:
    when: {{average_file_size_below: 32MiB}}
    hot_partition_age: 0s
    options: {{max-concurrent-file-group-rewrites: 1, min-input-files: 2}}
  expire_snapshots: {{when: {{snapshot_count_above: 5}}, max_age: 24h, keep: 2}}
"""
OBSERVED = {"all.yaml": POLICY.format(mode="observe")}
PARTITIONS = 100


def find_running(release: NodeRelease, table: str) -> dict[str, Any] | None:
    """The job on the table, once Spark has done a part of it."""
    jobs = release.get("/api/v1/jobs?state=running")["items"]
    found = (job for job in jobs if job["table"] == table and job["progress"]["tasks_done"])
    return next(found, None)


def test_a_release_follows_its_policies_and_is_updated_in_the_middle_of_a_rewrite(
    tmp_path: Path,
) -> None:
    with open_cluster(tmp_path) as cluster, open_lake(tmp_path, cluster.host) as lake:
        server = start_postgres(cluster.host)
        try:
            stream = lake.create("stream", files=40, partitions=4, commits=10)
            before = {stream: lake.contents(stream)}
            with install(cluster, lake, server.create_database(), OBSERVED) as release:
                release.helm.test(RELEASE, timeout=300)
                first = release.pods()
                assert release.get("/api/v1/jobs")["items"] == []
                release.upgrade(policies={"all.yaml": POLICY.format(mode="enforce")})
                wait_for(lambda: all_done(release), JOB_SECONDS, "healthy tables")
                assert release.pods() == first, "a changed policy replaces no pod"
                assert {component: len(names) for component, names in first.items()} == {
                    "api": 2,
                    "worker": 2,
                }

                large = lake.create("large", files=2 * PARTITIONS, partitions=PARTITIONS)
                before[large] = lake.contents(large)
                job = wait_for(lambda: find_running(release, str(large)), JOB_SECONDS, "its job")
                release.upgrade(config={"drain_timeout": "30s"})
                second = release.pods()
                assert not any(first[component] & second[component] for component in first)
                jobs = wait_for(lambda: all_done(release), JOB_SECONDS, "healthy tables again")

                assert "failed" not in {one["state"] for one in jobs}, jobs
                story = release.story(job["job_id"])
                assert "job.adopted" in story, story
                assert [
                    story.count(name)
                    for name in ("job.submitted", "spark.submitted", "spark.finished")
                ] == [1, 1, 1]
                assert release.restarts() == []
                assert cluster.incidents(are_probed=True) == []
        finally:
            end_postgres(server)
        assert {table: lake.contents(table) for table in before} == before
        assert lake.data_files(large) == PARTITIONS
