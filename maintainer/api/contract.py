"""Add to the OpenAPI document what applies to every operation: roles, refusals and credentials."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from maintainer.api.access import Need
from maintainer.api.auth import COOKIE
from maintainer.api.errors import declare_problems
from maintainer.api.guard import SAFE_METHODS

_SCHEME = "token"
_SESSION = "session"
_ALWAYS = (
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.REQUEST_URI_TOO_LONG,
    HTTPStatus.MISDIRECTED_REQUEST,
    HTTPStatus.UNPROCESSABLE_ENTITY,
)
_OF_CHANGES = (
    HTTPStatus.FORBIDDEN,  # for pages of other sites, also if no role is needed
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
)
_OF_BODIES = (HTTPStatus.BAD_REQUEST,)


def complete_document(document: dict[str, Any], prefix: str, needs: Mapping[str, Need]) -> None:
    """Add to each operation the guard's refusals and its role, and credentials under the prefix."""
    document["components"]["securitySchemes"] = {
        _SCHEME: {
            "type": "http",
            "scheme": "bearer",
            "description": "A token of `auth.tokens`, or of the OpenID provider; needed where any "
            "sign-in is configured.",
        },
        _SESSION: {
            "type": "apiKey",
            "in": "cookie",
            "name": COOKIE,
            "description": "A session of the page. A change also needs the header `Origin`.",
        },
    }
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            need = needs[operation["operationId"]]
            operation["x-role"] = None if need.role is None else {"role": need.role, "on": need.of}
            is_change = method.upper() not in SAFE_METHODS
            statuses = (
                *_ALWAYS,
                *(() if need.role is None else (HTTPStatus.FORBIDDEN,)),
                *(_OF_CHANGES if is_change else ()),
                *(_OF_BODIES if "requestBody" in operation else ()),
            )
            for status, response in declare_problems(*statuses).items():
                operation["responses"].setdefault(str(status), response)
            if path.startswith(prefix):
                operation["security"] = [{}, {_SCHEME: []}, {_SESSION: []}]
