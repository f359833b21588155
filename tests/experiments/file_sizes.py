"""TPC-DS at 14 file sizes: four streams of queries side by side, before and after the daemon."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from maintainer.domain.units import MIB
from tests.conformance.session import Session
from tests.experiments.lakes import CATALOG, Kind, Lake, open_lake, run_jobs
from tests.experiments.section import Section, factor, seconds
from tests.experiments.tpcds import DIMENSIONS, FACTS, QUERIES, Tpcds, write_files

# Megabytes, and the number of files of the published data, which are a hundred times ours.
PUBLISHED_FILES: Mapping[float, int] = {
    128: 248, 96: 322, 64: 463, 48: 612, 32: 956, 24: 1_339, 16: 1_878, 12: 3_338, 8: 7_037,
    4: 11_733, 2: 28_107, 1: 46_836, 0.5: 102_178, 0.25: 140_102,
}  # fmt: skip
PUBLISHED_SLOWDOWN = {2: "1.8x", 0.25: "2.5x"}
STREAMS = 4
TARGET_BYTES = 128 * MIB
POLICY = f"""
tables: "{CATALOG}.size_*"
mode: observe
target_file_size: 128MiB
rules: {{rewrite_data_files: {{hot_partition_age: 0s, quiet_period: 0s}}}}
"""


@dataclass(frozen=True)
class _Size:
    megabytes: float
    files: int

    @property
    def namespace(self) -> str:
        """The namespace that has the facts in files of this size."""
        return f"size_{round(self.megabytes * 1024)}k"


def run(root: Path, scale: float) -> Section:
    """At scale 1: scale factor 1 of TPC-DS, a gigabyte of text, on S3."""
    with open_lake(Kind.S3, root / "lake") as lake:
        with closing(Tpcds(root, scale)) as data:
            sizes = _fill(lake, data, root / "files")
            statements = [data.query(number) for number in QUERIES]
        with lake.open_spark() as spark:
            _view_dimensions(spark)
            before = _measure(spark, sizes, statements)
            contents = _read(spark, sizes, statements)
        with lake.serve(POLICY) as daemon:
            tables = [f"{size.namespace}.{fact}" for size in sizes for fact in FACTS]
            jobs = run_jobs(daemon, tables, "rewrite_data_files")
        with lake.open_spark() as spark:
            _view_dimensions(spark)
            after = _measure(spark, sizes, statements)
            assert _read(spark, sizes, statements) == contents, "a query's rows have changed"
            files = {size: _count_files(spark, size) for size in sizes}
    largest = sizes[0]
    rows = [
        (
            f"{size.megabytes:g} MB",
            f"{size.files:,}",
            f"{PUBLISHED_FILES[size.megabytes]:,}",
            seconds(before[size]),
            factor(before[size] / before[largest]),
            PUBLISHED_SLOWDOWN.get(size.megabytes, ""),
            f"{files[size]:,}",
            seconds(after[size]),
            factor(after[size] / after[largest]),
        )
        for size in sizes
    ]
    worst = sizes[-1]
    untouched = len(tables) - len(jobs)
    return Section(
        "File size against query time",
        f"TPC-DS at scale factor {scale:g}: the fact tables {', '.join(FACTS)} in files of 14 "
        f"sizes, format version 2, Parquet with zstd, on an S3 server (S3Proxy) of this machine. "
        f"{STREAMS} streams run at the same time in one Spark with two cores. Each runs the "
        f"queries {', '.join(map(str, QUERIES))} in its own order; a first round is not counted. "
        "The time is that of all streams together. Then the daemon rewrites the tables in which it "
        "finds a gain, and a new Spark runs the same streams. Published: 31 GB, MinIO, Impala, 396 "
        "queries.",
        (
            "file size",
            "files",
            "published files",
            "before",
            "slowdown",
            "published slowdown",
            "files after",
            "after",
            "slowdown after",
        ),
        tuple(rows),
        (
            (
                f"The daemon ran {len(jobs)} rewrites, and found nothing to gain in {untouched} "
                "tables. Each query gave the same rows before and after."
            ),
            (
                f"At 0.25 MB the streams took {factor(before[worst] / before[largest])} the "
                f"time of 128 MB before, {factor(after[worst] / after[largest])} after."
            ),
        ),
    )


def _fill(lake: Lake, data: Tpcds, files: Path) -> list[_Size]:
    """Create the tables of all sizes, the largest first."""
    with closing(lake.open_catalog()) as catalog:
        catalog.create_namespace("dimensions")
        for name in DIMENSIONS:
            rows = data.load(name)
            write_files(rows, files / name)
            lake.create(catalog, f"dimensions.{name}", rows.schema, files / name)
        facts = {name: data.load(name) for name in FACTS}
        sizes = []
        for megabytes in PUBLISHED_FILES:
            size = _Size(megabytes, 0)
            catalog.create_namespace(size.namespace)
            count = 0
            for name, rows in facts.items():
                directory = files / size.namespace / name
                count += write_files(rows, directory, round(megabytes * MIB))
                lake.create(catalog, f"{size.namespace}.{name}", rows.schema, directory)
            sizes.append(_Size(megabytes, count))
    return sizes


def _view_dimensions(spark: Session) -> None:
    """All sizes share one copy of the small tables."""
    for name in DIMENSIONS:
        spark.sql(f"CREATE TEMPORARY VIEW {name} AS SELECT * FROM {CATALOG}.dimensions.{name}")


def _measure(spark: Session, sizes: list[_Size], statements: list[str]) -> dict[_Size, float]:
    """Seconds on the clock of all streams, by size; the compilers have warmed up before."""
    streams = [
        statements[number * len(statements) // STREAMS :]
        + statements[: number * len(statements) // STREAMS]
        for number in range(STREAMS)
    ]
    found = {}
    for size in (sizes[0], *sizes):
        spark.sql(f"USE {CATALOG}.{size.namespace}")
        found[size] = max(map(sum, spark.run_streams(streams)))
    return found


def _read(spark: Session, sizes: list[_Size], statements: list[str]) -> list[object]:
    """The rows of one query after another, on the smallest files."""
    spark.sql(f"USE {CATALOG}.{sizes[-1].namespace}")
    return [spark.sql(statement) for statement in statements]


def _count_files(spark: Session, size: _Size) -> int:
    counted = (
        spark.sql(f"SELECT count(*) AS files FROM {CATALOG}.{size.namespace}.{fact}.files")
        for fact in FACTS
    )
    return sum(int(rows[0]["files"]) for rows in counted)
