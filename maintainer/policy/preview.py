"""Policies that are not in force: the tables they affect, and the verdicts they would change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeAlias

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import Plan, PlannedAction
from maintainer.domain.policy import PolicyLayer, PolicySet, RuleName
from maintainer.domain.verdict import PLANNED, VerdictChange

# A rule's verdict, reason, action and predicted GB-hours.
_Judgement: TypeAlias = tuple[str | None, str, object, float | None]

CANDIDATE_PRECEDENCE = 1  # stronger than equally specific layers


def with_candidate(policies: PolicySet, candidate: PolicyLayer | None) -> PolicySet:
    """The policies with one more layer that is tried out.

    It replaces a file of the same name, else it is stronger than equally specific layers.
    """
    if candidate is None:
        return policies
    is_known = any(layer.name == candidate.name for layer in policies.layers)
    return with_file(
        policies, candidate if is_known else replace(candidate, precedence=CANDIDATE_PRECEDENCE)
    )


def with_file(policies: PolicySet, layer: PolicyLayer) -> PolicySet:
    """The policies with this file added, or in place of a file of the same name."""
    return replace(
        policies, layers=(*(other for other in policies.layers if other.name != layer.name), layer)
    )


def find_affected(
    before: PolicySet, after: PolicySet, tables: Iterable[TableIdentifier]
) -> list[TableIdentifier]:
    """The tables to which a layer applies that only one of the two policy sets has.

    Nothing can change for other tables.
    """
    differing = [layer for layer in before.layers if layer not in after.layers] + [
        layer for layer in after.layers if layer not in before.layers
    ]
    patterns = tuple(dict.fromkeys(pattern for layer in differing for pattern in layer.tables))
    return [
        table for table in tables if any(pattern.matches_name(str(table)) for pattern in patterns)
    ]


def compare_plans(before: Plan, after: Plan) -> tuple[VerdictChange, ...]:
    """The rules with a different verdict or action, in execution order."""
    was, would_be = _judge(before), _judge(after)
    none: _Judgement = (None, "the policy has no such rule", None, None)
    pairs = [(rule, was.get(rule, none), would_be.get(rule, none)) for rule in RuleName]
    return tuple(
        VerdictChange(rule, old[0], new[0], old[1], new[1], new[3])
        for rule, old, new in pairs
        if (old[0], old[2]) != (new[0], new[2])
    )


def _judge(plan: Plan) -> dict[RuleName, _Judgement]:
    planned: dict[RuleName, _Judgement] = {
        one.rule: (PLANNED, one.reason, one.action, _cost_of(one)) for one in plan.planned
    }
    return planned | {one.rule: (one.code.value, one.reason, None, None) for one in plan.skipped}


def _cost_of(planned: PlannedAction) -> float | None:
    return planned.cost.gb_hours if planned.cost is not None else None
