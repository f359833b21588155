"""When a table is planned again although nothing has happened to it."""

from __future__ import annotations

from datetime import datetime, timedelta

from maintainer.domain.plan import Plan
from maintainer.domain.policy import Policy


def find_next_check(plan: Plan, policy: Policy, longest: timedelta) -> datetime:
    """The earliest time that a rule names, at most `longest` after the plan.

    A plan with work is due at the next full hour, because its instants move on; at every step
    if a window or blackout may begin.
    """
    checks = [skipped.next_at for skipped in plan.skipped if skipped.next_at is not None]
    if plan.planned and (policy.window is not None or policy.blackouts):
        return plan.made_at
    if plan.planned:
        checks.append(plan.made_at.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1))
    return min([*checks, plan.made_at + longest])
