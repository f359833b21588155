"""Leases: which process may work on a table, among all processes that share a store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta


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
    clock_margin: timedelta = timedelta(
        seconds=15
    )  # an extra wait before a takeover, after which the former holder has stopped its work
