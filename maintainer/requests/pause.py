"""Pause, resume and drain the tables of a scope."""

from __future__ import annotations

from maintainer.domain.admission import Halt, Standstill
from maintainer.domain.audit import AuditEntry, Deed, name_actor
from maintainer.domain.identifier import TableIdentifier, TablePattern
from maintainer.policy.halts import is_draining
from maintainer.ports import Ports
from maintainer.ports.store.tables import Pause
from maintainer.requests.cancel import request_cancel
from maintainer.steps.isolation import each


def pause_scope(ports: Ports, halted: Halt) -> int:
    """Store a pause or drain of a scope; return how many jobs in the scope still run.

    The scope comes from read_scope. UnknownTableError for a table that is not known.
    """
    if TablePattern(halted.scope).is_exact:
        ports.store.set_pause(
            TableIdentifier.parse(halted.scope), Pause(halted.by, halted.at, halted.reason)
        )
    else:
        ports.store.set_halt(halted)
    _record(
        ports,
        Deed.WORK_PAUSED,
        halted.by,
        halted.scope,
        {"reason": halted.reason, "is_drain": halted.is_drain},
    )
    return sum(halted.covers(job.table) for job in ports.store.unfinished_jobs())


def resume_scope(ports: Ports, scope: str, by: str) -> bool:
    """Remove the pause or drain of exactly this scope; False when there was none."""
    if TablePattern(scope).is_exact:
        table = TableIdentifier.parse(scope)
        is_lifted = table in ports.store.paused_tables()  # also of a table that no longer exists
        if is_lifted:
            ports.store.set_pause(table, None)
    else:
        is_lifted = ports.store.lift_halt(scope)
    if is_lifted:
        _record(ports, Deed.WORK_RESUMED, by, scope, {})
    return is_lifted


def cancel_scope(ports: Ports, scope: str, by: str) -> int:
    """Request the end of every job in the scope, and return how many were asked.

    Together with a pause this is the kill switch.
    """
    pattern = TablePattern(scope)
    covered = [job for job in ports.store.unfinished_jobs() if pattern.matches(job.table)]
    return len(each(covered, lambda job: request_cancel(ports, job, by)))


def read_standstill(ports: Ports) -> Standstill:
    """Read every pause and drain in force, and the jobs that still run under one."""
    paused = [
        Halt(str(table), pause.by, pause.at, pause.reason)
        for table, pause in ports.store.paused_tables().items()
    ]
    halts = tuple(sorted([*ports.store.halts(), *paused], key=lambda one: one.scope))
    running = tuple(
        job for job in ports.store.unfinished_jobs() if any(one.covers(job.table) for one in halts)
    )
    return Standstill(halts, is_draining(halts), running)


def _record(ports: Ports, deed: Deed, by: str, scope: str, fields: dict[str, object]) -> None:
    table = TableIdentifier.parse(scope) if TablePattern(scope).is_exact else None
    ports.store.record_audit(
        [
            AuditEntry(
                ports.clock.now(), name_actor(by), deed, table, fields={"scope": scope, **fields}
            )
        ]
    )
