"""What the store remembers of who works on which table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from maintainer.domain.job import Job
from maintainer.domain.lease import Lease


class LeaseStore(Protocol):
    """One lease per table UUID. It ends when its job is final, in the same transaction; the table's
    next one has a greater token.
    """

    def submit_job(
        self, job: Job, expires_at: datetime, statements: Sequence[str] = ()
    ) -> Lease | None:
        """Store a pending job as the submitted one that this is, and give its owner the table's
        lease; None, and nothing is stored, when another was first.

        The audit log's entry of the submission has the statements that Spark will be given.
        """
        ...

    def leases(self) -> Sequence[Lease]:
        """Every lease that somebody holds, expired ones included, by table UUID."""
        ...

    def renew_lease(self, lease: Lease, expires_at: datetime) -> Lease | None:
        """The lease with a later end; None when its holder has lost it."""
        ...

    def take_lease(
        self, job: Job, before: Lease | None, holder: str, expires_at: datetime
    ) -> Lease | None:
        """The lease of a job with another holder and the next token; None when it is not as it was
        before (None: free), or the job is final.
        """
        ...

    def lay_down_leases(self, holder: str, expired_at: datetime) -> int:
        """End the time of all that the holder has, so that others may take its jobs over at once;
        returns how many.
        """
        ...
