"""What PyIceberg's session does to a request, the poll does too: certificates, proxies, tokens;
what only the session can do is left to it.
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests
import trustme
from pyiceberg.catalog.rest.auth import AuthManager
from requests.utils import DEFAULT_CA_BUNDLE_PATH

from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.adapters.catalog.tables.loading import nest
from maintainer.adapters.catalog.tables.request_rate import PollLimits
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault, TableFault
from maintainer.ports.catalog import Polled
from tests.adapters.catalog.conditional_server import ConditionalServer
from tests.adapters.catalog.lake import NOW
from tests.fakes.adapters.clock import FakeClock
from tests.small_http import SmallHandler, serve_on_loopback

LIMITS = PollLimits(requests_per_second=10_000)


@dataclass
class Certificates:
    """An authority of our own, a server's certificate and a client's."""

    directory: Path
    authority: trustme.CA = field(default_factory=trustme.CA)

    @property
    def bundle(self) -> str:
        path = self.directory / "authority.pem"
        self.authority.cert_pem.write_to_path(path)
        return str(path)

    def serve(self, *, asks_client: bool = False) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.authority.issue_cert("127.0.0.1").configure_cert(context)
        if asks_client:
            context.verify_mode = ssl.CERT_REQUIRED
            self.authority.configure_trust(context)
        return context

    def show(self) -> dict[str, str]:
        issued = self.authority.issue_cert("maintainer@example.org")
        issued.cert_chain_pems[0].write_to_path(self.directory / "client.pem")
        issued.private_key_pem.write_to_path(self.directory / "client.key")
        return {
            "ssl.client.cert": str(self.directory / "client.pem"),
            "ssl.client.key": str(self.directory / "client.key"),
        }


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE",
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "no_proxy",
    ):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    return Certificates(tmp_path)


@contextmanager
def serving(tls: ssl.SSLContext | None = None) -> Iterator[ConditionalServer]:
    with ConditionalServer.running(tls) as server:
        server.versions = {("sales", "orders"): 1}
        yield server


def poll_twice(properties: dict[str, str]) -> list[Polled | TableFault | CatalogFault]:
    """What the second poll finds, which asks on condition."""
    catalog = PyIcebergCatalog(
        "lake",
        {"type": "rest", **properties},
        FakeClock(NOW),
        limits=PollLimits(10_000, 4, NO_TIME, NO_TIME),
    )
    known: dict[TableIdentifier, str] = {}
    found: list[Polled | TableFault | CatalogFault] = []
    for _ in range(2):
        found = list(catalog.poll(known))
        known = {one.table: one.token for one in found if isinstance(one, Polled)}
    catalog.close()
    return found


NO_TIME = NOW - NOW
UNCHANGED = Polled(
    TableIdentifier("lake", ("sales",), "orders"),
    'W/"orders-1"\nfile:///orders/1.json',
    is_changed=False,
    metadata_location="file:///orders/1.json",
)


# -- certificates


def test_a_server_is_trusted_by_the_bundle_of_the_properties(certificates: Certificates) -> None:
    with serving(certificates.serve()) as server:
        assert poll_twice({"uri": server.address, "ssl.cabundle": certificates.bundle}) == [
            UNCHANGED
        ]
        assert server.given[304] == 1


def test_a_server_is_trusted_by_the_bundle_of_the_environment(
    certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", certificates.bundle)
    with serving(certificates.serve()) as server:
        assert poll_twice({"uri": server.address}) == [UNCHANGED]


def test_the_bundle_of_the_properties_goes_before_that_of_the_environment(
    certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", DEFAULT_CA_BUNDLE_PATH)
    with serving(certificates.serve()) as server:
        assert poll_twice({"uri": server.address, "ssl.cabundle": certificates.bundle}) == [
            UNCHANGED
        ]


@pytest.mark.parametrize("bundle", [DEFAULT_CA_BUNDLE_PATH, ""], ids=["environment", "default"])
@pytest.mark.parametrize("way", ["credential", "oauth2"])
def test_a_token_is_fetched_with_the_bundle_of_the_properties(
    way: str, bundle: str, certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    if bundle:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", bundle)
    with serving(certificates.serve()) as server:
        server.tokens = 1
        properties = {"uri": server.address, "ssl.cabundle": certificates.bundle}
        address = f"{server.address}/v1/oauth/tokens"
        if way == "credential":
            properties |= {"credential": "us:hush", "oauth2-server-uri": address}
        else:
            properties |= {
                "auth.type": "oauth2",
                "auth.oauth2.client_id": "us",
                "auth.oauth2.client_secret": "hush",
                "auth.oauth2.token_url": address,
                "auth.oauth2.scope": "all",
                "auth.oauth2.expires_in": "3600",
            }
        assert poll_twice(properties) == [UNCHANGED]
        assert server.fetched >= 1


def test_a_server_that_nobody_vouches_for_is_not_asked(certificates: Certificates) -> None:
    with serving(certificates.serve()) as server:
        (fault,) = poll_twice({"uri": server.address})
        assert isinstance(fault, CatalogFault)
        assert "certificate verify failed" in fault.reason
        assert not server.seen


def test_the_fast_client_itself_distrusts_what_nobody_vouches_for(
    certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(certificates.serve()) as server:
        catalog = PyIcebergCatalog(
            "lake",
            {"type": "rest", "uri": server.address, "ssl.cabundle": certificates.bundle},
            FakeClock(NOW),
            limits=LIMITS,
        )
        catalog.ping()
        assert catalog._loaded is not None
        monkeypatch.setattr(catalog._loaded._session, "verify", True)  # type: ignore[attr-defined]
        monkeypatch.setattr(
            catalog._loaded, "list_namespaces", lambda parent=(): [] if parent else [("sales",)]
        )
        monkeypatch.setattr(
            catalog._loaded, "list_tables", lambda _namespace: [("sales", "orders")]
        )
        for known in ({}, {UNCHANGED.table: UNCHANGED.token}):
            (fault,) = catalog.poll(known)
            assert isinstance(fault, TableFault)
            assert "certificate verify failed" in fault.reason
        assert not server.seen
        catalog.close()


def test_a_server_that_asks_for_a_certificate_is_shown_it(certificates: Certificates) -> None:
    with serving(certificates.serve(asks_client=True)) as server:
        trust = {"uri": server.address, "ssl.cabundle": certificates.bundle}
        assert poll_twice({**trust, **certificates.show()}) == [UNCHANGED]
        (refused,) = poll_twice(trust)
        assert isinstance(refused, CatalogFault)


# -- proxies


class Proxy(ThreadingHTTPServer):
    """Forwards plain requests, and keeps what it was asked for."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), ProxyHandler)
        self.forwarded: list[tuple[str, str | None]] = []

    @classmethod
    @contextmanager
    def running(cls) -> Iterator[Proxy]:
        proxy = cls()
        with serve_on_loopback(proxy):
            yield proxy


class ProxyHandler(SmallHandler):
    server: Proxy

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        self.server.forwarded.append((url.path, self.headers["Proxy-Authorization"]))
        with requests.Session() as session:
            session.trust_env = False
            response = session.get(self.path, headers=dict(self.headers), timeout=10)
        kept = {name: value for name, value in response.headers.items() if name == "ETag"}
        self.answer(response.status_code, response.content, kept)


@pytest.mark.parametrize(("scheme", "user"), [("http://", "someone:pass%20word@"), ("", "")])
def test_the_proxy_of_the_environment_is_used(
    scheme: str, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as server, Proxy.running() as proxy:
        monkeypatch.setenv("http_proxy", f"{scheme}{user}127.0.0.1:{proxy.server_port}")
        assert poll_twice({"uri": server.address}) == [UNCHANGED]
        asked = [
            credentials for path, credentials in proxy.forwarded if path.endswith("/tables/orders")
        ]
        assert asked == ["Basic c29tZW9uZTpwYXNzIHdvcmQ=" if user else None] * 2
        assert len(server.seen) == 2, "the poll goes round the proxy"


def test_an_address_that_the_environment_excepts_is_asked_directly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving() as server, Proxy.running() as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.server_port}")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert poll_twice({"uri": server.address}) == [UNCHANGED]
        assert not proxy.forwarded


# -- authentication


def test_a_token_that_has_ended_is_fetched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as server:
        server.versions = {("sales", f"t{number}"): 1 for number in range(8)}
        server.tokens = 1
        properties = {
            "type": "rest",
            "uri": server.address,
            "credential": "us:hush",
            "oauth2-server-uri": f"{server.address}/v1/oauth/tokens",
        }
        catalog = PyIcebergCatalog(
            "lake", properties, FakeClock(NOW), limits=PollLimits(10_000, 4, NO_TIME, NO_TIME)
        )
        known = {one.table: one.token for one in catalog.poll({}) if isinstance(one, Polled)}
        assert catalog._loaded is not None
        monkeypatch.setattr(
            catalog._loaded, "list_namespaces", lambda parent=(): [] if parent else [("sales",)]
        )
        monkeypatch.setattr(
            catalog._loaded,
            "list_tables",
            lambda _namespace: [(*table.namespace, table.name) for table in known],
        )
        server.tokens += 1  # those before are good no more
        fetched = server.fetched
        found = list(catalog.poll(known))
        assert [one.is_changed for one in found if isinstance(one, Polled)] == [False] * 8
        assert server.fetched == fetched + 1, "one for all that were refused"
        catalog.close()


def test_a_token_without_an_end_is_refused_with_the_setting_that_names_one() -> None:
    with serving() as server:
        (fault,) = poll_twice(
            {
                "uri": server.address,
                "auth.type": "oauth2",
                "auth.oauth2.client_id": "us",
                "auth.oauth2.client_secret": "hush",
                "auth.oauth2.token_url": f"{server.address}/v1/oauth/tokens",
            }
        )
        assert isinstance(fault, CatalogFault)
        assert "set auth.oauth2.expires_in" in fault.reason


def test_a_fixed_token_that_is_refused_is_not_tried_again() -> None:
    with serving() as server:
        server.tokens = 1
        server.opens_listing = True
        found = poll_twice({"uri": server.address, "token": "token-0"})
        assert found == [Polled(UNCHANGED.table, "", is_changed=True)], (
            "loading the table tells what is wrong"
        )
        assert len(server.seen) == 2


def test_basic_authentication_of_the_properties_is_used() -> None:
    with serving() as server:
        assert poll_twice(
            {
                "uri": server.address,
                "auth.type": "basic",
                "auth.basic.username": "us",
                "auth.basic.password": "hush",
            }
        ) == [UNCHANGED]
        assert {headers["Authorization"] for _, headers in server.seen} == {"Basic dXM6aHVzaA=="}


class CountingManager(AuthManager):
    """Another header for each request, as a signature would be."""

    asked = 0

    def auth_header(self) -> str:
        type(self).asked += 1
        return f"Nonce {self.asked}"


def test_an_unknown_way_to_authenticate_is_left_to_pyiceberg(
    caplog: pytest.LogCaptureFixture,
) -> None:
    properties = {"auth.type": "custom", "auth.impl": f"{__name__}.{CountingManager.__name__}"}
    with serving() as server, caplog.at_level(logging.WARNING, "maintainer"):
        assert poll_twice({"uri": server.address, **properties}) == [UNCHANGED]
        assert (
            len({headers["Authorization"] for _, headers in server.seen}) == len(server.seen) == 2
        )
        assert all("X-Iceberg-Access-Delegation" not in headers for _, headers in server.seen)
    (said,) = [
        record for record in caplog.records if record.message == "catalog.asked_by_pyiceberg"
    ]
    assert vars(said)["reason"] == "its requests are authenticated by CountingManager"


def test_requests_that_must_be_signed_are_signed_by_pyiceberg(
    caplog: pytest.LogCaptureFixture,
) -> None:
    keys = {
        "client.access-key-id": "us",
        "client.secret-access-key": "hush",
        "client.region": "us-east-1",
    }
    signing = {
        "rest.sigv4-enabled": "true",
        "rest.signing-region": "us-east-1",
        "rest.signing-name": "glue",
        **keys,
    }
    with serving() as server, caplog.at_level(logging.WARNING, "maintainer"):
        assert poll_twice({"uri": server.address, **signing}) == [UNCHANGED]
        signatures = [headers["Authorization"] for _, headers in server.seen]
        assert len(signatures) == 2
        assert all(
            signature.startswith("AWS4-HMAC-SHA256 Credential=us/") for signature in signatures
        )
        assert "if-none-match" in signatures[1], "what is asked on is signed too"
    assert [vars(record)["reason"] for record in caplog.records] == [
        "rest.sigv4-enabled signs each request"
    ]


def test_the_nested_settings_of_pyiceberg_are_written_by_their_whole_names() -> None:
    flat = {
        "uri": "u",
        "s3.region": "r",
        "ssl.client.cert": "c",
        "ssl.client.key": "k",
        "auth.oauth2.expires_in": "60",
        "auth.google.scopes": "a,b",
    }
    assert nest(flat) == {
        "uri": "u",
        "s3.region": "r",
        "ssl": {"client": {"cert": "c", "key": "k"}},
        "auth": {"oauth2": {"expires_in": 60}, "google": {"scopes": ["a", "b"]}},
    }


def test_a_setting_that_is_both_a_value_and_a_group_is_refused() -> None:
    with pytest.raises(ValueError, match=r"ssl\.client and ssl\.client\.cert cannot both be set"):
        nest({"ssl.client.cert": "c", "ssl.client": "c"})
