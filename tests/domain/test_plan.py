from __future__ import annotations

from dataclasses import replace

from maintainer.domain.cost import BENEFIT, Score
from tests.api.nouns import PLAN


def test_the_benefit_of_a_plan_counts_what_is_planned_and_what_waits() -> None:
    score = Score("maintainer", 9.0, ((BENEFIT, 4.0), ("price", 2.0)))
    plan = replace(
        PLAN,
        planned=(replace(PLAN.planned[0], score=score),),
        skipped=(replace(PLAN.skipped[0], score=score), PLAN.skipped[1]),
    )
    assert plan.benefit == 8.0
    assert replace(plan, planned=(), skipped=()).benefit == 0.0
