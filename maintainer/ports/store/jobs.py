"""The store's jobs with their events and leases, and the history of each rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from maintainer.domain.driver import JobLog
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, JobEvent, JobRule, JobState
from maintainer.domain.plan import RuleHistory
from maintainer.domain.policy import RuleName
from maintainer.domain.replica import Lease
from maintainer.ports.store.pages import Page

MAX_LOG_CHARACTERS = 256 * 1024  # of one job: the end of its log


@dataclass(frozen=True, slots=True)
class JobQuery:
    """Which jobs, newest first: created at since or later, and before until."""

    states: tuple[JobState, ...] = ()
    table: TableIdentifier | None = None
    limit: int = 100
    cursor: str | None = None
    within: tuple[str, ...] | None = None  # tables whose names have one of these prefixes
    rule: JobRule | None = None
    requested_by: str = ""  # as in the job; empty: anybody
    since: datetime | None = None
    until: datetime | None = None


class JobStore(Protocol):
    """The part of the store that concerns jobs."""

    def add_job(self, job: Job) -> bool:
        """Store a pending job.

        False (and nothing stored) when the table UUID has an unfinished job, or the id
        exists.
        """

    def update_job(
        self,
        job: Job,
        expected: JobState | Job,
        token: int | None = None,
        learnt: RuleHistory | None = None,
    ) -> bool:
        """Replace the job if it is in the expected state, or equals the expected job; else False.

        Under a lease, changing the state needs the lease's fencing token. `learnt` becomes the
        history of the job's rule if the job reaches a final state.
        """

    def job(self, job_id: str) -> Job | None:
        """One job; None when the id is unknown."""

    def jobs(self, query: JobQuery) -> Page[Job]:
        """A page of jobs, newest first."""

    def unfinished_jobs(self) -> Sequence[Job]:
        """Every job that is not in a final state, oldest first."""

    def unfinished_job_of(self, table_uuid: str) -> Job | None:
        """The table's unfinished job, if there is one."""

    def append_events(self, events: Iterable[JobEvent]) -> None:
        """Store events of jobs; the store assigns each event its sequence number."""

    def events(self, job_id: str, after: int = 0) -> Sequence[JobEvent]:
        """A job's events with a sequence number greater than `after`, in order."""

    def rule_history(self, table_uuid: str) -> Mapping[RuleName, RuleHistory]:
        """The history of each rule's finished jobs on this table."""

    def failing_rules(
        self, least: int, limit: int
    ) -> Sequence[tuple[TableIdentifier, RuleHistory]]:
        """Known tables' rules with at least `least` failures in a row, by table and rule."""


class LeaseStore(Protocol):
    """The part of the store that keeps one lease for each table UUID.

    A lease ends in the transaction that makes its job final. The table's next lease has a
    greater fencing token.
    """

    def submit_job(
        self, job: Job, expires_at: datetime, statements: Sequence[str] = ()
    ) -> Lease | None:
        """Store a pending job as submitted, and give its owner the table's lease.

        None, and nothing is stored, if another process was first. The audit entry of the
        submission has the Spark statements.
        """

    def leases(self) -> Sequence[Lease]:
        """Every lease that has a holder, by table UUID, including expired ones."""

    def renew_lease(self, lease: Lease, expires_at: datetime) -> Lease | None:
        """Return the lease with a later end; None when its holder has lost it."""

    def take_lease(
        self, job: Job, before: Lease | None, holder: str, expires_at: datetime
    ) -> Lease | None:
        """Give the lease of a job to another holder, with the next fencing token.

        None if the lease is no longer equal to `before` (None: free), or if the job is final.
        """

    def lay_down_leases(self, holder: str, expired_at: datetime) -> int:
        """Let all leases of a holder expire, so that others can take over its jobs at once.

        Returns the number of leases.
        """


def check_part(job_id: str, part: JobLog) -> None:
    """Raise InvalidValueError for a part beyond the bound."""
    if len(part.text) > MAX_LOG_CHARACTERS:
        raise InvalidValueError(
            f"a part of the log of job {job_id} has {len(part.text):,} characters; "
            f"the limit is {MAX_LOG_CHARACTERS:,}"
        )


class JobLogStore(Protocol):
    """The part of the store that keeps the end of each job's log.

    The runner of one process appends it, and every process reads it.
    """

    def append_job_log(self, job_id: str, part: JobLog) -> bool:
        """Store the next part of a log, and drop its oldest text beyond the limit.

        False, and nothing changes, when the part does not begin where the log ends, or when the
        log is complete. InvalidValueError beyond MAX_LOG_CHARACTERS.
        """

    def job_log(self, job_id: str, since: int = 0) -> JobLog | None:
        """The log from a position on, at most MAX_LOG_CHARACTERS; None when there is none."""

    def prune_job_logs(self, before: datetime) -> int:
        """Delete the logs of jobs that ended before then or are unknown; return how many parts."""
