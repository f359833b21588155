"""The tokens with which drivers identify themselves; the store has only their hashes.

A driver starts with one token and gets new tokens in answers. Because an answer may be lost, the
former token is valid until the driver has used the newer token. With an expired token, a driver
that has polled before can only get a new token.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256

from maintainer.ports.store.drivers import DriverRecord, DriverTokens

LIFETIME = timedelta(minutes=10)  # of a renewed token; a start token is valid for the start timeout
_RENEW_BEFORE = LIFETIME / 2


class TokenCheck(StrEnum):
    """The result of checking a token."""

    GOOD = "good"
    EXPIRED = "expired"  # the driver only gets a new token
    UNKNOWN = "unknown"
    OF_ANOTHER = "of another driver"


def make_token(name: str) -> str:
    return f"{name}.{secrets.token_urlsafe(32)}"


def start_tokens(token: str, now: datetime, valid_for: timedelta) -> DriverTokens:
    """Return the form of a start token that the store keeps."""
    return DriverTokens(_digest(token), now + valid_for)


def check_token(token: str, name: str, driver: DriverRecord | None, now: datetime) -> TokenCheck:
    """Check the token of a poll in the name of this driver."""
    if token.rpartition(".")[0] != name:
        return TokenCheck.OF_ANOTHER if "." in token else TokenCheck.UNKNOWN
    if driver is None or not (_is_newest(token, driver.tokens) or _is_former(token, driver.tokens)):
        return TokenCheck.UNKNOWN
    if now < driver.tokens.expires_at:
        return TokenCheck.GOOD
    return TokenCheck.EXPIRED if driver.polls else TokenCheck.UNKNOWN


def renew_tokens(
    token: str, driver: DriverRecord, now: datetime
) -> tuple[str | None, DriverTokens | None]:
    """Return a new token if one is due, and the tokens to store; None: nothing changes."""
    kept = driver.tokens
    is_due = not driver.polls or _is_former(token, kept) or now > kept.expires_at - _RENEW_BEFORE
    if is_due:
        new = make_token(driver.name)
        return new, DriverTokens(_digest(new), now + LIFETIME, former=_digest(token))
    return None, replace(kept, former="") if kept.former else None


def _digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()


def _is_newest(token: str, kept: DriverTokens) -> bool:
    return hmac.compare_digest(_digest(token), kept.digest)


def _is_former(token: str, kept: DriverTokens) -> bool:
    return bool(kept.former) and hmac.compare_digest(_digest(token), kept.former)
