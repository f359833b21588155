"""Apply the plan made right before a job's start to the job."""

from __future__ import annotations

from dataclasses import replace

from maintainer.domain.job import Job
from maintainer.domain.plan import Plan, PlannedAction, SkipCode
from maintainer.domain.policy import RuleName


def bring_up_to_date(job: Job, fresh: Plan, planned: PlannedAction) -> Job:
    """Replace the job's action and its reasons with those of the new plan.

    The policy may keep more now, and the table may need another option.
    """
    return replace(
        job,
        action=planned.action,
        findings=planned.findings,
        estimate=planned.estimate,
        reason=planned.reason,
        policy_version=fresh.policy_version,
        cost=planned.cost,
        timeout=planned.timeout,
        memory_gb=planned.memory_gb,
        executors_gb=planned.executors_gb,
        size=planned.size,
        size_reason=planned.size_reason,
        pool=fresh.pool,
    )


def explain_needlessness(fresh: Plan, rule: RuleName) -> str:
    """Say why the fresh plan does not contain the job's rule."""
    skipped = next((skip for skip in fresh.skipped if skip.rule is rule), None)
    if skipped is not None and skipped.code is SkipCode.PAUSED:
        return f"not started: {skipped.reason}"
    return (
        f"no longer needed: {skipped.reason}"
        if skipped is not None
        else "no longer needed: the policy has no such rule now"
    )
