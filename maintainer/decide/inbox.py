"""Which facts need a person, and how they are described."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from maintainer.decide.notices import describe_list
from maintainer.domain.audit import BY_PROOF, BY_WAIT
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inbox import InboxEntry, InboxKind
from maintainer.domain.inventory import CatalogFault, TableFault
from maintainer.domain.orphan import OrphanList
from maintainer.domain.plan import RuleHistory
from maintainer.domain.policy import PolicyProblem
from maintainer.domain.units import format_count
from maintainer.domain.verdict import Unenforced


def entry_of_pause(table: TableIdentifier, by: str, reason: str, at: datetime) -> InboxEntry | None:
    """A table that the daemon paused; None for a person's own pause."""
    if by not in {BY_PROOF, BY_WAIT}:
        return None
    return InboxEntry(InboxKind.PAUSED, str(table), reason, at, table)


def entry_of_fault(fault: TableFault) -> InboxEntry:
    """A table that cannot be measured."""
    name = str(fault.table)
    return InboxEntry(InboxKind.UNREADABLE, name, fault.reason, fault.seen_at, fault.table)


def entry_of_catalog(fault: CatalogFault) -> InboxEntry:
    """A catalog, or one of its namespaces, that cannot be listed."""
    namespace = TableIdentifier(fault.catalog, fault.namespace, "").namespace_text
    sentence = f"namespace {namespace}: {fault.reason}" if namespace else fault.reason
    return InboxEntry(InboxKind.CATALOG, fault.catalog, sentence, fault.seen_at)


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
    """One entry for each table with several names, under the first one."""
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
    """One entry for all tables in observe mode that maintenance would improve; else none."""
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
