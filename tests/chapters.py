"""Questions to the chapters of procedures, as a decision asks them."""

from __future__ import annotations

from datetime import datetime

from maintainer.domain.cost import Benefit, Calibration, Cost, Worth
from maintainer.domain.health import TableHealth
from maintainer.domain.plan import Estimate, RuleHistory
from maintainer.domain.policy import Rule, RuleName
from maintainer.estimate import cost, floors
from maintainer.estimate.floors import Refusal
from maintainer.procedures.procedure import Gain, Situation
from maintainer.procedures.registry import CHAPTERS
from tests.samples import NOW


def find_gain(rule: Rule, health: TableHealth, now: datetime = NOW) -> Gain | None:
    """The rule's gain on a table that nothing but the time is known of."""
    return CHAPTERS[rule.name].find_gain(rule, health, Situation(now))


def refuse(rule: Rule, health: TableHealth) -> Refusal | None:
    """The first reason that holds for every rule, else the procedure's own."""
    return floors.refuse(rule, health) or CHAPTERS[rule.name].refuse(rule, health, Situation(NOW))


def predict(rule: RuleName, work: float, calibration: Calibration, memory_gb: float) -> Cost:
    """The cost, from the rule's first pace."""
    return cost.predict(rule, CHAPTERS[rule].first_pace, work, calibration, memory_gb)


def measure_work(rule: RuleName, estimate: Estimate, health: TableHealth) -> float:
    """The work of the rule's procedure."""
    return CHAPTERS[rule].measure_work(estimate, health)


def find_benefit(rule: RuleName, estimate: Estimate) -> Benefit:
    """The benefit of the rule's procedure."""
    return CHAPTERS[rule].find_benefit(estimate)


def find_worth(
    rule: RuleName, estimate: Estimate, price: Cost, health: TableHealth, history: RuleHistory
) -> Worth:
    """Benefit, chance and the published figures of the rule's procedure."""
    chapter = CHAPTERS[rule]
    return cost.find_worth(
        chapter.find_benefit(estimate), chapter.publish(estimate, health), price, health, history
    )
