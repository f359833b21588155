"""Which events become notices."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from maintainer.domain.budget import SpentBudget, write_amount
from maintainer.domain.effect import Effect, RowProof
from maintainer.domain.health import Band, Grade
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import TableFault
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.notice import Notice, NoticeKind
from maintainer.domain.orphan import OrphanList
from maintainer.domain.units import format_count, format_instant, format_size

# A single failure is only retried. From so many failures on, a notice is sent.
REPEATED_FAILURES = 3


MOST_NAMED = 5  # tables of one scan that get their own notice


def notice_of_job(
    job: Job, effect: Effect | None, consecutive_failures: int, now: datetime
) -> Notice | None:
    """The notice for a job that has just reached its final state.

    consecutive_failures includes this job.
    """
    if job.state is not JobState.FAILED:
        return None
    if job.failure_reason is FailureReason.UNPROVED or (
        effect is not None and effect.rows is RowProof.DIFFERENT
    ):
        return Notice(
            NoticeKind.FAILED_PROOF,
            str(job.table),
            f"job {job.job_id} ({job.rule}): {job.failure_message}",
            now,
            job.job_id,
        )
    if consecutive_failures >= REPEATED_FAILURES:
        sentence = (
            f"{job.rule} failed {consecutive_failures} times in a row, now with "
            f"{job.failure_reason}: {job.failure_message}"
        )
        return Notice(NoticeKind.REPEATED_FAILURE, str(job.table), sentence, now, job.job_id)
    return None


def notice_of_list(orphans: OrphanList, now: datetime) -> Notice:
    """The notice for an orphan list that waits for approval."""
    sentence = describe_list(orphans)
    return Notice(NoticeKind.APPROVAL_NEEDED, str(orphans.table), sentence, now, orphans.list_id)


def describe_list(orphans: OrphanList) -> str:
    """Describe an orphan list that waits for approval."""
    files, size = format_count(orphans.files, "orphan file"), format_size(orphans.bytes)
    warning = f" Check the list: {orphans.warning}." if orphans.warning is not None else ""
    return (
        f"{files} of {size} wait for approval as list {orphans.list_id}, until "
        f"{format_instant(orphans.expires_at)}.{warning}"
    )


def notice_of_budget(spent: SpentBudget, now: datetime) -> Notice:
    """The notice for a daily budget that is used up."""
    state, resource = spent.state, spent.state.resource
    waiting = "1 action waits" if spent.waiting == 1 else f"{spent.waiting:,} actions wait"
    until = f" until {format_instant(state.frees_at)}" if state.frees_at is not None else ""
    sentence = (
        f"{write_amount(resource, state.spent)} of {write_amount(resource, state.limit)} of "
        f"{state.name} are spent today; {waiting} for it{until}"
    )
    return Notice(NoticeKind.BUDGET_SPENT, state.name, sentence, now)


def notice_of_grade(
    table: TableIdentifier, before: Grade | None, after: Grade, now: datetime
) -> Notice | None:
    """The notice for a table that has just been measured.

    Only when it enters the critical band, or starts in it.
    """
    if after.band is not Band.CRITICAL or (before is not None and before.band is Band.CRITICAL):
        return None
    return Notice(NoticeKind.TABLE_CRITICAL, str(table), after.reason, now)


def notice_of_fault(fault: TableFault) -> Notice:
    """The notice for a table that was measured before and cannot be read any more."""
    return Notice(
        NoticeKind.TABLE_UNREADABLE,
        str(fault.table),
        f"{fault.kind}: {fault.reason}",
        fault.seen_at,
    )


def notice_of_wait(job: Job, reason: str, now: datetime, *, is_paused: bool) -> Notice:
    """The notice for a job whose proof waits too long, because its table cannot be read."""
    paused = "; the table is paused" if is_paused else ""
    sentence = (
        f"the effect of job {job.job_id} ({job.rule}) is unknown, because the table cannot be "
        f"read: {reason}{paused}"
    )
    return Notice(NoticeKind.FAILED_PROOF, str(job.table), sentence, now, job.job_id)


def notice_of_many(kind: NoticeKind, catalog: str, tables: Sequence[str], now: datetime) -> Notice:
    """One notice for the critical or unreadable tables of a scan beyond MOST_NAMED."""
    named = ", ".join(sorted(tables)[:MOST_NAMED])
    others = f" and {len(tables) - MOST_NAMED:,} others" if len(tables) > MOST_NAMED else ""
    more = "1 more table" if len(tables) == 1 else f"{len(tables):,} more tables"
    return Notice(kind, f"{more} of {catalog}", f"in the same scan: {named}{others}", now)


def notice_of_gone(
    table: TableIdentifier, paused_by: str, because: str, reason: str, now: datetime
) -> Notice:
    why = f": {because}" if because else ""
    sentence = (
        f"{reason}. {paused_by} paused it{why}. The pause lasts until somebody resumes the table, "
        f"also for a table with its UUID under another name."
    )
    return Notice(NoticeKind.PAUSED_TABLE_GONE, str(table), sentence, now)
