"""Which events become notices, which facts need a person, and how they are described."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from re import compile as regex
from shlex import quote

from maintainer.domain.audit import BY_PROOF, BY_WAIT
from maintainer.domain.effect import Effect, RowProof
from maintainer.domain.health import Band, Grade
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault, TableFault
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.notice import InboxEntry, InboxKind, Notice, NoticeKind
from maintainer.domain.orphan import OrphanList
from maintainer.domain.plan import RuleHistory, Unenforced
from maintainer.domain.policy import PolicyProblem, SpentBudget, write_amount
from maintainer.domain.units import format_count, format_instant, format_size

# A single failure is only retried. From so many failures on, a notice is sent.
REPEATED_FAILURES = 3

_JOB = regex(r"\bjob (\S+)")  # in the daemon's reason for a pause
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


def entry_of_pause(table: TableIdentifier, by: str, reason: str, at: datetime) -> InboxEntry | None:
    """A table that the daemon paused, with its job; None for a person's own pause.

    The job's page and the command show what was wrong, and undo the job.
    """
    if by not in {BY_PROOF, BY_WAIT}:
        return None
    job = _JOB.search(reason)
    return InboxEntry(
        InboxKind.PAUSED, str(table), reason, at, table, "" if job is None else job[1]
    )


def entry_of_fault(fault: TableFault) -> InboxEntry:
    """A table that cannot be measured."""
    name = str(fault.table)
    return InboxEntry(InboxKind.UNREADABLE, name, fault.reason, fault.seen_at, fault.table)


def entry_of_catalog(fault: CatalogFault) -> InboxEntry:
    """A catalog, or one of its namespaces, that cannot be listed."""
    namespace = TableIdentifier(fault.catalog, fault.namespace, "").namespace_text
    sentence = f"namespace {namespace}: {fault.reason}" if namespace else fault.reason
    return InboxEntry(InboxKind.CATALOG, fault.catalog, sentence, fault.seen_at)


def entry_of_obstacle(subject: str, reason: str) -> InboxEntry:
    """A pool in which, or a catalog on whose tables, no job can run until a person acts."""
    return InboxEntry(
        InboxKind.RUNNER, subject, f"{reason}; its tables are measured, and no job runs"
    )


def entry_of_failures(table: TableIdentifier, history: RuleHistory) -> InboxEntry:
    """A rule whose jobs keep failing on a table."""
    times, reason = history.consecutive_failures, history.last_failure_reason
    return InboxEntry(
        InboxKind.FAILING,
        str(table),
        f"{history.rule} failed {times} times in a row, now with {reason}",
        history.last_failure_at,
        table,
        history.failures.job_id if history.failures is not None else "",
    )


def entry_of_problem(problem: PolicyProblem) -> InboxEntry:
    """A policy file with a mistake."""
    return InboxEntry(InboxKind.POLICY, problem.source, problem.message)


def entry_of_list(orphans: OrphanList) -> InboxEntry:
    """A list of orphan files that waits for approval."""
    sentence = describe_list(orphans)
    name = str(orphans.table)
    return InboxEntry(
        InboxKind.APPROVAL, name, sentence, orphans.made_at, orphans.table, orphans.list_id
    )


def entries_of_names(
    shared: Mapping[TableIdentifier, Sequence[TableIdentifier]],
) -> list[InboxEntry]:
    """One entry for each table with several names, under the first name."""
    firsts = {names[0]: names[1:] for names in shared.values()}
    return [
        InboxEntry(
            InboxKind.SHARED,
            str(first),
            f"the same table is registered as {', '.join(map(str, others))} too: keep one name, "
            f"or let a policy name the one to maintain",
            None,
            first,
        )
        for first, others in firsts.items()
    ]


def entries_of_observed(unenforced: Unenforced) -> list[InboxEntry]:
    """One entry for all tables in observe mode that maintenance would improve, if there are any."""
    number = unenforced.tables
    if not number:
        return []
    about = "about" if unenforced.is_whole else "at least"
    sentence = (
        f"{format_count(number, 'table')} would be maintained if "
        f"{'its' if number == 1 else 'their'} policy were in mode enforce: {about} "
        f"{format_count(unenforced.files_removed, 'data file')} fewer for "
        f"{unenforced.gb_hours:.2g} GB-hours"
    )
    return [InboxEntry(InboxKind.OBSERVED, "observe mode", sentence)]


def sort_entries(entries: Iterable[InboxEntry]) -> list[InboxEntry]:
    """The most urgent kind first, and within a kind by name."""
    order = tuple(InboxKind)
    return sorted(
        entries, key=lambda entry: (order.index(entry.kind), entry.subject, entry.sentence)
    )


def command_of(entry: InboxEntry) -> str:
    """The command that shows the problem, or checks whether it still exists."""
    name, reference = quote(entry.subject), quote(entry.reference)
    match entry.kind:
        case InboxKind.UNREADABLE:
            return f"maintainer scan {name}"
        case InboxKind.CATALOG | InboxKind.RUNNER:
            return "maintainer doctor"
        case InboxKind.POLICY:
            return "maintainer policies check"
        case InboxKind.APPROVAL:
            return f"maintainer orphans show {name} {reference}"
        case InboxKind.SHARED:
            return f"maintainer policies explain {name}"
        case InboxKind.OBSERVED:
            return "maintainer plan"
        case InboxKind.FAILING | InboxKind.PAUSED if entry.reference:
            return f"maintainer jobs show {reference}"
        case _:
            return f"maintainer why {name}"
