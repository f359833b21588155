"""What a neglected table costs a name node, before and after the daemon."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from hdfs_native import Client

from maintainer.adapters.demo.history import (
    DatedCommit,
    NewTable,
    create_with_history,
    describe_table,
)
from tests.benchmarks.bench_rewrite import SCHEMA, make_files
from tests.experiments.lakes import CATALOG, Kind, Lake, append_files, describe, open_lake, run_jobs
from tests.experiments.section import Section
from tests.loop.storages import Hdfs

FILES, COMMITS = 9_000, 100
AGE = timedelta(days=40)
POLICY = f"""
tables: "{CATALOG}.*"
mode: observe
rollback_for: off
target_file_size: 128MiB
rules:
  rewrite_data_files: {{hot_partition_age: 0s, quiet_period: 0s}}
  expire_snapshots: {{max_age: 24h, keep: 2, imported_files: delete}}
"""


def run(root: Path, scale: float) -> Section:
    """At scale 1: 9,000 files in 100 commits of a month."""
    files = max(COMMITS, round(FILES * scale))
    with open_lake(Kind.HDFS, root / "lake") as lake:
        _fill(lake, make_files(root, files), files)
        found = [("before", *_count(lake))]
        _maintain(lake, "rewrite_data_files")
        found.append(("after rewriting the data files", *_count(lake)))
        _append(lake)
        _maintain(lake, "expire_snapshots")
        found.append(("after expiring snapshots", *_count(lake)))
    before, after = _objects(found[0]), _objects(found[-1])
    return Section(
        "Objects of a name node",
        f"A table of {files:,} files on HDFS was written in {COMMITS} commits that are {AGE.days} "
        "days old. The name node itself counts files and directories; each of these files has one "
        "block, which is an object too. A writer commits once more between the rewrite and the "
        "expiry, because the policy keeps two snapshots. Published: a name node holds 200 to 300 "
        "million objects, with a heap of about 100 GB for each 150 million.",
        ("state", "files", "directories", "objects", "heap at 100 GB per 150 million"),
        tuple(
            (
                name,
                f"{count:,}",
                f"{directories:,}",
                f"{_objects((name, count, directories)):,}",
                f"{_objects((name, count, directories)) * 100 / 150:,.0f} KB",
            )
            for name, count, directories in found
        ),
        (
            (
                f"The table has 1/{before / after:,.0f} of its objects after maintenance. A "
                "rewrite alone frees none of them: the old files stay until their snapshots expire."
            ),
        ),
    )


def _objects(counted: tuple[str, int, int]) -> int:
    return 2 * counted[1] + counted[2]


def _fill(lake: Lake, directory: Path, files: int) -> None:
    """Write the table as a stream would have, a commit after the other."""
    with closing(lake.open_catalog()) as catalog:
        catalog.create_namespace("db")
        location = f"{lake.storage.warehouse}/db/stream"
        schema_mapping = {"schema.name-mapping.default": SCHEMA.name_mapping.model_dump_json()}
        new = NewTable(
            ("db", "stream"), SCHEMA, properties=tuple(schema_mapping.items()), location=location
        )
        metadata, _ = describe_table(catalog, new)
        found = describe(metadata, directory, lake.put(directory, "db/stream/data"))
        start = datetime.now(UTC) - AGE
        commits = [
            DatedCommit(start + timedelta(minutes=number), tuple(found[number::COMMITS]))
            for number in range(COMMITS)
        ]
        assert sum(len(commit.files) for commit in commits) == files
        create_with_history(catalog, new, commits)


def _append(lake: Lake) -> None:
    with closing(lake.open_catalog()) as catalog:
        table = catalog.load_table("db.stream")
        directory = lake.root / "later"
        directory.mkdir()
        rows = pa.table({"id": pa.array([0], pa.int64()), "text": ["later"]})
        pq.write_table(rows, directory / "later.parquet")
        location = lake.put(directory, "db/stream/data/later")
        append_files(table, describe(table.metadata, directory, location))


def _maintain(lake: Lake, rule: str) -> None:
    with lake.serve(POLICY) as daemon:
        jobs = run_jobs(daemon, ["db.stream"], rule)
        assert jobs, f"{rule}: nothing to gain"


def _count(lake: Lake) -> tuple[int, int]:
    """Files and directories of the table, by the name node."""
    assert isinstance(lake.storage, Hdfs)
    path = f"{lake.storage.warehouse}/db/stream".removeprefix(lake.storage.address)
    summary = Client(lake.storage.address).get_content_summary(path)
    return summary.file_count, summary.directory_count
