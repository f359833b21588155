"""Other programs that maintain the same table: they are recognised by the rewrites that they
commit, and not fought.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from maintainer.decide.quiet_periods import REWRITES
from maintainer.domain.health import Rewriter, TableHealth
from maintainer.domain.instants import is_recent
from maintainer.domain.policy import Others, Policy, Rule

OURS = "iceberg-maintainer-"  # how the application's name of every instance of this program begins
LEAST_RUNS = 2  # within 7 days: somebody who compacts a table once by hand does not take it over
STANDS_BACK_FOR = timedelta(days=7)


def find_other_maintainer(
    rule: Rule, health: TableHealth, policy: Policy, application: str, now: datetime
) -> Rewriter | None:
    """Who else keeps rewriting the table, so that this rule leaves it to that one; None: nobody, or
    the policy does not mind.
    """
    if rule.name not in REWRITES or policy.others is Others.IGNORE:
        return None
    others = (one for one in health.rewriters if one.name != application and one.runs >= LEAST_RUNS)
    return next((one for one in others if is_recent(one.last_at, STANDS_BACK_FOR, now)), None)


def describe_other(other: Rewriter) -> str:
    """Who it is and why nothing is done, in words."""
    who = (
        f"{other.name}, another instance of this program,"
        if other.name.startswith(OURS)
        else f"{other.name}, another maintainer,"
    )
    last = f"{other.last_at:%Y-%m-%d %H:%M} UTC"
    return (
        f"{who} rewrote this table {other.runs} times in 7 days, last at {last}; it is left to "
        f"that one (others: ignore in the policy works beside it)"
    )
