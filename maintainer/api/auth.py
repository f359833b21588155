"""Authentication: a request acts in the name of its API token, or in an unverified name."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from hmac import compare_digest
from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, Request
from starlette.exceptions import HTTPException

from maintainer.api.deps import REQUESTED_BY, ContextIn
from maintainer.api.guard import SAFE_METHODS
from maintainer.domain.audit import name_token

_CHALLENGE = {"WWW-Authenticate": "Bearer"}


def authenticate(request: Request, context: ContextIn) -> str:
    """The name in which the request acts; ProblemError when its token is missing or wrong.

    Where tokens are configured, a change needs one, and a wrong token is refused on every route.
    """
    if not context.tokens:
        return REQUESTED_BY
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if not scheme and request.method in SAFE_METHODS:
        return REQUESTED_BY
    name = _find_name(context.tokens, given.strip()) if scheme.lower() == "bearer" else None
    if name is None:
        detail = (
            "the token is not one of this daemon's"
            if scheme
            else f"{request.method} needs an API token: send the header Authorization: Bearer TOKEN"
        )
        raise HTTPException(HTTPStatus.UNAUTHORIZED, detail, _CHALLENGE)
    return name_token(name)


def _find_name(tokens: Mapping[str, str], given: str) -> str | None:
    """Compare hashes of all tokens, without an early end, so that timing reveals nothing."""
    matching = [
        name for name, token in tokens.items() if compare_digest(_digest(token), _digest(given))
    ]
    return matching[0] if matching else None


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


ActorIn = Annotated[str, Depends(authenticate)]


def speak_for(actor: str, named: str) -> str:
    """The name in which the request acts when its body may name a person.

    A token always acts in its own name, and nobody without it can use that name.
    """
    return named if actor == REQUESTED_BY else actor
