"""A daemon's steps on a real Spark and a real catalog: what is asked for is decided, carried out
and proved as in production.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import count
from typing import Any

from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.adapters.policies.reading import parse_policy
from maintainer.adapters.spark.jobs import SparkRunner
from maintainer.adapters.spark.link import Driver
from maintainer.adapters.spark.tracking import TrackedJob
from maintainer.decide.jobs.safeguards import take_baseline
from maintainer.domain.action import Action
from maintainer.domain.health import TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import TableInventory
from maintainer.domain.job import Job, Outcome
from maintainer.domain.policy import PolicyLayer, RuleName
from maintainer.domain.pool import JobSize
from maintainer.ports import Ports
from maintainer.ports.runner import Runner
from maintainer.requests.run import request_run
from maintainer.steps.review import review
from maintainer.steps.submit import _hand_over, start_pending
from maintainer.steps.table import Measured, measure_table
from maintainer.steps.table_plan import policy_of
from maintainer.steps.watch import watch
from tests.adapters.spark.lakes import Lake, WallClock, job_on, wait_until
from tests.fakes.adapters.policies import FakePolicies
from tests.fakes.adapters.store import FakeStore
from tests.fakes.adapters.telemetry import FakeTelemetry

_numbers = count(1)


def run_sql(runner: SparkRunner, *statements: str) -> None:
    """Let the runner's own Spark write what the test is about: one session serves writers and jobs
    alike.
    """
    outcome = try_sql(runner, *statements)
    assert outcome.kind == "finished", outcome


def try_sql(runner: SparkRunner, *statements: str) -> Outcome:
    """How a job of these statements ends."""
    driver = await_driver(runner)
    tracked = runner._jobs.remember(TrackedJob(f"writer-{next(_numbers)}", carrier=driver.name))
    driver.run({"id": tracked.job_id, "statements": list(statements)}, None)
    wait_until(lambda: tracked.outcome is not None)
    assert tracked.outcome is not None
    return tracked.outcome


def await_driver(runner: SparkRunner) -> Driver:
    """A driver of small jobs; an idle one of another size may have to end for it."""
    found: list[Driver] = []

    def is_there() -> bool:
        driver = runner._running_driver(runner._options.driver_of(JobSize.SMALL))
        found.extend(() if driver is None else (driver,))
        return bool(found)

    wait_until(is_there)
    return found[0]


@dataclass
class Workshop:
    """One lake, its catalog read as the daemon reads it, and the steps on them."""

    lake: Lake
    runner: SparkRunner
    catalog: PyIcebergCatalog
    store: FakeStore
    ports: Ports

    def create(
        self,
        name: str,
        columns: str,
        clauses: str = "",
        properties: str = "",
        rows: tuple[str, ...] = (),
    ) -> TableIdentifier:
        """A table as Spark makes it, with the rows of these queries, one commit each."""
        table = TableIdentifier(self.lake.name, self.lake.namespace, name)
        full = ".".join((table.catalog, *table.namespace, table.name))
        tail = f" TBLPROPERTIES ({properties})" if properties else ""
        for depth in range(len(table.namespace)):
            self.lake.catalog.create_namespace_if_not_exists(table.namespace[: depth + 1])
        run_sql(
            self.runner,
            f"CREATE TABLE {full} ({columns}) USING iceberg {clauses}{tail}",
            *(f"INSERT INTO {full} {query}" for query in rows),
        )
        return table

    def sql(self, *statements: str) -> None:
        run_sql(self.runner, *statements)

    def look(self, table: TableIdentifier) -> TableInventory:
        inventory = self.catalog.inventory(table, lambda *_: 512 * 1024**2, lambda *_: {})
        assert isinstance(inventory, TableInventory), inventory
        return inventory

    def health(self, table: TableIdentifier) -> TableHealth:
        """As the last scan or job has measured it."""
        record = self.store.table(table)
        assert record is not None
        assert record.health is not None
        return record.health

    def measure(self, table: TableIdentifier) -> TableHealth:
        """Measure the table now."""
        measure_table(self.ports, table)
        return self.health(table)

    def grow_old(self, table: TableIdentifier, age: timedelta) -> None:
        """Let the daemon have seen the table first so long ago."""
        measure_table(self.ports, table)
        record = self.store._tables[table]
        self.store._tables[table] = replace(record, first_seen_at=record.first_seen_at - age)

    def run(self, table: TableIdentifier, rule: RuleName) -> Job:
        """What a person asks for, to its end."""
        measure_table(self.ports, table)
        plan, job = request_run(self.ports, table, (rule,), "person")
        assert job is not None, plan.skipped
        return self.finish(job)

    def begin(self, table: TableIdentifier, action: Action, **changes: Any) -> Job:
        """Hand over a job with this very action, without a policy; `changes` are those
        of the job.
        """
        return self.prepare(table, action, **changes)()

    def prepare(self, table: TableIdentifier, action: Action, **changes: Any) -> Callable[[], Job]:
        """The table is measured now, and the job handed over when what is returned is called."""
        scanned = measure_table(self.ports, table)
        assert isinstance(scanned, Measured), scanned
        made = job_on(table, self.ports.new_id(), action)
        job = replace(
            made,
            table_uuid=scanned.health.table_uuid,
            policy_version=policy_of(self.ports, scanned.health).version,
            **changes,
        )
        assert self.store.add_job(job)
        baseline = take_baseline(scanned.inventory, scanned.health)

        def hand_over() -> Job:
            assert _hand_over(self.ports, job, baseline)
            return self.job(job)

        return hand_over

    def job(self, job: Job) -> Job:
        """As it is now."""
        found = self.store.job(job.job_id)
        assert found is not None
        return found

    def await_end_of_work(self, job: Job) -> Outcome:
        """Watch until Spark is done with the job; nothing is measured and proved yet."""

        def is_done() -> bool:
            watch(self.ports, frozenset({job.job_id}))
            return self.job(job).outcome is not None

        wait_until(is_done)
        outcome = self.job(job).outcome
        assert outcome is not None
        return outcome

    def settle(self, job: Job) -> Job:
        """Measure the table again and give the job its final state."""
        review(self.ports, frozenset({job.job_id}))
        return self.job(job)

    def finish(self, job: Job) -> Job:
        """Start what is pending, and watch and review until this job is over."""
        start_pending(self.ports, frozenset({job.job_id}))

        def is_over() -> bool:
            watch(self.ports)
            review(self.ports)
            found = self.store.job(job.job_id)
            return found is not None and found.state.is_final

        wait_until(is_over)
        finished = self.store.job(job.job_id)
        assert finished is not None
        return finished


@contextmanager
def open_workshop(
    lake: Lake, runner: SparkRunner, policy: str = 'tables: "*"\nmode: enforce\n'
) -> Iterator[Workshop]:
    """The steps over a store in memory; the catalog is closed at the end, and the runner is left to
    the caller.
    """
    layer = parse_policy(policy, "all.yaml")
    assert isinstance(layer, PolicyLayer), layer
    catalog, store, clock = (
        PyIcebergCatalog(lake.name, lake.properties, WallClock(), aliases=lake.aliases),
        FakeStore(),
        WallClock(),
    )
    carrier: Runner = runner
    ports = Ports(
        {lake.name: catalog},
        store,
        FakePolicies(layer),
        carrier,
        FakeTelemetry(),
        clock,
        lambda: f"work-{next(_numbers)}",
    )
    try:
        yield Workshop(lake, runner, catalog, store, ports)
    finally:
        catalog.close()
