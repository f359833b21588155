"""The HTTP application: routes, errors, guard, documentation and the web page."""

from __future__ import annotations

import json
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import Depends, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from starlette.routing import request_response
from starlette.types import ASGIApp, Receive, Scope, Send

from maintainer import __version__
from maintainer.api import (
    audit,
    catalogs,
    documentation,
    events,
    jobs,
    orphans,
    overview,
    pauses,
    pins,
    policies,
    pools,
    probes,
    reports,
    rescue,
    session,
    settings,
    table_export,
    tables,
    trends,
    verdicts,
)
from maintainer.api.access import Need, need_of
from maintainer.api.deps import ApiContext, authenticate
from maintainer.api.documentation import complete_document
from maintainer.api.errors import declare_problems, register_errors
from maintainer.api.guard import Guard
from maintainer.api.job_schemas import JobEventOut, JobLogOut
from maintainer.api.page import PAGE_DIRECTORY, Page
from maintainer.api.recent import RecentAnswers
from maintainer.api.schemas import Problem

PREFIX = "/api/v1"
_TAGS = [
    {"name": "overview", "description": "The fleet in figures."},
    {
        "name": "tables",
        "description": "Tables: health, history, plans and requests.",
    },
    {"name": "jobs", "description": "What was done and what is being done."},
    {"name": "policies", "description": "What should be done, and where it is written."},
    {"name": "catalogs", "description": "Where tables come from."},
    {"name": "pools", "description": "Where jobs run."},
    {"name": "replicas", "description": "Which replica does what."},
    {"name": "settings", "description": "How the daemon is configured."},
    {"name": "audit", "description": "The audit log: requests, jobs and their results."},
    {"name": "session", "description": "Who is signed in, on the page or with a token."},
    {"name": "probes", "description": "For orchestrators and Prometheus."},
]
_ROUTERS = tuple(
    module.router
    for module in (
        overview,
        reports,
        tables,
        trends,
        table_export,
        events,
        verdicts,
        rescue,
        pauses,
        jobs,
        policies,
        catalogs,
        pools,
        settings,
        audit,
        pins,
        orphans,
    )
)
_DESCRIPTION = (
    "Watches Apache Iceberg tables, decides by policy what to maintain, runs it on Spark, "
    "and proves what it achieved. "
    "Times are RFC 3339 in UTC, sizes are bytes, null is unknown. Lists are paged with `limit` "
    "and `cursor`. Errors are problem+json (RFC 9457)."
)


class Prefix:
    """ASGI middleware that takes the prefix off a request's path.

    A request without it is served too: probes and other pods come past the proxy.
    """

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self.app = app
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        path = scope.get("path", "")
        if self._prefix and (path == self._prefix or path.startswith(f"{self._prefix}/")):
            raw: bytes = scope.get("raw_path") or path.encode()
            length = len(self._prefix)  # the prefix has only characters that need no encoding
            scope = {
                **scope,
                "path": path[length:] or "/",
                "raw_path": raw[length:] or b"/",
            }
        await self.app(scope, receive, send)


def build_api(context: ApiContext, page_directory: Path = PAGE_DIRECTORY) -> FastAPI:
    """Build the ASGI application; page_directory has the built web page."""
    api = _serve(_declare_api(), context)
    api.router.default = request_response(Page(page_directory, context.prefix).serve)
    return api


def build_probes(context: ApiContext) -> FastAPI:
    """Build an application with the probes and the metrics alone."""
    api = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    api.include_router(probes.router)
    register_errors(api)
    return _serve(api, context)


def _serve(api: FastAPI, context: ApiContext) -> FastAPI:
    api.state.context = context
    api.add_middleware(RecentAnswers, context=context)
    api.add_middleware(Guard, hosts=context.hosts)
    api.add_middleware(Prefix, prefix=context.prefix)  # the outermost middleware
    return api


def openapi_document() -> dict[str, Any]:
    """The OpenAPI document; needs no ports."""
    return _declare_api().openapi()


def list_needs() -> dict[str, Need]:
    """The role that each route needs, by its name; LookupError for a route without one."""
    return {
        route.name: need_of(route)
        for router in (*_ROUTERS, session.router, probes.router)
        for route in router.routes
        if isinstance(route, APIRoute)
    }


def write_openapi() -> str:
    """The OpenAPI document as it is committed: sorted, indented by two."""
    return json.dumps(openapi_document(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


class _Api(FastAPI):
    def openapi(self) -> dict[str, Any]:
        if not self.openapi_schema:
            document = get_openapi(
                title=self.title,
                version=self.version,
                description=self.description,
                routes=self.routes,
                tags=_TAGS,
                openapi_version=self.openapi_version,
            )
            # FastAPI does not inspect the responses that refer to these models.
            for model in (Problem, JobEventOut, JobLogOut):
                document["components"]["schemas"][model.__name__] = model.model_json_schema(
                    mode="serialization", ref_template="#/components/schemas/{model}"
                )
            complete_document(document, PREFIX, list_needs())
            self.openapi_schema = document
        return self.openapi_schema


def _declare_api() -> FastAPI:
    api = _Api(
        title="iceberg-maintainer",
        version=__version__,
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    reported = declare_problems(
        HTTPStatus.UNAUTHORIZED, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.SERVICE_UNAVAILABLE
    )
    for router in _ROUTERS:
        api.include_router(
            router, prefix=PREFIX, responses=reported, dependencies=[Depends(authenticate)]
        )
    api.include_router(session.router, prefix=PREFIX, responses=reported)
    api.include_router(probes.router)
    documentation.register_documentation(api)
    register_errors(api)
    return api
