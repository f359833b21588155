"""rewrite_data_files at 3,000 and at 9,000 files on each storage."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pyarrow.parquet as pq

from tests.benchmarks.bench_rewrite import FEW, MANY, make_files
from tests.experiments.lakes import CATALOG, Kind, Lake, open_lake, run_jobs
from tests.experiments.section import Section, factor, seconds

WARM_UP_FILES = 300
PUBLISHED = {Kind.HDFS: ("17 s", "29 s", "1.7x"), Kind.S3: ("81 s", "162 s", "2.0x")}
POLICY = f"""
tables: "{CATALOG}.*"
mode: observe
target_file_size: 128MiB
rules: {{rewrite_data_files: {{hot_partition_age: 0s, quiet_period: 0s}}}}
"""


def run(root: Path, scale: float) -> Section:
    """At scale 1: 3,000 and 9,000 files of 53 KB."""
    few, many = max(10, round(FEW * scale)), max(30, round(MANY * scale))
    files = make_files(root, many)
    rows = []
    for kind in Kind:
        with open_lake(kind, root / kind.name.lower()) as lake:
            short, long = _rewrite(lake, files, (few, many))
        published = PUBLISHED.get(kind, ("", "", ""))
        rows.append(
            (
                str(kind),
                seconds(short),
                published[0],
                seconds(long),
                published[1],
                factor(long / short),
                published[2],
            )
        )
    return Section(
        f"Rewriting {few:,} and {many:,} files",
        "The daemon rewrites tables of incompressible files of 53 KB on two cores. The time is "
        f"that of the procedure in a Spark that has rewritten {WARM_UP_FILES} files before. "
        "Published: HDFS and MinIO.",
        (
            "storage",
            f"{few:,} files",
            "published",
            f"{many:,} files",
            "published",
            "growth",
            "published growth",
        ),
        tuple(rows),
        ("Each rewrite left as many rows as it found, by the daemon's own proof.",),
    )


def _rewrite(lake: Lake, files: Path, counts: tuple[int, int]) -> tuple[float, ...]:
    """Seconds of the procedure for each table."""
    tables = {f"db.files_{count}": count for count in (WARM_UP_FILES, *counts)}
    schema = pq.read_schema(next(files.iterdir()))
    with closing(lake.open_catalog()) as catalog:
        catalog.create_namespace("db")
        for name, count in tables.items():
            directory = lake.root / f"some-{count}"
            directory.mkdir()
            for number in range(min(count, counts[-1])):
                (directory / f"{number}.parquet").hardlink_to(files / f"{number}.parquet")
            lake.create(catalog, name, schema, directory)
    with lake.serve(POLICY) as daemon:
        _, *found = [
            run_jobs(daemon, [name], "rewrite_data_files")[name]["effect"]["duration_seconds"]
            for name in tables
        ]
    return tuple(found)
