"""How far the predictions of files removed and GB-hours are off, on real Spark: tables that rot and are rewritten again and again.

The published figures are those of AutoComp (SIGMOD-Companion 2025): file reduction over-estimated by 28 %, cost under-estimated by 19 %.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from maintainer.domain.cost import EstimateError, Quantity
from maintainer.domain.errors import RunnerUnavailableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, JobState
from maintainer.domain.policy import RuleName
from tests.adapters.spark.lakes import Lake, runner_on
from tests.adapters.spark.workshop import Workshop, open_workshop
from tests.benchmarks.harness import Measured, less_is_better

ROUNDS = 12
TABLES = 3
FEWEST_FILES, MOST_FILES = 100, 300
FEWEST_ROWS, MOST_ROWS = 1_000, 5_000
PUBLISHED_FILES_PERCENT, PUBLISHED_COST_PERCENT = 28.0, 19.0


def run(scale: float) -> list[Measured]:
    """At scale 1: three tables, twelve rewrites of each; the later half of the rounds counts."""
    rounds = max(4, round(ROUNDS * scale))
    with TemporaryDirectory(prefix="bench-prediction-") as scratch:
        lake = Lake(Path(scratch))
        runner = runner_on([lake], Path(scratch) / "run", "bench-1")
        try:
            with open_workshop(lake, runner) as workshop:
                tables = [lake.create(f"t{number}", files=20, partitions=4 if number else 1) for number in range(TABLES)]
                jobs = [_rot_and_mend(workshop, table, turn) for turn in range(rounds) for table in tables]
        except RunnerUnavailableError as error:
            sys.stderr.write(f"bench: no Spark: {error}\n")
            return []
        finally:
            runner.close()
    later = [job for job in jobs[len(jobs) // 2 :] if job.state is JobState.SUCCEEDED]
    return [
        less_is_better("files removed, predicted off by", _mean_percent(later, Quantity.FILES_REMOVED), PUBLISHED_FILES_PERCENT, "AutoComp, published", "%"),
        less_is_better("GB-hours, predicted off by, in sum", _sum_percent(later), PUBLISHED_COST_PERCENT, "AutoComp, published", "%"),
        Measured("GB-hours, predicted off by, mean of single jobs", _mean_percent(later, Quantity.GB_HOURS), None, "", "%", None),
    ]


def _rot_and_mend(workshop: Workshop, table: TableIdentifier, turn: int) -> Job:
    random = Random(f"{table} {turn}")
    _write_files(workshop.lake, table, turn, random.randint(FEWEST_FILES, MOST_FILES), random.randint(FEWEST_ROWS, MOST_ROWS))
    return workshop.run(table, RuleName.REWRITE_DATA_FILES)


def _write_files(lake: Lake, table: TableIdentifier, turn: int, files: int, rows: int) -> None:
    loaded = lake.load(table)
    folder = lake.root / f"{table.name}-{turn}"
    folder.mkdir()
    partitions = 1 if loaded.spec().is_unpartitioned() else 4
    paths = []
    for number in range(files):
        path = folder / f"{number}.parquet"
        columns = {"id": pa.array(range(rows), pa.int64()), "part": pa.array([number % partitions] * rows), "text": [f"{number} {row}" for row in range(rows)]}
        pq.write_table(pa.table(columns), path)
        paths.append(f"file://{path}")
    loaded.add_files(paths)


def _errors(jobs: Sequence[Job], quantity: Quantity) -> list[EstimateError]:
    return [error for job in jobs for error in job.estimate_errors if error.quantity is quantity]


def _mean_percent(jobs: Sequence[Job], quantity: Quantity) -> float:
    errors = _errors(jobs, quantity)
    return 100 * sum(abs(error.predicted - error.actual) / error.actual for error in errors) / len(errors)


def _sum_percent(jobs: Sequence[Job]) -> float:
    errors = _errors(jobs, Quantity.GB_HOURS)
    actual = sum(error.actual for error in errors)
    return 100 * abs(sum(error.predicted for error in errors) - actual) / actual
