"""How processes that share a store divide the work: leases of tables, and duties for all."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

LONGEST_DUTY = timedelta(hours=1)  # without renewal; a longer duty was written by a wrong clock


class DutyKind(StrEnum):
    """What the work is."""

    WORK = "work"  # a duty that each worker has for itself, so that others see that it takes part
    SCAN = "scan"
    PLAN = "plan"
    QUEUE = "queue"
    NOTICES = "notices"
    PRUNE = "prune"
    STATUS = "policy_status"

    @property
    def is_of_a_catalog(self) -> bool:
        """True when each catalog has a duty of this kind, and not the fleet."""
        return self in {DutyKind.SCAN, DutyKind.PLAN}


@dataclass(frozen=True, slots=True, order=True)
class Duty:
    """One kind of work on one catalog, or on the fleet."""

    kind: DutyKind
    scope: str = ""  # a catalog; empty: the fleet; for WORK the worker

    def __str__(self) -> str:
        """Write it for people."""
        return f"{self.kind} {self.scope}".rstrip()


@dataclass(frozen=True, slots=True)
class HeldDuty:
    """Who has a duty."""

    duty: Duty
    holder: str  # Runner.owner


def list_duties(catalogs: frozenset[str], worker: str) -> frozenset[Duty]:
    """The duties that a worker with these catalogs takes part in."""
    return frozenset(
        Duty(kind, scope)
        for kind in DutyKind
        for scope in (
            catalogs if kind.is_of_a_catalog else {worker if kind is DutyKind.WORK else ""}
        )
    )


@dataclass(frozen=True, slots=True)
class Lease:
    """The right of one process to work on one table for one job.

    Only its holder may change the job, and only with its token.
    """

    table_uuid: str
    job_id: str
    holder: str  # Runner.owner
    token: int  # grows with each holder; the store ignores older tokens
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class LeaseTerms:
    """How long a lease lasts without renewal, and how much two machines' clocks may differ."""

    duration: timedelta = timedelta(minutes=2)
    # an extra wait before a takeover, after which the former holder has stopped its work
    clock_margin: timedelta = timedelta(seconds=15)
