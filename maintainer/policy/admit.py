"""Which planned actions start now, and in which order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from maintainer.domain.action import Procedure
from maintainer.domain.plan import Plan, PlannedAction
from maintainer.domain.policy import RuleName

_ORDER = tuple(RuleName)


@dataclass(frozen=True, slots=True)
class Admission:
    """One action that may start, with the plan it comes from."""

    plan: Plan
    planned: PlannedAction


def admit(plans: Iterable[Plan], busy_tables: frozenset[str], free_slots: int) -> tuple[Admission, ...]:
    """At most one action a table and `free_slots` in all; busy_tables are UUIDs with an unfinished job.

    Of a table's planned actions the first in the fixed order goes first: each prepares the next, which is planned anew when it is its turn.
    Among tables: the policy's priority, then cheap gains before dear ones, then the name.
    """
    first = [Admission(plan, _first_action(plan)) for plan in plans if plan.planned and plan.table_uuid not in busy_tables]
    first.sort(key=lambda a: (-a.plan.priority, -_items_removed_per_byte(a.planned), str(a.plan.table)))
    return tuple(first[: max(0, free_slots)])


def _first_action(plan: Plan) -> PlannedAction:
    return min(plan.planned, key=lambda planned: _ORDER.index(planned.rule))


def _items_removed_per_byte(planned: PlannedAction) -> float:
    # Metadata-only work costs next to nothing; the constant stands for its fixed cost, so that the ratio stays finite.
    fixed_cost_bytes = 1024 * 1024 if planned.action.procedure is Procedure.REWRITE_DATA_FILES else 1
    return planned.estimate.items_removed / (planned.estimate.bytes_rewritten + fixed_cost_bytes)
