"""Parameters of many requests: texts, pages, times and ranges of time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from re import compile as compile_regex
from typing import Annotated, TypeVar

from fastapi import Query
from pydantic import AwareDatetime, BeforeValidator, StrictBool

from maintainer.domain.errors import InvalidValueError
from maintainer.ports.store.pages import MAX_PAGE

_RFC_3339 = compile_regex(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
Flag = StrictBool

DEFAULT_SPAN = timedelta(days=30)
DEFAULT_PAGE = 100
MAX_TEXT = 1000  # characters of a search, a name or a cursor

T = TypeVar("T")


def _check_time(value: object) -> object:
    """Refuse numbers and days, which pydantic would read as seconds since 1970 and as midnights."""
    if not isinstance(value, str) or _RFC_3339.fullmatch(value) is None:
        raise ValueError("must be an RFC 3339 time with an offset, like 2026-03-01T12:00:00Z")
    return value


Time = Annotated[AwareDatetime, BeforeValidator(_check_time)]

Text = Annotated[str, Query(max_length=MAX_TEXT)]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE, description="Items a page.")]
Cursor = Annotated[
    str | None, Query(max_length=MAX_TEXT, description="next_cursor of the page before.")
]
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
