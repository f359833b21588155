"""Signed texts for cookies: no replica needs to remember a session."""

from __future__ import annotations

from hashlib import sha256
from secrets import token_bytes
from time import time

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OctKey

from maintainer.ports.identity import Claims

_ALGORITHM = "HS256"


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
