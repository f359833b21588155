"""The contender that is this daemon, with production's decisions, costs, scores and admission.

Policies are always in enforce mode, because observe mode would show nothing. Within a cycle the
daemon admits jobs as slots become free, under the budgets of the fleet, the catalogs and the
policies. Windows open and close at their own times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from maintainer.admit.admission import choose, find_blackout
from maintainer.admit.budgets import AdmissionCircumstances, Running, next_day
from maintainer.decide.circumstances import Circumstances, digest_state
from maintainer.decide.grading.bands import grade
from maintainer.decide.plan import decide
from maintainer.decide.targets import target_of_policy
from maintainer.domain.action import Action, RewriteDataFiles
from maintainer.domain.admission import AdmissionRules, Candidate, Scorer, find_candidates
from maintainer.domain.cost import (
    NOTHING_LEARNT,
    SHARED_ALPHA,
    TABLE_ALPHA,
    Calibration,
    CostFit,
    CostSample,
)
from maintainer.domain.health import Band, Grade, TableHealth
from maintainer.domain.plan import Plan, PlannedAction, RuleHistory, name_state
from maintainer.domain.policy import (
    NOTHING_SPENT,
    Budget,
    Charge,
    Mode,
    Policy,
    PolicyLayer,
    PolicySet,
    RuleName,
    Spending,
    Window,
    day_of,
)
from maintainer.domain.pool import DEFAULT_POOL, Pool
from maintainer.estimate.filters.filter_writer import write_where
from maintainer.policy.effective import effective
from maintainer.policy.windows import blackout_end, is_blacked_out, is_open, next_opening
from maintainer.procedures.rewrite_data_files.limits import MOST_FILES, PARTIAL_PROGRESS
from tests.labs.simulation.fleet import Traits
from tests.labs.simulation.table import SimulatedTable
from tests.labs.simulation.trial import Conditions, Outcome, Work


@dataclass(frozen=True, slots=True)
class _Job:
    """A running job; until it ends, budgets are charged with its predicted cost at most."""

    ends_at: datetime
    day: str  # the day of the admission
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
        running = Running(candidate.table_uuid, candidate.table, candidate.rule, budget)
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
    owner = (running.table.catalog, running.policy)
    spent[owner] = spent.get(owner, NOTHING_SPENT) + charge


RULE = RuleName.REWRITE_DATA_FILES  # the simulated rule
# As in production, a verdict is checked again if the table changes, or after this time.
LONGEST_TRUST = timedelta(hours=6)
# In production a few seconds. Here slots that become free within a minute are filled together.
ADMITS_EVERY = timedelta(minutes=1)
# the start times of a policy: its window and its blackouts
_Hours = tuple[Window | None, tuple[Window, ...]]


@dataclass(slots=True)
class _Memory:
    """What the store would keep of one table."""

    policy: Policy
    history: RuleHistory = field(default_factory=lambda: RuleHistory(RULE))
    fit: CostFit = NOTHING_LEARNT
    grade: Grade | None = None
    good_for: int | None = None  # the table's version at the last verdict
    next_look: datetime | None = None
    plan: Plan | None = None
    candidate: Candidate | None = None
    work: Work | None = None


class Daemon:
    """Decides for changed tables, admits in the order of a scorer, and learns from outcomes."""

    def __init__(
        self,
        policies: PolicySet | tuple[PolicyLayer, ...],
        conditions: Conditions,
        scorer: Scorer = Scorer.MAINTAINER,
        name: str = "",
        rules: AdmissionRules | None = None,
    ) -> None:
        """Take the policies and the conditions.

        Without `rules`, admission has its defaults and the conditions' memory for each job. The
        conditions' budget is always the fleet's.
        """
        self.name = name or f"daemon ({scorer})"
        self._policies = policies
        self._cycle = conditions.cycle
        given = replace(
            rules
            or AdmissionRules(
                sla=conditions.sla, pools={DEFAULT_POOL: Pool(memory_gb=conditions.memory_gb)}
            ),
            scorer=scorer,
        )
        budget = conditions.gb_hours_per_day
        self._rules = given if budget is None else replace(given, fleet=_limit(given.fleet, budget))
        self._workload = Workload(self._rules, conditions.max_jobs)
        self._memory: dict[int, _Memory] = {}
        self._fleet = NOTHING_LEARNT
        self._numbers: dict[str, int] = {}  # numbers of tables, by UUID
        self._hours: dict[_Hours, bool] = {}  # whether jobs could start at the last check

    def target_of(self, traits: Traits) -> int:
        """Return the policy's target, else the table's own."""
        return target_of_policy(self._policy_of(traits)) or traits.target_bytes

    def choose(
        self, now: datetime, tables: Sequence[SimulatedTable], left_gb_hours: float | None
    ) -> Iterator[Work]:
        """Yield the jobs that admission starts until the cycle ends, best first.

        The trial stops the last job that exceeds the budget.
        """
        del left_gb_hours
        for number, table in enumerate(tables):
            self._look(number, table, now)
        clock = now
        while clock < now + self._cycle:
            self._follow_windows(tables, clock)
            candidates = [
                memory.candidate for memory in self._memory.values() if memory.candidate is not None
            ]
            for verdict in choose(candidates, self._workload.look_around(clock)):
                work = self._memory[self._numbers[verdict.candidate.table_uuid]].work
                if work is not None:
                    yield replace(work, starts_after=clock - now)
            clock = max(
                clock + ADMITS_EVERY,
                min(self._workload.next_change(clock), self._next_hours(clock)),
            )

    def _policy_of(self, traits: Traits) -> Policy:
        """Return the table's policy, in force and on the one pool that is simulated."""
        policy = effective(self._policies, traits.table, traits.properties)
        return replace(policy, mode=Mode.ENFORCE, runs_on=DEFAULT_POOL)

    def _follow_windows(self, tables: Sequence[SimulatedTable], now: datetime) -> None:
        """Check the tables again whose policy's window or blackout has opened or closed."""
        turned = {
            hours for hours, was_open in self._hours.items() if _let_start(hours, now) != was_open
        }
        if not turned:
            return
        self._hours |= {hours: not self._hours[hours] for hours in turned}
        for number, memory in self._memory.items():
            if (memory.policy.window, memory.policy.blackouts) in turned:
                memory.next_look = None
                self._look(number, tables[number], now)

    def _next_hours(self, now: datetime) -> datetime:
        """Return when the next window opens or blackout ends, or the end of the cycle."""
        return min(
            [
                _next_start(hours, now)
                for hours, is_open_now in self._hours.items()
                if not is_open_now
            ],
            default=now + self._cycle,
        )

    def _look(self, number: int, table: SimulatedTable, now: datetime) -> None:
        memory = self._memory.get(number)
        if memory is None:
            memory = self._memory[number] = _Memory(self._policy_of(table.traits))
            hours = (memory.policy.window, memory.policy.blackouts)
            if hours != (None, ()):
                self._hours.setdefault(hours, _let_start(hours, now))
        if (
            memory.good_for == table.version
            and memory.next_look is not None
            and now < memory.next_look
        ):
            return
        health = table.measure(now)
        self._numbers[health.table_uuid] = number
        memory.plan = plan = decide(health, memory.policy, self._circumstances(memory, now))
        planned = next((planned for planned in plan.planned if planned.rule is RULE), None)
        looks = [
            skipped.next_at
            for skipped in plan.skipped
            if skipped.rule is RULE and skipped.next_at is not None
        ]
        memory.good_for, memory.next_look = table.version, min([*looks, now + LONGEST_TRUST])
        if planned is None:
            memory.candidate = memory.work = None
            return
        # Here a band is only used for the urgency of a plan, so it is not computed in other cases.
        memory.grade = grade(health, memory.policy, now, memory.grade)
        urgent = replace(plan, is_urgent=memory.grade.band is Band.CRITICAL)
        memory.candidate = next(
            candidate for candidate in find_candidates(urgent) if candidate.rule is RULE
        )
        memory.work = _write_work(number, planned, memory.candidate, health)

    def _circumstances(self, memory: _Memory, now: datetime) -> Circumstances:
        rules, pool = self._rules, self._rules.pools[DEFAULT_POOL]
        return Circumstances(
            now,
            {RULE: memory.history},
            calibration=Calibration(_known(memory.fit), {}, _known(self._fleet)),
            memory_gb=pool.memory_gb,
            admission=rules,
            previous=memory.plan,
            tasks_at_once=pool.tasks_at_once,
            profiles=pool.profiles,
        )

    def learn(self, work: Work, table: SimulatedTable, outcome: Outcome) -> None:
        """Keep what the store would keep of the job."""
        memory = self._memory[work.table]
        predicted, done = None, float(outcome.bytes)
        if memory.candidate is not None:
            predicted = memory.candidate.cost.duration_seconds
            expected = memory.candidate.bytes_rewritten
            done = memory.candidate.cost.work * outcome.bytes / expected if expected else done
            self._workload.begin(
                memory.candidate,
                outcome.started_at,
                timedelta(seconds=outcome.seconds),
                Charge(float(outcome.bytes), outcome.gb_hours),
            )
        if not outcome.is_conflict:
            sample = CostSample(done, outcome.seconds, predicted)
            memory.fit, self._fleet = (
                memory.fit.learn(sample, TABLE_ALPHA),
                self._fleet.learn(sample, SHARED_ALPHA),
            )
        done_by = (
            [planned.action for planned in memory.plan.planned if planned.rule is RULE]
            if memory.plan is not None
            else []
        )
        memory.history = _remember(memory.history, memory.policy, table, outcome, done_by)
        memory.candidate = memory.work = memory.next_look = None


def _limit(fleet: Budget, gb_hours_per_day: float) -> Budget:
    return replace(fleet, gb_hours_per_day=gb_hours_per_day)


def _let_start(hours: _Hours, now: datetime) -> bool:
    window, blackouts = hours
    return (window is None or is_open(window, now)) and not any(
        is_blacked_out(blackout, now) for blackout in blackouts
    )


def _next_start(hours: _Hours, now: datetime) -> datetime:
    """Return when to check start times again that let nothing start now."""
    window, blackouts = hours
    ends = [blackout_end(blackout, now) for blackout in blackouts if is_blacked_out(blackout, now)]
    return max(
        [
            *ends,
            *(
                [next_opening(window, now)]
                if window is not None and not is_open(window, now)
                else []
            ),
        ]
    )


def _known(fit: CostFit) -> Mapping[RuleName, CostFit]:
    return {RULE: fit} if fit.samples else {}


def _write_work(
    number: int, planned: PlannedAction, candidate: Candidate, health: TableHealth
) -> Work | None:
    """Write the action as the trial carries it out."""
    if not isinstance(planned.action, RewriteDataFiles):
        return None
    options = dict(planned.action.options)
    most_files = options.get(MOST_FILES)
    return Work(
        number,
        _find_partitions(planned.action.where or "", health),
        options.get(PARTIAL_PROGRESS) == "true",
        None if most_files is None else int(most_files),
        planned.estimate.items_removed,
        candidate.cost.gb_hours,
        planned.memory_gb,
    )


def _find_partitions(where: str, health: TableHealth) -> frozenset[str] | None:
    """Return the partitions in the action's filter; None: all. A policy's filter is ignored."""
    if not where:
        return None
    filters = {
        p.partition: write_where(health.table.catalog, [(p.spec_id, p.partition)], health.specs)
        for p in health.partitions
    }
    return (
        frozenset(name for name, text in filters.items() if text is not None and text in where)
        or None
    )


def _remember(
    history: RuleHistory,
    policy: Policy,
    table: SimulatedTable,
    outcome: Outcome,
    actions: Sequence[Action],
) -> RuleHistory:
    ended_at = outcome.started_at + timedelta(seconds=outcome.seconds)
    if outcome.is_conflict:
        return replace(
            history,
            last_finished_at=ended_at,
            last_failure_at=ended_at,
            last_failure_reason="conflict",
            consecutive_failures=history.consecutive_failures + 1,
            recent_conflicts=history.recent_conflicts + 1,
        )
    idle_at = (
        name_state(digest_state(table.measure(ended_at)), policy.version, actions[0])
        if actions and not outcome.files_removed
        else None
    )
    return replace(
        history,
        last_finished_at=ended_at,
        last_success_at=ended_at,
        consecutive_failures=0,
        recent_conflicts=max(0, history.recent_conflicts - 1),
        idle_at_state=idle_at,
    )
