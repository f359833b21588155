"""Settings of who may use the API and the page."""

from __future__ import annotations

from re import compile as compile_regex
from typing import Annotated

from pydantic import BeforeValidator, Field

from maintainer.adapters.policies.validation import Strict, refuse
from maintainer.domain.access import ApiToken, Grant, Role, read_prefix
from maintainer.domain.errors import InvalidValueError

_LEAST_CHARACTERS = 16
_NAME = compile_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def _read_tokens(value: object) -> object:
    if not isinstance(value, dict):
        return value
    tokens = {
        name: {"token": token, "role": Role.ADMIN} if isinstance(token, str) else token
        for name, token in value.items()
    }
    secrets = [token.get("token") for token in tokens.values() if isinstance(token, dict)]
    for name, token in tokens.items():
        if _NAME.fullmatch(str(name)) is None:
            refuse(
                f"has {str(name)[:80]!r}, which is no name of a token; write 1 to 64 letters, "
                f"digits, dots, dashes and underscores"
            )
        secret = token.get("token") if isinstance(token, dict) else None
        if isinstance(secret, str) and not _is_plain(secret):
            refuse(
                f"has a token {name} that is too short or not plain; write at least "
                f"{_LEAST_CHARACTERS} printable characters without blanks"
            )
    if len(set(map(str, secrets))) < len(secrets):
        refuse("has the same token under two names: the audit log could not name the requester")
    return tokens


def _is_plain(secret: str) -> bool:
    is_long = len(secret) >= _LEAST_CHARACTERS
    return is_long and secret.isascii() and secret.isprintable() and " " not in secret


def _read_role(value: object) -> object:
    if not isinstance(value, str) or value not in set(Role):
        refuse(f"is {value!r}, but the roles are {', '.join(Role)}")
    return Role(value)


def _read_scopes(value: object) -> object:
    if not isinstance(value, list):
        return value
    for scope in value:
        if not isinstance(scope, str):
            return value
        try:
            read_prefix(scope)
        except InvalidValueError as error:
            refuse(f"has a {error}")
    return tuple(value)


RoleName = Annotated[
    Role,
    BeforeValidator(_read_role),
    Field(description="What it allows; each role includes those before it."),
]
Scopes = Annotated[
    tuple[str, ...],
    BeforeValidator(_read_scopes),
    Field(
        min_length=1,
        max_length=20,
        description="On which tables: catalogs (`lake`) and namespaces (`lake.sales`) with those "
        "nested in them. `*` is all tables.",
    ),
]


class TokenSettings(Strict):
    """A token of a machine; a text alone is a token with the role admin on all tables."""

    token: Annotated[
        str, Field(repr=False, description="16 or more printable characters without blanks.")
    ]
    role: RoleName
    on: Scopes = ("*",)


class AuthSettings(Strict):
    """Who may use the API and the page. As soon as anything is set here, reading needs it too.

    [Sign-in and roles](sign-in.md) has examples.
    """

    tokens: Annotated[
        dict[str, TokenSettings],
        BeforeValidator(_read_tokens),
        Field(repr=False, max_length=100, description="Tokens of machines by name."),
    ] = Field(default_factory=dict)
    open_metrics: bool = Field(
        default=False,
        description="`true` serves `/metrics` to everybody who reaches the port. Otherwise "
        "Prometheus needs a token with the role viewer on all tables.",
    )

    @property
    def api_tokens(self) -> dict[str, ApiToken]:
        """The tokens by name, as the API uses them."""
        return {
            name: ApiToken(token.token, Grant(token.role, tuple(map(read_prefix, token.on))))
            for name, token in self.tokens.items()
        }
