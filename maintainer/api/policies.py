"""Policies: the files in force, the one that governs a table, and a check of a text."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter

from maintainer.api import schemas, wire
from maintainer.api.deps import RecordIn, ServicesIn
from maintainer.api.errors import declare_problems
from maintainer.domain.policy import PolicyLayer

CANDIDATE = "candidate.yaml"  # what problems call a policy that came in a request

router = APIRouter(tags=["policies"])


@router.get("/policies", summary="The policy files in force")
def get_policies(services: ServicesIn) -> schemas.PolicySetOut:
    """Every layer with its values and their lines, and what is wrong with files that are not in force."""
    return wire.write_policy_set(services.policies.current())


@router.get(
    "/policies/effective/{catalog}/{namespace}/{table}",  # noqa: FAST003 - RecordIn reads them
    summary="The policy that governs a table",
    responses=declare_problems(HTTPStatus.NOT_FOUND),
)
def get_effective_policy(record: RecordIn, services: ServicesIn) -> schemas.EffectivePolicyOut:
    """All layers merged for one table, each value with the file and the line it comes from."""
    policy = services.effective(record.table, record.health.properties if record.health else {})
    return wire.write_policy(record.table, policy)


@router.post("/policies/validate", summary="Check a policy file's text")
def validate_policy(text: schemas.PolicyText, services: ServicesIn) -> schemas.PolicyVerdict:
    """Say what is wrong with a text, line by line; nothing is stored."""
    parsed = services.parse_policy(text.yaml, CANDIDATE)
    problems = () if isinstance(parsed, PolicyLayer) else parsed
    return schemas.PolicyVerdict(is_valid=isinstance(parsed, PolicyLayer), problems=wire.write_problems(problems))
