"""What must not be shown: which names stand for secrets, and URLs without theirs."""

from __future__ import annotations

from re import IGNORECASE
from re import compile as compile_regex

HIDDEN = "***"

_SECRET_NAME = compile_regex(
    r"password|passwd|secret|token|credential|authorization|key", IGNORECASE
)
_URL_PASSWORD = compile_regex(r"(://[^:/?#@\s]*:)[^\s]*@")
_URL_SECRET = compile_regex(
    r"([?&;](?:[^=&;\s]*(?:password|passwd|secret|token|credential|key|sig)[^=&;\s]*)=)[^&;\s]*",
    IGNORECASE,
)


def names_secret(name: str) -> bool:
    """True when a setting of this name is not to be shown."""
    return _SECRET_NAME.search(name) is not None


def redact_url(text: str) -> str:
    """The text with the passwords and secret parameters of its URLs hidden."""
    return _URL_SECRET.sub(rf"\1{HIDDEN}", _URL_PASSWORD.sub(rf"\1{HIDDEN}@", text))
