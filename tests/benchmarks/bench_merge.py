"""MERGE INTO at a fixed trigger on a growing table: how much slower the last one is than the first,
with the daemon beside it and without.

Published (change data capture, Spark, 50 s trigger): MERGE INTO grew 3.2x on HDFS and 9.3x on MinIO
as files piled up.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from maintainer.adapters.spark.jars import default_directory, find_jars
from maintainer.domain.errors import RunnerUnavailableError
from tests.benchmarks.harness import Measured, less_is_better
from tests.conformance.session import Session, SparkError
from tests.end_to_end.programs import serving

MERGES = 30
TRIGGER_SECONDS = 12.0
CHANGES, NEW_ROWS, FIRST_ROWS, REGIONS = 2_000, 200, 400_000, 8
WARM_UP = 4
COMPARED = 3  # merges at either end, of which the median counts
ATTEMPTS = 5  # of one merge whose commit a rewrite has overtaken
FLAT, STEEP = 1.3, 2.5
POLICY = """
tables: "*.maintained"
mode: enforce
rules:
  rewrite_data_files: {when: {average_file_size_below: 32MiB, small_file_count_above: 60},
    hot_partition_age: 0s, cooldown: 1m}
  rewrite_position_delete_files: {when: {position_delete_file_count_above: 60}, cooldown: 1m}
  rewrite_manifests: {when: {manifest_count_above: 60}, cooldown: 1m}
"""
QUICK_STEPS = {
    f"MAINTAINER_{step}__INTERVAL": "1s" for step in ("SCAN", "PLAN", "SUBMIT", "WATCH", "REVIEW")
}
MERGE = """
MERGE INTO {table} AS target
USING (SELECT id * {step} + {offset} AS id FROM range({changes}) UNION ALL SELECT id FROM
    range({rows}, {more})) AS change
ON target.id = change.id AND target.region = CAST(pmod(change.id, {regions}) AS INT)
WHEN MATCHED THEN UPDATE SET state = sha2(concat(change.id, '{number}'), 256), batch = {number}
WHEN NOT MATCHED THEN INSERT (id, region, state, batch)
  VALUES (change.id, CAST(pmod(change.id, {regions}) AS INT), sha2(CAST(change.id AS STRING), 256),
      {number})
"""


@dataclass(frozen=True, slots=True)
class Stream:
    """Seconds of each merge, and how often one had to be tried again."""

    seconds: list[float]
    retries: int

    @property
    def growth(self) -> float:
        """The last by the first."""
        return median(self.seconds[-COMPARED:]) / median(self.seconds[:COMPARED])


def run(scale: float) -> list[Measured]:
    """At scale 1: 30 merges every 12 seconds, twice: the interval is many times what a merge takes
    at first, as in the published experiment.
    """
    try:
        find_jars(default_directory())
    except RunnerUnavailableError as error:
        sys.stderr.write(f"bench: no Spark: {error}\n")
        return []
    merges = max(2 * COMPARED, round(MERGES * scale))
    with TemporaryDirectory(prefix="bench-merge-") as scratch:
        root = Path(scratch)
        with Session(root) as session:
            session.sql("CREATE NAMESPACE lake.db")
            merge_all(session, "warm", WARM_UP, 0.0)
            alone = merge_all(session, "alone", merges, TRIGGER_SECONDS)
            with _maintained(root) as jobs:
                maintained = merge_all(session, "maintained", merges, TRIGGER_SECONDS)
                succeeded, failed = jobs()
            rows = {
                name: session.sql(f"SELECT count(*) AS rows, sum(batch) AS sum FROM lake.db.{name}")
                for name in ("alone", "maintained")
            }
    assert rows["alone"] == rows["maintained"], rows
    retries = f"merges tried again: {maintained.retries} with the daemon, {alone.retries} without"
    sys.stderr.write(f"bench: {succeeded} jobs succeeded, {failed} did not; {retries}\n")
    for name, stream in (("without", alone), ("with", maintained)):
        sys.stderr.write(
            f"bench: {name} the daemon: "
            f"{' '.join(f'{seconds:.1f}' for seconds in stream.seconds)} s\n"
        )
    return [
        less_is_better(
            "the last MERGE against the first",
            maintained.growth,
            alone.growth,
            "no maintenance",
            "x",
            reach=STEEP / FLAT,
        ),
        less_is_better(
            "it stays flat with the daemon",
            maintained.growth,
            FLAT,
            "what is meant to be",
            "x",
            reach=1.0,
        ),
        Measured(
            "it grows without",
            alone.growth,
            STEEP,
            "what is expected",
            "x",
            alone.growth / STEEP,
            1.0,
        ),
        less_is_better(
            "seconds of the last MERGE",
            median(maintained.seconds[-COMPARED:]),
            median(alone.seconds[-COMPARED:]),
            "no maintenance",
            "s",
        ),
    ]


@contextmanager
def _maintained(root: Path) -> Iterator[Callable[[], tuple[int, int]]]:
    """The daemon on the table of that name; the answer counts its jobs that succeeded and that did
    not.
    """
    home = root / "home"
    (home / "policies").mkdir(parents=True)
    (home / "policies" / "default.yaml").write_text(POLICY)
    lake = (
        f"{{type: sql, uri: 'sqlite:///{root}/catalog.db', warehouse: 'file://{root}/warehouse'}}"
    )
    (home / "maintainer.yaml").write_text(
        f"catalogs: {{lake: {lake}}}\nstore: sqlite:///store.db\nspark: {{driver_memory: 1g}}\n"
    )

    def count_jobs() -> tuple[int, int]:
        states = [job["state"] for job in daemon.get("/api/v1/jobs?limit=1000")["items"]]
        return states.count("succeeded"), states.count("failed")

    with serving(home, **QUICK_STEPS) as daemon:
        yield count_jobs
        daemon.stop()


def merge_all(session: Session, name: str, merges: int, trigger: float) -> Stream:
    """Create the table lake.db.NAME and merge into it: at each tick, or at once where the merge
    before took longer.
    """
    table, rows, seconds, retries = f"lake.db.{name}", FIRST_ROWS, [], 0
    session.sql(
        f"CREATE TABLE {table} (id BIGINT, region INT, state STRING, batch INT) USING iceberg "
        f"PARTITIONED BY (region) TBLPROPERTIES ("
        "'format-version' = '2', 'write.merge.mode' = 'merge-on-read', "
        "'write.merge.distribution-mode' = 'hash')"
    )
    region = f"CAST(pmod(id, {REGIONS}) AS INT)"
    session.sql(
        f"INSERT INTO {table} SELECT id, {region}, sha2(CAST(id AS STRING), 256), 0 FROM "
        f"range({rows})"
    )
    for number in range(1, merges + 1):
        step = rows // CHANGES
        statement = MERGE.format(
            table=table,
            step=step,
            offset=number % step,
            changes=CHANGES,
            rows=rows,
            more=rows + NEW_ROWS,
            regions=REGIONS,
            number=number,
        )
        started = time.monotonic()
        retries += _insist(session, statement)
        seconds.append(time.monotonic() - started)
        rows += NEW_ROWS
        time.sleep(max(0.0, trigger - seconds[-1]))
    return Stream(seconds, retries)


def _insist(session: Session, statement: str) -> int:
    """How often it failed before it was committed, as a stream's writer would go on."""
    for attempt in range(ATTEMPTS):
        try:
            session.sql(statement)
        except SparkError:
            if attempt == ATTEMPTS - 1:
                raise
        else:
            return attempt
    raise AssertionError
