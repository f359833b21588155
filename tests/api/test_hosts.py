"""Which Host headers are answered, and which pages may change anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from maintainer.api.guard import AllowedHosts
from tests.api.nouns import ORDERS
from tests.api.serving import HOST, Client, expect_problem, path_of

RUN = f"{path_of(ORDERS)}/run"
ANYWHERE = "0.0.0.0"  # noqa: S104 - a name in a header; nothing listens


@pytest.mark.parametrize(
    "host",
    [
        "evil.test",
        f"evil.test:8080 {HOST}",
        f"{HOST}.evil.test",
        f"{HOST}@evil.test",
        "127.0.0.1.evil.test",
        "10.0.0.1",
        "[::2]:80",
        "",
    ],
)
@pytest.mark.parametrize("path", ["/", "/livez", "/metrics", "/openapi.json", "/api/v1/overview"])
def test_a_request_to_a_foreign_host_is_a_421_on_every_path(
    client: Client, host: str, path: str
) -> None:
    detail = expect_problem(client.get(path, {"Host": host}), 421)
    assert "server.hosts" in detail


def test_a_page_whose_name_was_rebound_to_this_address_changes_nothing(client: Client) -> None:
    rebound = {
        "Host": "evil.test:8080",
        "Origin": "http://evil.test:8080",
        "Sec-Fetch-Site": "same-origin",
    }
    expect_problem(client.post(RUN, headers=rebound), 421)
    assert client.daemon.runs == []


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:8080",
        "localhost.:8080",
        "127.0.0.1:1",
        "127.8.9.1",
        "[::1]:8080",
        HOST,
        f"{HOST.upper()}:443",
    ],
)
def test_loopback_names_and_configured_names_are_answered(client: Client, host: str) -> None:
    assert client.get("/livez", {"Host": host}).status_code == 200


@pytest.mark.parametrize(
    ("bound", "answered", "refused"),
    [
        ("127.0.0.1", ["127.0.0.1", "localhost"], ["10.1.2.3", "[2001:db8::1]", "lake.test",
        "[::]"]),
        ("10.1.2.3", ["10.1.2.3:8080", "localhost"], ["10.1.2.4", "lake.test"]),
        ("lake.test", ["lake.test:8080", "Lake.Test", "localhost"], ["other.test", "10.1.2.3"]),
        ("::1", ["[::1]:8080", "[0:0:0:0:0:0:0:1]"], ["[::2]"]),
        ("2001:db8::1", ["[2001:DB8:0::1]:8080"], ["[2001:db8::2]"]),
        (ANYWHERE, ["10.1.2.3:8080", ANYWHERE, "[2001:db8::1]", "localhost"], ["lake.test",
        "999.1.1.1", "10.1.2.3.test"]),
        ("::", ["10.1.2.3:8080", "[::]", "[2001:db8::1]:80"], ["lake.test", "[zz::1]", "[::1"]),
    ],
)  # fmt: skip
def test_the_hosts_follow_from_where_the_daemon_listens(
    bound: str, answered: list[str], refused: list[str]
) -> None:
    hosts = AllowedHosts.of(bound)
    assert {host: hosts.has(host) for host in answered + refused} == dict.fromkeys(
        answered, True
    ) | dict.fromkeys(refused, False)


@pytest.mark.parametrize(
    "origin",
    [
        f"https://{HOST}",
        f"https://{HOST}:80",
        f"http://{HOST}:443",
        f"ftp://{HOST}",
        f"http://{HOST}/path",
        f"http://x@{HOST}",
        HOST,
    ],
)
def test_a_page_of_another_scheme_or_port_changes_nothing(client: Client, origin: str) -> None:
    expect_problem(client.post(RUN, headers={"Origin": origin}), 403)
    assert client.daemon.runs == []


@pytest.mark.parametrize(
    ("origin", "host", "scheme", "is_own"),
    [
        ("https://lake.test", "lake.test", "http", True),  # the proxy hands the name on
        ("https://lake.test", "127.0.0.1:8080", "http", True),  # the proxy writes its own target
        ("https://lake.test:443", "lake.test", "http", True),
        ("http://lake.test", "127.0.0.1:8080", "http", False),
        ("https://lake.test:8443", "lake.test", "http", False),
        ("https://plain.test", "plain.test", "http", False),
        ("https://plain.test", "plain.test:443", "https", True),
        ("http://plain.test:80", "plain.test", "http", True),
    ],
)
def test_behind_a_proxy_with_tls_the_configured_address_is_our_own(
    origin: str, host: str, scheme: str, is_own: bool
) -> None:
    hosts = AllowedHosts.of("127.0.0.1", ["https://lake.test", "plain.test"])
    assert hosts.has("lake.test")
    assert hosts.is_own_origin(origin, host, scheme) is is_own


def test_the_built_page_is_refused_to_a_foreign_host_too(client: Client, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<title>ours</title>")
    client.page = tmp_path
    assert "ours" not in client.get("/", {"Host": "evil.test"}).text
    assert "ours" in client.get("/").text
