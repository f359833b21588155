"""Column types that make SQLite and PostgreSQL keep the same values."""

from __future__ import annotations

import zlib
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from sqlalchemy import BigInteger, Dialect, Integer, LargeBinary, Row, Text
from sqlalchemy.types import TypeDecorator

from maintainer.domain.errors import InvalidValueError

AnyRow: TypeAlias = Row[*tuple[Any, ...]]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LARGEST_INTEGER = 2**63 - 1


def write_instant(instant: datetime) -> int:
    """Microseconds since 1970 in UTC; InvalidValueError for a time without a zone, which names no
    instant.
    """
    if instant.tzinfo is None:
        message = f"time {instant.isoformat()} has no time zone; give it one, UTC at best"
        raise InvalidValueError(message)
    return (instant - _EPOCH) // _MICROSECOND


def read_instant(microseconds: int) -> datetime:
    """The instant, in UTC."""
    return _EPOCH + timedelta(microseconds=microseconds)


Sequenced = BigInteger().with_variant(
    Integer(), "sqlite"
)  # SQLite counts up by itself for this type alone


class Instant(TypeDecorator[datetime]):
    """An instant as whole microseconds since 1970: exact, ordered and free of zones in both
    databases.

    SQLite has no type for times, and PostgreSQL answers in the zone of the session.
    """

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """Write."""
        del dialect
        return None if value is None else write_instant(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        """Read."""
        del dialect
        return None if value is None else read_instant(value)


class Count(TypeDecorator[int]):
    """A count or a number of bytes.

    What a corrupt manifest claims beyond 64 bits is kept as the largest integer, so that one table
    cannot break the fleet's sums.
    """

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Dialect) -> int | None:
        """Write."""
        del dialect
        return None if value is None else max(-_LARGEST_INTEGER, min(_LARGEST_INTEGER, value))


class Packed(TypeDecorator[bytes]):
    """A document, compressed: a table's health is mostly names and figures that repeat."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: bytes | None, dialect: Dialect) -> bytes | None:
        """Write."""
        del dialect
        return None if value is None else zlib.compress(value)

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> bytes | None:
        """Read."""
        del dialect
        return None if value is None else zlib.decompress(value)


def name_type() -> Text:
    """Text compared by code points on both databases (PostgreSQL would follow the locale), so that
    order and cursors are the same everywhere.
    """
    return Text().with_variant(Text(collation="C"), "postgresql")


def write_text(text: str) -> str:
    """The text with a mark in the place of the one character that PostgreSQL refuses, where it is
    only to be read.
    """
    return text.replace("\x00", "\ufffd")
