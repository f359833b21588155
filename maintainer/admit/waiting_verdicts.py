"""Convert admission waits into rule verdicts.

Only a wait for a daily budget or for the end of a blackout is a verdict. Waits for a slot, a turn
or a limit of parallel jobs change with every job: they are shown, but not stored.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from maintainer.admit.admission import find_blackout
from maintainer.admit.budgets import Ledger
from maintainer.admit.circumstances import AdmissionCircumstances
from maintainer.domain.admission import Candidate, Wait
from maintainer.domain.verdict import (
    PLANNED,
    StandingVerdict,
    code_of_wait,
    key_of_wait,
    planned_key,
)

# The share of a daily budget that must be free before "over budget" is withdrawn. Each job
# returns what it did not need, so the free share varies a little.
SPARE_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class WaitChange:
    """A standing verdict that is out of date, and the wait to replace it.

    None means that the action waits no longer.
    """

    standing: StandingVerdict
    wait: Wait | None


def find_wait_changes(
    candidates: Iterable[Candidate],
    standing: Iterable[StandingVerdict],
    circumstances: AdmissionCircumstances,
) -> tuple[WaitChange, ...]:
    """The standing verdicts to change.

    Every daemon on a store computes the same changes, independent of its own slots.
    """
    ledger, blackout = Ledger(circumstances), find_blackout(circumstances)
    known = {(verdict.table, verdict.table_uuid, verdict.rule): verdict for verdict in standing}
    busy = {running.table_uuid for running in circumstances.running}
    changes: list[WaitChange] = []
    for candidate in candidates:
        held = known.get((candidate.table, candidate.table_uuid, candidate.rule))
        if held is None or candidate.table_uuid in busy:
            # The table was planned again after the candidates were read, or will be planned
            # again after its running job.
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
