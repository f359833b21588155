"""The rescue plan of a table: the real decision, repeated until the predicted table is healthy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.grading.bands import grade
from maintainer.decide.plan import decide
from maintainer.decide.rescue.state import predict_health
from maintainer.domain.admission import AdmissionRules
from maintainer.domain.health import Band, Grade, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import Plan, PlannedAction, RuleHistory
from maintainer.domain.policy import Mode, Policy, Resource, RuleName, day_of
from maintainer.domain.rules import RULES
from maintainer.domain.units import format_count, format_duration

MAX_STEPS: Final = 100
MAX_DECISIONS: Final = 400
MAX_SPAN: Final = timedelta(days=400)
# The rules that can change a band. Orphan files and statistics do not count for a band.
_HEALING: Final = frozenset(name for name, kind in RULES.items() if kind.removes is not None)
_DAY_SECONDS: Final = 86_400


@dataclass(frozen=True, slots=True)
class RescueStep:
    """One job of a rescue plan, and the predicted table after it."""

    rule: RuleName
    starts_at: datetime
    ends_at: datetime
    gb_hours: float
    gb_hours_p90: float
    reason: str
    waited_for: str  # why the step does not start directly after the previous step; empty: it does
    band: Band
    data_files: int | None
    average_file_size_bytes: float | None
    delete_files: int | None
    manifests: int | None
    snapshots: int


@dataclass(frozen=True, slots=True)
class RescuePlan:
    """The steps from the current health to a healthy table, as far as they are predictable."""

    table: TableIdentifier
    begins_at: datetime
    band: Band  # now
    steps: tuple[RescueStep, ...]
    is_healthy: bool  # at the end
    rest: str  # why the table is not healthy at the end; empty: the table is healthy

    @property
    def ends_at(self) -> datetime:
        return self.steps[-1].ends_at if self.steps else self.begins_at

    @property
    def days(self) -> float:
        """The time until the last step has ended, in days."""
        return (self.ends_at - self.begins_at).total_seconds() / _DAY_SECONDS

    @property
    def gb_hours(self) -> float:
        return sum(step.gb_hours for step in self.steps)

    @property
    def gb_hours_p90(self) -> float:
        return sum(step.gb_hours_p90 for step in self.steps)

    @property
    def sentence(self) -> str:
        """The plan in a sentence."""
        if not self.steps:
            return self.rest or "The table is healthy: nothing needs to be done."
        span = self.ends_at - self.begins_at
        work = (
            f"{format_count(len(self.steps), 'job')}, {format_duration(span)} and "
            f"{self.gb_hours:.3g} GB-hours (90 % sure: {self.gb_hours_p90:.3g})"
        )
        return f"Healthy after {work}." if self.is_healthy else f"After {work}: {self.rest}"


@dataclass(slots=True)
class _Spending:
    """The GB-hours and bytes of the plan's own jobs, by day."""

    limits: Mapping[Resource, float]
    by_day: dict[tuple[str, Resource], float] = field(default_factory=lambda: defaultdict(float))

    def allows(self, planned: PlannedAction, at: datetime) -> bool:
        """False if the job does not fit into the rest of the day; the first job always fits."""
        return all(
            not (spent := self.by_day[day_of(at), resource])
            or spent + _amount(planned, resource) <= limit
            for resource, limit in self.limits.items()
        )

    def add(self, planned: PlannedAction, at: datetime) -> None:
        for resource in self.limits:
            self.by_day[day_of(at), resource] += _amount(planned, resource)


def plan_rescue(
    health: TableHealth, policy: Policy, circumstances: Circumstances, before: Grade | None = None
) -> RescuePlan:
    """Repeat the decision on the predicted table until it is healthy, or nothing more helps.

    The policy enforces, nothing is paused, no other table needs the budgets, and nobody writes
    meanwhile. Windows, cooldowns, quiet periods and daily budgets count as in reality.
    """
    begins_at = clock = circumstances.now
    judged = grade(health, policy, clock, before, circumstances.pins)
    healing = _enforce(policy)
    spending = _Spending(_daily_limits(circumstances.admission, health, policy))
    history = dict(circumstances.history)
    steps: list[RescueStep] = []
    band, rest, waited_for = judged.band, "", ""
    for _ in range(MAX_DECISIONS):
        if judged.band is Band.HEALTHY:
            break
        if len(steps) == MAX_STEPS or clock - begins_at > MAX_SPAN:
            rest = f"it needs more than {MAX_STEPS} jobs or {MAX_SPAN.days} days"
            break
        around = replace(
            circumstances,
            now=clock,
            history=history,
            band=judged.band,
            in_flight=None,
            paused_by=None,
            pause=None,
            previous=None,
        )
        plan = decide(health, healing, around)
        if not plan.planned:
            following = _find_wait(plan, clock)
            if following is None:
                rest = _explain(plan, judged)
                break
            clock, waited_for = following
            continue
        planned = plan.planned[0]
        if not spending.allows(planned, clock):
            clock, waited_for = _next_day(clock), "the budget of the day is used up"
            continue
        starts_at, clock = clock, clock + _duration(planned)
        spending.add(planned, starts_at)
        health = predict_health(health, planned, policy, clock, circumstances.pins)
        judged = grade(health, policy, clock, judged, circumstances.pins)
        history[planned.rule] = _remember(history, planned.rule, clock)
        steps.append(_write_step(planned, health, judged, starts_at, clock, waited_for))
        waited_for = ""
    else:
        rest = f"the plan was not complete after {MAX_DECISIONS} decisions"
    is_healthy = judged.band is Band.HEALTHY
    return RescuePlan(health.table, begins_at, band, tuple(steps), is_healthy, rest)


def _enforce(policy: Policy) -> Policy:
    rules = tuple(rule for rule in policy.rules if rule.name in _HEALING)
    return replace(policy, mode=Mode.ENFORCE, rules=rules)


def _daily_limits(
    rules: AdmissionRules | None, health: TableHealth, policy: Policy
) -> Mapping[Resource, float]:
    """The least daily limit of the fleet, the catalog and the policy, without reserved parts."""
    if rules is None:
        return {}
    budgets = (rules.fleet, rules.per_catalog.get(health.table.catalog), policy.budget)
    share = 1.0 - rules.urgent_share - rules.explore_share
    limits: dict[Resource, float] = {}
    for budget in budgets:
        for resource, limit in (budget.daily_limits if budget is not None else {}).items():
            limits[resource] = min(limit * share, limits.get(resource, limit))
    return limits


def _amount(planned: PlannedAction, resource: Resource) -> float:
    if resource is Resource.BYTES_PER_DAY:
        return float(planned.estimate.bytes_rewritten)
    return planned.cost.gb_hours_p90 if planned.cost is not None else 0.0


def _duration(planned: PlannedAction) -> timedelta:
    return planned.cost.duration if planned.cost is not None else timedelta(0)


def _find_wait(plan: Plan, now: datetime) -> tuple[datetime, str] | None:
    """When the first rule that cannot start now may start, and why; None: waiting does not help."""
    waits = [
        (skipped.next_at, skipped.reason)
        for skipped in plan.skipped
        if skipped.next_at is not None and skipped.next_at > now
    ]
    return min(waits, default=None)


def _next_day(now: datetime) -> datetime:
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + timedelta(days=1)


def _remember(history: Mapping[RuleName, RuleHistory], rule: RuleName, at: datetime) -> RuleHistory:
    known = history.get(rule, RuleHistory(rule))
    return replace(
        known,
        last_finished_at=at,
        last_success_at=at,
        consecutive_failures=0,
        streak=None,
        idle_at_state=None,
        cancelled_at=None,
    )


def _write_step(  # noqa: PLR0913, PLR0917 - a job and the table after it
    planned: PlannedAction,
    health: TableHealth,
    judged: Grade,
    starts_at: datetime,
    ends_at: datetime,
    waited_for: str,
) -> RescueStep:
    cost = planned.cost
    kinds = (health.position_delete_files, health.equality_delete_files, health.deletion_vectors)
    return RescueStep(
        rule=planned.rule,
        starts_at=starts_at,
        ends_at=ends_at,
        gb_hours=cost.gb_hours if cost is not None else 0.0,
        gb_hours_p90=cost.gb_hours_p90 if cost is not None else 0.0,
        reason=planned.reason,
        waited_for=waited_for,
        band=judged.band,
        data_files=health.data_files,
        average_file_size_bytes=health.average_file_size_bytes,
        delete_files=sum(kind or 0 for kind in kinds),
        manifests=health.manifests,
        snapshots=health.snapshots,
    )


def _explain(plan: Plan, judged: Grade) -> str:
    """The remaining problems, and why no rule changes them."""
    reasons = "; ".join(f"{skipped.rule.value}: {skipped.reason}" for skipped in plan.skipped)
    left = judged.reason.removesuffix(".")
    return f"no rule of the policy improves it further. {left}. {reasons}".rstrip()
