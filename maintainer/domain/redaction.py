"""Secrets that must not be shown: names of secret settings, and secrets inside URLs."""

from __future__ import annotations

from re import IGNORECASE
from re import compile as compile_regex

HIDDEN = "***"

SECRET_WORDS = ("password", "passwd", "secret", "token", "credential", "authorization", "key")

_SECRET_NAME = compile_regex("|".join(SECRET_WORDS), IGNORECASE)
_URL_PASSWORD = compile_regex(r"(://[^:/?#@\s]*:)[^\s]*@")
_URL_SECRET = compile_regex(
    r"([?&;](?:[^=&;\s]*(?:password|passwd|secret|token|credential|key|sig)[^=&;\s]*)=)[^&;\s]*",
    IGNORECASE,
)


def names_secret(name: str) -> bool:
    """True when the setting of this name must not be shown."""
    return _SECRET_NAME.search(name) is not None


def redact_url(text: str) -> str:
    """The text with passwords and secret parameters in URLs hidden."""
    return _URL_SECRET.sub(rf"\1{HIDDEN}", _URL_PASSWORD.sub(rf"\1{HIDDEN}@", text))
