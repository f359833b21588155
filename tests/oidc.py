"""A small OpenID provider on the loopback: discovery, code flow with PKCE, keys that rotate.

It follows OpenID Connect Core 1.0, Discovery 1.0 and RFC 7636, as far as a code flow needs them.
"""

from __future__ import annotations

import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any
from urllib.parse import parse_qs, urlencode

from fastapi import FastAPI, Request, Response
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey
from starlette.responses import JSONResponse, RedirectResponse

from tests.api.listening import listening

CLIENT, CLIENT_SECRET = "maintainer", "a-secret-of-the-client"
SECONDS_OF_A_TOKEN = 300


@dataclass
class Provider:
    """One signed-in person at a time: `claims` are theirs."""

    issuer: str = ""
    claims: dict[str, Any] = field(
        default_factory=lambda: {"sub": "7f3a", "preferred_username": "ada", "groups": ["night"]}
    )
    key: RSAKey = field(default_factory=lambda: make_key("first"))
    clock: float = 0.0  # seconds by which its clock differs
    is_away: bool = False
    asked: list[str] = field(default_factory=list)  # paths, in order
    begun: dict[str, dict[str, str]] = field(default_factory=dict)  # by code

    def rotate(self, name: str) -> None:
        self.key = make_key(name)

    def issue(self, audience: str = CLIENT, **changes: Any) -> str:
        """A token for that audience, signed with the present key."""
        now = int(time.time() + self.clock)
        claims = {
            **self.claims, "iss": self.issuer, "aud": audience, "iat": now,
            "exp": now + SECONDS_OF_A_TOKEN, **changes,
        }  # fmt: skip
        header = {"alg": "RS256", "kid": self.key.kid}
        return jwt.encode(
            header, {name: value for name, value in claims.items() if value is not None}, self.key
        )

    def discovery(self) -> Mapping[str, object]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
        }

    def authorize(self, asked: Mapping[str, str]) -> Response:
        needed = {
            "response_type": "code", "client_id": CLIENT, "code_challenge_method": "S256",
        }  # fmt: skip
        if any(asked.get(name) != value for name, value in needed.items()):
            return JSONResponse({"error": "invalid_request"}, 400)
        code = token_urlsafe(16)
        self.begun[code] = dict(asked)
        answer = urlencode({"code": code, "state": asked["state"]})
        return RedirectResponse(f"{asked['redirect_uri']}?{answer}", 302)

    def exchange(self, form: Mapping[str, str]) -> Response:
        begun = self.begun.pop(form.get("code", ""), None)  # a code is used once
        digest = sha256(form.get("code_verifier", "").encode()).digest()
        challenge = urlsafe_b64encode(digest).rstrip(b"=").decode()
        is_valid = (
            begun is not None
            and form.get("grant_type") == "authorization_code"
            and (form.get("client_id"), form.get("client_secret")) == (CLIENT, CLIENT_SECRET)
            and begun["redirect_uri"] == form.get("redirect_uri")
            and begun["code_challenge"] == challenge
        )
        if begun is None or not is_valid:
            return JSONResponse({"error": "invalid_grant"}, 400)
        return JSONResponse(
            {
                "access_token": token_urlsafe(16),
                "token_type": "Bearer",
                "id_token": self.issue(nonce=begun["nonce"]),
            }
        )


def make_key(name: str) -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": name, "use": "sig", "alg": "RS256"})


@contextmanager
def provider() -> Iterator[Provider]:
    """A provider on a free port."""
    made = Provider()
    app = FastAPI(openapi_url=None, redirect_slashes=False)

    @app.middleware("http")
    async def note(request: Request, call_next: Any) -> Response:
        made.asked.append(request.url.path)
        if made.is_away:
            return Response("away", 503)
        answer: Response = await call_next(request)
        return answer

    @app.get("/.well-known/openid-configuration")
    def discover() -> Mapping[str, object]:
        return made.discovery()

    @app.get("/keys")
    def list_keys() -> Mapping[str, Any]:
        return dict(KeySet([made.key]).as_dict(private=False))

    @app.get("/authorize")
    def authorize(request: Request) -> Response:
        return made.authorize(dict(request.query_params))

    @app.post("/token")
    async def exchange(request: Request) -> Response:
        body = parse_qs((await request.body()).decode())
        return made.exchange({name: values[0] for name, values in body.items()})

    with listening(app) as served:
        made.issuer = served.address
        yield made
