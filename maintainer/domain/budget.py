"""Limits on what maintenance may spend, and what has been spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from maintainer.domain.units import format_size


class Resource(StrEnum):
    """What a budget limits.

    A day is a calendar day in UTC. A job counts for the day on which it was admitted.
    """

    JOBS = "jobs"  # running at the same time
    BYTES_PER_DAY = "bytes_per_day"  # rewritten
    GB_HOURS_PER_DAY = "gb_hours_per_day"


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of one budget. None: no limit."""

    max_jobs: int | None = None
    bytes_per_day: int | None = None
    gb_hours_per_day: float | None = None
    name: str = ""  # the owner: "the fleet", "catalog lake", "policies/cdc.yaml"

    @property
    def is_unlimited(self) -> bool:
        return (
            self.max_jobs is None and self.bytes_per_day is None and self.gb_hours_per_day is None
        )

    @property
    def daily_limits(self) -> Mapping[Resource, float]:
        """The limits for a day that it has."""
        limits = {
            Resource.BYTES_PER_DAY: self.bytes_per_day,
            Resource.GB_HOURS_PER_DAY: self.gb_hours_per_day,
        }
        return {resource: float(limit) for resource, limit in limits.items() if limit is not None}


@dataclass(frozen=True, slots=True)
class BudgetState:
    """One limit of a budget at one moment."""

    name: str
    resource: Resource
    limit: float
    spent: float
    frees_at: datetime | None = None  # None: at the end of a job, or never; the sentence says which


@dataclass(frozen=True, slots=True)
class SpentBudget:
    """A daily budget that is used up, and how many actions wait for it."""

    state: BudgetState
    waiting: int


@dataclass(frozen=True, slots=True)
class Charge:
    """What one job costs the budgets: predicted until it is done, then actual."""

    bytes: float = 0.0
    gb_hours: float = 0.0

    def __add__(self, other: Charge) -> Charge:
        """The sum of both charges."""
        return Charge(self.bytes + other.bytes, self.gb_hours + other.gb_hours)

    def amount(self, resource: Resource) -> float:
        """What a daily budget is charged with."""
        return self.bytes if resource is Resource.BYTES_PER_DAY else self.gb_hours


NOTHING_SPENT = Charge()


@dataclass(frozen=True, slots=True)
class Spending:
    """The cost so far of all jobs admitted on one day (UTC).

    By catalog, and by the name of the policy's budget ("" for no budget).
    """

    day: str  # 2026-11-21
    by_owner: Mapping[tuple[str, str], Charge] = field(default_factory=dict)

    @property
    def total(self) -> Charge:
        """The charge of the whole fleet."""
        return sum(self.by_owner.values(), NOTHING_SPENT)

    def of_catalog(self, catalog: str) -> Charge:
        return sum(
            (charge for (owner, _), charge in self.by_owner.items() if owner == catalog),
            NOTHING_SPENT,
        )

    def of_policy(self, name: str) -> Charge:
        """The charge of the tables whose policy has the budget of that name."""
        return sum(
            (charge for (_, policy), charge in self.by_owner.items() if policy == name),
            NOTHING_SPENT,
        )


@dataclass(frozen=True, slots=True)
class DailyWork:
    """What the jobs admitted on one day (UTC) have cost and saved so far."""

    day: str  # 2026-11-21
    cost: Charge
    files_removed: int
    requests_saved: int  # in one scan of each maintained table


def day_of(moment: datetime) -> str:
    """The day of an instant in UTC, in the form that Spending.day has."""
    return f"{moment:%Y-%m-%d}"


def write_amount(resource: Resource, amount: float) -> str:
    """Write an amount of a daily budget with its unit."""
    return format_size(amount) if resource is Resource.BYTES_PER_DAY else f"{amount:.3g} GB-hours"
