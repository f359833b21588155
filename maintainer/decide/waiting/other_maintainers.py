"""Other programs that maintain the same table.

Their commits of rewrites identify them, and this program leaves the table to them.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from maintainer.domain.health import Rewriter, TableHealth
from maintainer.domain.instants import is_recent
from maintainer.domain.policy import Others, Policy, Rule
from maintainer.domain.rules import RewriteRule

OURS = (
    "iceberg-maintainer-"  # the beginning of the application name of every instance of this program
)
LEAST_RUNS = 2  # within 7 days: a single compaction by hand does not count
STANDS_BACK_FOR = timedelta(days=7)


def find_other_maintainer(
    rule: Rule, health: TableHealth, policy: Policy, application: str, now: datetime
) -> Rewriter | None:
    """Another program that keeps rewriting the table, so that this rule must not.

    None: there is none, or the policy ignores it.
    """
    if not isinstance(rule, RewriteRule) or policy.others is Others.IGNORE:
        return None
    others = (one for one in health.rewriters if one.name != application and one.runs >= LEAST_RUNS)
    return next((one for one in others if is_recent(one.last_at, STANDS_BACK_FOR, now)), None)


def describe_other(other: Rewriter) -> str:
    """Its name, and why nothing runs, as a sentence."""
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
