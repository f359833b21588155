"""Keeps the leases of this process on its jobs, and ends jobs."""

from __future__ import annotations

from datetime import timedelta

from maintainer.admit.replicas import is_abandoned, is_due
from maintainer.compare.rule_history import learn_from_job
from maintainer.domain.action import Repair
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, JobEvent
from maintainer.domain.replica import Lease
from maintainer.ports import Ports
from maintainer.steps.notices import notify_end
from maintainer.steps.table_plan import plan_table


def hold_lease(ports: Ports, job: Job, lease: Lease | None) -> Lease | None:
    """Renew this process's lease on the job's table if it is due, or take over an ended lease.

    None while another process holds the lease.
    """
    is_ours = lease is not None and lease.holder == ports.runner.owner
    held = _renew(ports, lease) if lease is not None and is_ours else _take_over(ports, job, lease)
    if held is None and (is_ours or job.owner == ports.runner.owner):
        # another process has taken over the job: end this process's work on it
        ports.runner.cancel(job.job_id)
    return held


def _renew(ports: Ports, lease: Lease) -> Lease | None:
    now = ports.clock.now()
    if not is_due(lease, now, ports.lease_terms):
        return lease
    return ports.store.renew_lease(lease, now + ports.lease_terms.duration)


def _take_over(ports: Ports, job: Job, lease: Lease | None) -> Lease | None:
    now = ports.clock.now()
    holder = lease.holder if lease is not None else job.owner
    is_alive = ports.runner.lives(holder, job.pool)
    if not is_abandoned(lease, now, ports.lease_terms, is_holder_alive=is_alive):
        return None
    taken = ports.store.take_lease(job, lease, ports.runner.owner, now + ports.lease_terms.duration)
    if taken is not None:
        fields = {"by": taken.holder, "from": holder, "token": taken.token}
        ports.store.append_events([JobEvent(job.job_id, now, "job.taken_over", fields)])
    return taken


def renew_runner(ports: Ports, lease: Lease) -> bool:
    """Let the runner work until the lease ends; False if the lease has already ended."""
    left = min(ports.lease_terms.duration, lease.expires_at - ports.clock.now())
    if left <= timedelta(0):
        return False
    ports.runner.renew(lease.job_id, left)
    return True


def read_leases(ports: Ports) -> dict[str, Lease]:
    return {lease.job_id: lease for lease in ports.store.leases()}


def held_jobs(ports: Ports) -> list[Job]:
    """Return the unfinished jobs whose lease this process holds."""
    ours = {lease.job_id for lease in ports.store.leases() if lease.holder == ports.runner.owner}
    return [job for job in ports.store.unfinished_jobs() if job.job_id in ours]


def token_of(ports: Ports, job: Job) -> int | None:
    """Return the fencing token of the job's lease; None if this process does not hold the lease."""
    return next(
        (
            lease.token
            for lease in ports.store.leases()
            if (lease.job_id, lease.holder) == (job.job_id, ports.runner.owner)
        ),
        None,
    )


def store_end(ports: Ports, before: Job, after: Job, token: int | None) -> bool:
    """Store a job's final state, and what was learnt from it, in one transaction.

    False if the job has changed meanwhile. A table has only one unfinished job, so the history of
    its rule cannot change before this job has ended.
    """
    history = ports.store.rule_history(after.table_uuid)
    known = None if isinstance(after.rule, Repair) else history.get(after.rule)
    return ports.store.update_job(after, before.state, token, learn_from_job(known, after))


def finish_job(ports: Ports, before: Job, after: Job, token: int | None = None) -> bool:
    """Store a job's final state; False if another process has changed the job meanwhile."""
    if not store_end(ports, before, after, token):
        return False
    event = JobEvent(
        after.job_id, ports.clock.now(), f"job.{after.state}", {"message": after.failure_message}
    )
    ports.store.append_events([event])
    ports.telemetry.job_finished(after, None)
    notify_end(ports, after, None)
    _plan_again(ports, after.table)
    return True


def _plan_again(ports: Ports, table: TableIdentifier) -> None:
    """Replace the plan that led to the job, so that the next submit step does not repeat it."""
    record = ports.store.table(table)
    if record is not None and record.health is not None:
        plan_table(ports, record, record.health)
