"""What PyIceberg's session does to its requests, so that a faster client does the same; or why only
the session itself can.
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

# Those whose whole work is one header, which stays good for a while: it can be made once for many
# requests.
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
# With the delegation header a server makes credentials for each answer, which cost it time and make
# every answer another.
_LEFT_OUT: Final = frozenset(
    {"x-iceberg-access-delegation", "content-type", "accept-encoding", "connection"}
)


@dataclass(frozen=True, slots=True)
class Route:
    """How requests reach the catalog: the certificates that are trusted and shown, and the proxy's
    address with its credentials.
    """

    trust: ssl.SSLContext | None  # None without TLS
    proxy: str | None


def session_of(catalog: RestCatalog) -> Session:
    """Its headers, credentials and certificates; PyIceberg has no other way to them."""
    return catalog._session  # noqa: SLF001 - as the docstring says


def find_obstacle(catalog: RestCatalog) -> str:
    """Why no other client than PyIceberg's own can make this catalog's requests; "" when one
    can.
    """
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
    if session.params or session.hooks.get("response"):
        return "its session adds to each request"
    if URL(catalog.uri).user is not None:
        return "its address holds credentials"
    proxy = _find_proxy(catalog) or "http"
    scheme = proxy.partition(":")[0]
    return "" if scheme in {"http", "https"} else f"its proxy is a {scheme} proxy"


def find_route(catalog: RestCatalog) -> Route:
    """As requests would go: by the session's own certificates and proxies under those of the
    environment.
    """
    return Route(
        _find_trust(catalog) if catalog.uri.lower().startswith("https:") else None,
        _find_proxy(catalog),
    )


def write_headers(session: Session) -> dict[str, str]:
    """PyIceberg's own headers, with an authorization that is good now: a token may be fetched for
    it.
    """
    request = PreparedRequest()
    request.prepare(
        method="GET", url="http://127.0.0.1/", headers=dict(session.headers), auth=session.auth
    )
    return {
        name: str(value) for name, value in request.headers.items() if name.lower() not in _LEFT_OUT
    }


def refresh_token(catalog: RestCatalog) -> None:
    """Fetch a token anew, where the server alone knows when the last one has ended; nothing happens
    where a token is given or renews itself.
    """
    catalog._refresh_token()  # noqa: SLF001 - what PyIceberg itself does when it is told 401


def _find_proxy(catalog: RestCatalog) -> str | None:
    """Looked up once, because the lookup asks the system."""
    proxy = select_proxy(catalog.uri, _settings_of(catalog)["proxies"])
    return prepend_scheme_if_needed(proxy, "http") if proxy else None


def _find_trust(catalog: RestCatalog) -> ssl.SSLContext:
    settings = _settings_of(catalog)
    bundle = settings["verify"] if isinstance(settings["verify"], str) else DEFAULT_CA_BUNDLE_PATH
    context = (
        ssl.create_default_context(capath=bundle)
        if os.path.isdir(bundle)  # noqa: PTH112 - as requests does
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
    own = (
        None if session.verify is True else session.verify
    )  # goes before a bundle of the environment, as where the session is made
    return session.merge_environment_settings(catalog.uri, {}, None, own, None)
