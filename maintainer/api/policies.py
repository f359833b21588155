"""Policies: files, the policy of a table, versions, validation and preview."""

from __future__ import annotations

from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from maintainer.adapters.policies.model import policy_schema
from maintainer.adapters.policies.reading import parse_policy
from maintainer.api import schemas, wire
from maintainer.api.access import RecordIn, on_all, on_any, on_table
from maintainer.api.deps import PersonIn, PortsIn, policy_of_record
from maintainer.api.errors import ProblemError, declare_problems
from maintainer.api.health_schemas import PageOf, Schema, Written
from maintainer.api.schemas import PolicyProblemOut, PolicyText
from maintainer.api.spans import DEFAULT_PAGE, Cursor, Limit, Text
from maintainer.decide.suggestion import write_suggestion
from maintainer.domain.access import Role, is_within
from maintainer.domain.plan import PLANNED, TablePreview
from maintainer.domain.policy import PolicyLayer, RuleName
from maintainer.policy.ambiguity import find_unknown_pools
from maintainer.policy.versions import find_affected, with_candidate
from maintainer.ports.store.pages import MAX_PAGE
from maintainer.requests.policy_status import compare_versions, find_idle_patterns
from maintainer.requests.preview import preview_tables, suggest

CANDIDATE = "candidate.yaml"  # the name of a policy from a request, in problems
DEFAULT_PREVIEW = 200  # tables in one preview
LONGEST_PREVIEW = timedelta(seconds=10)

router = APIRouter(tags=["policies"])


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


@router.get("/policies", summary="The policy files in force", dependencies=[on_all(Role.VIEWER)])
def get_policies(ports: PortsIn) -> schemas.PolicySetOut:
    """Every layer with its values and their lines, and the problems of files.

    A file with a problem is not in force, contradicts another one, or selects no table.
    """
    policies = ports.policies.current()
    idle = find_idle_patterns(ports.store, policies.layers, ports.catalogs)
    return wire.write_policy_set(policies, idle)


@router.get(
    "/policies/effective/{catalog}/{namespace}/{table}",  # noqa: FAST003 - RecordIn reads them
    summary="The policy that governs a table",
    dependencies=[on_table(Role.VIEWER)],
)
def get_effective_policy(record: RecordIn, ports: PortsIn) -> schemas.EffectivePolicyOut:
    """All layers merged for one table, each value with its source.

    A source is a file and line, a table property or the default.
    """
    policy = policy_of_record(ports, record)
    return wire.write_policy(record.table, policy)


@router.get(
    "/policies/suggested/{catalog}/{namespace}/{table}",  # noqa: FAST003 - RecordIn reads them
    summary="A policy for a table, from its own history",
    dependencies=[on_table(Role.VIEWER)],
)
def get_suggested_policy(record: RecordIn, ports: PortsIn) -> SuggestedPolicyOut:
    """Thresholds, cooldown, retention and window, each with the figure behind it.

    Nothing is stored. The policy is in mode observe; a person puts it into a file.
    """
    if record.health is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"{record.table} was not measured yet")
    suggested = suggest(ports, record.health)
    return SuggestedPolicyOut.of(suggested, yaml=write_suggestion(suggested))


@router.get(
    "/policies/tables",
    summary="The tables that a policy file applies to",
    responses=declare_problems(HTTPStatus.NOT_FOUND),
    dependencies=[on_any(Role.VIEWER)],
)
def get_governed_tables(
    ports: PortsIn,
    person: PersonIn,
    name: Annotated[Text, Query(description="The policy file, as /policies names it.")],
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE, description="Tables a page.")] = 100,
    cursor: Cursor = None,
) -> GovernedTables:
    """By name. A narrower file may set other values for some of them."""
    layers = {layer.name: layer for layer in ports.policies.current().layers}
    if name not in layers:
        raise ProblemError(HTTPStatus.NOT_FOUND, f"no policy file {name!r} is in force")
    patterns = layers[name].tables
    names = sorted(
        str(table) for table in ports.store.table_names() if is_within(table, person.sees)
    )
    governed = [one for one in names if any(pattern.matches_name(one) for pattern in patterns)]
    waiting = [one for one in governed if cursor is None or one > cursor]
    page = waiting[:limit]
    return GovernedTables(
        items=page,
        next_cursor=page[-1] if len(waiting) > len(page) else None,
        total=len(governed),
    )


@router.get(
    "/policies/schema",
    summary="The JSON schema of a policy file",
    dependencies=[on_any(Role.VIEWER)],
)
def get_policy_schema() -> dict[str, Any]:
    """JSON Schema 2020-12, for editors and for checks before deployment."""
    return policy_schema()


@router.get(
    "/policies/versions", summary="Versions of the policies", dependencies=[on_all(Role.VIEWER)]
)
def get_policy_versions(
    ports: PortsIn,
    limit: Limit = DEFAULT_PAGE,
    cursor: Cursor = None,
) -> PolicyVersionPage:
    """Every version in the store that was in force, the current one first."""
    return PolicyVersionPage.model_validate(ports.store.policy_versions(limit, cursor))


@router.get(
    "/policies/versions/diff",
    summary="The differences of two versions",
    dependencies=[on_all(Role.VIEWER)],
)
def get_policy_diff(
    ports: PortsIn,
    before: Annotated[Text, Query(description="A version, or `current`.")],
    after: Annotated[Text, Query(description="A version, or `current`.")] = "current",
) -> PolicyDiff:
    """The changes field by field, with values as people write them.

    Moving a value to another line or file is no change.
    """
    changes = [
        PolicyChangeOut.model_validate(change) for change in compare_versions(ports, before, after)
    ]
    return PolicyDiff(before=before, after=after, changes=changes)


@router.post(
    "/policies/validate", summary="Check a policy file's text", dependencies=[on_any(Role.VIEWER)]
)
def validate_policy(text: schemas.PolicyText, ports: PortsIn) -> schemas.PolicyVerdict:
    """List the problems of a text, line by line; nothing is stored."""
    parsed = parse_policy(text.yaml, CANDIDATE)
    problems = (
        find_unknown_pools([parsed], ports.admission.pools)
        if isinstance(parsed, PolicyLayer)
        else parsed
    )
    return schemas.PolicyVerdict(is_valid=not problems, problems=wire.write_problems(problems))


@router.post(
    "/policies/preview",
    summary="Which verdicts a policy file would change",
    dependencies=[on_any(Role.VIEWER)],
)
def preview_policy(
    request: PreviewRequest,
    ports: PortsIn,
    person: PersonIn,
    limit: Annotated[
        int, Query(ge=1, le=MAX_PAGE, description="Tables to check.")
    ] = DEFAULT_PREVIEW,
    cursor: Cursor = None,
) -> FleetPreview:
    """Plan a page of the tables that the file may concern, by name, from stored health.

    No catalog is asked and nothing is stored. After ten seconds the page ends early.
    """
    current = ports.policies.current()
    candidate = with_candidate(current, read_candidate(request.yaml, request.name or CANDIDATE))
    visible = [table for table in ports.store.table_names() if is_within(table, person.sees)]
    concerned = find_affected(current, candidate, visible)
    waiting = [table for table in concerned if cursor is None or str(table) > cursor]
    page = sorted(waiting, key=str)[:limit]
    previews: list[TablePreview] = []
    ends_at = ports.clock.now() + LONGEST_PREVIEW
    for preview in preview_tables(ports, candidate, page):
        previews.append(preview)
        if ports.clock.now() >= ends_at:
            break
    page = page[: len(previews)]
    items = [TablePreviewOut.model_validate(preview) for preview in previews if preview.changes]
    return FleetPreview(
        items=items,
        looked_at=len(page),
        unmeasured=sum(bool(preview.unmeasured) for preview in previews),
        gb_hours=sum(
            change.gb_hours or 0.0
            for preview in previews
            for change in preview.changes
            if change.before != PLANNED
        ),
        next_cursor=str(page[-1]) if len(waiting) > len(page) else None,
        total=len(concerned),
    )


def read_candidate(text: str, name: str = CANDIDATE) -> PolicyLayer:
    """Read the policy file in a request; ProblemError lists all its problems."""
    layer = parse_policy(text, name)
    if not isinstance(layer, PolicyLayer):
        reported = "; ".join(f"{problem.source}: {problem.message}" for problem in layer)
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, reported or f"{name} cannot be used")
    return layer
