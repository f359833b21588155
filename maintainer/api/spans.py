"""Time ranges of requests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, TypeVar

from fastapi import Query

from maintainer.api.fields import Time
from maintainer.domain.errors import InvalidValueError

DEFAULT_SPAN = timedelta(days=30)

T = TypeVar("T")

Since = Annotated[
    Time | None, Query(alias="from", description="RFC 3339; 30 days before `to` when left out.")
]
Until = Annotated[Time | None, Query(alias="to", description="RFC 3339; now when left out.")]


def read_span(
    since: datetime | None, until: datetime | None, now: datetime
) -> tuple[datetime, datetime]:
    """Return the range in UTC; InvalidValueError when it ends before it begins."""
    last = in_utc(until) if until else now
    earliest = datetime.min.replace(tzinfo=UTC)
    first = in_utc(since) if since else last - min(DEFAULT_SPAN, last - earliest)
    if first > last:
        raise InvalidValueError(f"from {first.isoformat()} is after to {last.isoformat()}")
    return first, last


def in_utc(moment: datetime) -> datetime:
    """The same instant in UTC; InvalidValueError when that year does not have four digits."""
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise InvalidValueError(
            f"time {moment.isoformat()} is outside the years 1 to 9999 in UTC"
        ) from error


def thin(samples: Sequence[T], limit: int) -> Sequence[T]:
    """Thin a series evenly to at most `limit` samples; the latest is kept."""
    stride = -(-len(samples) // limit) or 1
    return samples[::-1][::stride][::-1]
