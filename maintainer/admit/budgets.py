"""How much of each budget is spent, and which candidates still fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import floor

from maintainer.domain.admission import (
    AdmissionRules,
    Candidate,
    ScopePause,
    Wait,
    WaitCode,
)
from maintainer.domain.cost import CostBasis
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, JobRule
from maintainer.domain.policy import (
    NOTHING_SPENT,
    Budget,
    BudgetState,
    Charge,
    Resource,
    Spending,
    SpentBudget,
    write_amount,
)
from maintainer.domain.pool import DEFAULT_POOL


@dataclass(frozen=True, slots=True)
class Running:
    """The facts of an unfinished job that admission needs."""

    table_uuid: str
    table: TableIdentifier
    rule: JobRule
    policy: str = ""  # the name of the budget of the table's policy
    pool: str = DEFAULT_POOL
    # False: Spark has finished, and only the proof is missing. The table is busy, but the job uses
    # no slot.
    is_at_work: bool = True


@dataclass(frozen=True, slots=True)
class AdmissionCircumstances:
    """The facts that admission needs besides the candidates."""

    now: datetime  # in UTC
    free_slots: Mapping[str, int]  # of each pool of the runner
    rules: AdmissionRules = field(default_factory=AdmissionRules)
    running: tuple[Running, ...] = ()
    spending: Spending = field(default_factory=lambda: Spending(""))  # of today
    scope_pauses: tuple[ScopePause, ...] = ()


def running_of(job: Job) -> Running:
    """The job as admission counts it."""
    return Running(
        job.table_uuid,
        job.table,
        job.rule,
        job.charged_to,
        job.pool,
        is_at_work=not job.awaits_review,
    )


def find_spent(
    candidates: Iterable[Candidate], circumstances: AdmissionCircumstances
) -> tuple[SpentBudget, ...]:
    """The daily budgets that are spent, by name, with the number of candidates that wait.

    A budget is spent if none of the candidates fits that would fit on another day.
    """
    ledger = Ledger(circumstances)
    waiting: Counter[tuple[tuple[str, str], Resource]] = Counter()
    budgets, open_ones = (
        {
            (("fleet", ""), resource): circumstances.rules.fleet
            for resource in circumstances.rules.fleet.daily_limits
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
                [("fleet", ""), ("catalog", running.table.catalog), ("policy", running.policy)]
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
                        f"it needs up to {write_amount(resource, needed)}, more than the {most} "
                        f"that {budget.name} allows in a day"
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
        return BudgetState(
            budget.name,
            resource,
            budget.daily_limits[resource],
            self._so_far(owner, resource),
            self._tomorrow,
        )

    def _so_far(self, owner: tuple[str, str], resource: Resource) -> float:
        return self._spent.get(owner, NOTHING_SPENT).amount(resource)

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
                return self._describe_shortage(
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
                f"{running} of {budget.max_jobs} jobs of {budget.name} are running, and the rest "
                "is reserved for urgent work",
                budget=state,
            )
        return Wait(
            WaitCode.OVER_BUDGET,
            f"{running} of {budget.max_jobs} jobs of {budget.name} are running",
            budget=state,
        )

    def _describe_shortage(self, state: BudgetState, needed: float, share: float) -> Wait:
        resource = state.resource
        spent = (
            f"{write_amount(resource, state.spent)} of {write_amount(resource, state.limit)} of "
            f"{state.name} are spent today"
        )
        wants = f"this needs up to {write_amount(resource, needed)}"
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


def next_day(now: datetime) -> datetime:
    """When the daily budgets begin again: at the next midnight in UTC."""
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(
        days=1
    )
