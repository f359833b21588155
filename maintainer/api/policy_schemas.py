"""Schemas of policy versions and of previews."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from maintainer.api.health_schemas import Schema, Written
from maintainer.api.schemas import PageOf, PolicyProblemOut, PolicyText
from maintainer.domain.policy import RuleName


class PolicyVersionOut(Schema):
    """Policies of one content hash; last_seen_at is when they last came into force."""

    version: str
    first_seen_at: datetime
    last_seen_at: datetime
    layer_count: int
    problems: list[PolicyProblemOut]


class PolicyVersionPage(PageOf[PolicyVersionOut]):
    """Versions, the one in force first."""


class PolicyChangeOut(Schema):
    """One changed field of one layer, as people write it; null where a version lacks it."""

    layer: str
    path: str
    before: str | None
    after: str | None
    source_before: str | None
    source_after: str | None


class PolicyDiff(Schema):
    """The changes from the version `before` to the version `after`."""

    before: str
    after: str
    changes: list[PolicyChangeOut]


class PreviewRequest(PolicyText):
    """A policy file to preview.

    With the name of a file in force it replaces that file; otherwise it becomes the last layer
    among those of equally narrow scope.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}\.ya?ml$")] | None = None


class SuggestedValueOut(Schema):
    """One setting as in a policy file, and the figure behind it."""

    path: str
    text: str
    reason: str


class SuggestedPolicyOut(Schema):
    """A policy file for one table, from its history between two times."""

    table: Written
    since: datetime
    until: datetime
    values: list[SuggestedValueOut]
    yaml: str = Field(description="The file, with the reasons as comments.")


class VerdictChangeOut(Schema):
    """A rule with another verdict: "planned" or a skip code; null where the policy lacks it."""

    rule: RuleName
    before: str | None
    after: str | None
    why_before: str
    why_after: str
    gb_hours: float | None = Field(
        description="The predicted cost of an action that would be planned."
    )


class TablePreviewOut(Schema):
    """A table and its rules with other verdicts."""

    table: Written
    changes: list[VerdictChangeOut]


class FleetPreview(Schema):
    """The tables whose verdicts would change, of the `looked_at` tables on this page.

    `total` is the number of all tables that the policy may concern.
    """

    items: list[TablePreviewOut]
    looked_at: int
    unmeasured: int
    gb_hours: float = Field(
        description="The predicted cost of all actions here that would be newly planned."
    )
    next_cursor: str | None
    total: int


class GovernedTables(PageOf[Written]):
    """Names of the tables that a policy file applies to."""
