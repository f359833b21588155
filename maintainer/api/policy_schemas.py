"""Versions of the policies and previews of others, as they go over the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from maintainer.api.health_schemas import Schema
from maintainer.api.schemas import PageOf, PolicyProblemOut, PolicyText
from maintainer.domain.policy import RuleName


class PolicyVersionOut(Schema):
    """Policies of one content hash; last_seen_at is when they came into force last."""

    version: str
    first_seen_at: datetime
    last_seen_at: datetime
    layer_count: int
    problems: list[PolicyProblemOut]


class PolicyVersionPage(PageOf[PolicyVersionOut]):
    """Versions, the one in force first."""


class PolicyChangeOut(Schema):
    """One field of one layer, as people write it; null where a version does not have it."""

    layer: str
    path: str
    before: str | None
    after: str | None
    source_before: str | None
    source_after: str | None


class PolicyDiff(Schema):
    """What the version `after` has differently from the version `before`."""

    before: str
    after: str
    changes: list[PolicyChangeOut]


class PreviewRequest(PolicyText):
    """A policy file to try out; with the name of a file that is in force it takes its place, else
    it is laid over what is equally narrow.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}\.ya?ml$")] | None = None


class VerdictChangeOut(Schema):
    """A rule that would be judged otherwise: "planned", or why not; null where the policy has no
    such rule.
    """

    rule: RuleName
    before: str | None
    after: str | None
    why_before: str
    why_after: str


class TablePreviewOut(Schema):
    """A table and its rules that would be judged otherwise."""

    table: str
    changes: list[VerdictChangeOut]


class FleetPreview(Schema):
    """One page: of `looked_at` tables that the policy can concern, those whose verdicts would
    change; `total` can be concerned in all.
    """

    items: list[TablePreviewOut]
    looked_at: int
    unmeasured: int
    next_cursor: str | None
    total: int
