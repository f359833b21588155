"""Converts domain values to JSON documents and back without loss, by their types."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from functools import cache, partial
from hashlib import sha256
from threading import Lock
from typing import Any, TypeVar, cast, get_args, get_origin

import msgspec
from pydantic import TypeAdapter

from maintainer.domain.errors import InvalidValueError, StoreUnavailableError
from maintainer.domain.file_sizes import MAX_LISTED_SIZES, MIN_LISTED_SIZES
from maintainer.domain.health import PartitionHealth, SnapshotStamp, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import (
    DIGEST_VERSION,
    HISTOGRAM_BOUNDS_BYTES,
    LARGE_FILE_RATIO,
    SMALL_FILE_RATIO,
    ManifestDigest,
    Ref,
)
from maintainer.domain.job import Job
from maintainer.domain.plan import Plan

T = TypeVar("T")

# pydantic reads values with an Action: msgspec cannot tell dataclasses apart by a field.
_WITH_ACTIONS: frozenset[object] = frozenset({Job, Plan})
_BUILDING = Lock()


class _Detail(msgspec.Struct, frozen=True):
    """The parts of a TableHealth that lists leave out."""

    partitions: tuple[PartitionHealth, ...]
    history: tuple[SnapshotStamp, ...]
    refs: tuple[Ref, ...]


def shape_of_digests() -> str:
    """Return the fields, bounds and rules of a digest as text.

    A stored digest is useless when any of them has changed.
    """
    meaning = [
        DIGEST_VERSION,
        HISTOGRAM_BOUNDS_BYTES,
        SMALL_FILE_RATIO,
        LARGE_FILE_RATIO,
        MIN_LISTED_SIZES,
        MAX_LISTED_SIZES,
    ]
    return sha256(
        msgspec.json.encode([msgspec.json.schema(ManifestDigest), meaning], order="deterministic")
    ).hexdigest()[:16]


DIGEST_SHAPE = shape_of_digests()


def write_bytes(value: object, enc_hook: Callable[[object], object] | None = None) -> bytes:
    """Write a value as JSON; InvalidValueError if JSON cannot represent it."""
    try:
        if type(value) in _WITH_ACTIONS:
            return _adapter(cast("Hashable", type(value))).dump_json(value)
        return msgspec.json.encode(value, enc_hook=enc_hook)
    # For example an integer over 64 bits, or half a surrogate pair.
    except (OverflowError, UnicodeError, TypeError, ValueError) as error:
        table = getattr(value, "table", None)
        of = "" if table is None else f" of {table}"
        raise InvalidValueError(
            f"{_name(type(value))}{of} cannot be stored: {_first_line(error)}"
        ) from error


def write(value: object) -> str:
    return write_bytes(value).decode()


def read(kind: type[T], document: str | bytes) -> T:
    """Read a value of this type; StoreUnavailableError if another version has written the value."""
    try:
        value: T = _decoder(cast("Hashable", kind))(document)
    except ValueError as error:  # msgspec's and pydantic's errors are ValueErrors
        raise StoreUnavailableError(
            f"a document ({_name(kind)}) in the store cannot be read by this version: "
            f"{_first_line(error)}"
        ) from error
    return value


def read_or_none(kind: type[T], document: str | bytes | None) -> T | None:
    """Read a value; None if the row has none."""
    return None if document is None else read(kind, document)


@cache
def _adapter(kind: Hashable) -> TypeAdapter[Any]:
    """Build the adapter on first use: a command that reads no job and no plan needs none."""
    return TypeAdapter(cast("type[Any]", kind))


@cache
def _decoder(kind: Hashable) -> Callable[[str | bytes], Any]:
    if kind in _WITH_ACTIONS:
        return partial(_adapter(kind).validate_json, strict=True)
    # msgspec would use the half-built decoder of another thread for the same classes, and crash.
    with _BUILDING:
        return msgspec.json.Decoder(kind).decode


def _name(kind: Any) -> str:  # noqa: ANN401 - any type, also tuple[X, ...]
    """Return the type's name in words, such as `orphan list`; for a tuple, that of its elements."""
    element = get_args(kind)[0] if get_origin(kind) is tuple else kind
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", element.__name__).strip("_").lower()


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def write_health(health: TableHealth) -> tuple[bytes, bytes]:
    """Write the summary and the detail of a table's health."""
    detail = _Detail(health.partitions, health.history, health.refs)
    return write_bytes(replace(health, partitions=(), history=(), refs=())), write_bytes(detail)


def read_health(summary: bytes, detail: bytes) -> TableHealth:
    """Read a health from its summary and its detail (partitions, history and refs)."""
    parts = read(_Detail, detail)
    return replace(
        read(TableHealth, summary),
        partitions=parts.partitions,
        history=parts.history,
        refs=parts.refs,
    )


def write_fields(fields: Mapping[str, object]) -> str:
    """Write an event's fields; a value that JSON cannot represent becomes text."""
    return write_bytes(fields, enc_hook=str).decode()


def read_fields(document: str | bytes) -> dict[str, object]:
    return read(dict[str, object], document)


def write_levels(table: TableIdentifier) -> str:
    """Write the levels of a table's name as a JSON list."""
    return write((table.catalog, table.namespace, table.name))


def read_levels(document: str) -> TableIdentifier:
    """Read the result of write_levels."""
    return TableIdentifier(*read(tuple[str, tuple[str, ...], str], document))
