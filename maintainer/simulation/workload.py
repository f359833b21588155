"""The running jobs and the spending of a simulated daemon, for its admission."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from maintainer.admit.admission import find_blackout
from maintainer.admit.budgets import next_day
from maintainer.admit.circumstances import AdmissionCircumstances, Running
from maintainer.domain.admission import AdmissionRules, Candidate
from maintainer.domain.budget import NOTHING_SPENT, Charge, Spending, day_of
from maintainer.domain.pool import DEFAULT_POOL


@dataclass(frozen=True, slots=True)
class _Job:
    """A running job; until it ends, budgets are charged with its predicted cost at most."""

    ends_at: datetime
    day: str  # on which it was admitted
    running: Running
    predicted: Charge
    actual: Charge


@dataclass(slots=True)
class Workload:
    """The running jobs and today's costs; time moves forward only."""

    rules: AdmissionRules
    slots: int
    _jobs: list[_Job] = field(default_factory=list)
    _day: str = ""
    _over: dict[tuple[str, str], Charge] = field(default_factory=dict)  # of the day's finished jobs

    def begin(
        self, candidate: Candidate, now: datetime, duration: timedelta, actual: Charge
    ) -> None:
        """Start a job; its duration and its cost are not used before it ends."""
        predicted = Charge(float(candidate.bytes_rewritten), candidate.cost.gb_hours_p90)
        budget = candidate.budget.name if candidate.budget is not None else ""
        running = Running(candidate.table_uuid, candidate.table.catalog, budget)
        self._jobs.append(_Job(now + duration, day_of(now), running, predicted, actual))

    def look_around(self, now: datetime) -> AdmissionCircumstances:
        """Return the circumstances for admission now; finished jobs free their slots."""
        if self._day != day_of(now):
            self._day, self._over = day_of(now), {}
        for job in self._jobs:
            if job.ends_at <= now and job.day == self._day:
                _charge(self._over, job.running, job.actual)
        self._jobs = [job for job in self._jobs if job.ends_at > now]
        spent = dict(self._over)
        for job in self._jobs:
            if job.day == self._day:
                _charge(spent, job.running, job.predicted)
        running = tuple(job.running for job in self._jobs)
        return AdmissionCircumstances(
            now,
            {DEFAULT_POOL: self.slots - len(running)},
            self.rules,
            running,
            Spending(self._day, spent),
        )

    def next_change(self, now: datetime) -> datetime:
        """Return when more may start: a job ends, a day begins, or a blackout ends."""
        blackout = find_blackout(AdmissionCircumstances(now, {}, self.rules))
        ends = (
            [blackout.next_at]
            if blackout is not None and blackout.next_at is not None
            else [job.ends_at for job in self._jobs]
        )
        return min([*ends, next_day(now)])


def _charge(spent: dict[tuple[str, str], Charge], running: Running, charge: Charge) -> None:
    owner = (running.catalog, running.policy)
    spent[owner] = spent.get(owner, NOTHING_SPENT) + charge
