"""Pause, resume and drain the tables of a scope, and roll jobs back, which pauses their table."""

from __future__ import annotations

from maintainer.decide.jobs.rollback import judge_rollback
from maintainer.domain.action import Repair, RollBack
from maintainer.domain.admission import PausesInForce, ScopePause
from maintainer.domain.audit import AuditEntry, Deed, name_actor
from maintainer.domain.errors import InvalidTransitionError
from maintainer.domain.identifier import TableIdentifier, TablePattern
from maintainer.domain.inventory import TableFault
from maintainer.domain.job import Job
from maintainer.domain.plan import Estimate
from maintainer.domain.pool import DEFAULT_POOL
from maintainer.policy.restriction import is_draining
from maintainer.ports import Ports
from maintainer.ports.store.tables import Pause
from maintainer.requests.run import request_cancel
from maintainer.steps.isolation import each
from maintainer.steps.table import measure_table

PRIORITY = 100


def pause_scope(ports: Ports, pause: ScopePause) -> int:
    """Store a pause or drain of a scope; return how many jobs in the scope still run.

    The scope comes from read_scope. UnknownTableError for a table that is not known.
    """
    if TablePattern(pause.scope).is_exact:
        table = TableIdentifier.parse(pause.scope)
        pause_table(ports, table, Pause(pause.by, pause.at, pause.reason))
    else:
        ports.store.set_scope_pause(pause)
        fields = {"reason": pause.reason, "is_drain": pause.is_drain}
        _record(ports, Deed.WORK_PAUSED, pause.by, pause.scope, fields)
    return sum(pause.covers(job.table) for job in ports.store.unfinished_jobs())


def resume_scope(ports: Ports, scope: str, by: str) -> bool:
    """Remove the pause or drain of exactly this scope; False when there was none."""
    if TablePattern(scope).is_exact:
        return resume_table(ports, TableIdentifier.parse(scope), by)
    is_lifted = ports.store.remove_scope_pause(scope)
    if is_lifted:
        _record(ports, Deed.WORK_RESUMED, by, scope, {})
    return is_lifted


def pause_table(ports: Ports, table: TableIdentifier, pause: Pause) -> None:
    """Store a pause of one table, even if its name looks like a glob."""
    ports.store.set_pause(table, pause)
    fields = {"reason": pause.reason, "is_drain": False}
    _record(ports, Deed.WORK_PAUSED, pause.by, table, fields)


def resume_table(ports: Ports, table: TableIdentifier, by: str) -> bool:
    """Remove the pause of one table; False when there was none."""
    is_lifted = table in ports.store.paused_tables()  # also for a table that no longer exists
    if is_lifted:
        ports.store.set_pause(table, None)
        _record(ports, Deed.WORK_RESUMED, by, table, {})
    return is_lifted


def cancel_scope(ports: Ports, scope: str, by: str) -> int:
    """Request the end of every job in the scope; return the number of these jobs.

    Together with a pause this is the kill switch.
    """
    pattern = TablePattern(scope)
    covered = [job for job in ports.store.unfinished_jobs() if pattern.matches(job.table)]
    return len(each(covered, lambda job: request_cancel(ports, job, by)))


def read_pauses_in_force(ports: Ports) -> PausesInForce:
    """Read every pause and drain in force, and the jobs that still run on their tables."""
    scope_pauses, paused_tables = ports.store.scope_pauses(), ports.store.paused_tables()
    paused = [
        ScopePause(str(table), pause.by, pause.at, pause.reason)
        for table, pause in paused_tables.items()
    ]
    # A paused table is compared by name: its name may read like a glob over other tables.
    running = tuple(
        job
        for job in ports.store.unfinished_jobs()
        if job.table in paused_tables or any(one.covers(job.table) for one in scope_pauses)
    )
    pauses = tuple(sorted([*scope_pauses, *paused], key=lambda one: one.scope))
    return PausesInForce(pauses, is_draining(scope_pauses), running)


def _record(
    ports: Ports, deed: Deed, by: str, scope: str | TableIdentifier, fields: dict[str, object]
) -> None:
    table = scope if isinstance(scope, TableIdentifier) else None
    named = {"scope": str(scope), **fields}
    ports.store.record_audit(
        [AuditEntry(ports.clock.now(), name_actor(by), deed, table, fields=named)]
    )


def request_rollback(ports: Ports, job: Job, requested_by: str) -> Job:
    """Pause the table and store the pending job that undoes the given one.

    InvalidTransitionError gives the reason when the job cannot be undone.
    """
    scanned = measure_table(ports, job.table)
    if isinstance(scanned, TableFault):
        raise InvalidTransitionError(f"job {job.job_id} cannot be rolled back: {scanned.reason}")
    action = judge_rollback(job, scanned.inventory)
    unfinished = ports.store.unfinished_job_of(job.table_uuid)
    if isinstance(action, str):
        raise InvalidTransitionError(f"job {job.job_id} cannot be rolled back: {action}")
    if unfinished is not None:
        raise InvalidTransitionError(
            f"job {job.job_id} cannot be rolled back yet: job {unfinished.job_id} is working on "
            f"the table, and a table has one job at a time"
        )
    # The pause comes first, so that the undone work is not repeated until a person resumes
    # the table.
    reason = (
        f"job {job.job_id} ({job.rule}) was rolled back; resume the table when it may be worked "
        f"on again"
    )
    pause_table(ports, job.table, Pause(requested_by, ports.clock.now(), reason))
    undoing = _make_job(ports, job, action, requested_by)
    if not ports.store.add_job(undoing):
        raise InvalidTransitionError(
            f"job {job.job_id} cannot be rolled back yet: another job of the table has started; "
            f"ask again"
        )
    return undoing


def _make_job(ports: Ports, job: Job, action: RollBack, requested_by: str) -> Job:
    # The job's pool may no longer exist, and setting main back needs little memory.
    pool = job.pool if job.pool in ports.admission.pools else DEFAULT_POOL
    return Job(
        job_id=ports.new_id(),
        table=job.table,
        table_uuid=job.table_uuid,
        rule=Repair.ROLL_BACK,
        action=action,
        findings=(),
        estimate=Estimate(0, 0, 0, 0, note=f"back to snapshot {action.snapshot_id}"),
        reason=f"undo job {job.job_id} ({job.rule}): main goes back from snapshot "
        f"{action.expected_snapshot_id} to {action.snapshot_id}",
        policy_version="",
        priority=PRIORITY,
        requested_by=requested_by,
        created_at=ports.clock.now(),
        memory_gb=ports.admission.pools[pool].memory_gb,
        pool=pool,
    )
