"""Admission: which planned actions start now, and why the others wait."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from maintainer.domain.cost import Cost, Score, Worth
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier, TablePattern, split_levels
from maintainer.domain.job import Job
from maintainer.domain.plan import Plan, SkipCode, key_while_waiting
from maintainer.domain.policy import Budget, BudgetState, RuleName, Spending, Window
from maintainer.domain.pool import DEFAULT_POOL, Pool

EVERYTHING = "*"  # the scope of all tables
MAX_SCOPE_CHARACTERS = 500
_LEVELS_OF_A_TABLE = 3


class Scorer(StrEnum):
    """How candidates are ordered."""

    MAINTAINER = "maintainer"  # chance x benefit x waiting x reads / GB-hours
    # the published score: 0.7 gain - 0.3 cost, both normalised over all candidates
    AUTOCOMP = "autocomp"
    # the published variant, in which the weight of the gain grows with the used share of the quota
    AUTOCOMP_QUOTA = "autocomp_quota"


class SlotOwner(StrEnum):
    """Whose jobs share the slots of a pool fairly."""

    CATALOG = "catalog"
    NAMESPACE = "namespace"
    NONE = "none"  # the best candidates take all slots, of any owner

    def name_of(self, table: TableIdentifier) -> str:
        """The owner of the table's jobs; empty if nobody shares."""
        match self:
            case SlotOwner.CATALOG:
                return table.catalog
            case SlotOwner.NAMESPACE:
                return ".".join((table.catalog, *table.namespace))
            case _:
                return ""


class WaitCode(StrEnum):
    """Why a planned action does not start now."""

    QUEUED = "queued"  # other actions get the free slots first
    TURN = "turn"  # an earlier action of the same table prepares this one and runs first
    IN_FLIGHT = "in_flight"  # the table has an unfinished job
    OVER_BUDGET = "over_budget"
    RESERVED = "reserved"  # the rest is reserved for urgent work or for tables without known cost
    TOO_LARGE = "too_large"  # it costs more than the budget of a whole day
    BLACKOUT = "blackout"
    PAUSED = "paused"
    DRAINING = "draining"  # the daemon finishes running jobs and starts none


@dataclass(frozen=True, slots=True)
class Wait:
    """Why an action waits, and the earliest start.

    next_at None: when a job ends, or when somebody changes something.
    """

    code: WaitCode
    reason: str
    next_at: datetime | None = None
    ahead: int | None = None  # for queued: the number of actions ahead
    budget: BudgetState | None = None  # for over_budget, reserved, too_large


@dataclass(frozen=True, slots=True)
class Candidate:
    """One planned action with the facts that admission needs, without the action's arguments."""

    table: TableIdentifier
    table_uuid: str
    rule: RuleName
    cost: Cost
    worth: Worth
    bytes_rewritten: int
    waiting_since: datetime
    priority: int = 50
    is_urgent: bool = False  # the table is in the critical band
    budget: Budget | None = None  # of the table's policy
    pool: str = DEFAULT_POOL  # the pool in which the job would run
    # from the reports of engines; None: no engine reports this table. Admission sets this value.
    reads_per_day: float | None = None


def find_candidates(plan: Plan) -> tuple[Candidate, ...]:
    """The plan's actions in execution order.

    A plan without costs, made by an earlier version, has no candidates.
    """
    return tuple(
        Candidate(
            table=plan.table,
            table_uuid=plan.table_uuid,
            rule=planned.rule,
            cost=planned.cost,
            worth=planned.worth,
            bytes_rewritten=planned.estimate.bytes_rewritten,
            waiting_since=planned.waiting_since or plan.made_at,
            priority=plan.priority,
            is_urgent=plan.is_urgent,
            budget=plan.budget,
            pool=plan.pool,
        )
        for planned in plan.planned
        if planned.cost is not None and planned.worth is not None
    )


@dataclass(frozen=True, slots=True)
class AdmissionDecision:
    """The answer of admission for one candidate: it starts now (wait None) or waits."""

    candidate: Candidate
    score: Score
    wait: Wait | None = None

    @property
    def is_admitted(self) -> bool:
        """True when the action starts now."""
        return self.wait is None


@dataclass(frozen=True, slots=True)
class ScopePause:
    """A pause or drain: nothing starts on the tables of a scope.

    The scope is a table, `lake.sales.*`, `lake.*`, or `*` for all tables.
    """

    scope: str
    by: str
    at: datetime
    reason: str = ""
    is_drain: bool = False  # a drain: even requested jobs wait until somebody resumes

    def __post_init__(self) -> None:
        """InvalidValueError for a drain of any scope but all tables."""
        if self.is_drain and self.scope != EVERYTHING:
            raise InvalidValueError(
                f"a drain is of everything ({EVERYTHING}), not of {self.scope}: pause that instead"
            )

    def covers(self, table: TableIdentifier) -> bool:
        return TablePattern(self.scope).matches(table)


@dataclass(frozen=True, slots=True)
class PausesInForce:
    """All pauses and drains, and the jobs that still run on their tables."""

    pauses: tuple[ScopePause, ...]  # ordered by scope, with pauses of single tables
    is_draining: bool
    running: tuple[Job, ...]  # jobs on paused tables, oldest first

    @property
    def is_drained(self) -> bool:
        """True if there is a drain and no job runs."""
        return self.is_draining and not self.running


def read_scope(text: str) -> str:
    """The scope as a table or a glob: `lake` and `lake.sales` mean all their tables.

    InvalidValueError when the text is neither.
    """
    scope = text.strip() or EVERYTHING
    if len(scope) > MAX_SCOPE_CHARACTERS or not scope.isprintable() or " " in scope:
        raise InvalidValueError(
            f"scope {scope[:40]!r} is no table, namespace, catalog or glob of at most "
            f"{MAX_SCOPE_CHARACTERS} characters without blanks"
        )
    if not TablePattern(scope).is_exact:
        return scope
    levels = split_levels(scope)
    return str(TableIdentifier.parse(scope)) if len(levels) >= _LEVELS_OF_A_TABLE else f"{scope}.*"


@dataclass(frozen=True, slots=True)
class AdmissionRules:
    """The settings of admission."""

    scorer: Scorer = Scorer.MAINTAINER
    fleet: Budget = field(default_factory=lambda: Budget(name="the fleet"))
    per_catalog: Mapping[str, Budget] = field(default_factory=dict)
    urgent_share: float = 0.1  # of each daily budget, and of the slots
    explore_share: float = 0.05
    # after this time, each further such time of waiting multiplies the score by ten
    sla: timedelta = timedelta(hours=24)
    blackouts: tuple[Window, ...] = ()
    slot_owner: SlotOwner = SlotOwner.NAMESPACE
    owner_share: float = 1.0  # of a pool's slots: the most that one owner takes, at least one
    # the configured pools by name
    pools: Mapping[str, Pool] = field(default_factory=lambda: {DEFAULT_POOL: Pool()})

    def list_budgets(self, spending: Spending) -> tuple[BudgetState, ...]:
        """The daily limits of the fleet and of each catalog, with the spent amounts."""
        owners = [
            (self.fleet, spending.total),
            *(
                (budget, spending.of_catalog(catalog))
                for catalog, budget in sorted(self.per_catalog.items())
            ),
        ]
        return tuple(
            BudgetState(budget.name, resource, limit, spent.amount(resource))
            for budget, spent in owners
            for resource, limit in budget.daily_limits.items()
        )


def code_of_wait(wait: Wait) -> SkipCode:
    """Convert admission waits into rule verdicts."""
    return SkipCode.OUTSIDE_WINDOW if wait.code is WaitCode.BLACKOUT else SkipCode.OVER_BUDGET


def key_of_wait(key: str, wait: Wait) -> str:
    """The cause of a wait without figures: which budget and resource, or which blackout."""
    if wait.budget is None:
        return key_while_waiting(key, wait.reason)
    cause = f"{wait.budget.resource} of {wait.budget.name}"
    return key_while_waiting(
        key, f"too large for {cause}" if wait.code is WaitCode.TOO_LARGE else cause
    )
