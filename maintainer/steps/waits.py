"""Record in the history of verdicts which planned actions a budget or a blackout delays."""

from __future__ import annotations

from datetime import datetime, timedelta

from maintainer.admit.waiting_verdicts import WaitChange, find_wait_changes
from maintainer.decide.explanation import give_wait
from maintainer.domain.verdict import RuleVerdict, StandingVerdict
from maintainer.steps.admission import look_around, read_candidates
from maintainer.steps.ports import Ports

INTERVAL = timedelta(minutes=1)
# Comparing the planned actions of 100,000 tables takes some seconds. The step runs a tenth of the
# time at most.
REST_FACTOR = 10
MOST_CHANGES = 5_000  # at one time; the next run finds the others
BATCH = 200  # changes in one transaction


def note_waits(ports: Ports) -> int:
    """Record planned actions as waiting or, when they wait no longer, as planned.

    Returns how many verdicts changed. Every daemon on a store computes the same changes: of two
    that change one verdict, the second finds it changed already.
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
    """None when the table was planned again meanwhile and no longer wants this rule."""
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
