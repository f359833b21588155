"""When unchanged tables are measured and planned again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from heapq import nsmallest
from zlib import crc32

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import Plan
from maintainer.domain.policy import Policy
from maintainer.domain.units import is_ahead


def is_due(
    table: TableIdentifier, measured_at: datetime | None, now: datetime, remeasure: timedelta
) -> bool:
    """True when an unchanged table is to be measured again.

    Each table has its own time in the last quarter of `remeasure`, which spreads the load.
    """
    if measured_at is None or is_ahead(measured_at, now):
        return True
    share = crc32(str(table).encode()) / 2**32
    return now - measured_at >= remeasure * (1 - share / 4)


def choose_rechecks(
    measured_at: Mapping[TableIdentifier, datetime | None],
    now: datetime,
    recheck_after: timedelta,
    most: int,
) -> list[TableIdentifier]:
    """The tables with the oldest measurements, if these are at least `recheck_after` old."""
    waiting = {
        table: at or now for table, at in measured_at.items() if now - (at or now) >= recheck_after
    }
    return nsmallest(most, waiting, key=lambda table: (waiting[table], table))


def find_next_check(plan: Plan, policy: Policy, longest: timedelta) -> datetime:
    """The earliest time that a rule names, at most `longest` after the plan.

    A plan with actions is due at the next full hour, because its instants change; at every step
    if a window or blackout may begin.
    """
    checks = [skipped.next_at for skipped in plan.skipped if skipped.next_at is not None]
    if plan.planned and (policy.window is not None or policy.blackouts):
        return plan.made_at
    if plan.planned:
        checks.append(plan.made_at.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1))
    return min([*checks, plan.made_at + longest])
