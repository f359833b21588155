"""Settings of the server: its address and its names."""

from __future__ import annotations

from ipaddress import ip_network
from re import compile as compile_regex
from typing import Annotated

from pydantic import BeforeValidator, Field

from maintainer.adapters.policies.validation import Strict, refuse

_MOST_HOSTS = 100
GREATEST_PORT = 65535
_PREFIX = compile_regex(r"(/[A-Za-z0-9._~-]+)*/?")
_HOST = compile_regex(
    r"(https?://)?([A-Za-z0-9][A-Za-z0-9._-]{0,252}|\[[0-9A-Fa-f:.]{2,45}\])"
    r"(:(?P<port>[0-9]{1,5}))?"
)


def _read_hosts(value: object) -> object:
    hosts = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
    if not isinstance(hosts, list):
        return hosts
    for host in hosts:
        match = _HOST.fullmatch(host) if isinstance(host, str) else None
        if isinstance(host, str) and match is None:
            refuse(
                f"has {host[:200]!r}, but a host is a name like lake.example, or an address like "
                f"https://lake.example"
            )
        if match is not None and int(match["port"] or 0) > GREATEST_PORT:
            refuse(f"has {host!r}, but a port is at most {GREATEST_PORT}")
    return tuple(hosts)


def _read_prefix(value: object) -> object:
    if isinstance(value, str) and _PREFIX.fullmatch(value) is None:
        refuse(
            f"is {value[:200]!r}, but must be a path such as /maintainer, of letters, digits and "
            f"-._~"
        )
    return value.rstrip("/") if isinstance(value, str) else value


def _read_proxies(value: object) -> object:
    proxies = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
    if not isinstance(proxies, list):
        return proxies
    for proxy in proxies:
        try:
            ip_network(str(proxy))
        except ValueError:
            refuse(f"has {str(proxy)[:200]!r}, but a proxy is an address or a network: 10.0.0.0/8")
    return tuple(proxies)


ListeningHost = Annotated[
    str, Field(min_length=1, max_length=255, description="The address to listen on.")
]
ListeningPort = Annotated[
    int, Field(ge=0, le=GREATEST_PORT, description="The port to listen on; 0 takes any free one.")
]


class ServerSettings(Strict):
    """The address and the host names of the API and the page."""

    host: ListeningHost = "127.0.0.1"
    port: ListeningPort = 8080
    probes_port: Annotated[int, Field(ge=0, le=GREATEST_PORT)] | None = Field(
        default=None,
        description="A further port for `/livez`, `/readyz` and `/metrics` alone, which "
        "connections to the other port cannot hold; 0 takes any free one. `server.port` serves "
        "them too. `auth` guards the metrics on both.",
        examples=[8091],
    )
    connections: int = Field(
        default=256,
        ge=16,
        le=100_000,
        description="The most connections to `server.port`. Each takes an open file; a process may "
        "often have 1024.",
    )
    connections_per_address: int = Field(
        default=192,
        ge=1,
        le=100_000,
        description="The most connections of one client address. Behind a proxy, everybody has the "
        "proxy's address.",
    )
    hosts: Annotated[tuple[str, ...], BeforeValidator(_read_hosts)] = Field(
        default=(),
        max_length=_MOST_HOSTS,
        description="Further names under which the page is reached. In a variable they are "
        "separated by commas.",
    )
    proxies: Annotated[tuple[str, ...], BeforeValidator(_read_proxies)] = Field(
        default=("127.0.0.1", "::1"),
        max_length=_MOST_HOSTS,
        description="Addresses and networks of proxies whose `X-Forwarded-For` and "
        "`X-Forwarded-Proto` are trusted: limits by address then apply to the client, not to the "
        "proxy. In a variable they are separated by commas.",
    )
    prefix: Annotated[str, BeforeValidator(_read_prefix)] = Field(
        default="",
        max_length=200,
        description="The path below which a proxy serves the page, such as `/maintainer`. The "
        "proxy may remove it from requests or not.",
        examples=["/maintainer"],
    )
