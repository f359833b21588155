"""The host names that the daemon answers to, against DNS rebinding of other sites' names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from re import compile as compile_regex

_LOOPBACK_NAME = "localhost"
_HOST = compile_regex(
    r"(?P<name>\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::(?P<port>[0-9]{1,5}))?"
)
_SCHEME = compile_regex(r"(?P<scheme>https?)://(?P<host>.*)")
_DEFAULT_PORTS = {"http": 80, "https": 443}

_Address = tuple[str, str, int]  # scheme, name, port


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """The accepted names in a Host header, and the addresses of the daemon's page."""

    names: frozenset[str] = frozenset()
    addresses: frozenset[_Address] = frozenset()  # addresses at which a proxy serves the page
    has_every_ip: bool = False  # DNS rebinding cannot change a numeric address

    @classmethod
    def of(cls, bound: str, more: Iterable[str] = ()) -> AllowedHosts:
        """The names that follow from the listening address, and more.

        Each of `more` is a name, or an address like https://name.
        """
        names = {_normalize(bound)}
        addresses = set()
        for entry in more:
            address = _read_origin(entry)
            host = _read_host(entry if address is None else address[1])
            if address is not None:
                addresses.add(address)
            if host is not None:
                names.add(host[0])
        ip = _read_ip(bound)
        return cls(frozenset(names), frozenset(addresses), ip is not None and ip.is_unspecified)

    def has(self, host: str) -> bool:
        """True when a request with this Host header is accepted."""
        found = _read_host(host)
        if found is None:
            return False
        name = found[0]
        ip = _read_ip(name)
        return (
            name in self.names
            or name == _LOOPBACK_NAME
            or (ip is not None and (ip.is_loopback or self.has_every_ip))
        )

    def is_own_origin(self, origin: str, host: str, scheme: str) -> bool:
        """True if the origin is the daemon's page: the request's or a configured address."""
        address = _read_origin(origin)
        asked = _read_origin(f"{scheme}://{host}")
        return address is not None and (address == asked or address in self.addresses)


def _read_origin(text: str) -> _Address | None:
    match = _SCHEME.fullmatch(text)
    host = _read_host(match["host"]) if match is not None else None
    if match is None or host is None:
        return None
    name, port = host
    return match["scheme"], name, _DEFAULT_PORTS[match["scheme"]] if port is None else port


def _read_host(text: str) -> tuple[str, int | None] | None:
    match = _HOST.fullmatch(text)
    if match is None:
        return None
    return _normalize(match["name"]), int(match["port"]) if match["port"] is not None else None


def _normalize(name: str) -> str:
    ip = _read_ip(name)
    return str(ip) if ip is not None else name.lower().removesuffix(".")


def _read_ip(name: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None
