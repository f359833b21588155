"""Runs admission on the stored planned actions, and records which of them wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from maintainer.admit.admission import (
    WaitChange,
    admit,
    choose,
    find_blackout,
    find_wait_changes,
    is_shut,
)
from maintainer.admit.budgets import AdmissionCircumstances, find_spent, running_of
from maintainer.decide.explanation import give_wait
from maintainer.decide.notices import notice_of_budget
from maintainer.domain.admission import AdmissionDecision, Candidate
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job
from maintainer.domain.plan import RuleVerdict, StandingVerdict
from maintainer.domain.policy import day_of
from maintainer.domain.reads import COUNTED_SPAN
from maintainer.estimate.score import rate_reads
from maintainer.ports import Ports

WAITS_INTERVAL = timedelta(minutes=1)
# Comparing the planned actions of 100,000 tables takes some seconds. The step runs at most a tenth
# of the time.
WAITS_REST = 10
MOST_CHANGES = 5_000  # in one run; the next run finds the other changes
BATCH = 200  # changes in one transaction


def admit_now(ports: Ports) -> tuple[AdmissionDecision, ...]:
    """Choose the planned actions that start now, best first; nothing is started yet.

    Spent budgets are reported to the notifier. Only configured catalogs take part.
    """
    circumstances = read_circumstances(ports)
    candidates = [] if is_shut(circumstances) else read_candidates(ports)
    for spent in find_spent(candidates, circumstances):
        ports.notifier.notify(notice_of_budget(spent, circumstances.now))
    return choose(candidates, circumstances) if candidates else ()


def read_queue(ports: Ports) -> tuple[AdmissionDecision, ...]:
    """Return the queue, best first: which planned actions start now, and why the others wait."""
    return admit(read_candidates(ports), read_circumstances(ports))


def waits_of(ports: Ports, table: TableIdentifier) -> tuple[AdmissionDecision, ...]:
    """Return the part of the queue that concerns one table."""
    return tuple(decision for decision in read_queue(ports) if decision.candidate.table == table)


def is_blackout(ports: Ports) -> bool:
    """Whether there is a blackout of all tables, in which only requested jobs start."""
    return (
        find_blackout(
            AdmissionCircumstances(ports.clock.now(), ports.runner.capacities, ports.admission)
        )
        is not None
    )


def read_candidates(ports: Ports) -> list[Candidate]:
    """Read the planned actions of all configured catalogs, with the reads of their tables."""
    now = ports.clock.now()
    reads = rate_reads(ports.store.reads(day_of(now - COUNTED_SPAN), day_of(now)), now)
    return [
        replace(candidate, reads_per_day=reads[candidate.table])
        if candidate.table in reads
        else candidate
        for candidate in ports.store.candidates()
        if candidate.table.catalog in ports.catalogs
    ]


def reads_per_day_of(ports: Ports, table: TableIdentifier) -> float | None:
    """Return the reads per day that count for the table's score; None without a report."""
    now = ports.clock.now()
    found = ports.store.reads_of(table, day_of(now - COUNTED_SPAN), day_of(now))
    return None if found is None else rate_reads([found], now)[table]


def read_circumstances(ports: Ports) -> AdmissionCircumstances:
    """Collect the facts that admission needs now."""
    unfinished = ports.store.unfinished_jobs()
    now = ports.clock.now()
    return AdmissionCircumstances(
        now=now,
        free_slots=_find_free(ports, unfinished),
        rules=ports.admission,
        running=tuple(running_of(job) for job in unfinished),
        spending=ports.store.spending(day_of(now)),
        scope_pauses=tuple(ports.store.scope_pauses()),
    )


def _find_free(ports: Ports, unfinished: Iterable[Job]) -> Mapping[str, int]:
    """Return the number of free slots in each pool.

    A job that waits for its proof occupies no slot, because Spark has finished it. So an unreadable
    table does not block other tables. Jobs of another process use the slots of that process.
    """
    at_work = Counter(
        job.pool
        for job in unfinished
        if not job.awaits_review and job.owner in {"", ports.runner.owner}
    )
    return {pool: slots - at_work[pool] for pool, slots in ports.runner.capacities.items()}


def record_waits(ports: Ports) -> int:
    """Record planned actions as waiting or, if they no longer wait, as planned.

    Returns the number of changed verdicts. Every daemon on a store computes the same changes. If
    two daemons change a verdict, the second daemon finds it changed and does nothing.
    """
    circumstances = read_circumstances(ports)
    candidates, standing = read_candidates(ports), ports.store.standing_verdicts()
    wanted_by = {(candidate.table, candidate.rule) for candidate in candidates}
    ports.telemetry.queue_counted(
        Counter(one.code for one in standing if (one.table, one.rule) in wanted_by)
    )
    changes = find_wait_changes(candidates, standing, circumstances)[:MOST_CHANGES]
    changed = 0
    for start in range(0, len(changes), BATCH):
        if ports.is_stopping():
            break
        wanted = (
            _write_change(ports, change, circumstances.now)
            for change in changes[start : start + BATCH]
        )
        written = ports.store.replace_verdicts([change for change in wanted if change is not None])
        ports.telemetry.verdicts_changed(written)
        changed += len(written)
    return changed


def _write_change(
    ports: Ports, change: WaitChange, now: datetime
) -> tuple[StandingVerdict, RuleVerdict] | None:
    """Build a change of a verdict; None if the table's newest plan no longer has this rule."""
    standing = change.standing
    record = ports.store.table(standing.table)
    plan = record.plan if record is not None else None
    planned = (
        next((planned for planned in plan.planned if planned.rule is standing.rule), None)
        if plan is not None
        else None
    )
    return (
        (standing, give_wait(plan, planned, change.wait, now))
        if plan is not None and planned is not None
        else None
    )
