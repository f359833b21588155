"""The status of each table, and of the fleet or a part of it, from the store alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from maintainer.decide.fleet_status import find_fleet_status
from maintainer.decide.status import TableFacts, find_status
from maintainer.domain.access import is_within, write_scope
from maintainer.domain.admission import EVERYTHING, AdmissionDecision, ScopePause
from maintainer.domain.identifier import TableIdentifier, split_levels
from maintainer.domain.job import Job
from maintainer.domain.notice import InboxEntry, InboxKind
from maintainer.domain.plan import Plan
from maintainer.domain.status import FleetStatus, TableState, TableStatus
from maintainer.policy.layering import LayerIndex
from maintainer.ports import Ports
from maintainer.ports.store.pages import MAX_PAGE
from maintainer.ports.store.tables import TableQuery, TableRecord
from maintainer.requests.inbox import find_problems
from maintainer.steps.admission import read_queue
from maintainer.steps.isolation import StoppedError, TookTooLongError
from maintainer.steps.table_plan import make_plan, policy_of

# The plan of a table from its record, in which the stored plan is.
PlanOf = Callable[[TableRecord], Plan | None]


def keep_plan(record: TableRecord) -> Plan | None:
    """The stored plan: the daemon keeps it up to date."""
    return record.plan


def renew_plan(ports: Ports, record: TableRecord) -> Plan | None:
    """The stored plan, or a new one if it is out of date because no daemon runs."""
    plan, health, now = record.plan, record.health, ports.clock.now()
    if health is None:
        return plan
    is_late = record.next_plan_at is not None and record.next_plan_at <= now
    if (
        plan is not None
        and not is_late
        and plan.metadata_location == health.metadata_location
        and plan.policy_version == policy_of(ports, health).version
    ):
        return plan
    whole = ports.store.table(record.table)
    if whole is None or whole.health is None:
        return plan
    try:
        return make_plan(ports, whole, whole.health, policy_of(ports, whole.health))
    except (TookTooLongError, StoppedError):
        return plan


def assess_tables(
    ports: Ports,
    decisions: Sequence[AdmissionDecision],
    plan_of: PlanOf = keep_plan,
    prefix: str = "",
    within: tuple[str, ...] | None = None,
) -> tuple[TableStatus, ...]:
    """The status of each visible table in the place, by name; `decisions` is the queue.

    `prefix` is the place as read_prefix writes it, `within` are the visible prefixes (None: all).
    """
    policies = ports.policies.current()
    index = LayerIndex(policies.layers)
    jobs = {job.table_uuid: job for job in ports.store.unfinished_jobs()}
    scope_pauses = tuple(ports.store.scope_pauses())
    queue: dict[TableIdentifier, list[AdmissionDecision]] = defaultdict(list)
    for decision in decisions:
        queue[decision.candidate.table].append(decision)
    found = []
    for record in _list_tables(ports, prefix, within):
        table, health = record.table, record.health
        facts = TableFacts(
            table,
            record.fault,
            record.grade,
            plan_of(record),
            _find_job(record, jobs),
            (*scope_pauses, *_own_pause(record)),
            tuple(queue.get(table, ())),
            is_covered=table.catalog in policies.unread or bool(index.find(str(table))),
            is_partitioned=None if health is None else health.is_partitioned,
        )
        found.append(find_status(facts))
    return tuple(found)


def count_states(ports: Ports) -> Mapping[TableState, int]:
    """The number of tables in each state that has any, in the whole fleet."""
    return Counter(one.state for one in assess_tables(ports, read_queue(ports)))


def find_place_status(
    ports: Ports, statuses: Sequence[TableStatus], prefix: str, within: tuple[str, ...] | None
) -> FleetStatus:
    """The status of the place by `statuses`: those of its visible tables, as in assess_tables."""
    return find_fleet_status(
        statuses,
        [entry for entry in find_problems(ports) if _concerns(entry, prefix, within)],
        _find_last_scan(ports, prefix, within),
        ports.clock.now(),
    )


def is_in_place(table: TableIdentifier, prefix: str) -> bool:
    """True if the table is the place or lies in it."""
    return f"{table}.".startswith(prefix)


def _list_tables(
    ports: Ports, prefix: str, within: tuple[str, ...] | None
) -> Iterator[TableRecord]:
    # If the place is a table, its name is the prefix without the last dot.
    begins = (prefix.removesuffix("."),) if prefix else within
    query = TableQuery(limit=MAX_PAGE, within=begins, with_plans=True)
    while True:
        page = ports.store.tables(query)
        yield from (
            record
            for record in page.items
            if is_in_place(record.table, prefix) and is_within(record.table, within)
        )
        if page.next_cursor is None:
            return
        query = replace(query, cursor=page.next_cursor)


def _find_job(record: TableRecord, jobs: Mapping[str, Job]) -> Job | None:
    return None if record.health is None else jobs.get(record.health.table_uuid)


def _own_pause(record: TableRecord) -> tuple[ScopePause, ...]:
    pause = record.pause
    if pause is None:
        return ()
    return (ScopePause(str(record.table), pause.by, pause.at, pause.reason),)


def _concerns(entry: InboxEntry, prefix: str, within: tuple[str, ...] | None) -> bool:
    """True if the problem is one of the place, and shows nothing of other tables."""
    if entry.table is not None and entry.kind is not InboxKind.SHARED:
        return is_in_place(entry.table, prefix) and is_within(entry.table, within)
    if within is not None:
        return False
    if entry.table is not None:
        return is_in_place(entry.table, prefix)
    catalog = _catalog_of(prefix)
    return not prefix or entry.subject in {catalog, f"catalog {catalog}"}


def _catalog_of(prefix: str) -> str:
    return split_levels(prefix.removesuffix("."))[0] if prefix else ""


def _find_last_scan(ports: Ports, prefix: str, within: tuple[str, ...] | None) -> datetime | None:
    """The end of the last scan, of several catalogs of the one that was scanned longest ago."""
    ends = [
        max(cost.started_at + timedelta(seconds=cost.seconds) for cost in costs)
        for name, costs in ports.store.scan_costs().items()
        if costs
        and name in ports.catalogs
        and _catalog_of(prefix) in {"", name}
        and (within is None or any(one.startswith(_start_of(name)) for one in within))
    ]
    return min(ends, default=None)


def _start_of(catalog: str) -> str:
    return write_scope(catalog).removesuffix(EVERYTHING)
