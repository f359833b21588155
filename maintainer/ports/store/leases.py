"""The store's leases: which process works on which table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from maintainer.domain.job import Job
from maintainer.domain.lease import Lease


class LeaseStore(Protocol):
    """The part of the store that keeps one lease for each table UUID.

    A lease ends in the transaction that makes its job final. The table's next lease has a
    greater fencing token.
    """

    def submit_job(
        self, job: Job, expires_at: datetime, statements: Sequence[str] = ()
    ) -> Lease | None:
        """Store a pending job as submitted, and give its owner the table's lease.

        None, and nothing is stored, when another process was first. The audit entry of the
        submission has the Spark statements.
        """
        ...

    def leases(self) -> Sequence[Lease]:
        """Every lease that has a holder, by table UUID, including expired ones."""
        ...

    def renew_lease(self, lease: Lease, expires_at: datetime) -> Lease | None:
        """Return the lease with a later end; None when its holder has lost it."""
        ...

    def take_lease(
        self, job: Job, before: Lease | None, holder: str, expires_at: datetime
    ) -> Lease | None:
        """Give the lease of a job to another holder, with the next fencing token.

        None when it is no longer as it was before (None: free), or the job is final.
        """
        ...

    def lay_down_leases(self, holder: str, expired_at: datetime) -> int:
        """Let all leases of a holder expire, so that others can take over its jobs at once.

        Returns how many leases those were.
        """
        ...
