"""Machines with a token for each role, and what they send."""

from __future__ import annotations

from maintainer.domain.access import ApiToken, Grant, Role
from tests.api.serving import Client

EVERYTHING = ("",)


def bearer(name: str) -> dict[str, str]:
    """The header of the machine of that name."""
    return {"Authorization": f"Bearer {secret_of(name)}"}


def secret_of(name: str) -> str:
    return f"not-a-secret-of-{name}"


def let_in(client: Client, name: str, role: Role, *prefixes: str) -> dict[str, str]:
    """Give a machine a token with the role, by default on all tables; returns its header."""
    grant = Grant(role, prefixes or EVERYTHING)
    client.daemon.tokens[name] = ApiToken(secret_of(name), grant)
    return bearer(name)
