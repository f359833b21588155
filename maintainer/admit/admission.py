"""Decide which planned actions start now, in which order, and why the others wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import floor

from maintainer.domain.admission import (
    EVERYTHING,
    AdmissionRules,
    AdmissionVerdict,
    Candidate,
    Halt,
    Scorer,
    Wait,
    WaitCode,
)
from maintainer.domain.budget import (
    NOTHING_SPENT,
    Budget,
    BudgetState,
    Charge,
    Resource,
    Spending,
    SpentBudget,
    write_amount,
)
from maintainer.domain.cost import CostBasis, Score
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job
from maintainer.domain.policy import RuleName
from maintainer.estimate.score import score_all, value_all
from maintainer.policy.windows import blackout_end, is_blacked_out

_ORDER = {name: position for position, name in enumerate(RuleName)}


@dataclass(frozen=True, slots=True)
class Running:
    """The facts of an unfinished job that admission needs."""

    table_uuid: str
    catalog: str
    policy: str = ""  # the name of its policy's budget
    # False: Spark is done and only the proof is missing. The table is busy, but the job uses
    # no slot.
    is_at_work: bool = True


@dataclass(frozen=True, slots=True)
class AdmissionCircumstances:
    """All that admission needs apart from the candidates."""

    now: datetime  # in UTC
    free_places: int  # the runner's free slots
    rules: AdmissionRules = field(default_factory=AdmissionRules)
    running: tuple[Running, ...] = ()
    spending: Spending = field(default_factory=lambda: Spending(""))  # of today
    halts: tuple[Halt, ...] = ()


def running_of(job: Job) -> Running:
    """The job as admission counts it."""
    return Running(
        job.table_uuid, job.table.catalog, job.charged_to, is_at_work=not job.awaits_review
    )


def admit(
    candidates: Iterable[Candidate], circumstances: AdmissionCircumstances
) -> tuple[AdmissionVerdict, ...]:
    """Decide for each candidate whether it starts now, best first.

    The algorithm is greedy: in the order of the scores, a candidate starts when nothing blocks
    it and it fits what is left of every budget. On one table at most one candidate starts, the
    first in the fixed order, because each rule prepares the next. A candidate that exceeds a
    whole day's budget lets the table's next one pass.
    """
    everyone = list(candidates)
    rules = circumstances.rules
    scores = score_all(
        everyone, rules.scorer, circumstances.now, rules.sla, _quota_used(circumstances)
    )
    ranked = sorted(zip(everyone, scores, strict=True), key=_rank)
    admission = _Admission(circumstances, everyone)
    return tuple(
        AdmissionVerdict(candidate, score, admission.judge(candidate))
        for candidate, score in ranked
    )


def choose(
    candidates: Iterable[Candidate], circumstances: AdmissionCircumstances
) -> tuple[AdmissionVerdict, ...]:
    """The verdicts of `admit` for the candidates that start; saves finding why the others wait."""
    if is_shut(circumstances):
        return ()
    everyone, rules = list(candidates), circumstances.rules
    quota = _quota_used(circumstances)
    values = value_all(everyone, rules.scorer, circumstances.now, rules.sla, quota)
    ranked = sorted(
        zip(everyone, values, strict=True), key=lambda valued: _rank_by(valued[0], valued[1])
    )
    admission = _Admission(circumstances, everyone)
    chosen = [candidate for candidate, _ in admission.take(ranked)]
    if rules.scorer is Scorer.MAINTAINER:  # its scores do not depend on the other candidates
        return tuple(
            map(
                AdmissionVerdict,
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
    return tuple(AdmissionVerdict(one, scores[id(one)]) for one in chosen)


def is_shut(circumstances: AdmissionCircumstances) -> bool:
    """True when nothing can start at all, so that no candidate need be read."""
    fleet, spent = circumstances.rules.fleet, circumstances.spending.total
    return (
        circumstances.free_places <= 0
        or any(halt.scope == EVERYTHING for halt in circumstances.halts)
        or find_blackout(circumstances) is not None
        or (
            fleet.max_jobs is not None
            and sum(running.is_at_work for running in circumstances.running) >= fleet.max_jobs
        )
        or (fleet.gb_hours_per_day is not None and spent.gb_hours >= fleet.gb_hours_per_day)
    )


def find_spent(
    candidates: Iterable[Candidate], circumstances: AdmissionCircumstances
) -> tuple[SpentBudget, ...]:
    """The daily budgets that are spent, by name, with the number of candidates that wait.

    A budget counts as spent when it fits none of the candidates that it would fit on some day.
    """
    ledger = Ledger(circumstances)
    waiting: Counter[tuple[tuple[str, str], Resource]] = Counter()
    budgets, open_ones = (
        {
            (("fleet", ""), resource): circumstances.rules.fleet
            for resource in _limited(circumstances.rules.fleet)
        },
        set(),
    )
    busy = {running.table_uuid for running in circumstances.running}
    for candidate in candidates:
        for owner, budget, resource, fits in (
            ledger.fit(candidate) if candidate.table_uuid not in busy else ()
        ):
            budgets[owner, resource] = budget
            waiting[owner, resource] += not fits
            if fits:
                open_ones.add((owner, resource))
    states = [
        (ledger.state(owner, budget, resource), waiting[owner, resource])
        for (owner, resource), budget in budgets.items()
        if (owner, resource) not in open_ones
    ]
    spent = [
        SpentBudget(state, number)
        for state, number in states
        if number or state.spent >= state.limit > 0
    ]
    return tuple(sorted(spent, key=lambda one: (one.state.name, one.state.resource)))


def admitted(verdicts: Iterable[AdmissionVerdict]) -> tuple[Candidate, ...]:
    """The candidates that start, best first."""
    return tuple(verdict.candidate for verdict in verdicts if verdict.is_admitted)


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
        self._now = circumstances.now
        self._rules = circumstances.rules
        self._free = max(0, circumstances.free_places)
        self._halts = circumstances.halts
        self._busy = {running.table_uuid for running in circumstances.running}
        self._ledger = Ledger(circumstances)
        self._blackout = find_blackout(circumstances)
        self._in_line = 0
        self._turns = self._find_turns(candidates)

    def judge(self, candidate: Candidate) -> Wait | None:
        """Return why the candidate waits; None when it starts, and its cost is charged."""
        wait = self._find_wait(candidate)
        if wait is None:
            self._free -= 1
            self._ledger.charge(candidate)
        if wait is None or wait.code is WaitCode.QUEUED:
            self._in_line += 1
        return wait

    def take(self, ranked: Iterable[tuple[Candidate, float]]) -> Iterator[tuple[Candidate, float]]:
        """Yield the candidates that start, until no slot is free."""
        for candidate, value in ranked:
            if self._free <= 0:
                return
            if self.judge(candidate) is None:
                yield candidate, value

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
        halted = self._find_halt(candidate)
        if halted is not None:
            return halted
        if candidate.table_uuid in self._busy:
            return Wait(WaitCode.IN_FLIGHT, "a job is working on this table; one at a time")
        too_large = self._ledger.find_too_large(candidate)
        if too_large is not None:
            return too_large
        first = self._turns[candidate.table_uuid]
        if first is not candidate:
            return Wait(
                WaitCode.TURN, f"{first.rule} runs first on this table, because it prepares this"
            )
        return self._blackout or self._ledger.find_shortage(candidate) or self._find_queue()

    def _find_halt(self, candidate: Candidate) -> Wait | None:
        halt = next((halt for halt in self._halts if halt.covers(candidate.table)), None)
        if halt is None:
            return None
        because = f": {halt.reason}" if halt.reason else ""
        if halt.is_drain:
            return Wait(WaitCode.DRAINING, f"{halt.by} started a drain{because}")
        return Wait(WaitCode.PAUSED, f"{halt.by} paused {halt.scope}{because}")

    def _find_queue(self) -> Wait | None:
        if self._free > 0:
            return None
        match self._in_line:
            case 0:
                place = "next in line"
            case 1:
                place = "1 ahead in the queue"
            case many:
                place = f"{many:,} ahead in the queue"
        return Wait(WaitCode.QUEUED, f"no free slot; {place}", ahead=self._in_line)


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


class Ledger:
    """The spending of each budget, including the candidates admitted now."""

    def __init__(self, circumstances: AdmissionCircumstances) -> None:
        self._rules = circumstances.rules
        self._tomorrow = next_day(circumstances.now)
        spending = circumstances.spending
        # The owner of a budget: the fleet, a catalog or a policy's budget.
        self._spent: dict[tuple[str, str], Charge] = {("fleet", ""): spending.total}
        for catalog in circumstances.rules.per_catalog:
            self._spent["catalog", catalog] = spending.of_catalog(catalog)
        for policy in {policy for _, policy in spending.by_owner}:
            self._spent["policy", policy] = spending.of_policy(policy)
        self._jobs: Counter[tuple[str, str]] = Counter()
        for running in (running for running in circumstances.running if running.is_at_work):
            self._jobs.update(
                [("fleet", ""), ("catalog", running.catalog), ("policy", running.policy)]
            )

    def _budgets(self, candidate: Candidate) -> Iterable[tuple[tuple[str, str], Budget]]:
        yield ("fleet", ""), self._rules.fleet
        of_catalog = self._rules.per_catalog.get(candidate.table.catalog)
        if of_catalog is not None:
            yield ("catalog", candidate.table.catalog), of_catalog
        if candidate.budget is not None:
            yield ("policy", candidate.budget.name), candidate.budget

    def _open_share(self, candidate: Candidate) -> float:
        """The share of a daily budget that the candidate may use."""
        if candidate.is_urgent:
            return 1.0
        if candidate.cost.basis is not CostBasis.TABLE:
            return 1.0 - self._rules.urgent_share
        return 1.0 - self._rules.urgent_share - self._rules.explore_share

    def find_too_large(self, candidate: Candidate) -> Wait | None:
        """Return why the candidate exceeds a whole day's budget; None when it does not."""
        share = self._open_share(candidate)
        for _, budget in self._budgets(candidate):
            for resource, limit, needed in _daily(budget, candidate):
                if needed > limit * share:
                    most = write_amount(resource, limit * share)
                    reason = (
                        f"it takes up to {write_amount(resource, needed)}, more than the {most} "
                        f"that {budget.name} has for it a day"
                    )
                    return Wait(
                        WaitCode.TOO_LARGE,
                        reason,
                        budget=BudgetState(budget.name, resource, limit, 0.0),
                    )
        return None

    def fit(self, candidate: Candidate) -> Iterator[tuple[tuple[str, str], Budget, Resource, bool]]:
        """Each daily budget that fits the candidate on some day, and whether it fits today."""
        share = self._open_share(candidate)
        for owner, budget in self._budgets(candidate):
            for resource, limit, needed in _daily(budget, candidate):
                if needed <= limit * share:
                    so_far = self._so_far(owner, resource)
                    yield (
                        owner,
                        budget,
                        resource,
                        so_far < limit and so_far + needed <= limit * share,
                    )

    def state(self, owner: tuple[str, str], budget: Budget, resource: Resource) -> BudgetState:
        """The present state of one daily budget."""
        limit = (
            budget.bytes_per_day if resource is Resource.BYTES_PER_DAY else budget.gb_hours_per_day
        )
        return BudgetState(
            budget.name, resource, float(limit or 0), self._so_far(owner, resource), self._tomorrow
        )

    def _so_far(self, owner: tuple[str, str], resource: Resource) -> float:
        spent = self._spent.get(owner, NOTHING_SPENT)
        return spent.bytes if resource is Resource.BYTES_PER_DAY else spent.gb_hours

    def find_shortage(self, candidate: Candidate) -> Wait | None:
        """Return which budget has too little left; None when all have enough."""
        for owner, budget in self._budgets(candidate):
            wait = self._find_no_place(candidate, owner, budget) or self._find_spent(
                candidate, owner, budget
            )
            if wait is not None:
                return wait
        return None

    def find_spent(self, candidate: Candidate, spare: float = 0.0) -> Wait | None:
        """Return which daily budget has too little left; None when all have enough.

        `spare` is a share of the budget that must also be left, unless nothing of the
        budget is spent.
        """
        waits = (
            self._find_spent(candidate, owner, budget, spare)
            for owner, budget in self._budgets(candidate)
        )
        return next((wait for wait in waits if wait is not None), None)

    def _find_spent(
        self, candidate: Candidate, owner: tuple[str, str], budget: Budget, spare: float = 0.0
    ) -> Wait | None:
        share = self._open_share(candidate)
        for resource, limit, needed in _daily(budget, candidate):
            so_far = self._so_far(owner, resource)
            is_short = so_far >= limit or so_far + needed > limit * share
            if is_short or (spare and so_far > max(0.0, limit * (share - spare) - needed)):
                return self._tell_shortage(
                    BudgetState(budget.name, resource, limit, so_far, self._tomorrow), needed, share
                )
        return None

    def _find_no_place(
        self, candidate: Candidate, owner: tuple[str, str], budget: Budget
    ) -> Wait | None:
        if budget.max_jobs is None:
            return None
        running = self._jobs[owner]
        reserved = 0 if candidate.is_urgent else floor(budget.max_jobs * self._rules.urgent_share)
        if running < budget.max_jobs - reserved:
            return None
        state = BudgetState(budget.name, Resource.JOBS, budget.max_jobs, running)
        if running < budget.max_jobs:
            return Wait(
                WaitCode.RESERVED,
                f"{running} of {budget.max_jobs} jobs of {budget.name} run, the others are "
                f"reserved for urgent work",
                budget=state,
            )
        return Wait(
            WaitCode.OVER_BUDGET,
            f"{running} of {budget.max_jobs} jobs of {budget.name} run already",
            budget=state,
        )

    def _tell_shortage(self, state: BudgetState, needed: float, share: float) -> Wait:
        resource = state.resource
        spent = (
            f"{write_amount(resource, state.spent)} of {write_amount(resource, state.limit)} of "
            f"{state.name} are spent today"
        )
        wants = f"this takes up to {write_amount(resource, needed)}"
        if state.spent + needed <= state.limit:
            kept = write_amount(resource, state.limit * (1 - share))
            return Wait(
                WaitCode.RESERVED,
                f"{spent}, {wants}, and {kept} are kept for others",
                self._tomorrow,
                budget=state,
            )
        return Wait(WaitCode.OVER_BUDGET, f"{spent}, and {wants}", self._tomorrow, budget=state)

    def charge(self, candidate: Candidate) -> None:
        """Charge the candidate's upper cost estimate to its budgets."""
        for owner, _ in self._budgets(candidate):
            self._spent[owner] = self._spent.get(owner, NOTHING_SPENT) + Charge(
                float(candidate.bytes_rewritten), candidate.cost.gb_hours_p90
            )
            self._jobs[owner] += 1


def _daily(budget: Budget, candidate: Candidate) -> Iterable[tuple[Resource, float, float]]:
    """Each daily limit of the budget, and what the candidate needs of it."""
    if budget.bytes_per_day is not None:
        yield Resource.BYTES_PER_DAY, float(budget.bytes_per_day), float(candidate.bytes_rewritten)
    if budget.gb_hours_per_day is not None:
        yield Resource.GB_HOURS_PER_DAY, budget.gb_hours_per_day, candidate.cost.gb_hours_p90


def _limited(budget: Budget) -> list[Resource]:
    limits = {
        Resource.BYTES_PER_DAY: budget.bytes_per_day,
        Resource.GB_HOURS_PER_DAY: budget.gb_hours_per_day,
    }
    return [resource for resource, limit in limits.items() if limit is not None]


def next_day(now: datetime) -> datetime:
    """When the daily budgets start anew: the next midnight in UTC."""
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(
        days=1
    )
