"""Who people are: their OpenID provider, and the sessions of the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

Claims = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class SignIn:
    """A sign-in that has begun: where the browser goes, and what its end must fit."""

    address: str
    secrets: Mapping[str, str]  # of this sign-in: state, nonce and PKCE's verifier


class Identities(Protocol):
    """The OpenID provider."""

    def read_bearer(self, token: str) -> Claims:
        """The claims of an access token for this API.

        CredentialsRefusedError when it is not valid here; ProviderUnavailableError when its key
        is not known and cannot be fetched.
        """

    def begin(self) -> SignIn:
        """Begin the code flow with PKCE; ProviderUnavailableError."""

    def finish(self, code: str, secrets: Mapping[str, str]) -> Claims:
        """The claims of the person who signed in; the errors of read_bearer."""


class Sealer(Protocol):
    """Signs data that the browser keeps for the daemon."""

    def seal(self, kind: str, content: Claims, seconds: int) -> str:
        """The content as a text that only this daemon and its replicas can make."""

    def unseal(self, kind: str, text: str) -> Claims | None:
        """The content; None when it has expired, is of another kind, or was not sealed here."""
