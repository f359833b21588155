"""A job right before its start, and the plan made anew for it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from maintainer.decide.jobs.safeguards import bring_up_to_date, explain_needlessness
from maintainer.domain.plan import PlannedAction, SkipCode, SkippedRule
from maintainer.domain.policy import RuleName
from tests.api.nouns import ESTIMATE, PLAN, REWRITE, make_job

FILES, MANIFESTS = RuleName.REWRITE_DATA_FILES, RuleName.REWRITE_MANIFESTS


def test_a_job_gets_what_the_new_plan_says_of_it_and_keeps_who_it_is() -> None:
    planned = PlannedAction(
        FILES,
        replace(REWRITE, where="day > 2"),
        (),
        replace(ESTIMATE, items_before=50),
        "50 files become 2",
        timeout=timedelta(hours=3),
        memory_gb=8.0,
    )
    job = make_job()
    fresh = bring_up_to_date(job, replace(PLAN, policy_version="new", pool="large"), planned)
    assert (fresh.action, fresh.estimate, fresh.reason) == (
        planned.action,
        planned.estimate,
        "50 files become 2",
    )
    assert (fresh.policy_version, fresh.pool) == ("new", "large")
    assert (fresh.timeout, fresh.memory_gb) == (timedelta(hours=3), 8.0)
    assert (fresh.job_id, fresh.created_at, fresh.state) == (job.job_id, job.created_at, job.state)


def test_a_rule_that_is_not_planned_any_more_has_the_reason_of_the_new_plan() -> None:
    skipped = SkippedRule(MANIFESTS, SkipCode.BELOW_THRESHOLD, "7 manifests, at most 100")
    paused = replace(skipped, code=SkipCode.PAUSED, reason="ada paused it")
    assert [
        explain_needlessness(replace(PLAN, skipped=those), MANIFESTS)
        for those in ((skipped,), (paused,), ())
    ] == [
        "no longer needed: 7 manifests, at most 100",
        "not started: ada paused it",
        "no longer needed: the policy has no such rule now",
    ]
