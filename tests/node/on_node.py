"""The daemon outside a cluster, its drivers and executors as pods on a real node: make test-node.

NODE_KUBECONFIG names the kubeconfig of an administrator, NODE_IMAGE an image of this project that
the node has. Pods must reach this machine by its address on the way to the API server: the REST
catalog, the object store and the link listen there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme

from maintainer.adapters.spark.launcher.kubernetes.pods import DRIVER_CONTAINER, EXECUTOR_CONTAINER
from tests.end_to_end.outliving import FILES, PARTITIONS, TABLE, configure, end_two_daemons
from tests.end_to_end.programs import Daemon, run, serving, wait_for
from tests.node.cluster import NodeCluster, open_cluster
from tests.node.lake import PLANTED_SECRET, BucketLake, open_lake

pytestmark = pytest.mark.timeout(1500)

JOB_SECONDS = 900
# A node with two CPUs has room for all: the driver's and two tenths for each executor.
SPARK = """\
  runner: kubernetes
  driver_memory: 1g
  executors: {{count: 2, memory: 640m, cores: 1}}
  conf: {{spark.kubernetes.executor.request.cores: 200m}}
  kubernetes:
    namespace: {cluster.namespace}
    image: '{cluster.image}'
    image_pull_policy: Never
    kubeconfig: '{cluster.kubeconfig}'
    driver_cores: 1
    run_as_user: {user}
"""
OWN_USER, CHOSEN_USER = 10001, 1_000_730_000  # the image's, and one as a cluster chooses it
RULES = {
    "files": (
        "rewrite_data_files: {when: {average_file_size_below: 32MiB}, hot_partition_age: 0s}",
        "expire_snapshots: {when: {snapshot_count_above: 5}, max_age: 24h, keep: 2}",
    ),
    "manifests": (
        "rewrite_data_files: {enabled: false}",
        "rewrite_manifests: {when: {manifest_count_above: 2}}",
    ),
    "orphans": (
        "rewrite_data_files: {enabled: false}",
        "remove_orphan_files: {older_than: 3d, approval: automatic}",
    ),
}
POLICIES = {
    table: "\n  ".join([f"tables: lake.db.{table}\nmode: enforce\nrules:", *rules])
    for table, rules in RULES.items()
}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[NodeCluster]:
    with open_cluster(tmp_path) as cluster:
        yield cluster


@pytest.fixture
def lake(tmp_path: Path, cluster: NodeCluster) -> Iterator[BucketLake]:
    with open_lake(tmp_path, cluster.host) as lake:
        yield lake


@pytest.fixture
def link(tmp_path: Path, cluster: NodeCluster) -> dict[str, str]:
    """HTTPS by a certificate of an authority that only the drivers' Secret names."""
    authority = trustme.CA()
    certificate = authority.issue_cert(cluster.host)
    files = {name: tmp_path / f"link.{name}" for name in ("authority", "certificate", "key")}
    authority.cert_pem.write_to_path(files["authority"])
    certificate.cert_chain_pems[0].write_to_path(files["certificate"])
    certificate.private_key_pem.write_to_path(files["key"])
    return {"host": cluster.host} | {name: str(file) for name, file in files.items()}


def find_succeeded(daemon: Daemon, wanted: set[tuple[str, str, int]]) -> list[dict[str, Any]]:
    """The jobs, once each table has as many succeeded ones of its rule as wanted."""
    jobs: list[dict[str, Any]] = daemon.get("/api/v1/jobs")["items"]
    failed = [job for job in jobs if job["state"] in {"failed", "cancelled"}]
    assert failed == []
    done = [(job["table"], job["rule"]) for job in jobs if job["state"] == "succeeded"]
    return jobs if all(done.count((table, rule)) >= n for table, rule, n in wanted) else []


def test_each_kind_of_maintenance_runs_in_pods(
    cluster: NodeCluster, lake: BucketLake, link: dict[str, str]
) -> None:
    files = lake.create("files", files=30, commits=10)
    manifests = lake.create("manifests", files=12, commits=12)
    orphans = lake.create("orphans", files=20)
    strays = {lake.leave_orphan(orphans, f"stray-{number}.parquet") for number in range(2)}
    lake.grow_old()
    before = {table: lake.contents(table) for table in (files, manifests, orphans)}
    manifest_count = len(lake.load(manifests).inspect.manifests())
    configure(lake, SPARK.format(cluster=cluster, user=OWN_USER), link, POLICIES)
    checked = run("doctor", cwd=lake.root)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    with serving(lake.root) as daemon:
        wait_for(
            lambda: find_succeeded(
                daemon,
                {
                    (str(files), "rewrite_data_files", 1),
                    (str(files), "expire_snapshots", 1),
                    (str(manifests), "rewrite_manifests", 1),
                    (str(orphans), "remove_orphan_files", 2),  # the scan and the removal
                },
            ),
            JOB_SECONDS,
            f"all jobs; the daemon said:\n{daemon.said()}",
        )
        wait_for(lambda: not cluster.leftovers(), 120, f"no pods, not {cluster.leftovers()}")
        assert daemon.stop() == 0, daemon.said()
    assert {table: lake.contents(table) for table in before} == before
    assert lake.data_files(files) == 1
    assert len(lake.load(files).snapshots()) < 10
    assert len(lake.load(manifests).inspect.manifests()) < manifest_count
    assert not strays & lake.keys()
    assert cluster.incidents() == []
    drivers = cluster.count_starts(DRIVER_CONTAINER)
    assert 1 <= drivers < 5, "five jobs share drivers"
    assert cluster.count_starts(EXECUTOR_CONTAINER) == 2 * drivers, "none was lost"
    for text in (cluster.everything(), daemon.said()):
        assert PLANTED_SECRET not in text


def test_a_rewrite_in_pods_outlives_an_orderly_and_a_violent_end_of_its_daemon(
    cluster: NodeCluster, lake: BucketLake, link: dict[str, str]
) -> None:
    table = lake.create(TABLE.name, files=FILES, partitions=PARTITIONS)
    before = lake.contents(table)
    configure(lake, SPARK.format(cluster=cluster, user=CHOSEN_USER), link)
    end_two_daemons(lake, cluster.drivers)
    assert lake.contents(table) == before
    wait_for(lambda: not cluster.leftovers(), 120, f"no pods, not {cluster.leftovers()}")
    assert cluster.incidents() == []
    assert cluster.count_starts(DRIVER_CONTAINER) == 1
    assert cluster.count_starts(EXECUTOR_CONTAINER) == 2
