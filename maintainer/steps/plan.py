"""Plan: decide from health and policy, and store the plan."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from zlib import crc32

from maintainer import __version__
from maintainer.decide.circumstances import Circumstances
from maintainer.decide.explanation import give_verdicts
from maintainer.decide.orphans.scan import Surroundings
from maintainer.decide.plan import decide
from maintainer.domain.errors import UnknownTableError
from maintainer.domain.health import TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import TableFault
from maintainer.domain.location import paths_of
from maintainer.domain.plan import Plan
from maintainer.domain.policy import Policy, PolicyLayer, RuleName
from maintainer.measure.health import measure
from maintainer.policy.effective import effective
from maintainer.policy.halts import digest_halts, find_halt
from maintainer.policy.preview import with_candidate
from maintainer.ports.store import LONGEST_TRUST, PlanDue, TableRecord
from maintainer.steps.each import each
from maintainer.steps.names import registrations_of
from maintainer.steps.ports import Ports
from maintainer.steps.scan import read_table
from maintainer.steps.versions import note_policies


def plan(ports: Ports) -> int:
    """Plan every table that has changed or whose next check is due.

    Returns how many plans changed.
    """
    note_policies(ports)
    # Another version of this program may decide differently. A pause or drain may cover any
    # number of tables.
    version = (
        f"{__version__} {ports.policies.current().version} {digest_halts(ports.store.halts())}"
    ).rstrip()
    if ports.no_runner:  # another configuration may have a runner for these catalogs
        version += f" {crc32(repr(sorted(ports.no_runner.items())).encode()):x}"
    due = ports.store.tables_to_plan(ports.clock.now(), version, ports.catalogs)
    return sum(each(due, partial(_plan_due_table, ports, version), ports.is_stopping))


def _plan_due_table(ports: Ports, version: str, due: PlanDue) -> bool:
    record = ports.store.table(due.table)
    if record is None or record.health is None:
        return False
    policy = policy_of(ports, record.health)
    is_changed, made = _plan_and_keep(ports, record, record.health, policy)
    ports.store.mark_planned(due, version, _next_look(made, policy))
    return is_changed


def _next_look(plan: Plan, policy: Policy) -> datetime:
    """When to plan the table again: at the earliest time that a rule names.

    A plan with work is due at the next full hour, because its instants move on; at every step
    if a window or blackout may begin.
    """
    looks = [skipped.next_at for skipped in plan.skipped if skipped.next_at is not None]
    if plan.planned and (policy.window is not None or policy.blackouts):
        return plan.made_at
    if plan.planned:
        looks.append(plan.made_at.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1))
    return min([*looks, plan.made_at + LONGEST_TRUST])


def plan_table(ports: Ports, record: TableRecord, health: TableHealth) -> bool:
    """Plan one table; the plan is stored, and counted, only when it differs from the last one."""
    return _plan_and_keep(ports, record, health, policy_of(ports, health))[0]


def _plan_and_keep(
    ports: Ports, record: TableRecord, health: TableHealth, policy: Policy
) -> tuple[bool, Plan]:
    made = make_plan(ports, record, health, policy)
    if record.plan is not None and replace(record.plan, made_at=made.made_at) == made:
        return False, made
    ports.store.record_plan(made, give_verdicts(made))
    ports.telemetry.plan_made(made)
    return True, made


def policy_of(ports: Ports, health: TableHealth, candidate: PolicyLayer | None = None) -> Policy:
    """The policy in force for the table, with the candidate layer tried out if there is one."""
    return effective(
        with_candidate(ports.policies.current(), candidate), health.table, health.properties
    )


def make_plan(
    ports: Ports,
    record: TableRecord,
    health: TableHealth,
    policy: Policy,
    *,
    is_requested: bool = False,
) -> Plan:
    """Make a plan under the given policy from what the store knows; nothing is stored.

    `is_requested`: a person asks for the plan now.
    """
    return decide(
        health,
        policy,
        look_around(
            ports,
            policy,
            record,
            health,
            circumstances_of(ports, record, health, is_requested=is_requested),
        ),
    )


def look_around(
    ports: Ports,
    policy: Policy,
    record: TableRecord,
    health: TableHealth,
    circumstances: Circumstances,
) -> Circumstances:
    """Add what lies around the table's location, where the policy removes orphan files."""
    rule = policy.rule(RuleName.REMOVE_ORPHAN_FILES)
    if rule is None or not rule.is_enabled:
        return circumstances
    counters = ports.store.counters()
    is_complete = counters.tables == counters.measured_tables and not ports.store.catalog_faults()
    near = tuple(ports.store.places_near(paths_of(health.location, health.properties)))
    lists = tuple(ports.store.open_orphan_lists(health.table_uuid))
    return replace(
        circumstances, surroundings=Surroundings(record.first_seen_at, near, is_complete, lists)
    )


def circumstances_of(
    ports: Ports, record: TableRecord, health: TableHealth, *, is_requested: bool = False
) -> Circumstances:
    """What a decision rests on apart from the table's health and policy."""
    unfinished = ports.store.unfinished_job_of(health.table_uuid)
    return Circumstances(
        now=ports.clock.now(),
        history=ports.store.rule_history(health.table_uuid),
        pins=tuple(ports.store.pins(health.table_uuid)),
        in_flight=unfinished.job_id if unfinished is not None else None,
        paused_by=record.pause.by if record.pause is not None else None,
        registrations=registrations_of(ports, health.table, health.table_uuid, health.properties),
        is_requested=is_requested,
        calibration=ports.store.calibration(health.table_uuid, health.table.catalog),
        memory_gb=ports.admission.memory_gb,
        admission=ports.admission,
        previous=record.plan,
        halt=find_halt(ports.store.halts(), health.table),
        band=record.grade.band if record.grade is not None else None,
        application=ports.runner.application,
        tasks_at_once=ports.admission.tasks_at_once,
        profiles=ports.admission.profiles,
        no_runner=ports.no_runner.get(health.table.catalog),
    )


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


def measured_record(ports: Ports, table: TableIdentifier) -> tuple[TableRecord, TableHealth]:
    """A table's record and health; UnknownTableError when it is unknown or was never measured."""
    record = ports.store.table(table)
    if record is None:
        message = f"table {table} is not known; `maintainer scan` lists what the catalogs have"
        raise UnknownTableError(message)
    if record.health is None:
        reason = record.fault.reason if record.fault is not None else "it was not scanned yet"
        message = f"table {table} has not been measured: {reason}"
        raise UnknownTableError(message)
    return record, record.health
