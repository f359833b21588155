"""What people are told without asking."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class NoticeKind(StrEnum):
    """What happened: a closed set, so that people can choose and templates can name them."""

    FAILED_PROOF = "failed_proof"  # the table's metadata does not bear out what a job claims; the table is paused
    REPEATED_FAILURE = "repeated_failure"
    TABLE_CRITICAL = "table_critical"
    BUDGET_SPENT = "budget_spent"
    APPROVAL_NEEDED = "approval_needed"  # a list of orphan files waits for somebody's word


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing worth telling; of the same kind and subject it is told once in a while only."""

    kind: NoticeKind
    subject: str  # a table's or a budget's name
    sentence: str
    at: datetime
    job_id: str = ""
