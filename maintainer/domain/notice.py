"""Notices: messages to people through notification targets."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


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
