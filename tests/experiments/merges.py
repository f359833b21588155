"""MERGE INTO at a fixed trigger on each storage, with the daemon beside it and without."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from tests.benchmarks.bench_merge import COMPARED, POLICY, Stream, merge_all
from tests.experiments.lakes import CATALOG, Kind, Lake, open_lake
from tests.experiments.section import Section, factor, seconds

MERGES = 24
WARM_UP = 10  # merges, after which Java's compilers have little left to do
TRIGGER_SECONDS = 8.0
PUBLISHED = {Kind.HDFS: ("6 s", "3.2x"), Kind.S3: ("8.5 s", "9.3x")}


def run(root: Path, scale: float) -> Section:
    """At scale 1: 24 merges, twice on each storage."""
    merges = max(2 * COMPARED, round(MERGES * scale))
    rows = []
    for kind in Kind:
        with open_lake(kind, root / kind.name.lower()) as lake:
            alone, maintained, jobs = _merge(lake, merges)
        start, growth = PUBLISHED.get(kind, ("", ""))
        rows.append(
            (
                str(kind),
                _first(alone),
                start,
                _last(alone),
                factor(alone.growth),
                growth,
                _last(maintained),
                factor(maintained.growth),
                f"{jobs}",
                f"{maintained.retries}",
            )
        )
    return Section(
        "MERGE INTO with a trigger",
        f"A stream runs {merges} merge-on-read MERGE INTO on a table of 400,000 rows in 8 "
        f"partitions, each with 2,000 changed and 200 new rows. Without the daemon each merge "
        f"starts when the one before has ended. With it a merge starts every {TRIGGER_SECONDS:g} "
        f"s, and the daemon maintains the table at the same time, on the same two cores. First "
        f"and last MERGE are the medians of the first and the last {COMPARED} merges. Published: "
        "a trigger of 50 s, which had to be raised to 90 s on MinIO; thousands of files.",
        (
            "storage",
            "first MERGE",
            "published",
            "last MERGE",
            "growth",
            "published growth",
            "last MERGE with the daemon",
            "growth with the daemon",
            "jobs",
            "merges tried again",
        ),
        tuple(rows),
        (
            "Both tables had the same rows at the end, on each storage.",
            "A merge is tried again if a rewrite committed first. The stream loses no row.",
        ),
    )


def _merge(lake: Lake, merges: int) -> tuple[Stream, Stream, int]:
    """The merges without the daemon, those with it, and how many jobs succeeded."""
    with lake.open_spark() as spark:
        spark.sql(f"CREATE NAMESPACE {CATALOG}.db")
        merge_all(spark, "warm", WARM_UP, 0.0)
        alone = merge_all(spark, "alone", merges, 0.0)
        with lake.serve(POLICY, is_quick=True) as daemon:
            maintained = merge_all(spark, "maintained", merges, TRIGGER_SECONDS)
            jobs = daemon.get("/api/v1/jobs?limit=1000")["items"]
        totals = [
            spark.sql(f"SELECT count(*) AS rows, sum(batch) AS batches FROM {CATALOG}.db.{name}")
            for name in ("alone", "maintained")
        ]
        assert totals[0] == totals[1], totals
    return alone, maintained, sum(job["state"] == "succeeded" for job in jobs)


def _first(stream: Stream) -> str:
    return seconds(median(stream.seconds[:COMPARED]))


def _last(stream: Stream) -> str:
    return seconds(median(stream.seconds[-COMPARED:]))
