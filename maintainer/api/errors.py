"""Every error is answered as problem+json (RFC 9457), without a traceback."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import lru_cache
from http import HTTPStatus
from re import Pattern
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import compile_path

from maintainer.api.schemas import Problem
from maintainer.domain.errors import (
    CatalogUnavailableError,
    ConfigurationError,
    CredentialsRefusedError,
    InvalidTransitionError,
    InvalidValueError,
    MaintainerError,
    ProviderUnavailableError,
    RunnerUnavailableError,
    StoreUnavailableError,
    UnknownTableError,
)
from maintainer.steps.isolation import CrowdedError, TookTooLongError

PROBLEM_JSON = "application/problem+json"
MAX_DETAIL = 2000  # characters; the detail may quote the request
MAX_ERRORS_TOLD = 5  # validation errors named in one answer
RETRY_AFTER_SECONDS = 5  # the Retry-After header of an answer with status 503

_LOG = logging.getLogger(__name__)


class ProblemError(Exception):
    """An error with its HTTP status."""

    def __init__(self, status: HTTPStatus, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


def problem_response(
    status: int, detail: str, instance: str | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """The problem as a response; its title is the status's standard phrase."""
    title = HTTPStatus(status).phrase
    problem = Problem(
        title=title, status=status, detail=detail[:MAX_DETAIL] or title, instance=instance
    )
    return Response(problem.model_dump_json(), status, headers, PROBLEM_JSON)


def declare_problems(*statuses: HTTPStatus) -> dict[int | str, dict[str, Any]]:
    """OpenAPI's `responses` for an operation that may answer with these problems."""
    content = {PROBLEM_JSON: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {int(status): {"description": status.phrase, "content": content} for status in statuses}


def register_errors(api: FastAPI) -> None:
    """Answer every exception as a problem."""
    api.add_exception_handler(HTTPException, _answer_http)
    api.add_exception_handler(RequestValidationError, _answer_invalid)
    api.add_exception_handler(ProblemError, _answer_problem)
    api.add_exception_handler(MaintainerError, _answer_ours)
    api.add_exception_handler(Exception, _answer_unexpected)


def _status_of(error: Exception) -> HTTPStatus:
    match error:
        case UnknownTableError():
            return HTTPStatus.NOT_FOUND
        case InvalidValueError() | ConfigurationError():
            return HTTPStatus.UNPROCESSABLE_ENTITY
        case CredentialsRefusedError():
            return HTTPStatus.UNAUTHORIZED
        case InvalidTransitionError():
            return HTTPStatus.CONFLICT
        case (
            StoreUnavailableError()
            | CatalogUnavailableError()
            | RunnerUnavailableError()
            | ProviderUnavailableError()
            | CrowdedError()
            | TookTooLongError()
        ):
            return HTTPStatus.SERVICE_UNAVAILABLE
        case _:
            return HTTPStatus.INTERNAL_SERVER_ERROR


def _answer_ours(request: Request, error: Exception) -> Response:
    status = _status_of(error)
    headers = {
        HTTPStatus.SERVICE_UNAVAILABLE: {"Retry-After": str(RETRY_AFTER_SECONDS)},
        HTTPStatus.UNAUTHORIZED: {"WWW-Authenticate": "Bearer"},
    }.get(status)
    return problem_response(status, str(error), request.url.path, headers)


def _answer_problem(request: Request, error: Exception) -> Response:
    # Starlette calls a handler only with errors of its class.
    assert isinstance(error, ProblemError)  # noqa: S101
    return problem_response(error.status, error.detail, request.url.path)


def _answer_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - as above
    detail = str(error.detail)
    if error.status_code == HTTPStatus.NOT_FOUND and detail == HTTPStatus.NOT_FOUND.phrase:
        detail = f"there is nothing at {request.url.path}; /docs lists what there is"
    elif error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = _list_methods(request) or (error.headers or {}).get("Allow", "other methods")
        detail = f"{request.url.path} answers {allowed}, not {request.method}"
        return problem_response(
            error.status_code, detail, request.url.path, {**(error.headers or {}), "Allow": allowed}
        )
    return problem_response(error.status_code, detail, request.url.path, error.headers)


def _list_methods(request: Request) -> str:
    """All methods of the path in the document; empty for a path that it lacks.

    A router alone would name only those of its first route.
    """
    paths = request.app.openapi()["paths"]
    methods = {
        method.upper()
        for path, operations in paths.items()
        if _compile(path).fullmatch(request.scope["path"])
        for method in operations
    }
    return ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))


@lru_cache(maxsize=512)
def _compile(path: str) -> Pattern[str]:
    return compile_path(path)[0]


def _answer_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - as above
    reported = [
        f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}"
        for item in error.errors()[:MAX_ERRORS_TOLD]
    ]
    return problem_response(HTTPStatus.UNPROCESSABLE_ENTITY, "; ".join(reported), request.url.path)


def _answer_unexpected(request: Request, error: Exception) -> Response:
    _LOG.error("request.failed", exc_info=error, extra={"path": request.url.path})
    detail = (
        f"{request.method} {request.url.path} failed in an unexpected way "
        f"({type(error).__name__}); the daemon's log has the details"
    )
    return problem_response(HTTPStatus.INTERNAL_SERVER_ERROR, detail, request.url.path)
