"""What of admission's waits is a verdict: what a day's budget or a blackout holds back.

A place in the queue, a turn and a limit of jobs side by side move with every job: they are shown as
they are now, and kept nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from maintainer.admit.admission import AdmissionCircumstances, Ledger, find_blackout
from maintainer.domain.admission import Candidate, Wait
from maintainer.domain.verdict import (
    PLANNED,
    StandingVerdict,
    code_of_wait,
    key_of_wait,
    planned_key,
)

# Of a daily budget, that must be left besides before "over budget" is taken back: each job gives
# back what it did not need, so that a little comes and goes.
SPARE_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class WaitChange:
    """A standing verdict that is not true any more: what is planned waits now, for something else,
    or not at all (None).
    """

    standing: StandingVerdict
    wait: Wait | None


def find_wait_changes(
    candidates: Iterable[Candidate],
    standing: Iterable[StandingVerdict],
    circumstances: AdmissionCircumstances,
) -> tuple[WaitChange, ...]:
    """Which standing verdicts on candidates are to change; the same for each of several daemons,
    whatever places it has.
    """
    ledger, blackout = Ledger(circumstances), find_blackout(circumstances)
    known = {(verdict.table, verdict.table_uuid, verdict.rule): verdict for verdict in standing}
    busy = {running.table_uuid for running in circumstances.running}
    changes: list[WaitChange] = []
    for candidate in candidates:
        held = known.get((candidate.table, candidate.table_uuid, candidate.rule))
        if held is None or candidate.table_uuid in busy:
            # planned anew since the candidates were read, or about to be: a job is at work
            continue
        wait = ledger.find_too_large(candidate) or blackout or ledger.find_spent(candidate)
        almost = wait or ledger.find_spent(candidate, SPARE_SHARE)
        if (held.code, held.key) not in {_mark(held.key, wait), _mark(held.key, almost)}:
            changes.append(WaitChange(held, wait))
    return tuple(changes)


def _mark(key: str, wait: Wait | None) -> tuple[str, str]:
    return (
        (PLANNED, planned_key(key))
        if wait is None
        else (code_of_wait(wait).value, key_of_wait(key, wait))
    )
