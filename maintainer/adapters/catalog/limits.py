"""Size limits of metadata files, as stored and decompressed.

A file that exceeds a limit is refused before it is in memory.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from maintainer.domain.location import is_link_local
from maintainer.domain.units import MIB, format_size

# Of a metadata file as stored: this process holds it while another one decodes it. A metadata.json
# of 20,000 snapshots has half of it.
MAX_STORED_BYTES: Final = 96 * MIB
MAX_DOCUMENT_BYTES: Final = 256 * MIB  # of a metadata.json or a manifest list, decompressed
# Files up to this size are read at once; this process decodes them if they decompress to no more.
# Larger files wait for their part of a budget that all tables share.
FREE_BYTES: Final = 4 * MIB
# What this process keeps of a larger metadata.json: the bytes of its JSON without what no inventory
# needs, and its snapshots, refs, statistics files, properties, partition fields and former files.
MAX_REDUCED_BYTES: Final = 64 * MIB
MAX_PARTS: Final = 200_000
MAX_PROPERTIES: Final = 10_000  # of one table; the store keeps them
MAX_SCHEMA_BYTES: Final = 4 * MIB  # of JSON; some ten thousand columns
# Of one decoding process, beyond what the process has when it starts; scan.decode_memory.
MAX_DECODING_BYTES: Final = 320 * MIB
# For one request; a process that takes longer is ended. scan.decode_timeout.
DECODE_TIMEOUT_SECONDS: Final = 300.0
# The least bytes of JSON for each value. A denser document needs many times its size in memory.
BYTES_PER_VALUE: Final = 8
MAX_VALUES: Final = 8_000_000  # in one metadata.json
MAX_MANIFEST_BYTES: Final = 1024 * MIB  # in one manifest, all decompressed blocks together
# In one decompressed Avro block. Spark writes blocks of 64 KB, PyIceberg blocks of one entry.
MAX_BLOCK_BYTES: Final = 64 * MIB
MAX_LISTED_MANIFESTS: Final = 250_000  # in one snapshot
# In one manifest. A manifest of Iceberg's target size has a tenth of this number.
MAX_ENTRIES: Final = 2_000_000
MAX_SHARES: Final = 100_000  # partitions in one manifest
MAX_NAME_CHARACTERS: Final = 16 * MIB  # in all partition names of one manifest together
MAX_PARTITIONS: Final = 1_000_000  # in one table
# More is not plausible: bytes or records of one file, entries for each stored byte of a manifest.
MAX_FILE_BYTES: Final = 2**50
MAX_FILE_RECORDS: Final = 2**50
MAX_ENTRIES_PER_BYTE: Final = 64  # what deflate can pack of the shortest entries
# A manifest with fewer stored bytes for each entry may list a file many times: each entry has a
# path of its own, which hardly compresses to less.
LEAST_ENTRY_BYTES: Final = 16
CHECKED_ENTRIES: Final = 1000  # a smaller manifest is not checked

# The schemes of Iceberg's storages. With http and https, the paths of a table could make the daemon
# send requests into its network.
READABLE_SCHEMES: Final = frozenset((
    "file", "s3", "s3a", "s3n", "gs", "abfs", "abfss", "wasb", "wasbs", "oss", "hdfs", "viewfs",
    "hf",
))  # fmt: skip


T = TypeVar("T")


class UnreadableFileError(Exception):
    """A metadata file is truncated, corrupt, encrypted or in an unknown format."""


class TooLargeError(UnreadableFileError):
    """A metadata file is too large, stored or decompressed; `size` is None if unknown."""

    def __init__(self, what: str, size: int | None, most: int) -> None:
        has = f"more than {format_size(most)}" if size is None else format_size(size)
        super().__init__(f"{what} has {has}; the bound is {format_size(most)}")
        self.size = size


class TooManyError(UnreadableFileError):
    """A metadata file has more parts of a kind than allowed."""

    def __init__(self, what: str, count: int, most: int) -> None:
        super().__init__(f"metadata.json has {count:,} {what}; the bound is {most:,}")


class ImplausibleError(UnreadableFileError):
    """A metadata file says what cannot be true of a table; figures made of it would be wrong."""


class CostlyFileError(UnreadableFileError):
    """Decoding a metadata file takes more memory or time than one file may take."""


# What another reading of the same file would find again.
LASTING: Final = (TooLargeError, TooManyError, ImplausibleError, CostlyFileError)


class UnreadableLocationError(UnreadableFileError):
    """Tables are never read from this location."""


def check_location(location: str, allowed: Sequence[str] = ()) -> None:
    """Raise UnreadableLocationError if the location must not be read.

    `allowed` has schemes, and schemes with a bucket or a host: `s3`, `hdfs://namenode:8020`. If it
    is empty, all READABLE_SCHEMES are allowed.
    """
    scheme, separator, rest = location.partition(":")
    if location.startswith("/"):
        scheme, separator, rest = "file", ":", location
    scheme = scheme.lower()
    authority = rest[2:].partition("/")[0] if rest.startswith("//") else ""
    is_allowed = scheme in allowed or f"{scheme}://{authority}" in allowed
    if separator and scheme in READABLE_SCHEMES and (is_allowed or not allowed):
        _check_authority(location, authority)
        return
    named = f"has the scheme {scheme!r}" if separator else "has no scheme"
    read = ", ".join(allowed or sorted(READABLE_SCHEMES))
    raise UnreadableLocationError(
        f"{location} {named}; files of tables are read by {read} (scan.locations)"
    )


def _check_authority(location: str, authority: str) -> None:
    host = authority.rpartition("@")[2]
    named = host if is_link_local(host) else host.rpartition(":")[0]
    if is_link_local(named):
        raise UnreadableLocationError(
            f"{location} is on the link-local address {named}, which has no tables"
        )


def local_path(location: str) -> str | None:
    """Return the path of a file on this machine; None for other locations."""
    if location.startswith("/"):
        return location
    scheme, _, rest = location.partition(":")
    if scheme.lower() != "file":
        return None
    return f"/{rest[2:].partition('/')[2]}" if rest.startswith("//") else rest


def open_regular(path: str) -> tuple[int, int]:
    """Open a regular file for reading, and return its descriptor and size in bytes.

    UnreadableFileError for a pipe, a device or a socket, whose contents may be endless.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    found = os.fstat(descriptor)
    if stat.S_ISREG(found.st_mode):
        return descriptor, found.st_size
    os.close(descriptor)
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    raise UnreadableFileError(f"{path} is not a regular file")


def at_most_listed(rows: Iterable[T]) -> Iterator[T]:
    """Yield the rows of a manifest list; UnreadableFileError beyond MAX_LISTED_MANIFESTS."""
    for number, row in enumerate(rows):
        if number >= MAX_LISTED_MANIFESTS:
            raise UnreadableFileError(f"it lists more than {MAX_LISTED_MANIFESTS:,} manifests")
        yield row


# An Avro schema may be any JSON.
def refuse_empty_items(schema: Any, defined: Mapping[str, Any]) -> None:  # noqa: ANN401
    """Refuse a schema with arrays whose items take no bytes.

    A few bytes could claim any number of such items, and each item is read.
    """
    pending = [schema]
    while pending:
        match pending.pop():
            case {"type": "array", "items": items} as array:
                if not _takes_bytes(items, defined, ()):
                    raise UnreadableFileError(
                        f"its schema has an array of {items!r}, and such items take no bytes"
                    )
                pending += [value for key, value in array.items() if not key.startswith("__")]
            case dict() as node:
                pending += [value for key, value in node.items() if not key.startswith("__")]
            case list() as branches:
                pending += branches
            case _:
                continue


def _takes_bytes(
    schema: Any,  # noqa: ANN401 - as above
    defined: Mapping[str, Any],
    within: tuple[str, ...],
) -> bool:
    match defined.get(schema, schema) if isinstance(schema, str) else schema:
        case "null" | {"type": "null"} | {"type": "fixed", "size": 0}:
            return False
        case {"type": "record", "name": name, "fields": fields}:
            return name not in within and any(
                _takes_bytes(inner["type"], defined, (*within, name)) for inner in fields
            )
        case {"type": dict() | list() as inner}:
            return _takes_bytes(inner, defined, within)
        case _:
            return True
