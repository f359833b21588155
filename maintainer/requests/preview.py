"""Plan tables now without storing a plan, also under candidate policies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from maintainer.decide.gain import target_of_policy
from maintainer.decide.plan import decide
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import TableFault
from maintainer.domain.plan import Plan
from maintainer.domain.policy import PolicyLayer, PolicySet
from maintainer.domain.verdict import TablePreview
from maintainer.measure.health import measure
from maintainer.policy.effective import effective
from maintainer.policy.preview import compare_plans
from maintainer.ports import Ports
from maintainer.ports.store.tables import TableRecord
from maintainer.steps.table import measure_table, read_table, read_with_policies
from maintainer.steps.table_plan import circumstances_of, make_plan, policy_of


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
