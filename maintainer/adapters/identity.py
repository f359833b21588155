"""Sign-in with an OpenID provider, and signed cookies: no replica needs to remember a session."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest
from secrets import token_bytes, token_urlsafe
from threading import Lock
from time import monotonic, time
from typing import Any
from urllib.parse import urlencode

import requests
from joserfc import jwt
from joserfc.errors import ExpiredTokenError, InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet, OctKey

from maintainer.domain.errors import CredentialsRefusedError, ProviderUnavailableError
from maintainer.ports.identity import Claims, SignIn

# Only signatures by a key of the provider: others could sign with a shared secret or without a key.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
SECONDS_PER_REQUEST = 5.0
MAX_ANSWER_BYTES = 1024**2
FRESH_SECONDS = 3600.0  # after this time the provider's addresses and keys are fetched again
# An unknown key may be new or forged. The provider is asked at most once in this time.
REFETCH_SECONDS = 30.0
_ALGORITHM = "HS256"


@dataclass(frozen=True, slots=True)
class ProviderOptions:
    """The provider, and the daemon's registration there."""

    issuer: str
    client_id: str
    audience: str  # of bearer tokens
    callback: str  # the address to which the provider sends a browser back
    client_secret: str | None = field(default=None, repr=False)
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    leeway_seconds: int = 60  # the clocks may differ by this time


class OpenIdProvider:
    """Thread-safe. While the provider is unavailable, the fetched keys are still used."""

    def __init__(self, options: ProviderOptions, clock: Callable[[], float] = monotonic) -> None:
        self._options = options
        self._clock = clock
        self._lock = Lock()
        self._addresses: Mapping[str, Any] | None = None
        self._keys: KeySet | None = None
        self._fetched_at = self._asked_at = float("-inf")

    def read_bearer(self, token: str) -> Claims:
        """See Identities."""
        return self._verify(token, self._options.audience)

    def begin(self) -> SignIn:
        """See Identities."""
        # The addresses are fetched each time, so that an unavailable provider is reported here.
        endpoint = self._fetch_addresses()["authorization_endpoint"]
        state, nonce, verifier = (token_urlsafe(32) for _ in range(3))
        challenge = urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        asked = {
            "response_type": "code",
            "client_id": self._options.client_id,
            "redirect_uri": self._options.callback,
            "scope": " ".join(self._options.scopes),
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        join = "&" if "?" in endpoint else "?"
        secrets = {"state": state, "nonce": nonce, "verifier": verifier}
        return SignIn(f"{endpoint}{join}{urlencode(asked)}", secrets)

    def finish(self, code: str, secrets: Mapping[str, str]) -> Claims:
        """See Identities."""
        options = self._options
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": options.callback,
            "client_id": options.client_id,
            "code_verifier": secrets["verifier"],
        }
        if options.client_secret is not None:
            form["client_secret"] = options.client_secret
        answer = self._ask("POST", self._discover()["token_endpoint"], form)
        claims = self._verify(str(answer.get("id_token", "")), options.client_id)
        if not compare_digest(str(claims.get("nonce", "")), secrets["nonce"]):
            raise CredentialsRefusedError("the provider's answer belongs to another sign-in")
        return claims

    def _verify(self, token: str, audience: str) -> Claims:
        try:
            try:
                found = jwt.decode(token, self._read_keys(), algorithms=ALGORITHMS)
            except InvalidKeyIdError:
                found = jwt.decode(token, self._read_keys(is_unknown=True), algorithms=ALGORITHMS)
            rules = jwt.JWTClaimsRegistry(
                leeway=self._options.leeway_seconds,
                iss={"essential": True, "value": self._options.issuer},
                aud={"essential": True, "value": audience},
                sub={"essential": True},
                exp={"essential": True},
            )
            rules.validate(found.claims)
            _check_party(found.claims, audience, self._options.client_id)
        except ExpiredTokenError as error:
            raise CredentialsRefusedError(
                "the token has expired, or the clocks of the provider and the daemon differ"
            ) from error
        except (JoseError, ValueError) as error:
            raise CredentialsRefusedError(f"the token is not valid here: {error}"[:300]) from error
        return found.claims

    def _read_keys(self, *, is_unknown: bool = False) -> KeySet:
        with self._lock:
            now = self._clock()
            may_ask = now - self._asked_at >= REFETCH_SECONDS
            is_old = now - self._fetched_at >= FRESH_SECONDS
            if self._keys is None or (may_ask and (is_unknown or is_old)):
                self._asked_at = now
                try:
                    addresses = self._fetch_addresses()
                    found: Any = self._ask("GET", addresses["jwks_uri"])
                    self._keys = KeySet.import_key_set(found)
                except (JoseError, ValueError, KeyError) as error:
                    self._fall_back(f"its keys cannot be read: {error}"[:300], error)
                except ProviderUnavailableError as error:
                    self._fall_back(str(error), error)
                else:
                    self._addresses, self._fetched_at = addresses, now
            assert self._keys is not None  # noqa: S101 - _fall_back raises without any
            return self._keys

    def _fall_back(self, message: str, error: Exception) -> None:
        """Use the known keys; without any, raise the error, because no token can be checked."""
        if self._keys is None:
            raise ProviderUnavailableError(message) from error

    def _discover(self) -> Mapping[str, Any]:
        with self._lock:
            if self._addresses is None:
                self._addresses = self._fetch_addresses()
            return self._addresses

    def _fetch_addresses(self) -> Mapping[str, Any]:
        found = self._ask(
            "GET", f"{self._options.issuer.rstrip('/')}/.well-known/openid-configuration"
        )
        if found.get("issuer") != self._options.issuer:
            raise ProviderUnavailableError(
                f"the provider names itself {str(found.get('issuer'))[:200]!r}, not as "
                f"auth.oidc.issuer: {self._options.issuer!r}"
            )
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            if not str(found.get(name, "")).startswith(("https://", "http://")):
                raise ProviderUnavailableError(f"the provider has no {name}")
        return found

    def _ask(self, method: str, url: str, form: Mapping[str, str] | None = None) -> dict[str, Any]:
        try:
            with requests.request(
                method, url, data=form, timeout=SECONDS_PER_REQUEST, allow_redirects=False,
                stream=True, headers={"Accept": "application/json"},
            ) as response:  # fmt: skip
                if form is not None and 400 <= response.status_code < 500:  # noqa: PLR2004
                    raise CredentialsRefusedError("the provider refused the sign-in")
                response.raise_for_status()
                # A longer answer is cut, and is then not valid JSON.
                found = json.loads(response.raw.read(MAX_ANSWER_BYTES, decode_content=True))
        except (requests.RequestException, ValueError, OSError) as error:
            raise ProviderUnavailableError(
                f"the OpenID provider {self._options.issuer} does not answer as it must"
            ) from error
        if not isinstance(found, dict):
            raise ProviderUnavailableError(
                f"the OpenID provider {self._options.issuer} answers no JSON object"
            )
        return found


def _check_party(claims: Claims, audience: str, client_id: str) -> None:
    """ValueError if a token for this client was issued to another client.

    A token for an audience of its own, of an API, is issued to any client of it.
    """
    party = claims.get("azp")
    if audience == client_id and party is not None and party != client_id:
        raise ValueError(f"it was issued to the client {str(party)[:100]!r}")


class CookieSealer:
    """Signs with a key that replicas share; without one, sessions end with this process."""

    def __init__(self, key: str | None) -> None:
        self._key = OctKey.import_key(
            token_bytes(32) if key is None else sha256(key.encode()).digest()
        )

    def seal(self, kind: str, content: Claims, seconds: int) -> str:
        """See Sealer."""
        claims = {"content": dict(content), "aud": kind, "exp": int(time()) + seconds}
        return jwt.encode({"alg": _ALGORITHM}, claims, self._key)

    def unseal(self, kind: str, text: str) -> Claims | None:
        """See Sealer."""
        rules = jwt.JWTClaimsRegistry(
            aud={"essential": True, "value": kind}, exp={"essential": True}
        )
        try:
            claims = jwt.decode(text, self._key, algorithms=[_ALGORITHM]).claims
            rules.validate(claims)
        except (JoseError, ValueError):
            return None
        content = claims.get("content")
        return content if isinstance(content, dict) else None
