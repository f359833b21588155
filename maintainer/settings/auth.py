"""Settings of who may use the API and the page."""

from __future__ import annotations

from datetime import timedelta
from re import compile as compile_regex
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, model_validator

from maintainer.adapters.policies.validation import DurationBetween, Strict, refuse
from maintainer.domain.access import ApiToken, ClaimRule, Grant, Role, read_prefix
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
                f"has {str(name)[:80]!r}, which is not a valid name of a token; write 1 to 64 "
                "letters, "
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
    Field(description="The role; each role includes those before it."),
]
Scopes = Annotated[
    tuple[str, ...],
    BeforeValidator(_read_scopes),
    Field(
        min_length=1,
        max_length=20,
        description="The tables: catalogs (`lake`), or namespaces (`lake.sales`) with those "
        "nested in them. `*` is all tables.",
    ),
]


class TokenSettings(Strict):
    """A token of a machine; a text alone is a token with the role admin on all tables."""

    token: str = Field(repr=False, description="16 or more printable characters without blanks.")
    role: RoleName
    on: Scopes = ("*",)


def _check_address(value: object) -> object:
    parts = urlsplit(value) if isinstance(value, str) else None
    if parts is None:
        return value
    is_local = parts.hostname in {"localhost", "127.0.0.1", "::1"}
    if parts.scheme != "https" and not (parts.scheme == "http" and is_local):
        refuse(f"is {str(value)[:200]!r}, but must begin with https:// (or http://localhost)")
    if not parts.hostname or parts.query or parts.fragment or "@" in parts.netloc:
        refuse(f"is {str(value)[:200]!r}, but must be an address like https://name.example")
    return value


def _check_page(value: object) -> object:
    _check_address(value)
    if isinstance(value, str) and urlsplit(value).path.strip("/"):
        refuse(f"is {value[:200]!r}, but must have no path: server.prefix is added to it")
    return value.rstrip("/") if isinstance(value, str) else value


_Text = Annotated[str, Field(min_length=1, max_length=500)]


class RoleRule(Strict):
    """Who has a role."""

    claim: _Text | None = Field(
        default=None,
        description="The claim that decides, such as `groups` or `realm_access.roles`. Without "
        "it, everybody who is signed in by the provider has the role.",
    )
    value: _Text | None = Field(
        default=None, description="The value of the claim, or an entry of its list."
    )
    role: RoleName
    on: Scopes = ("*",)

    @model_validator(mode="after")
    def _check_pair(self) -> RoleRule:
        if (self.claim is None) != (self.value is None):
            refuse("has a claim without a value, or a value without a claim; write both or neither")
        return self


class OidcSettings(Strict):
    """People, as an OpenID Connect provider knows them; nobody signs in without this section."""

    issuer: Annotated[str, BeforeValidator(_check_address)] = Field(
        max_length=500,
        description="The provider, exactly as it names itself. Its "
        "`/.well-known/openid-configuration` is read.",
    )
    client_id: _Text = Field(description="The name of this daemon at the provider.")
    client_secret: _Text | None = Field(
        default=None, repr=False, description="The client's secret; a public client has none."
    )
    page: Annotated[str, BeforeValidator(_check_page), Field(max_length=500)] | None = Field(
        default=None,
        description="The address at which people open the page, without `server.prefix`. The "
        "provider must allow `PAGE/PREFIX/api/v1/session/callback`. Without it, the API accepts "
        "only bearer tokens.",
    )
    audience: _Text | None = Field(
        default=None, description="The audience of bearer tokens. Default: `client_id`."
    )
    scopes: tuple[str, ...] = Field(
        default=("openid", "profile", "email"),
        strict=False,
        min_length=1,
        max_length=20,
        description="The scopes that the page requests.",
    )
    name_claim: _Text = Field(
        default="preferred_username",
        description="The claim with a person's name, for the audit log; `sub` where it is missing.",
    )
    leeway: Annotated[timedelta, DurationBetween("0s", "5m")] = Field(
        default=timedelta(minutes=1), description="By how much the provider's clock may differ."
    )
    session: Annotated[timedelta, DurationBetween("5m", "7d")] = Field(
        default=timedelta(hours=8), description="How long a sign-in on the page lasts."
    )
    roles: tuple[RoleRule, ...] = Field(
        default=(), strict=False, max_length=50, description="Who has which role."
    )

    @property
    def claim_rules(self) -> tuple[ClaimRule, ...]:
        """The rules as the API uses them."""
        return tuple(
            ClaimRule(
                Grant(rule.role, tuple(map(read_prefix, rule.on))),
                rule.claim or "",
                rule.value or "",
            )
            for rule in self.roles
        )


class AuthSettings(Strict):
    """Who may use the API and the page.

    As soon as anything is set here, every request needs a sign-in, also to read.

    [Sign-in and roles](sign-in.md) has examples.
    """

    tokens: Annotated[
        dict[str, TokenSettings],
        BeforeValidator(_read_tokens),
        Field(repr=False, max_length=100, description="Tokens of machines by name."),
    ] = Field(default_factory=dict)
    oidc: OidcSettings | None = None
    session_key: Annotated[str, Field(min_length=32, max_length=1000)] | None = Field(
        default=None,
        repr=False,
        description="At least 32 characters that sign the page's sessions, the same for all "
        "replicas. Without it, sessions end when the daemon restarts.",
    )
    requests_per_minute: int = Field(
        default=1200, ge=10, le=1_000_000, description="The most requests of one person or token."
    )
    failed_sign_ins_per_minute: int = Field(
        default=20,
        ge=1,
        le=10_000,
        description="The most wrong tokens and refused sign-ins of one client address. Then the "
        "address is refused for some time, even with a valid token; sessions of the page continue.",
    )
    streams: int = Field(
        default=8,
        ge=1,
        le=16,  # so many streams the API allows for all together
        description="The most event streams (the activity and the log of a job) that one person "
        "or token follows at the same time.",
    )
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
