"""Locations of tables, so that one table's files are never taken for another's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from posixpath import normpath
from re import ASCII
from re import compile as compile_regex

_URL = compile_regex(r"([A-Za-z][A-Za-z0-9+.-]*):/*(.*)")
# With these schemes, the authority of a path is an optional server, which is removed.
_FILE_SYSTEMS = frozenset({"file", "hdfs", "viewfs", "webhdfs"})
_AZURE = frozenset({"abfs", "abfss", "wasb", "wasbs"})
HDFS_SCHEMES = ("hdfs:", "viewfs:")  # this process can list such locations
PLACE_PROPERTIES = (
    "write.data.path",
    "write.metadata.path",
    "write.object-storage.path",
    "write.folder-storage.path",
)

_DOTS = compile_regex(r"/\.{1,2}(?:/|$)")
_KEYS_OF_A_MACHINE = ip_address("fd00:ec2::254")  # Amazon's; others are link-local
_IPV4_PARTS = 4
_IPV4_GREATEST = 255  # of each part but the last
_IPV4_NUMBER = compile_regex(r"0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*", ASCII)
# Of IPv6 addresses that end in an IPv4 one: NAT64, and the former compatible form.
_IPV4_NETWORKS = tuple(map(IPv6Network, ("64:ff9b::/96", "::/96")))
_LOCAL_NAT64 = IPv6Network("64:ff9b:1::/48")


@dataclass(frozen=True, slots=True)
class TableLocation:
    """A directory that a table writes to, or wrote to before it was dropped.

    It may also belong to a table that is not an Iceberg table.
    """

    path: str  # in the form of normalise_path()
    table: str  # full name of the table
    table_uuid: str  # "" for a table that is not an Iceberg table
    is_gone: bool = False  # the table was dropped or renamed: its files may still exist
    # last check in the catalog, for a table that is not an Iceberg table
    seen_at: datetime | None = None


def normalise_path(location: str) -> str:
    """One text for all spellings of a directory, ending with a slash.

    Schemes and servers of file systems are removed, buckets are kept, and ``..`` is followed.
    """
    found = _URL.fullmatch(location.strip())
    scheme, rest = (found[1].lower(), found[2]) if found else ("file", location.strip())
    if (
        scheme in _FILE_SYSTEMS
        and location.strip().startswith(f"{found[1]}://" if found else "\0")
        and not location.strip().startswith(f"{scheme}:///")
    ):
        rest = rest.partition("/")[2]  # the server
    bucket, _, inner = ("", "", rest) if scheme in _FILE_SYSTEMS else rest.partition("/")
    if scheme in _AZURE:  # a storage with two services has two schemes
        bucket = bucket.lower().replace(".blob.", ".dfs.", 1)
    parts: list[str] = []
    for part in inner.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in {"", "."}:
            parts.append(part)
    start = "/" if scheme in _FILE_SYSTEMS else f"{bucket}/" if bucket else ""
    return start + "".join(f"{part}/" for part in parts)


def paths_of(location: str, properties: Mapping[str, str]) -> tuple[str, ...]:
    """All directories that the table writes to, its location first."""
    written = [
        location,
        *(properties[name] for name in PLACE_PROPERTIES if properties.get(name, "").strip()),
    ]
    return tuple(dict.fromkeys(normalise_path(path) for path in written))


@dataclass(frozen=True, slots=True)
class Aliases:
    """Other names of directories: how Spark writes them, and how this process reads them."""

    pairs: tuple[tuple[str, str], ...] = ()  # every location ends with a slash

    def resolve(self, location: str) -> str:
        """Return the location as this process reads it; the longest name that fits counts.

        It fits in any spelling of its directory: a scheme in capitals, `//` or `..` before its end.
        """
        if not self.pairs:
            return location
        tidied = _tidy(location)
        known = self._find(tidied)
        if known is None:
            return location
        # Names of files are kept as they are: in object stores `a//b` is not `a/b`.
        is_plain = self._find(location) == known and not _DOTS.search(location)
        inner = (location if is_plain else tidied).removeprefix(known[0].rstrip("/"))
        return known[1] + inner.lstrip("/")

    def _find(self, location: str) -> tuple[str, str] | None:
        return max(
            (pair for pair in self.pairs if f"{location}/".startswith(pair[0])),
            key=lambda pair: len(pair[0]),
            default=None,
        )

    def paths_of(self, location: str, properties: Mapping[str, str]) -> tuple[str, ...]:
        """All directories that the table writes to, under each name that is known of them."""
        resolved = {
            name: self.resolve(_tidy(properties[name]))
            for name in PLACE_PROPERTIES
            if name in properties
        }
        return tuple(
            dict.fromkeys(
                (
                    *paths_of(self.resolve(_tidy(location)), resolved),
                    *paths_of(location, properties),
                )
            )
        )


def _tidy(location: str) -> str:
    """Return a URL as aliases are written: no ``..``, no empty part, a scheme in lower case."""
    scheme, mark, rest = location.strip().partition("://")
    server, _, inner = rest.partition("/")
    path = normpath("/" + inner.lstrip("/"))
    return f"{scheme.lower()}://{server}{path}" if mark else location


def ancestors_of(path: str) -> tuple[str, ...]:
    """The directory itself and all directories above it, the topmost first."""
    ends = [index + 1 for index, character in enumerate(path) if character == "/"]
    return tuple(path[:end] for end in ends)


def overlap(first: str, second: str) -> bool:
    """True when the directories are the same, or one contains the other."""
    return first.startswith(second) or second.startswith(first)


def respell(location: str, paths: Iterable[str]) -> Iterator[str]:
    """Paths inside the location, each rewritten to begin with the location's own spelling.

    A path outside the location stays as it is.
    """
    own, spelt = normalise_path(location), location.rstrip("/") + "/"
    known = spelt
    for path in paths:
        if not path.startswith(known):
            known = next(
                (wider for wider in ancestors_of(path) if normalise_path(wider) == own), known
            )
        yield spelt + path.removeprefix(known) if path.startswith(known) else path


def is_link_local(host: str) -> bool:
    """True for addresses at which clouds serve a machine's keys, such as 169.254.169.254.

    Every spelling that resolvers accept counts: numbers in hexadecimal and octal, fewer than four
    parts, and IPv4 addresses inside IPv6 ones.
    """
    text = host.strip("[]").partition("%")[0]
    address: IPv4Address | IPv6Address | None = _read_ipv4(text)
    if address is None:
        try:
            address = ip_address(text)
        except ValueError:
            return False
    return any(
        one.is_link_local or one == _KEYS_OF_A_MACHINE for one in (address, *_find_inner(address))
    )


def _read_ipv4(text: str) -> IPv4Address | None:
    """Read an IPv4 address as the C library does; None for any other text."""
    parts = text.removesuffix(".").split(".")
    if len(parts) > _IPV4_PARTS or not all(map(_IPV4_NUMBER.fullmatch, parts)):
        return None
    *first, last = [int(part, _base_of(part)) for part in parts]
    room = 8 * (_IPV4_PARTS - len(first))
    if last >= 2**room or any(number > _IPV4_GREATEST for number in first):
        return None
    value = 0
    for number in first:
        value = value * 256 + number
    return IPv4Address((value << room) + last)


def _base_of(number: str) -> int:
    if number[:2].lower() == "0x":
        return 16
    return 8 if number.startswith("0") else 10


def _find_inner(address: IPv4Address | IPv6Address) -> list[IPv4Address]:
    """The IPv4 addresses that an IPv6 address stands for: mapped, 6to4, Teredo and NAT64."""
    if isinstance(address, IPv4Address):
        return []
    found = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    bits = int(address)
    if any(address in network for network in _IPV4_NETWORKS):
        found.append(IPv4Address(bits & 0xFFFF_FFFF))
    if address in _LOCAL_NAT64:
        found += map(IPv4Address, _split_nat64(bits))
    return [one for one in found if one is not None]


def _split_nat64(bits: int) -> tuple[int, ...]:
    """The IPv4 addresses by RFC 6052 for prefixes of 48, 56, 64 and 96 bits, around one octet."""
    high, low = bits >> 64, bits & 0xFFFF_FFFF_FFFF_FFFF
    return (
        (high & 0xFFFF) << 16 | (low >> 40 & 0xFFFF),
        (high & 0xFF) << 24 | (low >> 32 & 0xFF_FFFF),
        low >> 24 & 0xFFFF_FFFF,
        low & 0xFFFF_FFFF,
    )
