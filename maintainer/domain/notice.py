"""What people are told: notices through notification targets, and the inbox of open problems."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from maintainer.domain.identifier import TableIdentifier


class NoticeKind(StrEnum):
    """What happened: a closed set, so that settings and templates can name it."""

    # the metadata does not confirm what a job reported; the table is paused
    FAILED_PROOF = "failed_proof"
    REPEATED_FAILURE = "repeated_failure"
    TABLE_CRITICAL = "table_critical"
    BUDGET_SPENT = "budget_spent"
    # a measured table can no longer be read, although its catalog answers
    TABLE_UNREADABLE = "table_unreadable"
    APPROVAL_NEEDED = "approval_needed"  # an orphan list waits for approval
    PAUSED_TABLE_GONE = "paused_table_gone"  # a paused table is no longer in its catalog


@dataclass(frozen=True, slots=True)
class Notice:
    """One message. Messages of the same kind and subject are sent only once in a while."""

    kind: NoticeKind
    subject: str  # the name of a table or a budget
    sentence: str
    at: datetime
    job_id: str = ""


@dataclass(frozen=True, slots=True)
class NoticeLimits:
    """The highest rate of notices, for all processes that share a store."""

    repeat_after: timedelta = timedelta(hours=6)  # for the same kind and subject
    max_per_hour: int = 60


@dataclass(frozen=True, slots=True)
class PostedNotice:
    """A notice within the limits. The store keeps it until a target has received it."""

    number: int
    notice: Notice
    held_back: int = 0  # notices held back since the last notice that was sent


class InboxKind(StrEnum):
    """Why a person is needed, the most urgent first."""

    PAUSED = "paused"  # the daemon paused the table, because a proof failed
    UNREADABLE = "unreadable"  # the table cannot be measured
    DAMAGED = "damaged"  # metadata is missing or wrong, or deletes have no effect
    CATALOG = "catalog"  # a catalog cannot be listed completely
    RUNNER = "runner"  # no job can run in a pool, or on a catalog's tables
    FAILING = "failing"  # jobs of a rule keep failing on the table
    UNMAINTAINED = "unmaintained"  # the table is critical, and its compaction is refused
    POLICY = "policy"  # a policy file has an error
    APPROVAL = "approval"  # a list of orphan files waits for approval
    SHARED = "shared"  # one table has several names
    OBSERVED = "observed"  # tables would be maintained if their policy had the mode enforce


@dataclass(frozen=True, slots=True)
class InboxEntry:
    """One problem that only a person can resolve."""

    kind: InboxKind
    subject: str  # the name of a table or of a catalog, or the source of a policy
    sentence: str
    since: datetime | None = None  # None: unknown
    table: TableIdentifier | None = None
    reference: str = ""  # the id of an orphan list or of a job
