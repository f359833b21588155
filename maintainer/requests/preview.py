"""What changes nothing: plans, also under candidate policies, rescues, suggestions and reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from maintainer.decide.plan import decide
from maintainer.decide.rescue.plan import RescuePlan, plan_rescue
from maintainer.decide.suggestion import LOOKS_BACK, METRICS, SuggestedPolicy, suggest_policy
from maintainer.decide.targets import target_of_policy
from maintainer.domain.health import Compaction, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import TableFault
from maintainer.domain.plan import Plan, TablePreview
from maintainer.domain.policy import PolicyLayer, PolicySet
from maintainer.measure.health import measure
from maintainer.measure.impact import ImpactModels, StorageProfile
from maintainer.measure.report import CatalogStorage, Report, build_report, describe_storage
from maintainer.policy.effective import effective
from maintainer.policy.versions import compare_plans
from maintainer.ports import Ports
from maintainer.ports.store import Store
from maintainer.ports.store.jobs import JobQuery
from maintainer.ports.store.pages import MAX_PAGE
from maintainer.ports.store.tables import TableQuery, TableRecord
from maintainer.steps.isolation import PREVIEWS, TimeLimit
from maintainer.steps.table import measure_table, read_table, read_with_policies
from maintainer.steps.table_plan import circumstances_of, make_plan, policy_of

MOST_JOBS = 200  # the newest jobs of a table


def preview(
    ports: Ports, table: TableIdentifier, candidate: PolicyLayer | None = None
) -> Plan | TableFault:
    """Measure a table now and plan it, optionally with a candidate layer; nothing is stored."""
    inventory = read_table(ports, table, candidate)
    if isinstance(inventory, TableFault):
        return inventory
    health = measure(inventory)
    record = ports.store.table(table) or TableRecord(table, inventory.read_at)
    return make_plan(ports, record, health, policy_of(ports, health, candidate))


def preview_tables(
    ports: Ports, candidate: PolicySet, tables: Iterable[TableIdentifier], *, is_fresh: bool = False
) -> Iterator[TablePreview]:
    """Compare the verdicts of the candidate with the present ones, table by table.

    The comparison uses stored health, or with `is_fresh` asks the catalogs. No plan is stored.
    """
    current = ports.policies.current()
    for table in tables:
        if is_fresh:
            scanned = measure_table(ports, table)
            if isinstance(scanned, TableFault):
                yield TablePreview(table, unmeasured=f"{scanned.kind}: {scanned.reason}")
                continue
        yield _preview_table(ports, current, candidate, table, is_fresh=is_fresh)


def _preview_table(
    ports: Ports,
    current: PolicySet,
    candidate: PolicySet,
    table: TableIdentifier,
    *,
    is_fresh: bool,
) -> TablePreview:
    record = ports.store.table(table)
    if record is None or record.health is None:
        reason = (
            record.fault.reason
            if record is not None and record.fault is not None
            else "it was not scanned yet"
        )
        return TablePreview(table, unmeasured=reason)
    health = record.health
    before, after = (
        effective(policies, table, health.properties) for policies in (current, candidate)
    )
    health_after = health
    if is_fresh and target_of_policy(before) != target_of_policy(after):
        inventory = read_with_policies(ports, table, candidate)
        if isinstance(inventory, TableFault):
            return TablePreview(table, unmeasured=f"{inventory.kind}: {inventory.reason}")
        health_after = measure(inventory)
    return TablePreview(
        table,
        compare_plans(
            decide(health, before, circumstances_of(ports, record, health, before)),
            decide(health_after, after, circumstances_of(ports, record, health, after)),
        ),
    )


def suggest(ports: Ports, health: TableHealth) -> SuggestedPolicy:
    """Suggest a policy for a measured table; nothing is stored, and no catalog is asked."""
    now, store = ports.clock.now(), ports.store
    samples = {
        metric: store.history(health.table, metric, now - LOOKS_BACK, now) for metric in METRICS
    }
    jobs = store.jobs(JobQuery(table=health.table, limit=MOST_JOBS)).items
    own = [job for job in jobs if job.table_uuid == health.table_uuid]
    return suggest_policy(health, samples, own, now)


def rescue(ports: Ports, record: TableRecord, health: TableHealth) -> RescuePlan:
    """Plan the jobs until the table is healthy. Nothing is stored or started.

    TookTooLongError when it takes longer than the work on one table may; CrowdedError when too much
    other work does.
    """
    policy = policy_of(ports, health)
    circumstances = circumstances_of(ports, record, health, policy)
    limit = TimeLimit(should_stop=ports.is_stopping, abandoned=PREVIEWS)
    return limit.run(
        f"rescuing {health.table}",
        partial(plan_rescue, health, policy, circumstances, record.grade),
    )


@dataclass(frozen=True, slots=True)
class ReportQuestion:
    """The question that a report on small files answers."""

    within: tuple[str, ...] | None = None  # prefixes of the tables' names; None: all tables
    storage: StorageProfile | None = None  # of all tables; None: the storage of each table
    scans_per_day: float = 1.0  # full reads of each table


def report_small_files(store: Store, models: ImpactModels, asked: ReportQuestion) -> Report:
    """Report on the tables in question; InvalidValueError for impossible scans_per_day."""
    if asked.storage is not None:
        models = models.on(asked.storage)
    read = _read(store, TableQuery(within=asked.within))
    return build_report(read, models, asked.scans_per_day)


def report_storage(
    store: Store, models: ImpactModels, catalogs: Sequence[str], within: tuple[str, ...] | None
) -> tuple[CatalogStorage, ...]:
    """The storage of each catalog, by the tables whose names have one of the prefixes."""
    healths = (health for health, _ in _read(store, TableQuery(within=within)))
    return describe_storage(healths, models, catalogs)


def _read(store: Store, query: TableQuery) -> Iterator[tuple[TableHealth, Compaction | None]]:
    """Read the latest health of the tables, and what their compaction would achieve."""
    query = replace(query, limit=MAX_PAGE)
    while True:
        page = store.tables(query)
        for record in page.items:
            if record.health is not None:
                yield record.health, None if record.grade is None else record.grade.compaction
        if page.next_cursor is None:
            return
        query = replace(query, cursor=page.next_cursor)
