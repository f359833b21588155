"""Plans one table, and stores the plan."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.explanation import give_verdicts
from maintainer.decide.plan import decide
from maintainer.domain.health import TableHealth
from maintainer.domain.orphan import Surroundings
from maintainer.domain.plan import Plan
from maintainer.domain.policy import Policy, PolicyLayer
from maintainer.domain.pool import Pool
from maintainer.domain.rules import RemoveOrphanFilesRule
from maintainer.policy.ambiguity import explain_unknown
from maintainer.policy.effective import effective
from maintainer.policy.restriction import find_scope_pause
from maintainer.policy.versions import with_candidate
from maintainer.ports import Ports
from maintainer.ports.store.tables import TableRecord
from maintainer.steps.isolation import TimeLimit
from maintainer.steps.registrations import registrations_of


def plan_table(ports: Ports, record: TableRecord, health: TableHealth) -> bool:
    """Plan one table; True if the plan differs from the last plan and was stored."""
    return plan_and_keep(ports, record, health, policy_of(ports, health))[0]


def plan_and_keep(
    ports: Ports, record: TableRecord, health: TableHealth, policy: Policy
) -> tuple[bool, Plan]:
    """Plan one table; True if the plan differs from the last plan and was stored."""
    made = make_plan(ports, record, health, policy)
    if record.plan is not None and replace(record.plan, made_at=made.made_at) == made:
        return False, made
    ports.store.record_plan(made, give_verdicts(made))
    ports.telemetry.plan_made(made)
    return True, made


def policy_of(ports: Ports, health: TableHealth, candidate: PolicyLayer | None = None) -> Policy:
    """Return the policy in force for the table, with the candidate layer if there is one."""
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
    """Make a plan under the given policy from the stored data; nothing is stored.

    `is_requested` says that a person requests the plan now. The errors are those of
    `decide_in_time`.
    """
    circumstances = circumstances_of(ports, record, health, policy, is_requested=is_requested)
    return decide_in_time(ports, record, health, policy, circumstances)


def decide_in_time(
    ports: Ports,
    record: TableRecord,
    health: TableHealth,
    policy: Policy,
    circumstances: Circumstances,
) -> Plan:
    """Make the decision within the time limit for work on one table.

    TookTooLongError if the limit is exceeded; StoppedError if the process is about to end;
    CrowdedError if too much other work runs on after its limit.
    """
    whole = add_surroundings(ports, policy, record, health, circumstances)
    limit = TimeLimit(should_stop=ports.is_stopping)
    return limit.run(f"planning {health.table}", partial(decide, health, policy, whole))


def add_surroundings(
    ports: Ports,
    policy: Policy,
    record: TableRecord,
    health: TableHealth,
    circumstances: Circumstances,
) -> Circumstances:
    """Add the other locations near the table's location, if the policy removes orphan files."""
    rule = policy.rule(RemoveOrphanFilesRule)
    if rule is None or not rule.is_enabled:
        return circumstances
    is_complete = not ports.store.has_unmeasured_tables() and not ports.store.catalog_faults()
    near = tuple(ports.store.locations_near(health.own_paths()))
    lists = tuple(ports.store.open_orphan_lists(health.table_uuid))
    return replace(
        circumstances, surroundings=Surroundings(record.first_seen_at, near, is_complete, lists)
    )


def circumstances_of(
    ports: Ports,
    record: TableRecord,
    health: TableHealth,
    policy: Policy,
    *,
    is_requested: bool = False,
) -> Circumstances:
    """Collect what a decision needs in addition to the table's health and policy.

    Of the policy only the pool is used: the resources of its jobs, and the facts about its Spark.
    """
    pool = ports.admission.pools.get(policy.runs_on, Pool())
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
        memory_gb=pool.memory_gb,
        admission=ports.admission,
        previous=record.plan,
        pause=find_scope_pause(ports.store.scope_pauses(), health.table),
        band=record.grade.band if record.grade is not None else None,
        application=ports.runner.application,
        tasks_at_once=pool.tasks_at_once,
        profiles=pool.profiles,
        no_runner=ports.no_runner.get(health.table.catalog) or find_obstacle(ports, policy),
        facts=ports.runner.facts.get(policy.runs_on),
    )


def find_obstacle(ports: Ports, policy: Policy) -> str | None:
    """Return why no job can run in the policy's pool; None if no reason is known."""
    pools = ports.admission.pools
    if policy.runs_on not in pools:
        return explain_unknown(policy.runs_on, policy.sources.get("runs_on", ""), pools)
    reason = ports.runner.obstacles.get(policy.runs_on)
    return None if reason is None else f"pool {policy.runs_on} cannot be used: {reason}"
