"""What people are told without asking."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class NoticeKind(StrEnum):
    """What happened: a closed set, so that people can choose and templates can name them."""

    # the table's metadata does not bear out what a job claims; the table is paused
    FAILED_PROOF = "failed_proof"
    REPEATED_FAILURE = "repeated_failure"
    TABLE_CRITICAL = "table_critical"
    BUDGET_SPENT = "budget_spent"
    # a table that had been measured cannot be read any more, though its catalog answers
    TABLE_UNREADABLE = "table_unreadable"
    APPROVAL_NEEDED = "approval_needed"  # a list of orphan files waits for somebody's word
    PAUSED_TABLE_GONE = "paused_table_gone"  # a paused table is not in its catalog any more


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing worth telling; of the same kind and subject it is told once in a while only."""

    kind: NoticeKind
    subject: str  # a table's or a budget's name
    sentence: str
    at: datetime
    job_id: str = ""


@dataclass(frozen=True, slots=True)
class NoticeLimits:
    """How often people are told at most, by all processes of one store together."""

    repeat_after: timedelta = timedelta(hours=6)  # the same kind about the same subject
    max_per_hour: int = 60


@dataclass(frozen=True, slots=True)
class PostedNotice:
    """A notice that the limits have let pass, and that the store keeps until somebody has got
    it.
    """

    number: int
    notice: Notice
    held_back: int = 0  # others, since the last that passed
