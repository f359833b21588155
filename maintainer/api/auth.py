"""Authentication: in whose name a request acts."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from hmac import compare_digest
from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, Request
from starlette.exceptions import HTTPException

from maintainer.api.deps import REQUESTED_BY, ContextIn
from maintainer.domain.access import ApiToken, Grant, Person, Role
from maintainer.domain.audit import name_token

_CHALLENGE = {"WWW-Authenticate": "Bearer"}
_ANYBODY = Person(REQUESTED_BY, (Grant(Role.ADMIN),))


def authenticate(request: Request, context: ContextIn) -> Person:
    """In whose name the request acts; 401 when its credentials are missing or wrong.

    Where nothing is configured, everybody may do everything, in an unverified name.
    """
    if not context.tokens:
        return _ANYBODY
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if not scheme:
        detail = "this needs an API token: send the header Authorization: Bearer TOKEN"
        raise HTTPException(HTTPStatus.UNAUTHORIZED, detail, _CHALLENGE)
    person = _find_bearer(context.tokens, given.strip()) if scheme.lower() == "bearer" else None
    if person is None:
        detail = "the token is not one of this daemon's"
        raise HTTPException(HTTPStatus.UNAUTHORIZED, detail, _CHALLENGE)
    return person


def _find_bearer(tokens: Mapping[str, ApiToken], given: str) -> Person | None:
    """Compare hashes of all tokens, without an early end, so that timing reveals nothing."""
    matching = [
        Person(name_token(name), (token.grant,))
        for name, token in tokens.items()
        if compare_digest(_digest(token.secret), _digest(given))
    ]
    return matching[0] if matching else None


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


PersonIn = Annotated[Person, Depends(authenticate)]


def _name_actor(person: PersonIn) -> str:
    return person.name


ActorIn = Annotated[str, Depends(_name_actor)]


def speak_for(actor: str, named: str) -> str:
    """The name in which the request acts when its body may name a person.

    Who is authenticated always acts in their own name, and nobody else can use it.
    """
    return named if actor == REQUESTED_BY else actor
