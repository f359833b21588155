"""A table on a real HDFS by a real Spark and the steps: measured, rewritten with proof, its orphans
found, put aside, brought back, deleted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hdfs_native import Client, ContentSummary
from pyiceberg.catalog.sql import SqlCatalog

from maintainer.adapters.spark.catalogs import spark_configuration
from maintainer.domain.action import RemoveOrphanFiles
from maintainer.domain.effect import RowProof
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, JobState
from maintainer.domain.orphan import OrphanListState
from maintainer.domain.policy import RuleName
from maintainer.measure.impact import ImpactModel, estimate_impact
from maintainer.requests.approval import approve_list, restore_list
from tests.adapters.spark.lakes import Lake, WallClock, runner_on
from tests.adapters.spark.workshop import Workshop, open_workshop
from tests.hdfs import serve_hdfs
from tests.samples import predict_compaction

pytestmark = [pytest.mark.spark, pytest.mark.slow]

OLD = timedelta(days=30)
COLUMNS = "id bigint, part int"
POLICY = """
tables: "*"
mode: enforce
rules:
  rewrite_data_files: {options: {min-input-files: 2, delete-file-threshold: 1}}
  remove_orphan_files: {older_than: 3d, quarantine: 7d}
"""


class NameNode:
    """What lies on HDFS, by the name node's own word."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.client = Client(address)

    def put(self, *paths: str, content: bytes = b"left over by a writer that failed") -> set[str]:
        """Side by side: each waits for the data node's word."""

        def write(path: str) -> None:
            with self.client.create(path) as file:
                file.write(content)

        with ThreadPoolExecutor(len(paths)) as pool:
            list(pool.map(write, paths))
        return set(paths)

    def files(self, path: str = "/warehouse") -> Mapping[str, int]:
        """Their lengths."""
        return {
            found.path: found.length
            for found in self.client.list_status(path, recursive=True)
            if not found.isdir
        }

    def grow_old(self, *but: str) -> None:
        moment = int((WallClock().now() - OLD).timestamp() * 1000)
        for path in self.files().keys() - set(but):
            self.client.set_times(path, moment, moment)

    def summary(self, path: str) -> ContentSummary:
        return self.client.get_content_summary(path)


class HdfsLake(Lake):
    """The same tables on HDFS."""

    def __init__(self, root: Path, address: str) -> None:
        self.root = root
        self.properties = {
            "type": "sql",
            "uri": f"sqlite:///{root}/catalog.db",
            "warehouse": f"{address}/warehouse",
        }
        self.catalog = SqlCatalog("lake", **self.properties)
        self.spark = spark_configuration(
            "lake", self.properties, {"io-impl": "org.apache.iceberg.io.ResolvingFileIO"}
        )  # as REST catalogs have it


@pytest.fixture(scope="module")
def name_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NameNode]:
    with serve_hdfs(tmp_path_factory.mktemp("hdfs")) as address:
        node = NameNode(address)
        node.put("/warehouse/readme")  # read and written by this process before it starts Spark
        yield node


@pytest.fixture(scope="module")
def workshop(name_node: NameNode, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    lake = HdfsLake(tmp_path_factory.mktemp("lake"), name_node.address)
    with (
        closing(runner_on([lake], tmp_path_factory.mktemp("run"), "hdfs-1")) as runner,
        open_workshop(lake, runner, POLICY) as opened,
    ):
        yield opened


def done(workshop: Workshop, table: TableIdentifier, rule: RuleName) -> Job:
    job = workshop.run(table, rule)
    assert (job.state, job.failure_message) == (JobState.SUCCEEDED, "")
    return job


def place_of(workshop: Workshop, table: TableIdentifier, name_node: NameNode) -> str:
    return workshop.look(table).location.removeprefix(name_node.address)


def test_what_is_measured_is_what_the_name_node_counts_and_a_rewrite_is_proved(
    workshop: Workshop, name_node: NameNode
) -> None:
    rows = tuple(f"SELECT id, id % 3 FROM range({n}00)" for n in (1, 2, 3))
    table = workshop.create(
        "measured", COLUMNS, "PARTITIONED BY (part)", "'write.delete.mode' = 'merge-on-read'", rows
    )
    place = place_of(workshop, table, name_node)
    files = name_node.files(place)
    data = {path: length for path, length in files.items() if "/data/" in path}
    health = workshop.measure(table)
    assert (health.data_files, health.data_bytes, health.records) == (
        len(data),
        sum(data.values()),
        600,
    )
    assert health.storage_files == len(files)

    reported = name_node.summary(place)
    impact = estimate_impact(health, ImpactModel(), predict_compaction(health))
    assert impact is not None
    assert (reported.file_count, reported.length) == (len(files), sum(files.values()))
    assert min(files.values()) > 0, "each file is an inode and a block"
    load = impact.name_node
    assert load is not None
    assert (load.files, load.blocks) == (reported.file_count, reported.file_count)
    assert load.directories == reported.directory_count

    workshop.sql("DELETE FROM lake.db.measured WHERE id = 7")
    snapshot_id = workshop.look(table).current_snapshot_id
    assert snapshot_id is not None
    assert workshop.catalog.count_rows(table, snapshot_id, 10**8) == 597
    job = done(workshop, table, RuleName.REWRITE_DATA_FILES)
    assert job.effect is not None
    assert (job.effect.before.data_files, job.effect.after.data_files) == (len(data), 3)
    assert (job.effect.rows, job.effect.rows_before, job.effect.rows_after) == (
        RowProof.COUNTED,
        597,
        597,
    )
    assert job.effect.canary_files == 3, "what Spark wrote was read again by this process"
    assert workshop.lake.rows(table) == 597
    assert name_node.files(place).keys() >= files.keys(), "a rewrite deletes nothing"


def test_orphans_on_hdfs_are_found_put_aside_brought_back_and_deleted(
    workshop: Workshop, name_node: NameNode
) -> None:
    rows = tuple(f"SELECT id, id % 3 FROM range({n}00)" for n in (1, 2))
    table = workshop.create("t", COLUMNS, "PARTITIONED BY (part)", "", rows)
    own = place_of(workshop, table, name_node)
    live = name_node.files(own).keys()
    names = (
        "data/stray.parquet",
        "data/part=1/it's a %20 {stray} #1.parquet",
        "data/part=9/x.parquet",
        "metadata/0a1b-m0.avro",
    )
    strays = name_node.put(*(f"{own}/{name}" for name in names))
    harmless = name_node.put(
        *(
            f"{own}/{name}"
            for name in (
                "data/young.parquet",
                "metadata/flink.job-id.7",
                "data/_temporary/0/x.parquet",
            )
        )
    )
    harmless |= name_node.put(f"{own}/data/empty.parquet", content=b"")
    sibling = name_node.put(f"{own}_2/data/sibling.parquet")
    name_node.grow_old(f"{own}/data/young.parquet")
    workshop.grow_old(table, OLD)

    look = done(workshop, table, RuleName.REMOVE_ORPHAN_FILES)
    assert isinstance(look.action, RemoveOrphanFiles)
    assert look.action.is_listed
    (orphans,) = workshop.store.orphan_lists(table)
    assert (orphans.files, orphans.state) == (len(strays), OrphanListState.WAITING)
    assert name_node.files(own).keys() == live | strays | harmless, "a look deletes nothing"

    approve_list(workshop.ports, table, orphans.list_id, "ada", orphans.sha256)
    removal = done(workshop, table, RuleName.REMOVE_ORPHAN_FILES)
    assert removal.effect is not None
    assert removal.effect.orphans_removed == len(strays)
    aside = {
        path.replace(f"{own}/", f"{own}/_maintainer_quarantine/{orphans.list_id}/", 1)
        for path in strays
    }
    assert name_node.files(own).keys() == live | aside | harmless

    restore_list(workshop.ports, table, orphans.list_id, "ada")
    done(workshop, table, RuleName.REMOVE_ORPHAN_FILES)
    assert name_node.files(own).keys() == live | strays | harmless

    done(workshop, table, RuleName.REMOVE_ORPHAN_FILES)
    again = next(iter(workshop.store.orphan_lists(table)))
    assert (again.list_id != orphans.list_id, again.files) == (True, len(strays)), (
        "they were renamed and not copied: they are as old as they were"
    )
    approve_list(workshop.ports, table, again.list_id, "ada", again.sha256)
    done(workshop, table, RuleName.REMOVE_ORPHAN_FILES)
    kept = workshop.store.orphan_list(again.list_id)
    assert kept is not None
    assert workshop.store.update_orphan_list(replace(kept, expires_at=WallClock().now()), kept)
    emptied = done(workshop, table, RuleName.REMOVE_ORPHAN_FILES)
    assert emptied.effect is not None
    assert name_node.files(own).keys() == live | harmless, (
        "nothing live is gone, and nothing of a look's is left"
    )
    assert name_node.files().keys() >= sibling
    assert workshop.lake.rows(table) == 300
