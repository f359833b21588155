"""Signing in on the page, by the OpenID provider or with a token, and signing out."""

from __future__ import annotations

import logging
from datetime import timedelta
from hmac import compare_digest
from http import HTTPStatus
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field
from starlette.responses import RedirectResponse

from maintainer.api.access import for_everybody
from maintainer.api.deps import (
    COOKIE,
    SESSION,
    ApiContext,
    ContextIn,
    count_failures,
    find_token,
    identify,
    write_person_session,
    write_token_session,
)
from maintainer.api.errors import ProblemError, declare_problems
from maintainer.api.health_schemas import Schema
from maintainer.api.spans import Text
from maintainer.domain.access import Role
from maintainer.domain.errors import CredentialsRefusedError, ProviderUnavailableError
from maintainer.ports.identity import Claims

SIGN_IN = "sign-in"  # the kind of the sealed text of a sign-in that has begun
SIGN_IN_COOKIE = "maintainer_sign_in"
SIGN_IN_SECONDS = 600
TOKEN_SECONDS = 8 * 3600  # of a session that began with a token

_LOG = logging.getLogger(__name__)
router = APIRouter(tags=["session"])
_REDIRECT = {
    302: {"description": "To the provider, or back to the page."},
    **declare_problems(HTTPStatus.NOT_FOUND),
}


class GrantOut(Schema):
    """A role, and what the names of its tables begin with; "" is all tables."""

    role: Role
    prefixes: list[str]


class SessionOut(Schema):
    """Who sends the request, and what they may do."""

    is_needed: bool = Field(description="False: everybody may do everything.")
    name: str | None = Field(description="As in the audit log; null for nobody.")
    grants: list[GrantOut]
    has_provider: bool = Field(description="People sign in at an OpenID provider.")
    has_tokens: bool = Field(description="A token can be used to sign in.")


class TokenSignIn(Schema):
    """Sign in on the page with an API token."""

    token: str = Field(min_length=1, max_length=1000)


@router.get("/session", summary="Who is signed in", dependencies=[for_everybody()])
def get_session(request: Request, context: ContextIn) -> SessionOut:
    """Who sends the request, and how to sign in; answers everybody."""
    person = identify(request, context) if context.asks_who else None
    grants = () if person is None else person.grants
    return SessionOut(
        is_needed=context.asks_who,
        name=None if person is None else person.name,
        grants=[GrantOut(role=grant.role, prefixes=list(grant.prefixes)) for grant in grants],
        has_provider=context.people is not None and bool(context.people.page),
        has_tokens=bool(context.tokens),
    )


@router.post(
    "/session",
    summary="Sign in with a token",
    status_code=HTTPStatus.NO_CONTENT,
    responses=declare_problems(HTTPStatus.UNAUTHORIZED),
    dependencies=[for_everybody()],
)
def start_session(
    request: Request, context: ContextIn, asked: TokenSignIn, response: Response
) -> None:
    """Answer with a cookie in place of the token, for browsers."""
    with count_failures(request, context):
        name = find_token(context.tokens, asked.token.strip())
        if name is None:
            raise CredentialsRefusedError("the token is not one of this daemon's")
    is_secure = request.headers.get("origin", request.url.scheme).startswith("https")
    kept = write_token_session(context.tokens, name)
    _keep(context, response, kept, TOKEN_SECONDS, is_secure=is_secure)


@router.delete(
    "/session",
    summary="Sign out",
    status_code=HTTPStatus.NO_CONTENT,
    dependencies=[for_everybody()],
)
def end_session(request: Request, context: ContextIn, response: Response) -> None:
    """End the session, also for copies of its cookie; the provider may still know the person."""
    text = request.cookies.get(COOKIE, "")
    if text and context.sealer is not None and context.sealer.unseal(SESSION, text) is not None:
        longest = TOKEN_SECONDS if context.people is None else context.people.session_seconds
        now = context.ports.clock.now()
        until = now + timedelta(seconds=max(longest, TOKEN_SECONDS))
        context.ended.end(context.ports.store, text, until, now)
    response.delete_cookie(COOKIE, path=_path(context))


@router.get(
    "/session/sign-in",
    summary="Begin to sign in",
    response_class=Response,
    status_code=HTTPStatus.FOUND,
    responses=_REDIRECT,
    dependencies=[for_everybody()],
)
def begin_sign_in(
    context: ContextIn,
    address: Annotated[
        Text, Query(alias="next", description="The page to return to, such as /jobs.")
    ] = "/",
) -> Response:
    """Send the browser to the OpenID provider: code flow with PKCE."""
    people = context.people
    if people is None or not people.page or context.sealer is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, "auth.oidc.page is not configured")
    try:
        begun = people.identities.begin()
    except ProviderUnavailableError as error:
        return _fail(context, "unavailable", error)
    answer = RedirectResponse(begun.address, HTTPStatus.FOUND)
    content = {"secrets": dict(begun.secrets), "next": _local(address)}
    answer.set_cookie(
        SIGN_IN_COOKIE,
        context.sealer.seal(SIGN_IN, content, SIGN_IN_SECONDS),
        max_age=SIGN_IN_SECONDS,
        path=_path(context),
        secure=people.page.startswith("https"),
        httponly=True,
        samesite="lax",  # the provider's page sends the browser back
    )
    return answer


@router.get(
    "/session/callback",
    summary="Return from the provider",
    response_class=Response,
    status_code=HTTPStatus.FOUND,
    responses=_REDIRECT,
    dependencies=[for_everybody()],
)
def finish_sign_in(
    request: Request,
    context: ContextIn,
    code: Text = "",
    state: Text = "",
) -> Response:
    """The end of a sign-in that this browser began here."""
    people, sealer = context.people, context.sealer
    if people is None or not people.page or sealer is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, "auth.oidc.page is not configured")
    begun = sealer.unseal(SIGN_IN, request.cookies.get(SIGN_IN_COOKIE, ""))
    secrets = begun.get("secrets") if begun is not None else None
    if begun is None or not isinstance(secrets, dict) or not code:
        return _fail(context, "refused")
    if not compare_digest(state.encode(), str(secrets["state"]).encode()):
        return _fail(context, "refused")
    try:
        with count_failures(request, context):
            claims = people.identities.finish(code, secrets)
    except ProviderUnavailableError as error:
        return _fail(context, "unavailable", error)
    except CredentialsRefusedError as error:
        return _fail(context, "refused", error)
    answer = RedirectResponse(f"{context.prefix}{begun['next']}", HTTPStatus.FOUND)
    answer.delete_cookie(SIGN_IN_COOKIE, path=_path(context))
    is_secure = people.page.startswith("https")
    kept = write_person_session(people, claims)
    _keep(context, answer, kept, people.session_seconds, is_secure=is_secure)
    return answer


def _keep(
    context: ApiContext, response: Response, content: Claims, seconds: int, *, is_secure: bool
) -> None:
    if context.sealer is not None:
        response.set_cookie(
            COOKIE,
            context.sealer.seal(SESSION, content, seconds),
            max_age=seconds,
            path=_path(context),
            secure=is_secure,
            httponly=True,
            samesite="strict",
        )


def _fail(context: ApiContext, reason: str, error: Exception | None = None) -> Response:
    _LOG.warning("sign_in.failed reason=%s error=%s", reason, error)
    address = f"{context.prefix}/?{urlencode({'sign-in': reason})}"
    answer = RedirectResponse(address, HTTPStatus.FOUND)
    answer.delete_cookie(SIGN_IN_COOKIE, path=_path(context))
    return answer


def _path(context: ApiContext) -> str:
    return context.prefix or "/"


def _local(address: str) -> str:
    """Return the address if it is a path on this server, else the first page."""
    is_path = address.startswith("/") and not address.startswith("//") and "\\" not in address
    return address if is_path and address.isprintable() else "/"
