"""Who may start and who waits: budgets, what was spent of them, and why an action that is planned does not run now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from maintainer.domain.cost import Benefit, Cost, Score
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.policy import RuleName


class Resource(StrEnum):
    """What a budget limits. A day is a calendar day in UTC, and what a job takes belongs to the day that it was admitted on."""

    JOBS = "jobs"  # side by side
    BYTES_PER_DAY = "bytes_per_day"  # rewritten
    GB_HOURS_PER_DAY = "gb_hours_per_day"


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that may be spent; None: no limit."""

    max_jobs: int | None = None
    bytes_per_day: int | None = None
    gb_hours_per_day: float | None = None
    name: str = ""  # of whom: "the fleet", "catalog lake", "policies/cdc.yaml"


@dataclass(frozen=True, slots=True)
class BudgetState:
    """One limit of a budget at one moment."""

    name: str
    resource: Resource
    limit: float
    spent: float
    frees_at: datetime | None = None  # None: as soon as a job ends, or never, as the sentence says


class WaitCode(StrEnum):
    """Why an action that is planned does not start now."""

    QUEUED = "queued"  # others go first to the free places
    TURN = "turn"  # an earlier action of the same table goes first: it prepares this one
    IN_FLIGHT = "in_flight"  # the table has an unfinished job
    OVER_BUDGET = "over_budget"
    RESERVED = "reserved"  # what is left is kept for urgent work, or for tables that no cost is known of
    TOO_LARGE = "too_large"  # costs more than the budget of a whole day
    BLACKOUT = "blackout"
    PAUSED = "paused"
    DRAINING = "draining"  # the daemon finishes what it has and starts nothing


@dataclass(frozen=True, slots=True)
class Wait:
    """Why, and until when at the earliest; next_at None: when a job ends, or when somebody changes something."""

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
    benefit: Benefit
    bytes_rewritten: int
    waiting_since: datetime
    priority: int = 50
    chance: float = 1.0  # that it succeeds: no writer's commit comes first, and it did not fail lately
    is_urgent: bool = False  # the table is in the critical band
    budget: Budget | None = None  # of its policy
    published_files: int = 0  # what the published model takes for its gain
    published_gb_hours: float = 0.0  # and for its cost


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
