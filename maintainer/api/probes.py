"""Liveness, readiness and metrics, for orchestrators and Prometheus."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

from maintainer.api import schemas
from maintainer.api.access import for_everybody, for_metrics
from maintainer.api.deps import ApiContext, ContextIn, identify
from maintainer.api.errors import declare_problems
from maintainer.domain.errors import CredentialsRefusedError, ProviderUnavailableError

_HIDDEN = {True: "it works", False: "it does not work; sign in to read why"}

router = APIRouter(tags=["probes"])


@router.get(
    "/livez",
    summary="Whether the process is alive",
    responses=declare_problems(HTTPStatus.SERVICE_UNAVAILABLE),
    dependencies=[for_everybody()],
)
def get_liveness(context: ContextIn) -> schemas.Liveness:
    """Answers as long as the process serves; checks nothing else.

    On the probes' own port: 503 if the API's own server no longer answers.
    """
    if context.is_stuck():
        raise HTTPException(
            HTTPStatus.SERVICE_UNAVAILABLE, "the server of the API and the page no longer answers"
        )
    return schemas.Liveness()


@router.get(
    "/readyz",
    summary="Whether the daemon can do its work",
    responses={
        503: {
            "model": schemas.Readiness,
            "description": "Something that the daemon needs does not work.",
        }
    },
    dependencies=[for_everybody()],
)
def get_readiness(request: Request, context: ContextIn, response: Response) -> schemas.Readiness:
    """Each thing that the daemon needs, and whether it works; 503 when one does not.

    Messages name catalogs and count tables: they are shown only to people who see all tables.
    """
    is_told = _sees_all(request, context)
    checks = [
        schemas.CheckOut(name=name, is_ok=is_ok, message=message if is_told else _HIDDEN[is_ok])
        for name, is_ok, message in context.readiness()
    ]
    is_ready = all(check.is_ok for check in checks)
    response.status_code = HTTPStatus.OK if is_ready else HTTPStatus.SERVICE_UNAVAILABLE
    return schemas.Readiness(is_ready=is_ready, checks=checks)


def _sees_all(request: Request, context: ApiContext) -> bool:
    if not context.asks_who:
        return True
    try:
        person = identify(request, context)
    except (CredentialsRefusedError, ProviderUnavailableError, HTTPException):
        return False  # a probe must be answered in any case
    return person is not None and person.sees_all


@router.get(
    "/metrics",
    summary="Prometheus metrics",
    response_class=Response,
    responses={
        200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
        **declare_problems(HTTPStatus.UNAUTHORIZED),
    },
    dependencies=[for_metrics()],
)
def get_metrics(context: ContextIn) -> Response:
    """All metrics in Prometheus' text exposition."""
    text, content_type = context.metrics()
    return Response(text, headers={"Content-Type": content_type})
