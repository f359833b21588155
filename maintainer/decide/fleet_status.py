"""The status of the fleet: one sentence, the tables by state, and what needs a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from shlex import quote

from maintainer.decide.notices import command_of, entries_of_observed, sort_entries
from maintainer.domain.health import Band
from maintainer.domain.notice import InboxEntry, InboxKind
from maintainer.domain.plan import Unenforced
from maintainer.domain.status import FleetStatus, Need, TableState, TableStatus
from maintainer.domain.units import format_count, format_duration

MOST_NAMED = 3  # tables in one command
_BROKEN = {TableState.UNREADABLE: "cannot be read", TableState.DAMAGED: "damaged"}
_BAD = (Band.CRITICAL, Band.DEGRADED)
# The verbs of one table and of several, in the order of a sentence.
_DOES = {
    TableState.BEING_MAINTAINED: ("is being maintained", "are being maintained"),
    TableState.DUE: ("is due", "are due"),
    TableState.WAITING: ("waits", "wait"),
    TableState.PAUSED: ("is paused", "are paused"),
    TableState.OBSERVED: ("is only observed", "are only observed"),
    TableState.NOT_COVERED: ("has no policy", "have no policy"),
}


def find_fleet_status(
    statuses: Sequence[TableStatus],
    problems: Iterable[InboxEntry],
    last_scan_at: datetime | None,
    now: datetime,
) -> FleetStatus:
    """The status of these tables; `problems` is the inbox without what is only observed."""
    needs = _find_needs(statuses, problems)
    counts = Counter(one.state for one in statuses)
    return FleetStatus(
        sentence=_describe(statuses, len(needs), last_scan_at, now),
        tables=len(statuses),
        states={state: counts[state] for state in TableState},
        last_scan_at=last_scan_at,
        needs=needs,
    )


def entries_of_statuses(statuses: Iterable[TableStatus]) -> list[InboxEntry]:
    """Damaged tables, and critical tables whose compaction is refused, each as an entry."""
    kinds = {TableState.DAMAGED: InboxKind.DAMAGED, TableState.WAITING: InboxKind.UNMAINTAINED}
    return [
        InboxEntry(kinds[one.state], str(one.table), one.sentence, one.since, one.table)
        for one in statuses
        if one.needs_person and one.state in kinds
    ]


def _find_needs(
    statuses: Sequence[TableStatus], problems: Iterable[InboxEntry]
) -> tuple[Need, ...]:
    entries = sort_entries([*problems, *entries_of_statuses(statuses)])
    observed = [(one.table, one.unenforced) for one in statuses if one.unenforced is not None]
    total = Unenforced(
        tables=len(observed),
        files_removed=sum(one.files_removed for _, one in observed),
        gb_hours=sum(one.gb_hours for _, one in observed),
    )
    names = "".join(f" {quote(str(table))}" for table, _ in observed)
    command = f"maintainer plan{names if len(observed) <= MOST_NAMED else ''}"
    return (
        *(Need(entry, command_of(entry)) for entry in entries),
        *(Need(entry, command) for entry in entries_of_observed(total)),
    )


def _describe(
    statuses: Sequence[TableStatus], needs: int, last_scan_at: datetime | None, now: datetime
) -> str:
    tables = format_count(len(statuses), "table")
    scanned = "No scan has finished yet"
    if last_scan_at is not None:
        age = max(now - last_scan_at, timedelta(0))
        scanned = f"last scan {format_duration(age)} ago"
    clauses = [*_describe_broken(statuses), *_describe_bad(statuses, now)]
    if clauses:
        return f"{'. '.join(clauses)}. {scanned.capitalize()}."
    people = f"{format_count(needs, 'problem')} {'needs' if needs == 1 else 'need'} a person"
    if last_scan_at is None:
        known = f"{tables} {'is' if len(statuses) == 1 else 'are'} known"
        return f"{scanned}: {', '.join([known, people] if needs else [known])}."
    if needs:
        start = f"No table is degraded or critical, but {people}"
    else:
        start = "All well" if statuses else "No table was found"
    return f"{start}: {tables}, {scanned}."


def _describe_broken(statuses: Sequence[TableStatus]) -> list[str]:
    """The tables that cannot be read or are damaged: `2 tables are damaged`."""
    counts = Counter(one.state for one in statuses)
    clauses = []
    for state, words in _BROKEN.items():
        if counts[state]:
            is_verb = state is TableState.UNREADABLE
            verb = "" if is_verb else "is " if counts[state] == 1 else "are "
            clauses.append(f"{format_count(counts[state], 'table')} {verb}{words}")
    return clauses


def _describe_bad(statuses: Sequence[TableStatus], now: datetime) -> list[str]:
    """The critical, then the degraded tables, by what happens to them."""
    clauses = []
    for band in _BAD:
        bad = [one for one in statuses if one.band is band and one.state not in _BROKEN]
        if not bad:
            continue
        groups = {state: [one for one in bad if one.state is state] for state in _DOES}
        said = "; ".join(
            _describe_group(state, group, len(bad), now) for state, group in groups.items() if group
        )
        verb = "is" if len(bad) == 1 else "are"
        clauses.append(f"{format_count(len(bad), 'table')} {verb} {band}: {said}")
    return clauses


def _describe_group(state: TableState, group: Sequence[TableStatus], of: int, now: datetime) -> str:
    who = "it" if of == 1 else f"{len(group):,}"
    said = f"{who} {_DOES[state][len(group) > 1]}"
    ends = [one.until for one in group if one.until is not None and one.until > now]
    if state is TableState.BEING_MAINTAINED and len(ends) == len(group):
        return f"{said}, done about {_write_clock(max(ends), now)}"
    if state is TableState.WAITING and ends:
        return f"{said}, until {_write_clock(min(ends), now)} at the earliest"
    return said


def _write_clock(at: datetime, now: datetime) -> str:
    """The time in UTC, with the date if it is another day."""
    at, now = at.astimezone(UTC), now.astimezone(UTC)
    return f"{at:%H:%M} UTC" if at.date() == now.date() else f"{at:%Y-%m-%d %H:%M} UTC"
