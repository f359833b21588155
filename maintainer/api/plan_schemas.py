"""Plans over the wire: each rule's verdict, why, and when it is looked at next."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from maintainer.api.health_schemas import Schema
from maintainer.domain.health import Band
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import Mode, RuleName


class FindingOut(Schema):
    """A bound that a table is beyond."""

    metric: str
    observed: float
    bound: float
    severity: Band
    is_actionable: Annotated[bool, Field(description="False: beyond the bound, yet no maintenance would change it.")]
    sentence: str


class EstimateOut(Schema):
    """What an action is expected to achieve; items are files, manifests or snapshots, as the action has them."""

    items_before: int
    items_after: int
    items_removed: int
    bytes_rewritten: int
    partitions: int
    note: str


class PlannedOut(Schema):
    """A rule that is worth doing."""

    rule: RuleName
    action: Annotated[str, Field(description="The CALL statement that would run.")]
    findings: list[FindingOut]
    estimate: EstimateOut
    reason: str


class SkippedOut(Schema):
    """A rule that does nothing now."""

    rule: RuleName
    code: SkipCode
    reason: str
    next_at: Annotated[datetime | None, Field(description="When it is looked at next; None: when the table changes.")]
    findings: list[FindingOut]
    estimate: EstimateOut | None
    action: Annotated[str | None, Field(description="The CALL statement that is held back; None where there is nothing to run.")]


class PlanOut(Schema):
    """The verdicts on one table at one snapshot under one policy."""

    table: str
    policy: Annotated[str, Field(description="Version (content hash) of the effective policy.")]
    mode: Mode
    snapshot_id: str | None
    made_at: datetime
    planned: list[PlannedOut]
    skipped: list[SkippedOut]
