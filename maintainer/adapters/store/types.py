"""Column types that store the same values in SQLite and PostgreSQL."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

import zstandard
from sqlalchemy import BigInteger, Dialect, Integer, LargeBinary, Row, Text
from sqlalchemy.types import TypeDecorator

from maintainer.domain.errors import InvalidValueError, StoreUnavailableError

AnyRow: TypeAlias = Row[*tuple[Any, ...]]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LARGEST_INTEGER = 2**63 - 1
_LEVEL = 1  # of Zstandard: the documents are smaller than with zlib, in a tenth of the time


def write_instant(instant: datetime) -> int:
    """Return microseconds since 1970 in UTC; InvalidValueError for a time without a zone."""
    if instant.tzinfo is None:
        raise InvalidValueError(
            f"time {instant.isoformat()} has no time zone; add one, preferably UTC"
        )
    return (instant - _EPOCH) // _MICROSECOND


def read_instant(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)


# SQLite assigns increasing numbers only to INTEGER
Sequenced = BigInteger().with_variant(Integer(), "sqlite")


class Instant(TypeDecorator[datetime]):
    """An instant as whole microseconds since 1970: exact, ordered and without a time zone.

    SQLite has no type for times, and PostgreSQL answers in the zone of the session.
    """

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        del dialect
        return None if value is None else write_instant(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        del dialect
        return None if value is None else read_instant(value)


class Count(TypeDecorator[int]):
    """A count or a number of bytes.

    A number over 64 bits, from a corrupt manifest, becomes the largest integer, so that one table
    cannot break the fleet's sums.
    """

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Dialect) -> int | None:
        del dialect
        return None if value is None else max(-_LARGEST_INTEGER, min(_LARGEST_INTEGER, value))


class _Threads(threading.local):
    """A decompressor for each thread; making one takes longer than using it."""

    def __init__(self) -> None:
        self.decompressor = zstandard.ZstdDecompressor()


_threads = _Threads()


class Packed(TypeDecorator[bytes]):
    """A compressed document. A table's health is mostly repeated names and numbers."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: bytes | None, dialect: Dialect) -> bytes | None:
        del dialect
        return None if value is None else zstandard.compress(value, _LEVEL)

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> bytes | None:
        del dialect
        try:
            return None if value is None else _threads.decompressor.decompress(value)
        except zstandard.ZstdError as error:
            raise StoreUnavailableError(
                f"a document in the store cannot be read by this version: {error}"
            ) from error


def name_type() -> Text:
    """Return a text type that both databases compare by code points.

    PostgreSQL would compare by locale. Order and cursors must be the same on both databases.
    """
    return Text().with_variant(Text(collation="C"), "postgresql")


def write_text(text: str) -> str:
    """Replace the character that PostgreSQL refuses (NUL) in a text that is only displayed."""
    return text.replace("\x00", "\ufffd")
