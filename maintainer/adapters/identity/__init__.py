"""Sign-in with an OpenID provider, and signed cookies."""

from maintainer.adapters.identity.provider import OpenIdProvider, ProviderOptions
from maintainer.adapters.identity.seal import CookieSealer

__all__ = ["CookieSealer", "OpenIdProvider", "ProviderOptions"]
