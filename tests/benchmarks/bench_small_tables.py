"""Many small tables in one warm driver that is a pod: what the daemon adds to Spark's own work, and
how often it asks the cluster.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from maintainer.adapters.store import open_store
from maintainer.domain.job import Job, JobState
from maintainer.ports.store import Store
from maintainer.ports.store.jobs import JobQuery
from tests.adapters.spark.lakes import Lake
from tests.benchmarks.harness import Measured, less_is_better
from tests.end_to_end.outliving import (
    find_free_port,
    find_store,
    write_head,
    write_policies,
)
from tests.end_to_end.places import on_kubernetes
from tests.end_to_end.programs import serving

TABLES: Final = 1_000
_LONGEST_SECONDS_PER_TABLE: Final = 20
_FEWEST_TABLES: Final = 50  # a start costs about fifty calls, which all jobs share
# An idle driver stays, so that a busy machine does not start another one.
_ONE_AT_A_TIME: Final = "spark:\n  max_jobs: 1\n  idle_timeout: 2m\n"
_SHOWN_EVERY: Final = 100
_MOST_OWN_SECONDS: Final = 2.0
_MOST_CALLS: Final = 2.0


@dataclass(frozen=True, slots=True)
class _Run:
    """What a fleet of small tables has cost."""

    jobs: int
    seconds: float  # from the first job's work in Spark to the last one's end
    spark_seconds: float  # of all jobs, one after another
    calls: int  # of the API server, by the daemon
    drivers: int

    @property
    def own_seconds(self) -> float:
        """Of each job, besides Spark's work."""
        return (self.seconds - self.spark_seconds) / self.jobs

    def __str__(self) -> str:
        return (
            f"{self.jobs} jobs by {self.drivers} driver: {self.seconds:.0f} s, of which Spark "
            f"worked {self.spark_seconds:.0f} s and {self.own_seconds:.2f} s for each were ours; "
            f"{self.calls} calls"
        )


def run(scale: float) -> list[Measured]:
    """At 1,000 tables of three files each, one job at a time."""
    tables = max(_FEWEST_TABLES, int(TABLES * scale))
    with tempfile.TemporaryDirectory() as directory:
        found = _run(Path(directory), tables)
    sys.stderr.write(f"bench: {found}\n")
    return [
        less_is_better(
            "a small table, besides Spark's work",
            found.own_seconds,
            _MOST_OWN_SECONDS,
            "the promise",
            "s",
            reach=1.0,
        ),
        Measured("Spark's work for it", found.spark_seconds / found.jobs, None, "", "s", None),
        less_is_better(
            "calls of the cluster's API for each job",
            max(found.calls / found.jobs, 0.001),
            _MOST_CALLS,
            "the promise",
            "calls",
            reach=1.0,
        ),
    ]


def _run(home: Path, tables: int) -> _Run:
    lake = Lake(home)
    for number in range(tables):
        lake.create(f"t{number}", files=3)
    sys.stderr.write(f"bench: {tables} tables\n")
    write_policies(lake)
    store = open_store(find_store(lake))
    with on_kubernetes(home) as place:
        link = f"  link: {{port: {find_free_port()}}}\n"
        (home / "maintainer.yaml").write_text(
            write_head(lake) + _ONE_AT_A_TIME + place.spark + link
        )
        with serving(home):
            deadline = time.monotonic() + 120 + tables * _LONGEST_SECONDS_PER_TABLE
            succeeded = JobQuery(states=(JobState.SUCCEEDED,), limit=1)
            shown = 0
            while (done := store.jobs(succeeded).total) < tables and time.monotonic() < deadline:
                if done - shown >= _SHOWN_EVERY:
                    shown = done
                    sys.stderr.write(f"bench: so far {_measure(store, place.count_calls())}\n")
                time.sleep(1)
            calls = place.count_calls()
    by_kind = ", ".join(f"{verb} {kind} {n}" for (verb, kind), n in calls.most_common())
    sys.stderr.write(f"bench: calls of the cluster's API: {by_kind}\n")
    measured = _measure(store, calls)
    store.close()
    lake.catalog.close()
    return measured


def _measure(store: Store, calls: Counter[tuple[str, str]]) -> _Run:
    spans = [
        (events["statement.started"], events["spark.finished"])
        for job in _jobs(store)
        if "spark.finished" in (events := _first_of_each(store, job.job_id))
    ]
    return _Run(
        len(spans),
        (max(end for _, end in spans) - min(begin for begin, _ in spans)).total_seconds(),
        sum((end - begin).total_seconds() for begin, end in spans),
        calls.total(),
        calls["create", "pods"],
    )


def _first_of_each(store: Store, job_id: str) -> dict[str, datetime]:
    """When each kind of event was first seen."""
    return {event.name: event.at for event in reversed(store.events(job_id))}


def _jobs(store: Store) -> Iterator[Job]:
    cursor: str | None = None
    while True:
        page = store.jobs(JobQuery(cursor=cursor))
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return
