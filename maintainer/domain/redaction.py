"""Texts made safe to show: secrets are hidden, and unprintable characters are escaped."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from re import IGNORECASE
from re import compile as compile_regex

HIDDEN = "***"

SECRET_WORDS = ("password", "passwd", "secret", "token", "credential", "authorization", "key")

_SECRET_NAME = compile_regex("|".join(SECRET_WORDS), IGNORECASE)
_URL_PASSWORD = compile_regex(r"(://[^:/?#@\s]*:)[^\s]*@")
_URL_TOKEN = compile_regex(r"(https?://)[^:/?#@\s]+@", IGNORECASE)
_URL_SECRET = compile_regex(
    r"([?&;](?:[^=&;\s]*(?:password|passwd|secret|token|credential|key|sig)[^=&;\s]*)=)[^&;\s]*",
    IGNORECASE,
)
_ASSIGNED_SECRET = compile_regex(
    r"((?<![\w.-])[\w.-]{0,80}(?:password|passwd|secret|token|credential|access.?key)[\w.-]{0,80}=|"
    r"authorization: {0,2}(?:bearer|basic) {1,2})[^\s,;)\]}]+",
    IGNORECASE,
)
_MIN_SECRET_CHARACTERS = 4  # shorter values may be ordinary words
_WORDS = frozenset({"true", "false", "none"})


def names_secret(name: str) -> bool:
    """True when the setting of this name must not be shown."""
    return _SECRET_NAME.search(name) is not None


def redact_url(text: str) -> str:
    """The text with passwords, tokens and secret parameters in URLs hidden."""
    text = _URL_TOKEN.sub(rf"\1{HIDDEN}@", _URL_PASSWORD.sub(rf"\1{HIDDEN}@", text))
    return _URL_SECRET.sub(rf"\1{HIDDEN}", text)


def find_secrets(settings: Mapping[str, str]) -> frozenset[str]:
    """The values of the settings that must not be shown."""
    found: set[str] = set()
    for name, value in settings.items():
        if names_secret(name):
            found |= {value, value.rpartition(":")[2]}  # an OAuth client has an id and a secret
    return frozenset(text for text in found if len(text) >= _MIN_SECRET_CHARACTERS) - _WORDS


def hide_secrets(text: str, secrets: Collection[str]) -> str:
    """The text without these secrets, and without others that their names or URLs show."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return _ASSIGNED_SECRET.sub(rf"\1{HIDDEN}", redact_url(text))


def make_visible(text: str, keep: str = "") -> str:
    r"""Write unprintable characters as escapes, such as ``\n``; ``keep`` stays as it is."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter in keep else _escape(letter) for letter in text
    )


def _escape(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")
