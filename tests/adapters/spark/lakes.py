"""Tables on a SQLite catalog that both PyIceberg and Spark read, made of PyArrow files; and jobs on them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType, NestedField, StringType

from maintainer.adapters.spark.catalogs import spark_configuration
from maintainer.adapters.spark.local import LocalRunner, LocalSparkOptions
from maintainer.domain.action import Action, RewriteDataFiles
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, Outcome
from maintainer.domain.plan import Estimate
from maintainer.domain.policy import RuleName
from maintainer.ports.runner import Runner, RunnerReport

DEADLINE_SECONDS = 240  # a busy machine of two cores; the work itself takes seconds
SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "part", LongType()), NestedField(3, "text", StringType()))
BY_PART = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "part"))
APPLICATION = "maintainer-test"
# Half the start-up time and two thirds of the memory.
QUICK_OPTIONS = LocalSparkOptions(driver_memory="1g", java_options="-XX:+UseSerialGC -XX:TieredStopAtLevel=1")


class WallClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


class Lake:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.properties = {"type": "sql", "uri": f"sqlite:///{root}/catalog.db", "warehouse": f"file://{root}/warehouse"}
        self.catalog = SqlCatalog("lake", **self.properties)
        self.spark = spark_configuration("lake", self.properties, {})

    def create(self, name: str, namespace: str = "db", files: int = 60, partitions: int = 1) -> TableIdentifier:
        """A table of many small files, spread over the partitions."""
        self.catalog.create_namespace_if_not_exists((namespace,))
        folder = self.root / f"files-{abs(hash((namespace, name)))}"
        folder.mkdir()
        table = self.catalog.create_table(
            (namespace, name), SCHEMA, location=f"file://{folder}/table", partition_spec=BY_PART if partitions > 1 else PartitionSpec()
        )
        paths = []
        for number in range(files):
            path = folder / f"{number}.parquet"
            rows = pa.table({"id": pa.array(range(1000), pa.int64()), "part": pa.array([number % partitions] * 1000), "text": ["x" * 20] * 1000})
            pq.write_table(rows, path)
            paths.append(f"file://{path}")
        table.add_files(paths)
        return TableIdentifier("lake", (namespace,), name)

    def append(self, table: TableIdentifier) -> None:
        """One more commit, of ten rows."""
        rows = pa.table({"id": pa.array(range(10), pa.int64()), "part": pa.array([0] * 10), "text": ["y"] * 10})
        self.load(table).append(rows.cast(self.load(table).schema().as_arrow()))

    def load(self, table: TableIdentifier) -> Table:
        return self.catalog.load_table((*table.namespace, table.name))

    def summaries(self, table: TableIdentifier) -> list[dict[str, str]]:
        return [{**snapshot.summary.additional_properties} if snapshot.summary else {} for snapshot in self.load(table).snapshots()]

    def data_files(self, table: TableIdentifier) -> int:
        return int(self.load(table).inspect.files().num_rows)

    def rows(self, table: TableIdentifier) -> int:
        return int(self.load(table).scan().to_arrow().num_rows)


def runner_on(lakes: list[Lake], run_dir: Path, owner: str, options: LocalSparkOptions = QUICK_OPTIONS) -> LocalRunner:
    return LocalRunner(options, {"lake": lakes[0].spark} if lakes else {}, owner, APPLICATION, run_dir, WallClock())


def job_on(table: TableIdentifier, job_id: str, action: Action | None = None, owner: str = "") -> Job:
    chosen = action or RewriteDataFiles()
    rule = RuleName(chosen.procedure.value)
    now = datetime.now(UTC)
    return Job(job_id, table, "uuid", rule, chosen, (), Estimate(1, 1, 0, 0), "", "v", 50, "person", now, owner=owner)


def wait_until(condition: Callable[[], bool], seconds: float = DEADLINE_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not so within {seconds} s"
        time.sleep(0.05)


def outcome_of(runner: Runner, job: Job) -> Outcome:
    reports: list[RunnerReport] = []

    def is_over() -> bool:
        report = runner.report(job)
        if report is not None:
            reports.append(report)
        return report is not None and report.outcome is not None

    wait_until(is_over)
    outcome = reports[-1].outcome
    assert outcome is not None
    return outcome


def wait_for_tasks(runner: Runner, job: Job, tasks_done: int) -> None:
    """Until the job has finished that many Spark tasks; it must not be over by then."""

    def is_far_enough() -> bool:
        report = runner.report(job)
        assert report is not None
        assert report.outcome is None, report.outcome
        return (report.progress.tasks_done or 0) >= tasks_done

    wait_until(is_far_enough)


DAEMON = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.adapters.spark.lakes import Lake, job_on, runner_on
from maintainer.domain.identifier import TableIdentifier
lake, run_dir = Lake(Path(sys.argv[2])), Path(sys.argv[3])
runner = runner_on([lake], run_dir, "daemon-1")
job = job_on(TableIdentifier("lake", ("db",), "t"), "job-1", owner="daemon-1")
runner.submit(job)
while True:
    report = runner.report(job)
    if report.outcome or (report.progress.tasks_done or 0) > 0:
        break
print(json.dumps([runner.driver_pid, runner.java_pid, report.outcome and report.outcome.kind]), flush=True)
sys.stdin.read()
"""


def read_pids(line: str) -> tuple[int, int, str | None]:
    driver, java, outcome = json.loads(line)
    return driver, java, outcome
