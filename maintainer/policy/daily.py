"""A rewrite that is more than a whole day's budget has for it is done in slices of a day."""

from __future__ import annotations

from math import inf

from maintainer.domain.admission import AdmissionRules
from maintainer.domain.budget import Charge
from maintainer.domain.health import TableHealth
from maintainer.domain.plan import Estimate
from maintainer.domain.policy import Policy, Rule, RuleName
from maintainer.domain.units import format_size
from maintainer.policy.cost import most_work
from maintainer.policy.estimate_files import Place
from maintainer.policy.hold import Circumstances
from maintainer.policy.slices import Bounded, take_at_most

SPARE_SHARE = 0.1  # of the day: the next measurement may find a little more


def find_most_per_day(rules: AdmissionRules, catalog: str, policy: Policy) -> Charge:
    """What one job may take, so that the budgets of some day have it, without what they keep for others; where they limit nothing, infinite."""
    budgets = [each for each in (rules.fleet, rules.per_catalog.get(catalog), policy.budget) if each is not None]
    share = (1.0 - rules.urgent_share - rules.explore_share) * (1 - SPARE_SHARE)
    size = min((each.bytes_per_day for each in budgets if each.bytes_per_day is not None), default=inf)
    return Charge(size * share, min((each.gb_hours_per_day for each in budgets if each.gb_hours_per_day is not None), default=inf) * share)


def fit_in_a_day(  # noqa: PLR0913, PLR0917 - what a job takes, and what a day has
    rule: Rule, health: TableHealth, policy: Policy, estimate: Estimate, circumstances: Circumstances, memory_gb: float, too_heavy: frozenset[Place]
) -> Bounded:
    """The rewrite so that it fits the least of the daily budgets. What a person asks for needs none."""
    if rule.name is not RuleName.REWRITE_DATA_FILES or circumstances.is_requested or circumstances.admission is None:
        return Bounded(rule)
    limit = find_most_per_day(circumstances.admission, health.table.catalog, policy)
    most = min(limit.bytes, most_work(rule.name, limit.gb_hours, circumstances.calibration, memory_gb))
    part = take_at_most(int(most), rule, health, circumstances.now, too_heavy) if 1 <= most < estimate.bytes_rewritten else None
    if part is None:
        return Bounded(rule)
    return Bounded(part.rule, f"only {part.amount} at once, because all of {format_size(estimate.bytes_rewritten)} is more than a day's budget has for it")
