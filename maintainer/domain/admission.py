"""Who may start and who waits, and why an action that is planned does not run now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from maintainer.domain.budget import Budget, BudgetState
from maintainer.domain.cost import Cost, Score, Worth
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier, TablePattern, split_levels
from maintainer.domain.job import Job
from maintainer.domain.job_size import SizeProfile
from maintainer.domain.plan import Plan
from maintainer.domain.policy import RuleName, Window

EVERYTHING = "*"  # the scope of all tables
MAX_SCOPE_CHARACTERS = 500
_LEVELS_OF_A_TABLE = 3


class Scorer(StrEnum):
    """By what the order is found."""

    MAINTAINER = "maintainer"  # chance x benefit x waiting / GB-hours
    AUTOCOMP = (
        "autocomp"  # the published score: 0.7 gain - 0.3 cost, both normalised over all candidates
    )
    # the published variant that weighs gain more, the more of the quota is used
    AUTOCOMP_QUOTA = "autocomp_quota"


class WaitCode(StrEnum):
    """Why an action that is planned does not start now."""

    QUEUED = "queued"  # others go first to the free places
    TURN = "turn"  # an earlier action of the same table goes first: it prepares this one
    IN_FLIGHT = "in_flight"  # the table has an unfinished job
    OVER_BUDGET = "over_budget"
    RESERVED = (
        "reserved"  # what is left is kept for urgent work, or for tables that no cost is known of
    )
    TOO_LARGE = "too_large"  # costs more than the budget of a whole day
    BLACKOUT = "blackout"
    PAUSED = "paused"
    DRAINING = "draining"  # the daemon finishes what it has and starts nothing


@dataclass(frozen=True, slots=True)
class Wait:
    """Why, and until when at the earliest; next_at None: when a job ends, or when somebody changes
    something.
    """

    code: WaitCode
    reason: str
    next_at: datetime | None = None
    ahead: int | None = None  # queued: how many go first
    budget: BudgetState | None = None  # over_budget, reserved, too_large


@dataclass(frozen=True, slots=True)
class Candidate:
    """One planned action as admission sees it, without the action itself."""

    table: TableIdentifier
    table_uuid: str
    rule: RuleName
    cost: Cost
    worth: Worth
    bytes_rewritten: int
    waiting_since: datetime
    priority: int = 50
    is_urgent: bool = False  # the table is in the critical band
    budget: Budget | None = None  # of its policy


def find_candidates(plan: Plan) -> tuple[Candidate, ...]:
    """What the plan wants started, in the fixed order; nothing of a plan that an earlier version
    made without costs.
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
        )
        for planned in plan.planned
        if planned.cost is not None and planned.worth is not None
    )


@dataclass(frozen=True, slots=True)
class AdmissionVerdict:
    """What admission says of one candidate: it starts now (wait None) or waits."""

    candidate: Candidate
    score: Score
    wait: Wait | None = None

    @property
    def is_admitted(self) -> bool:
        """True when it starts now."""
        return self.wait is None


@dataclass(frozen=True, slots=True)
class Halt:
    """Somebody asked that nothing be started on the tables of a scope: a table, `lake.sales.*`,
    `lake.*`, or `*` for all.
    """

    scope: str
    by: str
    at: datetime
    reason: str = ""
    is_drain: bool = (
        False  # of everything: not even what a person asked for starts, until it is lifted
    )

    def __post_init__(self) -> None:
        """InvalidValueError for a drain of anything but all."""
        if self.is_drain and self.scope != EVERYTHING:
            message = (
                f"a drain is of everything ({EVERYTHING}), not of {self.scope}: pause that instead"
            )
            raise InvalidValueError(message)

    def covers(self, table: TableIdentifier) -> bool:
        """True when the table is in the scope."""
        return TablePattern(self.scope).matches(table)


@dataclass(frozen=True, slots=True)
class Standstill:
    """What does not start, and what still runs of it."""

    halts: tuple[Halt, ...]  # by scope; those of single tables as well
    is_draining: bool
    running: tuple[Job, ...]  # jobs on tables that a halt covers, oldest first

    @property
    def is_drained(self) -> bool:
        """True when everything was asked to end and nothing runs any more."""
        return self.is_draining and not self.running


def read_scope(text: str) -> str:
    """The scope as a table or a glob: `lake` and `lake.sales` mean all their tables;
    InvalidValueError when it is neither.
    """
    scope = text.strip() or EVERYTHING
    if len(scope) > MAX_SCOPE_CHARACTERS or not scope.isprintable() or " " in scope:
        message = (
            f"scope {scope[:40]!r} is no table, namespace, catalog or glob of at most "
            f"{MAX_SCOPE_CHARACTERS} characters without blanks"
        )
        raise InvalidValueError(message)
    if not TablePattern(scope).is_exact:
        return scope
    levels = split_levels(scope)
    return str(TableIdentifier.parse(scope)) if len(levels) >= _LEVELS_OF_A_TABLE else f"{scope}.*"


@dataclass(frozen=True, slots=True)
class AdmissionRules:
    """How admission is configured."""

    scorer: Scorer = Scorer.MAINTAINER
    fleet: Budget = field(default_factory=lambda: Budget(name="the fleet"))
    per_catalog: Mapping[str, Budget] = field(default_factory=dict)
    urgent_share: float = 0.1  # of each daily budget, and of the places
    explore_share: float = 0.05
    sla: timedelta = timedelta(
        hours=24
    )  # how long an action may wait before its waiting outweighs ten times the worth
    blackouts: tuple[Window, ...] = ()
    memory_gb: float = 1.0  # what one job occupies
    tasks_at_once: int = 1  # of Spark, that one job may have
    profiles: tuple[SizeProfile, ...] = ()  # none: every job is small and occupies memory_gb
