"""Split a rewrite that would use much of a daily budget, so that other jobs fit beside it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.rewrite.limits import Part
from maintainer.domain.admission import AdmissionRules
from maintainer.domain.budget import Charge
from maintainer.domain.health import TableHealth
from maintainer.domain.policy import Policy, RuleName
from maintainer.domain.units import format_size
from maintainer.estimate.cost import most_work

JOB_SHARE = (
    0.25  # of a day: a job that needs most of a budget only fits when nothing else has started
)


def find_most_per_job(rules: AdmissionRules, catalog: str, policy: Policy) -> Charge:
    """A quarter of the daily budgets, without their reserved parts; infinite without limits."""
    budgets = [
        each
        for each in (rules.fleet, rules.per_catalog.get(catalog), policy.budget)
        if each is not None
    ]
    share = (1.0 - rules.urgent_share - rules.explore_share) * JOB_SHARE
    size = min(
        (each.bytes_per_day for each in budgets if each.bytes_per_day is not None), default=inf
    )
    return Charge(
        size * share,
        min(
            (each.gb_hours_per_day for each in budgets if each.gb_hours_per_day is not None),
            default=inf,
        )
        * share,
    )


@dataclass(frozen=True, slots=True)
class DailyLimit:
    """What one job may take of the daily budgets."""

    bytes: int

    def is_exceeded(self, _group_bytes: int, job_bytes: int, /) -> bool:
        """True when the job itself is over it."""
        return job_bytes > self.bytes

    def explain(self, part: Part) -> str:
        """Why only this part is rewritten."""
        return (
            f"only {part.amount} at once, because all of {format_size(part.whole_bytes)} is more "
            f"than a quarter of what a day's budgets have"
        )


def limit_to_a_day(
    health: TableHealth, policy: Policy, circumstances: Circumstances, memory_gb: float
) -> DailyLimit | None:
    """The limit from the daily budgets.

    None without budgets, for a person's request, and where not even the start-up fits.
    """
    if circumstances.is_requested or circumstances.admission is None:
        return None
    share = find_most_per_job(circumstances.admission, health.table.catalog, policy)
    most = min(
        share.bytes,
        most_work(
            RuleName.REWRITE_DATA_FILES, share.gb_hours, circumstances.calibration, memory_gb
        ),
    )
    return DailyLimit(int(most)) if 1 <= most < inf else None
