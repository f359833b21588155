"""Split a rewrite that would use much of a daily budget, so that other jobs fit beside it."""

from __future__ import annotations

from math import inf

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.rewrite.limits import Bounded, take_at_most
from maintainer.domain.admission import AdmissionRules
from maintainer.domain.budget import Charge
from maintainer.domain.health import TableHealth
from maintainer.domain.plan import Estimate
from maintainer.domain.policy import Policy, Rule
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.domain.units import format_size
from maintainer.estimate.cost import most_work
from maintainer.estimate.rewrite_data_files import Place

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


def fit_in_a_day(  # noqa: PLR0913, PLR0917 - what a job takes, and what a day has
    rule: Rule,
    health: TableHealth,
    policy: Policy,
    estimate: Estimate,
    circumstances: Circumstances,
    memory_gb: float,
    too_heavy: frozenset[Place],
) -> Bounded:
    """The rewrite limited to what one job may take of each daily budget.

    Requests of a person are not limited.
    """
    if (
        not isinstance(rule, RewriteDataFilesRule)
        or circumstances.is_requested
        or circumstances.admission is None
    ):
        return Bounded(rule)
    limit = find_most_per_job(circumstances.admission, health.table.catalog, policy)
    most = min(
        limit.bytes, most_work(rule.name, limit.gb_hours, circumstances.calibration, memory_gb)
    )
    part = (
        take_at_most(int(most), rule, health, circumstances.now, too_heavy)
        if 1 <= most < estimate.bytes_rewritten
        else None
    )
    if part is None:
        return Bounded(rule)
    return Bounded(
        part.rule,
        f"only {part.amount} at once, because all of {format_size(estimate.bytes_rewritten)} is "
        f"more than a quarter of what a day's budgets have",
    )
