"""Plan: decide from health and policy, and store the plan."""

from __future__ import annotations

from collections.abc import Callable
from zlib import crc32

from maintainer import __version__
from maintainer.decide.rechecks import find_next_check
from maintainer.decide.spark_fitness import list_restrictions
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.pool import DEFAULT_POOL
from maintainer.policy.restriction import hash_scope_pauses
from maintainer.policy.versions import version_of
from maintainer.ports import Ports
from maintainer.ports.store.plans import LONGEST_TRUST, PlanDue
from maintainer.steps.isolation import StoppedError, TookTooLongError, each
from maintainer.steps.table import keep_fault
from maintainer.steps.table_plan import plan_and_keep, policy_of


def plan(ports: Ports, is_ours: Callable[[str], bool] = lambda _catalog: True) -> int:
    """Plan every table that has changed or whose next check is due.

    Only tables are planned whose catalog is a duty of this process (`is_ours`). Returns the number
    of changed plans.
    """
    catalogs = [name for name in ports.catalogs if is_ours(name)]
    if ports.catalogs and not catalogs:
        return 0
    keep_policy_version(ports)
    # Another version of this program may decide differently. A pause or drain may cover many
    # tables.
    paused = hash_scope_pauses(ports.store.scope_pauses())
    version = f"{__version__} {ports.policies.current().version} {paused}".rstrip()
    # Plans also depend on the runner's obstacles, the pools, and the faults of the Spark version.
    facts = ports.runner.facts
    obstacles = (
        *sorted(ports.no_runner.items()),
        *sorted(ports.runner.obstacles.items()),
        *(sentence for pool in sorted(facts) for sentence in list_restrictions(facts[pool])),
        *(pool for pool in sorted(ports.admission.pools) if pool != DEFAULT_POOL),
    )
    if obstacles:
        version += f" {crc32(repr(obstacles).encode()):x}"
    due = ports.store.tables_to_plan(ports.clock.now(), version, catalogs)

    def plan_if_ours(due: PlanDue) -> bool:
        return is_ours(due.table.catalog) and _plan_due_table(ports, version, due)

    return sum(each(due, plan_if_ours, ports.is_stopping))


def _plan_due_table(ports: Ports, version: str, due: PlanDue) -> bool:
    record = ports.store.table(due.table)
    if record is None or record.health is None:
        return False
    policy = policy_of(ports, record.health)
    try:
        is_changed, made = plan_and_keep(ports, record, record.health, policy)
    except StoppedError:
        return False  # the table is planned by the next step, or after the next start
    except TookTooLongError as error:
        now = ports.clock.now()
        reason = f"planning was stopped: {error}"
        keep_fault(ports, TableFault(due.table, FaultKind.FAILED, reason, now))
        # The next step must not try again, because that would take as long.
        ports.store.mark_planned(due, version, now + LONGEST_TRUST)
        return False
    ports.store.mark_planned(due, version, find_next_check(made, policy, LONGEST_TRUST))
    return is_changed


def keep_policy_version(ports: Ports) -> bool:
    """Store the version in force; False if it is stored already."""
    policies = ports.policies.current()
    newest = next(iter(ports.store.policy_versions(1).items), None)
    if newest is not None and (newest.version, newest.problems) == (
        policies.version,
        policies.problems,
    ):
        return False  # otherwise each plan step would write thousands of files as text
    return ports.store.record_policies(version_of(policies, ports.clock.now()))
