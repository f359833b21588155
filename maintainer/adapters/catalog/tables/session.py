"""The headers and certificates of PyIceberg's session, for a faster client.

This module also finds out whether only the session can send a catalog's requests.
"""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass
from typing import Any, Final

from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.catalog.rest.auth import (
    AuthManagerAdapter,
    BasicAuthManager,
    EntraAuthManager,
    GoogleAuthManager,
    LegacyOAuth2AuthManager,
    NoopAuthManager,
    OAuth2AuthManager,
)
from pyiceberg.utils.properties import property_as_bool
from requests import PreparedRequest, Session
from requests.adapters import HTTPAdapter
from requests.utils import DEFAULT_CA_BUNDLE_PATH, prepend_scheme_if_needed, select_proxy
from yarl import URL

from maintainer.adapters.catalog.tables.answers import BoundedAnswers

# These managers only add a header that is valid for a while, so it is made once for many requests.
_HEADER_MANAGERS: Final = frozenset(
    {
        NoopAuthManager,
        BasicAuthManager,
        LegacyOAuth2AuthManager,
        OAuth2AuthManager,
        GoogleAuthManager,
        EntraAuthManager,
    },
)
# With the delegation header a server makes credentials for each answer, which takes time and makes
# every answer different.
_LEFT_OUT: Final = frozenset(
    {"x-iceberg-access-delegation", "content-type", "accept-encoding", "connection"}
)


@dataclass(frozen=True, slots=True)
class Route:
    """The certificates, and the proxy with its credentials, for requests to the catalog."""

    trust: ssl.SSLContext | None  # None without TLS
    proxy: str | None


def session_of(catalog: RestCatalog) -> Session:
    """Return the session with its headers, credentials and certificates.

    PyIceberg has no other access to them.
    """
    return catalog._session  # noqa: SLF001 - as the docstring says


def find_obstacle(catalog: RestCatalog) -> str:
    """Return why only PyIceberg's client can send this catalog's requests; "" if others can."""
    session = session_of(catalog)
    if property_as_bool(catalog.properties, "rest.sigv4-enabled", default=False):
        return "rest.sigv4-enabled signs each request"
    adapter = type(session.get_adapter(catalog.uri))
    if adapter is not HTTPAdapter:
        return f"its requests go through {adapter.__qualname__}"
    auth = session.auth
    if auth is not None and type(auth) is not AuthManagerAdapter:
        return f"its requests are authenticated by {type(auth).__qualname__}"
    if isinstance(auth, AuthManagerAdapter) and type(auth.auth_manager) not in _HEADER_MANAGERS:
        return f"its requests are authenticated by {type(auth.auth_manager).__qualname__}"
    if session.params or not all(map(_only_reads, session.hooks.get("response", ()))):
        return "its session changes each request"
    if URL(catalog.uri).user is not None:
        return "its address contains credentials"
    proxy = _find_proxy(catalog) or "http"
    scheme = proxy.partition(":")[0]
    return "" if scheme in {"http", "https"} else f"its proxy is a {scheme} proxy"


def _only_reads(hook: object) -> bool:
    return isinstance(getattr(hook, "__self__", None), BoundedAnswers)


def find_route(catalog: RestCatalog) -> Route:
    """Find the route like `requests`: the environment overrides the session."""
    return Route(
        _find_trust(catalog) if catalog.uri.lower().startswith("https:") else None,
        _find_proxy(catalog),
    )


def write_headers(session: Session) -> dict[str, str]:
    """Return PyIceberg's headers with a valid authorization, which may fetch a token."""
    request = PreparedRequest()
    request.prepare(
        method="GET", url="http://127.0.0.1/", headers=dict(session.headers), auth=session.auth
    )
    return {
        name: str(value) for name, value in request.headers.items() if name.lower() not in _LEFT_OUT
    }


def refresh_token(catalog: RestCatalog) -> None:
    """Fetch a new token if only the server knows when the last token expires.

    A fixed token, or a token that renews itself, does not change.
    """
    catalog._refresh_token()  # noqa: SLF001 - PyIceberg does the same after a 401


def _find_proxy(catalog: RestCatalog) -> str | None:
    """Find the proxy; this is done once, because it needs a call to the system."""
    proxy = select_proxy(catalog.uri, _settings_of(catalog)["proxies"])
    return prepend_scheme_if_needed(proxy, "http") if proxy else None


def _find_trust(catalog: RestCatalog) -> ssl.SSLContext:
    settings = _settings_of(catalog)
    bundle = settings["verify"] if isinstance(settings["verify"], str) else DEFAULT_CA_BUNDLE_PATH
    context = (
        ssl.create_default_context(capath=bundle)
        if os.path.isdir(bundle)  # noqa: PTH112 - `requests` does the same
        else ssl.create_default_context(cafile=bundle)
    )
    if settings["cert"] is not None:
        certificate = (
            (settings["cert"], None) if isinstance(settings["cert"], str) else settings["cert"]
        )
        context.load_cert_chain(*certificate)
    if settings["verify"] is False:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _settings_of(catalog: RestCatalog) -> dict[str, Any]:
    session = session_of(catalog)
    # This overrides the bundle of the environment, as in the session.
    own = None if session.verify is True else session.verify
    return session.merge_environment_settings(catalog.uri, {}, None, own, None)
