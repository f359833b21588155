"""Who may work on a table, among all the processes that use one store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Lease:
    """The right of one process to work on one table for one job; only its holder may move the job,
    and only with its token.
    """

    table_uuid: str
    job_id: str
    holder: str  # Runner.owner
    token: int  # grows with each holder of the table: an older one moves nothing any more
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class LeaseTerms:
    """How long a lease lasts without being renewed, and how far the clocks of two machines may
    differ.
    """

    duration: timedelta = timedelta(minutes=2)
    clock_margin: timedelta = timedelta(
        seconds=15
    )  # a takeover waits for so much longer: by then the holder's work has ended itself
