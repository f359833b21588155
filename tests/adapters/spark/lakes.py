"""Tables on a SQLite catalog that both PyIceberg and Spark read, made of PyArrow files; and jobs on
them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType, NestedField, StringType

from maintainer.adapters.spark.catalogs import spark_configuration
from maintainer.adapters.spark.launcher.ownership import read_start_time
from maintainer.adapters.spark.local import LocalRunner
from maintainer.adapters.spark.options import LocalSparkOptions, mark_settings
from maintainer.domain.action import Action, RewriteDataFiles
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, Outcome
from maintainer.domain.location import Aliases
from maintainer.domain.plan import Estimate
from maintainer.domain.policy import RuleName
from maintainer.ports.runner import Runner, RunnerReport
from maintainer.ports.store import Store
from tests.fakes.adapters.store import FakeStore
from tests.quick_java import QUICK_JAVA

DEADLINE_SECONDS = 240  # a busy machine of two cores; the work itself takes seconds
REPOSITORY = Path(__file__).parents[3]
SCHEMA = Schema(
    NestedField(1, "id", LongType()),
    NestedField(2, "part", LongType()),
    NestedField(3, "text", StringType()),
)
BY_PART = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "part"))
APPLICATION = "maintainer-test"
# The jars of all sets, apart from those that every driver of the tests has.
ALL_JARS = Path(sys.prefix) / "share" / "iceberg-maintainer" / "all-jars"
# Half the start-up time and two thirds of the memory.
QUICK_OPTIONS = LocalSparkOptions(
    driver_memory="1g",
    java_options=QUICK_JAVA,
    conf=mark_settings((), let_writers_win=True),
)


class WallClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


class Lake:
    name = "lake"
    namespace: tuple[str, ...] = ("db",)
    aliases = Aliases()

    def __init__(self, root: Path, uri: str = "") -> None:
        """`uri`: of a PostgreSQL instead of a SQLite of its own."""
        self.root = root
        self.properties = {
            "type": "sql",
            "uri": uri or f"sqlite:///{root}/catalog.db",
            "warehouse": f"file://{root}/warehouse",
        }
        self.catalog: Catalog = SqlCatalog("lake", **self.properties)
        self.spark = spark_configuration("lake", self.properties, {})

    def create(
        self, name: str, namespace: str = "db", files: int = 60, partitions: int = 1
    ) -> TableIdentifier:
        """A table of many small files, spread over the partitions."""
        self.catalog.create_namespace_if_not_exists((namespace,))
        folder = self.root / f"files-{abs(hash((namespace, name)))}"
        folder.mkdir()
        table = self.catalog.create_table(
            (namespace, name),
            SCHEMA,
            location=f"file://{folder}/table",
            partition_spec=BY_PART if partitions > 1 else PartitionSpec(),
        )
        paths = []
        for number in range(files):
            path = folder / f"{number}.parquet"
            rows = pa.table(
                {
                    "id": pa.array(range(1000), pa.int64()),
                    "part": pa.array([number % partitions] * 1000),
                    "text": ["x" * 20] * 1000,
                }
            )
            pq.write_table(rows, path)
            paths.append(f"file://{path}")
        table.add_files(paths)
        return TableIdentifier("lake", (namespace,), name)

    def append(self, table: TableIdentifier) -> None:
        """One more commit, of ten rows."""
        rows = pa.table(
            {"id": pa.array(range(10), pa.int64()), "part": pa.array([0] * 10), "text": ["y"] * 10}
        )
        self.load(table).append(rows.cast(self.load(table).schema().as_arrow()))

    def load(self, table: TableIdentifier) -> Table:
        return self.catalog.load_table((*table.namespace, table.name))

    def summaries(self, table: TableIdentifier) -> list[dict[str, str]]:
        return [
            {**snapshot.summary.additional_properties} if snapshot.summary else {}
            for snapshot in self.load(table).snapshots()
        ]

    def data_files(self, table: TableIdentifier) -> int:
        return int(self.load(table).inspect.files().num_rows)

    def rows(self, table: TableIdentifier) -> int:
        return int(self.load(table).scan().to_arrow().num_rows)


def runner_on(
    lakes: list[Lake],
    run_dir: Path,
    owner: str,
    options: LocalSparkOptions = QUICK_OPTIONS,
    store: Store | None = None,
) -> LocalRunner:
    """Without a store, what jobs are given and report is kept in memory."""
    return LocalRunner(
        options,
        {"lake": lakes[0].spark} if lakes else {},
        owner,
        APPLICATION,
        run_dir,
        store or FakeStore(),
        WallClock(),
    )


def job_on(
    table: TableIdentifier, job_id: str, action: Action | None = None, owner: str = ""
) -> Job:
    chosen = action or RewriteDataFiles()
    rule = RuleName(chosen.procedure.value)
    now = datetime.now(UTC)
    return Job(
        job_id,
        table,
        "uuid",
        rule,
        chosen,
        (),
        Estimate(1, 1, 0, 0),
        "",
        "v",
        50,
        "person",
        now,
        owner=owner,
    )


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
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.adapters.spark.lakes import QUICK_OPTIONS, Lake, job_on, one_by_one, runner_on
from maintainer.domain.identifier import TableIdentifier
lake, run_dir, wanted = Lake(Path(sys.argv[2])), Path(sys.argv[3]), json.loads(sys.argv[4])
options = replace(QUICK_OPTIONS, abandoned_timeout=timedelta(seconds=wanted["abandoned_seconds"]))
runner = runner_on([lake], run_dir, wanted["owner"], options)
owner = wanted["adopts_from"] or wanted["owner"]
job = job_on(TableIdentifier("lake", ("db",), "t"), "job-1", one_by_one(), owner=owner)
if not wanted["adopts_from"]:
    runner.submit(job)
while True:
    report = runner.report(job)
    if report is not None and (report.outcome or (report.progress.tasks_done or 0) > 0):
        break
if wanted["valid_seconds"]:
    runner.renew(job.job_id, timedelta(seconds=wanted["valid_seconds"]))
outcome = report.outcome and str(report.outcome)
print(json.dumps([runner.driver_pid, runner.java_pid, outcome]), flush=True)
sys.stdin.read()
"""


def one_by_one() -> RewriteDataFiles:
    """A rewrite that takes its time and commits once, at its end."""
    return RewriteDataFiles(
        options=(
            ("max-concurrent-file-group-rewrites", "1"),
            ("min-input-files", "2"),
            ("partial-progress.enabled", "false"),
        )
    )


@contextmanager
def daemon_at_work(
    root: Path,
    owner: str = "daemon-1",
    adopts_from: str = "",
    abandoned_seconds: float = 60,
    valid_seconds: float | None = None,
) -> Iterator[WorkingDaemon]:
    """Another process whose Spark works on `lake.db.t` as `job-1`, or that has adopted it; killed
    at the end at the latest.
    """
    wanted = json.dumps(
        {
            "owner": owner,
            "adopts_from": adopts_from,
            "abandoned_seconds": abandoned_seconds,
            "valid_seconds": valid_seconds,
        }
    )
    command = [sys.executable, "-c", DAEMON, str(REPOSITORY), str(root), str(root / "run"), wanted]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        driver_pid, java_pid, outcome = json.loads(process.stdout.readline())
        assert outcome is None, f"the job is over already: {outcome}"
        yield WorkingDaemon(process, driver_pid, java_pid)
        process.kill()


@dataclass(frozen=True)
class WorkingDaemon:
    process: subprocess.Popen[str]
    driver_pid: int
    java_pid: int

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    @property
    def has_left_nothing(self) -> bool:
        return read_start_time(self.java_pid) is None and read_start_time(self.driver_pid) is None
