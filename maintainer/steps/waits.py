"""Tell in the history of verdicts what admission holds back for longer than a job takes."""

from __future__ import annotations

from datetime import datetime, timedelta

from maintainer.admit.waiting_verdicts import WaitChange, find_wait_changes
from maintainer.decide.explanation import give_wait
from maintainer.domain.verdict import RuleVerdict, StandingVerdict
from maintainer.steps.admission import look_around, read_candidates
from maintainer.steps.ports import Ports

INTERVAL = timedelta(minutes=1)
# looking through the planned actions of 100,000 tables takes some seconds, and must not become the
# daemon's main work
REST_FACTOR = 10
MOST_CHANGES = 5_000  # at one look; the others are found at the next one
BATCH = 200  # changes in one transaction


def note_waits(ports: Ports) -> int:
    """Let what a budget or a blackout holds back stand as waiting, and what it does not any more as
    planned; returns how many verdicts changed.

    Every daemon on a store does so, and comes to the same: of two that change one verdict at once,
    the second finds it changed.
    """
    circumstances = look_around(ports)
    changes = find_wait_changes(
        read_candidates(ports), ports.store.standing_verdicts(), circumstances
    )[:MOST_CHANGES]
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
    """None: the table was planned anew meanwhile, and its plan does not want this."""
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
