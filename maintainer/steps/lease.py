"""Hold: the leases of the jobs that this process looks after are renewed, those of the dead are
taken over.
"""

from __future__ import annotations

from datetime import timedelta

from maintainer.admit.leases import is_abandoned, is_due
from maintainer.domain.job import Job, JobEvent
from maintainer.domain.lease import Lease
from maintainer.steps.ports import Ports


def hold_lease(ports: Ports, job: Job, lease: Lease | None) -> Lease | None:
    """Our lease on the job's table, renewed when that is due, or taken over from a process that is
    gone; None while the job is another's.
    """
    is_ours = lease is not None and lease.holder == ports.runner.owner
    held = _renew(ports, lease) if lease is not None and is_ours else _take_over(ports, job, lease)
    if held is None and (is_ours or job.owner == ports.runner.owner):
        ports.runner.cancel(
            job.job_id
        )  # another has it now: what is left of our work on it must end
    return held


def _renew(ports: Ports, lease: Lease) -> Lease | None:
    now = ports.clock.now()
    if not is_due(lease, now, ports.lease_terms):
        return lease
    return ports.store.renew_lease(lease, now + ports.lease_terms.duration)


def _take_over(ports: Ports, job: Job, lease: Lease | None) -> Lease | None:
    now = ports.clock.now()
    holder = lease.holder if lease is not None else job.owner
    if not is_abandoned(lease, now, ports.lease_terms, is_holder_alive=ports.runner.lives(holder)):
        return None
    taken = ports.store.take_lease(job, lease, ports.runner.owner, now + ports.lease_terms.duration)
    if taken is not None:
        fields = {"by": taken.holder, "from": holder, "token": taken.token}
        ports.store.append_events([JobEvent(job.job_id, now, "job.taken_over", fields)])
    return taken


def let_work(ports: Ports, lease: Lease) -> bool:
    """Let the runner work until the lease ends, and not a moment longer; False when it has ended
    already.
    """
    left = min(ports.lease_terms.duration, lease.expires_at - ports.clock.now())
    if left <= timedelta(0):
        return False
    ports.runner.renew(lease.job_id, left)
    return True


def read_leases(ports: Ports) -> dict[str, Lease]:
    """Every lease by its job's id."""
    return {lease.job_id: lease for lease in ports.store.leases()}


def held_jobs(ports: Ports) -> list[Job]:
    """The unfinished jobs that this process looks after."""
    ours = {lease.job_id for lease in ports.store.leases() if lease.holder == ports.runner.owner}
    return [job for job in ports.store.unfinished_jobs() if job.job_id in ours]


def token_of(ports: Ports, job: Job) -> int | None:
    """The token that moves the job; None when its lease is not ours."""
    return next(
        (
            lease.token
            for lease in ports.store.leases()
            if (lease.job_id, lease.holder) == (job.job_id, ports.runner.owner)
        ),
        None,
    )
