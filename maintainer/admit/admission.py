"""Decide which planned actions start now, in which order, and why the others wait.

The reasons to wait become verdicts of their rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from maintainer.admit.budgets import AdmissionCircumstances, Ledger
from maintainer.admit.slot_shares import SlotShares
from maintainer.domain.admission import (
    EVERYTHING,
    AdmissionDecision,
    Candidate,
    Scorer,
    Wait,
    WaitCode,
    code_of_wait,
    key_of_wait,
)
from maintainer.domain.cost import Score
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import (
    PLANNED,
    StandingVerdict,
    planned_key,
)
from maintainer.domain.policy import RuleName
from maintainer.domain.pool import DEFAULT_POOL
from maintainer.estimate.score import score_all, value_all
from maintainer.policy.windows import blackout_end, is_blacked_out

_ORDER = {name: position for position, name in enumerate(RuleName)}
# The share of a daily budget that must be free before "over budget" is withdrawn. Each job
# returns what it did not need, so the free share varies a little.
SPARE_SHARE = 0.1


def admit(
    candidates: Iterable[Candidate], circumstances: AdmissionCircumstances
) -> tuple[AdmissionDecision, ...]:
    """Decide for each candidate whether it starts now, best first.

    The algorithm is greedy: in the order of the scores, a candidate starts if nothing blocks
    it and if it fits into the rest of every budget. On one table at most one candidate starts, the
    first in the fixed order, because each rule prepares the next. A candidate that exceeds a
    whole day's budget does not block the table's next candidate. An owner that has its share of a
    pool's slots gets more of them only after all others.
    """
    everyone = list(candidates)
    rules = circumstances.rules
    scores = score_all(
        everyone, rules.scorer, circumstances.now, rules.sla, _quota_used(circumstances)
    )
    ranked = sorted(zip(everyone, scores, strict=True), key=_rank)
    admission = _Admission(circumstances, everyone)
    waits = {
        id(candidate): admission.judge(candidate)
        for candidate, _ in admission.share_out((one, score.value) for one, score in ranked)
    }
    return tuple(
        AdmissionDecision(candidate, score, waits[id(candidate)]) for candidate, score in ranked
    )


def choose(
    candidates: Iterable[Candidate], circumstances: AdmissionCircumstances
) -> tuple[AdmissionDecision, ...]:
    """The decisions of `admit` for the candidates that start; saves finding why the others wait."""
    if is_shut(circumstances):
        return ()
    everyone, rules = list(candidates), circumstances.rules
    quota = _quota_used(circumstances)
    values = value_all(everyone, rules.scorer, circumstances.now, rules.sla, quota)
    ranked = sorted(
        zip(everyone, values, strict=True), key=lambda valued: _rank_by(valued[0], valued[1])
    )
    admission = _Admission(circumstances, everyone)
    taken = sorted(admission.take(ranked), key=lambda valued: _rank_by(valued[0], valued[1]))
    chosen = [candidate for candidate, _ in taken]
    if rules.scorer is Scorer.MAINTAINER:  # this scorer's scores do not depend on other candidates
        return tuple(
            map(
                AdmissionDecision,
                chosen,
                score_all(chosen, rules.scorer, circumstances.now, rules.sla),
            )
        )
    scores = {
        id(one): score
        for one, score in zip(
            everyone,
            score_all(everyone, rules.scorer, circumstances.now, rules.sla, quota),
            strict=True,
        )
    }
    return tuple(AdmissionDecision(one, scores[id(one)]) for one in chosen)


def is_shut(circumstances: AdmissionCircumstances) -> bool:
    """True if nothing can start at all, so that the candidates need not be read."""
    fleet, spent = circumstances.rules.fleet, circumstances.spending.total
    return (
        all(free <= 0 for free in circumstances.free_slots.values())
        or any(pause.scope == EVERYTHING for pause in circumstances.scope_pauses)
        or find_blackout(circumstances) is not None
        or (
            fleet.max_jobs is not None
            and sum(running.is_at_work for running in circumstances.running) >= fleet.max_jobs
        )
        or (fleet.gb_hours_per_day is not None and spent.gb_hours >= fleet.gb_hours_per_day)
    )


def _rank(scored: tuple[Candidate, Score]) -> tuple[float, datetime, TableIdentifier, int]:
    return _rank_by(scored[0], scored[1].value)


def _rank_by(candidate: Candidate, value: float) -> tuple[float, datetime, TableIdentifier, int]:
    return -value, candidate.waiting_since, candidate.table, _ORDER[candidate.rule]


def _quota_used(circumstances: AdmissionCircumstances) -> float:
    limit = circumstances.rules.fleet.gb_hours_per_day
    return circumstances.spending.total.gb_hours / limit if limit else 0.0


class _Admission:
    """The free slots and budgets that are left while admission goes through the candidates."""

    def __init__(
        self, circumstances: AdmissionCircumstances, candidates: Sequence[Candidate]
    ) -> None:
        self._free = {pool: max(0, free) for pool, free in circumstances.free_slots.items()}
        self._pauses = circumstances.scope_pauses
        self._busy = {running.table_uuid: running.rule for running in circumstances.running}
        self._ledger = Ledger(circumstances)
        self._blackout = find_blackout(circumstances)
        self._in_line: Counter[str] = Counter()  # by pool
        self._shares = SlotShares(circumstances, candidates)
        self._turns = self._find_turns(candidates)

    def judge(self, candidate: Candidate) -> Wait | None:
        """Return why the candidate waits; None when it starts, and its cost is charged."""
        wait = self._find_wait(candidate)
        if wait is None:
            self._free[candidate.pool] -= 1
            self._shares.take(candidate)
            self._ledger.charge(candidate)
        if wait is None or wait.code is WaitCode.QUEUED:
            self._in_line[candidate.pool] += 1
        return wait

    def take(self, ranked: Iterable[tuple[Candidate, float]]) -> Iterator[tuple[Candidate, float]]:
        """Yield the candidates that start, until no slot is free."""
        for candidate, value in self.share_out(ranked):
            if not any(self._free.values()):
                return
            if self.judge(candidate) is None:
                yield candidate, value

    def share_out(
        self, ranked: Iterable[tuple[Candidate, float]]
    ) -> Iterator[tuple[Candidate, float]]:
        """Yield the candidates in the order in which they are judged, one after the other.

        Those of an owner that has its fair share by then come after all others.
        """
        later: list[tuple[Candidate, float]] = []
        for candidate, value in ranked:
            if self._shares.has_fair_share(candidate):
                later.append((candidate, value))
            else:
                yield candidate, value
        yield from later

    def _find_turns(self, candidates: Sequence[Candidate]) -> Mapping[str, Candidate]:
        """The candidate whose turn it is, for each table UUID."""
        turns: dict[str, Candidate] = {}
        for candidate in candidates:
            held = turns.get(candidate.table_uuid)
            is_earlier = held is None or (_ORDER[candidate.rule], candidate.table) < (
                _ORDER[held.rule],
                held.table,
            )
            if is_earlier and self._ledger.find_too_large(candidate) is None:
                turns[candidate.table_uuid] = candidate
        return turns

    def _find_wait(self, candidate: Candidate) -> Wait | None:
        pause = self._find_pause(candidate)
        if pause is not None:
            return pause
        if candidate.table_uuid in self._busy:
            is_own = self._busy[candidate.table_uuid] == candidate.rule
            return Wait(
                WaitCode.IN_FLIGHT,
                "its job is running; a new plan follows"
                if is_own
                else "a job is working on this table; a table has one job at a time",
            )
        too_large = self._ledger.find_too_large(candidate)
        if too_large is not None:
            return too_large
        first = self._turns[candidate.table_uuid]
        if first is not candidate:
            return Wait(
                WaitCode.TURN, f"{first.rule} runs first on this table, because it prepares this"
            )
        shortage = self._blackout or self._ledger.find_shortage(candidate)
        return shortage or self._find_queue(candidate)

    def _find_pause(self, candidate: Candidate) -> Wait | None:
        pause = next((pause for pause in self._pauses if pause.covers(candidate.table)), None)
        if pause is None:
            return None
        because = f": {pause.reason}" if pause.reason else ""
        if pause.is_drain:
            return Wait(WaitCode.DRAINING, f"{pause.by} started a drain{because}")
        return Wait(WaitCode.PAUSED, f"{pause.by} paused {pause.scope}{because}")

    def _find_queue(self, candidate: Candidate) -> Wait | None:
        pool = candidate.pool
        is_free = self._free.get(pool, 0) > 0
        if is_free and not self._shares.has_all_it_may(candidate):
            return None
        match self._in_line[pool]:
            case 0:
                place = "next in line"
            case 1:
                place = "1 ahead in the queue"
            case many:
                place = f"{many:,} ahead in the queue"
        where = "" if pool == DEFAULT_POOL else f" in pool {pool}"
        whose = " for its owner" if is_free else ""
        share = self._shares.describe(candidate)
        return Wait(
            WaitCode.QUEUED,
            f"no free slot{whose}{where}; {place}{share}",
            ahead=self._in_line[pool],
        )


def find_blackout(circumstances: AdmissionCircumstances) -> Wait | None:
    """The blackout of all tables that is in force and its end; of several, the last to end."""
    now = circumstances.now
    ends = [
        (blackout_end(window, now), window)
        for window in circumstances.rules.blackouts
        if is_blacked_out(window, now)
    ]
    if not ends:
        return None
    end, window = max(ends, key=lambda entry: entry[0])
    return Wait(
        WaitCode.BLACKOUT,
        f"nothing starts in the blackout window ({window.cron}, {window.timezone})",
        end,
    )


@dataclass(frozen=True, slots=True)
class WaitChange:
    """A standing verdict that is out of date, and the wait to replace it.

    None means that the action no longer waits.
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
